#include "codec/described/schema_reader.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "codec/described/default_values.hpp"
#include "codec/described/shapes.hpp"
#include "mf/codec/utf8.hpp"

namespace mf::described {
namespace {

std::string_view short_name(std::string_view full) noexcept {
  const std::size_t dot = full.rfind('.');
  return dot == std::string_view::npos ? full : full.substr(dot + 1);
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

}  // namespace

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
      return in_method_ ? in_method(line) : fail("a line is nested under one that takes no such lines");
    case 3:
      return in_method_ && owner_ != kNoType ? field(owner_, line)
                                             : fail("a line is nested under one that takes no such lines");
    default:
      return fail("a line is nested deeper than any line of a descriptor");
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
  schema_.default_values_ = std::make_shared<DefaultValues>(schema_.fields_.size());
  offset_ = 0;
  std::string wrong = reckon_shapes(schema_.types_, schema_.fields_);
  return wrong.empty() || fail(std::move(wrong));
}

}  // namespace mf::described
