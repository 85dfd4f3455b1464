#pragma once
// R1. The walk through memcpy and febird; what walk.hpp declares. Containers are in walk_containers.hpp.

#include "codec/described/walk.hpp"
#include "codec/described/walk_archive.hpp"
#include "codec/described/walk_containers.hpp"

namespace mf::described {

template <class Sink>
bool Walk<Sink>::febird(const Link& link) {
  if (link.pair != nullptr && link.pair->rule == Rule::to_optional)
    return into_optional(link, [&](const Link& inner) { return febird(inner); });
  const Type& from = from_.type(link.from);
  if constexpr (!kLooksOnly) {
    if (link.pair == nullptr && from.kind >= Kind::list && from.kind < Kind::enumeration &&
        sink_.takes_febird()) {
      const std::byte* const start = reader_.peek();
      if (!skip(link.from)) return false;
      sink_.febird({start, static_cast<std::size_t>(reader_.peek() - start)});
      return true;
    }
  }
  switch (from.kind) {
    case Kind::uuid:
    case Kind::string:
    case Kind::bytes: {
      std::span<const std::byte> bytes;
      return octets(from, bytes) && put_octets(link, bytes);
    }
    case Kind::list:
      return sequence(link, from);
    case Kind::set:
      return set(link, from);
    case Kind::map:
      return map(link, from);
    case Kind::array:
      return array(link, from);
    case Kind::optional:
      return optional(link, from);
    case Kind::structure:
      return structure(link, from);
    case Kind::alternatives:
      return alternatives(link, from);
    case Kind::ref:
      return reader_.fail(codec::Fault::invalid_reference, "a reference stands outside of a graph");
    default: {
      std::uint64_t bits = 0;
      return number(from, bits) && put_number(link, from, bits);
    }
  }
}

template <class Sink>
bool Walk<Sink>::optional(const Link& link, const Type& from) {
  const std::size_t start = reader_.offset();
  const std::byte* flag = nullptr;
  if (!reader_.take(1, flag)) return false;
  if (*flag > std::byte{1})
    return reader_.fail(codec::Fault::invalid_bool, "a bool is neither 0 nor 1", start);
  const bool present = *flag == std::byte{1};
  if (link.pair != nullptr && link.pair->rule == Rule::from_optional)
    return present ? febird(this->link(link.pair->element)) : absent_becomes(link);
  const Type& to = to_.type(link.to);
  if (!present) {
    sink_.absent(to);
    return true;
  }
  if (!charge(1, from_.type(from.element).memory)) return false;
  auto scope = sink_.open_present(to);
  if (!febird(element_of(link, from, to))) return false;
  sink_.close_present(scope);
  return true;
}

// --- layouts

template <class Sink>
bool Walk<Sink>::check_image(const Type& type, const std::byte* from, std::size_t offset) {
  if (type.all_bits) return true;
  if (type.kind == Kind::structure) {
    for (const Field& field : from_.fields(type))
      if (!check_image(from_.type(field.type), from + field.offset, offset + field.offset))
        return reader_.inside(field.name);
    return true;
  }
  if (type.kind == Kind::array) {
    const Type& element = from_.type(type.element);
    for (std::size_t i = 0; i < type.length; ++i)
      if (!check_image(element, from + i * element.size, offset + i * element.size)) return reader_.inside(i);
    return true;
  }
  return is_valid(from_, type, load_bits(type, from)) || refuse_number(reader_, type, offset);
}

template <class Sink>
bool Walk<Sink>::image(const Link& link, const std::byte* from) {
  if (link.pair != nullptr && link.pair->rule == Rule::to_optional)
    return into_optional(link, [&](const Link& inner) { return image(inner, from); });
  const Type& type = from_.type(link.from);
  switch (type.kind) {
    case Kind::uuid:
      sink_.octets(to_.type(link.to), {from, type.size});
      return true;
    case Kind::array:
      return elements(link, element_of(link, type, to_.type(link.to)), from_.type(type.element), from,
                      type.length);
    case Kind::structure:
      return record_image(link, type, from);
    default:
      return put_number(link, type, load_bits(type, from));
  }
}

template <class Sink>
bool Walk<Sink>::record_image(const Link& link, const Type& from, const std::byte* at) {
  const Type& to = to_.type(link.to);
  const std::span<const Field> fields = from_.fields(from);
  auto scope = sink_.open_record(to);
  for (std::size_t i = 0; i < to.count; ++i) {
    sink_.field(scope, to, i);
    const Field* field = &fields.data()[i];
    Link inner{TypeIndex{}, to_.fields(to)[i].type, nullptr};
    if (link.pair != nullptr) {
      const FieldStep& step = program_->fields[link.pair->first + i];
      if (step.from_field == kNone) {
        if (!put_nothing(step, inner.to)) return false;
        continue;
      }
      field = &fields[step.from_field];
      inner = this->link(step.pair);
    } else {
      inner.from = field->type;
    }
    if (!image(inner, at + field->offset)) return reader_.inside(name_of(*field, to, i));
  }
  sink_.close_record(scope);
  return true;
}

/// Values side by side that were looked at.
template <class Sink>
bool Walk<Sink>::elements(const Link& container, const Link& element, const Type& of, const std::byte* from,
                          std::size_t count) {
  const Type& to = to_.type(container.to);
  if (is_number(of) && numeric(element)) return put_numbers(container, element, from, count);
  if (element.pair == nullptr && !of.padded && sink_.takes_images(of)) {
    sink_.images(to, from, count);
    return true;
  }
  auto scope = sink_.open_sequence(to, count);
  for (std::size_t i = 0; i < count; ++i) {
    sink_.element(scope, i);
    if (!image(element, from + i * of.size)) return reader_.inside(i);
  }
  sink_.close_sequence(scope);
  return true;
}

// --- structs and unions

template <class Sink>
bool Walk<Sink>::structure(const Link& link, const Type& from) {
  switch (from.tier) {
    case Tier::memcpy: {
      const std::byte* at = nullptr;
      if (!from.implicit && !reader_.enter()) return false;
      if (!take_image(from, at)) return false;
      if (!from.implicit) reader_.leave();
      return record_image(link, from, at);
    }
    case Tier::febird:
      if (!from.implicit && !reader_.enter()) return false;
      if (!fields(link)) return false;
      if (!from.implicit) reader_.leave();
      return true;
    default: {
      std::size_t length = 0;
      if (!reader_.read_count(1, length)) return false;
      const std::byte* const end = reader_.narrow(length);
      if (from.tier == Tier::custom ? !custom(link, length) : !archive(link)) return false;
      reader_.widen(end);
      return true;
    }
  }
}

template <class Sink>
bool Walk<Sink>::fields(const Link& link) {
  const Type& from = from_.type(link.from);
  if (link.pair != nullptr)
    return link.pair->in_order ? fields_in_order(link, from) : fields_out_of_order(link, from);
  const Type& to = to_.type(link.to);
  const std::span<const Field> fields = from_.fields(from);
  const std::span<const Field> made = to_.fields(to);
  auto scope = sink_.open_record(to);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    sink_.field(scope, to, i);
    if (!febird({fields[i].type, made[i].type, nullptr})) return reader_.inside(fields[i].name);
  }
  sink_.close_record(scope);
  return true;
}

template <class Sink>
bool Walk<Sink>::fields_in_order(const Link& link, const Type& from) {
  const Type& to = to_.type(link.to);
  const std::span<const Field> fields = from_.fields(from);
  std::size_t next = 0;
  auto scope = sink_.open_record(to);
  for (std::size_t i = 0; i < to.count; ++i) {
    const FieldStep& step = program_->fields[link.pair->first + i];
    if (step.from_field == kNone) {
      sink_.field(scope, to, i);
      if (!put_nothing(step, to_.fields(to)[i].type)) return reader_.inside(to_.fields(to)[i].name);
      continue;
    }
    for (; next < step.from_field; ++next)
      if (!skip_field(fields[next])) return false;
    sink_.field(scope, to, i);
    if (!febird(this->link(step.pair))) return reader_.inside(name_of(fields[next], to, i));
    ++next;
  }
  for (; next < fields.size(); ++next)
    if (!skip_field(fields[next])) return false;
  sink_.close_record(scope);
  return true;
}

/// All fields are found, and looked at, first; then they are read as the other schema has them.
template <class Sink>
bool Walk<Sink>::fields_out_of_order(const Link& link, const Type& from) {
  const Type& to = to_.type(link.to);
  const std::span<const Field> fields = from_.fields(from);
  constexpr std::size_t kFew = 24;
  std::array<codec::Reader::Place, kFew> few;
  std::vector<codec::Reader::Place> many(fields.size() > kFew ? fields.size() : 0);
  codec::Reader::Place* const places = many.empty() ? few.data() : many.data();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    places[i] = reader_.place();
    if (!skip_field(fields[i])) return false;
  }
  const auto end = reader_.place();
  const bool trusted = std::exchange(trusted_, true);
  auto scope = sink_.open_record(to);
  for (std::size_t i = 0; i < to.count; ++i) {
    const FieldStep& step = program_->fields[link.pair->first + i];
    sink_.field(scope, to, i);
    if (step.from_field == kNone) {
      if (!put_nothing(step, to_.fields(to)[i].type)) return reader_.inside(to_.fields(to)[i].name);
      continue;
    }
    reader_.return_to(places[step.from_field]);
    if (!febird(this->link(step.pair))) return reader_.inside(name_of(fields[step.from_field], to, i));
  }
  sink_.close_record(scope);
  reader_.return_to(end);
  trusted_ = trusted;
  return true;
}

template <class Sink>
bool Walk<Sink>::alternatives(const Link& link, const Type& from) {
  if (from.tier != Tier::febird) return structure(link, from);  // in bytes of its own
  const std::size_t start = reader_.offset();
  std::uint32_t number = 0;
  if (!reader_.enter() || !codec::read_varint(reader_, number)) return false;
  const auto place = find_field(from_, from, number);
  if (!place) {
    return reader_.fail(codec::Fault::unknown_alternative,
                        "a union has an alternative that its type does not know", start);
  }
  const Field& field = from_.fields(from)[*place];
  const Type& to = to_.type(link.to);
  std::size_t made = *place;
  Link inner{field.type, kNoType, nullptr};
  if (link.pair != nullptr) {
    const FieldStep& step = program_->fields[link.pair->first + *place];
    if (step.to_field == kNone) return lacks_alternative(field);
    made = step.to_field;
    inner = this->link(step.pair);
  } else {
    inner.to = to_.fields(to)[made].type;
  }
  auto scope = sink_.open_union(to, made);
  if (!febird(inner)) return reader_.inside(name_of(field, to, made));
  sink_.close_union(scope);
  reader_.leave();
  return true;
}

}  // namespace mf::described
