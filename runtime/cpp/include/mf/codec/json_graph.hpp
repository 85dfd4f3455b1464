// R1. Graphs as JSON (docs/json.md): their tables, in which a `ref` is the index of its object.
//
// References are read as indices, and name their objects when all tables are there: objects may be referred
// to before they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/codec/archive_graph.hpp"
#include "mf/codec/json_container.hpp"

namespace mf::codec {

/// What the tables of a graph do with objects of one type.
struct JsonTable {
  std::string_view name;
  const GraphType* type;
  void (*write)(JsonWriter& writer, const void* object);
  bool (*read)(JsonReader& reader, void* object);
};

/// The tables of a graph whose root is an S; generated code specialises it: `static std::span<const
/// JsonTable> tables()`.
template <class S>
struct JsonGraph;

template <class T>
[[nodiscard]] constexpr JsonTable json_table(std::string_view name) noexcept {
  return {
      name, &kGraphType<T>,
      [](JsonWriter& writer, const void* object) { Json<T>::write(writer, *static_cast<const T*>(object)); },
      [](JsonReader& reader, void* object) { return Json<T>::read(reader, *static_cast<T*>(object)); }};
}

namespace detail {

void write_json_graph(JsonWriter& writer, std::span<const JsonTable> tables, const GraphNumbers& numbers);
/// Null after a failure; else the root, which is one of `store`.
[[nodiscard]] void* read_json_graph(JsonReader& reader, std::span<const JsonTable> tables, GraphStore& store);

void write_json_reference(JsonWriter& writer, const void* object, const char* type);
/// What stands for the index until all objects are there.
[[nodiscard]] bool read_json_reference(JsonReader& reader, const char* type, void*& place);

}  // namespace detail

template <class T>
struct Json<Ref<T>> {
  static void write(JsonWriter& writer, const Ref<T>& value) {
    detail::write_json_reference(writer, value.get(), &kObjectType<T>);
  }
  [[nodiscard]] static bool read(JsonReader& reader, Ref<T>& value) {
    void* place = nullptr;
    const bool good = detail::read_json_reference(reader, &kObjectType<T>, place);
    value = static_cast<T*>(place);
    return good;
  }
};

/// A field of type `ref<T>?`: null is absent.
template <class T>
void write_json_reference(JsonWriter& writer, std::string_view name, const Ref<T>& value) {
  if (value) {
    write_json_member(writer, name, value);
  }
}
template <class T>
[[nodiscard]] bool read_json_reference(JsonReader& reader, Ref<T>& value) {
  return reader.kind() == JsonKind::null ? reader.read_null() : Json<Ref<T>>::read(reader, value);
}

template <class T>
struct Json<Graph<T>> {
  static void write(JsonWriter& writer, const Graph<T>& graph) {
    detail::write_json_graph(writer, JsonGraph<T>::tables(), Archive<Graph<T>>::numbers(graph));
  }
  [[nodiscard]] static bool read(JsonReader& reader, Graph<T>& graph) {
    GraphStore store;
    void* const root = detail::read_json_graph(reader, JsonGraph<T>::tables(), store);
    if (root == nullptr) {
      return false;
    }
    graph.adopt(std::move(store), static_cast<T*>(root));
    return true;
  }
};

}  // namespace mf::codec
