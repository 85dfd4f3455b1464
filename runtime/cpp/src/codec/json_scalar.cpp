#include "codec/json_scalar.hpp"

#include <limits>

#include "mf/codec/json_text.hpp"

namespace mf::codec {
namespace {

using json_text::Found;

template <class T>
bool read_any_float(JsonReader& reader, T& value) {
  std::string_view text;
  bool is_number = false;
  if (!reader.read_name_or_number(text, is_number)) {
    return false;
  }
  if (is_number) {
    return json_text::read_float(text, value) == Found::good ||
           reader.fail(Fault::number_out_of_range, "a number does not fit in its type");
  }
  if (text == "NaN") {
    value = std::numeric_limits<T>::quiet_NaN();
  } else if (text == "Infinity") {
    value = std::numeric_limits<T>::infinity();
  } else if (text == "-Infinity") {
    value = -std::numeric_limits<T>::infinity();
  } else {
    return reader.fail(Fault::json_wrong_type, "a string holds no number");
  }
  return true;
}

bool refuse(JsonReader& reader, Found found, std::string_view reason) {
  switch (found) {
    case Found::good:
      return true;
    case Found::malformed:
      return reader.fail(Fault::json_wrong_type, reason);
    case Found::out_of_range:
      break;
  }
  return reader.fail(Fault::number_out_of_range, "a time does not fit in 64 bits of nanoseconds");
}

}  // namespace

bool read_json_float(JsonReader& reader, float& value) {
  return read_any_float(reader, value);
}
bool read_json_float(JsonReader& reader, double& value) {
  return read_any_float(reader, value);
}

bool read_json_time(JsonReader& reader, Timestamp& value) {
  std::string_view text;
  if (!reader.read_string(text)) {
    return false;
  }
  bool is_number = false;
  if (json_text::scan_number(text, is_number) != text.size() || !is_number) {
    return refuse(reader, json_text::read(text, value), "a timestamp is not as RFC 3339 has it");
  }
  bool negative = false;
  std::uint64_t size = 0;
  const Found found = json_text::read_integer(text, negative, size);
  const std::uint64_t most = (std::uint64_t{1} << 63U) - (negative ? 0 : 1);
  if (found == Found::good && size <= most) {
    value = Timestamp(Duration(static_cast<std::int64_t>(negative ? 0 - size : size)));
    return true;
  }
  return refuse(reader, found == Found::good ? Found::out_of_range : found,
                "the nanoseconds of a timestamp are not whole");
}

bool read_json_time(JsonReader& reader, Duration& value) {
  std::string_view text;
  return reader.read_string(text) &&
         refuse(reader, json_text::read(text, value), "a duration is not like -1.5s");
}

bool read_json_uuid(JsonReader& reader, Uuid& value) {
  std::string_view text;
  return reader.read_string(text) &&
         (json_text::read(text, value) ||
          reader.fail(Fault::json_wrong_type, "a uuid is not 8-4-4-4-12 hexadecimal digits"));
}

bool read_json_text(JsonReader& reader, std::string& value) {
  std::string_view text;
  if (!reader.read_string(text) || !reader.charge(text.size(), 1)) {
    return false;
  }
  value.assign(text);
  return true;
}

bool read_json_bytes(JsonReader& reader, Bytes& value) {
  std::string_view text;
  if (!reader.read_string(text)) {
    return false;
  }
  const std::size_t size = json_text::base64_size(text);
  if (!reader.charge(size, 1)) {
    return false;
  }
  value = Bytes::with_size(size);
  return json_text::read_base64(text, value.mutate()) ||
         reader.fail(Fault::json_wrong_type, "bytes are not base64 with padding");
}

}  // namespace mf::codec
