// Tier archive: fields by number, a tag in front of each, as writers of MF/IDL and of protobuf make them.
//
// Given up here, and left to the pure codec: a field that comes twice, messages in parts, numbers of a list
// that are not packed, groups, entries of maps without key or value, and whatever is wrong.
#include <algorithm>

#include "decoder.hpp"

namespace mf::native {

namespace {

constexpr std::uint8_t kVarint = 0;
constexpr std::uint8_t kFixed64 = 1;
constexpr std::uint8_t kBytes = 2;
constexpr std::uint8_t kFixed32 = 5;
constexpr std::uint64_t kLargestNumber = (std::uint64_t{1} << 29U) - 1;

/// What was found for each field of a message; given back if reading fails.
class Found {
 public:
  explicit Found(std::size_t count) : many_(count > kFew ? count : 0), count_(count) {
    if (count <= kFew) std::fill_n(few_, count, nullptr);
  }
  Found(const Found&) = delete;
  Found& operator=(const Found&) = delete;
  ~Found() {
    for (std::size_t i = 0; i < count_; ++i) Py_XDECREF((*this)[i]);
  }
  [[nodiscard]] PyObject*& operator[](std::size_t i) noexcept { return many_.empty() ? few_[i] : many_[i]; }

 private:
  static constexpr std::size_t kFew = 24;
  PyObject* few_[kFew];
  std::vector<PyObject*> many_;
  std::size_t count_;
};

/// The index of the field with this number; `hint`: where it is if fields come in order.
[[nodiscard]] std::size_t index_of(const Node& node, std::uint32_t number, std::size_t hint) noexcept {
  const auto number_of = [&](std::uint32_t i) { return node.fields[i].number; };
  for (const std::size_t at : {hint, hint + 1})
    if (at < node.by_number.size() && number_of(node.by_number[at]) == number) return at;
  const auto found = std::ranges::lower_bound(node.by_number, number, {}, number_of);
  const bool is_there = found != node.by_number.end() && number_of(*found) == number;
  return is_there ? static_cast<std::size_t>(found - node.by_number.begin()) : node.by_number.size();
}

[[nodiscard]] PyObject* empty(Mode mode) {
  return mode == Mode::map ? PyDict_New() : mode == Mode::set ? PySet_New(nullptr) : PyList_New(0);
}

[[nodiscard]] bool add(PyObject* container, PyObject* item) {
  return (PyList_Check(container) ? PyList_Append(container, item) : PySet_Add(container, item)) == 0;
}

}  // namespace

bool Decoder::tag(std::uint32_t& number, std::uint8_t& wire) noexcept {
  std::uint64_t found = 0;
  if (!varint(found, false) || found >> 3 == 0 || found >> 3 > kLargestNumber) return false;
  number = static_cast<std::uint32_t>(found >> 3);
  wire = static_cast<std::uint8_t>(found & 7);
  return true;
}

bool Decoder::skip(std::uint8_t wire) noexcept {
  std::uint64_t number = 0;
  std::size_t size = 0;
  if (wire == kVarint) return varint(number, false);
  if (wire == kBytes) {
    if (!length(size, false)) return false;
  } else if (wire == kFixed64 || wire == kFixed32) {
    size = wire == kFixed64 ? 8 : 4;
    if (size > left()) return false;
  } else {
    return false;
  }
  pos_ += size;
  return true;
}

PyObject* Decoder::message(const Node& node) {
  Owned object(node.type->tp_alloc(node.type, 0));
  return object && message_into(node, object.get()) ? object.release() : nullptr;
}

bool Decoder::message_into(const Node& node, PyObject* target) {
  if (!enter() || !charge(node.memory)) return false;
  Found found(node.fields.size());
  Owned unknown;
  std::size_t at = 0;
  while (pos_ < end_) {
    const std::size_t start = pos_;
    std::uint32_t number = 0;
    std::uint8_t wire = 0;
    if (!tag(number, wire)) return false;
    const std::size_t index = index_of(node, number, at);
    if (index == node.by_number.size()) {
      if (!keep_unknown(node, start, wire, unknown)) return false;
      continue;
    }
    at = index;
    if (!take(node.fields[node.by_number[at]], wire, found[node.by_number[at]])) return false;
  }
  for (std::size_t i = 0; i < node.fields.size(); ++i) {
    if (!finish(node.fields[i], found[i])) return false;
    slot_of(target, node.fields[i].slot) = std::exchange(found[i], nullptr);
  }
  if (!unknown) unknown = Owned(PyBytes_FromStringAndSize(nullptr, 0));
  slot_of(target, node.unknown) = unknown.release();
  --depth_;
  return true;
}

bool Decoder::keep_unknown(const Node&, std::size_t start, std::uint8_t wire, Owned& unknown) {
  if (graph_ != nullptr || !skip(wire) || !charge(static_cast<std::int64_t>(pos_ - start))) return false;
  const auto* const first = reinterpret_cast<const char*>(data_ + start);
  Owned bytes(PyBytes_FromStringAndSize(first, static_cast<Py_ssize_t>(pos_ - start)));
  if (!unknown) {
    unknown = std::move(bytes);
  } else {
    PyObject* joined = unknown.release();
    PyBytes_ConcatAndDel(&joined, bytes.release());
    unknown = Owned(joined);
  }
  return static_cast<bool>(unknown);
}

PyObject* Decoder::union_message(const Node& node) {
  const Field* chosen = nullptr;
  PyObject* inner = nullptr;
  return union_value(node, chosen, inner) ? alternative(*chosen, inner) : nullptr;
}

bool Decoder::union_value(const Node& node, const Field*& chosen, PyObject*& inner) {
  std::uint32_t number = 0;
  std::uint8_t wire = 0;
  if (!enter() || !charge(node.memory) || !tag(number, wire)) return false;
  const std::size_t index = index_of(node, number, 0);
  if (index == node.by_number.size()) return false;
  chosen = &node.fields[node.by_number[index]];
  PyObject* found = nullptr;
  const bool is_good = take(*chosen, wire, found) && pos_ == end_;
  Owned kept(found);
  if (!is_good) return false;
  inner = kept.release();
  --depth_;
  return true;
}

/// A container or optional as the only value of a message, behind its length.
PyObject* Decoder::wrapped(const Node& node) {
  std::size_t size = 0;
  if (node.fields.empty() || !length(size, false)) return nullptr;
  const std::size_t outer = std::exchange(end_, pos_ + size);
  const Field& field = node.fields.front();
  Found found(1);
  while (pos_ < end_) {
    std::uint32_t number = 0;
    std::uint8_t wire = 0;
    if (!tag(number, wire) || number != field.number || !take(field, wire, found[0])) return nullptr;
  }
  end_ = outer;
  return finish(field, found[0]) ? std::exchange(found[0], nullptr) : nullptr;
}

// --- fields

bool Decoder::take(const Field& field, std::uint8_t wire, PyObject*& found) {
  const Node& node = plan_.node(field.node);
  if (field.mode == Mode::single) {
    if (found != nullptr || wire != node.wire) return false;
    found = tagged(node);
    return found != nullptr;
  }
  if (wire != kBytes || !enter()) return false;
  if (found == nullptr) {
    found = empty(field.mode);
    if (found == nullptr || (field.mode == Mode::map && !charge(kFirstEntry))) return false;
  }
  const Node& element = plan_.node(node.element);
  const bool is_good = field.mode == Mode::map  ? take_entry(node, field, found)
                       : element.wire == kBytes ? take_element(element, field, found)
                                                : take_packed(element, field, found);
  --depth_;
  return is_good;
}

bool Decoder::take_element(const Node& element, const Field& field, PyObject* found) {
  if (!charge(field.charge)) return false;
  const Owned item(tagged(element));
  return item && add(found, item.get());
}

bool Decoder::take_packed(const Node& element, const Field& field, PyObject*& found) {
  std::size_t size = 0;
  if (!length(size, false)) return false;
  const std::size_t outer = std::exchange(end_, pos_ + size);
  const Owned list(packed(element, field.charge));
  if (!list || pos_ != end_) return false;
  end_ = outer;
  if (PyList_Check(found)) {
    const Py_ssize_t before = PyList_GET_SIZE(found);
    return PyList_SetSlice(found, before, before, list.get()) == 0;
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()); ++i)
    if (PySet_Add(found, PyList_GET_ITEM(list.get(), i)) != 0) return false;
  return true;
}

/// All numbers up to the end.
PyObject* Decoder::packed(const Node& element, std::int64_t memory) {
  std::size_t count = 0;
  if (element.wire == kVarint) {
    count = static_cast<std::size_t>(
        std::count_if(data_ + pos_, data_ + end_, [](auto byte) { return byte < 128; }));
  } else {
    const std::size_t width = element.wire == kFixed32 ? 4 : 8;
    if (left() % width != 0) return nullptr;
    count = left() / width;
  }
  if (!charge_each(count, memory)) return nullptr;
  if (element.op == Op::f64 || element.op == Op::f32) return floats(element.op, count);
  Owned list(PyList_New(static_cast<Py_ssize_t>(count)));
  if (!list) return nullptr;
  const bool is_plain = element.wire == kVarint && element.op >= Op::u8 && element.op <= Op::i64;
  const bool are_short = is_plain && count == left();  // one byte each, which fits in every type
  const bool is_zigzag = element.form == Form::zigzag;
  for (std::size_t i = 0; i < count; ++i) {
    PyObject* item = nullptr;
    if (are_short) {
      const std::uint64_t bits = data_[pos_++];
      item = PyLong_FromLong(static_cast<long>(is_zigzag ? unzigzag(bits) : bits));
    } else {
      item = is_plain ? plain_varint(element) : tagged(element);
    }
    if (item == nullptr) return nullptr;
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), item);
  }
  return list.release();
}

PyObject* Decoder::plain_varint(const Node& element) {
  std::uint64_t bits = 0;
  if (!varint(bits, false)) return nullptr;
  if (element.form == Form::zigzag) bits = unzigzag(bits);
  if (!fits(element.op, bits)) return nullptr;
  return is_signed(element.op) ? PyLong_FromLongLong(static_cast<std::int64_t>(bits))
                               : PyLong_FromUnsignedLongLong(bits);
}

bool Decoder::take_entry(const Node& map, const Field& field, PyObject* found) {
  const Node& key = plan_.node(map.key);
  const Node& mapped = plan_.node(map.element);
  std::size_t size = 0;
  if (!charge(field.charge) || !length(size, false)) return false;
  const std::size_t outer = std::exchange(end_, pos_ + size);
  if (pos_ >= end_ || data_[pos_] != (1U << 3U | key.wire)) return false;
  ++pos_;
  const Owned at(tagged(key));
  if (!at || pos_ >= end_ || data_[pos_] != (2U << 3U | mapped.wire)) return false;
  ++pos_;
  const Owned item(tagged(mapped));
  if (!item || pos_ != end_) return false;
  end_ = outer;
  // What an entry before refers to would not belong to the graph any more.
  if (graph_ != nullptr && PyDict_Contains(found, at.get()) != 0) return false;
  return PyDict_SetItem(found, at.get(), item.get()) == 0;
}

/// What the field has when its message has come to its end.
bool Decoder::finish(const Field& field, PyObject*& found) {
  const Node& node = plan_.node(field.node);
  if (field.mode == Mode::single) {
    if (found == nullptr && field.optional) found = Py_NewRef(Py_None);
    if (found == nullptr && field.default_ != nullptr) found = PyObject_CallNoArgs(field.default_);
    return found != nullptr;
  }
  if (found == nullptr && field.mode == Mode::array && node.length > 0) {
    found = field.default_ != nullptr ? PyObject_CallNoArgs(field.default_) : nullptr;
    return found != nullptr;
  }
  if (found == nullptr) found = empty(field.mode);
  if (found == nullptr) return false;
  if (field.mode == Mode::array && PyList_GET_SIZE(found) != node.length) return false;
  return hold(field.tests, found);
}

// --- values behind their tags

PyObject* Decoder::tagged_number(const Node& node) {
  const Op base = node.op == Op::enumeration ? node.base : node.op;
  if (node.form == Form::fixed32 || node.form == Form::fixed64) {
    const unsigned width = node.form == Form::fixed32 ? 4 : 8;
    if (left() < width) return nullptr;
    pos_ += width;
    return laid(node, data_ + pos_ - width);
  }
  std::uint64_t bits = 0;
  if (!varint(bits, false)) return nullptr;
  if (node.form == Form::zigzag) bits = unzigzag(bits);
  return fits(base, bits) ? number(node, bits) : nullptr;
}

PyObject* Decoder::tagged(const Node& node) {
  if (node.form != Form::none) return tagged_number(node);
  std::size_t size = 0;
  switch (node.op) {
    case Op::checked:
      return held(node, tagged(plan_.node(node.element)));
    case Op::string:
      return length(size, false) ? text(size) : nullptr;
    case Op::bytes:
      return length(size, false) ? octets(size) : nullptr;
    case Op::uuid:
      if (!length(size, false) || size != 16) return nullptr;
      pos_ += size;
      return laid(node, data_ + pos_ - size);
    case Op::reference:
      return reference(node);
    case Op::custom:
      return length(size, false) ? custom(node, size) : nullptr;
    case Op::structure:
    case Op::alternatives:
      return sized(node);
    default:
      return wrapped(node);
  }
}

/// A struct or union behind its length: a message, or a value of another tier.
PyObject* Decoder::sized(const Node& node) {
  std::size_t size = 0;
  if (!length(size, false)) return nullptr;
  const std::size_t outer = std::exchange(end_, pos_ + size);
  Owned object(!node.archive                 ? foreign(node)
               : node.op == Op::alternatives ? union_message(node)
                                             : message(node));
  const bool is_whole = pos_ == end_;
  end_ = outer;
  return is_whole ? object.release() : nullptr;
}

PyObject* Decoder::foreign(const Node& node) {
  Graph* const around = std::exchange(graph_, nullptr);
  PyObject* const object = value(node);
  graph_ = around;
  return object;
}

}  // namespace mf::native
