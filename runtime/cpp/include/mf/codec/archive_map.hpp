// R1. Maps as fields of tier archive: a message `{key = 1; value = 2}` for each entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "mf/codec/archive_row.hpp"
#include "mf/codec/archive_single.hpp"
#include "mf/codec/tree_walk.hpp"

namespace mf::codec::archive {

namespace detail {

/// An enum need not have a member with the number 0.
template <class T>
[[nodiscard]] bool zero_is_valid(Reader& reader, const T& zero) {
  if constexpr (DeclaredEnum<T>) {
    return EnumTraits<T>::valid(zero) || refuse_member(reader, reader.offset());
  } else {
    return true;
  }
}

/// How keys and values lie: as their types do, or in forms of their own (archive_coded.hpp).
template <class K, class V>
struct OwnForms {
  using Key = Value<K>;
  using Mapped = Value<V>;
};

/// The value behind its tag; `again`: it has come before in this entry.
template <class As, class V>
[[nodiscard]] bool read_mapped(Message& entry, bool again, V& value, const auto&... graph) {
  if constexpr (requires { As::read_body(entry.reader(), value, graph...); }) {
    return merged_value(entry, again, value, graph...);  // an optional is in a message here
  } else {
    return As::read(entry.reader(), value, graph...);
  }
}

/// Sets the value of an entry without one: zero, or what an empty message gives.
template <class V>
[[nodiscard]] bool read_no_value(Reader& reader, V& value, const auto&... graph) {
  if constexpr (requires { Value<V>::read_body(reader, value, graph...); }) {
    return Value<V>::read_body(reader, value, graph...);
  } else if constexpr (requires { Value<V>::zero(reader, value, graph...); }) {
    return Value<V>::zero(reader, value, graph...);
  } else {
    return zero_is_valid(reader, value);
  }
}

/// An entry that is in no map yet. Values may be larger than a stack: they are never made but on the heap.
template <class K, class V>
[[nodiscard]] typename std::map<K, V>::node_type new_entry(K&& key) {
  std::map<K, V> apart;
  return apart.extract(apart.try_emplace(std::move(key)).first);
}

/// The rest of an entry in any order, key and value each as often as they like. `seen_value`: the made one
/// counts as the first.
template <class As, class K, class V>
[[nodiscard]] bool read_rest(Message& entry, bool seen_key, bool seen_value,
                             typename std::map<K, V>::node_type made, std::map<K, V>& values,
                             const auto&... graph) {
  Reader& reader = entry.reader();
  while (entry.next()) {
    if (entry.tag() == tag_of(1, As::Key::kWire)) {
      if (!As::Key::read(reader, made.key())) [[unlikely]] {
        return false;
      }
      seen_key = true;
    } else if (entry.tag() == tag_of(2, As::Mapped::kWire)) {
      if (!read_mapped<typename As::Mapped>(entry, seen_value, made.mapped(), graph...)) [[unlikely]] {
        return false;
      }
      seen_value = true;
    } else if (!entry.skip(kAround)) {
      return false;
    }
  }
  if (reader.failed() || (!seen_key && !zero_is_valid(reader, made.key())) ||
      (!seen_value && !read_no_value(reader, made.mapped(), graph...))) {
    return false;
  }
  auto put = values.insert(std::move(made));
  if (!put.inserted) {
    put.position->second = std::move(put.node.mapped());
  }
  return true;
}

/// One entry into the map. Nearly all are a new key and a value behind it: that one is made in its place,
/// which is the last one if the writer had a map, too. `used`: a node of before, or empty.
template <class As, class K, class V>
[[nodiscard]] bool read_into(Reader& reader, std::map<K, V>& values, typename std::map<K, V>::node_type used,
                             const auto&... graph) {
  Message entry(reader);
  K fresh{};
  K& key = used ? used.key() : fresh;
  const bool has_key = entry.follows(tag_of(1, As::Key::kWire));
  if (has_key && !As::Key::read(reader, key)) [[unlikely]] {
    return false;
  }
  if (!has_key || !entry.follows(tag_of(2, As::Mapped::kWire))) [[unlikely]] {
    return read_rest<As>(entry, has_key, false, new_entry<K, V>(has_key ? std::move(key) : K{}), values,
                         graph...);
  }
  const std::size_t before = values.size();
  // try_emplace() compares three times as often: it looks for the place, and looks at it again.
  const auto at = used ? values.insert(values.end(), std::move(used))
                       : values.emplace_hint(values.end(), std::piecewise_construct,
                                             std::forward_as_tuple(std::move(fresh)), std::tuple<>());
  if (values.size() == before) [[unlikely]] {
    auto made = new_entry<K, V>(K(at->first));
    return read_mapped<typename As::Mapped>(entry, false, made.mapped(), graph...) &&
           read_rest<As>(entry, true, true, std::move(made), values, graph...);
  }
  if (!read_mapped<typename As::Mapped>(entry, false, at->second, graph...)) [[unlikely]] {
    return false;
  }
  return reader.left() == 0 ||  // another key may follow
         read_rest<As>(entry, true, true, values.extract(at), values, graph...);
}

}  // namespace detail

/// Entries of a map in any order; of equal keys the last one stays.
template <class K, class V, class As = detail::OwnForms<K, V>>
[[nodiscard]] bool read_row(Message& message, Refilled<std::map<K, V>>& filled, std::map<K, V>& values,
                            const auto&... graph) {
  Reader& reader = message.reader();
  if (!reader.enter()) [[unlikely]] {
    return false;
  }
  const std::uint32_t tag = message.tag();
  do {
    if (!reader.charge(1, sizeof(std::pair<const K, V>) + kHeapOfNew<V> + kNodeOverhead) ||
        !read_bounded(reader, [&] {
          return detail::read_into<As>(reader, values, filled.used.take(), graph...);
        })) [[unlikely]] {
      return reader.inside(filled.count);
    }
    ++filled.count;
  } while (message.follows(tag));
  reader.leave();
  return true;
}

namespace detail {

template <class K, class V, class As = OwnForms<K, V>>
struct MapField {
  static std::size_t size(std::uint32_t number, const std::map<K, V>& values, const auto&... graph) noexcept {
    std::size_t sum = values.size() * tag_size(number);
    for (const auto& [key, value] : codec::detail::in_order(values)) {
      const std::size_t entry =
          size_one<K, typename As::Key>(1, key) + size_one<V, typename As::Mapped>(2, value, graph...);
      sum += varint_size(entry) + entry;
    }
    return sum;
  }
  static void write(BackWriter& writer, std::uint32_t number, const std::map<K, V>& values,
                    const auto&... graph) noexcept {
    BackWriter back = writer;
    for (const auto& [key, value] : codec::detail::backwards(values)) {
      const std::byte* const end = back.position();
      write_one<V, typename As::Mapped>(back, 2, value, graph...);
      write_one<K, typename As::Key>(back, 1, key);
      back.varint(static_cast<std::size_t>(end - back.position()));
      back.varint(tag_of(number, Wire::length));
    }
    writer = back;
  }
};

}  // namespace detail

template <class K, class V>
struct Field<std::map<K, V>> : detail::MapField<K, V> {
  static constexpr bool kRow = true;
};

}  // namespace mf::codec::archive
