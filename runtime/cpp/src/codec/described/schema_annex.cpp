// The annex: earlier names and defaults of what the descriptor has.
#include "codec/described/schema_reader.hpp"

namespace mf::described {

bool SchemaReader::annotate(const Line& line) {
  switch (line.depth) {
    case 0:
      in_type_ = line.word == "type";
      field_ = annotated_method_ = 0;
      owner_ = in_type_ ? schema_.declared(line.rest) : kNoType;
      return line.word.empty() || (in_type_ && owner_ != kNoType) ||
             (line.word == "annex" && line.rest == schema_.name_) ||
             fail("an annex describes " + quoted(line.rest) + ", which the descriptor does not have");
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
    return fail("an annex describes " + quoted(line.rest) + ", which the descriptor does not have");
  annotated_method_ = 1 + static_cast<std::size_t>(method - schema_.methods_.data());
  return true;
}

bool SchemaReader::annotate_in_method(const Line& line) {
  owner_ = kNoType;
  field_ = 0;
  if (annotated_method_ == 0) return fail("a line is nested under one that takes no such lines");
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
    return fail("an annex describes " + quoted(name) + ", which the descriptor does not have");
  field_ = 1 + static_cast<std::size_t>(field - schema_.fields_.data());
  return true;
}

bool SchemaReader::annotate_field(const Line& line) {
  if (field_ == 0) return fail("a line is nested under one that takes no such lines");
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
