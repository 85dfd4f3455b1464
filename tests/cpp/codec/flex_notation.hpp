// Values of flexible messages as tests/vectors/flex/make.py writes them, made into values and back.
#pragma once

#include <boost/json.hpp>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "mf/codec/flex/value.hpp"

namespace mf::flex::testing {

namespace json = boost::json;

inline json::value load_vectors(const std::string& name) {
  std::ifstream file(std::string(MF_SOURCE_DIR "/tests/vectors/flex/") + name);
  std::stringstream text;
  text << file.rdbuf();
  json::parse_options options;
  options.max_depth = 300;
  return json::parse(text.str(), {}, options);
}

inline std::string text_of(const json::value& value) {
  const auto& text = value.as_string();
  return {text.data(), text.size()};
}

inline Bytes bytes_of(const json::value& hex) {
  const auto bytes = codec::from_hex(text_of(hex));
  return Bytes(std::span<const std::byte>(bytes));
}

template <class T>
T image_of(const json::value& hex) {
  const auto bytes = bytes_of(hex);
  T value{};
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

inline Uuid uuid_of(std::string text) {
  std::erase(text, '-');
  return image_of<Uuid>(json::value(text));
}

inline Dtype dtype_of(const std::string& wanted) {
  for (std::uint8_t code = 1; code <= kLastDtype; ++code)
    if (name(static_cast<Dtype>(code)) == wanted) return static_cast<Dtype>(code);
  throw std::invalid_argument(wanted);
}

inline Value value_of(const json::value& written) {
  const auto& [key, content] = *written.as_object().begin();
  const std::string kind(key);
  if (kind == "none") return {};
  if (kind == "bool") return content.as_bool();
  if (kind == "int") {
    const auto text = text_of(content);
    if (text.front() == '-') return std::int64_t{std::stoll(text)};
    return std::uint64_t{std::stoull(text)};
  }
  if (kind == "f64") return image_of<double>(content);
  if (kind == "text") return text_of(content);
  if (kind == "bytes") return bytes_of(content);
  if (kind == "timestamp") return Timestamp(Duration(std::stoll(text_of(content))));
  if (kind == "uuid") return uuid_of(text_of(content));
  if (kind == "list") {
    List list;
    for (const auto& each : content.as_array()) list.push_back(value_of(each));
    return list;
  }
  if (kind == "map") {
    Map map;
    for (const auto& each : content.as_array()) map.set(value_of(each.at(0)), value_of(each.at(1)));
    return map;
  }
  if (kind == "array") {
    Array::Shape shape;
    for (const auto& each : content.at("shape").as_array()) shape.push_back(each.to_number<std::uint64_t>());
    return Array(dtype_of(text_of(content.at("dtype"))), std::move(shape), bytes_of(content.at("data")));
  }
  if (kind == "declared")
    return Typed(text_of(content.at("type")), image_of<Fingerprint>(content.at("fingerprint")),
                 bytes_of(content.at("data")));
  throw std::invalid_argument(kind);
}

}  // namespace mf::flex::testing
