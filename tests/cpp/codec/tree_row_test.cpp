// Maps of integers against bytes that are put together here, entry by entry.
#include "mf/codec/tree_row.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "bytes.hpp"
#include "sample.hpp"

namespace mf::codec {
namespace {

using sample::Lang;
using sample::Shade;

template <class T>
unsigned code_of(const std::map<T, std::size_t>& sorted) {
  const auto fits = [&sorted](auto low, auto high) {
    return sorted.begin()->first >= low && std::prev(sorted.end())->first <= high;
  };
  if constexpr (std::is_signed_v<T>) {
    if (fits(-128, 127)) return 0;
    if (fits(-32'768, 32'767)) return 1;
    return fits(std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()) ? 2 : 3;
  } else {
    if (fits(0U, 255U)) return 0;
    if (fits(0U, 65'535U)) return 1;
    return fits(0U, std::numeric_limits<std::uint32_t>::max()) ? 2 : 3;
  }
}

void put(ByteVector& bytes, std::uint64_t value, unsigned code) {
  for (unsigned i = 0; i < 1U << code; ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
}

/// The law, read as plainly as it can be.
template <class K, class V>
ByteVector map_bytes(const std::map<K, V>& map) {
  ByteVector bytes;
  std::uint64_t count = map.size();
  for (; count >= 0x80; count >>= 7U) bytes.push_back(static_cast<std::byte>(count | 0x80U));
  bytes.push_back(static_cast<std::byte>(count));
  for (auto begin = map.begin(); begin != map.end();) {
    auto end = begin;
    std::map<K, std::size_t> keys;
    std::map<V, std::size_t> values;
    for (int i = 0; i < 256 && end != map.end(); ++i, ++end) {
      keys[end->first] = 0;
      values[end->second] = 0;
    }
    const unsigned key_code = code_of(keys);
    const unsigned value_code = code_of(values);
    bytes.push_back(static_cast<std::byte>(key_code + 4 * value_code));
    for (auto at = begin; at != end; ++at) put(bytes, static_cast<std::uint64_t>(at->first), key_code);
    for (; begin != end; ++begin) put(bytes, static_cast<std::uint64_t>(begin->second), value_code);
  }
  return bytes;
}

template <class K, class V>
void expect_map(const std::map<K, V>& map) {
  const ByteVector expected = map_bytes(map);
  ASSERT_TRUE(to_bytes<Tier::febird>(map) == expected) << map.size() << " entries";
  ASSERT_TRUE(bytes_in_room<Tier::febird>(map) == expected) << map.size() << " entries";
  std::map<K, V> back{{K{1}, V{1}}};
  DecodeError error;
  ASSERT_TRUE((from_bytes<Tier::febird>(std::span(expected), back, error))) << error.message();
  ASSERT_TRUE(back == map);
}

/// Keys and values that grow from a byte to their full width, and below zero if they can.
template <class K, class V>
void expect_maps_at_all_lengths() {
  for (const std::size_t length : {0U, 1U, 2U, 7U, 8U, 17U, 255U, 256U, 257U, 511U, 512U, 513U, 1'300U}) {
    for (unsigned bits = 0; bits < 8 * sizeof(K); bits += 5) {
      std::map<K, V> map;
      for (std::size_t i = 0; i < length; ++i) {
        const std::uint64_t key = std::uint64_t{i} << (i < length / 2 ? 0U : bits);
        const std::uint64_t value = std::uint64_t{i} << (bits * sizeof(V) / sizeof(K));
        map[static_cast<K>(i % 3 == 0 ? 0 - key : key)] = static_cast<V>(i % 5 == 0 ? 0 - value : value);
      }
      expect_map(map);
    }
  }
}

TEST(MapOfIntegers, IsBlocksInTheSmallestWidthsOfEveryType) {
  expect_maps_at_all_lengths<std::int32_t, std::int32_t>();
  expect_maps_at_all_lengths<std::uint16_t, std::int64_t>();
  expect_maps_at_all_lengths<std::int64_t, std::uint16_t>();
  expect_maps_at_all_lengths<std::uint64_t, std::uint32_t>();
  expect_maps_at_all_lengths<std::int16_t, std::uint64_t>();
}

TEST(MapOfIntegers, HoldsTheEdgesOfItsTypes) {
  using Limits = std::numeric_limits<std::int64_t>;
  expect_map(std::map<std::int64_t, std::int64_t>{{Limits::min(), Limits::max()}, {0, Limits::min()}});
  expect_febird(std::map<std::int32_t, std::int32_t>{}, "00");
  expect_febird(std::map<std::int32_t, std::int32_t>{{-1, 300}, {1, -2}}, "02 04 ff 01 2c 01 fe ff");
  expect_febird(std::map<Lang, Duration>{{Lang::en, Duration(5)}, {Lang::ko, Duration(-1)}},
                "02 01 00 00 2c 01 05 ff");
}

TEST(MapOfIntegers, MayBeWiderThanItNeedsToBe) {
  std::map<std::uint32_t, std::uint64_t> value;
  DecodeError error;
  EXPECT_TRUE((from_bytes<Tier::febird>(from_hex("01 09 07 00 08 00 00 00"), value, error)))
      << error.message();
  EXPECT_EQ(value, (std::map<std::uint32_t, std::uint64_t>{{7, 8}}));
}

TEST(MapOfIntegers, IsRefusedWhereItIsWrong) {
  using Map = std::map<std::uint16_t, std::uint32_t>;
  EXPECT_EQ(refusal<Map>("01"), "at byte 0: 1 elements of at least 2 bytes cannot be in the 0 bytes left");
  EXPECT_EQ(refusal<Map>("02 00 01 02"),
            "at byte 0: 2 elements of at least 2 bytes cannot be in the 3 bytes left");
  EXPECT_EQ(refusal<Map>("01 10 01 01"), "at byte 1: unused bits of a block's widths are set");
  EXPECT_EQ(refusal<Map>("01 1e 01 01"), "at byte 1: unused bits of a block's widths are set");
  EXPECT_EQ(refusal<Map>("01 02 01 01 01 01 01"), "at byte 1: a row is wider than its type");
  EXPECT_EQ(refusal<Map>("01 0c 01 01 01 01 01 01 01 01"), "at byte 1: a row is wider than its type");
  EXPECT_EQ(refusal<Map>("02 01 01 02 03"), "at byte 2: the value ends early: 4 bytes wanted, 3 left");
  EXPECT_EQ(refusal<Map>("02 00 02 01 01"), "[1], at byte 3: the keys of a map are not strictly ascending")
      << "keys come before values";
  EXPECT_EQ(refusal<Map>("02 00 01 02 01"), "at byte 4: the value ends early: 2 bytes wanted, 1 left");
  EXPECT_EQ(refusal<Map>("02 00 01 01 05 06"),
            "[1], at byte 3: the keys of a map are not strictly ascending");
  EXPECT_EQ((refusal<std::map<std::int32_t, std::int32_t>>("02 00 00 ff 05 06")),
            "[1], at byte 3: the keys of a map are not strictly ascending");
  EXPECT_EQ((refusal<std::map<Shade, std::uint16_t>>("03 00 01 09 01 07 07 07")),
            "[1], at byte 3: an enum has a value that its type does not know");
  EXPECT_EQ((refusal<std::map<Shade, std::uint16_t>>("02 00 02 01 07 07")),
            "[1], at byte 3: the keys of a map are not strictly ascending");
  EXPECT_EQ((refusal<std::map<std::uint16_t, Shade>>("02 00 05 06 01 03")),
            "[1], at byte 5: an enum has a value that its type does not know");
}

/// 257 entries: keys 0 to 255 and `last`, values 7.
std::string two_blocks(std::string_view last) {
  std::string hex = "81 02 00";
  for (unsigned i = 0; i < 256; ++i) hex += " " + to_hex(std::array{static_cast<std::byte>(i)});
  for (int i = 0; i < 256; ++i) hex += " 07";
  return hex + " " + std::string(last);
}

TEST(MapOfIntegers, AscendsFromBlockToBlock) {
  using Map = std::map<std::uint32_t, std::uint32_t>;
  EXPECT_EQ(refusal<Map>(two_blocks("01 00 01 07")), "decoded");
  EXPECT_EQ(refusal<Map>(two_blocks("00 ff 07")),
            "[256], at byte 516: the keys of a map are not strictly ascending");
  EXPECT_EQ(refusal<Map>(two_blocks("01 ff 00 07")),
            "[256], at byte 516: the keys of a map are not strictly ascending");
  EXPECT_EQ(refusal<Map>(two_blocks("40 00 01 07")), "at byte 515: unused bits of a block's widths are set");
}

TEST(MapOfIntegers, ThatIsRefusedHoldsNoUnknownValue) {
  std::map<std::uint16_t, Shade> map;
  const auto bytes = from_hex("02 00 05 06 01 03");
  Reader reader(bytes);
  EXPECT_FALSE(Febird<decltype(map)>::read(reader, map));
  for (const auto& [key, shade] : map) EXPECT_TRUE(EnumTraits<Shade>::valid(shade));
}

}  // namespace
}  // namespace mf::codec
