// R1. The two loops of a row of integers: which width do these values need, and from one width to another.
//
// Both work on memory of any alignment and any type of the same representation, in the form that g++ and
// clang turn into vector instructions at -O2: so many values at a time, known when it is compiled.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// Without SSE (-m32) vectors are handed on in memory: all this is inlined, so there is no ABI to keep.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mf::codec::detail {

/// The kernels take this many values at a time, and the last of a block once more from its end: between 16
/// and 32 values there is nothing to loop over and nothing to mispredict. Less than 16 are twice 8 or 4, or
/// some alone.
inline constexpr std::size_t kStep = 16;

template <std::integral Base>
struct BitsOf {
  using Unsigned = std::make_unsigned_t<Base>;
  using Lanes [[gnu::vector_size(16), gnu::may_alias, gnu::aligned(1)]] = Base;
  static constexpr std::size_t kLanes = 16 / sizeof(Base);

  template <class T>
  static T significant(T value) noexcept {
    if constexpr (std::is_signed_v<Base>) {
      return static_cast<T>(value ^ (value >> (8 * sizeof(Base) - 1)));
    } else {
      return value;
    }
  }

  /// Of so many values, which are a multiple of those of a vector.
  template <std::size_t kValues>
  static Lanes of(const std::byte* from) noexcept {
    return [from]<std::size_t... kI>(std::index_sequence<kI...>) noexcept {
      return (significant(reinterpret_cast<const Lanes*>(from)[kI]) | ...);
    }(std::make_index_sequence<kValues / kLanes>());
  }

  static constexpr unsigned kMaxCode = std::bit_width(sizeof(Base)) - 1;

#if defined(__SSE2__)
  using Used = unsigned;  // a bit for each byte of a register: does it hold any?

  static Used used(Lanes lanes) noexcept {
    __m128i all;
    std::memcpy(&all, &lanes, sizeof(all));
    if constexpr (std::is_signed_v<Base>) {
      all = _mm_slli_epi64(all, 1);  // room for the sign: the highest bit of each lane is 0
    }
    return static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_setzero_si128()))) ^ 0xFFFFU;
  }
  /// Bytes of an integer behind the first ones, of all lanes.
  static constexpr Used behind(std::size_t bytes) noexcept {
    Used mask = 0;
    for (std::size_t i = 0; i < 16; ++i) {
      mask |= static_cast<Used>(i % sizeof(Base) >= bytes) << i;
    }
    return mask;
  }
#else
  using Used = std::uint64_t;  // the bits themselves

  static Used used(Lanes lanes) noexcept {
    Used bits = 0;
    for (std::size_t i = 0; i < kLanes; ++i) {
      bits |= static_cast<Unsigned>(lanes[i]);
    }
    return std::is_signed_v<Base> ? bits << 1U : bits;
  }
  static constexpr Used behind(std::size_t bytes) noexcept { return ~Used{0} << (8 * bytes); }
#endif

  /// Do all values fit into the width of this code?
  template <unsigned kCode>
  static bool fit(Used used) noexcept {
    return (used & behind(std::size_t{1} << kCode)) == 0;
  }

  static unsigned code_of(Lanes lanes) noexcept {
    return [used = used(lanes)]<unsigned... kCode>(std::integer_sequence<unsigned, kCode...>) noexcept {
      return (static_cast<unsigned>(!fit<kCode>(used)) + ...);
    }(std::make_integer_sequence<unsigned, kMaxCode>());
  }

  /// Of values whose significant bits have been put together.
  static unsigned code_of_bits(Base bits) noexcept {
    const auto width = static_cast<unsigned>(std::bit_width(static_cast<Unsigned>(bits))) +
                       static_cast<unsigned>(std::is_signed_v<Base>);
    return static_cast<unsigned>(width > 8) + static_cast<unsigned>(width > 16) +
           static_cast<unsigned>(width > 32);
  }

  static Lanes one_by_one(const std::byte* from, std::size_t count) noexcept {
    Unsigned sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      Base value;
      std::memcpy(&value, from + i * sizeof(Base), sizeof(Base));
      sum = static_cast<Unsigned>(sum | static_cast<Unsigned>(significant(value)));
    }
    return Lanes{static_cast<Base>(sum)};
  }
};

/// The code of a block: the base-2 logarithm of the width in bytes that holds all its values.
template <std::integral Base>
[[nodiscard]] inline unsigned row_code(const void* memory, std::size_t count) noexcept {
  using Bits = BitsOf<Base>;
  const auto* const from = static_cast<const std::byte*>(memory);
  if (count >= kStep) {
    auto lanes = Bits::template of<kStep>(from + (count - kStep) * sizeof(Base));
    for (std::size_t i = 0; i + kStep < count; i += kStep) {
      lanes |= Bits::template of<kStep>(from + i * sizeof(Base));
    }
    return Bits::code_of(lanes);
  }
  if (count >= 8) {
    return Bits::code_of(Bits::template of<8>(from) |
                         Bits::template of<8>(from + (count - 8) * sizeof(Base)));
  }
  if constexpr (sizeof(Base) > 2) {
    if (count >= 4) {
      return Bits::code_of(Bits::template of<4>(from) |
                           Bits::template of<4>(from + (count - 4) * sizeof(Base)));
    }
  }
  return Bits::code_of(Bits::one_by_one(from, count));
}

/// Calls use(first value) for groups of eight that overlap where `count` is less than four times eight: a
/// short row has nothing to loop over, and nothing to mispredict.
template <class Use>
[[gnu::always_inline]] inline void each_eight(std::size_t count, const Use& use) noexcept {
  const std::size_t last = count - 8;
  const std::size_t second = std::min<std::size_t>(last, 8);
  use(std::size_t{0});
  use(second);
  use(last - second);
  use(last);
}

/// The bits that any of 8 to 31 values has.
template <std::integral Base>
[[nodiscard, gnu::always_inline]] inline typename BitsOf<Base>::Lanes short_row_bits(
    const std::byte* from, std::size_t count) noexcept {
  typename BitsOf<Base>::Lanes lanes{};
  each_eight(count,
             [&](std::size_t first) { lanes |= BitsOf<Base>::template of<8>(from + first * sizeof(Base)); });
  return lanes;
}

template <std::size_t kValues, class To, class From>
inline void convert_some(void* __restrict to, const void* __restrict from) noexcept {
  using Source [[gnu::may_alias, gnu::aligned(1)]] = From;
  using Target [[gnu::may_alias, gnu::aligned(1)]] = To;
  const auto* const source = static_cast<const Source*>(from);
  auto* const target = static_cast<Target*>(to);
  for (std::size_t i = 0; i < kValues; ++i) {
    target[i] = static_cast<To>(source[i]);
  }
}

#if defined(__SSE2__)
/// Eight values of 4 bytes in 2, or 1: what the compiler makes of a loop needs twice the instructions, since
/// the baseline packs with saturation of signed values only.
template <class To, class From>
[[nodiscard, gnu::always_inline]] inline __m128i packed_eight(const void* from) noexcept {
  constexpr bool kShift = !std::is_signed_v<From> && sizeof(To) == 2;  // to where signed values are
  const auto load = [from](std::size_t i) noexcept {
    const __m128i four = _mm_loadu_si128(static_cast<const __m128i_u*>(from) + i);
    return kShift ? _mm_sub_epi32(four, _mm_set1_epi32(0x8000)) : four;
  };
  const __m128i eight = _mm_packs_epi32(load(0), load(1));
  return kShift ? _mm_xor_si128(eight, _mm_set1_epi16(-0x8000)) : eight;
}
template <class To>
[[nodiscard, gnu::always_inline]] inline __m128i packed_bytes(__m128i low, __m128i high) noexcept {
  return std::is_signed_v<To> ? _mm_packs_epi16(low, high) : _mm_packus_epi16(low, high);
}

/// kValues, 8 or 16 of them.
template <std::size_t kValues, class To, class From>
  requires(sizeof(From) == 4 && sizeof(To) < 4)
[[gnu::always_inline]] inline void pack_some(void* to, const void* from) noexcept {
  const __m128i low = packed_eight<To, From>(from);
  if constexpr (kValues == 8) {
    if constexpr (sizeof(To) == 2) {
      _mm_storeu_si128(static_cast<__m128i_u*>(to), low);
    } else {
      _mm_storel_epi64(static_cast<__m128i_u*>(to), packed_bytes<To>(low, low));
    }
  } else {
    const __m128i high = packed_eight<To, From>(static_cast<const __m128i_u*>(from) + 2);
    if constexpr (sizeof(To) == 2) {
      _mm_storeu_si128(static_cast<__m128i_u*>(to), low);
      _mm_storeu_si128(static_cast<__m128i_u*>(to) + 1, high);
    } else {
      _mm_storeu_si128(static_cast<__m128i_u*>(to), packed_bytes<To>(low, high));
    }
  }
}
#endif

/// Eight or sixteen values.
template <std::size_t kValues, class To, class From>
inline void convert_step(void* __restrict to, const void* __restrict from) noexcept {
  if constexpr (sizeof(From) == sizeof(To)) {
    std::memcpy(to, from, kValues * sizeof(To));
    return;
  }
#if defined(__SSE2__)
  if constexpr (sizeof(From) == 4 && sizeof(To) < 4) {
    return pack_some<kValues, To, From>(to, from);
  }
#endif
  convert_some<kValues, To, From>(to, from);
}

/// Writes each value in the other width; `to` and `from` must not overlap.
template <std::integral To, std::integral From>
inline void convert(void* to, const void* from, std::size_t count) noexcept {
  auto* const target = static_cast<std::byte*>(to);
  const auto* const source = static_cast<const std::byte*>(from);
  const auto target_end = [=](std::size_t back) { return target + (count - back) * sizeof(To); };
  const auto source_end = [=](std::size_t back) { return source + (count - back) * sizeof(From); };
  if constexpr (sizeof(To) == sizeof(From)) {
    if (count != 0) {
      std::memcpy(target, source, count * sizeof(To));
    }
  } else if (count >= kStep) {
    for (std::size_t i = 0; i + kStep < count; i += kStep) {
      convert_step<kStep, To, From>(target + i * sizeof(To), source + i * sizeof(From));
    }
    convert_step<kStep, To, From>(target_end(kStep), source_end(kStep));
  } else if (count >= 8) {
    convert_step<8, To, From>(target, source);
    convert_step<8, To, From>(target_end(8), source_end(8));
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      convert_some<1, To, From>(target + i * sizeof(To), source + i * sizeof(From));
    }
  }
}

template <std::size_t kWidth, std::integral Base>
using Integer = std::conditional_t<
    std::is_signed_v<Base>,
    std::conditional_t<kWidth == 1, std::int8_t,
                       std::conditional_t<kWidth == 2, std::int16_t,
                                          std::conditional_t<kWidth == 4, std::int32_t, std::int64_t>>>,
    std::conditional_t<kWidth == 1, std::uint8_t,
                       std::conditional_t<kWidth == 2, std::uint16_t,
                                          std::conditional_t<kWidth == 4, std::uint32_t, std::uint64_t>>>>;

/// Writes `count` values of the type in the width of `code`, which is that of row_code() or more. Where g++
/// sees that they are few it copies by `rep movs`, which takes longer than memcpy(): so it is not to see
/// that.
template <std::integral Base>
[[gnu::noinline]] inline void narrow(std::byte* to, const void* from, std::size_t count,
                                     unsigned code) noexcept {
  if (code == 0) {
    return convert<Integer<1, Base>, Base>(to, from, count);
  }
  if constexpr (sizeof(Base) > 2) {
    if (code == 1) {
      return convert<Integer<2, Base>, Base>(to, from, count);
    }
  }
  if constexpr (sizeof(Base) > 4) {
    if (code == 2) {
      return convert<Integer<4, Base>, Base>(to, from, count);
    }
  }
  convert<Base, Base>(to, from, count);
}

/// Writes a row of 8 to 31 values, of which `used` is known, and its head.
template <std::integral Base, unsigned kCode = 0>
[[nodiscard, gnu::always_inline]] inline std::byte* write_short(std::byte* to, const std::byte* from,
                                                                std::size_t count,
                                                                typename BitsOf<Base>::Used used) noexcept {
  if constexpr (kCode < BitsOf<Base>::kMaxCode) {
    if (!BitsOf<Base>::template fit<kCode>(used)) {
      return write_short<Base, kCode + 1>(to, from, count, used);
    }
  }
  constexpr std::size_t kWidth = std::size_t{1} << kCode;
  each_eight(count, [=](std::size_t first) {
    convert_step<8, Integer<kWidth, Base>, Base>(to + 1 + first * kWidth, from + first * sizeof(Base));
  });
  *to = static_cast<std::byte>(count * 4 + kCode);  // last: what was looked at may stay in registers
  return to + 1 + count * kWidth;
}

/// The opposite. The code is one that the type can have.
template <std::integral Base>
inline void widen(void* to, const std::byte* from, std::size_t count, unsigned code) noexcept {
  if (code == 0) {
    return convert<Base, Integer<1, Base>>(to, from, count);
  }
  if constexpr (sizeof(Base) > 2) {
    if (code == 1) {
      return convert<Base, Integer<2, Base>>(to, from, count);
    }
  }
  if constexpr (sizeof(Base) > 4) {
    if (code == 2) {
      return convert<Base, Integer<4, Base>>(to, from, count);
    }
  }
  convert<Base, Base>(to, from, count);
}

}  // namespace mf::codec::detail

#pragma GCC diagnostic pop
