// tests/vectors/wide, read and written by description: the bytes, texts, faults, offsets and paths of
// generated code.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bytes.hpp"
#include "mf/codec/described/json.hpp"
#include "mf/codec/described/schema.hpp"
#include "support/cuts.hpp"
#include "wide_subjects.hpp"
#include "wide_vectors.hpp"

namespace mf::described {
namespace {

using codec::from_hex;
using codec::load;
using codec::subject_of;
using codec::to_hex;
using codec::Vector;

/// The schema of one type, and its place there.
struct Described {
  Schema schema;
  TypeIndex type = kNoType;
};

const Described& described(const std::string& name) {
  static const std::map<std::string, Described> all = [] {
    std::map<std::string, Described> made;
    for (const Vector& each : load("types")) {
      auto schema = Schema::read(each.at("descriptor"), each.at("annex"));
      if (!schema.ok()) throw std::runtime_error(each.at("type") + ": " + schema.error().message());
      const TypeIndex type = schema->value();
      made.emplace(each.at("type"), Described{std::move(*schema), type});
    }
    return made;
  }();
  return all.at(name);
}

/// A descriptor has the fields of archives by their numbers, and so has the text that is made by it.
std::string in_the_order_of_the_schema(const std::string& type, const std::string& json) {
  const auto text = subject_of(type).rewrite_text(json, {});
  return text.ok() ? *text : json + " is refused: " + text.error().message();
}

class DescribedVectors : public testing::TestWithParam<const char*> {};

TEST_P(DescribedVectors, AreReadAsTheValuesThatOthersTookThemFrom) {
  for (const Vector& vector : load(GetParam())) {
    SCOPED_TRACE(vector.at("type") + ": " + vector.at("name"));
    const Described& here = described(vector.at("type"));
    const auto text = to_json(here.schema, here.type, from_hex(vector.at("hex")));
    ASSERT_TRUE(text) << text.error().message();
    EXPECT_EQ(in_the_order_of_the_schema(vector.at("type"), *text), vector.at("json"));
  }
}

TEST_P(DescribedVectors, AreWrittenAsTheBytesThatOthersGaveThem) {
  for (const Vector& vector : load(GetParam())) {
    SCOPED_TRACE(vector.at("type") + ": " + vector.at("name"));
    const Described& here = described(vector.at("type"));
    const auto bytes = from_json(here.schema, here.type, vector.at("json"));
    ASSERT_TRUE(bytes) << bytes.error().message();
    EXPECT_EQ(to_hex(*bytes), to_hex(from_hex(vector.at("hex"))));
  }
}

/// One result for both: the text, or what is wrong and where.
std::string told(const Result<std::string>& result) {
  if (result.ok()) return *result;
  const codec::DecodeError& error = result.error();
  return error.path + " at " + std::to_string(error.offset) + ": " + std::string(to_string(error.fault)) +
         ", " + error.reason;
}

void expect_alike(const std::string& type, std::span<const std::byte> bytes) {
  const Described& here = described(type);
  auto text = to_json(here.schema, here.type, bytes);
  if (text.ok()) text = Result<std::string>(in_the_order_of_the_schema(type, *text));
  EXPECT_EQ(told(text), told(subject_of(type).read(bytes))) << type << " " << to_hex(bytes);
}

TEST_P(DescribedVectors, AreRefusedAsGeneratedCodeRefusesThemWhenTheyAreCutOff) {
  for (const Vector& vector : load(GetParam())) {
    const auto bytes = from_hex(vector.at("hex"));
    for (std::size_t size = 0; size < bytes.size(); size = mftest::next_cut(size))
      expect_alike(vector.at("type"), std::span(bytes).first(size));
    if (testing::Test::HasFailure()) return;
  }
}

TEST_P(DescribedVectors, AreReadAsGeneratedCodeReadsThemWhenBytesOfThemAreOthers) {
  std::mt19937 engine(25);
  const auto random = [&engine]() { return static_cast<unsigned>(engine()); };
  for (const Vector& vector : load(GetParam())) {
    const auto bytes = from_hex(vector.at("hex"));
    if (bytes.empty()) continue;
    for (int round = 0; round < (mftest::kSanitized ? 5 : 20); ++round) {
      auto changed = bytes;
      for (unsigned changes = 1 + random() % 3; changes != 0; --changes) {
        const std::size_t at = random() % changed.size();
        static constexpr unsigned kLikely[] = {0, 1, 2, 3, 4, 8, 0x10, 0x7F, 0x80, 0xFF};
        const unsigned value = random() % 2 == 0 ? kLikely[random() % std::size(kLikely)] : random() % 256;
        changed[at] = static_cast<std::byte>(value);
      }
      if (random() % 8 == 0) changed.push_back(std::byte{0});
      expect_alike(vector.at("type"), changed);
    }
    if (testing::Test::HasFailure()) return;
  }
}

/// In an archive fields come again then: rows go on, messages are merged, unions change their alternative.
TEST_P(DescribedVectors, AreReadAsGeneratedCodeReadsThemWhenOneFollowsAnother) {
  std::map<std::string, std::vector<std::vector<std::byte>>> seen;
  for (const Vector& vector : load(GetParam())) {
    const std::string& type = vector.at("type");
    auto& others = seen[type];
    others.push_back(from_hex(vector.at("hex")));
    for (std::size_t i = others.size() - std::min<std::size_t>(others.size(), 3); i < others.size(); ++i) {
      for (const auto& [first, second] : {std::pair(i, others.size() - 1), std::pair(others.size() - 1, i)}) {
        auto joined = others[first];
        joined.insert(joined.end(), others[second].begin(), others[second].end());
        joined.insert(joined.end(), others[first].begin(), others[first].end());
        expect_alike(type, joined);
      }
    }
    if (testing::Test::HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, DescribedVectors, testing::Values("memcpy", "febird", "archive", "graphs"),
                         [](const auto& each) { return each.param; });

class DescribedCustomVectors : public testing::TestWithParam<const char*> {};

/// To a reader by description what a user's codec makes is bytes.
TEST_P(DescribedCustomVectors, AreReadAndWrittenWithTheBytesOfCodecsUnread) {
  for (const Vector& vector : load(GetParam())) {
    SCOPED_TRACE(vector.at("type") + ": " + vector.at("name"));
    const Described& here = described(vector.at("type"));
    const auto text = to_json(here.schema, here.type, from_hex(vector.at("hex")));
    ASSERT_TRUE(text) << text.error().message();
    EXPECT_EQ(in_the_order_of_the_schema(vector.at("type"), *text), vector.at("json"));
    const auto bytes = from_json(here.schema, here.type, vector.at("json"));
    ASSERT_TRUE(bytes) << bytes.error().message();
    EXPECT_EQ(to_hex(*bytes), to_hex(from_hex(vector.at("hex"))));
  }
}

INSTANTIATE_TEST_SUITE_P(Each, DescribedCustomVectors, testing::Values("custom"),
                         [](const auto& each) { return each.param; });

TEST(DescribedHostileVectors, AreRefusedWithFaultOffsetAndPath) {
  for (const Vector& vector : load("hostile")) {
    SCOPED_TRACE(vector.at("type") + ": " + vector.at("name"));
    const Described& here = described(vector.at("type"));
    const auto text = to_json(here.schema, here.type, from_hex(vector.at("hex")));
    ASSERT_FALSE(text) << *text;
    EXPECT_EQ(to_string(text.error().fault), vector.at("fault"));
    EXPECT_EQ(std::to_string(text.error().offset), vector.at("offset"));
    EXPECT_EQ(text.error().path, vector.at("path"));
  }
}

}  // namespace
}  // namespace mf::described
