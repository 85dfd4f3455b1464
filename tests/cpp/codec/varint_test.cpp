#include "mf/codec/varint.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "bytes.hpp"
#include "mf/codec/varint_row.hpp"

namespace mf::codec {
namespace {

TEST(Varint, WritesGroupsOfSevenBitsLowestFirst) {
  expect_febird<std::uint32_t>(0, "00");
  expect_febird<std::uint32_t>(127, "7f");
  expect_febird<std::uint32_t>(128, "80 01");
  expect_febird<std::uint32_t>(300, "ac 02");
  expect_febird<std::uint32_t>(16383, "ff 7f");
  expect_febird<std::uint32_t>(16384, "80 80 01");
  expect_febird<std::uint32_t>(0xffffffffU, "ff ff ff ff 0f");
  expect_febird<std::uint16_t>(0xffff, "ff ff 03");
  expect_febird<std::uint64_t>(0xffffffffffffffffU, "ff ff ff ff ff ff ff ff ff 01");
}

TEST(Varint, FoldsSignedNumbersByZigzag) {
  expect_febird<std::int32_t>(0, "00");
  expect_febird<std::int32_t>(-1, "01");
  expect_febird<std::int32_t>(1, "02");
  expect_febird<std::int16_t>(-64, "7f");
  expect_febird<std::int16_t>(64, "80 01");
  expect_febird<std::int16_t>(-32768, "ff ff 03");
  expect_febird<std::int64_t>(std::numeric_limits<std::int64_t>::min(), "ff ff ff ff ff ff ff ff ff 01");
  expect_febird<std::int64_t>(std::numeric_limits<std::int64_t>::max(), "fe ff ff ff ff ff ff ff ff 01");
}

TEST(Varint, SizeIsTheNumberOfBytesWrittenAtEveryPowerOfTwo) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    for (const std::uint64_t value : {std::uint64_t{1} << bit, (std::uint64_t{1} << bit) - 1}) {
      std::byte memory[10];
      Writer writer(memory);
      write_varint(writer, value);
      EXPECT_EQ(varint_size(value), static_cast<std::size_t>(writer.position() - memory)) << value;
      Reader reader(std::span(memory, varint_size(value)));
      std::uint64_t back = 0;
      EXPECT_TRUE(read_varint(reader, back));
      EXPECT_EQ(back, value);
    }
  }
}

TEST(Varint, RefusesFormsThatAreNotTheShortest) {
  EXPECT_EQ(refusal<std::uint32_t>("80 00"), "at byte 0: a number is not in its shortest form");
  EXPECT_EQ(refusal<std::uint32_t>("ff 80 00"), "at byte 0: a number is not in its shortest form");
  EXPECT_EQ(refusal<std::uint64_t>("ff ff ff ff ff ff ff ff ff 00"),
            "at byte 0: a number is not in its shortest form");
}

TEST(Varint, RefusesNumbersOutsideTheTypesRange) {
  EXPECT_EQ(refusal<std::uint16_t>("80 80 04"), "at byte 0: a number does not fit in its type");
  EXPECT_EQ(refusal<std::int16_t>("80 80 04"), "at byte 0: a number does not fit in its type");
  EXPECT_EQ(refusal<std::uint32_t>("ff ff ff ff 1f"), "at byte 0: a number does not fit in its type");
  EXPECT_EQ(refusal<std::uint64_t>("ff ff ff ff ff ff ff ff ff 02"),
            "at byte 0: a number does not fit in its type");
  EXPECT_EQ(refusal<std::uint64_t>("ff ff ff ff ff ff ff ff ff 81 00"),
            "at byte 0: a number is longer than ten bytes");
  EXPECT_EQ(refusal<std::uint64_t>("80 80 80 80 80 80 80 80 80 80 01"),
            "at byte 0: a number is longer than ten bytes");
}

TEST(Varint, RefusesTheEndInsideANumber) {
  EXPECT_EQ(refusal<std::uint32_t>(""), "at byte 0: the value ends inside a number");
  EXPECT_EQ(refusal<std::uint32_t>("80"), "at byte 0: the value ends inside a number");
}

/// Rows are written and read eight at a time while they are small; the bytes may not show it.
TEST(VarintRow, IsItsNumbersOneBehindTheOtherAtEveryLengthAndWherever) {
  for (std::size_t length = 0; length < 40; ++length) {
    for (std::size_t odd = 0; odd <= length; ++odd) {
      std::vector<std::int32_t> row(length, -3);
      if (odd < length) row[odd] = 1'000'000;
      ByteVector expected;
      for (const std::int32_t each : row) {
        const ByteVector bytes = to_bytes<Tier::febird>(each);
        expected.insert(expected.end(), bytes.begin(), bytes.end());
      }
      ByteVector bytes(varint_row_size(std::span<const std::int32_t>(row)));
      ASSERT_EQ(bytes.size(), expected.size());
      Writer writer(bytes.data());
      write_varint_row(writer, std::span<const std::int32_t>(row));
      ASSERT_EQ(bytes, expected);
      std::vector<std::int32_t> back(length);
      Reader reader(bytes);
      ASSERT_TRUE(read_varint_row(reader, std::span(back)) && reader.finish());
      ASSERT_EQ(back, row);
    }
  }
}

template <class T>
std::string row_refusal(std::size_t count, std::string_view hex) {
  std::vector<T> row(count);
  const ByteVector bytes = from_hex(hex);
  Reader reader(bytes);
  return read_varint_row(reader, std::span(row)) ? "decoded" : reader.error().message();
}

TEST(VarintRow, NamesTheNumberThatIsBad) {
  EXPECT_EQ(row_refusal<std::uint32_t>(10, "01 02 03 04 05 06 07 08 09 80 00"),
            "[9], at byte 9: a number is not in its shortest form");
  EXPECT_EQ(row_refusal<std::uint16_t>(9, "01 02 03 04 ff ff 04 06 07 08 09"),
            "[4], at byte 4: a number does not fit in its type");
}

}  // namespace
}  // namespace mf::codec
