// R1. Tier febird: compact, field by field, no tags (docs/protocol.md, section 8).
//
// Febird<T> is the codec of one type:
//   kMinSize                bytes of its smallest encoding
//   kRaw                    its encoding is its memory image as in Memcpy<T>: rows of it are one copy
//   size(value)             bytes of its encoding
//   write(writer, value)    unchecked: size() bytes are there
//   read(reader, value)     false: reader.error() says what, where, and the path; `value` is then some valid
//   value
// Every scalar, enum, std::optional, vector, array, set, map and every struct of tier memcpy has it from
// here; generated code specialises it for the structs of tier febird. read() overwrites what `value` held and
// reuses its memory.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "mf/codec/boxed.hpp"
#include "mf/codec/enums.hpp"
#include "mf/codec/memcpy.hpp"
#include "mf/codec/reader.hpp"
#include "mf/codec/utf8.hpp"
#include "mf/codec/varint.hpp"
#include "mf/codec/varint_row.hpp"
#include "mf/codec/writer.hpp"
#include "mf/core/types.hpp"

namespace mf::codec {

template <class T>
struct Febird;

template <class T>
concept RawCoded = requires { requires Febird<T>::kRaw; };

namespace detail {

template <class T>
inline constexpr bool kIsArray = false;
template <class T, std::size_t N>
inline constexpr bool kIsArray<std::array<T, N>> = true;

/// Types whose febird form is their memory image: single bytes, floats, uuids, whatever Memcpy<T> checks.
template <class T>
struct RawScalar {
  static constexpr std::size_t kMinSize = Memcpy<T>::kSize;
  static constexpr bool kRaw = true;
  static std::size_t size(const T& /*value*/) noexcept { return kMinSize; }
  static void write(Writer& writer, const T& value) noexcept { memcpy_write(writer, value); }
  [[nodiscard]] static bool read(Reader& reader, T& value) { return memcpy_read(reader, value); }
};

template <class T>
struct Unsigned {
  static constexpr std::size_t kMinSize = 1;
  static constexpr bool kRaw = false;
  static std::size_t size(T value) noexcept { return varint_size(value); }
  static void write(Writer& writer, T value) noexcept { write_varint(writer, value); }
  [[nodiscard]] static bool read(Reader& reader, T& value) { return read_varint(reader, value); }
};

template <class T>
struct Signed {
  static constexpr std::size_t kMinSize = 1;
  static constexpr bool kRaw = false;
  static std::size_t size(T value) noexcept { return varint_size(zigzag(value)); }
  static void write(Writer& writer, T value) noexcept { write_varint(writer, zigzag(value)); }
  [[nodiscard]] static bool read(Reader& reader, T& value) { return read_zigzag(reader, value); }
};

}  // namespace detail

// --- scalars
// -------------------------------------------------------------------------------------------------------

template <class T>
  requires(std::same_as<T, bool> || std::same_as<T, Bool> || std::same_as<T, std::uint8_t> ||
           std::same_as<T, std::int8_t> || std::same_as<T, float> || std::same_as<T, double> ||
           std::same_as<T, Uuid>)
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

template <>
struct Febird<Timestamp> {
  static constexpr std::size_t kMinSize = 1;
  static constexpr bool kRaw = false;
  static std::size_t size(Timestamp value) noexcept {
    return Febird<Duration>::size(value.time_since_epoch());
  }
  static void write(Writer& writer, Timestamp value) noexcept {
    Febird<Duration>::write(writer, value.time_since_epoch());
  }
  [[nodiscard]] static bool read(Reader& reader, Timestamp& value) {
    Duration since_epoch{};
    const bool good = Febird<Duration>::read(reader, since_epoch);
    value = Timestamp(since_epoch);
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
      return reader.fail("an enum has a value that its type does not know", start);
    }
    value = static_cast<E>(number);
    return true;
  }
};

// --- text, bytes, optionals
// ----------------------------------------------------------------------------------------

template <>
struct Febird<std::string> {
  static constexpr std::size_t kMinSize = 1;
  static constexpr bool kRaw = false;
  static std::size_t size(const std::string& value) noexcept {
    return varint_size(value.size()) + value.size();
  }
  static void write(Writer& writer, const std::string& value) noexcept {
    write_varint(writer, value.size());
    writer.bytes(value.data(), value.size());
  }
  [[nodiscard]] static bool read(Reader& reader, std::string& value) {
    std::size_t length = 0;
    const std::byte* from = nullptr;
    if (!reader.read_count(1, length) || !reader.charge(length, 1) || !reader.take(length, from))
        [[unlikely]] {
      return false;
    }
    if (const std::size_t good = valid_utf8_prefix({from, length}); good != length) [[unlikely]] {
      return reader.fail("a string is not UTF-8", reader.offset() - length + good);
    }
    value.assign(reinterpret_cast<const char*>(from), length);
    return true;
  }
};

namespace detail {

template <class T, class Optional, bool kOnHeap>
struct FebirdOptional {
  static constexpr std::size_t kMinSize = 1;
  static constexpr bool kRaw = false;
  static std::size_t size(const Optional& value) noexcept { return value ? 1 + Febird<T>::size(*value) : 1; }
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
    if (kOnHeap && !reader.charge(1, sizeof(T))) [[unlikely]] {
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

// --- containers
// ----------------------------------------------------------------------------------------------------

namespace detail {

/// Sum of the elements' sizes, without the count.
template <class T, class Range>
std::size_t elements_size(const Range& values) noexcept {
  std::size_t sum = 0;
  for (const T& value : values) {
    sum += Febird<T>::size(value);
  }
  return sum;
}

template <class T>
concept VarintCoded = std::integral<T> && sizeof(T) > 1;

template <class T>
std::size_t row_size(std::span<const T> values) noexcept {
  if constexpr (RawCoded<T>) {
    return memcpy_size<T>(values.size());
  } else if constexpr (VarintCoded<T>) {
    return varint_row_size(values);
  } else {
    return elements_size<T>(values);
  }
}

template <class T>
void write_row(Writer& writer, std::span<const T> values) noexcept {
  if constexpr (RawCoded<T>) {
    memcpy_write(writer, values);
  } else if constexpr (VarintCoded<T>) {
    write_varint_row(writer, values);
  } else {
    for (const T& value : values) {
      Febird<T>::write(writer, value);
    }
  }
}

template <class T>
[[nodiscard]] bool read_row(Reader& reader, std::span<T> values) {
  if constexpr (VarintCoded<T>) {
    return read_varint_row(reader, values);
  } else {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!Febird<T>::read(reader, values[i])) [[unlikely]] {
        return reader.inside(i);
      }
    }
    return true;
  }
}

/// `count` elements that check_count() has admitted.
template <class T>
[[nodiscard]] bool read_row(Reader& reader, std::size_t count, std::vector<T>& values) {
  if constexpr (RawCoded<T>) {
    return memcpy_read(reader, count, values);
  } else {
    if (!reader.charge(count, sizeof(T))) [[unlikely]] {
      return false;
    }
    values.resize(count);
    return read_row(reader, std::span<T>(values));
  }
}

}  // namespace detail

template <class T>
struct Febird<std::vector<T>> {
  static constexpr std::size_t kMinSize = 1;
  static constexpr bool kRaw = false;
  static std::size_t size(const std::vector<T>& value) noexcept {
    return varint_size(value.size()) + detail::row_size(std::span<const T>(value));
  }
  static void write(Writer& writer, const std::vector<T>& value) noexcept {
    write_varint(writer, value.size());
    detail::write_row(writer, std::span<const T>(value));
  }
  [[nodiscard]] static bool read(Reader& reader, std::vector<T>& value) {
    std::size_t count = 0;
    if (!reader.enter() || !reader.read_count(Febird<T>::kMinSize, count) ||
        !detail::read_row(reader, count, value)) [[unlikely]] {
      return false;
    }
    reader.leave();
    return true;
  }
};

/// `bytes`: the same bytes as list<u8>, but a scalar: it opens no level of nesting.
template <>
struct Febird<Bytes> {
  static constexpr std::size_t kMinSize = 1;
  static constexpr bool kRaw = false;
  static std::size_t size(const Bytes& value) noexcept { return varint_size(value.size()) + value.size(); }
  static void write(Writer& writer, const Bytes& value) noexcept {
    write_varint(writer, value.size());
    writer.bytes(value.data(), value.size());
  }
  [[nodiscard]] static bool read(Reader& reader, Bytes& value) {
    std::size_t length = 0;
    const std::byte* from = nullptr;
    if (!reader.read_count(1, length) || !reader.charge(length, 1) || !reader.take(length, from))
        [[unlikely]] {
      return false;
    }
    value.assign(from, from + length);
    return true;
  }
};

template <class T, std::size_t N>
struct Febird<std::array<T, N>> {
  static constexpr std::size_t kMinSize = Febird<T>::kMinSize * N;
  static constexpr bool kRaw = Febird<T>::kRaw;
  static std::size_t size(const std::array<T, N>& value) noexcept {
    return detail::row_size(std::span<const T>(value));
  }
  static void write(Writer& writer, const std::array<T, N>& value) noexcept {
    detail::write_row(writer, std::span<const T>(value));
  }
  [[nodiscard]] static bool read(Reader& reader, std::array<T, N>& value) {
    if (!reader.enter() || !detail::read_row(reader, std::span<T>(value))) [[unlikely]] {
      return false;
    }
    reader.leave();
    return true;
  }
};

template <class K>
struct Febird<std::set<K>> {
  static constexpr std::size_t kMinSize = 1;
  static constexpr bool kRaw = false;
  static std::size_t size(const std::set<K>& value) noexcept {
    return varint_size(value.size()) + detail::elements_size<K>(value);
  }
  static void write(Writer& writer, const std::set<K>& value) noexcept {
    write_varint(writer, value.size());
    for (const K& key : value) {
      Febird<K>::write(writer, key);
    }
  }
  [[nodiscard]] static bool read(Reader& reader, std::set<K>& value) {
    std::size_t count = 0;
    value.clear();
    if (!reader.enter() || !reader.read_count(Febird<K>::kMinSize, count) ||
        !reader.charge(count, sizeof(K) + kNodeOverhead)) [[unlikely]] {
      return false;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t start = reader.offset();
      K key{};
      if (!Febird<K>::read(reader, key)) [[unlikely]] {
        return reader.inside(i);
      }
      if (!value.empty() && !(*value.rbegin() < key)) [[unlikely]] {
        reader.fail("the elements of a set are not strictly ascending", start);
        return reader.inside(i);
      }
      value.emplace_hint(value.end(), std::move(key));
    }
    reader.leave();
    return true;
  }
};

template <class K, class V>
struct Febird<std::map<K, V>> {
  static constexpr std::size_t kMinSize = 1;
  static constexpr bool kRaw = false;
  static std::size_t size(const std::map<K, V>& value) noexcept {
    std::size_t sum = varint_size(value.size());
    for (const auto& [key, mapped] : value) {
      sum += Febird<K>::size(key) + Febird<V>::size(mapped);
    }
    return sum;
  }
  static void write(Writer& writer, const std::map<K, V>& value) noexcept {
    write_varint(writer, value.size());
    for (const auto& [key, mapped] : value) {
      Febird<K>::write(writer, key);
      Febird<V>::write(writer, mapped);
    }
  }
  [[nodiscard]] static bool read(Reader& reader, std::map<K, V>& value) {
    std::size_t count = 0;
    value.clear();
    if (!reader.enter() || !reader.read_count(Febird<K>::kMinSize + Febird<V>::kMinSize, count) ||
        !reader.charge(count, sizeof(std::pair<const K, V>) + kNodeOverhead)) [[unlikely]] {
      return false;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t start = reader.offset();
      K key{};
      if (!Febird<K>::read(reader, key)) [[unlikely]] {
        return reader.inside(i);
      }
      if (!value.empty() && !(value.rbegin()->first < key)) [[unlikely]] {
        reader.fail("the keys of a map are not strictly ascending", start);
        return reader.inside(i);
      }
      const auto entry = value.emplace_hint(value.end(), std::move(key), V{});
      if (!Febird<V>::read(reader, entry->second)) [[unlikely]] {
        return reader.inside(i);
      }
    }
    reader.leave();
    return true;
  }
};

// --- structs of tier memcpy
// ----------------------------------------------------------------------------------------

/// A generated struct (or error) of tier memcpy, inside febird: its layout, without alignment.
template <class T>
  requires(std::is_class_v<T> && FixedLayout<T> && !detail::kIsArray<T> && !std::same_as<T, Bool> &&
           !std::same_as<T, Uuid> && !std::same_as<T, Timestamp> && !std::same_as<T, Duration>)
struct Febird<T> {
  static constexpr std::size_t kMinSize = Memcpy<T>::kSize;
  static constexpr bool kRaw = true;
  static std::size_t size(const T& /*value*/) noexcept { return kMinSize; }
  static void write(Writer& writer, const T& value) noexcept { memcpy_write(writer, value); }
  [[nodiscard]] static bool read(Reader& reader, T& value) {
    if (!reader.enter() || !memcpy_read(reader, value)) [[unlikely]] {
      return false;
    }
    reader.leave();
    return true;
  }
};

// --- fields and arguments
// ---------------------------------------------------------------------------------------------

/// One field of a struct; a failure knows its name.
template <class T>
[[nodiscard]] bool read_field(Reader& reader, std::string_view name, T& value) {
  return Febird<T>::read(reader, value) || reader.inside(name);
}

/// The parameters of a method, or fields of a struct, in order, without the struct that they would make.
template <class... Args>
[[nodiscard]] std::size_t febird_size(const Args&... args) noexcept {
  return (std::size_t{0} + ... + Febird<Args>::size(args));
}

template <class... Args>
void febird_write(Writer& writer, const Args&... args) noexcept {
  (Febird<Args>::write(writer, args), ...);
}

}  // namespace mf::codec
