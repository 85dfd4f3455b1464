// tests/vectors/wide/sizes.json: layouts, fewest bytes and rows, as the compiler and Python reckon them, too.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "mf/codec/described/schema.hpp"
#include "wide_vectors.hpp"

namespace mf::described {
namespace {

std::string line(const Type& type) {
  std::string told(type.name);
  told += type.fixed ? " | " + std::to_string(type.size) + "/" + std::to_string(type.align) : " | -";
  return told + " | " + std::to_string(type.min_febird) + " | " + (type.row ? "row" : "-");
}

std::string reckoned(const Schema& schema) {
  std::set<std::string> lines;
  for (const Type& type : schema.types()) lines.insert(line(type));
  std::string all;
  for (const std::string& each : lines) all += all.empty() ? each : "\n" + each;
  return all;
}

TEST(DescribedSizes, AreThoseOfTheCompiler) {
  const auto table = codec::load("sizes");
  EXPECT_GT(table.size(), 100U);
  for (const codec::Vector& entry : table) {
    const auto schema = Schema::read(entry.at("descriptor"));
    ASSERT_TRUE(schema.ok()) << schema.error().message();
    EXPECT_EQ(reckoned(*schema), entry.at("sizes")) << entry.at("descriptor");
  }
}

}  // namespace
}  // namespace mf::described
