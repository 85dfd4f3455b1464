// R1. The two loops of a row of integers: which width do these values need, and from one width to another.
//
// Both work on memory of any alignment and any type of the same representation, in the form that g++ and
// clang turn into vector instructions at -O2: so many values at a time, known when it is compiled.
#pragma once

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

  static unsigned code_of(std::uint64_t bits) noexcept {
    if constexpr (std::is_signed_v<Base>) {
      bits <<= 1U;  // room for the sign; 63 significant bits are the most
    }
    return static_cast<unsigned>(bits > 0xFFU) + static_cast<unsigned>(bits > 0xFFFFU) +
           static_cast<unsigned>(bits > 0xFFFF'FFFFU);
  }

#if defined(__SSE2__)
  /// Of each lane some bits: which of its bytes hold any.
  static unsigned code_of(Lanes lanes) noexcept {
    __m128i all;
    std::memcpy(&all, &lanes, sizeof(all));
    if constexpr (std::is_signed_v<Base>) {
      all = _mm_slli_epi64(all, 1);  // the highest bit of each lane is 0
    }
    const auto empty = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_setzero_si128())));
    const unsigned used = empty ^ 0xFFFFU;
    if constexpr (sizeof(Base) == 2) {
      return static_cast<unsigned>((used & 0xAAAAU) != 0);
    } else if constexpr (sizeof(Base) == 4) {
      return static_cast<unsigned>((used & 0xEEEEU) != 0) + static_cast<unsigned>((used & 0xCCCCU) != 0);
    } else {
      return static_cast<unsigned>((used & 0xFEFEU) != 0) + static_cast<unsigned>((used & 0xFCFCU) != 0) +
             static_cast<unsigned>((used & 0xF0F0U) != 0);
    }
  }
#else
  static unsigned code_of(Lanes lanes) noexcept {
    std::uint64_t halves[2];
    std::memcpy(halves, &lanes, sizeof(halves));
    std::uint64_t all = halves[0] | halves[1];
    for (std::size_t shift = 32; shift >= 8 * sizeof(Base); shift /= 2) {
      all |= all >> shift;
    }
    return code_of(std::uint64_t{static_cast<Unsigned>(all)});
  }
#endif

  static std::uint64_t one_by_one(const std::byte* from, std::size_t count) noexcept {
    Unsigned sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      Base value;
      std::memcpy(&value, from + i * sizeof(Base), sizeof(Base));
      sum = static_cast<Unsigned>(sum | static_cast<Unsigned>(significant(value)));
    }
    return sum;
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

/// The same for a short row, of kStep values to twice as many: nothing to loop over.
template <std::integral Base>
[[nodiscard]] inline unsigned short_row_code(const void* memory, std::size_t count) noexcept {
  using Bits = BitsOf<Base>;
  const auto* const from = static_cast<const std::byte*>(memory);
  return Bits::code_of(Bits::template of<kStep>(from) |
                       Bits::template of<kStep>(from + (count - kStep) * sizeof(Base)));
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
/// kStep values of 4 bytes in 2 or 1: what the compiler makes of a loop needs twice the instructions, since
/// the baseline packs with saturation of signed values only.
template <class To, class From>
  requires(sizeof(From) == 4 && sizeof(To) < 4)
inline void pack_step(void* to, const void* from) noexcept {
  const auto load = [from](std::size_t i) noexcept {
    const auto* const at = static_cast<const __m128i_u*>(from) + i;
    const __m128i four = _mm_loadu_si128(at);
    // The low halves as if they were signed: then nothing saturates.
    return std::is_signed_v<From> || sizeof(To) == 1 ? four : _mm_srai_epi32(_mm_slli_epi32(four, 16), 16);
  };
  const __m128i low = _mm_packs_epi32(load(0), load(1));
  const __m128i high = _mm_packs_epi32(load(2), load(3));
  auto* const target = static_cast<__m128i_u*>(to);
  if constexpr (sizeof(To) == 2) {
    _mm_storeu_si128(target, low);
    _mm_storeu_si128(target + 1, high);
  } else {
    _mm_storeu_si128(target,
                     std::is_signed_v<From> ? _mm_packs_epi16(low, high) : _mm_packus_epi16(low, high));
  }
}
#endif

template <class To, class From>
inline void convert_step(void* __restrict to, const void* __restrict from) noexcept {
#if defined(__SSE2__)
  if constexpr (sizeof(From) == 4 && sizeof(To) < 4) {
    return pack_step<To, From>(to, from);
  }
#endif
  convert_some<kStep, To, From>(to, from);
}

/// Writes each value in the other width; what lies at `to` and `from` must not overlap.
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
      convert_step<To, From>(target + i * sizeof(To), source + i * sizeof(From));
    }
    convert_step<To, From>(target_end(kStep), source_end(kStep));
  } else if (count >= 8) {
    convert_some<8, To, From>(target, source);
    convert_some<8, To, From>(target_end(8), source_end(8));
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

/// Writes `count` values of the type in the width of `code`, which is that of row_code() or more.
template <std::integral Base>
inline void narrow(std::byte* to, const void* from, std::size_t count, unsigned code) noexcept {
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

/// narrow() of a short row.
template <std::size_t kWidth, std::integral Base>
[[gnu::always_inline]] inline void narrow_short_to(std::byte* to, const std::byte* from,
                                                   std::size_t count) noexcept {
  const std::size_t last = count - kStep;
  convert_step<Integer<kWidth, Base>, Base>(to, from);
  convert_step<Integer<kWidth, Base>, Base>(to + last * kWidth, from + last * sizeof(Base));
}

template <std::integral Base>
[[gnu::always_inline]] inline void narrow_short(std::byte* to, const void* memory, std::size_t count,
                                                unsigned code) noexcept {
  const auto* const from = static_cast<const std::byte*>(memory);
  if (code == 0) {
    return narrow_short_to<1, Base>(to, from, count);
  }
  if constexpr (sizeof(Base) > 2) {
    if (code == 1) {
      return narrow_short_to<2, Base>(to, from, count);
    }
  }
  narrow<Base>(to, from, count, code);
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
