#include "codec/described/alike.hpp"

namespace mf::described {
namespace {

/// Of pairs that hold each other, a peer decides how many there are.
constexpr unsigned kDeepest = 32;

}  // namespace

bool Alike::look(PairIndex index, unsigned depth) {
  const Pair& pair = program_.pairs[index];
  const Type& from = program_.from->type(pair.from);
  const Type& to = program_.to->type(pair.to);
  if (depth > kDeepest) return false;
  switch (pair.rule) {
    case Rule::same:
    case Rule::text:
    case Rule::checked_text:
      return true;
    case Rule::number:
      return encoded_alike(&pair, from, to);
    case Rule::optional:
      return look(pair.element, depth + 1);
    case Rule::sequence:
      return from.kind != Kind::set && has_alike_elements(pair, from, to, depth);
    case Rule::map:
      return has_texts_as_keys(program_, &pair, from) && look(pair.element, depth + 1);
    case Rule::record:
    case Rule::alternatives:
      return is_febird(from) && is_febird(to) && has_alike_fields(index, depth);
    default:
      return false;
  }
}

/// Codes of an array's row must fit its new type, which lists are asked for while they are read.
bool Alike::has_alike_elements(const Pair& pair, const Type& from, const Type& to, unsigned depth) {
  const Type& of = program_.from->type(from.element);
  const Type& made = program_.to->type(to.element);
  if (!is_number(of) && !of.raw) return look(pair.element, depth + 1);
  return encoded_alike(&program_.pairs[pair.element], of, made) && of.all_bits &&
         (from.kind == Kind::list || of.size <= made.size);
}

bool Alike::has_alike_fields(PairIndex index, unsigned depth) {
  const Pair& pair = program_.pairs[index];
  if (known_[index] != Known::nothing) return known_[index] == Known::yes;
  known_[index] = Known::no;  // while it is looked at
  const bool record = pair.rule == Rule::record;
  if (record && program_.from->type(pair.from).count != pair.count) return false;
  for (std::uint32_t i = 0; i < pair.count; ++i) {
    const FieldStep& step = program_.fields[pair.first + i];
    if (record ? step.from_field != i : step.to_field == kNone) return false;
    if (!look(step.pair, depth + 1)) return false;
  }
  known_[index] = Known::yes;
  return true;
}

}  // namespace mf::described
