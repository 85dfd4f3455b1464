// R1. Fields of tier archive whose integers lie in another way than their type does: `i64.varint`,
// `u32.fixed` (docs/language.md), as existing protobuf has them.
//
//   size_coded<C>(number, value), write_coded<C>(writer, number, value), size_one_coded, write_one_coded
//   read_coded<C>(message, cursor, value), read_row_coded<C>(message, cursor, filled, value)
// They are what the functions of the same names in archive_field.hpp are for other fields, and refuse the
// same with the same words: the same code reads and writes them, in the form that C says. It is the coding of
// the number, or of each element; a map has two, of keys and values. Included by generated code that has such
// fields, and by nothing else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "mf/codec/archive_field.hpp"

namespace mf::codec::archive {

enum class Coding : std::uint8_t {
  own,     // as the type has it
  varint,  // two's complement in 64 bits
  fixed,   // all bytes
};
inline constexpr Coding kOwn = Coding::own;
inline constexpr Coding kVarint = Coding::varint;
inline constexpr Coding kFixed = Coding::fixed;

/// One number behind its tag, as Value<T> is.
template <Coding C, class T>
struct Form : Value<T> {};

template <class T>
struct Form<Coding::varint, T> {
  static constexpr Wire kWire = Wire::varint;
  static constexpr std::uint64_t folded(T value) noexcept {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
  static std::size_t size(T value) noexcept { return number_size(folded(value)); }
  static void write(BackWriter& writer, T value) noexcept { writer.varint(folded(value)); }
  [[nodiscard]] static bool read(Reader& reader, T& value) {
    const std::size_t start = reader.offset();
    std::uint64_t number = 0;
    if (!read_number(reader, number)) {
      return false;
    }
    value = static_cast<T>(number);
    return folded(value) == number || detail::refuse_range(reader, start);
  }
};

template <class T>
struct Form<Coding::fixed, T> {
  static constexpr Wire kWire = sizeof(T) == 4 ? Wire::fixed32 : Wire::fixed64;
  static constexpr std::size_t size(T /*value*/) noexcept { return sizeof(T); }
  static void write(BackWriter& writer, T value) noexcept { writer.fixed(value); }
  [[nodiscard]] static bool read(Reader& reader, T& value) {
    const std::byte* from = nullptr;
    if (!reader.take(sizeof(T), from)) {
      return false;
    }
    std::memcpy(&value, from, sizeof(T));
    return true;
  }
};

// --- one value, or an optional one

template <Coding C, class T>
[[nodiscard]] std::size_t size_one_coded(std::uint32_t number, const T& value) noexcept {
  return size_one<T, Form<C, T>>(number, value);
}

template <Coding C, class T>
void write_one_coded(BackWriter& writer, std::uint32_t number, const T& value) noexcept {
  write_one<T, Form<C, T>>(writer, number, value);
}

template <Coding C, class T>
[[nodiscard]] bool read_coded(Message& message, T& value) {
  if constexpr (Optional<T>) {
    typename detail::Held<T>::Type number{};
    if (!read_coded<C>(message, number)) {
      return false;
    }
    value = number;
    return true;
  } else {
    return Form<C, T>::read(message.reader(), value);
  }
}

template <Coding C, class T>
[[nodiscard]] bool read_coded(Message& message, Cursor& cursor, T& value) {
  cursor.put_back(message.reader());
  const bool good = read_coded<C>(message, value);
  cursor.take(message.reader());
  return good;
}

// --- rows and maps

namespace detail {

/// Field<T> of such a field.
template <Coding C, class T>
struct CodedField {
  static std::size_t size(std::uint32_t number, const T& value) noexcept {
    return size_one_coded<C>(number, value);
  }
  static void write(BackWriter& writer, std::uint32_t number, const T& value) noexcept {
    write_one_coded<C>(writer, number, value);
  }
};
template <Coding C, Optional T>
struct CodedField<C, T> {
  static std::size_t size(std::uint32_t number, const T& value) noexcept {
    return value ? size_one_coded<C>(number, *value) : 0;
  }
  static void write(BackWriter& writer, std::uint32_t number, const T& value) noexcept {
    if (value) write_one_coded<C>(writer, number, *value);
  }
};
template <Coding C, class T>
struct CodedField<C, std::vector<T>> : RowField<std::vector<T>, Form<C, T>> {};
template <Coding C, class T, std::size_t N>
struct CodedField<C, std::array<T, N>> : RowField<std::array<T, N>, Form<C, T>> {};
template <Coding C, class K>
struct CodedField<C, std::set<K>> : SetField<K, Form<C, K>> {};

template <Coding CK, Coding CV, class K, class V>
struct CodedForms {
  using Key = Form<CK, K>;
  using Mapped = Form<CV, V>;
};

template <Coding C, class T>
[[nodiscard]] bool read_row_of(Message& message, std::size_t& filled, std::vector<T>& values) {
  return read_row<T, Form<C, T>>(message, filled, values);
}
template <Coding C, class T, std::size_t N>
[[nodiscard]] bool read_row_of(Message& message, std::size_t& filled, std::array<T, N>& values) {
  return read_row<T, N, Form<C, T>>(message, filled, values);
}
template <Coding C, class K>
[[nodiscard]] bool read_row_of(Message& message, Refilled<std::set<K>>& filled, std::set<K>& values) {
  return read_row<K, Form<C, K>>(message, filled, values);
}

}  // namespace detail

template <Coding C, class T>
[[nodiscard]] std::size_t size_coded(std::uint32_t number, const T& value) noexcept {
  return detail::CodedField<C, T>::size(number, value);
}

template <Coding C, class T>
void write_coded(BackWriter& writer, std::uint32_t number, const T& value) noexcept {
  write_apart(writer, [&](BackWriter& shared) { detail::CodedField<C, T>::write(shared, number, value); });
}

template <Coding C, class Filled, class Values>
[[nodiscard]] bool read_row_coded(Message& message, Cursor& cursor, Filled& filled, Values& values) {
  cursor.put_back(message.reader());
  const bool good = detail::read_row_of<C>(message, filled, values);
  cursor.take(message.reader());
  return good;
}

template <Coding CK, Coding CV, class K, class V>
[[nodiscard]] std::size_t size_coded(std::uint32_t number, const std::map<K, V>& values,
                                     const auto&... graph) noexcept {
  return detail::MapField<K, V, detail::CodedForms<CK, CV, K, V>>::size(number, values, graph...);
}

template <Coding CK, Coding CV, class K, class V>
void write_coded(BackWriter& writer, std::uint32_t number, const std::map<K, V>& values,
                 const auto&... graph) noexcept {
  detail::MapField<K, V, detail::CodedForms<CK, CV, K, V>>::write(writer, number, values, graph...);
}

template <Coding CK, Coding CV, class K, class V>
[[nodiscard]] bool read_row_coded(Message& message, Cursor& cursor, Refilled<std::map<K, V>>& filled,
                                  std::map<K, V>& values, const auto&... graph) {
  cursor.put_back(message.reader());
  const bool good = read_row<K, V, detail::CodedForms<CK, CV, K, V>>(message, filled, values, graph...);
  cursor.take(message.reader());
  return good;
}

}  // namespace mf::codec::archive
