// Writes tier febird.
#include "encoder.hpp"
#include "numbers.hpp"

namespace mf::native {

Owned in_order(PyObject* container) {
  const bool is_set = PyAnySet_CheckExact(container);
  if (!is_set && !PyDict_CheckExact(container)) return Owned();
  Owned keys(is_set ? PySequence_List(container) : PyDict_Keys(container));
  return keys && PyList_Sort(keys.get()) == 0 ? std::move(keys) : Owned();
}

bool bits_of(const Node& node, PyObject* value, std::uint64_t& bits) {
  Op op = node.op;
  if (op == Op::boolean) {
    bits = value == Py_True ? 1 : 0;
    return PyBool_Check(value);
  }
  if (!PyLong_Check(value)) return false;
  if (op == Op::enumeration) {
    op = node.base;
    if (node.numbers != nullptr && Py_TYPE(value) != node.type) {
      if (!PyLong_CheckExact(value) || PyDict_Contains(node.numbers, value) != 1) return false;
    }
  }
  int overflow = 0;
  std::int64_t number = 0;
  if (!is_compact(value, number)) number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow < 0 || (number == -1 && PyErr_Occurred() != nullptr)) return false;
  if (overflow == 0) {
    bits = static_cast<std::uint64_t>(number);
    const unsigned shift = 64 - 8 * width_of(op);
    if (!is_signed(op)) return number >= 0 && bits <= highest_of(width_of(op));
    return static_cast<std::int64_t>(bits << shift) >> shift == number;
  }
  if (op != Op::u64) return false;
  bits = PyLong_AsUnsignedLongLong(value);
  return bits != UINT64_MAX || PyErr_Occurred() == nullptr;
}

bool Encoder::alone(const Node& node, PyObject* given) {
  if (node.op == Op::custom) return custom(node, given);
  if (!node.archive) return value(node, given);
  if (!node.tables.empty()) return graph(node, given);
  return node.op == Op::alternatives ? union_message(node, given) : message(node, given);
}

bool Encoder::items(const Node& node, PyObject* values) {
  if (!is_list(values)) return false;
  const bool is_alone = node.archive || node.op == Op::custom;
  const Py_ssize_t count = size_of(values);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (size_of(values) != count) return false;
    const Owned item = item_of(values, i);
    if (!(is_alone ? alone(node, item.get()) : value(node, item.get()))) return false;
  }
  return true;
}

bool Encoder::parts(const Node& node, PyObject* parts) {
  if (node.op != Op::structure || node.archive) return false;
  const auto count = static_cast<std::size_t>(PyTuple_GET_SIZE(parts));
  if (count != node.fields.size()) return false;
  const std::size_t begin = own_.size();
  if (node.memcpy)
    std::memset(own_.grow(static_cast<std::size_t>(node.size)), 0, static_cast<std::size_t>(node.size));
  for (std::size_t i = 0; i < count; ++i) {
    const Field& field = node.fields[i];
    PyObject* const part = PyTuple_GET_ITEM(parts, static_cast<Py_ssize_t>(i));
    const Node& of = plan_.node(field.node);
    if (!(node.memcpy ? laid(of, part, begin + field.offset) : value(of, part))) return false;
  }
  return true;
}

bool Encoder::value(const Node& node, PyObject* given) {
  std::uint64_t bits = 0;
  switch (node.op) {
    case Op::boolean:
    case Op::u8:
    case Op::i8:
    case Op::timestamp:
      if (!bits_of(node, given, bits)) return false;
      out_->number(bits, width_of(node.op));
      return true;
    case Op::u16:
    case Op::u32:
    case Op::u64:
      if (!bits_of(node, given, bits)) return false;
      out_->varint(bits);
      return true;
    case Op::i16:
    case Op::i32:
    case Op::i64:
    case Op::duration:
      if (!bits_of(node, given, bits)) return false;
      out_->varint(zigzag(bits));
      return true;
    case Op::enumeration:
      if (!bits_of(node, given, bits)) return false;
      if (width_of(node.base) == 1) {
        out_->number(bits, 1);
      } else {
        out_->varint(is_signed(node.base) ? zigzag(bits) : bits);
      }
      return true;
    case Op::f32:
    case Op::f64:
    case Op::uuid: {
      const std::size_t at = out_->size();
      static_cast<void>(out_->grow(width_of(node.op)));
      return laid(node, given, at);
    }
    case Op::string:
      return text(given);
    case Op::bytes:
      return octets(given);
    case Op::checked:
      return value(plan_.node(node.element), given) && hold(node.tests, given);
    case Op::optional:
      out_->put(given == Py_None ? 0 : 1);
      return given == Py_None || value(plan_.node(node.element), given);
    case Op::list:
    case Op::array:
      return is_list(given) ? sequence(node, given) : buffer(node, given);
    case Op::set: {
      const Owned members = PyAnySet_CheckExact(given) ? in_order(given) : Owned();
      return members && sequence(node, members.get());
    }
    case Op::map:
      return PyDict_CheckExact(given) && map(node, given);
    case Op::structure:
      return node.archive ? embedded(node, given) : structure(node, given);
    case Op::alternatives:
      return node.archive ? embedded(node, given) : alternatives(node, given);
    case Op::custom:
      return embedded(node, given);
    default:
      return false;
  }
}

bool Encoder::text(PyObject* given) {
  if (!PyUnicode_CheckExact(given)) return false;
  Py_ssize_t size = 0;
  const char* const bytes = utf8_of(given, size);
  if (bytes == nullptr || !count(size)) return false;
  out_->put(bytes, static_cast<std::size_t>(size));
  return true;
}

bool Encoder::octets(PyObject* given) {
  if (PyBytes_CheckExact(given)) {
    if (!count(PyBytes_GET_SIZE(given))) return false;
    out_->put(PyBytes_AS_STRING(given), static_cast<std::size_t>(PyBytes_GET_SIZE(given)));
    return true;
  }
  if (!PyByteArray_CheckExact(given) && !PyMemoryView_Check(given)) return false;
  const Buffer buffer(given, PyBUF_SIMPLE);
  if (!buffer || !count(buffer->len)) return false;
  out_->put(buffer->buf, static_cast<std::size_t>(buffer->len));
  return true;
}

bool Encoder::structure(const Node& node, PyObject* given) {
  depth_ += node.implicit ? 0 : 1;
  if (depth_ > kMaxDepth) return false;
  const bool is_good = node.memcpy ? laid_struct(node, given)
                                   : each_field(node, given, [&](const Field& field, PyObject* part) {
                                       return value(plan_.node(field.node), part);
                                     });
  depth_ -= node.implicit ? 0 : 1;
  return is_good;
}

bool Encoder::alternatives(const Node& node, PyObject* given) {
  for (const Field& field : node.fields) {
    if (Py_TYPE(given) != field.type) continue;
    const Owned inner(field.value >= 0 ? Py_XNewRef(slot_of(given, field.value))
                                       : PyObject_GetAttrString(given, "value"));
    if (!inner || !enter()) return false;
    out_->varint(field.number);
    if (!value(plan_.node(field.node), inner.get())) return false;
    --depth_;
    return true;
  }
  return false;
}

bool Encoder::custom(const Node& node, PyObject* given) {
  const Owned bytes(PyObject_CallOneArg(node.encode, given));
  if (!bytes || !PyBytes_CheckExact(bytes.get())) return false;
  out_->put(PyBytes_AS_STRING(bytes.get()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get())));
  return true;
}

bool Encoder::embedded(const Node& node, PyObject* given) {
  Graph* const around = std::exchange(graph_, nullptr);
  out_->put(0);
  const std::size_t begin = out_->size();
  const bool is_good = alone(node, given);
  if (is_good) out_->close(begin);
  graph_ = around;
  return is_good;
}

/// A list, the members of a set in their order, or an array.
bool Encoder::sequence(const Node& node, PyObject* values) {
  const Node& element = plan_.node(node.element);
  const Py_ssize_t length = size_of(values);
  const bool is_array = node.op == Op::array;
  if (!enter() || (is_array && length != node.length)) return false;
  if (element.has_row()) {
    if (!row(element, values, !is_array)) return false;
  } else {
    if (element.smallest == 0 && length > kMaxEmpty) return false;
    if (!is_array && !count(length)) return false;
    if (element.op == Op::f64 || element.op == Op::f32) {
      if (!floats(element.op, values, length)) return false;
    } else {
      for (Py_ssize_t i = 0; i < length; ++i) {
        if (size_of(values) != length) return false;
        const Owned item = item_of(values, i);
        if (!value(element, item.get())) return false;
      }
    }
    if (size_of(values) != length) return false;
  }
  --depth_;
  return true;
}

/// Nothing of Python's runs in between, so the list stays as it is.
bool Encoder::floats(Op op, PyObject* values, Py_ssize_t count) {
  const unsigned width = width_of(op);
  PyObject* const* const items = PySequence_Fast_ITEMS(values);
  std::uint8_t* to = out_->grow(static_cast<std::size_t>(count) * width);
  for (Py_ssize_t i = 0; i < count; ++i, to += width) {
    double number = 0;
    if (!float_in(items[i], number)) return false;
    if (op == Op::f64) {
      put_f64(number, to);
    } else if (!put_f32(number, to)) {
      return false;
    }
  }
  return true;
}

bool Encoder::map(const Node& node, PyObject* given) {
  const Node& key = plan_.node(node.key);
  const Node& mapped = plan_.node(node.element);
  const Owned keys = in_order(given);
  if (!keys || !enter() || !count(PyList_GET_SIZE(keys.get()))) return false;
  const Py_ssize_t length = PyList_GET_SIZE(keys.get());
  if (key.has_row() && mapped.has_row()) {
    const Owned values(PyList_New(length));
    for (Py_ssize_t i = 0; values && i < length; ++i) {
      PyObject* const found = PyDict_GetItemWithError(given, PyList_GET_ITEM(keys.get(), i));
      if (found == nullptr) return false;
      PyList_SET_ITEM(values.get(), i, Py_NewRef(found));
    }
    if (!values || !entries(node, keys.get(), values.get())) return false;
  } else {
    for (Py_ssize_t i = 0; i < length; ++i) {
      PyObject* const at = PyList_GET_ITEM(keys.get(), i);
      if (!value(key, at)) return false;
      const Owned item(Py_XNewRef(PyDict_GetItemWithError(given, at)));
      if (!item || !value(mapped, item.get())) return false;
    }
  }
  --depth_;
  return true;
}

}  // namespace mf::native
