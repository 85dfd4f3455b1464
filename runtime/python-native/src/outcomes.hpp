#pragma once
// The values of a message's items as its callers get them (mf.core.outcome).

#include "owned.hpp"

namespace mf::native {

/// outcomes(class, (slot of the value, slot of the error), values) -> list: an object of the class for each
/// value, without an error.
PyObject* outcomes(PyObject* module, PyObject* const* given, Py_ssize_t count);

}  // namespace mf::native
