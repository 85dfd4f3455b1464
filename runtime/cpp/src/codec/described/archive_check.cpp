#include "codec/described/archive_check.hpp"

#include <algorithm>

#include "codec/described/walk_values.hpp"
#include "mf/codec/archive_packed.hpp"
#include "mf/codec/archive_value.hpp"

namespace mf::described {

using codec::Fault;
using codec::Reader;
using codec::archive::Elements;
using codec::archive::KnownField;
using codec::archive::KnownFields;
using codec::archive::Message;
using codec::archive::read_bounded;
using codec::archive::read_length;
using codec::archive::read_number;
using codec::archive::Wire;

Wire wire_of(const Type& type) noexcept {
  if (type.kind == Kind::ref) return Wire::varint;
  if (!is_number(type)) return Wire::length;
  if (type.coding == Coding::fixed) return type.size == 4 ? Wire::fixed32 : Wire::fixed64;
  if (type.kind == Kind::f32) return Wire::fixed32;
  return type.kind == Kind::f64 || type.kind == Kind::timestamp ? Wire::fixed64 : Wire::varint;
}

bool is_message(const Type& type) noexcept {
  return is_row(type) || type.kind == Kind::optional || type.tier == Tier::archive;
}

namespace {

/// Whose tag it is: an optional's is that of what it holds.
const Type& behind_tag(const Schema& schema, const Type& type) noexcept {
  return type.kind == Kind::optional ? schema.type(type.element) : type;
}

bool refuse_reference(Reader& reader, std::size_t start) {
  return reader.fail(Fault::invalid_reference, "a reference names no object of its table", start);
}

}  // namespace

bool takes_wire(const Schema& schema, const Type& type, std::uint32_t wire) noexcept {
  if (type.kind == Kind::map) return wire == raw(Wire::length);
  if (is_row(type)) return wire == raw(Wire::length) || wire == raw(wire_of(schema.type(type.element)));
  return wire == raw(wire_of(behind_tag(schema, type)));
}

bool unfold(const Type& type, std::uint64_t number, std::uint64_t& bits) noexcept {
  bits = number;
  if (type.kind == Kind::boolean) return number <= 1;
  const unsigned width = 8U * type.size;
  if (is_zigzag(type)) {
    bits = static_cast<std::uint64_t>(codec::unzigzag(number));
    return width == 64 || number >> width == 0;
  }
  if (width == 64) return true;
  if (!is_signed(type)) return number >> width == 0;
  const auto value = static_cast<std::int64_t>(number);
  return value >= -(std::int64_t{1} << (width - 1U)) && value < std::int64_t{1} << (width - 1U);
}

bool ArchiveCheck::whole(Reader& reader, TypeIndex type) {
  return schema_.type(type).linked ? graph(reader, type) : body(reader, type);
}

// --- graphs: objects are counted first, since they may be referred to before they come

bool ArchiveCheck::graph(Reader& reader, TypeIndex root) {
  tables_ = graph_tables(schema_, root);
  counts_.assign(tables_.types.size(), 0);
  const auto place = reader.place();
  if (!count_objects(reader)) return false;
  if (counts_.front() == 0) return reader.fail(Fault::invalid_reference, "a graph has no root");
  reader.return_to(place);
  for (std::size_t i = 0; i < counts_.size(); ++i)
    if (!reader.charge(counts_[i], schema_.type(tables_.types[i]).memory)) return false;
  return objects(reader);
}

bool ArchiveCheck::count_objects(Reader& reader) {
  std::vector<KnownField> known;  // without names: a table has no place in paths, only its objects
  for (std::size_t i = 0; i < counts_.size(); ++i) known.push_back({static_cast<std::uint32_t>(i + 1), ""});
  Message message(reader);
  for (;;) {
    const std::size_t start = reader.offset();
    if (!message.next()) break;
    const std::uint32_t number = message.tag() >> 3U;
    if (number > counts_.size() || (message.tag() & 7U) != raw(Wire::length)) {
      if (!message.skip(known) || !reader.charge(reader.offset() - start, 1)) return false;
      continue;
    }
    std::size_t length = 0;
    if (!read_length(reader, length)) return false;
    reader.advance(length);
    ++counts_[number - 1];
  }
  return !reader.failed();
}

bool ArchiveCheck::objects(Reader& reader) {
  std::vector<std::size_t> filled(counts_.size());
  const auto outer = notes_.open();
  Message message(reader);
  while (message.next()) {
    const std::uint32_t number = message.tag() >> 3U;
    if (number > counts_.size()) {
      if (!message.skip({})) return false;
      continue;
    }
    if (!value(reader, tables_.types[number - 1], number - 1)) {
      reader.inside(filled[number - 1]);
      return reader.inside(tables_.names[number - 1]);
    }
    ++filled[number - 1];
  }
  if (reader.failed()) return false;
  notes_.close(outer);
  return true;
}

bool ArchiveCheck::body(Reader& reader, TypeIndex index) {
  const Type& type = schema_.type(index);
  if (is_row(type) || type.kind == Kind::optional) return around(reader, type);
  return type.kind == Kind::alternatives ? alternatives(reader, index) : record(reader, index);
}

KnownFields ArchiveCheck::known(TypeIndex index) {
  const auto [place, added] = known_.try_emplace(index);
  if (added) {
    const Type& type = schema_.type(index);
    for (const Field& field : schema_.fields(type)) {
      const Type& held = schema_.type(field.type);
      Elements elements = Elements::none;
      if (type.kind == Kind::structure && is_row(held)) {
        const Wire wire = held.kind == Kind::map ? Wire::length : wire_of(schema_.type(held.element));
        elements = wire == Wire::length    ? Elements::tagged
                   : wire == Wire::varint  ? Elements::varint
                   : wire == Wire::fixed32 ? Elements::fixed32
                                           : Elements::fixed64;
      }
      place->second.push_back({field.number, field.name, elements});
    }
  }
  return place->second;
}

bool ArchiveCheck::record(Reader& reader, TypeIndex index) {
  const Type& type = schema_.type(index);
  const auto fields = schema_.fields(type);
  std::vector<std::size_t> filled(type.count);
  if (!reader.enter()) return false;
  const auto outer = notes_.open();
  Message message(reader);
  for (;;) {
    const std::size_t start = reader.offset();
    if (!message.next()) break;
    const auto place = find_field(schema_, type, message.tag() >> 3U);
    if (!place || !takes_wire(schema_, schema_.type(fields[*place].type), message.tag() & 7U)) {
      if (!message.skip(known(index)) || !reader.charge(reader.offset() - start, 1)) return false;
      continue;
    }
    const Field& field = fields[*place];
    const Type& held = schema_.type(field.type);
    const auto at = static_cast<std::uint32_t>(*place);
    const bool again = filled[at] != 0;
    const bool good = is_row(held)                  ? row(message, filled[at], held, at)
                      : held.kind == Kind::optional ? single_of_optional(message, again, held, at)
                                                    : single(message, again, field.type, at);
    if (!good) return reader.inside(field.name);
    if (!is_row(held)) filled[at] = 1;
  }
  if (reader.failed() || !complete(message, type, filled)) return false;
  notes_.close(outer);
  reader.leave();
  return true;
}

bool ArchiveCheck::complete(Message& message, const Type& type, const std::vector<std::size_t>& filled) {
  const auto fields = schema_.fields(type);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Type& held = schema_.type(fields[i].type);
    if (filled[i] == 0 && fields[i].default_json) continue;
    if (held.kind == Kind::array) {
      if (!message.has_length(held.length, filled[i], fields[i].name)) return false;
    } else if (filled[i] == 0 && !is_row(held) && held.kind != Kind::optional) {
      return message.missing(fields[i].name);
    }
  }
  return true;
}

bool ArchiveCheck::alternatives(Reader& reader, TypeIndex index) {
  const Type& type = schema_.type(index);
  const auto fields = schema_.fields(type);
  std::uint32_t held = 0;
  if (!reader.enter()) return false;
  const auto outer = notes_.open();
  Message message(reader);
  while (message.next()) {
    const std::uint32_t number = message.tag() >> 3U;
    const auto place = find_field(schema_, type, number);
    // A container is in a message here, of one form.
    if (!place || (message.tag() & 7U) != raw(wire_of(schema_.type(fields[*place].type)))) {
      if (!message.skip(known(index))) return false;
      continue;
    }
    const Type& of = schema_.type(fields[*place].type);
    const auto at = static_cast<std::uint32_t>(*place);
    if (held != number) {
      notes_.start_anew();
      if (is_message(of)) message.start_anew(known(index));
    }
    const bool good = single(message, held == number, fields[at].type, at);
    if (!good) return reader.inside(fields[*place].name);
    held = number;
  }
  if (reader.failed() || (held == 0 && !message.no_alternative())) return false;
  notes_.close(outer);
  reader.leave();
  return true;
}

bool ArchiveCheck::around(Reader& reader, const Type& type) {
  const auto outer = notes_.open();
  Message message(reader);
  std::size_t filled = 0;
  bool seen = false;
  const bool optional = type.kind == Kind::optional;
  while (message.next()) {
    if (message.tag() >> 3U != 1 || !takes_wire(schema_, type, message.tag() & 7U)) {
      const bool known = message.tag() >> 3U == 1;
      if (!message.skip({codec::archive::kAround, 1})) {
        const bool element = known && reader.error().fault == Fault::wrong_wire_type && !optional;
        return element && reader.inside(filled);
      }
      continue;
    }
    if (!(optional ? single_of_optional(message, seen, type, 0) : row(message, filled, type, 0)))
      return false;
    seen = true;
  }
  if (reader.failed() || (type.kind == Kind::array && !message.has_length(type.length, filled))) return false;
  notes_.close(outer);
  return true;
}

// --- single values

bool ArchiveCheck::value(Reader& reader, TypeIndex index, std::uint32_t field) {
  const Type& type = schema_.type(index);
  if (is_message(type)) {
    if (!read_bounded(reader, [&] { return body(reader, index); })) return false;
    notes_.add_message(field);
    return true;
  }
  if (is_number(type)) return number(reader, type, field, false);
  switch (type.kind) {
    case Kind::string:
    case Kind::bytes:
      return text(reader, type, field);
    case Kind::uuid:
      return codec::archive::check_length(reader, type.size) && read_bounded(reader, [&] {
               const std::byte* from = nullptr;
               if (!reader.take(type.size, from)) return false;
               notes_.add_bytes(field, {from, type.size});
               return true;
             });
    case Kind::ref:
      return reference(reader, type, field, false);
    default:
      return other_tier(reader, index, field);
  }
}

bool ArchiveCheck::number(Reader& reader, const Type& type, std::uint32_t field, bool row) {
  const std::size_t start = reader.offset();
  std::uint64_t bits = 0;
  if (wire_of(type) != Wire::varint) {
    const std::byte* from = nullptr;
    if (!reader.take(type.size, from)) return false;
    bits = load_bits(type, from);
  } else {
    std::uint64_t read = 0;
    if (!read_number(reader, read)) return false;
    if (!unfold(type, read, bits)) {
      return type.kind == Kind::boolean ? refuse_number(reader, type, start)
                                        : codec::archive::detail::refuse_range(reader, start);
    }
    if (!is_valid(schema_, type, bits)) return refuse_number(reader, type, start);
  }
  store_bits(type, notes_.add_numbers(field, type.size, row), bits);
  return true;
}

bool ArchiveCheck::reference(Reader& reader, const Type& type, std::uint32_t field, bool row) {
  const std::size_t start = reader.offset();
  std::uint64_t index = 0;
  if (!read_number(reader, index)) return false;
  if (index > UINT32_MAX) return codec::archive::detail::refuse_range(reader, start);
  if (index >= counts_[tables_.place_of(type.element)]) return refuse_reference(reader, start);
  std::memcpy(notes_.add_numbers(field, sizeof(index), row), &index, sizeof(index));
  return true;
}

bool ArchiveCheck::text(Reader& reader, const Type& type, std::uint32_t field) {
  std::size_t length = 0;
  if (!read_length(reader, length) || !reader.charge(length, 1)) return false;
  const std::string_view text(reinterpret_cast<const char*>(reader.peek()), length);
  notes_.add_bytes(field, {reader.peek(), length});
  reader.advance(length);
  return type.kind == Kind::bytes ||
         codec::is_ascii(reinterpret_cast<const std::byte*>(text.data()), length) ||
         codec::detail::check_utf8(reader, text);
}

bool ArchiveCheck::other_tier(Reader& reader, TypeIndex index, std::uint32_t field) {
  const Type& type = schema_.type(index);
  if (type.fixed && type.tier != Tier::custom && !codec::archive::check_length(reader, type.size))
    return false;
  return read_bounded(reader, [&] {
    notes_.add_bytes(field, {reader.peek(), reader.left()});
    if (type.tier == Tier::custom) {
      const std::byte* from = nullptr;
      return reader.charge(reader.left(), 1) && reader.take(reader.left(), from);
    }
    Nothing nothing;
    Walk<Nothing> walk(schema_, schema_, nullptr, reader, nothing, scratches_);
    return walk.febird({index, index, nullptr});
  });
}

bool ArchiveCheck::merged(Message& message, bool again, TypeIndex type, std::uint32_t field) {
  Reader& reader = message.reader();
  const auto place = reader.place();
  const auto outer = notes_.outer();
  if (!again && !reader.joined() && value(reader, type, field)) return true;
  notes_.forget(outer);
  const std::size_t messages = notes_.messages();
  std::vector<std::byte> joined;
  const auto read = [&](Reader& whole) {
    if (body(whole, type)) return true;
    notes_.forget(outer);
    return false;
  };
  if (!message.merge(place, again, read, &joined)) return false;
  if (!joined.empty()) notes_.keep(std::move(joined));
  if (notes_.messages() != messages) notes_.add_message(field);  // else it was read with the first part
  return true;
}

bool ArchiveCheck::single_of_optional(Message& message, bool again, const Type& optional,
                                      std::uint32_t field) {
  return message.reader().charge(1, schema_.type(optional.element).memory) &&
         single(message, again, optional.element, field);
}

bool ArchiveCheck::single(Message& message, bool again, TypeIndex index, std::uint32_t field) {
  // The notes have all values of a field that is sent again and again, though the last one counts alone.
  if (again && !message.reader().charge(1, sizeof(Part))) return false;
  return is_message(schema_.type(index)) ? merged(message, again, index, field)
                                         : value(message.reader(), index, field);
}

/// Checks a key or value that is not there: it is zero, or an empty message.
bool ArchiveCheck::zero(Reader& reader, TypeIndex index, std::uint32_t field) {
  const Type& type = schema_.type(index);
  if (is_message(type)) {
    if (!body(reader, index)) return false;
    notes_.add_message(field);
    return true;
  }
  if (type.kind == Kind::ref)
    return counts_[tables_.place_of(type.element)] != 0 || refuse_reference(reader, reader.offset());
  if (type.kind == Kind::enumeration && !is_valid(schema_, type, 0))
    return refuse_number(reader, type, reader.offset());
  return true;
}

}  // namespace mf::described
