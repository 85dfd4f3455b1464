// R1. Febird<T> of lists, arrays, sets and maps, and of the rows of elements that they are made of.
//
// Elements whose encoding is their memory are one copy; integers lie in blocks of one width (row.hpp), but in
// a batch one by one (varint_row.hpp).
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "mf/codec/febird_scalar.hpp"
#include "mf/codec/limits.hpp"
#include "mf/codec/memcpy.hpp"
#include "mf/codec/reader.hpp"
#include "mf/codec/row.hpp"
#include "mf/codec/varint.hpp"
#include "mf/codec/varint_row.hpp"
#include "mf/codec/writer.hpp"

namespace mf::codec {

namespace detail {

// --- values one behind the other: the items of a batch, and the elements of what is no row of integers

template <class T>
concept VarintCoded = std::integral<T> && sizeof(T) > 1;

template <class T>
std::size_t items_size(std::span<const T> values) noexcept {
  if constexpr (RawCoded<T>) {
    return memcpy_size<T>(values.size());
  } else if constexpr (VarintCoded<T>) {
    return varint_row_size(values);
  } else {
    std::size_t sum = 0;
    for (const T& value : values) {
      sum += Febird<T>::size(value);
    }
    return sum;
  }
}

template <class T>
void write_items(Writer& writer, std::span<const T> values) noexcept {
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
[[nodiscard]] bool read_items(Reader& reader, std::span<T> values) {
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

/// Strings that are made where they stay, instead of empty ones that are filled.
[[nodiscard]] inline bool append_texts(Reader& reader, std::size_t count, std::vector<std::string>& texts) {
  texts.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::string_view text;
    if (!read_text(reader, text)) [[unlikely]] {
      return reader.inside(i);
    }
    texts.emplace_back(text);
  }
  return true;
}

/// `count` elements that check_count() has admitted.
template <class T>
[[nodiscard]] bool read_items(Reader& reader, std::size_t count, std::vector<T>& values) {
  if constexpr (RawCoded<T>) {
    return memcpy_read(reader, count, values);
  } else {
    if (!reader.charge(count, sizeof(T))) [[unlikely]] {
      return false;
    }
    if constexpr (std::same_as<T, std::string>) {
      if (values.empty()) {
        return append_texts(reader, count, values);
      }
    }
    values.resize(count);
    return read_items(reader, std::span<T>(values));
  }
}

/// A row's values out of a set, a block of them at a time.
template <class K>
class SetBlocks {
 public:
  explicit SetBlocks(const std::set<K>& values) noexcept : values_(values) {}
  const K* block(std::size_t index, std::size_t count) noexcept {
    if (index == 0) {
      next_ = values_.begin();
    }
    for (std::size_t i = 0; i < count; ++i) {
      block_[i] = *next_++;
    }
    return block_.data();
  }

 private:
  const std::set<K>& values_;
  typename std::set<K>::const_iterator next_;
  std::array<K, kRowBlock> block_{};
};

template <class K>
[[nodiscard]] bool read_key(Reader& reader, K& key) {
  return Febird<K>::read(reader, key);
}
[[nodiscard]] inline bool read_key(Reader& reader, std::string_view& key) {
  return read_text(reader, key);
}

/// Adds an element that must be behind all others; `start` is where it stands.
template <class K>
[[nodiscard]] bool append_key(Reader& reader, std::set<K>& keys, K&& key, std::size_t index,
                              std::size_t start) {
  // The set compares the key with its last one; if it belongs behind it, the set has grown, at its end.
  const auto entry = keys.emplace_hint(keys.end(), std::move(key));
  if (keys.size() != index + 1 || entry != std::prev(keys.end())) [[unlikely]] {
    reader.fail(Fault::keys_not_ascending, "the elements of a set are not strictly ascending", start);
    return reader.inside(index);
  }
  return true;
}

/// A row's values into a set.
template <class K>
class SetSink {
 public:
  explicit SetSink(std::set<K>& values) noexcept : values_(values) {}
  K* room(std::size_t /*first*/, std::size_t /*count*/) noexcept { return block_.data(); }
  [[nodiscard]] bool take(Reader& reader, std::size_t first, std::size_t count, unsigned code) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t start = reader.offset() - ((count - i) << code);
      if (!check_value(reader, block_[i], first + i, start) ||
          !append_key(reader, values_, std::move(block_[i]), first + i, start)) [[unlikely]] {
        return false;
      }
    }
    return true;
  }

 private:
  std::set<K>& values_;
  std::array<K, kRowBlock> block_;
};

}  // namespace detail

template <class T>
struct Febird<std::vector<T>> {
  static constexpr std::size_t kMinSize = 1;
  static constexpr bool kRaw = false;
  static std::size_t size(const std::vector<T>& value) noexcept {
    if constexpr (detail::RowElement<T>) {
      return detail::is_short_row(value.size())
                 ? detail::short_row_size(value.data(), value.size())
                 : detail::row_size<T>(detail::SpanBlocks<T>{value}, value.size());
    } else {
      return varint_size(value.size()) + detail::items_size(std::span<const T>(value));
    }
  }
  /// In line: a cursor that is handed on by reference goes through memory at each step.
  [[gnu::always_inline]] static void write(Writer& writer, const std::vector<T>& value) noexcept {
    if constexpr (detail::RowElement<T>) {
      std::byte* const to = writer.position();
      writer.continue_at(detail::is_short_row(value.size())
                             ? detail::write_short_row(to, value.data(), value.size())
                             : detail::write_row<T>(to, detail::SpanBlocks<T>{value}, value.size()));
    } else {
      write_varint(writer, value.size());
      detail::write_items(writer, std::span<const T>(value));
    }
  }
  [[nodiscard]] static bool read(Reader& reader, std::vector<T>& value) {
    if constexpr (detail::RowElement<T> || RawCoded<T>) {
      return reader.enter_leaf() && read_open(reader, value);
    } else {
      if (!reader.enter() || !read_open(reader, value)) [[unlikely]] {
        return false;
      }
      reader.leave();
      return true;
    }
  }

 private:
  static bool read_open(Reader& reader, std::vector<T>& value) {
    if constexpr (detail::RowElement<T>) {
      return detail::read_row(reader, value);
    } else {
      std::size_t count = 0;
      return reader.read_count(Febird<T>::kMinSize, count) && detail::read_items(reader, count, value);
    }
  }
};

template <class T, std::size_t N>
struct Febird<std::array<T, N>> {
  static constexpr std::size_t kMinSize =
      Febird<T>::kMinSize * N + (detail::RowElement<T> ? detail::code_bytes(detail::row_blocks(N)) : 0);
  static constexpr bool kRaw = Febird<T>::kRaw;
  static std::size_t size(const std::array<T, N>& value) noexcept {
    if constexpr (detail::RowElement<T>) {
      return detail::code_bytes(detail::row_blocks(N)) +
             detail::row_values_size<T>(detail::SpanBlocks<T>{value}, N);
    } else {
      return detail::items_size(std::span<const T>(value));
    }
  }
  static void write(Writer& writer, const std::array<T, N>& value) noexcept {
    if constexpr (detail::RowElement<T>) {
      writer.continue_at(detail::write_blocks<T>(writer.position(), detail::SpanBlocks<T>{value}, N, 0));
    } else if constexpr (kRaw) {
      memcpy_write(writer, value);
    } else {
      detail::write_items(writer, std::span<const T>(value));
    }
  }
  [[nodiscard]] static bool read(Reader& reader, std::array<T, N>& value) {
    if (!reader.enter() || !read_open(reader, value)) [[unlikely]] {
      return false;
    }
    reader.leave();
    return true;
  }

 private:
  static bool read_open(Reader& reader, std::array<T, N>& value) {
    if constexpr (detail::RowElement<T>) {
      return detail::read_array_row(reader, value);
    } else {
      return detail::read_items(reader, std::span<T>(value));
    }
  }
};

template <class K>
struct Febird<std::set<K>> {
  static constexpr std::size_t kMinSize = 1;
  static constexpr bool kRaw = false;
  static std::size_t size(const std::set<K>& value) noexcept {
    if constexpr (detail::RowElement<K>) {
      return detail::row_size<K>(detail::SetBlocks<K>(value), value.size());
    } else {
      std::size_t sum = varint_size(value.size());
      for (const K& key : value) {
        sum += Febird<K>::size(key);
      }
      return sum;
    }
  }
  static void write(Writer& writer, const std::set<K>& value) noexcept {
    if constexpr (detail::RowElement<K>) {
      writer.continue_at(detail::write_row<K>(writer.position(), detail::SetBlocks<K>(value), value.size()));
    } else {
      write_varint(writer, value.size());
      for (const K& key : value) {
        Febird<K>::write(writer, key);
      }
    }
  }
  [[nodiscard]] static bool read(Reader& reader, std::set<K>& value) {
    value.clear();
    if (!reader.enter() || !read_open(reader, value)) [[unlikely]] {
      return false;
    }
    reader.leave();
    return true;
  }

 private:
  static bool read_open(Reader& reader, std::set<K>& value) {
    constexpr std::size_t kNode = sizeof(K) + kNodeOverhead;
    std::size_t count = 0;
    if constexpr (detail::RowElement<K>) {
      unsigned code = 0;
      detail::SetSink<K> sink(value);
      return detail::read_row_head(reader, detail::kMaxCode<K>, count, code) && reader.charge(count, kNode) &&
             detail::read_row<K>(reader, count, code, sink);
    } else {
      if (!reader.read_count(Febird<K>::kMinSize, count) || !reader.charge(count, kNode)) [[unlikely]] {
        return false;
      }
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t start = reader.offset();
        K key{};
        if (!Febird<K>::read(reader, key)) [[unlikely]] {
          return reader.inside(i);
        }
        if (!detail::append_key(reader, value, std::move(key), i, start)) [[unlikely]] {
          return false;
        }
      }
      return true;
    }
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
      // A string is made in its place in the map, from its bytes.
      std::conditional_t<std::same_as<K, std::string>, std::string_view, K> key{};
      if (!detail::read_key(reader, key)) [[unlikely]] {
        return reader.inside(i);
      }
      // The map compares the key with its last one; if it belongs behind it, the map has grown, at its end.
      const auto entry = value.emplace_hint(value.end(), std::piecewise_construct,
                                            std::forward_as_tuple(std::move(key)), std::tuple<>());
      if (value.size() != i + 1 || entry != std::prev(value.end())) [[unlikely]] {
        reader.fail(Fault::keys_not_ascending, "the keys of a map are not strictly ascending", start);
        return reader.inside(i);
      }
      if (!Febird<V>::read(reader, entry->second)) [[unlikely]] {
        return reader.inside(i);
      }
    }
    reader.leave();
    return true;
  }
};

}  // namespace mf::codec
