// R1. Febird<T> of the types that hold no others: numbers, enums, text, bytes; and of optionals.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "mf/codec/boxed.hpp"
#include "mf/codec/enums.hpp"
#include "mf/codec/memcpy.hpp"
#include "mf/codec/reader.hpp"
#include "mf/codec/text.hpp"
#include "mf/codec/varint.hpp"
#include "mf/codec/vector_place.hpp"
#include "mf/codec/writer.hpp"
#include "mf/core/types.hpp"

namespace mf::codec {

template <class T>
struct Febird;

template <class T>
concept RawCoded = requires { requires Febird<T>::kRaw; };

/// No value of the type takes more bytes than kMaxSize.
template <class T>
concept BoundedSize = requires { Febird<T>::kMaxSize; };

/// Up to here, memory is had for the bound, and given back if most of it was not needed (Buffer::cut_at).
inline constexpr std::size_t kMaxBound = std::size_t{64} << 20U;

/// The value's encoding takes no more bytes than this, or this is more than kMaxBound: a walk through values
/// stops there. The width of numbers is not determined, so that a list of them is not examined unless it is
/// long (kMaxRowBound).
template <class T>
[[nodiscard, gnu::always_inline]] inline std::size_t bound_of(const T& value) noexcept {
  if constexpr (BoundedSize<T>) {
    return Febird<T>::kMaxSize;
  } else if constexpr (requires { Febird<T>::bound(value); }) {
    return Febird<T>::bound(value);
  } else {
    return Febird<T>::size(value);
  }
}

namespace detail {

/// Types whose febird form is their memory image: single bytes, floats, timestamps, uuids, whatever Memcpy<T>
/// checks.
template <class T>
struct RawScalar {
  static constexpr std::size_t kMinSize = Memcpy<T>::kSize;
  static constexpr std::size_t kMaxSize = kMinSize;
  static constexpr bool kRaw = true;
  static std::size_t size(const T& /*value*/) noexcept { return kMinSize; }
  static void write(Writer& writer, const T& value) noexcept { memcpy_write(writer, value); }
  [[nodiscard]] static bool read(Reader& reader, T& value) { return memcpy_read(reader, value); }
};

template <class T>
struct Unsigned {
  static constexpr std::size_t kMinSize = 1;
  static constexpr std::size_t kMaxSize = kMaxVarint<T>;
  static constexpr bool kRaw = false;
  static std::size_t size(T value) noexcept { return varint_size(value); }
  static void write(Writer& writer, T value) noexcept { write_varint(writer, value); }
  [[nodiscard, gnu::always_inline]] static bool read_short(Reader& reader, T& value) noexcept {
    return read_short_varint(reader, value);
  }
  [[nodiscard]] static bool read(Reader& reader, T& value) { return read_varint(reader, value); }
};

template <class T>
struct Signed {
  static constexpr std::size_t kMinSize = 1;
  static constexpr std::size_t kMaxSize = kMaxVarint<T>;
  static constexpr bool kRaw = false;
  static std::size_t size(T value) noexcept { return varint_size(zigzag(value)); }
  static void write(Writer& writer, T value) noexcept { write_varint(writer, zigzag(value)); }
  [[nodiscard, gnu::always_inline]] static bool read_short(Reader& reader, T& value) noexcept {
    std::make_unsigned_t<T> folded = 0;
    if (!read_short_varint(reader, folded)) {
      return false;
    }
    value = static_cast<T>(unzigzag(folded));
    return true;
  }
  [[nodiscard]] static bool read(Reader& reader, T& value) { return read_zigzag(reader, value); }
};

}  // namespace detail

// --- scalars

template <class T>
  requires(std::same_as<T, bool> || std::same_as<T, Boolean> || std::same_as<T, std::uint8_t> ||
           std::same_as<T, std::int8_t> || std::same_as<T, float> || std::same_as<T, double> ||
           std::same_as<T, Uuid> || std::same_as<T, Timestamp>)
struct Febird<T> : detail::RawScalar<T> {};

template <std::unsigned_integral T>
  requires(!std::same_as<T, bool> && sizeof(T) > 1)
struct Febird<T> : detail::Unsigned<T> {};

template <std::signed_integral T>
  requires(sizeof(T) > 1)
struct Febird<T> : detail::Signed<T> {};

template <>
struct Febird<Duration> {
  static constexpr std::size_t kMinSize = 1;
  static constexpr std::size_t kMaxSize = kMaxVarint<std::int64_t>;
  static constexpr bool kRaw = false;
  static std::size_t size(Duration value) noexcept { return varint_size(zigzag(value.count())); }
  static void write(Writer& writer, Duration value) noexcept { write_varint(writer, zigzag(value.count())); }
  [[nodiscard]] static bool read(Reader& reader, Duration& value) {
    std::int64_t nanoseconds = 0;
    const bool good = read_zigzag(reader, nanoseconds);
    value = Duration(nanoseconds);
    return good;
  }
};

template <DeclaredEnum E>
  requires(sizeof(E) == 1)
struct Febird<E> : detail::RawScalar<E> {};

template <DeclaredEnum E>
  requires(sizeof(E) > 1)
struct Febird<E> {
  using Base = std::underlying_type_t<E>;
  static constexpr std::size_t kMinSize = 1;
  static constexpr std::size_t kMaxSize = kMaxVarint<Base>;
  static constexpr bool kRaw = false;
  static std::size_t size(E value) noexcept { return Febird<Base>::size(static_cast<Base>(value)); }
  static void write(Writer& writer, E value) noexcept {
    Febird<Base>::write(writer, static_cast<Base>(value));
  }
  [[nodiscard]] static bool read(Reader& reader, E& value) {
    const std::size_t start = reader.offset();
    Base number{};
    if (!Febird<Base>::read(reader, number)) [[unlikely]] {
      return false;
    }
    if (!EnumTraits<E>::valid(static_cast<E>(number))) [[unlikely]] {
      return reader.fail(Fault::unknown_enum_value, "an enum has a value that its type does not know", start);
    }
    value = static_cast<E>(number);
    return true;
  }
};

// --- text, bytes, optionals

namespace detail {

/// In line. The address of the bytes is loaded before any byte is written, since the compiler assumes that a
/// store may change it.
[[gnu::always_inline]] inline void write_counted(Writer& writer, const void* from,
                                                 std::size_t size) noexcept {
  write_varint(writer, size);
  writer.bytes(from, size);
}

}  // namespace detail

template <>
struct Febird<std::string> {
  static constexpr std::size_t kMinSize = 1;
  static constexpr bool kRaw = false;
  static std::size_t size(const std::string& value) noexcept {
    return varint_size(value.size()) + value.size();
  }
  static std::size_t bound(const std::string& value) noexcept {
    return kMaxVarint<std::size_t> + value.size();
  }
  [[gnu::always_inline]] static void write(Writer& writer, const std::string& value) noexcept {
    detail::write_counted(writer, value.data(), value.size());
  }
  [[nodiscard]] static bool read(Reader& reader, std::string& value) {
    return detail::read_text(reader, value);
  }
};

/// `bytes`: the same bytes as list<u8>, but a scalar: it opens no level of nesting.
template <>
struct Febird<Bytes> {
  static constexpr std::size_t kMinSize = 1;
  static constexpr bool kRaw = false;
  static std::size_t size(const Bytes& value) noexcept { return varint_size(value.size()) + value.size(); }
  static std::size_t bound(const Bytes& value) noexcept { return kMaxVarint<std::size_t> + value.size(); }
  [[gnu::always_inline]] static void write(Writer& writer, const Bytes& value) noexcept {
    write_varint(writer, value.size());
    writer.shared(value);
  }
  [[nodiscard]] static bool read(Reader& reader, Bytes& value) {
    std::size_t length = 0;
    const std::byte* from = nullptr;
    if (!reader.take_counted(from, length)) [[unlikely]] {
      return false;
    }
    reader.put_bytes(value, from, length);
    return true;
  }
};

namespace detail {

template <class T, class Optional, bool kOnHeap>
struct FebirdOptional {
  static constexpr std::size_t kMinSize = 1;
  static constexpr bool kRaw = false;
  static std::size_t size(const Optional& value) noexcept { return value ? 1 + Febird<T>::size(*value) : 1; }
  static std::size_t bound(const Optional& value) noexcept { return value ? 1 + bound_of(*value) : 1; }
  static void write(Writer& writer, const Optional& value) noexcept {
    writer.byte(static_cast<std::byte>(value.has_value()));
    if (value) {
      Febird<T>::write(writer, *value);
    }
  }
  [[nodiscard]] static bool read(Reader& reader, Optional& value) {
    bool present = false;
    if (!Febird<bool>::read(reader, present)) [[unlikely]] {
      return false;
    }
    if (!present) {
      value.reset();
      return true;
    }
    constexpr std::size_t kMade = (kOnHeap ? sizeof(T) : 0) + kHeapOfNew<T>;
    if (kMade != 0 && !reader.charge(1, kMade)) [[unlikely]] {
      return false;
    }
    if (!value) {
      value.emplace();
    }
    return Febird<T>::read(reader, *value);
  }
};

}  // namespace detail

template <class T>
struct Febird<std::optional<T>> : detail::FebirdOptional<T, std::optional<T>, false> {};

template <class T>
struct Febird<Boxed<T>> : detail::FebirdOptional<T, Boxed<T>, true> {};

}  // namespace mf::codec
