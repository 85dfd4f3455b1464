#include "construct.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <unordered_map>
#include <vector>

#include "plan.hpp"

namespace mf::native {

namespace {

/// A class whose objects are made here. It is never given up, and nor is what it refers to: generated classes
/// live as long as the process.
struct Made {
  PyObject* init = nullptr;
  PyObject* fresh = nullptr;
  unsigned int version = 0;  // of the class when `init` was seen there last; a changed class has another one
  std::size_t positional = 0;
  std::vector<PyObject*> names;
  std::vector<Py_ssize_t> slots;  // of the parameters, then of fixed values
  std::vector<PyObject*> defaults;
};

constexpr std::size_t kMostSlots = 64;

/// Changed under the interpreter's lock.
[[nodiscard]] std::unordered_map<PyTypeObject*, std::unique_ptr<Made>>& known() {
  static auto* const made = new std::unordered_map<PyTypeObject*, std::unique_ptr<Made>>();
  return *made;
}

/// As Python calls a class by itself: `__new__`, then `__init__`, which has the words for what is wrong.
[[nodiscard]] PyObject* called_by_python(PyObject* type, PyObject* const* given, std::size_t count,
                                         PyObject* names) {
  const auto named = static_cast<std::size_t>(names == nullptr ? 0 : PyTuple_GET_SIZE(names));
  const Owned arguments(PyTuple_New(static_cast<Py_ssize_t>(count)));
  const Owned keywords(named > 0 ? PyDict_New() : nullptr);
  if (!arguments || (named > 0 && !keywords)) return nullptr;
  for (std::size_t i = 0; i < count; ++i)
    PyTuple_SET_ITEM(arguments.get(), static_cast<Py_ssize_t>(i), Py_NewRef(given[i]));
  for (std::size_t i = 0; i < named; ++i)
    if (PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(i)),
                       given[count + i]) < 0)
      return nullptr;
  return PyType_Type.tp_call(type, arguments.get(), keywords.get());
}

/// Whether the class still has the `__init__` that it was generated with, and no more.
[[nodiscard]] bool is_unchanged(PyTypeObject* type, Made& made) {
  if (made.version != 0 && type->tp_version_tag == made.version) return true;
  const Owned init(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__init__"));
  if (!init) PyErr_Clear();
  if (init.get() != made.init || !is_plain(type)) return false;
  made.version = type->tp_version_tag;
  return true;
}

/// Puts arguments that are given by their names at their places; false: one of them is unknown, or is there
/// twice.
[[nodiscard]] bool place(const Made& made, PyObject* names, PyObject* const* given, PyObject** parts) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
    PyObject* const name = PyTuple_GET_ITEM(names, i);
    std::size_t at = 0;
    while (at < made.names.size() && made.names[at] != name)
      ++at;  // names are interned, unless they were made up
    if (at == made.names.size() || parts[at] != nullptr) return false;
    parts[at] = given[i];
  }
  return true;
}

PyObject* make(PyObject* callable, PyObject* const* given, std::size_t flags, PyObject* names) {
  auto* const type = reinterpret_cast<PyTypeObject*>(callable);
  const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
  Made& made = *known().find(type)->second;
  std::array<PyObject*, kMostSlots> parts;  // of which as many are set as the class has slots
  if (count > made.positional || !is_unchanged(type, made))
    return called_by_python(callable, given, count, names);
  std::copy_n(given, count, parts.data());
  std::fill_n(parts.data() + count, made.slots.size() - count, nullptr);
  if (names != nullptr && !place(made, names, given + count, parts.data()))
    return called_by_python(callable, given, count, names);
  for (std::size_t i = 0; i < made.slots.size(); ++i) {
    if (parts[i] == nullptr) parts[i] = made.defaults[i];
    if (parts[i] == nullptr || parts[i] == made.fresh) return called_by_python(callable, given, count, names);
  }
  PyObject* const object = type->tp_alloc(type, 0);
  if (object == nullptr) return nullptr;
  for (std::size_t i = 0; i < made.slots.size(); ++i) slot_of(object, made.slots[i]) = Py_NewRef(parts[i]);
  return object;
}

[[nodiscard]] bool parse(PyTypeObject* type, PyObject* const* given, Made& made) {
  PyObject* const names = given[2];
  PyObject* const slots = given[3];
  PyObject* const defaults = given[4];
  const Py_ssize_t size = PyTuple_GET_SIZE(slots);
  if (!is_plain(type) || size > static_cast<Py_ssize_t>(kMostSlots) || PyTuple_GET_SIZE(defaults) != size ||
      PyTuple_GET_SIZE(names) > size)
    return false;
  for (Py_ssize_t i = 0; i < size; ++i) {
    const Py_ssize_t offset = offset_of(PyTuple_GET_ITEM(slots, i), type);
    if (offset < 0) return false;
    made.slots.push_back(offset);
    PyObject* const fallback = PyTuple_GET_ITEM(defaults, i);
    made.defaults.push_back(fallback == Py_Ellipsis ? nullptr : fallback);
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) made.names.push_back(PyTuple_GET_ITEM(names, i));
  return true;
}

}  // namespace

PyObject* construct(PyObject* /*module*/, PyObject* const* given, Py_ssize_t count) {
  if (count != 7 || !PyType_Check(given[0]) || !PyTuple_Check(given[2]) || !PyTuple_Check(given[3]) ||
      !PyTuple_Check(given[4])) {
    PyErr_SetString(PyExc_TypeError, "construct(class, init, names, slots, defaults, fresh, positional)");
    return nullptr;
  }
  auto* const type = reinterpret_cast<PyTypeObject*>(given[0]);
  try {
    auto made = std::make_unique<Made>();
    made->positional = PyLong_AsSize_t(given[6]);
    if (PyErr_Occurred() != nullptr) return nullptr;
    if (made->positional > static_cast<std::size_t>(PyTuple_GET_SIZE(given[2])) || !parse(type, given, *made))
      return Py_NewRef(Py_False);
    made->init = given[1];
    made->fresh = given[5];
    for (Py_ssize_t i = 0; i < 6; ++i) Py_INCREF(given[i]);  // see Made
    known().insert_or_assign(type, std::move(made));
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
  type->tp_vectorcall = make;
  return Py_NewRef(Py_True);
}

}  // namespace mf::native
