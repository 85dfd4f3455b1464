#pragma once
// R1. The walk through archives; what walk.hpp declares.
//
// Fields of a message may be sent in any order, in parts, and more than once. So ArchiveCheck reads an
// archive first, finds every fault that there may be, and makes notes of the values. Then the notes are given
// to the sink, in the order of its own fields. Nothing can be wrong then but misfits.

#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "codec/described/archive_check.hpp"
#include "codec/described/archive_notes.hpp"
#include "codec/described/graph.hpp"
#include "codec/described/new_value.hpp"
#include "codec/described/walk.hpp"
#include "codec/described/walk_archive_rows.hpp"
#include "mf/codec/described/json.hpp"

namespace mf::described {

template <class Sink>
bool Walk<Sink>::archive(const Link& link) {
  const std::span<const std::byte> message(reader_.peek(), reader_.left());
  if (kLooksOnly && trusted_) {
    reader_.advance(message.size());
    return true;
  }
  ArchiveNotes notes;
  if (!scratches_.notes.empty()) {
    notes = std::move(scratches_.notes.back());
    scratches_.notes.pop_back();
  }
  // What was looked at before is charged already.
  codec::Reader again(message, {reader_.limits_left().depth, SIZE_MAX});
  bool good = ArchiveCheck(from_, scratches_, notes).whole(trusted_ ? again : reader_, link.from);
  if (trusted_) reader_.advance(message.size());
  if constexpr (!kLooksOnly) {
    if (good) {
      const ArchiveNotes* const outer = std::exchange(notes_, &notes);
      good =
          from_.type(link.from).linked ? archive_graph(link, notes.last()) : archive_body(link, notes.last());
      notes_ = outer;
    } else if (trusted_) {
      reader_.fail(again.error().fault, again.error().reason);
    }
  }
  notes.clear();
  scratches_.notes.push_back(std::move(notes));
  return good;
}

/// Objects are met from the root on, and then given to the sink table by table.
template <class Sink>
bool Walk<Sink>::archive_graph(const Link& link, std::uint32_t message) {
  GraphNumbering graph(from_, to_, link);
  for (const Part& part : notes_->parts(message)) graph.add(part.field, part.message);
  graph.meet(link, 0);
  Collector collector;
  Walk<Collector> meeting(from_, to_, program_, reader_, collector, scratches_);
  meeting.trust();
  meeting.graph_ = &graph;
  meeting.notes_ = notes_;
  GraphNumbering::Object object;
  bool good = true;
  const auto meet_all = [&] {
    while (good && graph.next(object)) good = meeting.archive_body(object.link, object.note);
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
      if (!archive_body(each.link, each.note)) {
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

/// Objects without a reference, of each type that the graph may refer to.
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
bool Walk<Sink>::archive_body(const Link& link, std::uint32_t message) {
  const Type& from = from_.type(link.from);
  const Parts parts = notes_->parts(message);
  return from.kind == Kind::alternatives ? archive_union(link, from, parts)
         : from.kind == Kind::structure  ? archive_record(link, from, parts)
                                         : archive_field(link, parts);
}

template <class Sink>
bool Walk<Sink>::archive_record(const Link& link, const Type& from, Parts parts) {
  const std::span<const Field> fields = from_.fields(from);
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
    const bool missing = found.empty() && fields[place].default_json && !may_be_empty(from_.type(inner.from));
    if (!(missing ? archive_default(inner, fields[place]) : archive_field(inner, found)))
      return reader_.inside(name_of(fields[place], to, i));
  }
  sink_.close_record(scope);
  return true;
}

/// What was not sent has the default of the schema that it was written by.
template <class Sink>
bool Walk<Sink>::archive_default(const Link& link, const Field& field) {
  const auto bytes = from_.default_value(field);
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
bool Walk<Sink>::archive_union(const Link& link, const Type& from, Parts parts) {
  const std::span<const Field> fields = from_.fields(from);
  const std::size_t place = parts.back().field;
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

/// Reads a value in the place of a single one.
template <class Sink>
bool Walk<Sink>::archive_single(const Link& link, Parts parts) {
  if (link.pair != nullptr && link.pair->rule == Rule::to_optional)
    return into_optional(link, [&](const Link& inner) { return archive_single(inner, parts); });
  const Type& from = from_.type(link.from);
  if (parts.empty()) return archive_zero(link, from);
  if (is_message(from)) return archive_body(link, parts.back().message);
  if (is_number(from)) return put_number(link, from, archive_number(from, parts.back()));
  const std::span<const std::byte> bytes = parts.back().bytes();
  switch (from.kind) {
    case Kind::string:
    case Kind::bytes:
      return put_octets(link, bytes);
    case Kind::uuid:
      sink_.octets(to_.type(link.to), bytes);
      return true;
    case Kind::ref:
      put_reference(link, from, archive_reference(parts.back(), 0));
      return true;
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

}  // namespace mf::described
