#pragma once
// The plan of one type: what it and the types in it look like, as nodes that refer to each other by index.
//
// mf/codec/plan.py makes a tuple of tuples of a shape, and `Plan::parse` makes the nodes of it. Nodes borrow
// all objects of Python from that tuple, which their owner (module.cpp) keeps as long as the plan. A plan is
// immutable; calls of all threads share it under the interpreter's lock.

#include <cstdint>
#include <string>
#include <vector>

#include "owned.hpp"

namespace mf::native {

/// The numbers are those of `Op` in mf/codec/plan.py.
enum class Op : std::uint8_t {
  boolean,
  u8,
  u16,
  u32,
  u64,
  i8,
  i16,
  i32,
  i64,
  f32,
  f64,
  timestamp,
  duration,
  uuid,
  string,
  bytes,
  enumeration,
  checked,
  optional,
  list,
  set,
  array,
  map,
  structure,
  alternatives,
  custom,
  reference,
};

/// How a number is encoded behind its tag in an archive; `Form` in plan.py.
enum class Form : std::uint8_t { none, plain, two_s_complement, zigzag, fixed32, fixed64 };

/// How a value of a struct is made of its fields; `Make` in plan.py.
enum class Make : std::uint8_t { slots, call, tuple, bare, nothing };

/// What a field of an archive holds; `Mode` in plan.py.
enum class Mode : std::uint8_t { single, list, set, array, map };

/// A constraint that a value is held against; `TestKind` in plan.py.
struct Test {
  enum class Kind : std::uint8_t { whole, real, length, finite, call };
  Kind kind = Kind::call;
  bool has_low = false;
  bool has_high = false;
  bool high_is_unsigned = false;  // `high` is more than an i64 holds: see `unsigned_high`
  bool low_is_unsigned = false;
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::uint64_t unsigned_low = 0;
  std::uint64_t unsigned_high = 0;
  double real_low = 0;
  double real_high = 0;
  PyObject* violation = nullptr;  // returns None for a value that keeps it

  /// False: it is violated, or Python raised an error.
  [[nodiscard]] bool holds(PyObject* value) const;
};

[[nodiscard]] bool hold(const std::vector<Test>& tests, PyObject* value);

/// A field of a struct, an alternative of a union, or what a message around a container holds.
struct Field {
  PyObject* attribute = nullptr;
  Py_ssize_t slot = -1;  // offset of the attribute in an object of the struct's class; -1: not a plain slot
  std::uint32_t node = 0;
  std::uint32_t number = 0;
  std::uint32_t offset = 0;  // in the layout of tier memcpy
  Mode mode = Mode::single;
  bool optional = false;
  std::uint8_t wire = 0;         // that a writer gives the tag of a single value, or of an element
  std::int64_t charge = 0;       // memory of an element, beside what reading it counts
  PyObject* default_ = nullptr;  // makes what a message lacks
  std::vector<Test> tests;       // of a whole container
  PyTypeObject* type = nullptr;  // the class of an alternative
  Py_ssize_t value = -1;         // offset of its slot `value`; -1: the class is called
};

struct Node {
  Op op = Op::boolean;
  Op base = Op::boolean;  // of enums
  bool archive = false;
  bool memcpy = false;
  bool implicit = false;
  bool parts_are_bare = false;
  Form form = Form::none;
  Make make = Make::call;
  Op row = Op::boolean;  // the integers of a row that this is an element of; `boolean`: it is in none
  std::uint8_t wire = 0;
  std::uint32_t element = 0;  // or the value of a map, or what is checked
  std::uint32_t key = 0;
  std::int64_t memory = 0;
  std::int64_t smallest = 0;
  std::int64_t size = 0;  // of the layout
  std::int64_t length = 0;
  Py_ssize_t unknown = -1;  // offset of the slot that keeps unknown fields
  PyTypeObject* type = nullptr;
  PyObject* maker = nullptr;
  PyObject* values = nullptr;   // of enums: by number
  PyObject* numbers = nullptr;  // of closed enums: those of the members
  PyObject* decode = nullptr;   // of a user's codec
  PyObject* encode = nullptr;
  PyObject* read_array = nullptr;   // of lists that can be arrays of numpy
  PyObject* array_bytes = nullptr;  // of an array of structs
  std::vector<PyObject*> small;     // of enums: the values of 0 to 255, null where there is none
  std::vector<Test> tests;
  std::vector<Field> fields;
  std::vector<std::uint32_t> by_number;  // archive: the fields in the order of their numbers
  std::vector<std::uint32_t> tables;     // of a graph's root: the nodes of the types that are referred to

  [[nodiscard]] bool has_row() const noexcept { return row != Op::boolean; }
};

struct Plan {
  std::vector<Node> nodes;
  std::uint32_t root = 0;

  [[nodiscard]] const Node& node(std::uint32_t index) const noexcept { return nodes[index]; }
  /// `described` is the tuple that plan.py made. False: it is none such, and Python has an error.
  [[nodiscard]] bool parse(PyObject* described);
};

/// Of a slot that holds an object, or -1. `descriptor` is what the class has under the slot's name.
[[nodiscard]] Py_ssize_t offset_of(PyObject* descriptor, PyTypeObject* type);

/// Whether an object of the class is no more than its slots: nothing else runs when one is made.
[[nodiscard]] bool is_plain(PyTypeObject* type);

[[nodiscard]] inline PyObject*& slot_of(PyObject* object, Py_ssize_t offset) noexcept {
  return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + offset);
}

/// Bytes of one number in memory.
[[nodiscard]] constexpr unsigned width_of(Op op) noexcept {
  switch (op) {
    case Op::boolean:
    case Op::u8:
    case Op::i8:
      return 1;
    case Op::u16:
    case Op::i16:
      return 2;
    case Op::u32:
    case Op::i32:
    case Op::f32:
      return 4;
    case Op::uuid:
      return 16;
    default:
      return 8;
  }
}

[[nodiscard]] constexpr bool is_signed(Op op) noexcept {
  return (op >= Op::i8 && op <= Op::i64) || op == Op::timestamp || op == Op::duration;
}

/// The largest number that an unsigned type of that many bytes holds.
[[nodiscard]] constexpr std::uint64_t highest_of(unsigned width) noexcept {
  return width == 8 ? UINT64_MAX : (std::uint64_t{1} << (8 * width)) - 1;
}

inline constexpr int kMaxDepth = 64;  // mf/codec/limits.py
inline constexpr std::int64_t kMaxEmpty = 65'536;
inline constexpr std::int64_t kEntry = 100;  // mf/codec/sizes.py
inline constexpr std::int64_t kFirstEntry = 168;
inline constexpr std::int64_t kPlace = 8;
inline constexpr std::size_t kBlock = 256;  // integers of a row that have one width

}  // namespace mf::native
