// bitsery 5 (github.com/fraillt/bitsery): fixed widths; each field is listed by hand, and sizes are bounded
// at compile time.
#pragma once

#include <bitsery/adapter/buffer.h>
#include <bitsery/bitsery.h>
#include <bitsery/brief_syntax.h>
#include <bitsery/brief_syntax/array.h>
#include <bitsery/brief_syntax/map.h>
#include <bitsery/brief_syntax/string.h>
#include <bitsery/brief_syntax/vector.h>

#include "memory_stream.hpp"

namespace payload {

template <class S, Described T>
void serialize(S& serializer, T& value) {
  each_field(value, [&](const char* /*name*/, auto& field) {
    if constexpr (bench_codecs::OptionalLike<std::remove_cvref_t<decltype(field)>>) {
      bool present = field.has_value();
      serializer(present);
      if (present && !field.has_value()) field.emplace();
      if (!present) field.reset();
      if (present) serializer(*field);
    } else {
      serializer(field);
    }
  });
}

}  // namespace payload

namespace bench_codecs {

template <class T>
struct Adapter {
  using Value = T;
  using Buffer = std::vector<std::uint8_t>;
  static void make(const T& value, T& made) { made = value; }
  static bool same(const T& back, const T& value) { return back == value; }

  std::span<const std::byte> write(const T& value) {
    const auto size = bitsery::quickSerialization<bitsery::OutputBufferAdapter<Buffer>>(buffer, value);
    return std::as_bytes(std::span(buffer.data(), size));
  }
  static bool read(std::span<const std::byte> bytes, T& value) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    const auto [error, done] = bitsery::quickDeserialization(
        bitsery::InputBufferAdapter<const std::uint8_t*>(data, bytes.size()), value);
    return error == bitsery::ReaderError::NoError && done;
  }

  Buffer buffer;
};

}  // namespace bench_codecs
