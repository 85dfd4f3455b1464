#pragma once
// Numbers and texts of Python, the usual ones without a call.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "owned.hpp"

namespace mf::native {

/// The value of an int that takes one digit of the interpreter's.
[[nodiscard]] inline bool is_compact(PyObject* number, std::int64_t& value) noexcept {
  auto* const given = reinterpret_cast<PyLongObject*>(number);
#if PY_VERSION_HEX >= 0x030C0000
  if (PyUnstable_Long_IsCompact(given) == 0) return false;
  value = PyUnstable_Long_CompactValue(given);
  return true;
#else
  const Py_ssize_t size = Py_SIZE(given);
  if (size < -1 || size > 1) return false;
  value = static_cast<std::int64_t>(size) * static_cast<std::int64_t>(size == 0 ? 0 : given->ob_digit[0]);
  return true;
#endif
}

/// Of a float or an int of Python's own.
[[nodiscard]] inline bool float_in(PyObject* given, double& number) {
  if (PyFloat_CheckExact(given)) {
    number = PyFloat_AS_DOUBLE(given);
    return true;
  }
  if (!PyLong_CheckExact(given)) return false;
  number = PyLong_AsDouble(given);
  return number != -1.0 || PyErr_Occurred() == nullptr;
}

/// The lowest byte first; false: it does not fit in an f32.
[[nodiscard]] inline bool put_f32(double number, std::uint8_t* to) noexcept {
  const auto single = static_cast<float>(number);
  if (std::isinf(single) && !std::isinf(number)) return false;
  const auto bits = std::bit_cast<std::uint32_t>(single);
  for (unsigned i = 0; i < 4; ++i) to[i] = static_cast<std::uint8_t>(bits >> (8 * i));
  return true;
}

inline void put_f64(double number, std::uint8_t* to) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(number);
  for (unsigned i = 0; i < 8; ++i) to[i] = static_cast<std::uint8_t>(bits >> (8 * i));
}

/// Text of UTF-8; Python has an error if it is none.
[[nodiscard]] inline PyObject* text_of(const std::uint8_t* from, std::size_t size) {
  constexpr std::size_t kShort = 64;
  std::uint8_t all = 0;
  if (size <= kShort)
    for (std::size_t i = 0; i < size; ++i) all |= from[i];
  if (size < 2 || size > kShort || all > 127)
    return PyUnicode_DecodeUTF8(reinterpret_cast<const char*>(from), static_cast<Py_ssize_t>(size), nullptr);
  PyObject* const text = PyUnicode_New(static_cast<Py_ssize_t>(size), 127);
  if (text != nullptr) std::memcpy(PyUnicode_1BYTE_DATA(text), from, size);
  return text;
}

/// The bytes of a str; null: it has none in UTF-8, and Python has an error.
[[nodiscard]] inline const char* utf8_of(PyObject* text, Py_ssize_t& size) {
  if (!PyUnicode_IS_COMPACT_ASCII(text)) return PyUnicode_AsUTF8AndSize(text, &size);
  size = PyUnicode_GET_LENGTH(text);
  return reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(text));
}

}  // namespace mf::native
