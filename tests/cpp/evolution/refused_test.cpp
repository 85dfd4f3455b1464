// Texts that are no descriptors are refused in the words of tests/vectors/descriptors, as Python refuses
// them.
#include <gtest/gtest.h>
#include <boost/json.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "mf/codec/described/schema.hpp"

namespace mf::described {
namespace {

TEST(DescriptorVectors, AreRefusedInTheWordsThatBothLanguagesHave) {
  std::stringstream text;
  text << std::ifstream(std::filesystem::path(MF_SOURCE_DIR) / "tests/vectors/descriptors/refused.json")
              .rdbuf();
  const auto cases = boost::json::parse(text.str()).at("refused").as_array();
  EXPECT_GE(cases.size(), 40U);
  for (const auto& each : cases) {
    const std::string descriptor(each.at("descriptor").as_string());
    const auto read = Schema::read(descriptor, "");
    EXPECT_EQ(read ? "it was read" : read.error().message(), std::string(each.at("words").as_string()))
        << each.at("case");
  }
}

}  // namespace
}  // namespace mf::described
