// Expressions of types: list<a.Hit>, map<string,u32>, i32.varint, a.Hit?
#include <string>
#include <utility>

#include "codec/described/schema_reader.hpp"
#include "codec/described/shapes.hpp"

namespace mf::described {
namespace {

/// The position of the comma between a map's key and value.
std::size_t top_level_comma(std::string_view text) noexcept {
  std::size_t open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++open;
    if (text[i] == '>' && open != 0) --open;
    if (text[i] == ',' && open == 0) return i;
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<Kind> scalar(std::string_view word) noexcept {
  for (std::size_t i = 0; i < kScalars; ++i)
    if (to_string(static_cast<Kind>(i)) == word) return static_cast<Kind>(i);
  return std::nullopt;
}

bool SchemaReader::expression(std::string_view text, unsigned nesting, TypeIndex& index) {
  if (const auto known = known_.find(text); known != known_.end()) {
    index = known->second;
    return true;
  }
  if (nesting == kMaxNesting) return fail("an expression of types is nested too deep");
  Type type;
  type.name = type.short_name = text;
  if (text.ends_with('?')) {
    type.kind = Kind::optional;
    text.remove_suffix(1);
    return expression(text, nesting + 1, type.element) && add(type, index);
  }
  return container(text, nesting, type) && add(type, index);
}

bool SchemaReader::coded(std::string_view text, Type& type) {
  std::string_view coding = text;
  const auto kind = scalar(take_until(coding, '.'));
  if (!kind || !is_integer(*kind) || size_of_scalar(*kind) < 4) return false;
  if (coding == "fixed") {
    type.coding = Coding::fixed;
  } else if (coding == "varint" && *kind >= Kind::i8) {
    type.coding = Coding::varint;
  } else {
    return false;
  }
  type.kind = *kind;
  type.short_name = to_string(*kind);
  return true;
}

bool SchemaReader::container(std::string_view text, unsigned nesting, Type& type) {
  if (coded(text, type)) return true;
  std::string_view inside = text;
  const std::string_view word = take_until(inside, '<');
  if (!inside.ends_with('>')) return fail("the type " + quoted(text) + " is not declared");
  inside.remove_suffix(1);
  ++nesting;
  if (word == "list" || word == "ref") {
    type.kind = word == "list" ? Kind::list : Kind::ref;
    return expression(inside, nesting, type.element);
  }
  if (word == "set") {
    type.kind = Kind::set;
    return expression(inside, nesting, type.element) && key(schema_.types_[type.element]);
  }
  const std::size_t comma = top_level_comma(inside);
  if (comma == std::string_view::npos || (word != "map" && word != "array"))
    return fail("the type " + quoted(text) + " is not declared");
  const std::string_view first = inside.substr(0, comma);
  std::string_view second = inside.substr(comma + 1);
  if (second.starts_with(' ')) second.remove_prefix(1);
  if (word == "map") {
    type.kind = Kind::map;
    return expression(first, nesting, type.key) && key(schema_.types_[type.key]) &&
           expression(second, nesting, type.element);
  }
  type.kind = Kind::array;
  if (!read_number(second, type.length) || type.length == 0 || type.length > kMaxSize)
    return fail("an array has no length that it can have: " + quoted(text));
  return expression(first, nesting, type.element);
}

bool SchemaReader::key(const Type& type) {
  const Kind kind = type.kind;
  return kind == Kind::boolean || is_integer(kind) || kind == Kind::uuid || kind == Kind::string ||
         kind == Kind::bytes || kind == Kind::enumeration ||
         fail("a key cannot be of type " + quoted(type.name));
}

}  // namespace mf::described
