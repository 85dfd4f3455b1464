#include "awaiting.hpp"

#include <array>

#include "types.hpp"

namespace mf::native {

namespace {

enum class WaiterState : unsigned char { pending, ended, cancelled };

struct WaiterObject {
  PyObject_HEAD;
  PyObject* loop;
  PyObject* callback;  // has the task take its next step; null: nothing awaits it
  PyObject* context;   // of the task
  PyObject* message;   // of the cancellation; null: there is none
  WaiterState state;
  bool is_blocking;  // what a task asks of a future that it was given
};

[[nodiscard]] WaiterObject* waiter_of(PyObject* self) noexcept {
  return reinterpret_cast<WaiterObject*>(self);
}

PyObject* new_waiter(PyTypeObject* type, PyObject* given, PyObject* /*named*/) {
  PyObject* loop = nullptr;
  if (PyArg_ParseTuple(given, "O", &loop) == 0) return nullptr;
  PyObject* const self = type->tp_alloc(type, 0);
  if (self != nullptr) waiter_of(self)->loop = Py_NewRef(loop);
  return self;
}

int traverse_waiter(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(waiter_of(self)->loop);
  Py_VISIT(waiter_of(self)->callback);
  Py_VISIT(waiter_of(self)->context);
  Py_VISIT(waiter_of(self)->message);
  return 0;
}

int clear_waiter(PyObject* self) {
  Py_CLEAR(waiter_of(self)->loop);
  Py_CLEAR(waiter_of(self)->callback);
  Py_CLEAR(waiter_of(self)->context);
  Py_CLEAR(waiter_of(self)->message);
  return 0;
}

void dealloc_waiter(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  static_cast<void>(clear_waiter(self));
  type->tp_free(self);
  Py_DECREF(type);
}

[[nodiscard]] Owned of_asyncio(const char* name) {
  const Owned module(PyImport_ImportModule("asyncio"));
  return module ? Owned(PyObject_GetAttrString(module.get(), name)) : Owned();
}

/// The task that awaits a waiter.
struct Awaiting {
  Owned callback;  // null: there is none
  Owned context;
};

[[nodiscard]] Awaiting take_awaiting(WaiterObject& waiter) noexcept {
  return {.callback = Owned(std::exchange(waiter.callback, nullptr)),
          .context = Owned(std::exchange(waiter.context, nullptr))};
}

/// False: Python has an error. A task that awaits the waiter later sees that it has ended.
[[nodiscard]] bool call_soon(WaiterObject& waiter, const Awaiting& task) {
  if (!task.callback) return true;
  const Owned later(PyObject_GetAttrString(waiter.loop, "call_soon"));
  const Owned given(PyTuple_Pack(2, task.callback.get(), reinterpret_cast<PyObject*>(&waiter)));
  const Owned named(PyDict_New());
  if (!later || !given || !named || PyDict_SetItemString(named.get(), "context", task.context.get()) < 0)
    return false;
  return static_cast<bool>(Owned(PyObject_Call(later.get(), given.get(), named.get())));
}

/// Whether the error of Python is that a task could not take its step because another one runs on the loop.
[[nodiscard]] bool is_step_refused(PyObject* loop) {
  if (PyErr_ExceptionMatches(PyExc_RuntimeError) == 0) return false;
  Owned running;
  const bool is_known = after_error([&] {
    const Owned current_task = of_asyncio("current_task");
    if (current_task) running = Owned(PyObject_CallOneArg(current_task.get(), loop));
    return static_cast<bool>(running);
  });
  return is_known && running.get() != Py_None;
}

PyObject* wake(PyObject* self, PyObject* /*none*/) {
  WaiterObject& waiter = *waiter_of(self);
  if (waiter.state != WaiterState::pending) Py_RETURN_NONE;
  waiter.state = WaiterState::ended;
  const Awaiting task = take_awaiting(waiter);
  if (!task.callback) Py_RETURN_NONE;
  if (PyContext_Enter(task.context.get()) == 0) {
    Owned stepped(PyObject_CallOneArg(task.callback.get(), self));
    if (!after_error([&] { return PyContext_Exit(task.context.get()) == 0; })) return nullptr;
    if (stepped || !is_step_refused(waiter.loop)) return stepped.release();
  }
  PyErr_Clear();  // of the refusal: the task can take its step in the next turn
  return call_soon(waiter, task) ? Py_NewRef(Py_None) : nullptr;
}

PyObject* set_result(PyObject* self, PyObject* /*value*/) {
  WaiterObject& waiter = *waiter_of(self);
  if (waiter.state != WaiterState::pending) Py_RETURN_NONE;
  waiter.state = WaiterState::ended;
  return call_soon(waiter, take_awaiting(waiter)) ? Py_NewRef(Py_None) : nullptr;
}

PyObject* cancel(PyObject* self, PyObject* given, PyObject* named) {
  WaiterObject& waiter = *waiter_of(self);
  std::array<char, 4> msg = {"msg"};
  std::array<char*, 2> names = {msg.data(), nullptr};
  PyObject* message = Py_None;
  if (PyArg_ParseTupleAndKeywords(given, named, "|O:cancel", names.data(), &message) == 0) return nullptr;
  if (waiter.state != WaiterState::pending) Py_RETURN_FALSE;
  waiter.state = WaiterState::cancelled;
  if (message != Py_None) waiter.message = Py_NewRef(message);
  return call_soon(waiter, take_awaiting(waiter)) ? Py_NewRef(Py_True) : nullptr;
}

PyObject* result(PyObject* self, PyObject* /*none*/) {
  const WaiterObject& waiter = *waiter_of(self);
  if (waiter.state != WaiterState::cancelled) Py_RETURN_NONE;
  const Owned type = of_asyncio("CancelledError");
  if (!type) return nullptr;
  const Owned raised(waiter.message == nullptr ? PyObject_CallNoArgs(type.get())
                                               : PyObject_CallOneArg(type.get(), waiter.message));
  if (raised) PyErr_SetObject(type.get(), raised.get());
  return nullptr;
}

PyObject* done(PyObject* self, PyObject* /*none*/) {
  return PyBool_FromLong(waiter_of(self)->state != WaiterState::pending);
}

PyObject* get_loop(PyObject* self, PyObject* /*none*/) {
  return Py_NewRef(waiter_of(self)->loop);
}

/// add_done_callback(callback, *, context): of the only task that awaits it.
PyObject* add_done_callback(PyObject* self, PyObject* const* given, Py_ssize_t count, PyObject* names) {
  WaiterObject& waiter = *waiter_of(self);
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  if (count != 1 || named > 1 || waiter.callback != nullptr) {
    PyErr_SetString(PyExc_RuntimeError, "one task alone awaits a call");
    return nullptr;
  }
  waiter.context =
      named == 1 && PyContext_CheckExact(given[1]) ? Py_NewRef(given[1]) : PyContext_CopyCurrent();
  if (waiter.context == nullptr) return nullptr;
  waiter.callback = Py_NewRef(given[0]);
  if (waiter.state != WaiterState::pending && !call_soon(waiter, take_awaiting(waiter))) return nullptr;
  Py_RETURN_NONE;
}

PyObject* await_waiter(PyObject* self) {
  return Py_NewRef(self);
}

PySendResult send_waiter(PyObject* self, PyObject* /*value*/, PyObject** got) {
  WaiterObject& waiter = *waiter_of(self);
  if (waiter.state == WaiterState::pending) {
    waiter.is_blocking = true;
    *got = Py_NewRef(self);
    return PYGEN_NEXT;
  }
  *got = result(self, nullptr);
  return *got == nullptr ? PYGEN_ERROR : PYGEN_RETURN;
}

PyObject* next_waiter(PyObject* self) {
  PyObject* got = nullptr;
  if (send_waiter(self, Py_None, &got) == PYGEN_NEXT) return got;
  Py_XDECREF(got);
  return nullptr;  // without an exception: the end
}

PyObject* get_blocking(PyObject* self, void* /*closure*/) {
  return PyBool_FromLong(waiter_of(self)->is_blocking ? 1 : 0);
}

int set_blocking(PyObject* self, PyObject* value, void* /*closure*/) {
  const int is_true = value == nullptr ? 0 : PyObject_IsTrue(value);
  if (is_true < 0) return -1;
  waiter_of(self)->is_blocking = is_true != 0;
  return 0;
}

PyMethodDef waiter_methods[] = {
    {"wake", wake, METH_NOARGS, "wake(): ends it, and has its task go on"},
    {"set_result", set_result, METH_O, "set_result(None): ends it, and its task goes on soon"},
    {"cancel", method(cancel), METH_VARARGS | METH_KEYWORDS, "cancel(msg=None) -> whether it was not done"},
    {"result", result, METH_NOARGS, "result() -> None; raises CancelledError(msg)"},
    {"done", done, METH_NOARGS, "done() -> bool"},
    {"get_loop", get_loop, METH_NOARGS, "get_loop() -> the loop"},
    {"add_done_callback", method(add_done_callback), METH_FASTCALL | METH_KEYWORDS,
     "add_done_callback(callback, *, context)"},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef waiter_properties[] = {
    {"_asyncio_future_blocking", get_blocking, set_blocking, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyType_Slot waiter_slots[] = {
    {Py_tp_new, slot(new_waiter)},
    {Py_tp_dealloc, slot(dealloc_waiter)},
    {Py_tp_traverse, slot(traverse_waiter)},
    {Py_tp_clear, slot(clear_waiter)},
    {Py_tp_methods, waiter_methods},
    {Py_tp_getset, waiter_properties},
    {Py_tp_iter, slot(await_waiter)},
    {Py_tp_iternext, slot(next_waiter)},
    {Py_am_await, slot(await_waiter)},
    {Py_am_send, slot(send_waiter)},
    {0, nullptr},
};

PyType_Spec waiter_spec = {"_mf_native.Waiter", sizeof(WaiterObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE, waiter_slots};

}  // namespace

bool add_waiter(PyObject* module) {
  const Owned type(PyType_FromModuleAndSpec(module, &waiter_spec, nullptr));
  return type && PyModule_AddObjectRef(module, "Waiter", type.get()) == 0;
}

}  // namespace mf::native
