#pragma once
// R1. The walk through archives; what walk.hpp declares.
//
// Fields of a message may come in any order, in parts, and more than once. So a message is looked at first
// (ArchiveCheck), with every fault that there may be; then the parts of each field are found, and a sink is
// told of them in the order of its own fields. Nothing can be wrong then but misfits.

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "codec/described/archive_check.hpp"
#include "codec/described/graph.hpp"
#include "codec/described/new_value.hpp"
#include "codec/described/walk.hpp"
#include "mf/codec/described/json.hpp"

namespace mf::described {

/// A field that was met: what stands behind its tag, and behind its length.
struct Part {
  std::uint32_t field = 0;  // its place in its type
  codec::archive::Wire wire{};
  std::span<const std::byte> bytes{};
};
using Parts = std::span<const Part>;

/// The parts of a message that was looked at, in the order of their fields, and else as they came. `place_of`
/// gives the place of a field by its tag, or nothing.
template <class PlaceOf>
[[nodiscard]] std::vector<Part> find_parts(std::span<const std::byte> message, const PlaceOf& place_of) {
  using codec::archive::Wire;
  std::vector<Part> parts;
  codec::Reader reader(message);
  bool ascending = true;
  while (reader.left() != 0) {
    const std::size_t start = reader.offset();
    std::uint64_t tag = 0;
    if (!codec::archive::read_number(reader, tag)) break;
    const auto wire = static_cast<Wire>(tag & 7U);
    const std::optional<std::size_t> place = place_of(static_cast<std::uint32_t>(tag));
    std::size_t length = 0;
    if (place && wire == Wire::length && !codec::archive::read_length(reader, length)) break;
    const std::byte* const from = reader.peek();
    if (place && wire == Wire::length) {
      reader.advance(length);
    } else if (!codec::archive::skip_value(reader, static_cast<std::uint32_t>(tag), start)) {
      break;
    }
    if (!place) continue;
    const auto field = static_cast<std::uint32_t>(*place);
    ascending = ascending && (parts.empty() || parts.back().field <= field);
    parts.push_back({field, wire, {from, static_cast<std::size_t>(reader.peek() - from)}});
  }
  if (!ascending) {
    // Of one field, as they came.
    std::sort(parts.begin(), parts.end(), [](const Part& left, const Part& right) {
      return left.field != right.field ? left.field < right.field : left.bytes.data() < right.bytes.data();
    });
  }
  return parts;
}

[[nodiscard]] inline Parts parts_of(const std::vector<Part>& parts, std::size_t field) noexcept {
  const auto [first, last] =
      std::equal_range(parts.begin(), parts.end(), Part{static_cast<std::uint32_t>(field), {}, {}},
                       [](const Part& left, const Part& right) { return left.field < right.field; });
  return {parts.data() + (first - parts.begin()), static_cast<std::size_t>(last - first)};
}

/// Were no value, or, of an array, no elements sent? A packed row may be there and hold none.
[[nodiscard]] inline bool is_missing(const Schema& schema, const Type& type, Parts parts) noexcept {
  const auto empty = [](const Part& part) {
    return part.wire == codec::archive::Wire::length && part.bytes.empty();
  };
  return parts.empty() || (type.kind == Kind::array && is_number(schema.type(type.element)) &&
                           std::all_of(parts.begin(), parts.end(), empty));
}

/// The parts of a message as one; `joined` holds it if there are several.
[[nodiscard]] inline std::span<const std::byte> join(Parts parts, std::vector<std::byte>& joined) {
  if (parts.empty()) return {};
  if (parts.size() == 1) return parts.front().bytes;
  for (const Part& part : parts) joined.insert(joined.end(), part.bytes.begin(), part.bytes.end());
  return joined;
}

template <class Sink>
bool Walk<Sink>::archive(const Link& link) {
  const std::span<const std::byte> message(reader_.peek(), reader_.left());
  if (trusted_) {
    reader_.advance(message.size());
  } else if (!ArchiveCheck(from_, scratches_).whole(reader_, link.from)) {
    return false;
  }
  if constexpr (std::is_same_v<Sink, Nothing>) {
    return true;
  } else {
    return from_.type(link.from).linked ? archive_graph(link, message) : archive_body(link, message);
  }
}

/// Objects are met from the root on, and then told of table by table.
template <class Sink>
bool Walk<Sink>::archive_graph(const Link& link, std::span<const std::byte> message) {
  GraphNumbering graph(from_, to_, link);
  const auto parts = find_parts(message, [&](std::uint32_t tag) -> std::optional<std::size_t> {
    const std::size_t number = tag >> 3U;
    return number <= graph.from().types.size() ? std::optional(number - 1) : std::nullopt;
  });
  for (const Part& part : parts) graph.add(part.field, part.bytes);
  graph.meet(link, 0);
  Collector collector;
  Walk<Collector> meeting(from_, to_, program_, reader_, collector, scratches_);
  meeting.trust();
  meeting.graph_ = &graph;
  GraphNumbering::Object object;
  bool good = true;
  const auto meet_all = [&] {
    while (good && graph.next(object)) good = meeting.archive_body(object.link, object.bytes);
  };
  meet_all();
  if (good) meeting.meet_all_of(link);
  meet_all();
  if (!good) {
    misfit_ = misfit_ || meeting.misfit();
    return false;
  }
  GraphNumbering* const outer = std::exchange(graph_, &graph);
  auto scope = sink_.open_graph(to_.type(link.to));
  for (std::size_t table = 0; table < graph.to().types.size(); ++table) {
    sink_.open_table(scope, table, graph.to().names[table]);
    std::size_t index = 0;
    for (const auto& each : graph.objects(table)) {
      sink_.object(scope);
      if (!archive_body(each.link, each.bytes)) {
        reader_.inside(index);
        return reader_.inside(graph.to().names[table]);
      }
      ++index;
    }
    sink_.close_table(scope);
  }
  sink_.close_graph(scope);
  graph_ = outer;
  return true;
}

/// Objects of each type that the graph may refer to, which nobody refers to.
template <class Sink>
void Walk<Sink>::meet_all_of(const Link& root) {
  std::set<std::pair<TypeIndex, TypeIndex>> seen;
  std::map<std::size_t, Link> tables;  // by their place
  std::vector<Link> pending{root};
  tables.emplace(0, root);
  while (!pending.empty()) {
    const Link link = pending.back();
    pending.pop_back();
    if (!seen.emplace(link.from, link.to).second) continue;
    const Type& from = from_.type(link.from);
    const Type& to = to_.type(link.to);
    if (!from.linked) continue;
    if (from.kind == Kind::ref)
      tables.emplace(graph_->from().place_of(from.element), element_of(link, from, to));
    if (from.element != kNoType || (link.pair != nullptr && link.pair->rule == Rule::to_optional)) {
      pending.push_back(element_of(link, from, to));
    } else if (from.kind == Kind::structure || from.kind == Kind::alternatives) {
      for (std::size_t i = 0; i < from.count; ++i) {
        if (link.pair == nullptr)
          pending.push_back({from_.fields(from)[i].type, to_.fields(to)[i].type, nullptr});
      }
      if (link.pair != nullptr) {
        for (std::size_t i = 0; i < link.pair->count; ++i) {
          const FieldStep& step = program_->fields[link.pair->first + i];
          if (step.pair != kNone) pending.push_back(this->link(step.pair));
        }
      }
    }
  }
  for (const auto& [place, link] : tables) graph_->meet_others(link);
}

template <class Sink>
void Walk<Sink>::put_reference(const Link& link, const Type& from, std::uint64_t index) {
  const Type& to = to_.type(link.to);
  sink_.reference(to, graph_->meet(element_of(link, from, to), index));
}

template <class Sink>
bool Walk<Sink>::archive_reference(const Link& link, const Type& from, std::span<const std::byte> bytes) {
  codec::Reader reader(bytes);
  std::uint64_t index = 0;
  static_cast<void>(codec::archive::read_number(reader, index));
  put_reference(link, from, index);
  return true;
}

template <class Sink>
bool Walk<Sink>::archive_body(const Link& link, std::span<const std::byte> message) {
  const Type& from = from_.type(link.from);
  if (from.kind == Kind::alternatives) return archive_union(link, from, message);
  if (from.kind == Kind::structure) return archive_record(link, from, message);
  const auto parts = find_parts(message, [&](std::uint32_t tag) -> std::optional<std::size_t> {
    if (tag >> 3U != 1 || !takes_wire(from_, from, tag & 7U)) return std::nullopt;
    return 0;
  });
  return archive_field(link, parts);
}

template <class Sink>
bool Walk<Sink>::archive_record(const Link& link, const Type& from, std::span<const std::byte> message) {
  const std::span<const Field> fields = from_.fields(from);
  const auto parts = find_parts(message, [&](std::uint32_t tag) -> std::optional<std::size_t> {
    const auto place = find_field(from_, from, tag >> 3U);
    const bool good = place && takes_wire(from_, from_.type(fields[*place].type), tag & 7U);
    return good ? place : std::nullopt;
  });
  const Type& to = to_.type(link.to);
  auto scope = sink_.open_record(to);
  for (std::size_t i = 0; i < to.count; ++i) {
    std::size_t place = i;
    Link inner{kNoType, to_.fields(to)[i].type, nullptr};
    sink_.field(scope, to, i);
    if (link.pair != nullptr) {
      const FieldStep& step = program_->fields[link.pair->first + i];
      if (step.from_field == kNone) {
        if (!put_nothing(step, inner.to)) return false;
        continue;
      }
      place = step.from_field;
      inner = this->link(step.pair);
    } else {
      inner.from = fields[i].type;
    }
    const Parts found = parts_of(parts, place);
    const bool missing = fields[place].default_json && !may_be_empty(from_.type(inner.from)) &&
                         is_missing(from_, from_.type(inner.from), found);
    if (!(missing ? archive_default(inner, *fields[place].default_json) : archive_field(inner, found)))
      return reader_.inside(name_of(fields[place], to, i));
  }
  sink_.close_record(scope);
  return true;
}

/// What was not sent has the default of the schema that it was written by.
template <class Sink>
bool Walk<Sink>::archive_default(const Link& link, std::string_view json) {
  const auto bytes = febird_from_json(from_, link.from, json);
  if (!bytes.ok()) return reader_.fail(codec::Fault::none, "a default of the schema is no value of its type");
  return in_febird(*bytes, [&](Walk& walk) { return walk.febird(link); });
}

/// Other bytes than the reader's, in febird, which were looked at.
template <class Sink>
template <class Read>
bool Walk<Sink>::in_febird(std::span<const std::byte> bytes, const Read& read) {
  codec::Reader reader(bytes, {codec::Limits{}.depth, SIZE_MAX});
  Walk<Sink> walk(from_, to_, program_, reader, sink_, scratches_);
  walk.trust();
  if (read(walk)) return true;
  misfit_ = misfit_ || walk.misfit();
  reader_.fail(reader.error().fault, reader.error().reason);
  return reader.error().path.empty() ? false : reader_.inside(reader.error().path);
}

template <class Sink>
bool Walk<Sink>::archive_union(const Link& link, const Type& from, std::span<const std::byte> message) {
  const std::span<const Field> fields = from_.fields(from);
  // In the order in which they came: the last one counts, with what came of it since another one.
  std::vector<Part> last;
  codec::Reader reader(message);
  static_cast<void>(find_parts(message, [&](std::uint32_t tag) -> std::optional<std::size_t> {
    const auto place = find_field(from_, from, tag >> 3U);
    const auto wire = static_cast<codec::archive::Wire>(tag & 7U);
    if (!place || wire != wire_of(from_.type(fields[*place].type))) return std::nullopt;
    if (!last.empty() && last.back().field != *place) last.clear();
    last.push_back({static_cast<std::uint32_t>(*place), wire, {}});
    return std::nullopt;
  }));
  const std::size_t place = last.back().field;
  auto parts = find_parts(message, [&](std::uint32_t tag) -> std::optional<std::size_t> {
    if (tag >> 3U != fields[place].number || (tag & 7U) != static_cast<std::uint32_t>(last.back().wire))
      return std::nullopt;
    return place;
  });
  parts.erase(parts.begin(), parts.end() - static_cast<std::ptrdiff_t>(last.size()));
  Link inner{fields[place].type, kNoType, nullptr};
  const Type& to = to_.type(link.to);
  std::size_t made = place;
  if (link.pair != nullptr) {
    const FieldStep& step = program_->fields[link.pair->first + place];
    if (step.to_field == kNone) return lacks_alternative(fields[place]);
    made = step.to_field;
    inner = this->link(step.pair);
  } else {
    inner.to = to_.fields(to)[made].type;
  }
  auto scope = sink_.open_union(to, made);
  if (!archive_single(inner, parts)) return reader_.inside(name_of(fields[place], to, made));
  sink_.close_union(scope);
  return true;
}

/// At the place of a field: rows lie side by side, an absent optional is not there.
template <class Sink>
bool Walk<Sink>::archive_field(const Link& link, Parts parts) {
  if (link.pair != nullptr && link.pair->rule == Rule::to_optional)
    return into_optional(link, [&](const Link& inner) { return archive_field(inner, parts); });
  const Type& from = from_.type(link.from);
  switch (from.kind) {
    case Kind::optional: {
      if (link.pair != nullptr && link.pair->rule == Rule::from_optional)
        return parts.empty() ? absent_becomes(link) : archive_single(this->link(link.pair->element), parts);
      const Type& to = to_.type(link.to);
      if (parts.empty()) {
        sink_.absent(to);
        return true;
      }
      auto scope = sink_.open_present(to);
      if (!archive_single(element_of(link, from, to), parts)) return false;
      sink_.close_present(scope);
      return true;
    }
    case Kind::list:
    case Kind::array:
      return archive_sequence(link, from, parts);
    case Kind::set:
      return archive_set(link, from, parts);
    case Kind::map:
      return archive_map(link, from, parts);
    default:
      return archive_single(link, parts);
  }
}

/// Where one value stands.
template <class Sink>
bool Walk<Sink>::archive_single(const Link& link, Parts parts) {
  if (link.pair != nullptr && link.pair->rule == Rule::to_optional)
    return into_optional(link, [&](const Link& inner) { return archive_single(inner, parts); });
  const Type& from = from_.type(link.from);
  if (is_message(from)) {
    std::vector<std::byte> joined;
    return archive_body(link, join(parts, joined));
  }
  if (parts.empty()) return archive_zero(link, from);
  const std::span<const std::byte> bytes = parts.back().bytes;
  if (is_number(from)) return put_number(link, from, archive_number(from, bytes));
  switch (from.kind) {
    case Kind::string:
    case Kind::bytes:
      return put_octets(link, bytes);
    case Kind::uuid:
      sink_.octets(to_.type(link.to), bytes);
      return true;
    case Kind::ref:
      return archive_reference(link, from, bytes);
    default:
      break;
  }
  if (from.tier == Tier::custom) {
    sink_.octets(to_.type(link.to), bytes);
    return true;
  }
  return in_febird(bytes, [&](Walk& walk) { return walk.febird(link); });
}

/// The value of a map's entry that was not sent.
template <class Sink>
bool Walk<Sink>::archive_zero(const Link& link, const Type& from) {
  if (is_number(from)) return put_number(link, from, 0);
  if (from.kind == Kind::ref) {
    put_reference(link, from, 0);
    return true;
  }
  if (from.kind == Kind::string || from.kind == Kind::bytes) return put_octets(link, {});
  static constexpr std::array<std::byte, 16> kNil{};
  if (from.kind == Kind::uuid) {
    sink_.octets(to_.type(link.to), kNil);
    return true;
  }
  const std::vector<std::byte> bytes = new_value(from_, link.from);
  return in_febird(bytes, [&](Walk& walk) { return walk.febird(link); });
}

template <class Sink>
std::uint64_t Walk<Sink>::archive_number(const Type& type, std::span<const std::byte> bytes) {
  if (wire_of(type) != codec::archive::Wire::varint) return load_bits(type, bytes.data());
  codec::Reader reader(bytes);
  std::uint64_t number = 0;
  std::uint64_t bits = 0;
  static_cast<void>(codec::archive::read_number(reader, number));
  static_cast<void>(unfold(type, number, bits));
  return bits;
}

/// Numbers, packed or not, as they lie in memory; gives how many.
template <class Sink>
std::size_t Walk<Sink>::archive_numbers(const Type& of, Parts parts, Scratch& to) {
  using codec::archive::Wire;
  std::size_t size = 0;
  for (const Part& part : parts) size += part.bytes.size();
  std::byte* at = to.room(wire_of(of) == Wire::varint ? size * of.size : size);
  const std::byte* const start = at;
  for (const Part& part : parts) {
    if (wire_of(of) != Wire::varint) {
      if (!part.bytes.empty()) std::memcpy(at, part.bytes.data(), part.bytes.size());
      at += part.bytes.size();
      continue;
    }
    codec::Reader reader(part.bytes);
    std::uint64_t number = 0;
    while (reader.left() != 0 && codec::archive::read_number(reader, number)) {
      std::uint64_t bits = 0;
      static_cast<void>(unfold(of, number, bits));
      store_bits(of, at, bits);
      at += of.size;
    }
  }
  return of.size == 0 ? 0 : static_cast<std::size_t>(at - start) / of.size;
}

template <class Sink>
bool Walk<Sink>::archive_sequence(const Link& link, const Type& from, Parts parts) {
  const Type& of = from_.type(from.element);
  const Type& to = to_.type(link.to);
  const Link element = element_of(link, from, to);
  if (is_number(of)) {
    const std::size_t count = archive_numbers(of, parts, scratches_.values);
    return elements(link, element, of, scratches_.values.data(), count);
  }
  if (of.kind == Kind::ref) return archive_references(to, element, of, parts);
  auto scope = sink_.open_sequence(to, parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    sink_.element(scope, i);
    if (!archive_single(element, parts.subspan(i, 1))) return reader_.inside(i);
  }
  sink_.close_sequence(scope);
  return true;
}

/// Packed or not.
template <class Sink>
bool Walk<Sink>::archive_references(const Type& to, const Link& element, const Type& of, Parts parts) {
  std::vector<std::uint64_t> indices;
  for (const Part& part : parts) {
    codec::Reader reader(part.bytes);
    std::uint64_t index = 0;
    while (reader.left() != 0 && codec::archive::read_number(reader, index)) indices.push_back(index);
  }
  auto scope = sink_.open_sequence(to, indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    sink_.element(scope, i);
    if (element.pair != nullptr && element.pair->rule == Rule::to_optional) {
      const auto put = [&](const Link& inner) { return put_reference(inner, of, indices[i]), true; };
      if (!into_optional(element, put)) return reader_.inside(i);
    } else {
      put_reference(element, of, indices[i]);
    }
  }
  sink_.close_sequence(scope);
  return true;
}

template <class Sink>
bool Walk<Sink>::archive_set(const Link& link, const Type& from, Parts parts) {
  const Type& of = from_.type(from.element);
  const Type& to = to_.type(link.to);
  const Link element = element_of(link, from, to);
  if (is_number(of)) {
    std::size_t count = archive_numbers(of, parts, scratches_.values);
    std::byte* const values = scratches_.values.data();
    if (!ascends(of, values, count)) count = sort_numbers_once(of, values, count);
    return put_numbers(link, element, values, count);
  }
  std::vector<std::span<const std::byte>> keys;
  for (const Part& part : parts) keys.push_back(part.bytes);
  std::sort(keys.begin(), keys.end(), bytes_before);
  keys.erase(std::unique(keys.begin(), keys.end(),
                         [](const auto& left, const auto& right) { return std::ranges::equal(left, right); }),
             keys.end());
  auto scope = sink_.open_sequence(to, keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    sink_.element(scope, i);
    if (!put_octets(element, keys[i])) return false;
  }
  sink_.close_sequence(scope);
  return true;
}

template <class Sink>
bool Walk<Sink>::archive_map(const Link& link, const Type& from, Parts parts) {
  struct Entry {
    std::uint64_t bits = 0;  // of a key that is a number, so that they are in order
    std::span<const std::byte> bytes{};
    std::vector<Part> parts;
    const std::byte* from = nullptr;
  };
  static constexpr std::array<std::byte, 16> kNil{};
  const Type& key_type = from_.type(from.key);
  const Type& value_type = from_.type(from.element);
  const Type& to = to_.type(link.to);
  const Link key = key_of(link, from, to);
  const Link mapped = element_of(link, from, to);
  const Type& new_key = to_.type(key.to);
  const Conversion conversion(program_, key.pair, key_type, new_key);
  const std::uint64_t turned = is_number(new_key) && is_signed(new_key) ? std::uint64_t{1} << 63U : 0;
  const auto before = [](const Entry& left, const Entry& right) {
    return left.bits != right.bits ? left.bits < right.bits : bytes_before(left.bytes, right.bytes);
  };
  std::vector<Entry> entries;
  for (const Part& part : parts) {
    Entry entry;
    entry.from = part.bytes.data();
    entry.parts = find_parts(part.bytes, [&](std::uint32_t tag) -> std::optional<std::size_t> {
      if (tag == codec::archive::tag_of(1, wire_of(key_type))) return 0;
      if (tag == codec::archive::tag_of(2, wire_of(value_type))) return 1;
      return std::nullopt;
    });
    const Parts keys = parts_of(entry.parts, 0);
    if (is_number(key_type)) {
      entry.bits = keys.empty() ? 0 : archive_number(key_type, keys.back().bytes);
      // Ascending as the source has them, until those that came twice are gone.
      entry.bits ^= is_signed(key_type) ? std::uint64_t{1} << 63U : 0;
    } else if (!keys.empty()) {
      entry.bytes = keys.back().bytes;
    } else if (key_type.kind == Kind::uuid) {
      entry.bytes = kNil;
    }
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [&](const Entry& left, const Entry& right) {
    return before(left, right) || (!before(right, left) && left.from < right.from);
  });
  std::vector<Entry> once;
  for (Entry& entry : entries) {
    if (!once.empty() && !before(once.back(), entry))
      once.back() = std::move(entry);
    else
      once.push_back(std::move(entry));
  }
  if (is_number(key_type)) {
    for (std::size_t i = 0; i < once.size(); ++i) {
      std::uint64_t bits = once[i].bits ^ (is_signed(key_type) ? std::uint64_t{1} << 63U : 0);
      const std::uint64_t was = bits;
      if (!conversion.convert(bits)) {
        cannot_go_over(conversion.words(was));
        return reader_.inside(i);
      }
      once[i].bits = bits ^ turned;
    }
    std::sort(once.begin(), once.end(), before);
    for (std::size_t i = 1; i < once.size(); ++i)
      if (once[i - 1].bits == once[i].bits) return cannot_go_over("two keys become one in @");
  }
  auto scope = sink_.open_map(to, once.size());
  for (std::size_t i = 0; i < once.size(); ++i) {
    sink_.key(scope);
    if (is_number(key_type)) {
      sink_.number(new_key, once[i].bits ^ turned);
    } else if (!put_octets(key, once[i].bytes)) {
      return reader_.inside(i);
    }
    sink_.mapped(scope);
    if (!archive_single(mapped, parts_of(once[i].parts, 1))) return reader_.inside(i);
    sink_.end_entry(scope);
  }
  sink_.close_map(scope);
  return true;
}

}  // namespace mf::described
