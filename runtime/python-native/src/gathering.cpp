#include "gathering.hpp"

#include <array>

namespace mf::native {

namespace {

constexpr long kEnded = 0;
constexpr long kFull = 1;
constexpr long kLook = 2;

/// 1: the attributes of all objects are what was given; 0: one is not; -1: Python has an error.
[[nodiscard]] int are_kept(PyObject* guards) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(guards); ++i) {
    PyObject* const guard = PyTuple_GET_ITEM(guards, i);
    const Owned found(PyObject_GetAttr(PyTuple_GET_ITEM(guard, 0), PyTuple_GET_ITEM(guard, 1)));
    if (!found) return -1;
    if (found.get() != PyTuple_GET_ITEM(guard, 2)) return 0;
  }
  return 1;
}

[[nodiscard]] bool are_guards(PyObject* guards) {
  if (!PyTuple_CheckExact(guards)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(guards); ++i) {
    PyObject* const guard = PyTuple_GET_ITEM(guards, i);
    if (!PyTuple_CheckExact(guard) || PyTuple_GET_SIZE(guard) != 3) return false;
  }
  return true;
}

/// The bytes of a value; null without an error: it is not plain.
[[nodiscard]] Owned plain_bytes(PyObject* encode, PyObject* value, Py_ssize_t longest) {
  Owned made(PyObject_CallOneArg(encode, value));
  if (!made) {
    if (PyErr_ExceptionMatches(PyExc_Exception) == 0 || PyErr_ExceptionMatches(PyExc_MemoryError) != 0)
      return made;
    PyErr_Clear();
  } else if (PyBytes_CheckExact(made.get()) && PyBytes_GET_SIZE(made.get()) <= longest) {
    return made;
  }
  return Owned();
}

}  // namespace

PyObject* gather(PyObject* /*module*/, PyObject* const* given, Py_ssize_t count) {
  if (count != 7 || PyIter_Check(given[0]) == 0 || !PyList_CheckExact(given[2]) || !are_guards(given[6])) {
    PyErr_SetString(PyExc_TypeError, "gather(iterator, encode, values: list, longest, room, most, guards)");
    return nullptr;
  }
  std::array<Py_ssize_t, 3> limits{};
  for (std::size_t i = 0; i < limits.size(); ++i) {
    limits[i] = PyLong_AsSsize_t(given[3 + i]);
    if (limits[i] == -1 && PyErr_Occurred() != nullptr) return nullptr;
  }
  auto [longest, room, most] = limits;
  while (true) {
    const Owned value(PyIter_Next(given[0]));
    if (!value) return PyErr_Occurred() == nullptr ? PyLong_FromLong(kEnded) : nullptr;
    const Owned made = plain_bytes(given[1], value.get(), longest);
    if (!made) return PyErr_Occurred() == nullptr ? PyTuple_Pack(1, value.get()) : nullptr;
    if (PyList_Append(given[2], made.get()) < 0) return nullptr;
    room -= PyBytes_GET_SIZE(made.get());
    --most;
    if (room <= 0 || most <= 0) return PyLong_FromLong(kFull);
    const int kept = are_kept(given[6]);
    if (kept < 0) return nullptr;
    if (kept == 0) return PyLong_FromLong(kLook);
  }
}

}  // namespace mf::native
