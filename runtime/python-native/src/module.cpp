// The module `_mf_native`: the type `Plan`, which mf/codec/plan.py makes of the description of a type; and
// the functions of frames.hpp, gathering.hpp, memory.hpp and outcomes.hpp for mf/protocol, and of serving.hpp
// for mf/server.
//
//   plan = Plan(nodes)
//   plan.decode(data, budget)                          a value
//   plan.decode_items(data, pos, count, budget, whole, arrays)   (list, position behind it)
//   plan.encode(value), plan.encode_items(values), plan.encode_parts(parts)     bytes
//
// Each returns NotImplemented where it gives up (decoder.hpp, encoder.hpp): then the pure codec does the
// work, and finds the words. Errors that are no `Exception`, and a lack of memory, are raised.
#include <new>

#include "awaiting.hpp"
#include "construct.hpp"
#include "decoder.hpp"
#include "encoder.hpp"
#include "frames.hpp"
#include "gathering.hpp"
#include "memory.hpp"
#include "outcomes.hpp"
#include "serving.hpp"
#include "types.hpp"

namespace mf::native {

namespace {

struct PlanObject {
  PyObject_HEAD;
  Plan* plan;
  PyObject* described;  // what the nodes borrow from
};

[[nodiscard]] PlanObject* plan_of(PyObject* self) noexcept {
  return reinterpret_cast<PlanObject*>(self);
}

/// What a call returns where a reader or writer gave up.
[[nodiscard]] PyObject* given_up() {
  if (PyErr_Occurred() != nullptr) {
    if (PyErr_ExceptionMatches(PyExc_Exception) == 0 || PyErr_ExceptionMatches(PyExc_MemoryError) != 0)
      return nullptr;
    PyErr_Clear();
  }
  return Py_NewRef(Py_NotImplemented);
}

/// Memory that a value may take; false: it is no number that fits.
[[nodiscard]] bool budget_in(PyObject* given, std::int64_t& budget) {
  int overflow = 0;
  if (!PyLong_Check(given)) return false;
  budget = PyLong_AsLongLongAndOverflow(given, &overflow);
  if (overflow > 0) budget = INT64_MAX;
  return overflow >= 0;
}

[[nodiscard]] const std::uint8_t* bytes_of(PyObject* data) noexcept {
  return reinterpret_cast<const std::uint8_t*>(PyBytes_AS_STRING(data));
}

[[nodiscard]] bool has_arguments(Py_ssize_t count, Py_ssize_t wanted) {
  if (count == wanted) return true;
  PyErr_Format(PyExc_TypeError, "expected %zd arguments, got %zd", wanted, count);
  return false;
}

PyObject* decode(PyObject* self, PyObject* const* given, Py_ssize_t count) {
  const PlanObject& owner = *plan_of(self);
  std::int64_t budget = 0;
  if (!has_arguments(count, 2)) return nullptr;
  if (owner.described == nullptr || !PyBytes_Check(given[0]) || !budget_in(given[1], budget))
    return given_up();
  try {
    Decoder decoder(*owner.plan, bytes_of(given[0]), 0, static_cast<std::size_t>(PyBytes_GET_SIZE(given[0])),
                    budget);
    Owned value(decoder.alone(owner.plan->node(owner.plan->root)));
    return value && decoder.is_at_end() ? value.release() : given_up();
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

PyObject* decode_items(PyObject* self, PyObject* const* given, Py_ssize_t count) {
  const PlanObject& owner = *plan_of(self);
  std::int64_t budget = 0;
  if (!has_arguments(count, 6)) return nullptr;
  if (owner.described == nullptr || !budget_in(given[3], budget)) return given_up();
  const auto pos = PyLong_AsSsize_t(given[1]);
  const auto items = PyLong_AsSsize_t(given[2]);
  const Buffer data(given[0], PyBUF_SIMPLE);
  if (!data || pos < 0 || pos > data->len || items < 0) return given_up();
  try {
    Decoder decoder(*owner.plan, static_cast<const std::uint8_t*>(data->buf), static_cast<std::size_t>(pos),
                    static_cast<std::size_t>(data->len), budget, given[5] == Py_True ? given[0] : nullptr);
    Owned list(decoder.items(owner.plan->node(owner.plan->root), static_cast<std::uint64_t>(items)));
    if (!list || (given[4] == Py_True && !decoder.is_at_end())) return given_up();
    return Py_BuildValue("(Nn)", list.release(), static_cast<Py_ssize_t>(decoder.position()));
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

/// Calls one of the functions of an encoder, and makes bytes of what it wrote.
template <class Write>
[[nodiscard]] PyObject* encoded(PyObject* self, const Write& write) {
  const PlanObject& owner = *plan_of(self);
  if (owner.described == nullptr) return given_up();
  try {
    Encoder encoder(*owner.plan);
    if (!write(encoder, owner.plan->node(owner.plan->root))) return given_up();
    Output& out = encoder.out();
    return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(out.data()),
                                     static_cast<Py_ssize_t>(out.size()));
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

PyObject* encode(PyObject* self, PyObject* value) {
  return encoded(self, [&](Encoder& encoder, const Node& node) { return encoder.alone(node, value); });
}

PyObject* encode_items(PyObject* self, PyObject* values) {
  return encoded(self, [&](Encoder& encoder, const Node& node) { return encoder.items(node, values); });
}

PyObject* encode_parts(PyObject* self, PyObject* parts) {
  return encoded(self, [&](Encoder& encoder, const Node& node) {
    return PyTuple_Check(parts) && encoder.parts(node, parts);
  });
}

// --- the type

PyObject* new_plan(PyTypeObject* type, PyObject* given, PyObject* /*named*/) {
  PyObject* described = nullptr;
  if (PyArg_ParseTuple(given, "O!", &PyTuple_Type, &described) == 0) return nullptr;
  Owned self(type->tp_alloc(type, 0));
  if (!self) return nullptr;
  PlanObject& owner = *plan_of(self.get());
  owner.described = Py_NewRef(described);
  try {
    owner.plan = new Plan();
    return owner.plan->parse(described) ? self.release() : nullptr;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(plan_of(self)->described);
  return 0;
}

/// The nodes are of no more use then, and calls give up.
int clear(PyObject* self) {
  Py_CLEAR(plan_of(self)->described);
  return 0;
}

void dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  static_cast<void>(clear(self));
  delete plan_of(self)->plan;
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef methods[] = {
    {"decode", method(decode), METH_FASTCALL, "decode(data: bytes, budget: int) -> the value"},
    {"decode_items", method(decode_items), METH_FASTCALL,
     "decode_items(data, pos: int, count: int, budget: int, whole: bool, arrays: bool) -> (list, position)"},
    {"encode", encode, METH_O, "encode(value) -> bytes"},
    {"encode_items", encode_items, METH_O, "encode_items(values: list) -> bytes"},
    {"encode_parts", encode_parts, METH_O, "encode_parts(fields: tuple) -> bytes"},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_new, slot(new_plan)}, {Py_tp_dealloc, slot(dealloc)}, {Py_tp_traverse, slot(traverse)},
    {Py_tp_clear, slot(clear)},  {Py_tp_methods, methods},       {0, nullptr},
};

PyType_Spec spec = {"_mf_native.Plan", sizeof(PlanObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE, slots};

// --- the module

int execute(PyObject* module) {
#ifdef Py_GIL_DISABLED
  PyErr_SetString(PyExc_ImportError,
                  "it needs the global interpreter lock, which this Python is built without");
  return -1;
#endif
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(PyExc_ImportError,
                    "it serves the main interpreter of a process alone, and this is another one");
    return -1;
  }
  if (!make_frame_names() || !make_serving_names()) return -1;
  const Owned type(PyType_FromModuleAndSpec(module, &spec, nullptr));
  if (!type || PyModule_AddObjectRef(module, "Plan", type.get()) < 0 || !add_memory(module) ||
      !add_waiter(module))
    return -1;
  return PyModule_AddStringConstant(module, "VERSION", MF_VERSION);
}

PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, slot(execute)},
#ifdef Py_mod_gil
    {Py_mod_gil,
     Py_MOD_GIL_NOT_USED},  // so that a Python without the lock is not given one before it is refused
#endif
    {0, nullptr},
};

PyMethodDef functions[] = {
    {"construct", method(construct), METH_FASTCALL, "has a class be called by C++: see construct.hpp"},
    {"replies", method(replies), METH_FASTCALL,
     "replies(data, at: int, end: int, by_id: dict, events: list) -> position behind the plain ones"},
    {"requests", method(requests), METH_FASTCALL,
     "requests(data, at: int, end: int, routes: dict, in_flight: set, most: int, events: list) -> position"},
    {"append", method(append_frame), METH_FASTCALL,
     "append(out: list, type, flags, route, id, word, count, payload) -> bytes appended, or 0"},
    {"run", method(run), METH_FASTCALL, "run(call, of Python): answers a call that runs where it was read"},
    {"gather", method(gather), METH_FASTCALL,
     "gather(iterator, encode, values: list, longest, room, most, guards) -> 0, 1, 2 or (value,)"},
    {"begin", method(begin), METH_FASTCALL,
     "begin(call, of Python, loop, task) -> what waits, or None: takes the first step of a handler"},
    {"memory", memory, METH_O, "memory(size) -> memoryview of bytes that are not set to anything"},
    {"outcomes", method(outcomes), METH_FASTCALL, "outcomes(class, (value, error), values: list) -> list"},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "_mf_native",
    "Codecs and frames of MF/IDL: see mf.native.",
    0,
    functions,
    module_slots,
    nullptr,
    nullptr,
    nullptr,
};

}  // namespace

}  // namespace mf::native

PyMODINIT_FUNC PyInit__mf_native() {
  return PyModuleDef_Init(&mf::native::definition);
}
