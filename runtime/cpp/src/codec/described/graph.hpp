#pragma once
// R1. Graphs by description: which tables one has, and which number an object gets where it is written.
//
// A graph is a message of tables, one for each type that is referred to, and a reference is the place of its
// object in the table of its type (docs/proto.md). A writer numbers objects in the order in which they are
// reached from the root, breadth first, and behind them those without a reference.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "codec/described/walk.hpp"
#include "mf/codec/described/schema.hpp"

namespace mf::described {

struct GraphTables {
  std::vector<TypeIndex> types;    // the root's first, the others by their names
  std::vector<std::string> names;  // as they are in paths and JSON

  std::map<TypeIndex, std::size_t> places;

  /// Of the table of a type that has one.
  [[nodiscard]] std::size_t place_of(TypeIndex type) const noexcept { return places.find(type)->second; }
};

/// Those of a graph with such a root.
[[nodiscard]] GraphTables graph_tables(const Schema& schema, TypeIndex root);

/// The objects of a graph that is read, and their numbers in the one that is written.
class GraphNumbering {
 public:
  GraphNumbering(const Schema& from, const Schema& to, const Link& root);

  /// Objects as they come, each in the table with this place. `note` says where the source has it.
  void add(std::size_t table, std::uint32_t note) { objects_[table].push_back(note); }
  [[nodiscard]] const GraphTables& from() const noexcept { return from_; }
  [[nodiscard]] const GraphTables& to() const noexcept { return to_; }

  struct Object {
    Link link;
    std::uint32_t note = 0;
  };
  /// The number of an object that a reference names; it may be met for the first time.
  std::uint32_t meet(const Link& link, std::uint64_t index);
  /// An object whose references have not been visited; false: there is none.
  [[nodiscard]] bool next(Object& object);
  /// Gives numbers to the objects of a table that were not reached.
  void meet_others(const Link& link);
  /// In the order of their numbers.
  [[nodiscard]] const std::vector<Object>& objects(std::size_t table) const noexcept {
    return numbered_[table];
  }

 private:
  GraphTables from_;
  GraphTables to_;
  std::vector<std::vector<std::uint32_t>> objects_;
  std::vector<std::vector<Object>> numbered_;
  std::map<std::tuple<TypeIndex, TypeIndex, std::uint64_t>, std::uint32_t> numbers_;
  std::deque<Object> queue_;
};

}  // namespace mf::described
