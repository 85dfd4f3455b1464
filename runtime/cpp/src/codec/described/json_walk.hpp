#pragma once
// R1. The reader of JSON by description: tells a sink (walk.hpp) what a text holds, which may come in any
// order. So it goes through what it opens twice: first to look at it and to find the places, then to tell.
// Where the sink is Nothing, once is enough. Containers are in json_walk_containers.hpp.

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codec/described/graph.hpp"
#include "codec/described/walk.hpp"
#include "mf/codec/json_names.hpp"
#include "mf/codec/json_reader.hpp"
#include "mf/codec/json_value.hpp"
#include "mf/core/types.hpp"

namespace mf::described {

/// The references of a graph that is looked at, in the order of the text.
struct JsonReferences {
  struct Met {
    std::size_t offset = 0;
    TypeIndex type = kNoType;  // of the object
    std::uint64_t index = 0;
  };
  std::vector<Met> met;
  std::size_t refused = SIZE_MAX;  // the offset of the one that names no object
};

template <class Sink>
class JsonWalk {
 public:
  JsonWalk(const Schema& schema, codec::JsonReader& reader, Sink& sink) noexcept
      : schema_(schema), reader_(reader), sink_(sink) {}

  [[nodiscard]] bool value(TypeIndex index) {
    const Type& type = schema_.type(index);
    if (type.linked && type.tier == Tier::archive && references_ == nullptr && graph_ == nullptr)
      return graph(index);
    const bool other_tier = type.tier == Tier::memcpy || type.tier == Tier::febird;
    if (!other_tier || (references_ == nullptr && graph_ == nullptr)) return plain_value(type);
    JsonReferences* const references = std::exchange(references_, nullptr);
    GraphNumbering* const graph = std::exchange(graph_, nullptr);
    const bool good = plain_value(type);  // in which graphs are their own
    references_ = references;
    graph_ = graph;
    return good;
  }

 private:
  static constexpr bool kTells = !std::same_as<Sink, Nothing>;
  using Place = codec::Reader::Place;

  [[nodiscard]] bool plain_value(const Type& type) {
    switch (type.kind) {
      case Kind::string: {
        std::string text;
        if (!codec::detail::read_json_text(reader_, text)) return false;
        sink_.octets(type, std::as_bytes(std::span(text)));
        return true;
      }
      case Kind::bytes:
        return base64(type);
      case Kind::uuid: {
        Uuid uuid;
        if (!codec::detail::read_json_uuid(reader_, uuid)) return false;
        sink_.octets(type, std::as_bytes(std::span(&uuid, 1)));
        return true;
      }
      case Kind::list:
        return list(type);
      case Kind::array:
        return list(type);
      case Kind::set:
        return set(type);
      case Kind::map:
        return map(type);
      case Kind::optional:
        return optional(type);
      case Kind::structure:
        return type.tier == Tier::custom ? base64(type) : structure(type);
      case Kind::alternatives:
        return alternatives(type);
      case Kind::ref:
        return reference(type);
      default: {
        std::uint64_t bits = 0;
        if (!number(type, bits)) return false;
        sink_.number(type, bits);
        return true;
      }
    }
  }

  /// Looks at a value without telling anybody.
  [[nodiscard]] bool look(TypeIndex type) {
    Nothing nothing;
    JsonWalk<Nothing> walk(schema_, reader_, nothing);
    walk.references_ = references_;
    walk.graph_ = graph_;
    return walk.value(type);
  }
  // --- graphs: tables in any order, with references that come before their objects

  [[nodiscard]] bool reference(const Type& type) {
    std::uint64_t index = 0;
    if (!read_json_integer(reader_, {false, 32}, index)) return false;
    if (references_ != nullptr) {
      if (references_->refused == reader_.start())
        return reader_.fail(codec::Fault::invalid_reference, "a reference names no object of its table");
      references_->met.push_back({reader_.start(), type.element, index});
    } else if (graph_ != nullptr) {
      if constexpr (kTells) sink_.reference(type, graph_->meet({type.element, type.element, nullptr}, index));
    }
    return true;
  }

  [[nodiscard]] bool look_at_tables(const GraphTables& tables, JsonReferences& references,
                                    std::vector<std::vector<Place>>& places) {
    std::vector<codec::JsonField> names;
    for (const std::string& name : tables.names) names.push_back({name, false});
    places.assign(names.size(), {});
    references.met.clear();
    references_ = &references;
    const bool good = read_json_object(reader_, names, [&](std::size_t table) {
      const std::size_t memory = schema_.type(tables.types[table]).memory;
      if (!reader_.open_array()) return false;
      codec::JsonStep step = codec::JsonStep::failed;
      for (std::size_t i = 0; (step = reader_.next_element(i)) == codec::JsonStep::item; ++i) {
        places[table].push_back(reader_.place());
        if (!reader_.charge(1, memory) || !look(tables.types[table])) return reader_.inside(i);
      }
      return step == codec::JsonStep::end;
    });
    references_ = nullptr;
    return good;
  }

  [[nodiscard]] bool graph(TypeIndex root) {
    const Link link{root, root, nullptr};
    GraphNumbering graph(schema_, schema_, link);
    const GraphTables& tables = graph.from();
    JsonReferences references;
    std::vector<std::vector<Place>> places;
    const Place start = reader_.place();
    if (!look_at_tables(tables, references, places)) return false;
    for (const auto& each : references.met) {
      if (each.index < places[tables.place_of(each.type)].size()) continue;
      // Once more, up to the reference at fault, whose path is known there.
      references.refused = each.offset;
      reader_.return_to(start);
      return look_at_tables(tables, references, places);
    }
    if (places.front().empty())
      return reader_.fail(codec::Fault::invalid_reference, "a graph has no root", reader_.offset() - 1);
    if constexpr (kTells) return tell_graph(graph, places, root);
    return true;
  }

  [[nodiscard]] bool tell_graph(GraphNumbering& graph, const std::vector<std::vector<Place>>& places,
                                TypeIndex root) {
    const Place end = reader_.place();
    const GraphTables& tables = graph.from();
    // An object is where its text begins.
    const auto text_of = [](const Place& place) {
      return std::span(place.cursor, static_cast<std::size_t>(place.end - place.cursor));
    };
    const auto go_to = [&](const GraphNumbering::Object& object) {
      reader_.return_to({object.bytes.data(), end.end, places.front().front().levels_left});
    };
    for (std::size_t table = 0; table < places.size(); ++table)
      for (const Place& place : places[table]) graph.add(table, text_of(place));
    Collector collector;
    JsonWalk<Collector> meeting(schema_, reader_, collector);
    meeting.graph_ = &graph;
    GraphNumbering::Object object;
    const auto meet_all = [&] {
      while (graph.next(object)) {
        go_to(object);
        if (!meeting.value(object.link.from)) return false;
      }
      return true;
    };
    graph.meet({root, root, nullptr}, 0);
    if (!meet_all()) return false;
    for (const TypeIndex type : tables.types) graph.meet_others({type, type, nullptr});
    if (!meet_all()) return false;
    GraphNumbering* const outer = std::exchange(graph_, &graph);
    auto scope = sink_.open_graph(schema_.type(root));
    for (std::size_t table = 0; table < tables.types.size(); ++table) {
      sink_.open_table(scope, table, tables.names[table]);
      for (const auto& each : graph.objects(table)) {
        sink_.object(scope);
        go_to(each);
        if (!value(tables.types[table])) return false;
      }
      sink_.close_table(scope);
    }
    sink_.close_graph(scope);
    graph_ = outer;
    reader_.return_to(end);
    return true;
  }

  [[nodiscard]] bool number(const Type& type, std::uint64_t& bits) {
    const codec::JsonBase base{is_signed(type), 8 * type.size};
    switch (type.kind) {
      case Kind::boolean: {
        bool value = false;
        const bool good = reader_.read_bool(value);
        bits = value ? 1 : 0;
        return good;
      }
      case Kind::f32: {
        float value = 0;
        const bool good = codec::detail::read_json_float(reader_, value);
        bits = std::bit_cast<std::uint32_t>(value);
        return good;
      }
      case Kind::f64: {
        double value = 0;
        const bool good = codec::detail::read_json_float(reader_, value);
        bits = std::bit_cast<std::uint64_t>(value);
        return good;
      }
      case Kind::timestamp: {
        Timestamp value;
        const bool good = codec::detail::read_json_time(reader_, value);
        bits = static_cast<std::uint64_t>(value.time_since_epoch().count());
        return good;
      }
      case Kind::duration: {
        Duration value{};
        const bool good = codec::detail::read_json_time(reader_, value);
        bits = static_cast<std::uint64_t>(value.count());
        return good;
      }
      case Kind::enumeration:
        return read_json_enum(reader_, schema_.members(type), base, type.open, bits);
      case Kind::flags: {
        std::vector<codec::JsonName> masks;
        for (const Member& member : schema_.members(type))
          masks.push_back({member.name, std::uint64_t{1} << member.number});
        return read_json_flags(reader_, masks, base, bits);
      }
      default:
        return read_json_integer(reader_, base, bits);
    }
  }

  [[nodiscard]] bool base64(const Type& type) {
    Bytes bytes;
    if (!codec::detail::read_json_bytes(reader_, bytes)) return false;
    sink_.octets(type, {bytes.data(), bytes.size()});
    return true;
  }

  [[nodiscard]] bool optional(const Type& type) {
    if (reader_.kind() == codec::JsonKind::null) {
      if (!reader_.read_null()) return false;
      sink_.absent(type);
      return true;
    }
    auto scope = sink_.open_present(type);
    if (!reader_.charge(1, schema_.type(type.element).memory) || !value(type.element)) return false;
    sink_.close_present(scope);
    return true;
  }

  [[nodiscard]] bool list(const Type& type);

  /// A key of a set or map: one of both, as its type is.
  struct Key {
    std::uint64_t bits = 0;  // so that they are in order
    std::string bytes;
    std::size_t index = 0;
    Place value;

    bool operator<(const Key& other) const noexcept {
      return bits != other.bits ? bits < other.bits : bytes < other.bytes;
    }
  };
  [[nodiscard]] static std::uint64_t turned(const Type& type) noexcept {
    return is_signed(type) ? std::uint64_t{1} << 63U : 0;
  }
  [[nodiscard]] bool key(const Type& type, bool quoted, Key& key);
  void tell(const Type& type, const Key& key) {
    if (is_number(type)) return sink_.number(type, key.bits ^ turned(type));
    sink_.octets(type, std::as_bytes(std::span(key.bytes)));
  }

  [[nodiscard]] bool set(const Type& type);
  [[nodiscard]] bool map(const Type& type);

  [[nodiscard]] bool structure(const Type& type) {
    const std::span<const Field> fields = schema_.fields(type);
    std::vector<codec::JsonField> names;
    names.reserve(fields.size());
    for (const Field& field : fields)
      names.push_back({field.name, !field.default_json && schema_.type(field.type).kind != Kind::optional});
    std::vector<std::optional<Place>> places(fields.size());
    if (!read_json_object(reader_, names, [&](std::size_t i) {
          places[i] = reader_.place();
          return look(fields[i].type);
        }))
      return false;
    if constexpr (kTells) {
      const Place end = reader_.place();
      auto scope = sink_.open_record(type);
      for (std::size_t i = 0; i < fields.size(); ++i) {
        sink_.field(scope, type, i);
        if (places[i]) {
          reader_.return_to(*places[i]);
          if (!value(fields[i].type)) return reader_.inside(fields[i].name);
        } else if (!fields[i].default_json) {
          sink_.absent(schema_.type(fields[i].type));
        } else if (!put_default(fields[i])) {
          return false;
        }
      }
      sink_.close_record(scope);
      reader_.return_to(end);
    }
    return true;
  }

  /// An annex comes from a peer: its defaults may be no values, and one may hold the next.
  [[nodiscard]] bool put_default(const Field& field) {
    if (defaults_ == kMaxNesting)
      return reader_.fail(codec::Fault::depth_exceeded, "defaults are nested too deep");
    codec::JsonReader text(*field.default_json);
    JsonWalk<Sink> walk(schema_, text, sink_);
    walk.defaults_ = defaults_ + 1;
    if (text.begin() && walk.value(field.type) && text.finish()) return true;
    reader_.fail(codec::Fault::none,
                 "a default of the schema is no value of its type: " + text.error().reason);
    return reader_.inside(field.name);
  }

  [[nodiscard]] bool alternatives(const Type& type) {
    const std::span<const Field> fields = schema_.fields(type);
    std::vector<std::string_view> names;
    names.reserve(fields.size());
    for (const Field& field : fields) names.push_back(field.name);
    return read_json_union(reader_, names, [&](std::size_t i) {
      auto scope = sink_.open_union(type, i);
      if (!value(fields[i].type)) return false;
      sink_.close_union(scope);
      return true;
    });
  }

  const Schema& schema_;
  codec::JsonReader& reader_;
  Sink& sink_;
  JsonReferences* references_ = nullptr;  // of the graph that is looked at
  GraphNumbering* graph_ = nullptr;       // of the graph that is told of
  unsigned defaults_ = 0;

  template <class Other>
  friend class JsonWalk;
};

}  // namespace mf::described
