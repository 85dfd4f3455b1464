// tests/vectors/descriptor_diff.json: the texts for differences.

#include "mf/protocol/descriptor_diff.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <random>
#include <sstream>

namespace mf::protocol {
namespace {

boost::json::value cases() {
  std::ifstream file(MF_SOURCE_DIR "/tests/vectors/descriptor_diff.json");
  std::stringstream text;
  text << file.rdbuf();
  return boost::json::parse(text.str());
}

std::string text(const boost::json::value& object, std::string_view key) {
  return std::string(object.at(key).as_string());
}

TEST(DescriptorDifference, IsToldInTheDocumentsWords) {
  const boost::json::value all = cases();
  ASSERT_GE(all.as_array().size(), 20U);
  for (const boost::json::value& one : all.as_array())
    EXPECT_EQ(descriptor_difference(text(one, "here"), text(one, "there")), text(one, "words"))
        << text(one, "name");
}

TEST(DescriptorDifference, AnyTextIsReadWithoutHarm) {
  const boost::json::value all = cases();
  const std::string good = text(all.as_array().front(), "here");
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    std::string bad = good;
    for (std::size_t i = random() % 20; i > 0; --i) bad[random() % bad.size()] = " \n.<>ax\0"[random() % 8];
    bad.resize(random() % bad.size());
    EXPECT_LE(descriptor_difference(good, bad).size(), 8 * (bad.size() + good.size() + 100));
    EXPECT_EQ(descriptor_difference(bad, good).empty(), bad == good);
  }
}

}  // namespace
}  // namespace mf::protocol
