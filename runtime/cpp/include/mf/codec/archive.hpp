// R1. Tier archive: numbered fields, defaults, unknown fields kept, graphs of objects; valid proto2
// (docs/protocol.md section 8, docs/proto.md).
//
// Archive<T> is the codec of one struct, union or graph:
//   size(value)             bytes of its message
//   write(writer, value)    from back to front: what size() said is there
//   read(reader, value)     all that the reader has left; false: reader.error() says what and where
// Generated code specialises it. In tier febird such a value follows its length.
#pragma once

#include "mf/codec/archive_field.hpp"
#include "mf/codec/archive_graph.hpp"

namespace mf::codec {

/// Febird<T> of such a type: no part of a graph that the febird value may lie in.
template <class T>
struct ArchiveInFebird {
  static constexpr std::size_t kMinSize = 1;
  static constexpr bool kRaw = false;
  static std::size_t size(const T& value) noexcept {
    const UnknownScope scope(0);
    const std::size_t size = Archive<T>::size(value);
    return varint_size(size) + size;
  }
  static void write(Writer& writer, const T& value) noexcept {
    const UnknownScope scope(0);
    const std::size_t size = Archive<T>::size(value);
    write_varint(writer, size);
    BackWriter back(writer.skip(size) + size);
    Archive<T>::write(back, value);
  }
  [[nodiscard]] static bool read(Reader& reader, T& value) {
    std::size_t length = 0;
    if (!reader.read_count(1, length)) [[unlikely]] {
      return false;
    }
    const UnknownScope scope(0);
    const std::byte* const end = reader.narrow(length);
    if (!Archive<T>::read(reader, value)) [[unlikely]] {
      return false;
    }
    reader.widen(end);
    return true;
  }
};

template <class T>
struct Febird<Graph<T>> : ArchiveInFebird<Graph<T>> {};

}  // namespace mf::codec
