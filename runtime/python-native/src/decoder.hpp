#pragma once
// Reads values by a plan, and makes the objects of Python.
//
// Each function returns a new reference, or null: then either Python has an error, or the bytes are not what
// writers make (a fault, a violated constraint, a message in parts). What is wrong with them is not found out
// here: the caller has the pure codec read them again, which names the fault, the byte and the path. So a
// reader here may give up whenever in doubt, and must never accept what the pure codec refuses. Memory is
// counted as mf/codec/sizes.py says.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan.hpp"

namespace mf::native {

class Decoder {
 public:
  Decoder(const Plan& plan, const std::uint8_t* data, std::size_t pos, std::size_t end, std::int64_t budget,
          PyObject* owner = nullptr) noexcept
      : plan_(plan), data_(data), pos_(pos), end_(end), budget_(budget), owner_(owner) {}

  [[nodiscard]] std::size_t position() const noexcept { return pos_; }
  [[nodiscard]] bool is_at_end() const noexcept { return pos_ == end_; }
  /// The bytes that are left are one value.
  [[nodiscard]] PyObject* alone(const Node& node);
  /// A list of so many values, one behind the other.
  [[nodiscard]] PyObject* items(const Node& node, std::uint64_t count);

 private:
  struct Graph;

  // febird.cpp
  [[nodiscard]] PyObject* value(const Node& node);
  [[nodiscard]] PyObject* held(const Node& node, PyObject* made);
  [[nodiscard]] PyObject* structure(const Node& node);
  [[nodiscard]] PyObject* alternatives(const Node& node);
  [[nodiscard]] PyObject* alternative(const Field& field, PyObject* inner);
  [[nodiscard]] PyObject* custom(const Node& node, std::size_t size);
  [[nodiscard]] PyObject* embedded(const Node& node);
  [[nodiscard]] PyObject* list(const Node& node);
  [[nodiscard]] PyObject* set(const Node& node);
  [[nodiscard]] PyObject* array(const Node& node);
  [[nodiscard]] PyObject* map(const Node& node);
  [[nodiscard]] PyObject* elements(const Node& element, std::uint64_t count);
  [[nodiscard]] PyObject* text(std::size_t size);
  [[nodiscard]] PyObject* octets(std::size_t size);
  /// Makes a struct of what `each` returns for its fields.
  template <class Each>
  [[nodiscard]] PyObject* made(const Node& node, const Each& each);

  // layout.cpp
  [[nodiscard]] PyObject* number(const Node& node, std::uint64_t bits);
  [[nodiscard]] PyObject* laid(const Node& node, const std::uint8_t* at);
  [[nodiscard]] PyObject* floats(Op op, std::uint64_t count);
  [[nodiscard]] PyObject* row(const Node& element, bool is_set);
  [[nodiscard]] PyObject* row_array(const Node& element, std::uint64_t count);
  [[nodiscard]] bool codes(std::uint64_t blocks, std::uint8_t top, std::vector<std::uint8_t>& codes);
  [[nodiscard]] bool block(const Node& element, std::uint8_t code, std::size_t count, PyObject* list,
                           Py_ssize_t at);
  [[nodiscard]] PyObject* integer(const Node& element, std::uint64_t bits);
  [[nodiscard]] bool entries(const Node& map, std::uint64_t count, PyObject* dict);

  // buffers.cpp
  [[nodiscard]] PyObject* array(PyObject* read_array);

  // archive.cpp
  [[nodiscard]] PyObject* message(const Node& node);
  [[nodiscard]] bool message_into(const Node& node, PyObject* target);
  [[nodiscard]] PyObject* union_message(const Node& node);
  [[nodiscard]] bool union_value(const Node& node, const Field*& chosen, PyObject*& inner);
  [[nodiscard]] bool keep_unknown(const Node& node, std::size_t start, std::uint8_t wire, Owned& unknown);
  [[nodiscard]] PyObject* wrapped(const Node& node);
  [[nodiscard]] PyObject* tagged(const Node& node);
  [[nodiscard]] PyObject* tagged_number(const Node& node);
  [[nodiscard]] PyObject* sized(const Node& node);
  [[nodiscard]] PyObject* foreign(const Node& node);
  [[nodiscard]] bool take(const Field& field, std::uint8_t wire, PyObject*& found);
  [[nodiscard]] bool take_element(const Node& element, const Field& field, PyObject* found);
  [[nodiscard]] bool take_packed(const Node& element, const Field& field, PyObject*& found);
  [[nodiscard]] PyObject* packed(const Node& element, std::int64_t memory);
  [[nodiscard]] PyObject* plain_varint(const Node& element);
  [[nodiscard]] bool take_entry(const Node& map, const Field& field, PyObject* found);
  [[nodiscard]] bool finish(const Field& field, PyObject*& found);
  [[nodiscard]] bool tag(std::uint32_t& number, std::uint8_t& wire) noexcept;
  [[nodiscard]] bool skip(std::uint8_t wire) noexcept;

  // graph.cpp
  [[nodiscard]] PyObject* graph(const Node& root);
  [[nodiscard]] bool find_objects(Graph& graph);
  [[nodiscard]] bool make_objects(Graph& graph);
  [[nodiscard]] bool read_objects(Graph& graph);
  [[nodiscard]] PyObject* reference(const Node& node);

  // --- bytes

  [[nodiscard]] std::size_t left() const noexcept { return end_ - pos_; }
  [[nodiscard]] bool charge(std::int64_t size) noexcept {
    if (size > budget_) return false;
    budget_ -= size;
    return true;
  }
  [[nodiscard]] bool charge_each(std::uint64_t count, std::int64_t size) noexcept {
    if (!affords(count, size)) return false;
    budget_ -= static_cast<std::int64_t>(count) * size;
    return true;
  }
  [[nodiscard]] bool affords(std::uint64_t count, std::int64_t size) const noexcept {
    return size == 0 || (budget_ >= 0 && count <= static_cast<std::uint64_t>(budget_ / size));
  }
  [[nodiscard]] bool has(std::uint64_t count, std::int64_t size) const noexcept {
    return size == 0 ? count <= static_cast<std::uint64_t>(kMaxEmpty)
                     : count <= left() / static_cast<std::uint64_t>(size);
  }
  /// A varint; `shortest`: as febird has it, where no other form of a number is right.
  [[nodiscard]] bool varint(std::uint64_t& number, bool shortest) noexcept {
    if (pos_ >= end_ || data_[pos_] > 127) return long_varint(number, shortest);
    number = data_[pos_++];
    return true;
  }
  [[nodiscard]] bool long_varint(std::uint64_t& number, bool shortest) noexcept;
  [[nodiscard]] bool unsigned_number(std::uint64_t highest, std::uint64_t& number) noexcept {
    return varint(number, true) && number <= highest;
  }
  /// Of what follows, which is there.
  [[nodiscard]] bool length(std::size_t& size, bool shortest) noexcept {
    std::uint64_t number = 0;
    if (!varint(number, shortest) || number > left()) return false;
    size = static_cast<std::size_t>(number);
    return true;
  }
  [[nodiscard]] bool enter() noexcept { return ++depth_ <= kMaxDepth; }

  const Plan& plan_;
  const std::uint8_t* data_;
  std::size_t pos_;
  std::size_t end_;
  std::int64_t budget_;
  PyObject* owner_;  // of the data, if lists are to be arrays of numpy
  int depth_ = 0;
  Graph* graph_ = nullptr;  // that is read just now
};

[[nodiscard]] inline std::uint64_t load(const std::uint8_t* at, unsigned width) noexcept {
  std::uint64_t number = 0;
  for (unsigned i = 0; i < width; ++i) number |= std::uint64_t{at[i]} << (8 * i);
  return number;
}

/// The number in its low `width` bytes, its sign carried on.
[[nodiscard]] inline std::uint64_t extended(std::uint64_t number, unsigned width) noexcept {
  const unsigned shift = 64 - 8 * width;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(number << shift) >> shift);
}

[[nodiscard]] inline std::uint64_t unzigzag(std::uint64_t number) noexcept {
  return (number >> 1) ^ (~(number & 1) + 1);
}

/// Whether an integer, in two's complement, is one of this type.
[[nodiscard]] inline bool fits(Op op, std::uint64_t bits) noexcept {
  const unsigned width = width_of(op);
  return is_signed(op) ? extended(bits, width) == bits : bits <= highest_of(width);
}

template <class Each>
PyObject* Decoder::made(const Node& node, const Each& each) {
  switch (node.make) {
    case Make::slots: {
      Owned object(node.type->tp_alloc(node.type, 0));
      if (!object) return nullptr;
      for (const Field& field : node.fields) {
        PyObject* const part = each(field);
        if (part == nullptr) return nullptr;
        slot_of(object.get(), field.slot) = part;
      }
      return object.release();
    }
    case Make::bare:
      return each(node.fields.front());
    case Make::nothing:
      return Py_NewRef(Py_None);
    default: {
      Owned parts(PyTuple_New(static_cast<Py_ssize_t>(node.fields.size())));
      if (!parts) return nullptr;
      for (std::size_t i = 0; i < node.fields.size(); ++i) {
        PyObject* const part = each(node.fields[i]);
        if (part == nullptr) return nullptr;
        PyTuple_SET_ITEM(parts.get(), static_cast<Py_ssize_t>(i), part);
      }
      return node.make == Make::tuple ? parts.release() : PyObject_CallObject(node.maker, parts.get());
    }
  }
}

}  // namespace mf::native
