#pragma once
// R1. The first of two passes over JSON by description: checks a text, charges what its values take, and
// notes where they stand, because members may come in any order, and a sink gets a count before what is
// counted. The second pass (json_tell.hpp) goes by the notes, so that each value is read twice, however deep
// it is.
//
// The notes of a text, in the order in which its values begin:
// - a struct, the struct of a union, a graph: {end, first, count}, and from `first` on one note for each
//   member, {place, notes, field or table};
// - a map: {end, first, count}, and from `first` on one note for each entry, in the order of the keys,
//   {place of the key, notes of the value, index in the text};
// - a list, an array: {-, -, count}.
// What is inside has its notes between these. All other values have none.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "codec/described/graph.hpp"
#include "codec/described/json_pass.hpp"
#include "codec/described/json_scalars.hpp"
#include "codec/described/own_types.hpp"

namespace mf::described {

struct JsonNote {
  const std::byte* at = nullptr;  // in the text
  std::size_t notes = 0;          // index of a note
  std::size_t what = 0;
};
using JsonNotes = std::vector<JsonNote>;

/// The references of a graph, in the order of the text.
struct JsonReferences {
  struct Met {
    std::size_t offset = 0;
    TypeIndex type = kNoType;  // of the object
    std::uint64_t index = 0;
  };
  std::vector<Met> met;
  std::size_t refused = SIZE_MAX;  // the offset of the one that names no object
};

class JsonLook : public JsonPass<JsonLook, JsonReferences> {
 public:
  JsonLook(const Schema& schema, const OwnTypes& own, codec::JsonReader& reader, JsonNotes& notes) noexcept
      : JsonPass(schema), own_(own), reader_(reader), notes_(notes), scalars_(schema, reader) {}

 private:
  friend class JsonPass<JsonLook, JsonReferences>;

  /// The fields of a struct, in the order of its schema.
  struct Names {
    std::vector<codec::JsonField> fields;
    std::span<const std::uint32_t> order;  // of the descriptor's fields; empty: the same
  };

  [[nodiscard]] bool number(const Type& type);
  [[nodiscard]] bool octets(const Type& type);
  [[nodiscard]] bool optional(const Type& type);
  [[nodiscard]] bool list(const Type& type);
  [[nodiscard]] bool set(const Type& type);
  [[nodiscard]] bool map(const Type& type);
  [[nodiscard]] bool entry(const Type& type, std::map<JsonKey, JsonNote>& entries, std::size_t index);
  [[nodiscard]] bool structure(const Type& type);
  [[nodiscard]] bool alternatives(const Type& type);
  [[nodiscard]] bool reference(const Type& type);
  [[nodiscard]] bool graph(TypeIndex root);
  [[nodiscard]] bool tables(const GraphTables& tables, std::vector<std::size_t>& counts);

  [[nodiscard]] const Names& names_of(const Type& type);
  [[nodiscard]] std::size_t open();
  void close(std::size_t opened, const JsonNotes& members);
  [[nodiscard]] JsonNote here(std::size_t what) const noexcept {
    return {reader_.place().cursor, notes_.size(), what};
  }

  const OwnTypes& own_;
  codec::JsonReader& reader_;
  JsonNotes& notes_;
  JsonScalars scalars_;
  std::map<const Type*, Names> names_;
};

}  // namespace mf::described
