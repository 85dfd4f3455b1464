// R1. What tier memcpy needs of types: a value's bytes are its little-endian memory layout (docs/protocol.md,
// section 8).
//
// Memcpy<T> describes a type. All have
//   kSize            bytes on the wire
//   kAllBitsValid    no byte pattern is refused (then nothing needs to look at the bytes)
//   kHasPadding      some bytes belong to no field
//   valid(from)      do kSize bytes hold only valid bools and enums?
// Where some bits are not valid,
//   explain(reader, from, at)   fails with the first that is not; `at` is the offset of `from`
//   kByteLimits      a value is valid if and only if no byte is more than the most that is valid in its place
//   limit(at)        if so, lowers bytes of 0xFF at `at` to what is the most in their places
// Types whose memory *is* that layout ("images": everything but declared errors and structs with empty
// fields) have
//   clear_padding(at)      zeroes the bytes that belong to no field, in the encoded value
// The others are moved slot by slot:
//   store(to, value)       into zeroed memory
//   load(from, value)      from bytes that are valid
// Generated code specialises it for the structs of this tier; the rest is here.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <variant>

#include "mf/codec/enums.hpp"
#include "mf/codec/reader.hpp"
#include "mf/core/types.hpp"

namespace mf::codec {

template <class T>
struct Memcpy;

/// A type of tier memcpy.
template <class T>
concept FixedLayout = requires { Memcpy<T>::kSize; };

/// Its memory is its wire form, so that a whole row of them is one copy.
template <class T>
concept MemoryImage = FixedLayout<T> && Memcpy<T>::kSize == sizeof(T) &&
                      requires(std::byte* at) { Memcpy<T>::clear_padding(at); };

/// Its values are checked with one comparison a byte.
template <class T>
concept ByteLimited = requires { requires Memcpy<T>::kByteLimits; };

namespace detail {

template <class T>
struct PlainScalar {
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr std::size_t kSize = sizeof(T);
  static constexpr bool kAllBitsValid = true;
  static constexpr bool kHasPadding = false;
  static void clear_padding(std::byte* /*at*/) noexcept {}
  static bool valid(const std::byte* /*from*/) noexcept { return true; }
};

/// A struct whose memory of so many bytes is its layout, without padding, and always valid.
template <std::size_t kBytes>
struct PlainImage {
  static constexpr std::size_t kSize = kBytes;
  static constexpr bool kAllBitsValid = true;
  static constexpr bool kHasPadding = false;
  static void clear_padding(std::byte* /*at*/) noexcept {}
  static bool valid(const std::byte* /*from*/) noexcept { return true; }
};

/// A struct without fields, which has a byte in C++ and none in its layout.
template <class T>
struct EmptyLayout {
  static constexpr std::size_t kSize = 0;
  static constexpr bool kAllBitsValid = true;
  static constexpr bool kHasPadding = false;
  static bool valid(const std::byte* /*from*/) noexcept { return true; }
  static void store(std::byte* /*to*/, const T& /*value*/) noexcept {}
  static void load(const std::byte* /*from*/, T& /*value*/) noexcept {}
};

struct BoolByte {
  static constexpr std::size_t kSize = 1;
  static constexpr bool kAllBitsValid = false;
  static constexpr bool kByteLimits = true;
  static constexpr bool kHasPadding = false;
  static void clear_padding(std::byte* /*at*/) noexcept {}
  static bool valid(const std::byte* from) noexcept { return std::to_integer<unsigned>(*from) <= 1; }
  static bool explain(Reader& reader, const std::byte* /*from*/, std::size_t at) {
    return reader.fail(Fault::invalid_bool, "a bool is neither 0 nor 1", at);
  }
  static void limit(std::byte* at) noexcept { *at = std::byte{1}; }
};

/// Are the members of a closed enum 0, 1, 2 and so on, in one byte?
template <class E>
constexpr bool counts_from_zero() noexcept {
  if constexpr (requires { EnumTraits<E>::kMembers; }) {
    std::size_t known = 0;
    while (known < 256 && EnumTraits<E>::valid(static_cast<E>(known))) {
      ++known;
    }
    return known == EnumTraits<E>::kMembers;
  }
  return false;
}

}  // namespace detail

template <class T>
  requires(std::is_arithmetic_v<T> && !std::same_as<T, bool> && sizeof(T) <= 8)
struct Memcpy<T> : detail::PlainScalar<T> {};

template <>
struct Memcpy<Uuid> : detail::PlainScalar<Uuid> {};
template <>
struct Memcpy<Timestamp> : detail::PlainScalar<Timestamp> {};
template <>
struct Memcpy<Duration> : detail::PlainScalar<Duration> {};

template <>
struct Memcpy<bool> : detail::BoolByte {
  static_assert(sizeof(bool) == 1);
};
template <>
struct Memcpy<Boolean> : detail::BoolByte {
  static_assert(sizeof(Boolean) == 1);
};

template <DeclaredEnum E>
struct Memcpy<E> : detail::PlainScalar<E> {
  static constexpr bool kAllBitsValid = EnumTraits<E>::kOpen;
  static constexpr bool kByteLimits = detail::counts_from_zero<E>();
  static bool valid(const std::byte* from) noexcept {
    std::underlying_type_t<E> number{};
    std::memcpy(&number, from, sizeof(number));
    return EnumTraits<E>::valid(static_cast<E>(number));
  }
  static bool explain(Reader& reader, const std::byte* /*from*/, std::size_t at) {
    return reader.fail(Fault::unknown_enum_value, "an enum has a value that its type does not know", at);
  }
  static void limit(std::byte* at) noexcept {
    if constexpr (kByteLimits) {
      std::memset(at, 0, sizeof(E));
      *at = static_cast<std::byte>(EnumTraits<E>::kMembers - 1);
    }
  }
};

/// No value: the result of a method without results.
template <>
struct Memcpy<std::monostate> : detail::EmptyLayout<std::monostate> {};

template <FixedLayout T, std::size_t N>
struct Memcpy<std::array<T, N>> {
  static constexpr std::size_t kSize = Memcpy<T>::kSize * N;
  static constexpr bool kAllBitsValid = Memcpy<T>::kAllBitsValid;
  static constexpr bool kHasPadding = Memcpy<T>::kHasPadding;
  static constexpr bool kByteLimits = ByteLimited<T>;

  static void limit(std::byte* at) noexcept
    requires(!kAllBitsValid)
  {
    for (std::size_t i = 0; i < N; ++i) {
      Memcpy<T>::limit(at + i * Memcpy<T>::kSize);
    }
  }
  static void clear_padding(std::byte* at) noexcept
    requires MemoryImage<T>
  {
    for (std::size_t i = 0; i < N; ++i) {
      Memcpy<T>::clear_padding(at + i * Memcpy<T>::kSize);
    }
  }
  static bool valid(const std::byte* from) noexcept {
    for (std::size_t i = 0; i < N; ++i) {
      if (!Memcpy<T>::valid(from + i * Memcpy<T>::kSize)) {
        return false;
      }
    }
    return true;
  }
  static bool explain(Reader& reader, const std::byte* from, std::size_t at) {
    std::size_t i = 0;
    while (Memcpy<T>::valid(from + i * Memcpy<T>::kSize)) {
      ++i;
    }
    Memcpy<T>::explain(reader, from + i * Memcpy<T>::kSize, at + i * Memcpy<T>::kSize);
    return reader.inside(i);
  }
  static void store(std::byte* to, const std::array<T, N>& value) noexcept
    requires(!MemoryImage<T>)
  {
    for (std::size_t i = 0; i < N; ++i) {
      Memcpy<T>::store(to + i * Memcpy<T>::kSize, value[i]);
    }
  }
  static void load(const std::byte* from, std::array<T, N>& value) noexcept
    requires(!MemoryImage<T>)
  {
    for (std::size_t i = 0; i < N; ++i) {
      Memcpy<T>::load(from + i * Memcpy<T>::kSize, value[i]);
    }
  }
};

/// Puts one value into zeroed memory of Memcpy<T>::kSize bytes; its padding stays zero.
template <FixedLayout T>
void store(std::byte* to, const T& value) noexcept {
  if constexpr (MemoryImage<T>) {
    std::memcpy(to, &value, sizeof(T));
    if constexpr (Memcpy<T>::kHasPadding) {
      Memcpy<T>::clear_padding(to);
    }
  } else {
    Memcpy<T>::store(to, value);
  }
}

/// The opposite, from bytes that Memcpy<T>::valid() has approved.
template <FixedLayout T>
void load(const std::byte* from, T& value) noexcept {
  if constexpr (MemoryImage<T>) {
    std::memcpy(static_cast<void*>(&value), from, sizeof(T));
  } else {
    Memcpy<T>::load(from, value);
  }
}

/// Part of a struct's explain(): true if the field is valid, else the reader fails with it.
template <FixedLayout T>
[[nodiscard]] bool explain_field(Reader& reader, std::string_view name, const std::byte* from,
                                 std::size_t at) {
  if (Memcpy<T>::valid(from)) {
    return true;
  }
  Memcpy<T>::explain(reader, from, at);
  return reader.inside(name);
}

}  // namespace mf::codec
