#pragma once
// R1. The second pass over JSON by description: gives a sink (walk.hpp) what a text holds that the first one
// (json_look.hpp) has checked, in the order of the schema. Nothing can be wrong then but a default of the
// schema.

#include <concepts>
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codec/described/graph.hpp"
#include "codec/described/json_look.hpp"
#include "codec/described/json_pass.hpp"
#include "codec/described/walk.hpp"

namespace mf::described {

template <class Sink>
class JsonTell : public JsonPass<JsonTell<Sink>, GraphNumbering> {
 public:
  using JsonPass<JsonTell, GraphNumbering>::value;

  JsonTell(const Schema& schema, codec::JsonReader& reader, const JsonNotes& notes, Sink& sink) noexcept
      : JsonPass<JsonTell, GraphNumbering>(schema),
        reader_(reader),
        notes_(notes),
        sink_(sink),
        scalars_(schema, reader),
        start_(reader.place()) {}

 private:
  using Base = JsonPass<JsonTell, GraphNumbering>;
  friend Base;
  using Base::graph_;  // that is read
  using Base::schema_;

  [[nodiscard]] bool number(const Type& type) {
    std::uint64_t bits = 0;
    if (!scalars_.number(type, bits)) return false;
    sink_.number(type, bits);
    return true;
  }

  [[nodiscard]] bool octets(const Type& type) {
    std::string bytes;
    if (!scalars_.octets(type, bytes)) return false;
    sink_.octets(type, std::as_bytes(std::span(bytes)));
    return true;
  }

  [[nodiscard]] bool optional(const Type& type) {
    if (reader_.kind() == codec::JsonKind::null) {
      if (!reader_.read_null()) return false;
      sink_.absent(type);
      return true;
    }
    auto scope = sink_.open_present(type);
    if (!value(type.element)) return false;
    sink_.close_present(scope);
    return true;
  }

  [[nodiscard]] bool list(const Type& type) {
    const std::size_t count = notes_[next_++].what;
    auto scope = sink_.open_sequence(type, count);
    if (!reader_.open_array()) return false;
    std::size_t i = 0;
    for (; reader_.next_element(i) == codec::JsonStep::item; ++i) {
      sink_.element(scope, i);
      if (!value(type.element)) return reader_.inside(i);
    }
    sink_.close_sequence(scope);
    return true;
  }

  void tell(const Type& type, const JsonKey& key) {
    if (is_number(type)) return sink_.number(type, JsonScalars::bits_of(type, key));
    sink_.octets(type, std::as_bytes(std::span(key.bytes)));
  }

  [[nodiscard]] bool set(const Type& type) {
    const Type& of = schema_.type(type.element);
    std::set<JsonKey> keys;
    if (!reader_.open_array()) return false;
    for (std::size_t i = 0; reader_.next_element(i) == codec::JsonStep::item; ++i) {
      JsonKey key;
      if (!scalars_.key(of, false, key)) return false;
      keys.insert(std::move(key));
    }
    auto scope = sink_.open_sequence(type, keys.size());
    std::size_t i = 0;
    for (const JsonKey& each : keys) {
      sink_.element(scope, i++);
      tell(of, each);
    }
    sink_.close_sequence(scope);
    return true;
  }

  [[nodiscard]] bool map(const Type& type) {
    const Type& of = schema_.type(type.key);
    const JsonNote opened = notes_[next_];
    auto scope = sink_.open_map(type, opened.what);
    for (const JsonNote& entry : members(opened)) {
      JsonKey key;
      go_to(entry);
      if (!scalars_.key(of, true, key) || !reader_.read_colon()) return false;
      sink_.key(scope);
      tell(of, key);
      sink_.mapped(scope);
      if (!value(type.element)) return reader_.inside(entry.what);
      sink_.end_entry(scope);
    }
    sink_.close_map(scope);
    go_behind(opened);
    return true;
  }

  [[nodiscard]] bool structure(const Type& type) {
    const JsonNote opened = notes_[next_];
    const std::span<const Field> fields = schema_.fields(type);
    auto left = members(opened);
    auto scope = sink_.open_record(type);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      sink_.field(scope, type, i);
      if (!left.empty() && left.front().what == i) {
        go_to(left.front());
        left = left.subspan(1);
        if (!value(fields[i].type)) return reader_.inside(fields[i].name);
      } else if (!fields[i].default_json) {
        sink_.absent(schema_.type(fields[i].type));
      } else if (!put_default(fields[i])) {
        return false;
      }
    }
    sink_.close_record(scope);
    go_behind(opened);
    return true;
  }

  /// An annex comes from a peer: its defaults may be no values, and one may hold the next.
  [[nodiscard]] bool put_default(const Field& field) {
    if (defaults_ == kMaxNesting)
      return reader_.fail(codec::Fault::depth_exceeded, "defaults are nested too deep");
    codec::JsonReader text(*field.default_json);
    JsonNotes notes;
    const OwnTypes none;
    if (text.begin() && JsonLook(schema_, none, text, notes).value(field.type) && text.finish()) {
      text.return_to(codec::JsonReader(*field.default_json).place());
      JsonTell<Sink> tell(schema_, text, notes, sink_);
      tell.defaults_ = defaults_ + 1;
      if (tell.value(field.type)) return true;
    }
    reader_.fail(codec::Fault::none,
                 "a default of the schema is no value of its type: " + text.error().reason);
    return reader_.inside(field.name);
  }

  [[nodiscard]] bool alternatives(const Type& type) {
    const std::span<const Field> fields = schema_.fields(type);
    std::vector<std::string_view> names;
    for (const Field& field : fields) names.push_back(field.name);
    return read_json_union(reader_, names, [&](std::size_t i) {
      auto scope = sink_.open_union(type, i);
      if (!value(fields[i].type)) return false;
      sink_.close_union(scope);
      return true;
    });
  }

  // --- graphs

  [[nodiscard]] bool reference(const Type& type) {
    std::uint64_t index = 0;
    if (!read_json_integer(reader_, {false, 32}, index)) return false;
    if (graph_ != nullptr) sink_.reference(type, graph_->meet({type.element, type.element, nullptr}, index));
    return true;
  }

  /// Objects are met from the root on, and then given to the sink table by table.
  [[nodiscard]] bool graph(TypeIndex root) {
    const JsonNote opened = notes_[next_];
    GraphNumbering graph(schema_, schema_, {root, root, nullptr});
    const GraphTables& tables = graph.from();
    for (std::uint32_t i = 0; i < opened.what; ++i)
      graph.add(notes_[opened.notes + i].what, static_cast<std::uint32_t>(opened.notes) + i);
    Collector collector;
    JsonTell<Collector> meeting(schema_, reader_, notes_, collector);
    meeting.start_ = start_;
    meeting.graph_ = &graph;
    GraphNumbering::Object object;
    const auto meet_all = [&] {
      while (graph.next(object)) {
        meeting.go_to(notes_[object.note]);
        if (!meeting.value(object.link.from)) return false;
      }
      return true;
    };
    graph.meet({root, root, nullptr}, 0);
    if (!meet_all()) return false;
    for (const TypeIndex type : tables.types) graph.meet_others({type, type, nullptr});
    if (!meet_all()) return false;
    graph_ = &graph;
    auto scope = sink_.open_graph(schema_.type(root));
    for (std::size_t table = 0; table < tables.types.size(); ++table) {
      sink_.open_table(scope, table, tables.names[table]);
      for (const auto& each : graph.objects(table)) {
        sink_.object(scope);
        go_to(notes_[each.note]);
        if (!value(tables.types[table])) return false;
      }
      sink_.close_table(scope);
    }
    sink_.close_graph(scope);
    graph_ = nullptr;
    go_behind(opened);
    return true;
  }

  // --- the notes

  [[nodiscard]] std::span<const JsonNote> members(const JsonNote& opened) const noexcept {
    return std::span(notes_).subspan(opened.notes, opened.what);
  }
  void go_to(const JsonNote& note) {
    reader_.return_to({note.at, start_.end, start_.levels_left});
    next_ = note.notes;
  }
  void go_behind(const JsonNote& opened) {
    reader_.return_to({opened.at, start_.end, start_.levels_left});
    next_ = opened.notes + opened.what;
  }

  codec::JsonReader& reader_;
  const JsonNotes& notes_;
  Sink& sink_;
  JsonScalars scalars_;
  codec::Reader::Place start_;
  std::size_t next_ = 0;  // the note of the value that comes
  unsigned defaults_ = 0;

  template <class Other>
  friend class JsonTell;
};

}  // namespace mf::described
