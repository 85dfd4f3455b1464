// R1. Whole fields in tier archive: one value, an optional one, or the many of a container.
//
//   size(number, value)               bytes of the field with its tags; 0 for what is absent or empty
//   write(writer, number, value)      from back to front
//   size_one(), write_one()           of one value, whatever its type: the alternatives of unions
//   read(message, value)              what stands behind a tag
//   merged(message, again, value)     the same of a message, which may come several times
//   read_row(message, filled, value)  one field, or a run of fields, of a container; `filled` counts elements
// Numbers in containers are packed. A container or optional where one value stands, inside of another
// container or an optional, is a message around it with the field `value = 1`; the entries of a map are
// messages
// `{key = 1; value = 2}`. `graph...` are the tables of a graph, for types that refer to some.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "mf/codec/archive_value.hpp"
#include "mf/codec/boxed.hpp"

namespace mf::codec::archive {

[[nodiscard]] constexpr std::size_t tag_size(std::uint32_t number) noexcept {
  return varint_size(std::uint64_t{number} << 3U);
}

// --- one value

template <class T>
[[nodiscard]] std::size_t size_one(std::uint32_t number, const T& value, const auto&... graph) noexcept {
  return tag_size(number) + Value<T>::size(value, graph...);
}

template <class T>
void write_one(BackWriter& writer, std::uint32_t number, const T& value, const auto&... graph) noexcept {
  Value<T>::write(writer, value, graph...);
  writer.varint(tag_of(number, Value<T>::kWire));
}

template <class T>
[[nodiscard]] bool read(Message& message, T& value, const auto&... graph) {
  return Value<T>::read(message.reader(), value, graph...);
}

/// `again`: the message has come before.
template <class T>
[[nodiscard]] bool merged_value(Message& message, bool again, T& value, const auto&... graph) {
  const auto place = message.reader().place();
  if (!again && Value<T>::read(message.reader(), value, graph...)) [[likely]] {
    return true;
  }
  return message.merge(place, again,
                       [&](Reader& reader) { return Value<T>::read_body(reader, value, graph...); });
}

template <class T>
[[nodiscard]] bool merged(Message& message, bool again, T& value, const auto&... graph) {
  return merged_value(message, again, value, graph...);
}

// --- an optional one: absent where no field is

namespace detail {

template <class T>
struct Held;
template <class T>
struct Held<std::optional<T>> {
  using Type = T;
  static constexpr bool kOnHeap = false;
};
template <class T>
struct Held<Boxed<T>> {
  using Type = T;
  static constexpr bool kOnHeap = true;
};

/// Something to read into.
template <class Optional>
[[nodiscard]] bool emplace(Reader& reader, Optional& value) {
  if (Held<Optional>::kOnHeap && !reader.charge(1, sizeof(typename Held<Optional>::Type))) [[unlikely]] {
    return false;
  }
  if (!value) value.emplace();
  return true;
}

}  // namespace detail

template <class T>
concept Optional = requires { typename detail::Held<T>::Type; };

template <Optional T>
[[nodiscard]] bool read(Message& message, T& value, const auto&... graph) {
  return detail::emplace(message.reader(), value) &&
         Value<typename detail::Held<T>::Type>::read(message.reader(), *value, graph...);
}

template <Optional T>
[[nodiscard]] bool merged(Message& message, bool again, T& value, const auto&... graph) {
  return detail::emplace(message.reader(), value) &&
         merged<typename detail::Held<T>::Type>(message, again, *value, graph...);
}

// --- rows of elements

namespace detail {

template <class T>
[[nodiscard]] std::size_t packed_size(std::span<const T> values) noexcept {
  if constexpr (PlainNumber<T>) {
    return values.size_bytes();
  } else {
    std::size_t sum = 0;
    for (const T& value : values) sum += Value<T>::size(value);
    return sum;
  }
}

template <class T>
void write_packed(BackWriter& writer, std::span<const T> values) noexcept {
  if constexpr (PlainNumber<T>) {
    writer.bytes(values.data(), values.size_bytes());
  } else {
    for (std::size_t i = values.size(); i-- > 0;) Value<T>::write(writer, values[i]);
  }
}

/// How many numbers are in the bytes: every varint has one byte without its highest bit.
[[nodiscard]] std::size_t count_varints(std::span<const std::byte> bytes) noexcept;

/// Number by number into whatever `into(index)` gives, up to the end of the reader.
template <class T, class Into>
[[nodiscard]] bool read_numbers(Reader& reader, std::size_t& filled, const Into& into, const auto&... graph) {
  while (reader.left() != 0) {
    if (!Value<T>::read(reader, into(filled), graph...)) [[unlikely]] {
      return reader.inside(filled);
    }
    ++filled;
  }
  return true;
}

}  // namespace detail

/// Elements of a vector; those that it held before are read into, so that they keep their memory.
template <class T>
[[nodiscard]] bool read_row(Message& message, std::size_t& filled, std::vector<T>& values,
                            const auto&... graph) {
  Reader& reader = message.reader();
  if (!reader.enter()) [[unlikely]] {
    return false;
  }
  const auto make_room = [&](std::size_t count) {
    if (!reader.charge(count, sizeof(T))) [[unlikely]] {
      return false;
    }
    if (filled + count > values.size()) values.resize(filled + count);
    return true;
  };
  if constexpr (Packed<T>) {
    if (message.tag() % 8 == static_cast<unsigned>(Wire::length)) {
      std::size_t length = 0;
      if (!read_length(reader, length)) [[unlikely]] {
        return false;
      }
      const std::byte* const end = reader.narrow(length);
      if constexpr (PlainNumber<T>) {
        const std::size_t whole = length / sizeof(T);
        if (!make_room(whole)) [[unlikely]] {
          return false;
        }
        if (whole != 0) std::memcpy(static_cast<void*>(&values[filled]), reader.peek(), whole * sizeof(T));
        reader.advance(whole * sizeof(T));
        filled += whole;
      } else if (!make_room(detail::count_varints({reader.peek(), length}))) [[unlikely]] {
        return false;
      }
      // A number that is cut off at the end has no room yet, and is not a number.
      T cut{};
      const auto into = [&](std::size_t i) -> T& { return i < values.size() ? values[i] : cut; };
      if (!detail::read_numbers<T>(reader, filled, into, graph...)) [[unlikely]] {
        return false;
      }
      reader.widen(end);
    } else {
      if (!make_room(1)) [[unlikely]] {
        return false;
      }
      if (!Value<T>::read(reader, values[filled], graph...)) [[unlikely]] {
        return reader.inside(filled);
      }
      ++filled;
    }
  } else {
    const std::uint32_t tag = message.tag();
    const std::size_t count = message.run_length();
    const std::size_t full = filled + count;
    if (!make_room(count)) [[unlikely]] {
      return false;
    }
    do {
      if (!Value<T>::read(reader, values[filled], graph...)) [[unlikely]] {
        return reader.inside(filled);
      }
    } while (++filled != full && message.follows(tag));
  }
  reader.leave();
  return true;
}

/// Of an array; elements that it has no place for are read and counted.
template <class T, std::size_t N>
[[nodiscard]] bool read_row(Message& message, std::size_t& filled, std::array<T, N>& values,
                            const auto&... graph) {
  Reader& reader = message.reader();
  if (!reader.enter()) [[unlikely]] {
    return false;
  }
  std::optional<T> extra;
  const auto into = [&](std::size_t i) -> T& {
    if constexpr (N != 0) {
      if (i < N) return values[i];
    }
    return extra ? *extra : extra.emplace();
  };
  if constexpr (Packed<T>) {
    if (message.tag() % 8 == static_cast<unsigned>(Wire::length)) {
      if (!read_bounded(reader, [&] { return detail::read_numbers<T>(reader, filled, into, graph...); }))
          [[unlikely]] {
        return false;
      }
      reader.leave();
      return true;
    }
  }
  if (!Value<T>::read(reader, into(filled), graph...)) [[unlikely]] {
    return reader.inside(filled);
  }
  ++filled;
  reader.leave();
  return true;
}

/// Of a set: elements in any order, each once.
template <class K>
[[nodiscard]] bool read_row(Message& message, std::size_t& filled, std::set<K>& values) {
  Reader& reader = message.reader();
  if (!reader.enter()) [[unlikely]] {
    return false;
  }
  const auto read_key = [&] {
    K key{};
    if (!Value<K>::read(reader, key) || !reader.charge(1, sizeof(K) + kNodeOverhead)) [[unlikely]] {
      return reader.inside(filled);
    }
    values.insert(values.end(), std::move(key));
    ++filled;
    return true;
  };
  if constexpr (Packed<K>) {
    if (message.tag() % 8 == static_cast<unsigned>(Wire::length)) {
      const auto read_keys = [&] {
        while (reader.left() != 0) {
          if (!read_key()) [[unlikely]] {
            return false;
          }
        }
        return true;
      };
      if (!read_bounded(reader, read_keys)) [[unlikely]] {
        return false;
      }
      reader.leave();
      return true;
    }
  }
  if (!read_key()) [[unlikely]] {
    return false;
  }
  reader.leave();
  return true;
}

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
    V value{};
    const auto place = reader.place();
    const auto read_entry = [&] { return detail::read_entry(reader, key, value, graph...); };
    if (!reader.charge(1, sizeof(std::pair<const K, V>) + kNodeOverhead) || !read_bounded(reader, read_entry))
        [[unlikely]] {
      return reader.inside(filled);
    }
    ++filled;
    const std::size_t before = values.size();
    const auto entry = values.emplace_hint(values.end(), std::move(key), std::move(value));
    if (values.size() == before) [[unlikely]] {  // a key that came before, and what was moved is gone
      reader.return_to(place);
      if (!read_bounded(reader, read_entry)) {
        return reader.inside(filled);
      }
      entry->second = std::move(value);
    }
  } while (message.follows(tag));
  reader.leave();
  return true;
}

// --- whole fields

template <class T>
struct Field {
  static std::size_t size(std::uint32_t number, const T& value, const auto&... graph) noexcept {
    return size_one(number, value, graph...);
  }
  static void write(BackWriter& writer, std::uint32_t number, const T& value, const auto&... graph) noexcept {
    write_one(writer, number, value, graph...);
  }
};

/// `bytes` is one value, and no list.
template <>
struct Field<Bytes> {
  static std::size_t size(std::uint32_t number, const Bytes& value) noexcept {
    return size_one(number, value);
  }
  static void write(BackWriter& writer, std::uint32_t number, const Bytes& value) noexcept {
    write_one(writer, number, value);
  }
};

template <Optional T>
struct Field<T> {
  static std::size_t size(std::uint32_t number, const T& value, const auto&... graph) noexcept {
    return value ? size_one(number, *value, graph...) : 0;
  }
  static void write(BackWriter& writer, std::uint32_t number, const T& value, const auto&... graph) noexcept {
    if (value) write_one(writer, number, *value, graph...);
  }
};

namespace detail {

/// Of lists and arrays.
template <class T>
struct RowField {
  static std::size_t size(std::uint32_t number, std::span<const T> values, const auto&... graph) noexcept {
    if constexpr (Packed<T>) {
      if (values.empty()) return 0;
      std::size_t sum = 0;
      if constexpr (sizeof...(graph) == 0) {
        sum = packed_size(values);
      } else {
        for (const T& value : values) sum += Value<T>::size(value, graph...);
      }
      return tag_size(number) + varint_size(sum) + sum;
    } else {
      std::size_t sum = values.size() * tag_size(number);
      for (const T& value : values) sum += Value<T>::size(value, graph...);
      return sum;
    }
  }
  static void write(BackWriter& writer, std::uint32_t number, std::span<const T> values,
                    const auto&... graph) noexcept {
    if constexpr (Packed<T>) {
      if (values.empty()) return;
      const std::byte* const end = writer.position();
      if constexpr (sizeof...(graph) == 0) {
        write_packed(writer, values);
      } else {
        for (std::size_t i = values.size(); i-- > 0;) Value<T>::write(writer, values[i], graph...);
      }
      writer.varint(static_cast<std::size_t>(end - writer.position()));
      writer.varint(tag_of(number, Wire::length));
    } else {
      for (std::size_t i = values.size(); i-- > 0;) write_one(writer, number, values[i], graph...);
    }
  }
};

}  // namespace detail

template <class T>
struct Field<std::vector<T>> : detail::RowField<T> {
  static constexpr bool kRow = true;
};

template <class T, std::size_t N>
struct Field<std::array<T, N>> : detail::RowField<T> {
  static constexpr bool kRow = true;
};

template <class K>
struct Field<std::set<K>> {
  static constexpr bool kRow = true;
  static std::size_t size(std::uint32_t number, const std::set<K>& values) noexcept {
    if (values.empty()) return 0;
    std::size_t sum = 0;
    for (const K& value : values) sum += Value<K>::size(value);
    return Packed<K> ? tag_size(number) + varint_size(sum) + sum : values.size() * tag_size(number) + sum;
  }
  static void write(BackWriter& writer, std::uint32_t number, const std::set<K>& values) noexcept {
    if constexpr (Packed<K>) {
      if (values.empty()) return;
      const std::byte* const end = writer.position();
      for (auto at = values.rbegin(); at != values.rend(); ++at) Value<K>::write(writer, *at);
      writer.varint(static_cast<std::size_t>(end - writer.position()));
      writer.varint(tag_of(number, Wire::length));
    } else {
      for (auto at = values.rbegin(); at != values.rend(); ++at) write_one(writer, number, *at);
    }
  }
};

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
    for (auto at = values.rbegin(); at != values.rend(); ++at) {
      const std::byte* const end = writer.position();
      write_one(writer, 2, at->second, graph...);
      write_one(writer, 1, at->first);
      writer.varint(static_cast<std::size_t>(end - writer.position()));
      writer.varint(tag_of(number, Wire::length));
    }
  }
};

template <class T>
[[nodiscard]] std::size_t size(std::uint32_t number, const T& value, const auto&... graph) noexcept {
  return Field<T>::size(number, value, graph...);
}

template <class T>
void write(BackWriter& writer, std::uint32_t number, const T& value, const auto&... graph) noexcept {
  Field<T>::write(writer, number, value, graph...);
}

// --- a container or optional where one value stands: a message around it

template <class T>
concept Around = Optional<T> || requires { requires Field<T>::kRow; };

namespace detail {

template <class T>
void clear(T& value) noexcept {
  if constexpr (requires { value.reset(); }) {
    value.reset();
  } else if constexpr (requires { typename T::key_type; }) {
    value.clear();
  }
}

/// False unless the row has the elements that its type wants; a list drops what it held before.
template <class T>
[[nodiscard]] bool fill(Message& /*message*/, std::vector<T>& values, std::size_t filled) {
  values.resize(filled);
  return true;
}
template <class T, std::size_t N>
[[nodiscard]] bool fill(Message& message, std::array<T, N>& /*values*/, std::size_t filled) {
  return message.has_length(N, filled);
}
template <class T>
[[nodiscard]] bool fill(Message& /*message*/, T& /*values*/, std::size_t /*filled*/) {
  return true;
}

/// Which type stands behind the tags of a field.
template <class T>
struct Element {
  using Type = typename T::value_type;
};
template <class K, class V>
struct Element<std::map<K, V>> {
  using Type = std::map<K, V>;  // entries are messages: no number's tag
};
template <Optional T>
struct Element<T> {
  using Type = typename Held<T>::Type;
};

/// May this be the tag of field 1 of such a type? Of what is packed, in either form.
template <class T>
[[nodiscard]] constexpr bool is_tag_of_one(std::uint32_t tag) noexcept {
  using E = typename Element<T>::Type;
  if constexpr (Optional<T>) {
    return tag == tag_of(1, Value<E>::kWire);
  } else if constexpr (std::same_as<E, T>) {
    return tag == tag_of(1, Wire::length);
  } else {
    return tag == tag_of(1, Wire::length) || tag == tag_of(1, Value<E>::kWire);
  }
}

}  // namespace detail

template <Around T>
struct Value<T> {
  static constexpr Wire kWire = Wire::length;

  static std::size_t size(const T& value, const auto&... graph) noexcept {
    const std::size_t inner = Field<T>::size(1, value, graph...);
    return varint_size(inner) + inner;
  }
  static void write(BackWriter& writer, const T& value, const auto&... graph) noexcept {
    const std::byte* const end = writer.position();
    Field<T>::write(writer, 1, value, graph...);
    writer.varint(static_cast<std::size_t>(end - writer.position()));
  }
  [[nodiscard]] static bool read_body(Reader& reader, T& value, const auto&... graph) {
    Message message(reader);
    std::size_t filled = 0;
    bool seen = false;
    detail::clear(value);
    while (message.next()) {
      if (!detail::is_tag_of_one<T>(message.tag())) {
        const bool known = message.tag() >> 3U == 1;
        if (!message.skip({kAround, 1})) {
          const bool element = known && reader.error().fault == Fault::wrong_wire_type && !Optional<T>;
          return element && reader.inside(filled);
        }
        continue;
      }
      if constexpr (!Optional<T>) {
        if (!read_row(message, filled, value, graph...)) return false;
      } else if constexpr (requires(typename detail::Held<T>::Type& held) {
                             Value<typename detail::Held<T>::Type>::read_body(reader, held, graph...);
                           }) {
        if (!merged(message, seen, value, graph...)) return false;
      } else if (!archive::read(message, value, graph...)) {
        return false;
      }
      seen = true;
    }
    return !reader.failed() && detail::fill(message, value, filled);
  }
  [[nodiscard]] static bool read(Reader& reader, T& value, const auto&... graph) {
    return read_bounded(reader, [&] { return read_body(reader, value, graph...); });
  }
};

}  // namespace mf::codec::archive
