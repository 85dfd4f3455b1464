// R1. One value in tier archive, as it follows a tag: Value<T> of numbers (archive_number.hpp), text,
// messages and whatever another tier has made.
//
//   kWire                            its wire type
//   size(value)                      its bytes, with its length before it where it has one
//   write(writer, value)             from back to front
//   read(reader, value)              what comes; false: reader.error() says what and where
// Types that refer to objects of a graph take one more argument in all of them: the tables of that graph
// (archive_graph.hpp). Containers and optionals in the place of one value are written inside a message
// (archive_field.hpp).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "mf/codec/archive_message.hpp"
#include "mf/codec/archive_number.hpp"
#include "mf/codec/back_writer.hpp"
#include "mf/codec/custom.hpp"
#include "mf/codec/febird.hpp"
#include "mf/codec/tier.hpp"
#include "mf/codec/utf8.hpp"

namespace mf::codec {

/// Generated code specialises it for the structs and unions of tier archive:
///   kLinked      it holds references, itself or further in
///   size, write, read     of its message, without the length
template <class T>
struct Archive;

template <class T>
concept ArchiveCoded = requires { Archive<T>::kLinked; };

}  // namespace mf::codec

namespace mf::codec::archive {

/// Repeated values of such a type lie one behind the other, without a tag each.
template <class T>
concept Packed = Value<T>::kWire != Wire::length;

// --- text and bytes

/// Reads a length, and as many bytes by a function that has to take all of them.
template <class Read>
[[nodiscard]] bool read_bounded(Reader& reader, const Read& read) {
  std::size_t length = 0;
  if (!read_length(reader, length)) [[unlikely]] {
    return false;
  }
  const std::byte* const end = reader.narrow(length);
  if (!read() || !reader.finish()) [[unlikely]] {
    return false;
  }
  reader.widen(end);
  return true;
}

template <>
struct Value<std::string> {
  static constexpr Wire kWire = Wire::length;
  static std::size_t size(const std::string& value) noexcept {
    return varint_size(value.size()) + value.size();
  }
  static void write(BackWriter& writer, const std::string& value) noexcept {
    writer.text(value.data(), value.size());
    writer.varint(value.size());
  }
  [[nodiscard]] static bool read(Reader& reader, std::string& value);
};

template <>
struct Value<Bytes> {
  static constexpr Wire kWire = Wire::length;
  static std::size_t size(const Bytes& value) noexcept { return varint_size(value.size()) + value.size(); }
  static void write(BackWriter& writer, const Bytes& value) noexcept {
    writer.bytes(value.data(), value.size());
    writer.varint(value.size());
  }
  [[nodiscard]] static bool read(Reader& reader, Bytes& value);
};

template <>
struct Value<Uuid> {
  static constexpr Wire kWire = Wire::length;
  static std::size_t size(const Uuid& /*value*/) noexcept { return 1 + sizeof(Uuid); }
  static void write(BackWriter& writer, const Uuid& value) noexcept {
    writer.fixed(value);
    writer.varint(sizeof(Uuid));
  }
  [[nodiscard]] static bool read(Reader& reader, Uuid& value);
};

// --- messages, and values of other tiers

/// A message refers to a graph only if its type holds references.
template <ArchiveCoded T>
struct Value<T> {
  static constexpr Wire kWire = Wire::length;

  static std::size_t body_size(const T& value, const auto&... graph) noexcept {
    if constexpr (Archive<T>::kLinked) {
      return Archive<T>::size(value, graph...);
    } else {
      return Archive<T>::size(value);
    }
  }
  static std::size_t size(const T& value, const auto&... graph) noexcept {
    const std::size_t size = body_size(value, graph...);
    return varint_size(size) + size;
  }
  static void write(BackWriter& writer, const T& value, const auto&... graph) noexcept {
    const std::byte* const end = writer.position();
    if constexpr (Archive<T>::kLinked) {
      Archive<T>::write(writer, value, graph...);
    } else {
      Archive<T>::write(writer, value);
    }
    writer.varint(static_cast<std::size_t>(end - writer.position()));
  }
  /// All that the reader has left.
  [[nodiscard]] static bool read_body(Reader& reader, T& value, const auto&... graph) {
    if constexpr (Archive<T>::kLinked) {
      return Archive<T>::read(reader, value, graph...);
    } else {
      return Archive<T>::read(reader, value);
    }
  }
  [[nodiscard]] static bool read(Reader& reader, T& value, const auto&... graph) {
    return read_bounded(reader, [&] { return read_body(reader, value, graph...); });
  }
};

/// Tier custom: what the user's codec makes.
template <CustomCoded T>
struct Value<T> {
  static constexpr Wire kWire = Wire::length;
  static std::size_t size(const T& value) noexcept {
    const std::size_t size = custom_size(value);
    return varint_size(size) + size;
  }
  static void write(BackWriter& writer, const T& value) noexcept {
    const std::size_t size = custom_size(value);
    custom_write(writer.skip(size), size, value);
    writer.varint(size);
  }
  [[nodiscard]] static bool read(Reader& reader, T& value) {
    return read_bounded(reader, [&] { return custom_read(reader, value); });
  }
};

/// A struct, error or union of tier memcpy or febird: the bytes of its own tier.
template <class T>
concept Foreign = std::is_class_v<T> && kPlannedTier<T> != Tier{} && !ArchiveCoded<T> && !CustomCoded<T>;

[[nodiscard]] bool check_length(Reader& reader, std::size_t wanted);

template <Foreign T>
struct Value<T> {
  static constexpr Wire kWire = Wire::length;
  static std::size_t size(const T& value) noexcept {
    const std::size_t size = Febird<T>::size(value);
    return varint_size(size) + size;
  }
  static void write(BackWriter& writer, const T& value) noexcept {
    const std::size_t size = Febird<T>::size(value);
    const GatherScope in_one_piece(size);
    Writer forward(writer.skip(size));
    Febird<T>::write(forward, value);
    writer.varint(size);
  }
  [[nodiscard]] static bool read(Reader& reader, T& value) {
    if constexpr (FixedLayout<T>) {
      if (!check_length(reader, Memcpy<T>::kSize)) [[unlikely]] {
        return false;
      }
    }
    return read_bounded(reader, [&] { return Febird<T>::read(reader, value); });
  }
};

}  // namespace mf::codec::archive
