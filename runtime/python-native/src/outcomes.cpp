#include "outcomes.hpp"

#include "plan.hpp"

namespace mf::native {

namespace {

/// Whether nothing that it refers to, now or later, can refer back to what holds it.
[[nodiscard]] bool is_atom(PyObject* value) {
  if (PyObject_IS_GC(value) == 0) return true;
  return PyTuple_CheckExact(value) && PyObject_GC_IsTracked(value) == 0;
}

}  // namespace

PyObject* outcomes(PyObject* /*module*/, PyObject* const* given, Py_ssize_t count) {
  if (count != 3 || !PyType_Check(given[0]) || !PyTuple_Check(given[1]) || PyTuple_GET_SIZE(given[1]) != 2 ||
      !PyList_CheckExact(given[2])) {
    PyErr_SetString(PyExc_TypeError, "outcomes(class, (value, error), values: list)");
    return nullptr;
  }
  auto* const type = reinterpret_cast<PyTypeObject*>(given[0]);
  const Py_ssize_t value_at = offset_of(PyTuple_GET_ITEM(given[1], 0), type);
  const Py_ssize_t error_at = offset_of(PyTuple_GET_ITEM(given[1], 1), type);
  if (!is_plain(type) || value_at < 0 || error_at < 0) {
    PyErr_SetString(PyExc_TypeError, "the class of outcomes is more than its slots");
    return nullptr;
  }
  const Py_ssize_t size = PyList_GET_SIZE(given[2]);
  Owned list(PyList_New(size));
  if (!list) return nullptr;
  for (Py_ssize_t i = 0; i < size; ++i) {
    Owned outcome(type->tp_alloc(type, 0));
    if (!outcome) return nullptr;
    if (i >= PyList_GET_SIZE(given[2])) {  // making an object may have run a collection, and that anything
      PyErr_SetString(PyExc_RuntimeError, "the list of values was changed while outcomes were made of it");
      return nullptr;
    }
    PyObject* const value = PyList_GET_ITEM(given[2], i);
    slot_of(outcome.get(), value_at) = Py_NewRef(value);
    slot_of(outcome.get(), error_at) = Py_NewRef(Py_None);
    // What holds a number or a text is part of no cycle: collections need not visit it again and again. An
    // empty dictionary is not tracked either, but anything can be put into it.
    if (is_atom(value)) PyObject_GC_UnTrack(outcome.get());
    PyList_SET_ITEM(list.get(), i, outcome.release());
  }
  return list.release();
}

}  // namespace mf::native
