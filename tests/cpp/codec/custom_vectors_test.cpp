// Tier custom in tests/vectors/wide: alone, and at every place of every other tier. By hand, by protobuf and
// by mfidl/dynamic, which both take a custom value for bytes. The Python tests read the same files with a
// codec that makes the same bytes (tests/vectors/schemas/custom_codec.*).
#include <gtest/gtest.h>

#include <string>

#include "bytes.hpp"
#include "support/cuts.hpp"
#include "vectors/custom.hpp"
#include "wide_subjects.hpp"
#include "wide_vectors.hpp"

namespace mf::codec {
namespace {

/// What a value is written as, if not as the bytes that it was read from.
std::string written(const Vector& vector) {
  const auto given = vector.find("written");
  return to_hex(from_hex(given != vector.end() ? given->second : vector.at("hex")));
}

class CustomVectors : public testing::TestWithParam<const char*> {};

TEST_P(CustomVectors, AreWrittenAndRead) {
  for (const Vector& vector : load(GetParam())) {
    SCOPED_TRACE(vector.at("type") + ": " + vector.at("name"));
    const Subject& subject = subject_of(vector.at("type"));
    const auto bytes = subject.write(vector.at("json"));
    ASSERT_TRUE(bytes) << bytes.error().message();
    EXPECT_EQ(to_hex(*bytes), written(vector));
    if (subject.tier == Tier::febird) {
      EXPECT_EQ(to_hex(subject.write_into_room(vector.at("json"))), written(vector));
    }
    const ByteVector given = from_hex(vector.at("hex"));
    const auto text = subject.read(given);
    ASSERT_TRUE(text) << text.error().message();
    EXPECT_EQ(*text, vector.at("json"));
    const auto again = subject.rewrite(given, {});
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(to_hex(*again), written(vector));
  }
}

/// Of archive messages a beginning may be a message, of custom values a value.
TEST_P(CustomVectors, AreRefusedWhenTheyAreCutOff) {
  for (const Vector& vector : load(GetParam())) {
    SCOPED_TRACE(vector.at("type") + ": " + vector.at("name"));
    const Subject& subject = subject_of(vector.at("type"));
    const bool may_be_shorter = subject.tier == Tier::archive || subject.tier == Tier::custom;
    const ByteVector bytes = from_hex(vector.at("hex"));
    for (std::size_t size = 0; size < bytes.size(); size = mftest::next_cut(size)) {
      const auto text = subject.read(std::span(bytes).first(size));
      EXPECT_TRUE(may_be_shorter || !text) << "of " << size << " bytes";
      EXPECT_TRUE(text || text.error().offset <= size);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, CustomVectors, testing::Values("custom", "custom_hand"),
                         [](const auto& each) { return each.param; });

TEST(CustomHostileVectors, AreRefusedWithFaultOffsetAndPath) {
  for (const Vector& vector : load("custom_hostile")) {
    SCOPED_TRACE(vector.at("type") + ": " + vector.at("name"));
    const auto text = subject_of(vector.at("type")).read(from_hex(vector.at("hex")));
    if (text) {
      ADD_FAILURE() << *text;
      continue;
    }
    EXPECT_EQ(to_string(text.error().fault), vector.at("fault"));
    EXPECT_EQ(std::to_string(text.error().offset), vector.at("offset"));
    EXPECT_EQ(text.error().path, vector.at("path"));
  }
}

/// JSON has a codec's bytes, so that only this checks what the codec made of them.
TEST(CustomValues, AreThoseOfTheCodec) {
  const ByteVector bytes = from_hex("0361 017a");
  const auto runs = mf::from_bytes<vectors::custom::Runs>(bytes);
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->letters, "aaaz");
  EXPECT_EQ(mf::to_bytes(*runs), bytes);
}

}  // namespace
}  // namespace mf::codec
