// Graphs (docs/protocol.md, section 8): the tables of a message first, then each object where its bytes are.
//
// Left to the pure codec: graphs with unknown fields, and with objects that nothing refers to.
#include <algorithm>

#include "decoder.hpp"

namespace mf::native {

struct Decoder::Graph {
  struct Object {
    std::size_t first = 0;  // its bytes
    std::size_t last = 0;
    Owned made;
    const Field* chosen = nullptr;    // of a union
    std::vector<std::size_t> refers;  // to objects, by their place in `objects`
  };
  const std::vector<std::uint32_t>& nodes;  // of the tables
  std::vector<std::vector<std::size_t>> tables;
  std::vector<Object> objects;  // in the order of their bytes
  Object* reading = nullptr;

  [[nodiscard]] bool is_connected() const {
    std::vector<bool> met(objects.size());
    std::vector<std::size_t> waiting{tables.front().front()};
    met[waiting.front()] = true;
    std::size_t count = 0;
    while (!waiting.empty()) {
      const std::size_t at = waiting.back();
      waiting.pop_back();
      ++count;
      for (const std::size_t other : objects[at].refers)
        if (!met[other]) {
          met[other] = true;
          waiting.push_back(other);
        }
    }
    return count == objects.size();
  }
};

PyObject* Decoder::graph(const Node& root) {
  Graph graph{root.tables, {}, {}, nullptr};
  graph.tables.resize(root.tables.size());
  if (!find_objects(graph) || graph.tables.front().empty() || !make_objects(graph)) return nullptr;
  Graph* const around = std::exchange(graph_, &graph);
  const std::size_t end = end_;
  const bool is_good = read_objects(graph);
  graph_ = around;
  pos_ = end_ = end;
  if (!is_good || !graph.is_connected()) return nullptr;
  return graph.objects[graph.tables.front().front()].made.release();
}

bool Decoder::find_objects(Graph& graph) {
  while (pos_ < end_) {
    std::uint32_t number = 0;
    std::uint8_t wire = 0;
    std::size_t size = 0;
    if (!tag(number, wire) || number > graph.tables.size() || wire != 2 || !length(size, false)) return false;
    if (!charge(64 + plan_.node(graph.nodes[number - 1]).memory)) return false;
    graph.tables[number - 1].push_back(graph.objects.size());
    graph.objects.push_back({pos_, pos_ + size, Owned(), nullptr, {}});
    pos_ += size;
  }
  return true;
}

bool Decoder::make_objects(Graph& graph) {
  for (std::size_t table = 0; table < graph.tables.size(); ++table) {
    const Node& node = plan_.node(graph.nodes[table]);
    for (const std::size_t at : graph.tables[table]) {
      Graph::Object& object = graph.objects[at];
      PyTypeObject* type = node.type;
      if (node.op == Op::alternatives) {
        pos_ = object.first;
        std::uint32_t number = 0;
        std::uint8_t wire = 0;
        if (!tag(number, wire)) return false;
        const auto found = std::ranges::find(node.fields, number, &Field::number);
        if (found == node.fields.end() || found->value < 0) return false;
        object.chosen = &*found;
        type = found->type;
      }
      object.made = Owned(type->tp_alloc(type, 0));
      if (!object.made) return false;
    }
  }
  return true;
}

bool Decoder::read_objects(Graph& graph) {
  std::vector<const Node*> node_of(graph.objects.size());
  for (std::size_t table = 0; table < graph.tables.size(); ++table)
    for (const std::size_t at : graph.tables[table]) node_of[at] = &plan_.node(graph.nodes[table]);
  for (std::size_t at = 0; at < graph.objects.size(); ++at) {
    Graph::Object& object = graph.objects[at];
    const Node& node = *node_of[at];
    graph.reading = &object;
    pos_ = object.first;
    end_ = object.last;
    budget_ += node.memory;  // which was charged when the object was made
    if (node.op == Op::structure) {
      if (!message_into(node, object.made.get())) return false;
      continue;
    }
    const Field* chosen = nullptr;
    PyObject* inner = nullptr;
    if (!union_value(node, chosen, inner)) return false;
    Owned kept(inner);
    if (chosen != object.chosen) return false;
    slot_of(object.made.get(), chosen->value) = kept.release();
  }
  return true;
}

PyObject* Decoder::reference(const Node& node) {
  std::uint64_t number = 0;
  if (graph_ == nullptr || !varint(number, false)) return nullptr;
  const auto table = std::ranges::find(graph_->nodes, node.element);
  if (table == graph_->nodes.end()) return nullptr;
  const auto& own = graph_->tables[static_cast<std::size_t>(table - graph_->nodes.begin())];
  if (number >= own.size()) return nullptr;
  graph_->reading->refers.push_back(own[number]);
  return Py_NewRef(graph_->objects[own[number]].made.get());
}

}  // namespace mf::native
