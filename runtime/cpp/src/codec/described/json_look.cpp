#include "codec/described/json_look.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace mf::described {

using codec::Fault;
using codec::JsonStep;

bool JsonLook::number(const Type& type) {
  std::uint64_t bits = 0;
  return scalars_.number(type, bits);
}

bool JsonLook::octets(const Type& type) {
  std::string bytes;
  if (!scalars_.octets(type, bytes)) return false;
  if (type.tier != Tier::custom) return true;
  const std::string refusal = own_.refusal(type, std::as_bytes(std::span(bytes)));
  return refusal.empty() || reader_.fail(Fault::custom_codec_failed, refusal);
}

bool JsonLook::optional(const Type& type) {
  if (reader_.kind() == codec::JsonKind::null) return reader_.read_null();
  return reader_.charge(1, schema_.type(type.element).memory) && value(type.element);
}

// --- what has notes

std::size_t JsonLook::open() {
  notes_.emplace_back();
  return notes_.size() - 1;
}

void JsonLook::close(std::size_t opened, const JsonNotes& members) {
  notes_[opened] = here(members.size());
  notes_.insert(notes_.end(), members.begin(), members.end());
}

bool JsonLook::list(const Type& type) {
  const std::size_t opened = open();
  const bool array = type.kind == Kind::array;
  const std::size_t length = array ? type.length : codec::JsonReader::kAnyCount;
  const std::uint64_t memory = array ? 0 : schema_.type(type.element).memory;
  if (!reader_.open_array()) return false;
  JsonStep step = JsonStep::failed;
  std::size_t count = 0;
  for (; (step = reader_.next_element(count, length)) == JsonStep::item; ++count)
    if (!reader_.charge(1, memory) || !value(type.element)) return reader_.inside(count);
  notes_[opened].what = count;
  return step == JsonStep::end;
}

bool JsonLook::set(const Type& type) {
  const Type& of = schema_.type(type.element);
  std::set<JsonKey> keys;
  if (!reader_.open_array()) return false;
  JsonStep step = JsonStep::failed;
  for (std::size_t i = 0; (step = reader_.next_element(i)) == JsonStep::item; ++i) {
    JsonKey key;
    if (!reader_.charge(1, of.memory + codec::kNodeOverhead) || !scalars_.key(of, false, key))
      return reader_.inside(i);
    if (!keys.insert(std::move(key)).second) {
      reader_.fail(Fault::json_duplicate_key, "an element of a set is there twice");
      return reader_.inside(i);
    }
  }
  return step == JsonStep::end;
}

bool JsonLook::map(const Type& type) {
  const std::size_t opened = open();
  std::map<JsonKey, JsonNote> entries;
  if (!reader_.open_object()) return false;
  JsonStep step = JsonStep::failed;
  for (std::size_t i = 0; (step = reader_.next_member(i)) == JsonStep::item; ++i)
    if (!entry(type, entries, i)) return reader_.inside(i);
  JsonNotes sorted;
  for (const auto& [key, note] : entries) sorted.push_back(note);
  close(opened, sorted);
  return step == JsonStep::end;
}

bool JsonLook::entry(const Type& type, std::map<JsonKey, JsonNote>& entries, std::size_t index) {
  const Type& of = schema_.type(type.key);
  const JsonNote note = here(index);
  JsonKey key;
  if (!reader_.charge(1, of.memory + schema_.type(type.element).memory + codec::kNodeOverhead) ||
      !scalars_.key(of, true, key))
    return false;
  if (!entries.emplace(std::move(key), note).second)
    return reader_.fail(Fault::json_duplicate_key, "a key of a map is there twice");
  return reader_.read_colon() && value(type.element);
}

const JsonLook::Names& JsonLook::names_of(const Type& type) {
  const auto [place, added] = names_.try_emplace(&type);
  if (added) {
    Names& names = place->second;
    names.order = own_.order(type);
    for (std::size_t i = 0; i < type.count; ++i) {
      const Field& field = schema_.fields(type)[names.order.empty() ? i : names.order[i]];
      names.fields.push_back(
          {field.name, !field.default_json && schema_.type(field.type).kind != Kind::optional});
    }
  }
  return place->second;
}

bool JsonLook::structure(const Type& type) {
  const std::size_t opened = open();
  const Names& names = names_of(type);
  JsonNotes members;
  const auto read = [&](std::size_t i) {
    const std::size_t field = names.order.empty() ? i : names.order[i];
    members.push_back(here(field));
    return value(schema_.fields(type)[field].type);
  };
  if (!read_json_object(reader_, names.fields, read)) return false;
  std::ranges::sort(members, {}, &JsonNote::what);
  close(opened, members);
  return true;
}

bool JsonLook::alternatives(const Type& type) {
  const std::span<const Field> fields = schema_.fields(type);
  std::vector<std::string_view> names;
  for (const Field& field : fields) names.push_back(field.name);
  return read_json_union(reader_, names, [&](std::size_t i) { return value(fields[i].type); });
}

// --- graphs: tables in any order, with references that come before their objects

bool JsonLook::reference(const Type& type) {
  std::uint64_t index = 0;
  if (!read_json_integer(reader_, {false, 32}, index)) return false;
  if (graph_ == nullptr) return true;
  if (graph_->refused == reader_.start())
    return reader_.fail(Fault::invalid_reference, "a reference names no object of its table");
  graph_->met.push_back({reader_.start(), type.element, index});
  return true;
}

bool JsonLook::graph(TypeIndex root) {
  const GraphTables found = graph_tables(schema_, root);
  JsonReferences references;
  std::vector<std::size_t> counts(found.types.size());
  const auto start = reader_.place();
  const std::size_t opened = notes_.size();
  graph_ = &references;
  bool good = tables(found, counts);
  if (good) {
    const auto refused = std::ranges::find_if(references.met, [&](const JsonReferences::Met& each) {
      return each.index >= counts[found.place_of(each.type)];
    });
    if (refused != references.met.end()) {
      // Once more, up to the reference at fault, whose path is known there.
      references.refused = refused->offset;
      reader_.return_to(start);
      notes_.resize(opened);
      good = tables(found, counts);
    }
  }
  graph_ = nullptr;
  if (good && counts.front() == 0)
    return reader_.fail(Fault::invalid_reference, "a graph has no root", reader_.offset() - 1);
  return good;
}

bool JsonLook::tables(const GraphTables& tables, std::vector<std::size_t>& counts) {
  const std::size_t opened = open();
  std::vector<codec::JsonField> names;
  for (const std::string& name : tables.names) names.push_back({name, false});
  JsonNotes objects;
  const auto read = [&](std::size_t table) {
    const std::uint64_t memory = schema_.type(tables.types[table]).memory;
    if (!reader_.open_array()) return false;
    JsonStep step = JsonStep::failed;
    std::size_t i = 0;
    for (; (step = reader_.next_element(i)) == JsonStep::item; ++i) {
      objects.push_back(here(table));
      if (!reader_.charge(1, memory) || !value(tables.types[table])) return reader_.inside(i);
    }
    counts[table] = i;
    return step == JsonStep::end;
  };
  if (!read_json_object(reader_, names, read)) return false;
  close(opened, objects);
  return true;
}

}  // namespace mf::described
