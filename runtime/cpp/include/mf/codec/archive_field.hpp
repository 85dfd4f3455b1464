// R1. Whole fields in tier archive, as generated code names them:
//
//   size(number, value)               bytes of the field with its tags; 0 for what is absent or empty
//   write(writer, number, value)      from back to front
//   read(message, cursor, value)      what follows a tag: one value, an optional one
//   merged(message, cursor, again, value)      the same of a message, which may come several times
//   read_row(message, cursor, filled, value)   one field, or a run of fields, of a container
//   size_one(), write_one()           of one value, whatever its type: the alternatives of unions
// A container or optional that is an element of another container or of an optional is written inside a
// message with the field `value = 1`. `graph...` are the tables of a graph, for types that refer to some.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "mf/codec/archive_map.hpp"
#include "mf/codec/archive_row.hpp"
#include "mf/codec/archive_single.hpp"

namespace mf::codec::archive {

template <class T>
struct Field {
  [[gnu::always_inline]] static std::size_t size(std::uint32_t number, const T& value,
                                                 const auto&... graph) noexcept {
    return size_one(number, value, graph...);
  }
  [[gnu::always_inline]] static void write(BackWriter& writer, std::uint32_t number, const T& value,
                                           const auto&... graph) noexcept {
    write_one(writer, number, value, graph...);
  }
};

/// `bytes` is one value, and no list.
template <>
struct Field<Bytes> {
  [[gnu::always_inline]] static std::size_t size(std::uint32_t number, const Bytes& value) noexcept {
    return size_one(number, value);
  }
  [[gnu::always_inline]] static void write(BackWriter& writer, std::uint32_t number,
                                           const Bytes& value) noexcept {
    write_one(writer, number, value);
  }
};

template <Optional T>
struct Field<T> {
  [[gnu::always_inline]] static std::size_t size(std::uint32_t number, const T& value,
                                                 const auto&... graph) noexcept {
    return value ? size_one(number, *value, graph...) : 0;
  }
  [[gnu::always_inline]] static void write(BackWriter& writer, std::uint32_t number, const T& value,
                                           const auto&... graph) noexcept {
    if (value) write_one(writer, number, *value, graph...);
  }
};

template <class T>
[[nodiscard, gnu::always_inline]] inline std::size_t size(std::uint32_t number, const T& value,
                                                          const auto&... graph) noexcept {
  return Field<T>::size(number, value, graph...);
}

template <class T>
concept OptionalNumber = Optional<T> && Number<typename T::value_type>;

/// `writer` stays in registers, if its caller lets it.
template <class T>
[[gnu::always_inline]] inline void write(BackWriter& writer, std::uint32_t number, const T& value,
                                         const auto&... graph) noexcept {
  if constexpr (requires { requires Field<T>::kRow; }) {
    write_apart(writer, [&](BackWriter& shared) { Field<T>::write(shared, number, value, graph...); });
  } else {
    Field<T>::write(writer, number, value, graph...);
  }
}

/// Numbers are read in registers; whatever else needs the reader to know its place.
template <class T>
[[nodiscard, gnu::always_inline]] inline bool read(Message& message, Cursor& cursor, T& value,
                                                   const auto&... graph) {
  if constexpr (Number<T>) {
    return read(message.reader(), cursor, value);
  } else if constexpr (OptionalNumber<T>) {
    typename T::value_type number{};
    const bool good = read(message.reader(), cursor, number);
    if (good) value = number;
    return good;
  } else {
    cursor.put_back(message.reader());
    const bool good = read(message, value, graph...);
    cursor.take(message.reader());
    return good;
  }
}
template <class T>
[[nodiscard, gnu::always_inline]] inline bool merged(Message& message, Cursor& cursor, bool again, T& value,
                                                     const auto&... graph) {
  cursor.put_back(message.reader());
  const bool good = merged(message, again, value, graph...);
  cursor.take(message.reader());
  return good;
}
template <class T, class Filled>
[[nodiscard, gnu::always_inline]] inline bool read_row(Message& message, Cursor& cursor, Filled& filled,
                                                       T& value, const auto&... graph) {
  cursor.put_back(message.reader());
  const bool good = read_row(message, filled, value, graph...);
  cursor.take(message.reader());
  return good;
}

// --- a container or optional in the place of one value: inside a message

template <class T>
concept Around = Optional<T> || requires { requires Field<T>::kRow; };

namespace detail {

/// Counts the elements that are read into a row; an optional has no more than one.
template <class T>
[[nodiscard]] auto start(T& value) noexcept {
  if constexpr (requires { typename T::key_type; }) {
    return Refilled<T>(value);
  } else {
    if constexpr (Optional<T>) value.reset();
    return std::size_t{0};
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
template <class T, class Filled>
[[nodiscard]] bool fill(Message& /*message*/, T& /*values*/, const Filled& /*filled*/) {
  return true;
}
[[nodiscard]] inline std::size_t count_of(std::size_t filled) noexcept {
  return filled;
}
template <class Tree>
[[nodiscard]] std::size_t count_of(const Refilled<Tree>& filled) noexcept {
  return filled.count;
}

/// The type whose values follow the tags of a field.
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
    auto filled = detail::start(value);
    bool seen = false;
    while (message.next()) {
      if (!detail::is_tag_of_one<T>(message.tag())) {
        const bool known = message.tag() >> 3U == 1;
        if (!message.skip({kAround, 1})) {
          const bool element = known && reader.error().fault == Fault::wrong_wire_type && !Optional<T>;
          return element && reader.inside(detail::count_of(filled));
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
