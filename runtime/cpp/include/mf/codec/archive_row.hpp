// R1. Lists, arrays and sets as fields of tier archive.
//
//   read_row(message, filled, value)  one field, or a run of fields, of a container; `filled` counts elements
// Numbers are packed; a reader takes them either way. Everywhere `As` is the coding of an element: that of
// its type, or one of its own (archive_coded.hpp), for which no kernels are there.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "mf/codec/append_new.hpp"
#include "mf/codec/archive_packed.hpp"
#include "mf/codec/archive_single.hpp"
#include "mf/codec/refill.hpp"
#include "mf/codec/tree_walk.hpp"

namespace mf::codec::archive {

namespace detail {

template <class As>
inline constexpr bool kPacked = As::kWire != Wire::length;

/// So many numbers a row of so many bytes has, if it is in order.
template <class T, class As>
[[nodiscard]] std::size_t count_numbers(std::span<const std::byte> bytes) noexcept {
  return As::kWire == Wire::varint ? count_varints(bytes) : bytes.size() / sizeof(T);
}

/// Number by number into whatever `into(index)` gives, up to the end of the reader.
template <class As, class Into>
[[nodiscard]] bool read_numbers(Reader& reader, std::size_t& filled, const Into& into, const auto&... graph) {
  while (reader.left() != 0) {
    if (!As::read(reader, into(filled), graph...)) [[unlikely]] {
      return reader.inside(filled);
    }
    ++filled;
  }
  return true;
}

}  // namespace detail

/// Elements of a vector; those that it held before are read into, so that they keep their memory.
template <class T, class As = Value<T>>
[[nodiscard]] bool read_row(Message& message, std::size_t& filled, std::vector<T>& values,
                            const auto&... graph) {
  Reader& reader = message.reader();
  if (!reader.enter()) [[unlikely]] {
    return false;
  }
  const auto make_room = [&](std::size_t count) {
    if (!reader.charge(count, kSizeOfNew<T>)) [[unlikely]] {
      return false;
    }
    if (filled + count > values.size()) values.resize(filled + count);
    return true;
  };
  if constexpr (detail::kPacked<As>) {
    if (message.tag() % 8 == static_cast<unsigned>(Wire::length)) {
      std::size_t length = 0;
      if (!read_length(reader, length)) [[unlikely]] {
        return false;
      }
      const std::byte* const end = reader.narrow(length);
      if constexpr (Number<T> && std::same_as<As, Value<T>>) {
        const std::byte* const at = reader.peek();
        if (!make_room(count_packed<T>({at, length}))) [[unlikely]] {
          return false;
        }
        T* to = values.data() + filled;
        reader.advance(static_cast<std::size_t>(read_packed(at, at + length, to) - at));
        filled = static_cast<std::size_t>(to - values.data());
      } else if (!make_room(detail::count_numbers<T, As>({reader.peek(), length}))) [[unlikely]] {
        return false;
      }
      // A number that is cut off at the end has no room yet, and is not a number.
      T cut{};
      const auto into = [&](std::size_t i) -> T& { return i < values.size() ? values[i] : cut; };
      if (!detail::read_numbers<As>(reader, filled, into, graph...)) [[unlikely]] {
        return false;
      }
      reader.widen(end);
    } else {
      if (!make_room(1)) [[unlikely]] {
        return false;
      }
      if (!As::read(reader, values[filled], graph...)) [[unlikely]] {
        return reader.inside(filled);
      }
      ++filled;
    }
  } else {
    const std::uint32_t tag = message.tag();
    const std::size_t count = message.run_length();
    const std::size_t full = filled + count;
    if (!reader.charge(count, kSizeOfNew<T>)) [[unlikely]] {
      return false;
    }
    if (full > values.capacity()) values.reserve((std::max)(full, 2 * values.size()));
    do {
      T& value = filled < values.size() ? values[filled] : codec::detail::append_new(values);
      if (!Value<T>::read(reader, value, graph...)) [[unlikely]] {
        return reader.inside(filled);
      }
    } while (++filled != full && message.follows(tag));
  }
  reader.leave();
  return true;
}

/// Of an array; elements that it has no place for are read and counted.
template <class T, std::size_t N, class As = Value<T>>
[[nodiscard]] bool read_row(Message& message, std::size_t& filled, std::array<T, N>& values,
                            const auto&... graph) {
  Reader& reader = message.reader();
  if (!reader.enter()) [[unlikely]] {
    return false;
  }
  std::unique_ptr<T> extra;  // elements may be larger than a stack
  const auto into = [&](std::size_t i) -> T& {
    if constexpr (N != 0) {
      if (i < N) return values[i];
    }
    if (!extra) extra = std::make_unique<T>();
    return *extra;
  };
  if constexpr (detail::kPacked<As>) {
    if (message.tag() % 8 == static_cast<unsigned>(Wire::length)) {
      const auto read_all = [&] {
        if constexpr (Number<T> && std::same_as<As, Value<T>> && N != 0) {
          const std::byte* const at = reader.peek();
          if (filled < N && count_packed<T>({at, reader.left()}) <= N - filled) {
            T* to = values.data() + filled;
            reader.advance(static_cast<std::size_t>(read_packed(at, at + reader.left(), to) - at));
            filled = static_cast<std::size_t>(to - values.data());
          }
        }
        return detail::read_numbers<As>(reader, filled, into, graph...);
      };
      if (!read_bounded(reader, read_all)) [[unlikely]] {
        return false;
      }
      reader.leave();
      return true;
    }
  }
  if (!As::read(reader, into(filled), graph...)) [[unlikely]] {
    return reader.inside(filled);
  }
  ++filled;
  reader.leave();
  return true;
}

/// How far a map or a set has been read into, which may be in several parts.
template <class Tree>
struct Refilled {
  explicit Refilled(Tree& values) noexcept : used(values) {}
  codec::detail::Refill<Tree> used;
  std::size_t count = 0;
};

/// Of a set: elements in any order, each once.
template <class K, class As = Value<K>>
[[nodiscard]] bool read_row(Message& message, Refilled<std::set<K>>& filled, std::set<K>& values) {
  Reader& reader = message.reader();
  if (!reader.enter()) [[unlikely]] {
    return false;
  }
  const auto read_key = [&] {
    auto node = filled.used.take();
    K fresh{};
    K& key = node ? node.value() : fresh;
    if (!As::read(reader, key) || !reader.charge(1, sizeof(K) + kNodeOverhead)) [[unlikely]] {
      return reader.inside(filled.count);
    }
    if (node) [[unlikely]] {
      values.insert(values.end(), std::move(node));
    } else {
      values.insert(values.end(), std::move(fresh));
    }
    ++filled.count;
    return true;
  };
  if constexpr (detail::kPacked<As>) {
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

/// Of lists and arrays.
template <class Values, class As = Value<typename Values::value_type>>
struct RowField {
  using T = typename Values::value_type;
  static std::size_t size(std::uint32_t number, const Values& values, const auto&... graph) noexcept {
    if constexpr (kPacked<As>) {
      if (values.empty()) return 0;
      std::size_t sum = 0;
      if constexpr (Number<T> && std::same_as<As, Value<T>>) {
        sum = packed_size(std::span<const T>(values));
      } else {
        for (const T& value : values) sum += As::size(value, graph...);
      }
      return tag_size(number) + varint_size(sum) + sum;
    } else {
      std::size_t sum = values.size() * tag_size(number);
      for (const T& value : values) sum += Value<T>::size(value, graph...);
      return sum;
    }
  }
  static void write(BackWriter& writer, std::uint32_t number, const Values& values,
                    const auto&... graph) noexcept {
    if constexpr (kPacked<As>) {
      if (values.empty()) return;
      const std::byte* const end = writer.position();
      if constexpr (Number<T> && std::same_as<As, Value<T>>) {
        write_packed(writer, std::span<const T>(values));
      } else {
        for (std::size_t i = values.size(); i-- > 0;) As::write(writer, values[i], graph...);
      }
      writer.varint(static_cast<std::size_t>(end - writer.position()));
      writer.varint(tag_of(number, Wire::length));
    } else {
      BackWriter back = writer;
      for (std::size_t i = values.size(); i-- > 0;) write_one(back, number, values[i], graph...);
      writer = back;
    }
  }
};

/// Of sets.
template <class K, class As = Value<K>>
struct SetField {
  static std::size_t size(std::uint32_t number, const std::set<K>& values) noexcept {
    if (values.empty()) return 0;
    std::size_t sum = 0;
    for (const K& value : codec::detail::in_order(values)) sum += As::size(value);
    return kPacked<As> ? tag_size(number) + varint_size(sum) + sum : values.size() * tag_size(number) + sum;
  }
  static void write(BackWriter& writer, std::uint32_t number, const std::set<K>& values) noexcept {
    if constexpr (kPacked<As>) {
      if (values.empty()) return;
      const std::byte* const end = writer.position();
      for (const K& value : codec::detail::backwards(values)) As::write(writer, value);
      writer.varint(static_cast<std::size_t>(end - writer.position()));
      writer.varint(tag_of(number, Wire::length));
    } else {
      for (const K& value : codec::detail::backwards(values)) write_one(writer, number, value);
    }
  }
};

}  // namespace detail

template <class T>
struct Field<std::vector<T>> : detail::RowField<std::vector<T>> {
  static constexpr bool kRow = true;
};

template <class T, std::size_t N>
struct Field<std::array<T, N>> : detail::RowField<std::array<T, N>> {
  static constexpr bool kRow = true;
};

template <class K>
struct Field<std::set<K>> : detail::SetField<K> {
  static constexpr bool kRow = true;
};

}  // namespace mf::codec::archive
