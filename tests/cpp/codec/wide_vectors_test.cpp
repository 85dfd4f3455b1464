// tests/vectors/wide: what numpy, protobuf and mfidl/dynamic made of every type of the language, and bytes
// that must be refused. The Python tests read the same files.
#include <gtest/gtest.h>

#include <string>

#include "bytes.hpp"
#include "support/cuts.hpp"
#include "wide_subjects.hpp"
#include "wide_vectors.hpp"

namespace mf::codec {
namespace {

class WideVectors : public testing::TestWithParam<const char*> {};

TEST_P(WideVectors, HaveTheBytesThatOthersGaveThem) {
  for (const Vector& vector : load(GetParam())) {
    SCOPED_TRACE(vector.at("name"));
    const Subject& subject = subject_of(vector.at("type"));
    const auto bytes = subject.write(vector.at("json"));
    ASSERT_TRUE(bytes) << bytes.error().message();
    EXPECT_EQ(to_hex(*bytes), to_hex(from_hex(vector.at("hex"))));
    if (subject.tier == Tier::febird) {
      EXPECT_EQ(to_hex(subject.write_into_room(vector.at("json"))), to_hex(*bytes));
    }
  }
}

TEST_P(WideVectors, HaveTheValuesThatOthersTookThemFrom) {
  for (const Vector& vector : load(GetParam())) {
    SCOPED_TRACE(vector.at("name"));
    const auto text = subject_of(vector.at("type")).read(from_hex(vector.at("hex")));
    ASSERT_TRUE(text) << text.error().message();
    EXPECT_EQ(*text, vector.at("json"));
  }
}

/// Of archive messages a beginning may be a message; of memcpy and febird it never is.
TEST_P(WideVectors, AreRefusedWhenTheyAreCutOff) {
  const bool messages = std::string_view(GetParam()) == "archive" || std::string_view(GetParam()) == "graphs";
  for (const Vector& vector : load(GetParam())) {
    SCOPED_TRACE(vector.at("name"));
    const ByteVector bytes = from_hex(vector.at("hex"));
    for (std::size_t size = 0; size < bytes.size(); size = mftest::next_cut(size)) {
      const auto text = subject_of(vector.at("type")).read(std::span(bytes).first(size));
      EXPECT_TRUE(messages || !text) << "of " << size << " bytes";
      EXPECT_TRUE(text || text.error().offset <= size);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, WideVectors, testing::Values("memcpy", "archive", "graphs", "febird"),
                         [](const auto& each) { return each.param; });

TEST(HostileVectors, AreRefusedWithFaultOffsetAndPath) {
  const auto vectors = load("hostile");
  ASSERT_GE(vectors.size(), 100U);
  for (const Vector& vector : vectors) {
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

}  // namespace
}  // namespace mf::codec
