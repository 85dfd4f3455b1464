// R1. mf::Graph<T>: a value of tier archive whose objects refer to each other, with everything that it refers
// to.
//
//   mf::Graph<Config> graph;
//   mf::Ref<Person> ann = graph.make<Person>({.name = "Ann"});
//   graph->owner = ann;                 // graph.root().owner
//
// One handle owns all objects: they live as long as it does, cycles and all, at addresses that moving the
// graph does not change. A copy is deep, and the same in its shape. Two graphs are equal, and ordered, as
// their bytes are.
// What a reader did not know is kept as long as it means what it meant: docs/protocol.md section 8.
// A new graph has a new root; one that was moved from is a new one again. Nothing here recurses along
// references, so that chains may have any length.
#pragma once

#include <compare>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mf/codec/ref.hpp"
#include "mf/codec/unknown_fields.hpp"
#include "mf/core/fresh.hpp"

namespace mf {

namespace codec {

struct GraphTable;  // one of the tables of a graph: mf/codec/archive_graph.hpp

/// Its address identifies a type of objects.
template <class T>
inline constexpr char kObjectType = 0;

/// A row of objects of one type, which the graph owns.
struct GraphObjects {
  const char* type;
  std::size_t count;
  std::unique_ptr<void, void (*)(void*)> first;
  std::size_t read = 0;  // so many of them, from the first on, came from a reader: their places are numbers
};

/// The objects of a graph, and what its reader met besides.
struct GraphStore : std::vector<GraphObjects> {
  UnknownFields unknown_fields{};  // of the graph's message: tables of a newer schema
  std::size_t reading = 0;         // the number in unknown fields that are its own; 0: there are none
};

/// Copies the root and what it refers to into `store`, and gives the copy of the root.
[[nodiscard]] void* copy_graph(std::span<const GraphTable> tables, const void* root, const GraphStore& from,
                               GraphStore& store);
/// The order of their bytes.
[[nodiscard]] std::strong_ordering compare_graphs(std::span<const GraphTable> tables, const void* left,
                                                  const GraphStore& left_store, const void* right,
                                                  const GraphStore& right_store);

}  // namespace codec

template <class T>
class Graph {
 public:
  Graph() noexcept = default;
  /// A graph with this root; whatever that refers to is not the graph's, and has to live as long.
  explicit Graph(T root) { make_root(std::move(root)); }
  Graph(const Graph& other) {
    if (!other.store_.empty()) {
      root_ = static_cast<T*>(codec::copy_graph(tables(), &other.root(), other.store_, store_));
    }
  }
  Graph(Graph&& other) noexcept
      : store_(std::exchange(other.store_, {})), root_(std::exchange(other.root_, nullptr)) {}
  Graph& operator=(const Graph& other) {
    if (this != &other) {
      Graph(other).swap(*this);
    }
    return *this;
  }
  Graph& operator=(Graph&& other) noexcept {
    Graph(std::move(other)).swap(*this);
    return *this;
  }
  ~Graph() = default;

  [[nodiscard]] T& root() {
    if (root_ == nullptr) {
      make_root(fresh<T>());
    }
    return *root_;
  }
  [[nodiscard]] const T& root() const {
    static const T kNew = fresh<T>();
    return root_ == nullptr ? kNew : *root_;
  }
  T& operator*() { return root(); }
  const T& operator*() const { return root(); }
  T* operator->() { return &root(); }
  const T* operator->() const { return &root(); }

  /// A new object of the graph, of any type that its references may name.
  template <class U>
  Ref<U> make(U value = fresh<U>()) {
    return own(std::make_unique<U>(std::move(value)));
  }

  void swap(Graph& other) noexcept {
    std::swap(store_, other.store_);
    std::swap(root_, other.root_);
  }

  /// For codecs: all objects in the order in which they were made, and the root among them, if it was made.
  [[nodiscard]] const codec::GraphStore& store() const noexcept { return store_; }
  /// For codecs: takes over objects, and a root that is one of them.
  void adopt(codec::GraphStore store, T* root) noexcept {
    store_ = std::move(store);
    root_ = root;
  }

  friend bool operator==(const Graph& left, const Graph& right) { return (left <=> right) == 0; }
  friend std::strong_ordering operator<=>(const Graph& left, const Graph& right) {
    return codec::compare_graphs(tables(), &left.root(), left.store_, &right.root(), right.store_);
  }
  friend void print_to(Printer& printer, const Graph& graph) { print_to(printer, graph.root()); }

 private:
  // Found beside the types, where generated code declares them.
  static std::span<const codec::GraphTable> tables() {
    static_assert(
        requires(const T* root) { graph_tables(root); },
        "values of this type refer to no objects: they need no mf::Graph");
    return graph_tables(static_cast<const T*>(nullptr));
  }

  template <class U>
  U* own(std::unique_ptr<U> object) {
    U* const made = object.get();
    codec::GraphObjects row{
        &codec::kObjectType<U>, 1, {nullptr, [](void* at) { delete static_cast<U*>(at); }}};
    row.first.reset(object.release());
    store_.push_back(std::move(row));
    return made;
  }
  void make_root(T value) { root_ = own(std::make_unique<T>(std::move(value))); }

  codec::GraphStore store_;
  T* root_ = nullptr;
};

}  // namespace mf
