// R1. Values of tier custom as JSON: base64 of what their codec makes.
#pragma once

#include <cstddef>
#include <vector>

#include "mf/codec/custom.hpp"
#include "mf/codec/json_value.hpp"

namespace mf::codec {

template <CustomCoded T>
struct Json<T> {
  static void write(JsonWriter& writer, const T& value) {
    std::vector<std::byte> bytes(custom_size(value));
    Custom<T>::Codec::write(bytes, value);
    writer.base64(bytes);
  }
  [[nodiscard]] static bool read(JsonReader& reader, T& value) {
    Bytes bytes;
    return detail::read_json_bytes(reader, bytes) &&
           (Custom<T>::Codec::read(bytes, value) ||
            reader.fail(Fault::custom_codec_failed, "the codec of the type refuses the bytes"));
  }
};

}  // namespace mf::codec
