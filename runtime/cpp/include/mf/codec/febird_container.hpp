// R1. Febird<T> of lists, arrays, sets and maps, and of the rows of elements that they are made of.
//
// Rows of elements whose encoding is their memory are one copy; rows of integers go eight at a time
// (varint_row.hpp).
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "mf/codec/febird_scalar.hpp"
#include "mf/codec/limits.hpp"
#include "mf/codec/memcpy.hpp"
#include "mf/codec/reader.hpp"
#include "mf/codec/varint.hpp"
#include "mf/codec/varint_row.hpp"
#include "mf/codec/writer.hpp"

namespace mf::codec {

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
        reader.fail(Fault::keys_not_ascending, "the elements of a set are not strictly ascending", start);
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
        reader.fail(Fault::keys_not_ascending, "the keys of a map are not strictly ascending", start);
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

}  // namespace mf::codec
