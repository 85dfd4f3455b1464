// R1. Tier archive with references: graphs of objects as flat tables (docs/proto.md).
//
// A type that holds references (Archive<T>::kLinked) has two things more than others: size(), write() and
// read() take the tables of the graph, and
//   static bool visit(S& value, GraphVisitor& visitor)      every reference, in the order of field numbers
// graph_tables(const S*) is declared beside it: the tables of a graph whose root it is. Everything here walks
// tables and queues, never from object to object, so that chains may have any length.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mf/codec/archive_field.hpp"
#include "mf/codec/constraints.hpp"
#include "mf/codec/graph.hpp"
#include "mf/codec/readable.hpp"

namespace mf::codec {

struct GraphType;

/// Is shown every reference of an object, and may name another object in its place.
class GraphVisitor {
 public:
  virtual ~GraphVisitor() = default;
  GraphVisitor() = default;
  GraphVisitor(const GraphVisitor&) = delete;
  GraphVisitor& operator=(const GraphVisitor&) = delete;

  [[nodiscard]] virtual void* meet(void* object, const GraphType& type) = 0;

  /// A null reference where the schema wants one; false ends the walk through its object.
  [[nodiscard]] virtual bool null() { return true; }
  /// Where it ended; both return false.
  bool inside(std::string_view field);
  bool inside(std::size_t index);
  /// From the object on.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

/// The objects of a graph by their numbers, for a writer.
class GraphNumbers final : public GraphVisitor {
 public:
  /// Numbers what the root refers to, breadth first, then what the graph owns besides.
  GraphNumbers(std::span<const GraphTable> tables, const void* root, const GraphStore& store);

  [[nodiscard]] void* meet(void* object, const GraphType& type) override;
  [[nodiscard]] bool null() override { return has_null_ = true; }
  [[nodiscard]] std::uint32_t number_of(const void* object, const char* type) const noexcept;
  [[nodiscard]] const std::vector<void*>& objects(std::size_t table) const noexcept {
    return tables_[table].objects;
  }
  [[nodiscard]] std::span<const GraphTable> tables() const noexcept { return types_; }

  /// Has every object that was read the table and the number that it had? Only then unknown fields are
  /// written, which may hold such numbers.
  [[nodiscard]] bool in_order() const noexcept { return in_order_; }

  [[nodiscard]] std::size_t size() const noexcept;
  void write(BackWriter& writer) const noexcept;
  [[nodiscard]] std::vector<std::byte> bytes() const;
  /// A reference that is null and must not be.
  [[nodiscard]] std::optional<std::string> null_reference() const;
  /// The same, or a constraint that an object breaks.
  [[nodiscard]] std::optional<std::string> violation() const;
  /// Is every object surely readable?
  [[nodiscard]] bool readable(unsigned levels) const;

 private:
  struct Table {
    std::vector<void*> objects;
    std::unordered_map<const void*, std::uint32_t> numbers;
  };
  struct Place {
    std::uint32_t table;
    std::uint32_t number;
  };
  void visit_new();
  [[nodiscard]] bool has_its_numbers(const GraphObjects& row) const noexcept;
  /// Whose unknown fields are written.
  [[nodiscard]] std::size_t reading() const noexcept { return in_order_ ? store_.reading : 0; }
  [[nodiscard]] std::optional<std::string> null_in(std::size_t table, std::size_t number) const;
  [[nodiscard]] std::size_t table_of(const char* type) const noexcept;

  std::span<const GraphTable> types_;
  const GraphStore& store_;
  std::vector<Table> tables_;
  std::deque<Place> queue_;
  bool in_order_ = true;
  bool has_null_ = false;
};

/// The objects of a graph that is read: all are there before the first one is read.
class GraphRows {
 public:
  explicit GraphRows(std::span<const GraphTable> tables) : types_(tables), rows_(tables.size()) {}

  [[nodiscard]] void* find(const char* type, std::size_t number) const noexcept;
  [[nodiscard]] bool read(Reader& reader);
  [[nodiscard]] void* root() const noexcept { return rows_.front().first; }
  [[nodiscard]] GraphStore take() && noexcept { return std::move(store_); }

 private:
  struct Row {
    std::byte* first = nullptr;
    std::size_t count = 0;
  };
  [[nodiscard]] bool count(Reader& reader);
  [[nodiscard]] bool make(Reader& reader);
  [[nodiscard]] bool fill(Reader& reader);

  std::span<const GraphTable> types_;
  std::vector<Row> rows_;
  GraphStore store_;
};

bool refuse_reference(Reader& reader, std::size_t start);

/// What the tables do with objects of one type.
struct GraphType {
  const char* type;
  std::size_t bytes;    // of an object: the distance to the next one in its row
  std::size_t charged;  // for a new object: with what its defaults hold elsewhere
  GraphObjects (*make)(std::size_t count);
  void (*copy)(void* to, const void* from);
  bool (*visit)(void* object, GraphVisitor& visitor);
  std::size_t (*size)(const void* object, const GraphNumbers& numbers) noexcept;
  void (*write)(BackWriter& writer, const void* object, const GraphNumbers& numbers) noexcept;
  bool (*read)(Reader& reader, void* object, const GraphRows& rows);
  std::optional<std::string> (*violation)(const void* object);  // null where there are no constraints
  bool (*readable)(const void* object, unsigned levels);
};

struct GraphTable {
  std::string_view name;
  const GraphType* type;
};

/// The constraints of objects that were just read, all of them in the order of their tables.
[[nodiscard]] std::optional<std::string> objects_violation(std::span<const GraphTable> tables,
                                                           const GraphStore& store);

namespace archive {

template <class T>
struct Value<Ref<T>> {
  static constexpr Wire kWire = Wire::varint;
  static std::size_t size(const Ref<T>& value, const GraphNumbers& numbers) noexcept {
    return varint_size(numbers.number_of(value.get(), &kObjectType<T>));
  }
  static void write(BackWriter& writer, const Ref<T>& value, const GraphNumbers& numbers) noexcept {
    writer.varint(numbers.number_of(value.get(), &kObjectType<T>));
  }
  [[nodiscard]] static bool read(Reader& reader, Ref<T>& value, const GraphRows& rows) {
    const std::size_t start = reader.offset();
    std::uint32_t number = 0;
    if (!detail::read_unsigned(reader, number)) [[unlikely]] {
      return false;
    }
    value = static_cast<T*>(rows.find(&kObjectType<T>, number));
    return value.has_value() || refuse_reference(reader, start);
  }
  /// What it is in a map's entry without it.
  [[nodiscard]] static bool zero(Reader& reader, Ref<T>& value, const GraphRows& rows) {
    value = static_cast<T*>(rows.find(&kObjectType<T>, 0));
    return value.has_value() || refuse_reference(reader, reader.offset());
  }
};

/// `ref<T>?` beside `ref<T>`: null is absent.
template <class T>
struct Field<Ref<T>> {
  static std::size_t size(std::uint32_t number, const Ref<T>& value, const GraphNumbers& numbers) noexcept {
    return value ? size_one(number, value, numbers) : 0;
  }
  static void write(BackWriter& writer, std::uint32_t number, const Ref<T>& value,
                    const GraphNumbers& numbers) noexcept {
    if (value) write_one(writer, number, value, numbers);
  }
};

// --- the references in a value

template <class T>
struct Visit;

template <class T>
[[nodiscard]] bool visit(GraphVisitor& visitor, T& value) {
  return Visit<T>::all(visitor, value);
}

/// A reference that may be null.
template <class T>
[[nodiscard]] bool visit_optional(GraphVisitor& visitor, Ref<T>& value) {
  return !value || visit(visitor, value);
}

template <ArchiveCoded T>
struct Visit<T> {
  static bool all(GraphVisitor& visitor, T& value) { return Archive<T>::visit(value, visitor); }
};

template <Optional T>
struct Visit<T> {
  static bool all(GraphVisitor& visitor, T& value) { return !value || visit(visitor, *value); }
};

namespace detail {

template <class Row>
struct VisitRow {
  static bool all(GraphVisitor& visitor, Row& values) {
    std::size_t index = 0;
    for (auto& each : values) {
      if (!visit(visitor, each)) return visitor.inside(index);
      ++index;
    }
    return true;
  }
};

}  // namespace detail

template <class T>
struct Visit<std::vector<T>> : detail::VisitRow<std::vector<T>> {};
template <class T, std::size_t N>
struct Visit<std::array<T, N>> : detail::VisitRow<std::array<T, N>> {};

template <class K, class V>
struct Visit<std::map<K, V>> {
  static bool all(GraphVisitor& visitor, std::map<K, V>& values) {
    std::size_t index = 0;
    for (auto& [key, value] : values) {
      if (!visit(visitor, value)) return visitor.inside(index);
      ++index;
    }
    return true;
  }
};

}  // namespace archive

namespace detail {

template <class T>
struct Objects {
  static GraphObjects make(std::size_t count) {
    return {&kObjectType<T>, count, {new T[count], [](void* at) { delete[] static_cast<T*>(at); }}};
  }
  static void copy(void* to, const void* from) { *static_cast<T*>(to) = *static_cast<const T*>(from); }
  static bool visit(void* object, GraphVisitor& visitor) {
    if constexpr (Archive<T>::kLinked) {
      return Archive<T>::visit(*static_cast<T*>(object), visitor);
    } else {
      return true;
    }
  }
  static std::size_t size(const void* object, const GraphNumbers& numbers) noexcept {
    return archive::Value<T>::body_size(*static_cast<const T*>(object), numbers);
  }
  static void write(BackWriter& writer, const void* object, const GraphNumbers& numbers) noexcept {
    archive::Value<T>::write(writer, *static_cast<const T*>(object), numbers);
  }
  static bool read(Reader& reader, void* object, const GraphRows& rows) {
    return archive::Value<T>::read(reader, *static_cast<T*>(object), rows);
  }
  static std::optional<std::string> violation(const void* object) {
    return codec::violation(*static_cast<const T*>(object));
  }
  static bool readable(const void* object, unsigned levels) {
    return codec::readable(*static_cast<const T*>(object), levels);
  }
};

}  // namespace detail

template <class T>
inline constexpr GraphType kGraphType{
    .type = &kObjectType<T>,
    .bytes = sizeof(T),
    .charged = kSizeOfNew<T>,
    .make = &detail::Objects<T>::make,
    .copy = &detail::Objects<T>::copy,
    .visit = &detail::Objects<T>::visit,
    .size = &detail::Objects<T>::size,
    .write = &detail::Objects<T>::write,
    .read = &detail::Objects<T>::read,
    .violation = Constrained<T> ? &detail::Objects<T>::violation : nullptr,
    .readable = &detail::Objects<T>::readable,
};

namespace archive {

template <class T>
struct Visit<Ref<T>> {
  static bool all(GraphVisitor& visitor, Ref<T>& value) {
    if (!value) return visitor.null();
    value = static_cast<T*>(visitor.meet(value.get(), kGraphType<T>));
    return true;
  }
};

}  // namespace archive

/// A graph is a message of its own; references do not lead out of it.
template <class T>
struct Archive<Graph<T>> {
  static constexpr bool kLinked = false;

  static std::size_t size(const Graph<T>& graph) noexcept { return numbers(graph).size(); }
  static void write(BackWriter& writer, const Graph<T>& graph) noexcept { numbers(graph).write(writer); }
  [[nodiscard]] static bool read(Reader& reader, Graph<T>& graph) {
    GraphRows rows(tables());
    if (!rows.read(reader)) [[unlikely]] {
      return false;
    }
    auto* const root = static_cast<T*>(rows.root());
    graph.adopt(std::move(rows).take(), root);
    return true;
  }
  /// For callers that may throw: a graph that no reader accepts is not written. As mf::to_bytes, with the
  /// objects numbered once.
  [[nodiscard]] static std::vector<std::byte> bytes(const Graph<T>& graph) {
    const GraphNumbers numbered = numbers(graph);
    auto bad = numbered.violation();
    std::vector<std::byte> bytes;
    if (!bad) {
      bytes = numbered.bytes();
      if (!numbered.readable(kSureLevels)) {
        bad = codec::detail::refusal_of(bytes, &codec::detail::reads<Tier::archive, Graph<T>>);
      }
    }
    if (bad) {
      refuse_value(kShortName<T>, *bad);
    }
    return bytes;
  }
  [[nodiscard]] static GraphNumbers numbers(const Graph<T>& graph) {
    return {tables(), &graph.root(), graph.store()};
  }

 private:
  static std::span<const GraphTable> tables() { return graph_tables(static_cast<const T*>(nullptr)); }
};

template <class T>
inline constexpr TypeInfo kTypeInfo<Graph<T>>{.tier = Tier::archive, .name = kTypeInfo<T>.name};

/// Objects stand at the level of the graph.
template <class T>
struct Readable<Graph<T>> {
  static constexpr bool kAlways = false;
  [[nodiscard]] static bool holds(const Graph<T>& graph, unsigned levels) {
    return Archive<Graph<T>>::numbers(graph).readable(levels);
  }
};

/// Every object keeps to its constraints, and no reference is null that must not be.
template <class T>
struct Constraints<Graph<T>> {
  static std::optional<std::string> violation(const Graph<T>& graph) {
    return Archive<Graph<T>>::numbers(graph).violation();
  }
  /// Readers refuse null references themselves.
  static std::optional<std::string> read_violation(const Graph<T>& graph) {
    return objects_violation(graph_tables(static_cast<const T*>(nullptr)), graph.store());
  }
};

}  // namespace mf::codec
