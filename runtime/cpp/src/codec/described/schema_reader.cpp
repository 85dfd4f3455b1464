#include "codec/described/schema_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <set>
#include <span>
#include <utility>

#include "codec/described/shapes.hpp"
#include "mf/codec/utf8.hpp"

namespace mf::described {
namespace {

constexpr std::size_t kMaxShown = 80;  // of what is quoted

std::string quoted(std::string_view text) {
  return "`" + std::string(text.substr(0, kMaxShown)) + "`";
}

template <class T>
bool read_number(std::string_view text, T& number) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::string_view short_name(std::string_view full) noexcept {
  const std::size_t dot = full.rfind('.');
  return dot == std::string_view::npos ? full : full.substr(dot + 1);
}

std::optional<Kind> scalar(std::string_view word) noexcept {
  for (std::size_t i = 0; i < kScalars; ++i)
    if (to_string(static_cast<Kind>(i)) == word) return static_cast<Kind>(i);
  return std::nullopt;
}

bool is_integer(Kind kind) noexcept {
  return kind >= Kind::u8 && kind <= Kind::i64;
}

std::optional<Tier> tier_of(std::string_view word) noexcept {
  if (word == "memcpy") return Tier::memcpy;
  if (word == "febird") return Tier::febird;
  if (word == "archive") return Tier::archive;
  if (word == "custom") return Tier::custom;
  return std::nullopt;
}

/// Does the number of a member fit the base, and which number is it in two's complement?
bool member_number(Kind base, std::string_view text, std::uint64_t& number) noexcept {
  const unsigned bits = 8U << ((static_cast<unsigned>(base) - static_cast<unsigned>(Kind::u8)) % 4U);
  if (base >= Kind::i8) {
    std::int64_t value = 0;
    if (!read_number(text, value)) return false;
    number = static_cast<std::uint64_t>(value);
    const std::int64_t most = static_cast<std::int64_t>((std::uint64_t{1} << (bits - 1U)) - 1U);
    return value <= most && value >= -most - 1;
  }
  return read_number(text, number) && (bits == 64 || number >> bits == 0);
}

/// Where the comma between a map's key and value stands.
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

std::string_view take_until(std::string_view& text, char separator) noexcept {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

bool Lines::next(Line& line) noexcept {
  if (left_.empty()) return false;
  offset_ = static_cast<std::size_t>(left_.data() - text_.data());
  std::string_view whole = take_until(left_, '\n');
  line.depth = std::min(whole.find_first_not_of(' '), whole.size());
  whole.remove_prefix(line.depth);
  line.word = take_until(whole, ' ');
  line.rest = whole;
  return true;
}

Result<Schema> Schema::read(std::string_view descriptor, std::string_view annex) {
  return SchemaReader().read(descriptor, annex);
}

bool SchemaReader::fail(std::string reason) {
  if (!error_)
    error_ = codec::DecodeError{Code::decode_error, codec::Fault::none, offset_, {}, std::move(reason)};
  return false;
}

Result<Schema> SchemaReader::read(std::string_view descriptor, std::string_view annex) {
  for (const std::string_view text : {descriptor, annex}) {
    if (text.size() > kMaxText) {
      fail("a descriptor or annex is longer than " + std::to_string(kMaxText) + " bytes");
      return std::move(*error_);
    }
    if (codec::valid_utf8_prefix(std::as_bytes(std::span(text))) != text.size()) {
      fail("a descriptor or annex is not UTF-8");
      return std::move(*error_);
    }
  }
  schema_.texts_ = std::make_unique<char[]>(descriptor.size() + annex.size() + 1);
  std::copy_n(descriptor.data(), descriptor.size(), schema_.texts_.get());
  std::copy_n(annex.data(), annex.size(), schema_.texts_.get() + descriptor.size());
  const std::string_view ours(schema_.texts_.get(), descriptor.size());
  const std::string_view beside(schema_.texts_.get() + descriptor.size(), annex.size());

  for (std::size_t i = 0; i < kScalars; ++i) {
    Type type;
    type.kind = static_cast<Kind>(i);
    type.name = type.short_name = to_string(type.kind);
    schema_.types_.push_back(type);
    known_.emplace(type.name, static_cast<TypeIndex>(i));
  }
  const bool good = each_line(ours, &SchemaReader::declare) && each_line(ours, &SchemaReader::content) &&
                    close() && each_line(beside, &SchemaReader::annotate);
  if (!good) return std::move(*error_);
  return std::move(schema_);
}

bool SchemaReader::each_line(std::string_view text, bool (SchemaReader::*take)(const Line&)) {
  Lines lines(text);
  Line line;
  while (lines.next(line)) {
    offset_ = lines.offset();
    if (!(this->*take)(line)) return false;
  }
  return true;
}

// --- the names of types

bool SchemaReader::declare(const Line& line) {
  if (line.depth != 0 || line.word != "type") return true;
  std::string_view head = line.rest;
  const std::string_view name = take_until(head, ' ');
  return declare_type(name, head);
}

bool SchemaReader::declare_type(std::string_view name, std::string_view head) {
  const std::string_view all = head;
  const std::string_view word = take_until(head, ' ');
  const std::string_view second = take_until(head, ' ');
  Type type;
  type.name = name;
  type.short_name = short_name(name);
  if (word == "struct" || word == "error" || word == "union") {
    type.kind = word == "union" ? Kind::alternatives : Kind::structure;
    type.error = word == "error";
    const auto tier = tier_of(second);
    if (!tier || !head.empty() || (word == "union" && tier == Tier::memcpy))
      return fail("type " + quoted(name) + " is of no known tier: " + quoted(all));
    type.tier = *tier;
  } else if (word == "enum" || word == "flags") {
    type.kind = word == "enum" ? Kind::enumeration : Kind::flags;
    const auto base = scalar(second);
    if (!base || !is_integer(*base)) return fail("type " + quoted(name) + " has no integer as its base");
    type.base = *base;
    if (word == "enum" && head != "open" && head != "closed")
      return fail("enum " + quoted(name) + " is neither open nor closed");
    type.open = head == "open";
  } else {
    return fail("type " + quoted(name) + " is of no known kind: " + quoted(all));
  }
  if (name.empty()) return fail("a type has no name");
  if (schema_.declared_.size() == kMaxDeclared)
    return fail("there are more than " + std::to_string(kMaxDeclared) + " types");
  TypeIndex index = 0;
  if (known_.contains(name)) return fail("type " + quoted(name) + " is declared twice");
  if (!add(type, index)) return false;
  schema_.declared_.emplace_back(name, index);
  return true;
}

bool SchemaReader::add(const Type& type, TypeIndex& index) {
  if (schema_.types_.size() == kMaxTypes)
    return fail("there are more than " + std::to_string(kMaxTypes) + " types and expressions of types");
  index = static_cast<TypeIndex>(schema_.types_.size());
  schema_.types_.push_back(type);
  if (!type.implicit) known_.emplace(type.name, index);
  return true;
}

// --- what they hold

bool SchemaReader::content(const Line& line) {
  switch (line.depth) {
    case 0:
      return line.word.empty() || top(line);
    case 1:
      return in_type_ ? (schema_.types_[owner_].kind >= Kind::enumeration ? member(owner_, line)
                                                                          : field(owner_, line))
                      : in_top(line);
    case 2:
      return in_method_ ? in_method(line) : fail("a line stands under nothing that has such lines");
    case 3:
      return in_method_ && owner_ != kNoType ? field(owner_, line)
                                             : fail("a line stands under nothing that has such lines");
    default:
      return fail("a line stands deeper than any line of a descriptor");
  }
}

bool SchemaReader::top(const Line& line) {
  in_method_ = false;
  in_type_ = line.word == "type";
  owner_ = kNoType;
  if (in_type_) {
    std::string_view rest = line.rest;
    owner_ = known_.at(take_until(rest, ' '));
    Type& type = schema_.types_[owner_];
    type.first = static_cast<std::uint32_t>(type.kind >= Kind::enumeration ? schema_.members_.size()
                                                                           : schema_.fields_.size());
    return true;
  }
  if (!schema_.name_.empty()) return fail("a descriptor begins twice");
  schema_.name_ = line.rest;
  if (line.word == "service") {
    schema_.of_ = Schema::Of::service;
  } else if (line.word == "topic") {
    schema_.of_ = Schema::Of::topic;
  } else if (line.word == "value") {
    schema_.of_ = Schema::Of::value;
    return expression(line.rest, 0, schema_.value_);
  } else {
    return fail("a descriptor begins with none of service, topic and value");
  }
  return true;
}

bool SchemaReader::in_top(const Line& line) {
  in_method_ = false;
  owner_ = kNoType;
  if (line.word == "per") {
    schema_.per_ = line.rest;
  } else if (line.word == "value") {
    return expression(line.rest, 0, schema_.value_);
  } else if (line.word == "method") {
    if (schema_.methods_.size() == kMaxDeclared)
      return fail("there are more than " + std::to_string(kMaxDeclared) + " methods");
    schema_.methods_.emplace_back().name = line.rest;
    in_method_ = true;
  } else {
    return fail("a line begins with the unknown word " + quoted(line.word));
  }
  return true;
}

bool SchemaReader::in_method(const Line& line) {
  owner_ = kNoType;
  if (line.word == "oneway") {
    schema_.methods_.back().oneway = true;
  } else if (line.word == "replicated") {
    schema_.methods_.back().replicated = line.rest;
  } else if (line.word == "params") {
    return implicit(&Method::params, line.rest);
  } else if (line.word == "results") {
    return implicit(&Method::results, line.rest);
  } else if (line.word == "params_stream" || line.word == "results_stream") {
    TypeIndex index = kNoType;
    if (!expression(line.rest, 0, index)) return false;
    Method& method = schema_.methods_.back();
    (line.word == "params_stream" ? method.params_stream : method.results_stream) = index;
  } else if (line.word == "throws") {
    const TypeIndex error = schema_.declared_.empty()    ? kNoType
                            : known_.contains(line.rest) ? known_.at(line.rest)
                                                         : kNoType;
    if (error == kNoType || !schema_.types_[error].error)
      return fail("the error " + quoted(line.rest) + " is not declared");
    Method& method = schema_.methods_.back();
    if (method.throw_count == 0) method.first_throw = static_cast<std::uint32_t>(schema_.throws_.size());
    ++method.throw_count;
    schema_.throws_.push_back(error);
  } else {
    return fail("a line begins with the unknown word " + quoted(line.word));
  }
  return true;
}

bool SchemaReader::implicit(TypeIndex Method::* place, std::string_view tier) {
  Type type;
  type.kind = Kind::structure;
  type.implicit = true;
  type.tier = tier_of(tier).value_or(Tier{});
  if (type.tier != Tier::memcpy && type.tier != Tier::febird)
    return fail("the parameters or results of a method are of tier " + quoted(tier));
  type.first = static_cast<std::uint32_t>(schema_.fields_.size());
  if (schema_.methods_.back().*place != kNoType) return fail("a method has such a line twice");
  if (!add(type, owner_)) return false;
  schema_.methods_.back().*place = owner_;
  return true;
}

bool SchemaReader::field(TypeIndex owner, const Line& line) {
  const Type& type = schema_.types_[owner];
  if (type.tier == Tier::custom) return fail("a type of tier custom has fields");
  Field field;
  field.name = line.word;
  std::string_view text = line.rest;
  if (type.tier == Tier::archive || type.kind == Kind::alternatives) {
    const std::string_view number = take_until(text, ':');
    if (!read_number(number, field.number) || field.number == 0 || field.number >= 1U << 29U ||
        !text.starts_with(' '))
      return fail("the field " + quoted(field.name) + " has no number");
    text.remove_prefix(1);
    if (type.count != 0 && schema_.fields_.back().number >= field.number)
      return fail("the numbers of fields do not ascend at " + quoted(field.name));
  }
  if (!expression(text, 0, field.type)) return false;
  schema_.fields_.push_back(field);
  ++schema_.types_[owner].count;
  return true;
}

bool SchemaReader::member(TypeIndex owner, const Line& line) {
  Type& type = schema_.types_[owner];
  Member member;
  member.name = line.word;
  const bool bits = type.kind == Kind::flags;
  if (!(bits ? read_number(line.rest, member.number) && member.number < size_of_scalar(type.base) * 8
             : member_number(type.base, line.rest, member.number)))
    return fail("the number of " + quoted(member.name) + " is none of its type");
  const std::uint64_t turned = !bits && type.base >= Kind::i8 ? std::uint64_t{1} << 63U : 0;
  if (type.count != 0 && (schema_.members_.back().number ^ turned) >= (member.number ^ turned))
    return fail("the numbers of members do not ascend at " + quoted(member.name));
  schema_.members_.push_back(member);
  ++type.count;
  return true;
}

bool SchemaReader::close() {
  if (schema_.name_.empty()) return fail("a descriptor names no service, topic or value");
  if (schema_.of_ != Schema::Of::service && schema_.value_ == kNoType)
    return fail("the descriptor of a topic says nothing of its value");
  std::set<std::string_view> names;
  for (const Method& method : schema_.methods_) {
    if (!names.insert(method.name).second) return fail("method " + quoted(method.name) + " is there twice");
    if (method.params == kNoType) return fail("method " + quoted(method.name) + " has no parameters' line");
    if ((method.results == kNoType) != method.oneway)
      return fail("method " + quoted(method.name) + " has not the results that it should");
  }
  for (const Type& type : schema_.types_) {
    names.clear();
    const bool fields = type.kind == Kind::structure || type.kind == Kind::alternatives;
    if (fields)
      for (const Field& field : schema_.fields(type))
        if (!names.insert(field.name).second)
          return fail("field " + quoted(field.name) + " of " + quoted(type.name) + " is there twice");
    if (type.kind >= Kind::enumeration)
      for (const Member& member : schema_.members(type))
        if (!names.insert(member.name).second)
          return fail("member " + quoted(member.name) + " of " + quoted(type.name) + " is there twice");
    if (type.kind == Kind::ref && schema_.types_[type.element].tier != Tier::archive)
      return fail("a ref leads to something else than a struct or union of tier archive: " +
                  quoted(type.name));
  }
  std::sort(schema_.declared_.begin(), schema_.declared_.end());
  offset_ = 0;
  std::string wrong = reckon_shapes(schema_.types_, schema_.fields_);
  return wrong.empty() || fail(std::move(wrong));
}

// --- expressions of types

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

// --- the annex

bool SchemaReader::annotate(const Line& line) {
  switch (line.depth) {
    case 0:
      in_type_ = line.word == "type";
      field_ = annotated_method_ = 0;
      owner_ = in_type_ ? schema_.declared(line.rest) : kNoType;
      return line.word.empty() || (in_type_ && owner_ != kNoType) ||
             (line.word == "annex" && line.rest == schema_.name_) ||
             fail("an annex tells of " + quoted(line.rest) + ", which the descriptor does not have");
    case 1:
      return annotate_in_top(line);
    case 2:
      if (in_type_) return annotate_field(line);
      return annotate_in_method(line);
    case 3:
      // Under the stream of a method stand constraints only.
      return in_type_ || owner_ == kNoType || find(owner_, line.word);
    case 4:
      return in_type_ || owner_ == kNoType || annotate_field(line);
    default:
      return line.depth <= 2 * std::size_t{kMaxNesting} || fail("an annex is nested too deep");
  }
}

bool SchemaReader::annotate_in_top(const Line& line) {
  if (in_type_) return find(owner_, line.word);
  owner_ = kNoType;
  if (line.word == "replay" || line.word == "overflow") return true;
  const Method* const method = line.word == "method" ? schema_.method(line.rest) : nullptr;
  if (method == nullptr)
    return fail("an annex tells of " + quoted(line.rest) + ", which the descriptor does not have");
  annotated_method_ = 1 + static_cast<std::size_t>(method - schema_.methods_.data());
  return true;
}

bool SchemaReader::annotate_in_method(const Line& line) {
  owner_ = kNoType;
  field_ = 0;
  if (annotated_method_ == 0) return fail("a line stands under nothing that has such lines");
  Method& method = schema_.methods_[annotated_method_ - 1];
  if (line.word == "was") {
    if (method.was_count == 0) method.first_was = static_cast<std::uint32_t>(schema_.was_.size());
    if (method.first_was + method.was_count != schema_.was_.size())
      return fail("earlier names of a method stand apart");
    ++method.was_count;
    schema_.was_.push_back(line.rest);
  } else if (line.word == "params") {
    owner_ = method.params;
  } else if (line.word == "results") {
    owner_ = method.results;
  } else if (line.word != "params_stream" && line.word != "results_stream") {
    return fail("a line begins with the unknown word " + quoted(line.word));
  }
  return true;
}

bool SchemaReader::find(TypeIndex owner, std::string_view name) {
  const Type& type = schema_.types_[owner];
  const bool fields = type.kind == Kind::structure || type.kind == Kind::alternatives;
  const Field* const field = fields ? schema_.field(type, name) : nullptr;
  if (field == nullptr)
    return fail("an annex tells of " + quoted(name) + ", which the descriptor does not have");
  field_ = 1 + static_cast<std::size_t>(field - schema_.fields_.data());
  return true;
}

bool SchemaReader::annotate_field(const Line& line) {
  if (field_ == 0) return fail("a line stands under nothing that has such lines");
  Field& field = schema_.fields_[field_ - 1];
  if (line.word == "was") {
    if (field.was_count == 0) field.first_was = static_cast<std::uint32_t>(schema_.was_.size());
    if (field.first_was + field.was_count != schema_.was_.size())
      return fail("earlier names of a field stand apart");
    ++field.was_count;
    schema_.was_.push_back(line.rest);
  } else if (line.word == "default") {
    field.default_json = line.rest;
  }
  return true;
}

}  // namespace mf::described
