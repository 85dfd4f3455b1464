// R1. Fields of tier archive whose integers lie in another way than their type does: `i64.varint`,
// `u32.fixed` (docs/language.md), as existing protobuf has them.
//
//   size_coded<C>(number, value), write_coded<C>(writer, number, value), size_one_coded, write_one_coded
//   read_coded<C>(message, cursor, value), read_row_coded<C>(message, cursor, filled, value)
// They are what the functions of the same names in archive_field.hpp are for other fields, and refuse the
// same with the same words. C is the coding of the number, or of each element; a map has two, of keys and
// values. Included by generated code that has such fields, and by nothing else: these loops are plain ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <type_traits>
#include <utility>
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
  return tag_size(number) + Form<C, T>::size(value);
}

template <Coding C, class T>
void write_one_coded(BackWriter& writer, std::uint32_t number, const T& value) noexcept {
  Form<C, T>::write(writer, value);
  writer.varint(tag_of(number, Form<C, T>::kWire));
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

namespace detail {

/// Of lists, arrays and sets; of a single value the next overloads.
template <Coding C, class Values>
struct CodedRow {
  using T = typename Values::value_type;
  static std::size_t packed(const Values& values) noexcept {
    std::size_t sum = 0;
    for (const T value : values) sum += Form<C, T>::size(value);
    return sum;
  }
  static std::size_t size(std::uint32_t number, const Values& values) noexcept {
    if (values.empty()) return 0;
    const std::size_t sum = packed(values);
    return tag_size(number) + varint_size(sum) + sum;
  }
  static void write(BackWriter& writer, std::uint32_t number, const Values& values) noexcept {
    if (values.empty()) return;
    const std::byte* const end = writer.position();
    for (auto at = values.rbegin(); at != values.rend(); ++at) Form<C, T>::write(writer, *at);
    writer.varint(static_cast<std::size_t>(end - writer.position()));
    writer.varint(tag_of(number, Wire::length));
  }
};

template <class T>
struct IsRow : std::false_type {};
template <class T>
struct IsRow<std::vector<T>> : std::true_type {};
template <class T, std::size_t N>
struct IsRow<std::array<T, N>> : std::true_type {};
template <class T>
struct IsRow<std::set<T>> : std::true_type {};

/// So many numbers a row of so many bytes has, if it is in order.
template <Coding C, class T>
[[nodiscard]] std::size_t count_coded(std::span<const std::byte> bytes) noexcept {
  return C == Coding::fixed ? bytes.size() / sizeof(T) : count_varints(bytes);
}

/// `room(count)` makes room, `take(value)` keeps a value; `count` is where the next one belongs.
template <Coding C, class T, class Room, class Take>
[[nodiscard]] bool read_numbers_coded(Message& message, std::size_t& count, const Room& room,
                                      const Take& take) {
  Reader& reader = message.reader();
  if (!reader.enter()) {
    return false;
  }
  const auto read_next = [&] {
    T value{};
    if (!Form<C, T>::read(reader, value) || !take(value)) {
      return reader.inside(count);
    }
    ++count;
    return true;
  };
  if (message.tag() % 8 == static_cast<unsigned>(Wire::length)) {
    std::size_t length = 0;
    if (!read_length(reader, length)) {
      return false;
    }
    const std::byte* const end = reader.narrow(length);
    if (!room(count_coded<C, T>({reader.peek(), length}))) {
      return false;
    }
    while (reader.left() != 0) {
      if (!read_next()) {
        return false;
      }
    }
    reader.widen(end);
  } else if (!room(1) || !read_next()) {
    return false;
  }
  reader.leave();
  return true;
}

}  // namespace detail

template <Coding C, class T>
[[nodiscard]] std::size_t size_coded(std::uint32_t number, const T& value) noexcept {
  if constexpr (detail::IsRow<T>::value) {
    return detail::CodedRow<C, T>::size(number, value);
  } else if constexpr (Optional<T>) {
    return value ? size_one_coded<C>(number, *value) : 0;
  } else {
    return size_one_coded<C>(number, value);
  }
}

template <Coding C, class T>
void write_coded(BackWriter& writer, std::uint32_t number, const T& value) noexcept {
  write_apart(writer, [&](BackWriter& shared) {
    if constexpr (detail::IsRow<T>::value) {
      detail::CodedRow<C, T>::write(shared, number, value);
    } else if constexpr (Optional<T>) {
      if (value) write_one_coded<C>(shared, number, *value);
    } else {
      write_one_coded<C>(shared, number, value);
    }
  });
}

// --- lists, arrays and sets

namespace detail {

template <Coding C, class T>
[[nodiscard]] bool read_row_of(Message& message, std::size_t& filled, std::vector<T>& values) {
  const auto room = [&](std::size_t count) {
    if (!message.reader().charge(count, kSizeOfNew<T>)) {
      return false;
    }
    if (filled + count > values.size()) values.resize(filled + count);
    return true;
  };
  return read_numbers_coded<C, T>(message, filled, room, [&](T value) {
    values[filled] = value;
    return true;
  });
}

/// Elements that an array has no place for are read and counted.
template <Coding C, class T, std::size_t N>
[[nodiscard]] bool read_row_of(Message& message, std::size_t& filled, std::array<T, N>& values) {
  const auto room = [](std::size_t /*count*/) { return true; };
  return read_numbers_coded<C, T>(message, filled, room, [&](T value) {
    if (filled < N) values[filled] = value;
    return true;
  });
}

template <Coding C, class K>
[[nodiscard]] bool read_row_of(Message& message, Refilled<std::set<K>>& filled, std::set<K>& values) {
  const auto room = [](std::size_t /*count*/) { return true; };
  return read_numbers_coded<C, K>(message, filled.count, room, [&](K value) {
    if (!message.reader().charge(1, sizeof(K) + kNodeOverhead)) {
      return false;
    }
    values.insert(values.end(), value);
    return true;
  });
}

}  // namespace detail

template <Coding C, class Filled, class Values>
[[nodiscard]] bool read_row_coded(Message& message, Cursor& cursor, Filled& filled, Values& values) {
  cursor.put_back(message.reader());
  const bool good = detail::read_row_of<C>(message, filled, values);
  cursor.take(message.reader());
  return good;
}

// --- maps

template <Coding CK, Coding CV, class K, class V>
[[nodiscard]] std::size_t size_coded(std::uint32_t number, const std::map<K, V>& values,
                                     const auto&... graph) noexcept {
  std::size_t sum = values.size() * tag_size(number);
  for (const auto& [key, value] : values) {
    const std::size_t entry =
        tag_size(1) + Form<CK, K>::size(key) + tag_size(2) + Form<CV, V>::size(value, graph...);
    sum += varint_size(entry) + entry;
  }
  return sum;
}

template <Coding CK, Coding CV, class K, class V>
void write_coded(BackWriter& writer, std::uint32_t number, const std::map<K, V>& values,
                 const auto&... graph) noexcept {
  BackWriter back = writer;
  for (auto at = values.rbegin(); at != values.rend(); ++at) {
    const std::byte* const end = back.position();
    Form<CV, V>::write(back, at->second, graph...);
    back.varint(tag_of(2, Form<CV, V>::kWire));
    Form<CK, K>::write(back, at->first);
    back.varint(tag_of(1, Form<CK, K>::kWire));
    back.varint(static_cast<std::size_t>(end - back.position()));
    back.varint(tag_of(number, Wire::length));
  }
  writer = back;
}

namespace detail {

/// One entry, its key and value in any order and as often as they like. It is made on the heap, as the
/// entries of a map are, because values may be larger than a stack.
template <Coding CK, Coding CV, class K, class V>
[[nodiscard]] bool read_entry_coded(Reader& reader, std::map<K, V>& values, const auto&... graph) {
  Message entry(reader);
  auto made = new_entry<K, V>(K{});
  bool seen_key = false;
  bool seen_value = false;
  while (entry.next()) {
    if (entry.tag() == tag_of(1, Form<CK, K>::kWire)) {
      if (!Form<CK, K>::read(reader, made.key())) {
        return false;
      }
      seen_key = true;
    } else if (entry.tag() == tag_of(2, Form<CV, V>::kWire)) {
      if constexpr (CV == Coding::own) {
        if (!read_mapped(entry, seen_value, made.mapped(), graph...)) {
          return false;
        }
      } else if (!Form<CV, V>::read(reader, made.mapped())) {
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
  if (!put.inserted) put.position->second = std::move(put.node.mapped());
  return true;
}

}  // namespace detail

template <Coding CK, Coding CV, class K, class V>
[[nodiscard]] bool read_row_coded(Message& message, Cursor& cursor, Refilled<std::map<K, V>>& filled,
                                  std::map<K, V>& values, const auto&... graph) {
  Reader& reader = message.reader();
  cursor.put_back(reader);
  if (!reader.enter()) {
    cursor.take(reader);
    return false;
  }
  const std::uint32_t tag = message.tag();
  bool good = true;
  do {
    good = reader.charge(1, sizeof(std::pair<const K, V>) + kHeapOfNew<V> + kNodeOverhead) &&
           read_bounded(reader, [&] { return detail::read_entry_coded<CK, CV>(reader, values, graph...); });
    if (!good) {
      static_cast<void>(reader.inside(filled.count));
      break;
    }
    ++filled.count;
  } while (message.follows(tag));
  if (good) reader.leave();
  cursor.take(reader);
  return good;
}

}  // namespace mf::codec::archive
