// R1. LEB128 integers, shortest form only, and zigzag for signed ones.
//
//   unsigned   groups of 7 bits, lowest first, bit 7 set in all but the last byte, which is not 0 if it is
//              one of several
//   signed     (n << 1) ^ (n >> 63), then as unsigned, in the range of the type
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "mf/codec/reader.hpp"
#include "mf/codec/writer.hpp"

namespace mf::codec {

/// Bytes of the type's longest number.
template <class T>
inline constexpr std::size_t kMaxVarint = (sizeof(T) * 8 + 6) / 7;

/// Bytes of the number, 1 to 10. Lengths and counts are nearly always short, and some processors take long
/// to find the highest bit of a number.
[[nodiscard]] constexpr std::size_t varint_size(std::uint64_t value) noexcept {
  if (value < 0x80) [[likely]] {
    return 1;
  }
  if (value < 0x1000'0000) [[likely]] {
    return 2 + static_cast<std::size_t>(value >= 0x4000) + static_cast<std::size_t>(value >= 0x20'0000);
  }
  // (bits * 9 + 64) / 64 is bits / 7 rounded up, for 1 to 64 bits.
  return (static_cast<unsigned>(std::bit_width(value | 1U)) * 9 + 64) / 64;
}

[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t value) noexcept {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63U);
}

[[nodiscard]] constexpr std::int64_t unzigzag(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>((value >> 1U) ^ (0U - (value & 1U)));
}

/// A number of three bytes or more; gives the place behind it.
[[nodiscard]] std::byte* write_long_varint(std::byte* to, std::uint64_t value) noexcept;

/// In line, so that the cursor stays in a register.
[[gnu::always_inline]] inline void write_varint(Writer& writer, std::uint64_t value) noexcept {
  if (value < 0x80) [[likely]] {
    return writer.byte(static_cast<std::byte>(value));
  }
  if (value < 0x4000) [[likely]] {
    const auto two = static_cast<std::uint16_t>((value & 0x7FU) | 0x80U | ((value >> 7U) << 8U));
    std::memcpy(writer.skip(sizeof(two)), &two, sizeof(two));
    return;
  }
  writer.continue_at(write_long_varint(writer.position(), value));
}

/// The general case: any length, checked against `max`.
[[nodiscard]] bool read_long_varint(Reader& reader, std::uint64_t max, std::uint64_t& value);

/// A number of one or two bytes, as most are; false: it is longer, or wrong, and nothing has been taken.
template <std::unsigned_integral T>
[[nodiscard, gnu::always_inline]] inline bool read_short_varint(Reader& reader, T& value) noexcept {
  if (reader.left() < 2) [[unlikely]] {
    return false;
  }
  const auto first = std::to_integer<unsigned>(reader.peek()[0]);
  if (first < 0x80) [[likely]] {
    value = static_cast<T>(first);
    reader.advance(1);
    return true;
  }
  const auto second = std::to_integer<unsigned>(reader.peek()[1]);
  if (second < 0x80 && second != 0 && sizeof(T) > 1) [[likely]] {
    value = static_cast<T>((first & 0x7FU) | (second << 7U));
    reader.advance(2);
    return true;
  }
  return false;
}

template <std::unsigned_integral T>
[[nodiscard]] inline bool read_varint(Reader& reader, T& value) {
  if (reader.left() >= 3) [[likely]] {
    const auto* const from = reader.peek();
    const auto byte = [from](std::size_t at) noexcept { return std::to_integer<unsigned>(from[at]); };
    if (byte(0) < 0x80) [[likely]] {
      value = static_cast<T>(byte(0));
      reader.advance(1);
      return true;
    }
    if (sizeof(T) > 1 && byte(1) < 0x80 && byte(1) != 0) [[likely]] {
      value = static_cast<T>((byte(0) & 0x7FU) | (byte(1) << 7U));
      reader.advance(2);
      return true;
    }
    if (sizeof(T) > 2 && byte(1) >= 0x80 && byte(2) < 0x80 && byte(2) != 0) {
      value = static_cast<T>((byte(0) & 0x7FU) | ((byte(1) & 0x7FU) << 7U) | (byte(2) << 14U));
      reader.advance(3);
      return true;
    }
  }
  std::uint64_t wide = 0;
  if (!read_long_varint(reader, (std::numeric_limits<T>::max)(), wide)) [[unlikely]] {
    return false;
  }
  value = static_cast<T>(wide);
  return true;
}

template <std::signed_integral T>
[[nodiscard]] inline bool read_zigzag(Reader& reader, T& value) {
  std::make_unsigned_t<T> folded = 0;
  if (!read_varint(reader, folded)) [[unlikely]] {
    return false;
  }
  value = static_cast<T>(unzigzag(folded));
  return true;
}

}  // namespace mf::codec
