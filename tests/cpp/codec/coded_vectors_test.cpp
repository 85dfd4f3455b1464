// Integers that lie in archives as existing protobuf has them (archive_coded.hpp): protobuf's bytes of them
// in tests/vectors/wide, and what mfidl/dynamic says of such bytes that were damaged.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "bytes.hpp"
#include "subject.hpp"
#include "vectors/coded.hpp"
#include "wide_vectors.hpp"

namespace mf::codec {
namespace {

namespace coded = ::vectors::coded;

const Subject& coded_subject(std::string_view type) {
  static const std::map<std::string_view, Subject> kByName = {
      {"vectors.coded.Item", subject<coded::Item>("vectors.coded.Item")},
      {"vectors.coded.Choice", subject<coded::Choice>("vectors.coded.Choice")},
      {"vectors.coded.Coded", subject<coded::Coded>("vectors.coded.Coded")},
      {"vectors.coded.Rows", subject<coded::Rows>("vectors.coded.Rows")},
      {"vectors.coded.Maps", subject<coded::Maps>("vectors.coded.Maps")},
  };
  return kByName.at(type);
}

TEST(CodedVectors, AreWrittenAndReadAsProtobufDoes) {
  const auto vectors = load("coded");
  ASSERT_GT(vectors.size(), 200U);
  for (const Vector& vector : vectors) {
    SCOPED_TRACE(vector.at("type") + ": " + vector.at("name"));
    const Subject& subject = coded_subject(vector.at("type"));
    const auto bytes = subject.write(vector.at("json"));
    ASSERT_TRUE(bytes) << bytes.error().message();
    EXPECT_EQ(to_hex(*bytes), to_hex(from_hex(vector.at("hex"))));
    const auto text = subject.read(from_hex(vector.at("hex")));
    ASSERT_TRUE(text) << text.error().message();
    EXPECT_EQ(*text, vector.at("json"));
  }
}

TEST(CodedHostileVectors, AreRefusedWithFaultOffsetAndPath) {
  for (const Vector& vector : load("coded_hostile")) {
    SCOPED_TRACE(vector.at("type") + ": " + vector.at("name") + " " + vector.at("hex"));
    const auto text = coded_subject(vector.at("type")).read(from_hex(vector.at("hex")));
    if (text) {
      ADD_FAILURE() << *text;
      continue;
    }
    EXPECT_EQ(to_string(text.error().fault), vector.at("fault"));
    EXPECT_EQ(std::to_string(text.error().offset), vector.at("offset"));
    EXPECT_EQ(text.error().path, vector.at("path"));
  }
}

/// Elements with a tag each are what older protobuf writes.
TEST(CodedRows, MayHaveATagForEachElement) {
  const auto rows = mf::from_bytes<coded::Rows>(
      from_hex("08feffffffffffffffff01 0805 1d00000080 1dffffff7f 280128022803 35040000003505000000"));
  ASSERT_TRUE(rows) << rows.error().message();
  EXPECT_EQ(rows->a, (std::vector<std::int32_t>{-2, 5}));
  EXPECT_EQ(rows->c, (std::vector<std::int32_t>{-2147483647 - 1, 2147483647}));
  EXPECT_EQ(rows->three, (std::array<std::int64_t, 3>{1, 2, 3}));
  EXPECT_EQ(rows->two, (std::array<std::uint32_t, 2>{4, 5}));
}

}  // namespace
}  // namespace mf::codec
