#pragma once
// A strong reference to an object of Python: given back when it goes out of scope.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <utility>

namespace mf::native {

class Owned {
 public:
  Owned() noexcept = default;
  /// Takes over what a function of Python returned as a new reference; null: it failed.
  explicit Owned(PyObject* made) noexcept : object_(made) {}
  static Owned share(PyObject* borrowed) noexcept { return Owned(Py_NewRef(borrowed)); }
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() { Py_XDECREF(object_); }

  [[nodiscard]] PyObject* get() const noexcept { return object_; }
  [[nodiscard]] PyObject* release() noexcept { return std::exchange(object_, nullptr); }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

/// Does what must be done even if Python has an error, which is kept. False: `function` failed, and Python
/// has its error instead.
template <class Function>
[[nodiscard]] bool after_error(const Function& function) {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  if (!function()) {
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return false;
  }
  PyErr_Restore(type, value, trace);
  return true;
}

/// The memory of an object of Python, which cannot go away or move while it is held.
class Buffer {
 public:
  /// `flags`: what of the buffer is wanted. If it has none such, Python has an error.
  Buffer(PyObject* owner, int flags) : is_held_(PyObject_GetBuffer(owner, &buffer_, flags) == 0) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (is_held_) PyBuffer_Release(&buffer_);
  }
  [[nodiscard]] const Py_buffer* operator->() const noexcept { return &buffer_; }
  explicit operator bool() const noexcept { return is_held_; }

 private:
  Py_buffer buffer_{};
  bool is_held_;
};

}  // namespace mf::native
