// R1. The two loops of a row of integers: which width do these values need, and from one width to another.
//
// Both work on memory of any alignment and any type of the same representation, sixteen bytes or values at a
// time in the form that g++ and clang turn into vector instructions at -O2.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace mf::codec::detail {

/// All significant bits of the values; of a signed one those that differ from its sign.
template <std::integral Base>
[[nodiscard]] inline std::uint64_t significant_bits(const void* from, std::size_t count) noexcept {
  using Unsigned = std::make_unsigned_t<Base>;
  using Lanes [[gnu::vector_size(16), gnu::may_alias, gnu::aligned(1)]] = Base;
  constexpr std::size_t kLanes = 16 / sizeof(Base);
  constexpr auto kSignificant = [](auto value) {
    if constexpr (std::is_signed_v<Base>) {
      return value ^ (value >> (8 * sizeof(Base) - 1));
    } else {
      return value;
    }
  };
  const auto* const bytes = static_cast<const std::byte*>(from);
  const auto lanes = [&](std::size_t i) -> const Lanes& {
    return *reinterpret_cast<const Lanes*>(bytes + i * sizeof(Base));
  };
  Unsigned sum = 0;
  if (count < kLanes) {
    for (std::size_t i = 0; i < count; ++i) {
      Base value;
      std::memcpy(&value, bytes + i * sizeof(Base), sizeof(Base));
      sum = static_cast<Unsigned>(sum | static_cast<Unsigned>(kSignificant(value)));
    }
    return sum;
  }
  Lanes even{};
  Lanes odd{};
  std::size_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    even |= kSignificant(lanes(i));
    odd |= kSignificant(lanes(i + kLanes));
  }
  if (i + kLanes <= count) {
    even |= kSignificant(lanes(i));
  }
  odd |= kSignificant(lanes(count - kLanes));  // the rest, and some of them again
  even |= odd;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    sum = static_cast<Unsigned>(sum | static_cast<Unsigned>(even[lane]));
  }
  return sum;
}

/// The code of a block: the base-2 logarithm of the width in bytes that holds all its values.
template <std::integral Base>
[[nodiscard]] inline unsigned row_code(const void* from, std::size_t count) noexcept {
  std::uint64_t bits = significant_bits<Base>(from, count);
  if constexpr (std::is_signed_v<Base>) {
    bits <<= 1U;  // room for the sign; 63 significant bits are the most
  }
  return static_cast<unsigned>(bits > 0xFFU) + static_cast<unsigned>(bits > 0xFFFFU) +
         static_cast<unsigned>(bits > 0xFFFF'FFFFU);
}

inline constexpr std::size_t kConverted = 16;  // values at a time

template <class To, class From>
inline void convert_some(void* __restrict to, const void* __restrict from) noexcept {
  using Source [[gnu::may_alias, gnu::aligned(1)]] = From;
  using Target [[gnu::may_alias, gnu::aligned(1)]] = To;
  const auto* const source = static_cast<const Source*>(from);
  auto* const target = static_cast<Target*>(to);
  for (std::size_t i = 0; i < kConverted; ++i) {
    target[i] = static_cast<To>(source[i]);
  }
}

/// Writes each value in the other width; what lies at `to` and `from` must not overlap.
template <std::integral To, std::integral From>
inline void convert(void* to, const void* from, std::size_t count) noexcept {
  auto* const target = static_cast<std::byte*>(to);
  const auto* const source = static_cast<const std::byte*>(from);
  if constexpr (sizeof(To) == sizeof(From)) {
    if (count != 0) {
      std::memcpy(target, source, count * sizeof(To));
    }
  } else if (count < kConverted) {
    for (std::size_t i = 0; i < count; ++i) {
      From value;
      std::memcpy(&value, source + i * sizeof(From), sizeof(From));
      const auto converted = static_cast<To>(value);
      std::memcpy(target + i * sizeof(To), &converted, sizeof(To));
    }
  } else {
    std::size_t i = 0;
    for (; i + kConverted <= count; i += kConverted) {
      convert_some<To, From>(target + i * sizeof(To), source + i * sizeof(From));
    }
    if (i != count) {  // the last sixteen, some of them again
      convert_some<To, From>(target + (count - kConverted) * sizeof(To),
                             source + (count - kConverted) * sizeof(From));
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
