#include "mf/codec/json_graph.hpp"

#include <algorithm>
#include <utility>

namespace mf::codec {

/// The references of the graph that is read, in the order of the text.
struct JsonReferences {
  struct Met {
    std::size_t offset;
    const char* type;
    std::uint32_t index;
  };
  std::vector<Met> met;
  std::size_t refused = JsonReader::kAnyCount;  // the offset of the one that names no object
};

namespace {

constexpr std::size_t kObjectOverhead = 64;  // of a row of the store

struct Row {
  const GraphType* type;
  std::vector<void*> objects;
};

/// Puts objects in the place of their indices.
class Resolving final : public GraphVisitor {
 public:
  explicit Resolving(const std::vector<Row>& rows) : rows_(rows) {}

  [[nodiscard]] void* meet(void* place, const GraphType& type) override {
    const auto row = std::ranges::find(rows_, &type, &Row::type);
    return row->objects[reinterpret_cast<std::uintptr_t>(place) - 1];
  }

 private:
  const std::vector<Row>& rows_;
};

class GraphReading {
 public:
  GraphReading(JsonReader& reader, std::span<const JsonTable> tables) : reader_(reader), tables_(tables) {}

  [[nodiscard]] bool read(JsonReferences& references) {
    rows_.clear();
    store_.clear();
    std::vector<JsonField> fields;
    for (const JsonTable& table : tables_) {
      fields.push_back({table.name, false});
      rows_.push_back({table.type, {}});
    }
    references.met.clear();
    JsonReferences* const outer = std::exchange(reader_.references(), &references);
    const bool good =
        read_json_object(reader_, fields, [this](std::size_t table) { return read_row(table); });
    reader_.references() = outer;
    return good;
  }

  /// Finds the first reference that names nothing.
  [[nodiscard]] bool check(JsonReferences& references) const {
    for (const auto& each : references.met) {
      const auto row = std::ranges::find(rows_, each.type, [](const Row& of) { return of.type->type; });
      if (row == rows_.end() || each.index >= row->objects.size()) {
        references.refused = each.offset;
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] void* finish(GraphStore& store) {
    if (rows_.front().objects.empty()) {
      reader_.fail(Fault::invalid_reference, "a graph has no root", reader_.offset() - 1);
      return nullptr;
    }
    Resolving resolving(rows_);
    for (const Row& row : rows_) {
      for (void* const object : row.objects) {
        (void)row.type->visit(object, resolving);
      }
    }
    store = std::move(store_);
    return rows_.front().objects.front();
  }

 private:
  [[nodiscard]] bool read_row(std::size_t table) {
    if (!reader_.open_array()) {
      return false;
    }
    const GraphType& type = *tables_[table].type;
    JsonStep step = JsonStep::failed;
    for (std::size_t i = 0; (step = reader_.next_element(i)) == JsonStep::item; ++i) {
      if (!reader_.charge(1, type.charged + kObjectOverhead)) {
        return reader_.inside(i);
      }
      store_.push_back(type.make(1));
      rows_[table].objects.push_back(store_.back().first.get());
      if (!tables_[table].read(reader_, rows_[table].objects.back())) {
        return reader_.inside(i);
      }
    }
    return step == JsonStep::end;
  }

  JsonReader& reader_;
  std::span<const JsonTable> tables_;
  std::vector<Row> rows_;
  GraphStore store_;
};

}  // namespace

namespace detail {

void write_json_graph(JsonWriter& writer, std::span<const JsonTable> tables, const GraphNumbers& numbers) {
  if (!writer.open_object()) {
    return;
  }
  const GraphNumbers* const outer = std::exchange(writer.numbers(), &numbers);
  for (std::size_t table = 0; table < tables.size(); ++table) {
    writer.member(tables[table].name);
    if (writer.open_array()) {
      for (const void* const object : numbers.objects(table)) {
        writer.separate();
        tables[table].write(writer, object);
      }
      writer.close_array();
    }
  }
  writer.numbers() = outer;
  writer.close_object();
}

void* read_json_graph(JsonReader& reader, std::span<const JsonTable> tables, GraphStore& store) {
  GraphReading reading(reader, tables);
  JsonReferences references;
  const auto place = reader.place();
  if (!reading.read(references)) {
    return nullptr;
  }
  if (!reading.check(references)) {
    // Once more, up to the reference at fault, whose path is known there.
    reader.return_to(place);
    (void)reading.read(references);
    return nullptr;
  }
  return reading.finish(store);
}

void write_json_reference(JsonWriter& writer, const void* object, const char* type) {
  if (writer.numbers() == nullptr || object == nullptr) {
    writer.fail(object == nullptr ? "a reference is null that must not be"
                                  : "a reference is written outside of its mf::Graph");
    writer.null();
    return;
  }
  writer.number(std::uint64_t{writer.numbers()->number_of(object, type)});
}

bool read_json_reference(JsonReader& reader, const char* type, void*& place) {
  std::uint64_t index = 0;
  if (!read_json_integer(reader, Json<std::uint32_t>::kBase, index)) {
    return false;
  }
  JsonReferences* const references = reader.references();
  if (references == nullptr || references->refused == reader.start()) {
    return reader.fail(Fault::invalid_reference, references == nullptr
                                                     ? "a reference stands outside of a graph"
                                                     : "a reference names no object of its table");
  }
  references->met.push_back({reader.start(), type, static_cast<std::uint32_t>(index)});
  place = reinterpret_cast<void*>(static_cast<std::uintptr_t>(index) + 1);
  return true;
}

}  // namespace detail
}  // namespace mf::codec
