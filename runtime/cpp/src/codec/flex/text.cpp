// Values as texts, for errors and logs.
#include <array>
#include <charconv>
#include <cstdio>
#include <ostream>
#include <string>

#include "mf/codec/flex/tags.hpp"
#include "mf/codec/flex/value.hpp"
#include "mf/core/agent.hpp"
#include "mf/core/hex.hpp"
#include "mf/core/text.hpp"

namespace mf::flex {
namespace {

constexpr std::size_t kLongest = 60;  // bytes of a text
constexpr std::size_t kMost = 8;      // elements of a list or map
constexpr unsigned kDeepest = 4;

std::string hex(std::string_view bytes) {
  return to_hex(std::as_bytes(std::span(bytes)));
}

std::string shown(const Uuid& uuid) {
  return "uuid(" + agent_text(uuid) + ")";
}

std::string shown(double number) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  std::string found(text.data(), end);
  // 1e300 and inf are no integers either way
  return found.find_first_of(".ein") == std::string::npos ? found + ".0" : found;
}

std::string cut(std::string_view text) {
  if (text.size() <= kLongest) return quoted(text);
  return quoted(cut_at_character(text, kLongest)) + "… (" + std::to_string(text.size()) + ")";
}

std::string shown(const Array& array) {
  std::string text = "<array " + std::string(name(array.dtype())) + " ";
  for (std::size_t i = 0; i < array.shape().size(); ++i)
    text += (i == 0 ? "" : "x") + std::to_string(array.shape()[i]);
  return text + (array.shape().empty() ? "scalar>" : ">");
}

std::string shown(const Value& value, unsigned depth);

std::string shown(const List& list, unsigned depth) {
  if (list.size() > kMost || depth == kDeepest) return "<list of " + std::to_string(list.size()) + ">";
  std::string text = "[";
  for (const auto& each : list) text += (&each == list.data() ? "" : ", ") + shown(each, depth + 1);
  return text + "]";
}

std::string shown(const Map& map, unsigned depth) {
  if (map.size() > kMost || depth == kDeepest) return "<map of " + std::to_string(map.size()) + ">";
  std::string text = "{";
  for (const auto& entry : map)
    text += (text.size() == 1 ? "" : ", ") + shown(entry.key, depth) + ": " + shown(entry.value, depth + 1);
  return text + "}";
}

std::string shown(const Value& value, unsigned depth) {
  switch (value.kind()) {
    case Kind::none:
      return "none";
    case Kind::boolean:
      return value.to<bool>() ? "true" : "false";
    case Kind::integer:
      break;
    case Kind::f64:
      return shown(value.get<double>());
    case Kind::text:
      return cut(value.get<std::string>());
    case Kind::bytes: {
      const auto& bytes = value.get<Bytes>();
      const auto first = hex(bytes.text().substr(0, kLongest / 2));
      return "bytes(" + first + (bytes.size() > kLongest / 2 ? "…, " + std::to_string(bytes.size()) : "") +
             ")";
    }
    case Kind::timestamp:
      return "timestamp(" + std::to_string(value.get<Timestamp>().time_since_epoch().count()) + ")";
    case Kind::uuid:
      return shown(value.get<Uuid>());
    case Kind::list:
      return shown(value.get<List>(), depth);
    case Kind::map:
      return shown(value.get<Map>(), depth);
    case Kind::array:
      return shown(value.get<Array>());
    case Kind::declared: {
      const auto& typed = value.get<Typed>();
      return "<" + typed.name() + " of " + std::to_string(typed.data().size()) + " bytes>";
    }
  }
  const auto* const number = value.get_if<std::int64_t>();
  return number != nullptr ? std::to_string(*number) : std::to_string(*value.get_if<std::uint64_t>());
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string shown = "'";
  for (const char each : with_marks(text)) {
    if (each == '\'' || each == '\\') shown += '\\';
    shown += each;
  }
  return shown + "'";
}

std::string to_string(const Value& value) {
  return shown(value, 0);
}

std::ostream& operator<<(std::ostream& out, const Value& value) {
  return out << to_string(value);
}

}  // namespace mf::flex
