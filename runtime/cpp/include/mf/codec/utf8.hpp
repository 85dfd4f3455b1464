// R1. Is this text UTF-8? As mf/core/text.hpp says it, but ASCII is checked 8 bytes at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace mf::codec {

/// The offset of the first byte that is not UTF-8; bytes.size() if there is none.
[[nodiscard]] std::size_t valid_utf8_prefix(std::span<const std::byte> bytes) noexcept;

/// Most texts are, and then nothing more needs to be known about them.
[[nodiscard]] inline bool is_ascii(const std::byte* from, std::size_t size) noexcept {
  constexpr std::uint64_t kNotAscii = 0x8080808080808080U;
  const auto word = [from](std::size_t at) noexcept {
    std::uint64_t eight = 0;
    std::memcpy(&eight, from + at, sizeof(eight));
    return eight;
  };
  std::uint64_t bits = 0;
#if defined(__SSE2__)
  if (size >= 16 && size <= 64) {
    // Four registers that overlap: the middle ones are the ends again where there are no more than 32 bytes.
    const auto sixteen = [from](std::size_t at) noexcept {
      return _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(from + at));
    };
    const std::size_t half = size > 32 ? 16 : 0;
    const __m128i first = _mm_or_si128(sixteen(0), sixteen(half));
    const __m128i last = _mm_or_si128(sixteen(size - 16 - half), sixteen(size - 16));
    return _mm_movemask_epi8(_mm_or_si128(first, last)) == 0;
  }
#endif
  if (size >= sizeof(bits)) {
    std::size_t at = 0;
    for (; at + 2 * sizeof(bits) <= size; at += 2 * sizeof(bits)) {
      bits |= word(at) | word(at + sizeof(bits));
    }
    if (at + sizeof(bits) <= size) {
      bits |= word(at);
    }
    bits |= word(size - sizeof(bits));
  } else if (size >= sizeof(std::uint32_t)) {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::memcpy(&first, from, sizeof(first));
    std::memcpy(&last, from + size - sizeof(last), sizeof(last));
    bits = first | last;
  } else if (size != 0) {
    bits = std::to_integer<std::uint64_t>(from[0] | from[size / 2] | from[size - 1]);
  }
  return (bits & kNotAscii) == 0;
}

}  // namespace mf::codec
