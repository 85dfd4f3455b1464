// R1. Numbers in tier archive: Value<T> (archive_value.hpp) of integers, bools, enums, flags, floats and
// times.
//
// What is written as a varint is folded into an unsigned number, as docs/proto.md says for its type:
//   folded(value)                  the number
//   unfolded(number, value)        false: no value of the type has it
//   refuse(reader, number, start)  says why
// read() of a number takes a Cursor, too: the usual forms are read in registers, anything else by the reader,
// which also reports failures.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "mf/codec/archive_message.hpp"
#include "mf/codec/back_writer.hpp"
#include "mf/codec/enums.hpp"
#include "mf/codec/varint.hpp"
#include "mf/core/types.hpp"

namespace mf::codec::archive {

template <class T>
struct Value;

template <class T>
concept VarintNumber = requires(T value) { Value<T>::folded(value); };

/// Their memory is their form.
template <class T>
concept PlainNumber = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, Timestamp>;

template <class T>
concept Number = VarintNumber<T> || PlainNumber<T>;

namespace detail {

bool refuse_range(Reader& reader, std::size_t start);
bool refuse_member(Reader& reader, std::size_t start);
bool refuse_bool(Reader& reader, std::size_t start);

template <class T, class Folds>
struct VarintValue {
  static constexpr Wire kWire = Wire::varint;
  [[gnu::always_inline]] static std::size_t size(T value) noexcept {
    return number_size(Folds::folded(value));
  }
  [[gnu::always_inline]] static void write(BackWriter& writer, T value) noexcept {
    writer.varint(Folds::folded(value));
  }
  [[nodiscard]] static bool read(Reader& reader, T& value) {
    const std::size_t start = reader.offset();
    std::uint64_t number = 0;
    if (!read_number(reader, number)) [[unlikely]] {
      return false;
    }
    return Folds::unfolded(number, value) || Folds::refuse(reader, number, start);
  }
};

/// Wide enough for zigzag, and no wider than it must be.
template <class T>
using Folded = std::conditional_t<(sizeof(T) > sizeof(std::uint32_t)), std::uint64_t, std::uint32_t>;

}  // namespace detail

template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>)
struct Value<T> : detail::VarintValue<T, Value<T>> {
  static constexpr detail::Folded<T> folded(T value) noexcept { return value; }
  static constexpr bool unfolded(std::uint64_t number, T& value) noexcept {
    value = static_cast<T>(number);
    return number <= (std::numeric_limits<T>::max)();
  }
  static bool refuse(Reader& reader, std::uint64_t /*number*/, std::size_t start) {
    return detail::refuse_range(reader, start);
  }
};

template <std::signed_integral T>
struct Value<T> : detail::VarintValue<T, Value<T>> {
  static constexpr detail::Folded<T> folded(T value) noexcept {
    using Wide = std::make_signed_t<detail::Folded<T>>;
    using Unsigned = detail::Folded<T>;
    const auto wide = static_cast<Wide>(value);
    return (static_cast<Unsigned>(wide) << 1U) ^
           static_cast<Unsigned>(wide >> (std::numeric_limits<Unsigned>::digits - 1));
  }
  static constexpr bool unfolded(std::uint64_t number, T& value) noexcept {
    using Unsigned = detail::Folded<T>;
    const auto narrow = static_cast<Unsigned>(number);
    value = static_cast<T>((narrow >> 1U) ^ (Unsigned{0} - (narrow & 1U)));
    return number <= (std::numeric_limits<std::make_unsigned_t<T>>::max)();
  }
  static bool refuse(Reader& reader, std::uint64_t /*number*/, std::size_t start) {
    return detail::refuse_range(reader, start);
  }
};

template <>
struct Value<Duration> : detail::VarintValue<Duration, Value<Duration>> {
  static constexpr std::uint64_t folded(Duration value) noexcept {
    return Value<std::int64_t>::folded(value.count());
  }
  static constexpr bool unfolded(std::uint64_t number, Duration& value) noexcept {
    std::int64_t nanoseconds = 0;
    const bool good = Value<std::int64_t>::unfolded(number, nanoseconds);
    value = Duration(nanoseconds);
    return good;
  }
  static bool refuse(Reader& reader, std::uint64_t /*number*/, std::size_t start) {
    return detail::refuse_range(reader, start);
  }
};

template <class T>
  requires(std::same_as<T, bool> || std::same_as<T, Boolean>)
struct Value<T> : detail::VarintValue<T, Value<T>> {
  static constexpr std::uint32_t folded(T value) noexcept { return value ? 1 : 0; }
  static constexpr bool unfolded(std::uint64_t number, T& value) noexcept {
    value = number != 0;
    return number <= 1;
  }
  static bool refuse(Reader& reader, std::uint64_t /*number*/, std::size_t start) {
    return detail::refuse_bool(reader, start);
  }
};

/// Two's complement in 64 bits.
template <DeclaredEnum E>
struct Value<E> : detail::VarintValue<E, Value<E>> {
  using Base = std::underlying_type_t<E>;
  static constexpr auto folded(E value) noexcept {
    if constexpr (std::signed_integral<Base>) {
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    } else {
      return static_cast<detail::Folded<Base>>(value);
    }
  }
  static constexpr bool unfolded(std::uint64_t number, E& value) noexcept {
    if (!fits(number) || !EnumTraits<E>::valid(static_cast<E>(number))) {
      return false;
    }
    value = static_cast<E>(number);
    return true;
  }
  static bool refuse(Reader& reader, std::uint64_t number, std::size_t start) {
    return fits(number) ? detail::refuse_member(reader, start) : detail::refuse_range(reader, start);
  }

 private:
  static constexpr bool fits(std::uint64_t number) noexcept {
    return folded(static_cast<E>(static_cast<Base>(number))) == number;
  }
};

template <PlainNumber T>
struct Value<T> {
  static constexpr Wire kWire = sizeof(T) == 4 ? Wire::fixed32 : Wire::fixed64;
  static std::size_t size(T /*value*/) noexcept { return sizeof(T); }
  [[gnu::always_inline]] static void write(BackWriter& writer, T value) noexcept { writer.fixed(value); }
  [[nodiscard]] static bool read(Reader& reader, T& value) {
    const std::byte* from = nullptr;
    if (!reader.take(sizeof(T), from)) [[unlikely]] {
      return false;
    }
    std::memcpy(static_cast<void*>(&value), from, sizeof(T));
    return true;
  }
};

namespace detail {

/// Of indices.
template <std::unsigned_integral T>
[[nodiscard]] inline bool read_unsigned(Reader& reader, T& value) {
  return Value<T>::read(reader, value);
}

/// What comes here is not usual: long forms of small numbers, wrong ones, the end.
template <Number T>
[[nodiscard, gnu::noinline, gnu::cold]] bool read_carefully(Reader& reader, T& value) {
  return Value<T>::read(reader, value);
}

template <PlainNumber T>
[[nodiscard, gnu::always_inline]] inline const std::byte* take_number(const Cursor& cursor,
                                                                      T& value) noexcept {
  if (cursor.left() < sizeof(T)) [[unlikely]] {
    return nullptr;
  }
  std::memcpy(static_cast<void*>(&value), cursor.at(), sizeof(T));
  return cursor.at() + sizeof(T);
}

template <VarintNumber T>
[[nodiscard, gnu::always_inline]] inline const std::byte* take_number(const Cursor& cursor,
                                                                      T& value) noexcept {
  const std::byte* const at = cursor.at();
  if (at == cursor.end()) [[unlikely]] {
    return nullptr;
  }
  const auto first = std::to_integer<std::uint64_t>(at[0]);
  if (first < 0x80) [[likely]] {
    return Value<T>::unfolded(first, value) ? at + 1 : nullptr;
  }
  if (cursor.left() >= 2 && at[1] < std::byte{0x80}) [[likely]] {
    const std::uint64_t number = (first & 0x7FU) | std::to_integer<std::uint64_t>(at[1]) << 7U;
    return Value<T>::unfolded(number, value) ? at + 2 : nullptr;
  }
  const auto [next, number] = take_long_number(at, cursor.end());
  return next != nullptr && Value<T>::unfolded(number, value) ? next : nullptr;
}

}  // namespace detail

template <Number T>
[[nodiscard, gnu::always_inline]] inline bool read(Reader& reader, Cursor& cursor, T& value) {
  const std::byte* const next = detail::take_number(cursor, value);
  if (next != nullptr) [[likely]] {
    cursor.move_to(next);
    return true;
  }
  cursor.put_back(reader);
  const bool good = detail::read_carefully(reader, value);
  cursor.take(reader);
  return good;
}

}  // namespace mf::codec::archive
