#pragma once
// R1. The sink that writes JSON (docs/json.md).

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/described/numbers.hpp"
#include "codec/described/own_types.hpp"
#include "codec/json_writer.hpp"
#include "mf/codec/described/schema.hpp"

namespace mf::described {

class JsonSink {
 public:
  JsonSink(const Schema& schema, const OwnTypes& own) noexcept : schema_(schema), own_(own) {}
  /// What was written; or why it cannot be.
  [[nodiscard]] codec::JsonWriter& writer() noexcept { return writer_; }

  struct Scope {
    const Type* type = nullptr;
    const Field* field = nullptr;  // that the optional is, if its name is not written yet
    std::size_t key = 0;           // where the key of the entry begins
    std::size_t members = 0;       // how many of `starts_` belong to what is around the record
  };

  void number(const Type& type, std::uint64_t bits);
  void octets(const Type& type, std::span<const std::byte> bytes);
  void numbers(const Type& container, const std::byte* values, std::size_t count);
  [[nodiscard]] static bool takes_images(const Type& /*of*/) noexcept { return false; }
  static void images(const Type& /*container*/, const std::byte* /*from*/, std::size_t /*count*/) noexcept {}
  [[nodiscard]] static bool takes_febird() noexcept { return false; }
  static void febird(std::span<const std::byte> /*bytes*/) noexcept {}
  [[nodiscard]] Scope open_sequence(const Type& container, std::size_t count);
  void element(const Scope& scope, std::size_t i);
  void close_sequence(const Scope& scope);
  [[nodiscard]] Scope open_map(const Type& map, std::size_t count);
  void key(Scope& scope);
  void mapped(const Scope& scope);
  void end_entry(const Scope& /*scope*/) noexcept {}
  void close_map(const Scope& scope);
  void absent(const Type& optional);
  [[nodiscard]] Scope open_present(const Type& optional);
  void close_present(const Scope& /*scope*/) noexcept {}
  [[nodiscard]] Scope open_record(const Type& type);
  void field(const Scope& scope, const Type& type, std::size_t i);
  void close_record(const Scope& scope);
  [[nodiscard]] Scope open_graph(const Type& root);
  void open_table(const Scope& scope, std::size_t table, std::string_view name);
  void object(const Scope& scope);
  void close_table(const Scope& scope);
  void close_graph(const Scope& scope);
  void reference(const Type& type, std::uint32_t number);
  [[nodiscard]] Scope open_union(const Type& type, std::size_t i);
  void close_union(const Scope& scope);

 private:
  /// To be called before a value: writes the name of its field.
  void name();

  const Schema& schema_;
  const OwnTypes& own_;
  codec::JsonWriter writer_;
  std::vector<std::size_t> starts_;  // of the fields of the records that are open
  const Field* pending_ = nullptr;
};

}  // namespace mf::described
