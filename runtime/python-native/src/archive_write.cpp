// Writes tier archive, and graphs: a table for each type that is referred to.
//
// Left to the pure codec: graphs with unknown fields or with objects that nothing refers to.
#include <algorithm>
#include <memory>
#include <unordered_map>

#include "encoder.hpp"

namespace mf::native {

namespace {

constexpr std::uint8_t kBytes = 2;

}  // namespace

bool Encoder::message(const Node& node, PyObject* given) {
  if (!enter()) return false;
  if (Py_TYPE(given) != node.type) return false;
  for (const std::uint32_t i : node.by_number) {
    const Field& each = node.fields[i];
    PyObject* const found = slot_of(given, each.slot);
    if (found == nullptr) return false;
    const Owned part = Owned::share(found);
    if (!field(each, part.get())) return false;
  }
  PyObject* const unknown = slot_of(given, node.unknown);
  if (unknown == nullptr || !PyBytes_CheckExact(unknown)) return false;
  out_->put(PyBytes_AS_STRING(unknown), static_cast<std::size_t>(PyBytes_GET_SIZE(unknown)));
  --depth_;
  return true;
}

bool Encoder::union_message(const Node& node, PyObject* given) {
  for (const Field& each : node.fields) {
    if (Py_TYPE(given) != each.type || each.value < 0) continue;
    const Owned inner(Py_XNewRef(slot_of(given, each.value)));
    if (!inner || !enter() || !tagged(each.number, plan_.node(each.node), inner.get())) return false;
    --depth_;
    return true;
  }
  return false;
}

/// A field of a struct, or what a message around a container holds: nothing for what is absent or empty.
bool Encoder::field(const Field& field, PyObject* given) {
  const Node& node = plan_.node(field.node);
  if (field.mode == Mode::single) {
    if (field.optional && given == Py_None) return true;
    return tagged(field.number, node, given);
  }
  const bool is_good = field.mode == Mode::map ? pairs(field, node, given) : repeated(field, node, given);
  return is_good && hold(field.tests, given);
}

bool Encoder::repeated(const Field& field, const Node& node, PyObject* given) {
  const Node& element = plan_.node(node.element);
  const bool is_set = field.mode == Mode::set;
  if (is_set ? !PyAnySet_CheckExact(given) : !is_list(given)) return false;
  const Owned values = is_set ? in_order(given) : Owned::share(given);
  if (!values) return false;
  const Py_ssize_t length = size_of(values.get());
  if (field.mode == Mode::array && length != node.length) return false;
  if (length == 0) return true;
  if (!enter()) return false;
  const bool is_packed = element.wire != kBytes;
  std::size_t begin = 0;
  if (is_packed) {
    out_->varint(std::uint64_t{field.number} << 3U | kBytes);
    out_->put(0);
    begin = out_->size();
  }
  for (Py_ssize_t i = 0; i < length; ++i) {
    if (size_of(values.get()) != length) return false;
    const Owned item = item_of(values.get(), i);
    if (!(is_packed ? payload(element, item.get()) : tagged(field.number, element, item.get()))) return false;
  }
  if (is_packed) out_->close(begin);
  --depth_;
  return true;
}

bool Encoder::pairs(const Field& field, const Node& node, PyObject* given) {
  if (!PyDict_CheckExact(given)) return false;
  if (PyDict_GET_SIZE(given) == 0) return true;
  const Owned keys = in_order(given);
  if (!keys || !enter()) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(keys.get()); ++i) {
    PyObject* const key = PyList_GET_ITEM(keys.get(), i);
    const Owned item(Py_XNewRef(PyDict_GetItemWithError(given, key)));
    out_->varint(std::uint64_t{field.number} << 3U | kBytes);
    out_->put(0);
    const std::size_t begin = out_->size();
    if (!item || !tagged(1, plan_.node(node.key), key) || !tagged(2, plan_.node(node.element), item.get()))
      return false;
    out_->close(begin);
  }
  --depth_;
  return true;
}

/// One value behind its tag.
bool Encoder::tagged(std::uint32_t number, const Node& node, PyObject* given) {
  if (node.op == Op::checked)
    return tagged(number, plan_.node(node.element), given) && hold(node.tests, given);
  out_->varint(std::uint64_t{number} << 3U | node.wire);
  return payload(node, given);
}

/// One value without its tag; behind its length, if it has one.
bool Encoder::payload(const Node& node, PyObject* given) {
  std::uint64_t bits = 0;
  switch (node.form) {
    case Form::none:
      break;
    case Form::fixed32:
    case Form::fixed64: {
      const std::size_t at = out_->size();
      static_cast<void>(out_->grow(node.form == Form::fixed32 ? 4 : 8));
      return laid(node, given, at);
    }
    default:
      if (!bits_of(node, given, bits)) return false;
      out_->varint(node.form == Form::zigzag ? zigzag(bits) : bits);
      return true;
  }
  switch (node.op) {
    case Op::checked:
      return payload(plan_.node(node.element), given) && hold(node.tests, given);
    case Op::string:
      return text(given);
    case Op::bytes:
      return octets(given);
    case Op::uuid: {
      out_->put(16);
      const std::size_t at = out_->size();
      static_cast<void>(out_->grow(16));
      return laid(node, given, at);
    }
    case Op::reference:
      return reference(node, given);
    default:
      break;
  }
  out_->put(0);
  const std::size_t begin = out_->size();
  bool is_good = false;
  if (node.op == Op::custom) {
    is_good = custom(node, given);
  } else if (node.op == Op::structure || node.op == Op::alternatives) {
    is_good = !node.archive                 ? foreign(node, given)
              : node.op == Op::alternatives ? union_message(node, given)
                                            : message(node, given);
  } else {
    is_good = !node.fields.empty() && field(node.fields.front(), given);
  }
  if (is_good) out_->close(begin);
  return is_good;
}

bool Encoder::foreign(const Node& node, PyObject* given) {
  Graph* const around = std::exchange(graph_, nullptr);
  const bool is_good = value(node, given);
  graph_ = around;
  return is_good;
}

// --- graphs

/// While one is written: its tables, and the objects that are to be written yet.
struct Encoder::Graph {
  struct Table {
    std::unordered_map<PyObject*, std::uint64_t> numbers;
    Output out;
  };
  const std::vector<std::uint32_t>& nodes;  // of the tables
  std::vector<std::unique_ptr<Table>> tables;
  std::vector<std::pair<std::size_t, Owned>> waiting;  // by table; alive until the graph is written
};

bool Encoder::reference(const Node& node, PyObject* given) {
  if (graph_ == nullptr) return false;
  const auto found = std::ranges::find(graph_->nodes, node.element);
  if (found == graph_->nodes.end()) return false;
  const auto table = static_cast<std::size_t>(found - graph_->nodes.begin());
  auto& numbers = graph_->tables[table]->numbers;
  const auto [place, is_new] = numbers.try_emplace(given, numbers.size());
  if (is_new) graph_->waiting.emplace_back(table, Owned::share(given));
  out_->varint(place->second);
  return place->second <= UINT32_MAX;
}

bool Encoder::graph(const Node& root, PyObject* given) {
  for (const char* const kept : {"__mf_loose__", "__mf_reading__"}) {
    const Owned found(PyObject_GetAttrString(given, kept));
    if (found) return false;
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) return false;
    PyErr_Clear();
  }
  Graph graph{root.tables, {}, {}};
  for (std::size_t i = 0; i < root.tables.size(); ++i)
    graph.tables.push_back(std::make_unique<Graph::Table>());
  Graph* const around = std::exchange(graph_, &graph);
  Output* const outer = out_;
  graph.tables.front()->numbers.emplace(given, 0);
  graph.waiting.emplace_back(0, Owned::share(given));
  bool is_good = true;
  for (std::size_t i = 0; is_good && i < graph.waiting.size(); ++i) {  // grows while it is gone through
    const std::size_t table = graph.waiting[i].first;
    PyObject* const object = graph.waiting[i].second.get();
    const Node& node = plan_.node(root.tables[table]);
    out_ = &graph.tables[table]->out;
    out_->varint((table + 1) << 3U | kBytes);
    out_->put(0);
    const std::size_t begin = out_->size();
    is_good = node.op == Op::alternatives ? union_message(node, object) : message(node, object);
    if (is_good) out_->close(begin);
  }
  out_ = outer;
  graph_ = around;
  for (const auto& table : graph.tables) out_->put(table->out.data(), table->out.size());
  return is_good;
}

}  // namespace mf::native
