// R1. The groups of a varint, eight at a time: between a number and the word of eight bytes that its LEB128
// form is, without a loop over bytes.
//
// The highest bit of each byte, which says that more follow, is the caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mf::codec {

/// The highest bit of each byte.
inline constexpr std::uint64_t kHighBits = 0x8080808080808080U;

/// The highest bits of those bytes that end a varint.
[[nodiscard]] constexpr std::uint64_t varint_ends(std::uint64_t word) noexcept {
  return ~word & kHighBits;
}

/// 56 bits out of eight bytes, lowest group first.
[[nodiscard]] constexpr std::uint64_t join_groups(std::uint64_t word) noexcept {
  word &= ~kHighBits;
  word = (word & 0x007F007F007F007FU) | ((word & 0x7F007F007F007F00U) >> 1U);
  word = (word & 0x00003FFF00003FFFU) | ((word & 0x3FFF00003FFF0000U) >> 2U);
  return (word & 0x000000000FFFFFFFU) | ((word & 0x0FFFFFFF00000000U) >> 4U);
}

/// The opposite; of a number below 2^56.
[[nodiscard]] constexpr std::uint64_t split_groups(std::uint64_t number) noexcept {
  number = (number & 0x000000000FFFFFFFU) | ((number & 0x00FFFFFFF0000000U) << 4U);
  number = (number & 0x00003FFF00003FFFU) | ((number & 0x0FFFC0000FFFC000U) << 2U);
  return (number & 0x007F007F007F007FU) | ((number & 0x3F803F803F803F80U) << 1U);
}

/// The first varint of a word in which one ends: `bits` are those of its bytes.
[[nodiscard]] constexpr std::uint64_t first_varint(std::uint64_t word, unsigned bits) noexcept {
  return join_groups(word & (~std::uint64_t{0} >> (64U - bits)));
}

/// The same of a number below 2^28, which takes four bytes.
[[nodiscard]] constexpr std::uint32_t split_four_groups(std::uint32_t number) noexcept {
  return (number & 0x7FU) | (number << 1U & 0x7F00U) | (number << 2U & 0x7F'0000U) |
         (number << 3U & 0x7F00'0000U);
}

template <class Word>
[[nodiscard]] inline Word load_word(const std::byte* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}
template <class Word>
inline void store_word(std::byte* to, Word word) noexcept {
  std::memcpy(to, &word, sizeof(word));
}

}  // namespace mf::codec
