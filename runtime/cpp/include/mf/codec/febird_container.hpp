// R1. Febird<T> of lists, arrays, sets and maps. Integers in them lie in blocks of one width (row.hpp,
// tree_row.hpp).
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

#include "mf/codec/febird_items.hpp"
#include "mf/codec/febird_scalar.hpp"
#include "mf/codec/limits.hpp"
#include "mf/codec/memcpy.hpp"
#include "mf/codec/reader.hpp"
#include "mf/codec/refill.hpp"
#include "mf/codec/row.hpp"
#include "mf/codec/tree_row.hpp"
#include "mf/codec/tree_walk.hpp"
#include "mf/codec/varint.hpp"
#include "mf/codec/writer.hpp"
#include "mf/core/types.hpp"

namespace mf::codec {

namespace detail {

template <class K>
[[nodiscard]] bool read_key(Reader& reader, K& key) {
  return Febird<K>::read(reader, key);
}
[[nodiscard]] inline bool read_key(Reader& reader, std::string_view& key) {
  return read_text(reader, key);
}

/// Reads the key of a new element, or of a new entry, and puts it at the end: `node` is one of before, or
/// empty. The tree compares the key with its last one; if it belongs behind it, the tree has grown, at its
/// end.
template <class Tree>
[[nodiscard]] bool append_read(Reader& reader, Tree& tree, typename Tree::node_type node, std::size_t index,
                               std::string_view disorder, typename Tree::iterator& entry) {
  using K = typename Tree::key_type;
  constexpr bool kMap = requires { typename Tree::mapped_type; };
  const std::size_t start = reader.offset();
  if (node) [[unlikely]] {
    bool good = false;
    if constexpr (kMap) {
      good = read_key(reader, node.key());
    } else {
      good = read_key(reader, node.value());
    }
    if (!good) [[unlikely]] {
      return reader.inside(index);
    }
    entry = tree.insert(tree.end(), std::move(node));
  } else {
    // A string is made in its place in the tree, from its bytes.
    std::conditional_t<std::same_as<K, std::string>, std::string_view, K> key{};
    if (!read_key(reader, key)) [[unlikely]] {
      return reader.inside(index);
    }
    if constexpr (kMap) {
      entry = tree.emplace_hint(tree.end(), std::piecewise_construct, std::forward_as_tuple(std::move(key)),
                                std::tuple<>());
    } else {
      entry = tree.emplace_hint(tree.end(), std::move(key));
    }
  }
  if (tree.size() != index + 1 || entry != std::prev(tree.end())) [[unlikely]] {
    reader.fail(Fault::keys_not_ascending, disorder, start);
    return reader.inside(index);
  }
  return true;
}

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
      return varint_size(value.size()) + detail::items_size(value.data(), value.size());
    }
  }
  static std::size_t bound(const std::vector<T>& value) noexcept {
    if constexpr (detail::RowElement<T>) {
      const std::size_t bound = detail::row_bound<T>(value.size());
      return bound <= detail::kMaxRowBound ? bound : size(value);
    } else {
      return kMaxVarint<std::size_t> + detail::items_bound(value.data(), value.size());
    }
  }
  /// In line: a cursor that is handed on by reference goes through memory at each step.
  [[gnu::always_inline]] static void write(Writer& writer, const std::vector<T>& value) noexcept {
    if constexpr (detail::RowElement<T>) {
      const std::span<const T> values(value);  // asked for before anything is written: see write_counted()
      std::byte* const to = writer.position();
      writer.continue_at(detail::is_short_row(values.size())
                             ? detail::write_short_row(to, values.data(), values.size())
                             : detail::write_row<T>(to, detail::SpanBlocks<T>{values}, values.size()));
    } else {
      write_varint(writer, value.size());
      detail::write_items(writer, value.data(), value.size());
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

/// The bytes of a list, which stay where they are. Only of values whose encoding is their memory.
template <class T>
struct Febird<View<T>> {
  static_assert(RawCoded<T> && MemoryImage<T>, "a view has values whose encoding is their memory");
  static constexpr std::size_t kMinSize = 1;
  static constexpr bool kRaw = false;
  static std::size_t size(const View<T>& value) noexcept {
    return varint_size(value.size()) + value.bytes().size();
  }
  static std::size_t bound(const View<T>& value) noexcept {
    return kMaxVarint<std::size_t> + value.bytes().size();
  }
  static void write(Writer& writer, const View<T>& value) noexcept {
    write_varint(writer, value.size());
    if constexpr (Memcpy<T>::kHasPadding) {
      for (const T each : value) memcpy_write(writer, each);
    } else {
      writer.shared(value.bytes());
    }
  }
  [[nodiscard]] static bool read(Reader& reader, View<T>& value) {
    std::size_t count = 0;
    const std::byte* from = nullptr;
    if (!reader.enter_leaf() || !reader.read_count(sizeof(T), count) || !reader.charge(count, sizeof(T)))
        [[unlikely]] {
      return false;
    }
    const std::size_t at = reader.offset();
    if (!reader.take(count * sizeof(T), from) || !check_valid_row<T>(reader, from, count, 0, at))
        [[unlikely]] {
      return false;
    }
    Bytes bytes;
    reader.put_bytes(bytes, from, count * sizeof(T));
    value = View<T>(std::move(bytes));
    return true;
  }
};

template <class T, std::size_t N>
struct Febird<std::array<T, N>> {
  static constexpr std::size_t kMinSize =
      Febird<T>::kMinSize * N + (detail::RowElement<T> ? detail::code_bytes(detail::row_blocks(N)) : 0);
  static constexpr bool kRaw = RawCoded<T>;
  static std::size_t size(const std::array<T, N>& value) noexcept {
    if constexpr (detail::RowElement<T>) {
      return detail::code_bytes(detail::row_blocks(N)) +
             detail::row_values_size<T>(detail::SpanBlocks<T>{value}, N);
    } else {
      return detail::items_size(value.data(), value.size());
    }
  }
  static std::size_t bound(const std::array<T, N>& value) noexcept {
    if constexpr (detail::RowElement<T>) {
      constexpr std::size_t kBound = detail::row_bound<T>(N);
      return kBound <= detail::kMaxRowBound ? kBound : size(value);
    } else {
      return detail::items_bound(value.data(), value.size());
    }
  }
  static void write(Writer& writer, const std::array<T, N>& value) noexcept {
    if constexpr (detail::RowElement<T>) {
      writer.continue_at(detail::write_blocks<T>(writer.position(), detail::SpanBlocks<T>{value}, N, 0));
    } else if constexpr (kRaw) {
      memcpy_write(writer, value);
    } else {
      detail::write_items(writer, value.data(), value.size());
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
      return detail::read_items(reader, value.data(), value.size());
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
      for (const K& key : detail::in_order(value)) {
        sum += Febird<K>::size(key);
      }
      return sum;
    }
  }
  static std::size_t bound(const std::set<K>& value) noexcept {
    if constexpr (detail::RowElement<K>) {
      return detail::row_bound<K>(value.size());
    } else {
      return size(value);
    }
  }
  static void write(Writer& writer, const std::set<K>& value) noexcept {
    if constexpr (detail::RowElement<K>) {
      writer.continue_at(detail::write_row<K>(writer.position(), detail::SetBlocks<K>(value), value.size()));
    } else {
      write_varint(writer, value.size());
      for (const K& key : detail::in_order(value)) {
        Febird<K>::write(writer, key);
      }
    }
  }
  [[nodiscard]] static bool read(Reader& reader, std::set<K>& value) {
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
      detail::Refill refill(value);
      typename std::set<K>::iterator entry;
      for (std::size_t i = 0; i < count; ++i) {
        if (!detail::append_read(reader, value, refill.take(), i,
                                 "the elements of a set are not strictly ascending", entry)) [[unlikely]] {
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
    if constexpr (kInBlocks) {
      return sum + detail::map_blocks_size(value);
    }
    for (const auto& [key, mapped] : detail::in_order(value)) {
      sum += Febird<K>::size(key) + Febird<V>::size(mapped);
    }
    return sum;
  }
  static std::size_t bound(const std::map<K, V>& value) noexcept {
    std::size_t sum = kMaxVarint<std::size_t>;
    if constexpr (kInBlocks) {
      sum += detail::map_blocks_bound<K, V>(value.size());
    } else if constexpr (BoundedSize<K> && BoundedSize<V>) {
      sum += value.size() * (Febird<K>::kMaxSize + Febird<V>::kMaxSize);
    } else {
      for (const auto& [key, mapped] : detail::in_order(value)) {
        sum += bound_of(key) + bound_of(mapped);
        if (sum > kMaxBound) break;
      }
    }
    return sum;
  }
  static void write(Writer& writer, const std::map<K, V>& value) noexcept {
    write_varint(writer, value.size());
    if constexpr (kInBlocks) {
      writer.continue_at(detail::write_map_blocks(writer.position(), value));
    } else {
      for (const auto& [key, mapped] : detail::in_order(value)) {
        Febird<K>::write(writer, key);
        Febird<V>::write(writer, mapped);
      }
    }
  }
  [[nodiscard]] static bool read(Reader& reader, std::map<K, V>& value) {
    std::size_t count = 0;
    if (!reader.enter() || !reader.read_count(Febird<K>::kMinSize + Febird<V>::kMinSize, count) ||
        !reader.charge(count, sizeof(std::pair<const K, V>) + kHeapOfNew<V> + kNodeOverhead) ||
        !read_entries(reader, count, value)) [[unlikely]] {
      return false;
    }
    reader.leave();
    return true;
  }

 private:
  static constexpr bool kInBlocks = detail::RowElement<K> && detail::RowElement<V>;

  static bool read_entries(Reader& reader, std::size_t count, std::map<K, V>& value) {
    if constexpr (kInBlocks) {
      return detail::read_map_blocks(reader, count, value);
    } else {
      detail::Refill refill(value);
      typename std::map<K, V>::iterator entry;
      for (std::size_t i = 0; i < count; ++i) {
        if (!detail::append_read(reader, value, refill.take(), i,
                                 "the keys of a map are not strictly ascending", entry)) [[unlikely]] {
          return false;
        }
        if (!Febird<V>::read(reader, entry->second)) [[unlikely]] {
          return reader.inside(i);
        }
      }
      return true;
    }
  }
};

}  // namespace mf::codec
