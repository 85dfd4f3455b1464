// R1. Rows of numbers in tier archive, packed: one behind the other, without tags.
//
//   packed_size(values)                bytes of all
//   write_packed(writer, values)       from back to front
//   count_varints(bytes)               how many end in the bytes: so many a row may hold
//   read_packed(at, end, to)           as many as are usual; gives where the next one begins, which the
//                                      reader looks at: it is unusual, wrong, or near the end
// Numbers that fit into one or two bytes, or that take five, go several at a time, or without a search for
// their ends; the others by words of eight bytes (varint_word.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "mf/codec/archive_number.hpp"
#include "mf/codec/varint_word.hpp"
#include "mf/codec/writer.hpp"

namespace mf::codec::archive {

namespace detail {

inline constexpr std::size_t kEight = 8;

/// Eight numbers of one byte each.
template <std::integral T>
inline void unpack_eight(std::uint64_t word, T* to) noexcept {
  using Byte = std::conditional_t<std::signed_integral<T>, signed char, unsigned char>;
  using Bytes [[gnu::vector_size(kEight)]] = Byte;
  using Numbers [[gnu::vector_size(kEight * sizeof(T))]] = T;
  if constexpr (std::signed_integral<T>) {
    word = ((word >> 1U) & 0x3F3F3F3F3F3F3F3FU) ^ ((word & 0x0101010101010101U) * 0xFFU);
  }
  Bytes bytes;  // not by std::bit_cast: without SSE no function may return a vector
  std::memcpy(&bytes, &word, sizeof(bytes));
  const auto numbers = __builtin_convertvector(bytes, Numbers);
  std::memcpy(to, &numbers, sizeof(numbers));
}

/// Of whatever is checked one by one.
template <class T>
[[nodiscard]] inline bool unpack_eight_checked(std::uint64_t word, T* to) noexcept {
  bool good = true;
  for (std::size_t i = 0; i < kEight; ++i) good &= Value<T>::unfolded(word >> (8 * i) & 0x7FU, to[i]);
  return good;
}

/// Four numbers of two bytes each.
template <class T>
[[nodiscard]] inline bool unpack_four(std::uint64_t word, T* to) noexcept {
  word = (word & 0x007F007F007F007FU) | ((word & 0x7F007F007F007F00U) >> 1U);
  bool good = true;
  for (std::size_t i = 0; i < 4; ++i) good &= Value<T>::unfolded(word >> (16 * i) & 0x3FFFU, to[i]);
  return good;
}

/// Bytes of 2^20 numbers of four bytes, so that no lane overflows.
template <std::integral T>
  requires(sizeof(T) == 4)
[[nodiscard]] inline std::size_t size_of_some(const T* values, std::size_t count) noexcept {
  using Four [[gnu::vector_size(16)]] = std::uint32_t;
  using Signs [[gnu::vector_size(16)]] = std::int32_t;
  Signs sum{};
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    Four folded;
    std::memcpy(&folded, values + i, sizeof(folded));
    if constexpr (std::signed_integral<T>) folded = (folded << 1U) ^ (Four{} - (folded >> 31U));
    // A comparison that holds is -1.
    sum -= (folded >= 0x80U) + (folded >= 0x4000U) + (folded >= 0x20'0000U) + (folded >= 0x1000'0000U);
  }
  std::size_t size = i;
  for (int lane = 0; lane < 4; ++lane) size += static_cast<std::size_t>(sum[lane]);
  for (; i < count; ++i) size += Value<T>::size(values[i]);
  return size;
}

template <class T>
[[nodiscard]] inline std::size_t size_of_some(const T* values, std::size_t count) noexcept {
  std::size_t size = 0;
  for (std::size_t i = 0; i < count; ++i) size += Value<T>::size(values[i]);
  return size;
}

/// One number before `end`, where eight bytes may be overwritten that lie before it.
template <class Folded>
[[nodiscard]] inline std::byte* pack_loosely(std::byte* end, Folded number) noexcept {
  if (number < 0x4000) {
    const bool two = number >= 0x80;
    const auto word = static_cast<std::uint32_t>(number);
    const std::uint32_t both = (word & 0x7FU) | 0x80U | (word << 1U & 0x7F00U);
    store_word(end - 2, static_cast<std::uint16_t>(two ? both : word << 8U));
    return end - 1 - static_cast<std::size_t>(two);
  }
  if (number < 0x1000'0000) {
    const bool four = number >= 0x20'0000;
    const std::uint32_t word = split_four_groups(static_cast<std::uint32_t>(number)) | 0x8080U;
    store_word(end - 4, four ? word | 0x80'0000U : word << 8U);
    return end - 3 - static_cast<std::size_t>(four);
  }
  return write_long_varint_before(end, number);
}

}  // namespace detail

/// Every varint has one byte without its highest bit.
[[nodiscard]] std::size_t count_varints(std::span<const std::byte> bytes) noexcept;

template <PlainNumber T>
[[nodiscard]] std::size_t packed_size(std::span<const T> values) noexcept {
  return values.size_bytes();
}

template <VarintNumber T>
[[nodiscard]] std::size_t packed_size(std::span<const T> values) noexcept {
  constexpr std::size_t kSome = std::size_t{1} << 20U;
  std::size_t size = 0;
  for (std::size_t i = 0; i < values.size(); i += kSome) {
    size += detail::size_of_some(values.data() + i, (std::min)(kSome, values.size() - i));
  }
  return size;
}

template <PlainNumber T>
void write_packed(BackWriter& writer, std::span<const T> values) noexcept {
  writer.bytes(values.data(), values.size_bytes());
}

template <VarintNumber T>
void write_packed(BackWriter& writer, std::span<const T> values) noexcept {
  using detail::kEight;
  using Folded = decltype(Value<T>::folded(T{}));
  std::byte* at = writer.position();
  const T* const first = values.data();
  std::size_t left = values.size();
  while (left >= 2 * kEight) {  // eight numbers in front of those that are written take eight bytes at least
    Folded bits = 0;
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < kEight; ++i) bits |= Value<T>::folded(first[left - kEight + i]);
    if (bits < 0x80) {
      for (std::size_t i = 0; i < kEight; ++i) {
        word |= std::uint64_t{Value<T>::folded(first[left - kEight + i])} << (8 * i);
      }
      at -= kEight;
      store_word(at, word);
      left -= kEight;
      continue;
    }
    for (const std::size_t stop = left - kEight; left != stop;) {
      at = detail::pack_loosely(at, Value<T>::folded(first[--left]));
    }
  }
  writer.continue_at(at);
  while (left != 0) Value<T>::write(writer, first[--left]);
}

template <VarintNumber T>
[[nodiscard]] const std::byte* read_packed(const std::byte* at, const std::byte* end, T*& to) noexcept {
  constexpr std::uint64_t kFourEnds = 0x8000800080008000U;
  constexpr std::uint64_t kFifthByte = 0xFF'FFFF'FFFFU;
  constexpr std::uint64_t kEndOfFive = 0x80'0000'0000U;
  while (end - at >= 10) {
    auto word = load_word<std::uint64_t>(at);
    auto ends = varint_ends(word);
    if (ends == kHighBits) {
      if constexpr (std::integral<T> && !std::same_as<T, bool>) {
        detail::unpack_eight(word, to);
      } else if (!detail::unpack_eight_checked(word, to)) {
        return at;
      }
      at += 8;
      to += 8;
      continue;
    }
    if (ends == kFourEnds) {
      if (!detail::unpack_four(word, to)) return at;
      at += 8;
      to += 4;
      continue;
    }
    if ((ends & kFifthByte) == kEndOfFive) {
      if (!Value<T>::unfolded(join_groups(word & kFifthByte), *to)) return at;
      at += 5;
      ++to;
      continue;
    }
    if (ends == 0) {
      const auto [next, number] = take_long_number(at, end);
      if (next == nullptr || !Value<T>::unfolded(number, *to)) return at;
      at = next;
      ++to;
      continue;
    }
    for (;;) {  // all that end in this word
      const auto bits = static_cast<unsigned>(std::countr_zero(ends)) + 1;
      if (!Value<T>::unfolded(first_varint(word, bits), *to)) return at;
      at += bits / 8;
      ++to;
      if (bits == 64) break;
      word >>= bits;
      ends >>= bits;
      if (ends == 0) break;
    }
  }
  return at;
}

template <PlainNumber T>
[[nodiscard]] const std::byte* read_packed(const std::byte* at, const std::byte* end, T*& to) noexcept {
  const auto whole = static_cast<std::size_t>(end - at) / sizeof(T);
  codec::detail::copy_bytes(reinterpret_cast<std::byte*>(to), at, whole * sizeof(T));
  to += whole;
  return at + whole * sizeof(T);
}

/// How many whole numbers of the type are in the bytes of a row.
template <Number T>
[[nodiscard]] std::size_t count_packed(std::span<const std::byte> bytes) noexcept {
  if constexpr (PlainNumber<T>) {
    return bytes.size() / sizeof(T);
  } else {
    return count_varints(bytes);
  }
}

}  // namespace mf::codec::archive
