// Tier febird: values one behind the other, containers behind their counts.
#include <cstring>

#include "decoder.hpp"
#include "numbers.hpp"

namespace mf::native {

bool Decoder::long_varint(std::uint64_t& number, bool shortest) noexcept {
  std::uint64_t found = 0;
  unsigned shift = 0;
  for (std::size_t at = pos_; at < end_ && shift < 70; ++at, shift += 7) {
    const std::uint8_t byte = data_[at];
    if (shift == 63 && (byte & 127U) > 1) return false;
    found |= std::uint64_t{byte & 127U} << shift;
    if (byte > 127) continue;
    if (shortest && byte == 0 && shift > 0) return false;
    pos_ = at + 1;
    number = found;
    return true;
  }
  return false;
}

PyObject* Decoder::alone(const Node& node) {
  if (node.op == Op::custom) return custom(node, left());
  if (!node.archive) return value(node);
  if (!node.tables.empty()) return graph(node);
  return node.op == Op::alternatives ? union_message(node) : message(node);
}

PyObject* Decoder::items(const Node& node, std::uint64_t count) {
  if (!has(count, node.smallest) && count > 1) return nullptr;
  if (count > 4096 && !affords(count, kPlace + node.memory)) return nullptr;
  if (!charge_each(count, kPlace)) return nullptr;
  Owned list(PyList_New(static_cast<Py_ssize_t>(count)));
  if (!list) return nullptr;
  const bool is_alone = node.archive || node.op == Op::custom;
  for (std::uint64_t i = 0; i < count; ++i) {
    PyObject* const item = is_alone ? alone(node) : value(node);
    if (item == nullptr) return nullptr;
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), item);
  }
  return list.release();
}

PyObject* Decoder::value(const Node& node) {
  switch (node.op) {
    case Op::boolean:
      if (pos_ >= end_ || data_[pos_] > 1) return nullptr;
      return Py_NewRef(data_[pos_++] == 1 ? Py_True : Py_False);
    case Op::u8:
      if (pos_ >= end_) return nullptr;
      return PyLong_FromLong(data_[pos_++]);
    case Op::i8:
      if (pos_ >= end_) return nullptr;
      return PyLong_FromLong(static_cast<std::int8_t>(data_[pos_++]));
    case Op::f32:
    case Op::f64:
    case Op::timestamp:
    case Op::uuid: {
      const unsigned width = width_of(node.op);
      if (left() < width) return nullptr;
      pos_ += width;
      return laid(node, data_ + pos_ - width);
    }
    case Op::u16:
    case Op::u32:
    case Op::u64: {
      std::uint64_t bits = 0;
      return unsigned_number(highest_of(width_of(node.op)), bits) ? PyLong_FromUnsignedLongLong(bits)
                                                                  : nullptr;
    }
    case Op::i16:
    case Op::i32:
    case Op::i64: {
      std::uint64_t bits = 0;
      if (!unsigned_number(highest_of(width_of(node.op)), bits)) return nullptr;
      return PyLong_FromLongLong(static_cast<std::int64_t>(unzigzag(bits)));
    }
    case Op::duration: {
      std::uint64_t bits = 0;
      return varint(bits, true) ? number(node, unzigzag(bits)) : nullptr;
    }
    case Op::string:
    case Op::bytes: {
      std::size_t size = 0;
      if (!length(size, true)) return nullptr;
      return node.op == Op::string ? text(size) : octets(size);
    }
    case Op::enumeration: {
      std::uint64_t bits = 0;
      const unsigned width = width_of(node.base);
      if (width == 1) {
        if (pos_ >= end_) return nullptr;
        bits = data_[pos_++];
        return number(node, is_signed(node.base) ? extended(bits, 1) : bits);
      }
      if (!unsigned_number(highest_of(width), bits)) return nullptr;
      return number(node, is_signed(node.base) ? unzigzag(bits) : bits);
    }
    case Op::checked:
      return held(node, value(plan_.node(node.element)));
    case Op::optional:
      if (pos_ >= end_ || data_[pos_] > 1) return nullptr;
      return data_[pos_++] == 1 ? value(plan_.node(node.element)) : Py_NewRef(Py_None);
    case Op::list:
      return list(node);
    case Op::set:
      return set(node);
    case Op::array:
      return array(node);
    case Op::map:
      return map(node);
    case Op::structure:
      return node.archive ? embedded(node) : structure(node);
    case Op::alternatives:
      return node.archive ? embedded(node) : alternatives(node);
    case Op::custom:
      return embedded(node);
    default:
      return nullptr;
  }
}

PyObject* Decoder::held(const Node& node, PyObject* made) {
  Owned found(made);
  return found && hold(node.tests, found.get()) ? found.release() : nullptr;
}

PyObject* Decoder::text(std::size_t size) {
  if (!charge(64 + static_cast<std::int64_t>(size))) return nullptr;
  pos_ += size;
  return text_of(data_ + pos_ - size, size);
}

PyObject* Decoder::octets(std::size_t size) {
  if (!charge(64 + static_cast<std::int64_t>(size))) return nullptr;
  pos_ += size;
  const auto* const first = reinterpret_cast<const char*>(data_ + pos_ - size);
  return PyBytes_FromStringAndSize(first, static_cast<Py_ssize_t>(size));
}

PyObject* Decoder::structure(const Node& node) {
  depth_ += node.implicit ? 0 : 1;
  if (depth_ > kMaxDepth || !charge(node.memory)) return nullptr;
  Owned object;
  if (node.memcpy) {
    if (left() < static_cast<std::size_t>(node.size)) return nullptr;
    object = Owned(laid(node, data_ + pos_));
    pos_ += static_cast<std::size_t>(node.size);
  } else {
    object = Owned(made(node, [&](const Field& field) { return value(plan_.node(field.node)); }));
  }
  depth_ -= node.implicit ? 0 : 1;
  return object.release();
}

PyObject* Decoder::alternatives(const Node& node) {
  std::uint64_t number = 0;
  if (!enter() || !charge(node.memory) || !unsigned_number(UINT32_MAX, number)) return nullptr;
  for (const Field& field : node.fields) {
    if (field.number != number) continue;
    PyObject* const object = alternative(field, value(plan_.node(field.node)));
    --depth_;
    return object;
  }
  return nullptr;
}

PyObject* Decoder::alternative(const Field& field, PyObject* inner) {
  Owned found(inner);
  if (!found || field.type == nullptr) return nullptr;
  if (field.value < 0) return PyObject_CallOneArg(reinterpret_cast<PyObject*>(field.type), found.get());
  PyObject* const object = field.type->tp_alloc(field.type, 0);
  if (object != nullptr) slot_of(object, field.value) = found.release();
  return object;
}

PyObject* Decoder::custom(const Node& node, std::size_t size) {
  if (!charge(node.memory + static_cast<std::int64_t>(size))) return nullptr;
  const auto* const first = reinterpret_cast<const char*>(data_ + pos_);
  const Owned bytes(PyBytes_FromStringAndSize(first, static_cast<Py_ssize_t>(size)));
  pos_ += size;
  if (!bytes) return nullptr;
  Owned found(PyObject_CallOneArg(node.decode, bytes.get()));
  return found.get() == Py_None ? nullptr : found.release();
}

/// What does not say where it ends, behind its length.
PyObject* Decoder::embedded(const Node& node) {
  std::size_t size = 0;
  if (!length(size, true)) return nullptr;
  if (node.op == Op::custom) return custom(node, size);
  const std::size_t outer = end_;
  Graph* const around = graph_;
  graph_ = nullptr;
  end_ = pos_ + size;
  Owned object(alone(node));
  const bool is_whole = pos_ == end_;
  end_ = outer;
  graph_ = around;
  return is_whole ? object.release() : nullptr;
}

// --- containers

PyObject* Decoder::elements(const Node& element, std::uint64_t count) {
  if (element.op == Op::f64 || element.op == Op::f32) return floats(element.op, count);
  Owned list(PyList_New(static_cast<Py_ssize_t>(count)));
  if (!list) return nullptr;
  for (std::uint64_t i = 0; i < count; ++i) {
    PyObject* const item = value(element);
    if (item == nullptr) return nullptr;
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), item);
  }
  return list.release();
}

namespace {

constexpr std::uint64_t kMany = 64;  // more numbers than this are charged for: mf/codec/febird_read.py

[[nodiscard]] bool is_charged(Op op) noexcept {
  return op == Op::u8 || op == Op::i8 || op == Op::f32 || op == Op::f64;
}

}  // namespace

PyObject* Decoder::list(const Node& node) {
  if (owner_ != nullptr && node.read_array != nullptr) return array(node.read_array);
  const Node& element = plan_.node(node.element);
  if (!enter()) return nullptr;
  Owned found;
  if (element.has_row()) {
    found = Owned(row(element, false));
  } else {
    std::uint64_t count = 0;
    if (!unsigned_number(UINT32_MAX, count) || !has(count, element.smallest)) return nullptr;
    if (!affords(count, kPlace + element.memory) || !charge_each(count, kPlace)) return nullptr;
    if (count > kMany && is_charged(element.op) && !charge_each(count, element.memory)) return nullptr;
    found = Owned(elements(element, count));
  }
  --depth_;
  return found.release();
}

PyObject* Decoder::set(const Node& node) {
  const Node& element = plan_.node(node.element);
  if (!enter()) return nullptr;
  Owned found;
  if (element.has_row()) {
    const Owned list(row(element, true));
    found = Owned(list ? PySet_New(list.get()) : nullptr);
  } else {
    std::uint64_t count = 0;
    if (!unsigned_number(UINT32_MAX, count) || !has(count, element.smallest)) return nullptr;
    if (!affords(count, kEntry + element.memory) || !charge_each(count, kEntry)) return nullptr;
    found = Owned(PySet_New(nullptr));
    if (!found) return nullptr;
    Owned before;
    for (std::uint64_t i = 0; i < count; ++i) {
      Owned item(value(element));
      if (!item) return nullptr;
      if (before && PyObject_RichCompareBool(before.get(), item.get(), Py_LT) != 1) return nullptr;
      if (PySet_Add(found.get(), item.get()) < 0) return nullptr;
      before = std::move(item);
    }
  }
  --depth_;
  return found.release();
}

PyObject* Decoder::array(const Node& node) {
  const Node& element = plan_.node(node.element);
  const auto count = static_cast<std::uint64_t>(node.length);
  if (!enter()) return nullptr;
  Owned found;
  if (element.has_row()) {
    found = Owned(row_array(element, count));
  } else {
    if (element.smallest > 0 && !has(count, element.smallest)) return nullptr;
    if (count > kMany && is_charged(element.op) && !charge_each(count, element.memory)) return nullptr;
    found = Owned(elements(element, count));
  }
  --depth_;
  return found.release();
}

PyObject* Decoder::map(const Node& node) {
  const Node& key = plan_.node(node.key);
  const Node& mapped = plan_.node(node.element);
  std::uint64_t count = 0;
  if (!enter() || !unsigned_number(UINT32_MAX, count) || !has(count, key.smallest + mapped.smallest))
    return nullptr;
  if (!affords(count, kEntry + key.memory + mapped.memory) || !charge_each(count, kEntry)) return nullptr;
  if (count > 0 && !charge(kFirstEntry)) return nullptr;
  Owned found(PyDict_New());
  if (!found) return nullptr;
  if (key.has_row() && mapped.has_row()) {
    if (!entries(node, count, found.get())) return nullptr;
  } else {
    Owned before;
    for (std::uint64_t i = 0; i < count; ++i) {
      Owned at(value(key));
      if (!at) return nullptr;
      if (before && PyObject_RichCompareBool(before.get(), at.get(), Py_LT) != 1) return nullptr;
      const Owned item(value(mapped));
      if (!item || PyDict_SetItem(found.get(), at.get(), item.get()) < 0) return nullptr;
      before = std::move(at);
    }
  }
  --depth_;
  return found.release();
}

}  // namespace mf::native
