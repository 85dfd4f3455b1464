// R1. One value of a field in tier archive, or an optional one: absent where no field is.
//
//   size_one(), write_one()           with its tag, whatever its type
//   read(message, value)              what follows a tag
//   merged(message, again, value)     the same of a message, which may come several times
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "mf/codec/archive_value.hpp"
#include "mf/codec/boxed.hpp"

namespace mf::codec::archive {

/// A whole field, of whatever type: size() and write() (archive_field.hpp).
template <class T>
struct Field;

[[nodiscard]] constexpr std::size_t tag_size(std::uint32_t number) noexcept {
  return number_size(number << 3U);
}

// --- one value

template <class T, class As = Value<T>>
[[nodiscard, gnu::always_inline]] inline std::size_t size_one(std::uint32_t number, const T& value,
                                                              const auto&... graph) noexcept {
  return tag_size(number) + As::size(value, graph...);
}

/// The same by a writer that others may see; the caller's own stays in registers.
template <class Write>
[[gnu::always_inline]] inline void write_apart(BackWriter& writer, const Write& write) noexcept {
  BackWriter shared = writer;
  write(shared);
  writer = shared;
}

/// `As` is the coding of the value, if it is not that of its type (archive_coded.hpp).
template <class T, class As = Value<T>>
[[gnu::always_inline]] inline void write_one(BackWriter& writer, std::uint32_t number, const T& value,
                                             const auto&... graph) noexcept {
  if constexpr (Number<T>) {
    As::write(writer, value);
  } else {
    write_apart(writer, [&](BackWriter& shared) { As::write(shared, value, graph...); });
  }
  writer.varint(tag_of(number, As::kWire));
}

template <class T>
[[nodiscard]] bool read(Message& message, T& value, const auto&... graph) {
  return Value<T>::read(message.reader(), value, graph...);
}

/// `again`: the message has come before.
template <class T>
[[nodiscard]] bool merged_value(Message& message, bool again, T& value, const auto&... graph) {
  const auto place = message.reader().place();
  if (!again && !message.reader().joined() && Value<T>::read(message.reader(), value, graph...)) [[likely]] {
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
  using T = typename Held<Optional>::Type;
  constexpr std::size_t kMade = (Held<Optional>::kOnHeap ? sizeof(T) : 0) + kHeapOfNew<T>;
  if (kMade != 0 && !reader.charge(1, kMade)) [[unlikely]] {
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

}  // namespace mf::codec::archive
