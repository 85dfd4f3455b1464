#pragma once
// Memory for a large payload (mf/protocol/session.py).

#include "owned.hpp"

namespace mf::native {

/// memory(size) -> memoryview: bytes that can be written to and are not set to anything. Their pages are only
/// taken when bytes arrive in them, and those of an earlier payload are used again: of two blocks, of at most
/// 32 MiB together.
PyObject* memory(PyObject* module, PyObject* size);

/// The type of what owns them. False: Python has an error.
[[nodiscard]] bool add_memory(PyObject* module);

}  // namespace mf::native
