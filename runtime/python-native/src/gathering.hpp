#pragma once
// The values of a stream that is written (mf/protocol/cutting.py, gather): encoded one after another, until
// one is not plain, a frame is full, or Python has to look.

#include "owned.hpp"

namespace mf::native {

/// gather(given, encode, values: list, longest, room, most, guards) -> 0, 1, 2 or a tuple of one value.
PyObject* gather(PyObject* module, PyObject* const* given, Py_ssize_t count);

}  // namespace mf::native
