#include "plan.hpp"

#include <structmember.h>

#include <algorithm>
#include <cmath>

namespace mf::native {

Py_ssize_t offset_of(PyObject* descriptor, PyTypeObject* type) {
  if (descriptor == nullptr || type == nullptr || !Py_IS_TYPE(descriptor, &PyMemberDescr_Type)) return -1;
  const auto* const member = reinterpret_cast<PyMemberDescrObject*>(descriptor);
  if (member->d_member->type != T_OBJECT_EX || PyType_IsSubtype(type, PyDescr_TYPE(member)) == 0) return -1;
  return member->d_member->offset;
}

bool is_plain(PyTypeObject* type) {
  return type != nullptr && type->tp_new == PyBaseObject_Type.tp_new &&
         type->tp_alloc == PyType_GenericAlloc && type->tp_itemsize == 0 && type->tp_dictoffset == 0 &&
         (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) == 0;
}

namespace {

[[nodiscard]] bool wrong(const char* what) {
  PyErr_Format(PyExc_ValueError, "this is no plan of mf.codec.plan: %s", what);
  return false;
}

[[nodiscard]] bool flag(PyObject* tuple, Py_ssize_t at) {
  return PyTuple_GET_ITEM(tuple, at) == Py_True;
}

[[nodiscard]] long long whole(PyObject* tuple, Py_ssize_t at) {
  return PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, at));
}

[[nodiscard]] PyObject* object_or_null(PyObject* tuple, Py_ssize_t at) {
  PyObject* const found = PyTuple_GET_ITEM(tuple, at);
  return found == Py_None ? nullptr : found;
}

[[nodiscard]] PyTypeObject* type_in(PyObject* tuple, Py_ssize_t at) {
  PyObject* const found = PyTuple_GET_ITEM(tuple, at);
  return PyType_Check(found) ? reinterpret_cast<PyTypeObject*>(found) : nullptr;
}

/// (kind, low, high, violation)
[[nodiscard]] bool parse_test(PyObject* given, Test& test) {
  if (!PyTuple_Check(given) || PyTuple_GET_SIZE(given) != 4) return wrong("a test");
  test.kind = static_cast<Test::Kind>(whole(given, 0));
  PyObject* const low = PyTuple_GET_ITEM(given, 1);
  PyObject* const high = PyTuple_GET_ITEM(given, 2);
  test.violation = PyTuple_GET_ITEM(given, 3);
  test.has_low = low != Py_None;
  test.has_high = high != Py_None;
  if (test.kind == Test::Kind::real) {
    if (test.has_low) test.real_low = PyFloat_AsDouble(low);
    if (test.has_high) test.real_high = PyFloat_AsDouble(high);
  } else if (test.kind == Test::Kind::whole || test.kind == Test::Kind::length) {
    int overflow = 0;
    if (test.has_low) test.low = PyLong_AsLongLongAndOverflow(low, &overflow);
    test.low_is_unsigned = overflow > 0;
    if (overflow > 0) test.unsigned_low = PyLong_AsUnsignedLongLong(low);
    overflow = 0;
    if (test.has_high) test.high = PyLong_AsLongLongAndOverflow(high, &overflow);
    test.high_is_unsigned = overflow > 0;
    if (overflow > 0) test.unsigned_high = PyLong_AsUnsignedLongLong(high);
  }
  return PyErr_Occurred() == nullptr;
}

[[nodiscard]] bool parse_tests(PyObject* given, std::vector<Test>& tests) {
  if (!PyTuple_Check(given)) return wrong("tests");
  tests.resize(static_cast<std::size_t>(PyTuple_GET_SIZE(given)));
  for (std::size_t i = 0; i < tests.size(); ++i)
    if (!parse_test(PyTuple_GET_ITEM(given, static_cast<Py_ssize_t>(i)), tests[i])) return false;
  return true;
}

/// (attribute, descriptor, node, number, offset, mode, optional, wire, charge, default, tests, type,
/// descriptor of its value)
[[nodiscard]] bool parse_field(PyObject* given, PyTypeObject* owner, std::size_t count, Field& field) {
  if (!PyTuple_Check(given) || PyTuple_GET_SIZE(given) != 13) return wrong("a field");
  field.attribute = PyTuple_GET_ITEM(given, 0);
  if (!PyUnicode_Check(field.attribute)) return wrong("the name of a field");
  field.slot = offset_of(PyTuple_GET_ITEM(given, 1), owner);
  field.node = static_cast<std::uint32_t>(whole(given, 2));
  field.number = static_cast<std::uint32_t>(whole(given, 3));
  field.offset = static_cast<std::uint32_t>(whole(given, 4));
  field.mode = static_cast<Mode>(whole(given, 5));
  field.optional = flag(given, 6);
  field.wire = static_cast<std::uint8_t>(whole(given, 7));
  field.charge = whole(given, 8);
  field.default_ = object_or_null(given, 9);
  if (!parse_tests(PyTuple_GET_ITEM(given, 10), field.tests)) return false;
  field.type = type_in(given, 11);
  if (is_plain(field.type)) field.value = offset_of(PyTuple_GET_ITEM(given, 12), field.type);
  if (field.node >= count || field.mode > Mode::map) return wrong("the type of a field");
  return PyErr_Occurred() == nullptr;
}

/// (op, form, row, wire, element, key, memory, smallest, size, length, archive, memcpy, implicit, extra)
[[nodiscard]] bool parse_common(PyObject* given, std::size_t count, Node& node) {
  if (!PyTuple_Check(given) || PyTuple_GET_SIZE(given) != 14) return wrong("a node");
  node.op = static_cast<Op>(whole(given, 0));
  node.form = static_cast<Form>(whole(given, 1));
  node.row = static_cast<Op>(whole(given, 2));
  node.wire = static_cast<std::uint8_t>(whole(given, 3));
  node.element = static_cast<std::uint32_t>(whole(given, 4));
  node.key = static_cast<std::uint32_t>(whole(given, 5));
  node.memory = whole(given, 6);
  node.smallest = whole(given, 7);
  node.size = whole(given, 8);
  node.length = whole(given, 9);
  node.archive = flag(given, 10);
  node.memcpy = flag(given, 11);
  node.implicit = flag(given, 12);
  if (node.op > Op::reference || node.element >= count || node.key >= count) return wrong("a type");
  if (PyErr_Occurred() != nullptr) return false;
  return PyTuple_Check(PyTuple_GET_ITEM(given, 13)) || wrong("what belongs to a type");
}

/// (base, type, values, numbers, small)
[[nodiscard]] bool parse_enum(PyObject* extra, Node& node) {
  if (PyTuple_GET_SIZE(extra) != 5) return wrong("an enum");
  node.base = static_cast<Op>(whole(extra, 0));
  node.type = type_in(extra, 1);
  node.values = PyTuple_GET_ITEM(extra, 2);
  node.numbers = object_or_null(extra, 3);
  PyObject* const small = PyTuple_GET_ITEM(extra, 4);
  if (!PyTuple_Check(small) || (node.numbers != nullptr && !PyDict_Check(node.numbers)))
    return wrong("an enum");
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(small); ++i) node.small.push_back(object_or_null(small, i));
  return PyErr_Occurred() == nullptr;
}

/// (type, maker, make, parts are bare, descriptor of unknown fields, fields, tables)
[[nodiscard]] bool parse_composite(PyObject* extra, std::size_t count, Node& node) {
  if (PyTuple_GET_SIZE(extra) != 7) return wrong("a struct");
  node.type = type_in(extra, 0);
  node.maker = object_or_null(extra, 1);
  node.make = static_cast<Make>(whole(extra, 2));
  node.parts_are_bare = flag(extra, 3);
  node.unknown = offset_of(object_or_null(extra, 4), node.type);
  PyObject* const fields = PyTuple_GET_ITEM(extra, 5);
  PyObject* const tables = PyTuple_GET_ITEM(extra, 6);
  if (!PyTuple_Check(fields) || !PyTuple_Check(tables) || node.make > Make::nothing) return wrong("a struct");
  node.fields.resize(static_cast<std::size_t>(PyTuple_GET_SIZE(fields)));
  for (std::size_t i = 0; i < node.fields.size(); ++i) {
    PyObject* const given = PyTuple_GET_ITEM(fields, static_cast<Py_ssize_t>(i));
    if (!parse_field(given, node.type, count, node.fields[i])) return false;
    node.by_number.push_back(static_cast<std::uint32_t>(i));
  }
  std::ranges::sort(node.by_number, {}, [&](std::uint32_t i) { return node.fields[i].number; });
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tables); ++i) {
    const auto table = static_cast<std::uint32_t>(whole(tables, i));
    if (table >= count) return wrong("a table of a graph");
    node.tables.push_back(table);
  }
  if (node.make == Make::bare && node.fields.size() != 1) return wrong("a struct that is its only field");
  const bool has_slots = std::ranges::all_of(node.fields, [](const Field& each) { return each.slot >= 0; });
  if (node.make == Make::slots && !(is_plain(node.type) && has_slots)) node.make = Make::call;
  if (node.make == Make::call && node.op == Op::structure && node.maker == nullptr) return wrong("a struct");
  if (node.archive && node.op == Op::structure && (node.make != Make::slots || node.unknown < 0))
    return wrong("a class of tier archive that is more than its slots");
  return PyErr_Occurred() == nullptr;
}

[[nodiscard]] bool parse_node(PyObject* given, std::size_t count, Node& node) {
  if (!parse_common(given, count, node)) return false;
  PyObject* const extra = PyTuple_GET_ITEM(given, 13);
  switch (node.op) {
    case Op::enumeration:
      return parse_enum(extra, node);
    case Op::checked:
      return parse_tests(extra, node.tests);
    case Op::timestamp:
    case Op::duration:
    case Op::uuid:
      if (PyTuple_GET_SIZE(extra) != 1) return wrong("a time");
      node.type = type_in(extra, 0);
      return node.type != nullptr || wrong("a time");
    case Op::custom:
      if (PyTuple_GET_SIZE(extra) != 2) return wrong("a user's codec");
      node.decode = PyTuple_GET_ITEM(extra, 0);
      node.encode = PyTuple_GET_ITEM(extra, 1);
      return true;
    case Op::structure:
    case Op::alternatives:
      return parse_composite(extra, count, node);
    case Op::list:
      if (PyTuple_GET_SIZE(extra) != 2)
        return PyTuple_GET_SIZE(extra) == 0 || parse_composite(extra, count, node);
      node.read_array = PyTuple_GET_ITEM(extra, 0);
      node.array_bytes = object_or_null(extra, 1);
      return true;
    case Op::set:
    case Op::array:
    case Op::map:
    case Op::optional:
      return PyTuple_GET_SIZE(extra) == 0 || parse_composite(extra, count, node);
    default:
      return true;
  }
}

}  // namespace

bool Plan::parse(PyObject* described) {
  if (!PyTuple_Check(described) || PyTuple_GET_SIZE(described) == 0) return wrong("its nodes");
  nodes.resize(static_cast<std::size_t>(PyTuple_GET_SIZE(described)));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    PyObject* const given = PyTuple_GET_ITEM(described, static_cast<Py_ssize_t>(i));
    if (!parse_node(given, nodes.size(), nodes[i])) return false;
  }
  return true;
}

// --- constraints

namespace {

[[nodiscard]] bool in_range(const Test& test, PyObject* value) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (number == -1 && PyErr_Occurred() != nullptr) return false;
  if (overflow < 0) return false;
  if (overflow == 0) {
    if (test.has_low && (test.low_is_unsigned || number < test.low)) return false;
    return !test.has_high || test.high_is_unsigned || number <= test.high;
  }
  const std::uint64_t large = PyLong_AsUnsignedLongLong(value);
  if (large == UINT64_MAX && PyErr_Occurred() != nullptr) return false;
  if (test.has_low && test.low_is_unsigned && large < test.unsigned_low) return false;
  return !test.has_high || (test.high_is_unsigned && large <= test.unsigned_high);
}

[[nodiscard]] bool has_length(const Test& test, PyObject* value) {
  Py_ssize_t length = 0;
  if (PyUnicode_Check(value)) {
    if (PyUnicode_IS_ASCII(value)) {
      length = PyUnicode_GET_LENGTH(value);
    } else if (PyUnicode_AsUTF8AndSize(value, &length) == nullptr) {
      return false;
    }
  } else {
    length = PyObject_Size(value);
    if (length < 0) return false;
  }
  return length >= test.low && (!test.has_high || test.high_is_unsigned || length <= test.high);
}

}  // namespace

bool Test::holds(PyObject* value) const {
  if (kind == Kind::whole && PyLong_Check(value)) return in_range(*this, value);
  if (kind == Kind::length) return has_length(*this, value);
  if (kind == Kind::finite && PyFloat_Check(value)) return std::isfinite(PyFloat_AS_DOUBLE(value));
  if (kind == Kind::real && PyFloat_Check(value)) {
    const double number = PyFloat_AS_DOUBLE(value);
    return (!has_low || real_low <= number) && (!has_high || number <= real_high);
  }
  const Owned reason(PyObject_CallOneArg(violation, value));
  return reason.get() == Py_None;
}

bool hold(const std::vector<Test>& tests, PyObject* value) {
  if (value == Py_None) return true;
  return std::ranges::all_of(tests, [&](const Test& each) { return each.holds(value); });
}

}  // namespace mf::native
