// Rows of integers against bytes that are put together here, number by number.
#include "mf/codec/row.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bytes.hpp"
#include "sample.hpp"

namespace mf::codec {
namespace {

using sample::Lang;

template <class T>
bool fits(T value, unsigned code) {
  if (code == 3) return true;
  const unsigned bits = 8U << code;
  if constexpr (std::is_signed_v<T>) {
    const auto wide = static_cast<std::int64_t>(value);
    return wide >= -(std::int64_t{1} << (bits - 1)) && wide < (std::int64_t{1} << (bits - 1));
  } else {
    return static_cast<std::uint64_t>(value) < (std::uint64_t{1} << bits);
  }
}

void put(ByteVector& bytes, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
}

void put_varint(ByteVector& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) bytes.push_back(static_cast<std::byte>(value | 0x80U));
  bytes.push_back(static_cast<std::byte>(value));
}

/// The law, read as plainly as it can be.
template <class T>
ByteVector row_bytes(const std::vector<T>& row, bool head) {
  std::vector<unsigned> codes;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i % 256 == 0) codes.push_back(0);
    while (!fits(row[i], codes.back())) ++codes.back();
  }
  ByteVector bytes;
  if (head) put_varint(bytes, row.size() * 4 + (codes.empty() ? 0 : codes[0]));
  for (std::size_t block = head ? 1 : 0, at = 0; block < codes.size(); ++block, ++at) {
    if (at % 4 == 0) bytes.push_back(std::byte{0});
    bytes.back() |= static_cast<std::byte>(codes[block] << (at % 4 * 2));
  }
  for (std::size_t i = 0; i < row.size(); ++i) {
    put(bytes, static_cast<std::uint64_t>(row[i]), std::size_t{1} << codes[i / 256]);
  }
  return bytes;
}

template <class T>
void expect_row(const std::vector<T>& row) {
  const ByteVector expected = row_bytes(row, true);
  ASSERT_TRUE(to_bytes<Tier::febird>(row) == expected) << row.size() << " values";
  ASSERT_TRUE(bytes_in_room<Tier::febird>(row) == expected) << row.size() << " values";
  std::vector<T> back(3, T{1});
  DecodeError error;
  ASSERT_TRUE(from_bytes<Tier::febird>(std::span(expected), back, error)) << error.message();
  ASSERT_TRUE(back == row);
}

template <class T>
void expect_rows_at_all_lengths() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> odd{T{0},   T{1},          T{127},       static_cast<T>(128), static_cast<T>(255),
                     T{256}, Limits::max(), Limits::min()};
  for (unsigned bits = 8; bits < 8 * sizeof(T); bits *= 2) {
    const auto power = static_cast<T>(T{1} << bits);
    for (const T each : {power, static_cast<T>(power - 1), static_cast<T>(power / 2)}) {
      odd.push_back(each);
      odd.push_back(static_cast<T>(T{0} - each));
      odd.push_back(static_cast<T>(T{0} - each - T{1}));
    }
  }
  for (const T each : odd) {
    for (const std::size_t length : {1U, 2U, 3U, 7U, 8U, 15U, 16U, 17U, 31U, 33U, 255U, 256U}) {
      for (const std::size_t at : {std::size_t{0}, length / 2, length - 1}) {
        std::vector<T> row(length, T{5});
        row[at] = each;
        expect_row(row);
      }
    }
  }
  for (std::size_t length = 1; length <= 40;
       ++length) {  // short rows are put together from parts that overlap
    std::vector<T> row(length);
    for (std::size_t i = 0; i < length; ++i) row[i] = static_cast<T>(i + 1);
    for (const T each : odd) {
      row[length * 2 / 3] = each;
      expect_row(row);
    }
  }
  for (const std::size_t length : {257U, 511U, 512U, 1024U, 1025U, 1281U, 2600U}) {
    std::vector<T> row(length, T{5});
    for (std::size_t i = 0; i < length; i += 300) row[i] = odd[i / 300 % odd.size()];
    row.back() = odd.back();
    expect_row(row);
  }
}

TEST(Row, IsBlocksInTheSmallestWidthOfEveryType) {
  expect_rows_at_all_lengths<std::uint16_t>();
  expect_rows_at_all_lengths<std::int16_t>();
  expect_rows_at_all_lengths<std::uint32_t>();
  expect_rows_at_all_lengths<std::int32_t>();
  expect_rows_at_all_lengths<std::uint64_t>();
  expect_rows_at_all_lengths<std::int64_t>();
}

TEST(Row, OfAnArrayHasAllCodesAndNoHead) {
  expect_febird(std::array<std::uint32_t, 0>{}, "");
  expect_febird(std::array<std::int64_t, 2>{-128, 127}, "00 80 7f");
  expect_febird(std::array<std::int64_t, 2>{-129, 127}, "01 7f ff 7f 00");
  std::array<std::int32_t, 1100> long_array{};
  long_array[0] = 70'000;
  long_array[300] = -300;
  long_array[1099] = 128;
  const ByteVector expected =
      row_bytes(std::vector<std::int32_t>(long_array.begin(), long_array.end()), false);
  EXPECT_EQ(to_hex(std::span(expected).first(2)), "06 01");
  expect_febird(long_array, to_hex(expected));
}

TEST(Row, OfASetComesOutOfItInBlocks) {
  std::set<std::int32_t> values;
  for (std::int32_t i = -700; i < 900; ++i) values.insert(i * i * (i < 0 ? -1 : 1));
  const ByteVector expected = row_bytes(std::vector<std::int32_t>(values.begin(), values.end()), true);
  const ByteVector bytes = to_bytes<Tier::febird>(values);
  EXPECT_TRUE(bytes == expected);
  std::set<std::int32_t> back{1};
  DecodeError error;
  EXPECT_TRUE(from_bytes<Tier::febird>(std::span(bytes), back, error)) << error.message();
  EXPECT_TRUE(back == values);
}

TEST(Row, HoldsEnumsAndDurations) {
  expect_febird(std::vector<Lang>{Lang::ko, static_cast<Lang>(7)}, "09 2c 01 07 00");
  expect_febird(std::set<Lang>{Lang::en}, "04 00");
  expect_febird(std::vector<Duration>{Duration(-1), Duration(1)}, "08 ff 01");
  expect_febird(std::vector<Timestamp>{Timestamp(Duration(-1))}, "01 ff ff ff ff ff ff ff ff");
}

TEST(Row, MayBeWiderThanItNeedsToBe) {
  std::vector<std::uint32_t> value;
  DecodeError error;
  EXPECT_TRUE((from_bytes<Tier::febird>(from_hex("06 01 00 00 00"), value, error))) << error.message();
  EXPECT_EQ(value, std::vector<std::uint32_t>{1});
}

TEST(Row, IsRefusedWhereItIsWrong) {
  EXPECT_EQ(refusal<std::vector<std::uint32_t>>("07 01 00 00 00 00 00 00 00"),
            "at byte 0: a row is wider than its type");
  EXPECT_EQ(refusal<std::vector<std::uint16_t>>("0a 01 00 02 00"), "at byte 0: a row is wider than its type");
  EXPECT_EQ(refusal<std::vector<std::uint32_t>>("01"), "at byte 0: a row of no values has a width");
  EXPECT_EQ(refusal<std::vector<std::uint32_t>>("80 00"), "at byte 0: a number is not in its shortest form");
  EXPECT_EQ(refusal<std::vector<std::uint64_t>>("80 80 80 80 40"),
            "at byte 0: a number does not fit in its type");
  EXPECT_EQ(refusal<std::vector<std::uint64_t>>("0c 01 02"),
            "at byte 0: a length of 3 is more than the 2 bytes left");
  EXPECT_EQ(refusal<std::vector<std::uint64_t>>("09 01 02 03"),
            "at byte 1: the value ends early: 4 bytes wanted, 3 left");
  EXPECT_EQ((refusal<std::array<std::uint16_t, 1>>("02 01 00 00 00")),
            "at byte 0: a row is wider than its type");
  EXPECT_EQ((refusal<std::array<std::uint16_t, 1>>("04 01")),
            "at byte 0: unused bits of a row's widths are set");
}

/// 257 values: the head's bytes, then the code of the second block, then the values.
std::string long_row(std::string_view code) {
  std::string hex = "84 08 ";
  hex += code;
  for (int i = 0; i < 257; ++i) hex += " 07";
  return hex;
}

TEST(Row, OfSeveralBlocksIsRefusedAtTheCodeThatIsWrong) {
  EXPECT_EQ(refusal<std::vector<std::uint32_t>>(long_row("00")), "decoded");
  EXPECT_EQ(refusal<std::vector<std::uint32_t>>(long_row("03")), "at byte 2: a row is wider than its type");
  EXPECT_EQ(refusal<std::vector<std::uint32_t>>(long_row("04")),
            "at byte 2: unused bits of a row's widths are set");
  EXPECT_EQ(refusal<std::vector<std::uint32_t>>(long_row("01")),
            "at byte 3: the value ends early: 258 bytes wanted, 257 left");
  EXPECT_EQ(refusal<std::set<std::uint32_t>>(long_row("00")),
            "[1], at byte 4: the elements of a set are not strictly ascending")
      << "what is wrong further left counts";
}

TEST(Row, OfAClosedEnumNamesTheValueThatIsUnknown) {
  EXPECT_EQ(refusal<std::vector<sample::Shade>>("0d 01 00 02 00 04 00"),
            "[2], at byte 5: an enum has a value that its type does not know");
  EXPECT_EQ((refusal<std::array<sample::Shade, 2>>("00 01 09")),
            "[1], at byte 2: an enum has a value that its type does not know");
  EXPECT_EQ(refusal<std::set<sample::Shade>>("0c 02 01 09"),
            "[1], at byte 2: the elements of a set are not strictly ascending");
}

TEST(Row, ThatIsRefusedLeavesNoUnknownValueInAnArray) {
  std::array<sample::Shade, 2> shades{sample::Shade::dark, sample::Shade::dark};
  const auto bytes = from_hex("00 01 09");
  Reader reader(bytes);
  EXPECT_FALSE(Febird<decltype(shades)>::read(reader, shades));
  for (const auto shade : shades) EXPECT_TRUE(EnumTraits<sample::Shade>::valid(shade));
}

}  // namespace
}  // namespace mf::codec
