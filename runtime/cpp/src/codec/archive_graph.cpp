#include "mf/codec/archive_graph.hpp"

#include <algorithm>
#include <limits>

#include "mf/codec/archive.hpp"
#include "mf/core/printer.hpp"

namespace mf {

void detail::print_ref(Printer& printer, bool set) {
  printer.write(set ? "ref" : "none");
}

}  // namespace mf

namespace mf::codec {

namespace {

/// What a null reference is written as in a row, where leaving it out would move the others: no reader takes
/// it.
constexpr std::uint32_t kNoNumber = std::numeric_limits<std::uint32_t>::max();

/// Names an object's copy for every reference to it.
class Repointing final : public GraphVisitor {
 public:
  Repointing(const GraphNumbers& numbers, const GraphStore& copies) : numbers_(numbers), copies_(copies) {}

  [[nodiscard]] void* meet(void* object, const GraphType& type) override {
    const auto number = numbers_.number_of(object, type.type);
    const auto row = std::ranges::find(copies_, type.type, &GraphObjects::type);
    return static_cast<std::byte*>(row->first.get()) + number * type.bytes;
  }

 private:
  const GraphNumbers& numbers_;
  const GraphStore& copies_;
};

class FindsNull final : public GraphVisitor {
 public:
  [[nodiscard]] void* meet(void* object, const GraphType& /*type*/) override { return object; }
  [[nodiscard]] bool null() override { return false; }
};

[[nodiscard]] std::string place_of(std::string_view table, std::size_t number) {
  return std::string(table) + "[" + std::to_string(number) + "].";
}

[[nodiscard]] std::optional<std::string> violation_of(const GraphTable& table, std::size_t number,
                                                      const void* object) {
  const auto check = table.type->violation;
  const auto bad = check == nullptr ? std::nullopt : check(object);
  return bad ? std::optional(place_of(table.name, number) + *bad) : std::nullopt;
}

}  // namespace

// --- visitors

bool GraphVisitor::inside(std::string_view field) {
  path_.insert(0, path_.empty() || path_.front() == '[' ? std::string(field) : std::string(field) + '.');
  return false;
}

bool GraphVisitor::inside(std::size_t index) {
  std::string step = "[" + std::to_string(index) + "]";
  path_.insert(0, path_.empty() || path_.front() == '[' ? step : step + '.');
  return false;
}

// --- numbers

GraphNumbers::GraphNumbers(std::span<const GraphTable> tables, const void* root, const GraphStore& store)
    : types_(tables), store_(store), tables_(tables.size()) {
  // Numbering does not change objects: meet() returns the object that it was given.
  (void)meet(const_cast<void*>(root), *tables.front().type);
  visit_new();
  for (const GraphObjects& row : store) {
    const std::size_t table = table_of(row.type);
    if (table == types_.size()) {
      continue;  // made by a program that never referred to it from this type of graph
    }
    auto* const first = static_cast<std::byte*>(row.first.get());
    for (std::size_t i = 0; i < row.count; ++i) {
      (void)meet(first + i * types_[table].type->bytes, *types_[table].type);
    }
  }
  visit_new();
  in_order_ = std::ranges::all_of(store, [this](const GraphObjects& row) { return has_its_numbers(row); });
}

bool GraphNumbers::has_its_numbers(const GraphObjects& row) const noexcept {
  if (row.read == 0) {
    return true;
  }
  const std::size_t table = table_of(row.type);
  const auto* object = static_cast<const std::byte*>(row.first.get());
  for (std::size_t i = 0; i < row.read; ++i, object += types_[table].type->bytes) {
    if (tables_[table].objects[i] != object) {
      return false;
    }
  }
  return true;
}

void GraphNumbers::visit_new() {
  while (!queue_.empty()) {
    const Place place = queue_.front();
    queue_.pop_front();
    (void)types_[place.table].type->visit(tables_[place.table].objects[place.number], *this);
  }
}

void* GraphNumbers::meet(void* object, const GraphType& type) {
  const std::size_t table = table_of(type.type);
  auto& [objects, numbers] = tables_[table];
  const auto number = static_cast<std::uint32_t>(objects.size());
  if (numbers.try_emplace(object, number).second) {
    objects.push_back(object);
    queue_.push_back({static_cast<std::uint32_t>(table), number});
  }
  return object;
}

std::size_t GraphNumbers::table_of(const char* type) const noexcept {
  std::size_t table = 0;
  while (table < types_.size() && types_[table].type->type != type) ++table;
  return table;
}

std::uint32_t GraphNumbers::number_of(const void* object, const char* type) const noexcept {
  const auto& numbers = tables_[table_of(type)].numbers;
  const auto found = numbers.find(object);
  return found == numbers.end() ? kNoNumber : found->second;
}

std::size_t GraphNumbers::size() const noexcept {
  const UnknownScope scope(reading());
  std::size_t sum = unknown_size(store_.unknown_fields);
  for (std::size_t table = 0; table < tables_.size(); ++table) {
    const std::size_t tag = archive::tag_size(static_cast<std::uint32_t>(table + 1));
    for (const void* const object : tables_[table].objects) {
      const std::size_t size = types_[table].type->size(object, *this);
      sum += tag + varint_size(size) + size;
    }
  }
  return sum;
}

void GraphNumbers::write(BackWriter& writer) const noexcept {
  const UnknownScope scope(reading());
  writer.unknown(store_.unknown_fields);
  for (std::size_t table = tables_.size(); table-- > 0;) {
    const auto& objects = tables_[table].objects;
    const auto tag = archive::tag_of(static_cast<std::uint32_t>(table + 1), archive::Wire::length);
    for (std::size_t i = objects.size(); i-- > 0;) {
      types_[table].type->write(writer, objects[i], *this);
      writer.varint(tag);
    }
  }
}

std::vector<std::byte> GraphNumbers::bytes() const {
  std::vector<std::byte> bytes(counted(size(), ""));
  BackWriter writer(bytes.data() + bytes.size());
  write(writer);
  return bytes;
}

std::optional<std::string> GraphNumbers::null_in(std::size_t table, std::size_t number) const {
  FindsNull finds_null;
  if (types_[table].type->visit(tables_[table].objects[number], finds_null)) {
    return std::nullopt;
  }
  return place_of(types_[table].name, number) + finds_null.path() + ": the reference is null";
}

std::optional<std::string> GraphNumbers::null_reference() const {
  for (std::size_t table = 0; has_null_ && table < tables_.size(); ++table) {
    for (std::size_t i = 0; i < tables_[table].objects.size(); ++i) {
      if (auto bad = null_in(table, i)) {
        return bad;
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> GraphNumbers::violation() const {
  for (std::size_t table = 0; table < tables_.size(); ++table) {
    const auto& objects = tables_[table].objects;
    for (std::size_t i = 0; i < objects.size(); ++i) {
      if (has_null_) {
        if (auto bad = null_in(table, i)) {
          return bad;
        }
      }
      if (auto bad = violation_of(types_[table], i, objects[i])) {
        return bad;
      }
    }
  }
  return std::nullopt;
}

bool GraphNumbers::readable(unsigned levels) const {
  for (std::size_t table = 0; table < tables_.size(); ++table) {
    for (const void* const object : tables_[table].objects) {
      if (!types_[table].type->readable(object, levels)) {
        return false;
      }
    }
  }
  return true;
}

// --- rows

void* GraphRows::find(const char* type, std::size_t number) const noexcept {
  for (std::size_t table = 0; table < types_.size(); ++table) {
    if (types_[table].type->type == type) {
      const Row& row = rows_[table];
      return number < row.count ? row.first + number * types_[table].type->bytes : nullptr;
    }
  }
  return nullptr;
}

bool GraphRows::read(Reader& reader) {
  const UnknownScope scope(UnknownScope::kUnnumbered);
  const auto place = reader.place();
  if (!count(reader)) {
    return false;
  }
  if (rows_.front().count == 0) {
    return reader.fail(Fault::invalid_reference, "a graph has no root");
  }
  reader.return_to(place);
  const bool good = make(reader) && fill(reader);
  store_.reading = UnknownScope::graph();
  return good;
}

bool GraphRows::count(Reader& reader) {
  std::vector<archive::KnownField> known;  // without names: a table has no place in paths, only its objects
  for (std::size_t table = 0; table < types_.size(); ++table) {
    known.push_back({static_cast<std::uint32_t>(table + 1), ""});
  }
  archive::Message message(reader);
  while (message.next()) {
    const std::uint32_t number = message.tag() >> 3U;
    if (number > rows_.size() || message.tag() != archive::tag_of(number, archive::Wire::length)) {
      if (!message.skip(known, store_.unknown_fields)) {
        return false;
      }
      continue;
    }
    std::size_t length = 0;
    if (!archive::read_length(reader, length)) {
      return false;
    }
    reader.advance(length);
    ++rows_[number - 1].count;
  }
  return !reader.failed();
}

bool GraphRows::make(Reader& reader) {
  for (std::size_t table = 0; table < rows_.size(); ++table) {
    const GraphType& type = *types_[table].type;
    Row& row = rows_[table];
    if (!reader.charge(row.count, type.charged)) {
      return false;
    }
    if (row.count != 0) {
      store_.push_back(type.make(row.count));
      store_.back().read = row.count;
      row.first = static_cast<std::byte*>(store_.back().first.get());
    }
  }
  return true;
}

bool GraphRows::fill(Reader& reader) {
  std::vector<std::size_t> filled(rows_.size());
  archive::Message message(reader);
  while (message.next()) {
    const std::uint32_t number = message.tag() >> 3U;
    if (number > rows_.size()) {
      if (!message.skip({})) {
        return false;
      }
      continue;
    }
    const GraphType& type = *types_[number - 1].type;
    std::size_t& index = filled[number - 1];
    if (!type.read(reader, rows_[number - 1].first + index * type.bytes, *this)) {
      reader.inside(index);
      return reader.inside(types_[number - 1].name);
    }
    ++index;
  }
  return !reader.failed();
}

bool refuse_reference(Reader& reader, std::size_t start) {
  return reader.fail(Fault::invalid_reference, "a reference names no object of its table", start);
}

// --- whole graphs

std::optional<std::string> objects_violation(std::span<const GraphTable> tables, const GraphStore& store) {
  for (const GraphObjects& row : store) {
    const auto table =
        std::ranges::find(tables, row.type, [](const GraphTable& each) { return each.type->type; });
    if (table == tables.end() || table->type->violation == nullptr) {
      continue;
    }
    const auto* const first = static_cast<const std::byte*>(row.first.get());
    for (std::size_t i = 0; i < row.count; ++i) {
      if (auto bad = violation_of(*table, i, first + i * table->type->bytes)) {
        return bad;
      }
    }
  }
  return std::nullopt;
}

void* copy_graph(std::span<const GraphTable> tables, const void* root, const GraphStore& from,
                 GraphStore& store) {
  const GraphNumbers numbers(tables, root, from);
  GraphStore copies;
  for (std::size_t table = 0; table < tables.size(); ++table) {
    const GraphType& type = *tables[table].type;
    const auto& objects = numbers.objects(table);
    copies.push_back(type.make(objects.size()));
    if (numbers.in_order()) {
      for (const GraphObjects& row : from) {
        copies.back().read += row.type == type.type ? row.read : 0;
      }
    }
    auto* const first = static_cast<std::byte*>(copies.back().first.get());
    for (std::size_t i = 0; i < objects.size(); ++i) {
      type.copy(first + i * type.bytes, objects[i]);
    }
  }
  Repointing repointing(numbers, copies);
  for (std::size_t table = 0; table < tables.size(); ++table) {
    auto* const first = static_cast<std::byte*>(copies[table].first.get());
    for (std::size_t i = 0; i < copies[table].count; ++i) {
      (void)tables[table].type->visit(first + i * tables[table].type->bytes, repointing);
    }
  }
  copies.unknown_fields = from.unknown_fields;
  copies.reading = numbers.in_order() ? from.reading : 0;
  void* const copied = copies.front().first.get();
  store = std::move(copies);
  return copied;
}

std::strong_ordering compare_graphs(std::span<const GraphTable> tables, const void* left,
                                    const GraphStore& left_store, const void* right,
                                    const GraphStore& right_store) {
  return GraphNumbers(tables, left, left_store).bytes() <=> GraphNumbers(tables, right, right_store).bytes();
}

}  // namespace mf::codec
