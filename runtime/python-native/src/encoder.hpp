#pragma once
// Writes values by a plan.
//
// Each function returns false where it gives up: then either Python has an error, or the value is not exactly
// what generated classes and Python's own containers hold. The caller has the pure codec write it again,
// which takes what is only rare (numbers of other libraries), or says what is wrong.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <vector>

#include "plan.hpp"

namespace mf::native {

/// The bytes so far.
class Output {
 public:
  Output() noexcept : data_(few_) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (data_ != few_) std::free(data_);
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint8_t* data() noexcept { return data_; }
  [[nodiscard]] std::uint8_t* grow(std::size_t count) {
    if (count > room_ - size_) make_room(count);
    size_ += count;
    return data_ + size_ - count;
  }
  void put(std::uint8_t byte) { *grow(1) = byte; }
  void put(const void* from, std::size_t count) {
    if (count > 0) std::memcpy(grow(count), from, count);
  }
  void number(std::uint64_t bits, unsigned width) {
    std::uint8_t* const at = grow(width);
    for (unsigned i = 0; i < width; ++i) at[i] = static_cast<std::uint8_t>(bits >> (8 * i));
  }
  void varint(std::uint64_t number) {
    if (room_ - size_ < 10) make_room(10);
    for (; number > 127; number >>= 7) data_[size_++] = static_cast<std::uint8_t>(number | 128);
    data_[size_++] = static_cast<std::uint8_t>(number);
  }
  /// The length of all that was written from `at` on goes into the byte in front of it.
  void close(std::size_t at) {
    const std::size_t size = size_ - at;
    if (size < 128) {
      data_[at - 1] = static_cast<std::uint8_t>(size);
      return;
    }
    std::size_t more = 0;
    for (std::size_t rest = size >> 7; rest > 0; rest >>= 7) ++more;
    static_cast<void>(grow(more));
    std::memmove(data_ + at + more, data_ + at, size);
    std::size_t rest = size;
    for (std::size_t i = 0; i < more; ++i, rest >>= 7)
      data_[at - 1 + i] = static_cast<std::uint8_t>(rest | 128);
    data_[at - 1 + more] = static_cast<std::uint8_t>(rest);
  }

 private:
  void make_room(std::size_t count) {
    std::size_t room = room_ * 2;
    while (room < size_ + count) room *= 2;
    void* const grown = std::realloc(data_ == few_ ? nullptr : data_, room);
    if (grown == nullptr) throw std::bad_alloc();
    if (data_ == few_) std::memcpy(grown, few_, size_);
    data_ = static_cast<std::uint8_t*>(grown);
    room_ = room;
  }

  std::size_t size_ = 0;
  std::size_t room_ = sizeof few_;
  std::uint8_t* data_;
  std::uint8_t few_[2048];
};

class Encoder {
 public:
  explicit Encoder(const Plan& plan) noexcept : plan_(plan) {}

  [[nodiscard]] Output& out() noexcept { return *out_; }
  /// A value that is all there is.
  [[nodiscard]] bool alone(const Node& node, PyObject* value);
  [[nodiscard]] bool items(const Node& node, PyObject* values);
  /// The fields of a struct of tier febird or memcpy, as they are given in a tuple.
  [[nodiscard]] bool parts(const Node& node, PyObject* parts);

 private:
  struct Graph;

  // febird_write.cpp
  [[nodiscard]] bool value(const Node& node, PyObject* value);
  [[nodiscard]] bool structure(const Node& node, PyObject* value);
  [[nodiscard]] bool alternatives(const Node& node, PyObject* value);
  [[nodiscard]] bool text(PyObject* value);
  [[nodiscard]] bool octets(PyObject* value);
  [[nodiscard]] bool custom(const Node& node, PyObject* value);
  [[nodiscard]] bool embedded(const Node& node, PyObject* value);
  [[nodiscard]] bool sequence(const Node& node, PyObject* value);
  [[nodiscard]] bool floats(Op op, PyObject* values, Py_ssize_t count);
  [[nodiscard]] bool map(const Node& node, PyObject* value);

  // buffers.cpp
  [[nodiscard]] bool buffer(const Node& node, PyObject* value);
  [[nodiscard]] bool structs(const Node& node, PyObject* value);

  // febird_write.cpp
  /// Calls `each(field, its value)` for the fields of a struct's value.
  template <class Each>
  [[nodiscard]] bool each_field(const Node& node, PyObject* value, const Each& each);

  // layout_write.cpp
  [[nodiscard]] bool laid(const Node& node, PyObject* value, std::size_t at);
  [[nodiscard]] bool laid_struct(const Node& node, PyObject* value);
  [[nodiscard]] bool row(const Node& element, PyObject* values, bool counted);
  [[nodiscard]] bool put_row(const Node& element, const std::vector<std::uint64_t>& numbers, bool counted);
  [[nodiscard]] bool entries(const Node& map, PyObject* keys, PyObject* values);
  [[nodiscard]] bool short_row(const Node& element, PyObject* values, bool counted);
  [[nodiscard]] bool integers(const Node& element, PyObject* values, std::span<std::uint64_t> numbers);

  // archive_write.cpp
  [[nodiscard]] bool message(const Node& node, PyObject* value);
  [[nodiscard]] bool union_message(const Node& node, PyObject* value);
  [[nodiscard]] bool field(const Field& field, PyObject* value);
  [[nodiscard]] bool repeated(const Field& field, const Node& node, PyObject* value);
  [[nodiscard]] bool pairs(const Field& field, const Node& node, PyObject* value);
  [[nodiscard]] bool tagged(std::uint32_t number, const Node& node, PyObject* value);
  [[nodiscard]] bool payload(const Node& node, PyObject* value);
  [[nodiscard]] bool foreign(const Node& node, PyObject* value);
  [[nodiscard]] bool graph(const Node& root, PyObject* value);
  [[nodiscard]] bool reference(const Node& node, PyObject* value);

  [[nodiscard]] bool enter() noexcept { return ++depth_ <= kMaxDepth; }
  [[nodiscard]] bool count(Py_ssize_t count) {
    if (static_cast<std::uint64_t>(count) > UINT32_MAX) return false;
    out_->varint(static_cast<std::uint64_t>(count));
    return true;
  }

  const Plan& plan_;
  Output own_;
  Output* out_ = &own_;  // an object of a graph is written behind the others of its table
  int depth_ = 0;
  Graph* graph_ = nullptr;
};

/// A list or tuple of Python's own, of which elements are taken while it may change: nothing else is taken.
[[nodiscard]] inline bool is_list(PyObject* value) noexcept {
  return PyList_CheckExact(value) || PyTuple_CheckExact(value);
}
[[nodiscard]] inline Py_ssize_t size_of(PyObject* list) noexcept {
  return PyList_CheckExact(list) ? PyList_GET_SIZE(list) : PyTuple_GET_SIZE(list);
}
[[nodiscard]] inline Owned item_of(PyObject* list, Py_ssize_t at) noexcept {
  return Owned::share(PyList_CheckExact(list) ? PyList_GET_ITEM(list, at) : PyTuple_GET_ITEM(list, at));
}

/// The members of a set or the keys of a dict in their order; null: they have none, or it is neither.
[[nodiscard]] Owned in_order(PyObject* container);

/// The bits of a value of a scalar or enum that is an integer, in two's complement; false: it is none, or
/// does not fit.
[[nodiscard]] bool bits_of(const Node& node, PyObject* value, std::uint64_t& bits);

[[nodiscard]] inline std::uint64_t zigzag(std::uint64_t bits) noexcept {
  return (bits << 1) ^ static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> 63);
}

template <class Each>
bool Encoder::each_field(const Node& node, PyObject* value, const Each& each) {
  if (node.parts_are_bare) return each(node.fields.front(), value);
  if (node.make == Make::nothing) return true;
  if (node.make == Make::tuple && PyTuple_CheckExact(value)) return false;  // given as parts, if at all
  const bool is_exact = Py_TYPE(value) == node.type;
  if (!is_exact && PyType_IsSubtype(Py_TYPE(value), node.type) == 0) return false;
  for (const Field& field : node.fields) {
    Owned part;
    if (is_exact && field.slot >= 0) {
      PyObject* const found = slot_of(value, field.slot);
      if (found == nullptr) return false;
      part = Owned::share(found);
    } else {
      part = Owned(PyObject_GetAttr(value, field.attribute));
    }
    if (!part || !each(field, part.get())) return false;
  }
  return true;
}

}  // namespace mf::native
