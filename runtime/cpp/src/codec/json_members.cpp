#include "mf/codec/json_members.hpp"

#include <algorithm>

#include "codec/json_reader.hpp"

namespace mf {
namespace {

using codec::Fault;
using codec::JsonKind;
using codec::JsonReader;
using codec::JsonStep;

bool pass_value(JsonReader& reader);

/// The members of an object, or the elements of an array. The reader bounds how deep this calls itself.
bool pass_parts(JsonReader& reader, bool named) {
  if (!(named ? reader.open_object() : reader.open_array())) return false;
  for (std::size_t index = 0;; ++index) {
    const auto step = named ? reader.next_member(index) : reader.next_element(index);
    if (step != JsonStep::item) return step == JsonStep::end;
    std::string_view name;
    if (named && (!reader.read_name(name) || !reader.read_colon())) return false;
    if (!pass_value(reader)) return false;
  }
}

bool pass_value(JsonReader& reader) {
  std::string_view text;
  bool value = false;
  switch (reader.kind()) {
    case JsonKind::object:
      return pass_parts(reader, true);
    case JsonKind::array:
      return pass_parts(reader, false);
    case JsonKind::number:
      return reader.read_number(text);
    case JsonKind::boolean:
      return reader.read_bool(value);
    case JsonKind::null:
      return reader.read_null();
    case JsonKind::string:
    case JsonKind::nothing:
      break;
  }
  return reader.read_string(text);
}

bool read_members(JsonReader& reader, std::string_view text, std::size_t most, JsonMembers& members) {
  if (!reader.begin() || !reader.open_object()) return false;
  for (std::size_t index = 0;; ++index) {
    const auto step = reader.next_member(index);
    if (step != JsonStep::item) return step == JsonStep::end && reader.finish();
    if (index == most) return reader.fail(Fault::wrong_length, "an object has too many members");
    std::string_view name;
    if (!reader.read_name(name)) return false;
    std::string kept(name);
    if (std::ranges::any_of(members, [&](const auto& each) { return each.first == kept; }))
      return reader.fail(Fault::json_duplicate_key, "a member is there twice");
    if (!reader.read_colon()) return false;
    static_cast<void>(reader.kind());  // skips blanks
    const auto start = reader.offset();
    if (!pass_value(reader)) return false;
    members.emplace_back(std::move(kept), text.substr(start, reader.offset() - start));
  }
}

}  // namespace

Result<JsonMembers> json_members(std::string_view text, std::size_t most, const codec::Limits& limits) {
  JsonReader reader(text, limits);
  JsonMembers members;
  if (!read_members(reader, text, most, members)) return reader.error();
  return members;
}

}  // namespace mf
