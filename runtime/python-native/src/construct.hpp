#pragma once
// Generated classes called by C++: `Hit(doc=1, title="a")` fills the slots that the generated `__init__`
// would fill.

#include "owned.hpp"

namespace mf::native {

/// construct(class, init, names, slots, defaults, fresh, positional): the class is called by C++ from now on.
/// `init` is its `__init__`, `names` its parameters; `slots` are the descriptors of the attributes that they
/// are kept in, followed by those of attributes that take a fixed value; `defaults` has one for each slot:
/// the default, the fixed value, or `...` where there is none. `fresh` is the argument for which `__init__`
/// makes an object. `positional`: how many may be given by their place. Called by mf/codec/construct.py.
/// Returns whether the class is no more than its slots.
PyObject* construct(PyObject* module, PyObject* const* given, Py_ssize_t count);

}  // namespace mf::native
