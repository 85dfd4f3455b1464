// R1. Reads single values in JSON that are no integers, enums or flags (json_names.hpp).
#pragma once

#include <string>

#include "codec/json_reader.hpp"
#include "mf/core/types.hpp"

namespace mf::codec {

[[nodiscard]] bool read_json_float(JsonReader& reader, float& value);
[[nodiscard]] bool read_json_float(JsonReader& reader, double& value);
[[nodiscard]] bool read_json_time(JsonReader& reader, Timestamp& value);
[[nodiscard]] bool read_json_time(JsonReader& reader, Duration& value);
[[nodiscard]] bool read_json_uuid(JsonReader& reader, Uuid& value);
[[nodiscard]] bool read_json_text(JsonReader& reader, std::string& value);
[[nodiscard]] bool read_json_bytes(JsonReader& reader, Bytes& value);

}  // namespace mf::codec
