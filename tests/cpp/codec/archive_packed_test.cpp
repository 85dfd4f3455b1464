// Rows of packed numbers in tier archive: however many go at once, their bytes are those of a loop over the
// numbers, and a wrong one is refused at its offset.
#include "mf/codec/archive_packed.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "mf/codec/archive_row.hpp"
#include "room.hpp"

namespace mf::codec::archive {
namespace {

/// One byte after the other, in `least` bytes at least.
void append(ByteVector& bytes, std::uint64_t number, std::size_t least = 1) {
  for (; number >= 0x80 || least > 1; number >>= 7U, least -= least > 1) {
    bytes.push_back(static_cast<std::byte>(number | 0x80U));
  }
  bytes.push_back(static_cast<std::byte>(number));
}

template <class T>
ByteVector one_by_one(const std::vector<T>& values) {
  ByteVector bytes;
  for (const T& value : values) append(bytes, Value<T>::folded(value));
  return bytes;
}

template <class T>
ByteVector packed(const std::vector<T>& values) {
  ByteVector bytes(packed_size(std::span(values)));
  BackWriter writer(bytes.data() + bytes.size());
  write_packed(writer, std::span(values));
  EXPECT_EQ(writer.position(), bytes.data());
  return bytes;
}

/// Field 1, packed; what was read is in `values`. "" or what is wrong: the offset counts within the row.
template <class T>
std::string read(const ByteVector& row, std::vector<T>& values) {
  ByteVector field;
  append(field, tag_of(1, Wire::length));
  append(field, row.size());
  const std::size_t head = field.size();
  field.insert(field.end(), row.begin(), row.end());
  Reader reader(field);
  Message message(reader);
  std::size_t filled = 0;
  EXPECT_TRUE(message.next());
  if (read_row(message, filled, values) && reader.finish()) {
    values.resize(filled);
    return "";
  }
  return std::string(to_string(reader.error().fault)) + " at " +
         std::to_string(reader.error().offset - head) + " in " + reader.error().path;
}

template <class T>
class PackedNumbers : public testing::Test {};
using Integers = testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                                std::int32_t, std::uint64_t, std::int64_t, Boolean, Duration>;
TYPED_TEST_SUITE(PackedNumbers, Integers);

/// A value whose varint has up to so many bytes.
template <class T>
T value_of(std::mt19937_64& engine, unsigned bytes) {
  const std::uint64_t number = engine() >> (64 - (bytes == 10 ? 64 : 7 * bytes));
  T value{};
  return Value<T>::unfolded(number, value) ? value : T{};
}

TYPED_TEST(PackedNumbers, OfEveryLengthAndCountGoThereAndBack) {
  std::mt19937_64 engine(1);
  for (unsigned bytes = 1; bytes <= 11; ++bytes) {  // 11: all mixed
    for (std::size_t count = 0; count < 70; ++count) {
      std::vector<TypeParam> values;
      for (std::size_t i = 0; i < count; ++i) {
        const auto length = bytes == 11 ? static_cast<unsigned>(engine() % 10) + 1 : bytes;
        values.push_back(value_of<TypeParam>(engine, length));
      }
      const ByteVector row = packed(values);
      ASSERT_EQ(row, one_by_one(values)) << bytes << ' ' << count;
      std::vector<TypeParam> back;
      ASSERT_EQ(read(row, back), "") << bytes << ' ' << count;
      ASSERT_TRUE(back == values) << bytes << ' ' << count;
    }
  }
}

TYPED_TEST(PackedNumbers, MayBeLongerThanNeeded) {
  for (std::size_t length = 1; length <= 10; ++length) {
    ByteVector row;
    for (int i = 0; i < 30; ++i) append(row, 1, i % 3 == 0 ? 1 : length);
    std::vector<TypeParam> back;
    ASSERT_EQ(read(row, back), "") << length;
    TypeParam one{};
    ASSERT_TRUE(Value<TypeParam>::unfolded(1, one));
    EXPECT_TRUE(back == std::vector<TypeParam>(30, one)) << length;
  }
}

// Ends are counted in lanes of a word, which hold so many and no more.
TEST(PackedNumberEnds, AreCountedInRowsOfAnyLength) {
  for (const std::size_t length : {1U, 2U, 9U, 10U}) {
    ByteVector bytes;
    while (bytes.size() < 4100) append(bytes, 1, length);
    std::size_t ends = 0;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      ASSERT_EQ(count_varints(std::span(bytes).first(size)), ends)
          << size << " bytes, of numbers of " << length;
      ends += bytes[size] < std::byte{0x80} ? 1U : 0U;
    }
    EXPECT_EQ(count_varints(bytes), ends);
  }
  EXPECT_EQ(count_varints(ByteVector(100'000, std::byte{1})), 100'000U);
}

TEST(PackedNumbersThatAreWrong, AreRefusedWhereTheyStand) {
  for (const std::size_t length : {1U, 2U, 3U, 5U, 9U, 10U}) {
    ByteVector before;
    for (int i = 0; i < 20; ++i) append(before, 1, length);
    const std::string offset = std::to_string(before.size());
    const auto with = [&before](std::uint64_t number) {
      ByteVector row = before;
      append(row, number);
      for (int i = 0; i < 20; ++i) append(row, 0);
      return row;
    };
    std::vector<std::uint32_t> numbers;
    EXPECT_EQ(read(with(1ULL << 32U), numbers), "number_out_of_range at " + offset + " in [20]") << length;
    std::vector<std::int8_t> bytes;
    EXPECT_EQ(read(with(256), bytes), "number_out_of_range at " + offset + " in [20]") << length;
    std::vector<Boolean> bools;
    EXPECT_EQ(read(with(2), bools), "invalid_bool at " + offset + " in [20]") << length;
    std::vector<std::uint64_t> wide;
    ByteVector cut = before;
    cut.push_back(std::byte{0x80});
    EXPECT_EQ(read(cut, wide), "truncated at " + offset + " in [20]") << length;
    ByteVector endless = before;
    endless.insert(endless.end(), 10, std::byte{0x80});
    append(endless, 1, 12);
    EXPECT_EQ(read(endless, wide), "malformed_number at " + offset + " in [20]") << length;
    ByteVector large = before;
    large.insert(large.end(), 9, std::byte{0x80});
    append(large, 2);
    EXPECT_EQ(read(large, wide), "number_out_of_range at " + offset + " in [20]") << length;
  }
}

}  // namespace
}  // namespace mf::codec::archive
