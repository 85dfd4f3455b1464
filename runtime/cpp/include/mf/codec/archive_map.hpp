// R1. Maps as fields of tier archive: a message `{key = 1; value = 2}` for each entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "mf/codec/archive_single.hpp"
#include "mf/core/fresh.hpp"

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

/// Key and value of an entry; what is not there is their zero, or as an empty message.
template <class K, class V>
[[nodiscard]] bool read_entry(Reader& reader, K& key, V& value, const auto&... graph) {
  Message entry(reader);
  constexpr std::uint32_t kKey = tag_of(1, Value<K>::kWire);
  constexpr std::uint32_t kValue = tag_of(2, Value<V>::kWire);
  bool seen_key = false;
  bool seen_value = false;
  while (entry.next()) {
    if (entry.tag() == kKey) {
      if (!Value<K>::read(reader, key)) [[unlikely]] {
        return false;
      }
      seen_key = true;
      if (!entry.follows(kValue)) {
        continue;
      }
    }
    if (entry.tag() == kValue) {
      if constexpr (requires { Value<V>::read_body(reader, value, graph...); }) {
        if (!merged_value(entry, seen_value, value, graph...))
            [[unlikely]] {  // an optional is in a message here
          return false;
        }
      } else if (!Value<V>::read(reader, value, graph...)) [[unlikely]] {
        return false;
      }
      seen_value = true;
    } else if (!entry.skip(kAround)) {
      return false;
    }
  }
  if (reader.failed()) {
    return false;
  }
  if (!seen_key && !zero_is_valid(reader, key)) {
    return false;
  }
  if constexpr (requires { Value<V>::read_body(reader, value, graph...); }) {
    return seen_value || Value<V>::read_body(reader, value, graph...);
  } else if constexpr (requires { Value<V>::zero(reader, value, graph...); }) {
    return seen_value || Value<V>::zero(reader, value, graph...);
  } else {
    return seen_value || zero_is_valid(reader, value);
  }
}

}  // namespace detail

/// Entries of a map in any order; of equal keys the last one stays.
template <class K, class V>
[[nodiscard]] bool read_row(Message& message, std::size_t& filled, std::map<K, V>& values,
                            const auto&... graph) {
  Reader& reader = message.reader();
  if (!reader.enter()) [[unlikely]] {
    return false;
  }
  const std::uint32_t tag = message.tag();
  do {
    K key{};
    auto value = fresh<V>();
    const auto read_entry = [&] { return detail::read_entry(reader, key, value, graph...); };
    if (!reader.charge(1, sizeof(std::pair<const K, V>) + kNodeOverhead) || !read_bounded(reader, read_entry))
        [[unlikely]] {
      return reader.inside(filled);
    }
    ++filled;
    values.insert_or_assign(values.end(), std::move(key), std::move(value));
  } while (message.follows(tag));
  reader.leave();
  return true;
}

template <class K, class V>
struct Field<std::map<K, V>> {
  static constexpr bool kRow = true;
  static std::size_t size(std::uint32_t number, const std::map<K, V>& values, const auto&... graph) noexcept {
    std::size_t sum = values.size() * tag_size(number);
    for (const auto& [key, value] : values) {
      const std::size_t entry = size_one(1, key) + size_one(2, value, graph...);
      sum += varint_size(entry) + entry;
    }
    return sum;
  }
  static void write(BackWriter& writer, std::uint32_t number, const std::map<K, V>& values,
                    const auto&... graph) noexcept {
    BackWriter back = writer;
    for (auto at = values.rbegin(); at != values.rend(); ++at) {
      const std::byte* const end = back.position();
      write_one(back, 2, at->second, graph...);
      write_one(back, 1, at->first);
      back.varint(static_cast<std::size_t>(end - back.position()));
      back.varint(tag_of(number, Wire::length));
    }
    writer = back;
  }
};

}  // namespace mf::codec::archive
