// Numbers, tier memcpy, and the rows of integers that febird has in lists, sets, arrays and maps.
#include <algorithm>
#include <bit>
#include <cstring>

#include "decoder.hpp"

namespace mf::native {

namespace {

[[nodiscard]] PyObject* uuid(const Node& node, const std::uint8_t* at) {
  const Owned bytes(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(at), 16));
  if (!bytes) return nullptr;
  PyObject* const given[] = {Py_None, bytes.get()};  // UUID(hex, bytes)
  return PyObject_Vectorcall(reinterpret_cast<PyObject*>(node.type), given, 2, nullptr);
}

[[nodiscard]] PyObject* of_whole(PyTypeObject* type, Owned number) {
  return number ? PyObject_CallOneArg(reinterpret_cast<PyObject*>(type), number.get()) : nullptr;
}

[[nodiscard]] std::uint8_t top_of(const Node& element) noexcept {
  return static_cast<std::uint8_t>(width_of(element.row) == 8 ? 3 : width_of(element.row) / 2);
}

}  // namespace

PyObject* Decoder::number(const Node& node, std::uint64_t bits) {
  switch (node.op) {
    case Op::boolean:
      return bits > 1 ? nullptr : Py_NewRef(bits == 1 ? Py_True : Py_False);
    case Op::u8:
    case Op::u16:
    case Op::u32:
    case Op::u64:
      return PyLong_FromUnsignedLongLong(bits);
    case Op::timestamp:
    case Op::duration:
      return of_whole(node.type, Owned(PyLong_FromLongLong(static_cast<std::int64_t>(bits))));
    case Op::enumeration: {
      if (bits < node.small.size() && node.small[bits] != nullptr) return Py_NewRef(node.small[bits]);
      const Owned key(is_signed(node.base) ? PyLong_FromLongLong(static_cast<std::int64_t>(bits))
                                           : PyLong_FromUnsignedLongLong(bits));
      return key ? PyObject_GetItem(node.values, key.get()) : nullptr;
    }
    default:
      return PyLong_FromLongLong(static_cast<std::int64_t>(bits));
  }
}

/// A value in its layout; padding is skipped whatever it holds.
PyObject* Decoder::laid(const Node& node, const std::uint8_t* at) {
  switch (node.op) {
    case Op::checked:
      return held(node, laid(plan_.node(node.element), at));
    case Op::f32:
      return PyFloat_FromDouble(double{std::bit_cast<float>(static_cast<std::uint32_t>(load(at, 4)))});
    case Op::f64:
      return PyFloat_FromDouble(std::bit_cast<double>(load(at, 8)));
    case Op::uuid:
      return uuid(node, at);
    case Op::array: {
      const Node& element = plan_.node(node.element);
      Owned list(PyList_New(static_cast<Py_ssize_t>(node.length)));
      if (!list) return nullptr;
      for (std::int64_t i = 0; i < node.length; ++i, at += element.size) {
        PyObject* const item = laid(element, at);
        if (item == nullptr) return nullptr;
        PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), item);
      }
      return list.release();
    }
    case Op::structure:
      return made(node, [&](const Field& field) { return laid(plan_.node(field.node), at + field.offset); });
    default: {
      const Op base = node.op == Op::enumeration ? node.base : node.op;
      const std::uint64_t bits = load(at, width_of(base));
      return number(node, is_signed(base) ? extended(bits, width_of(base)) : bits);
    }
  }
}

// --- rows

/// An element, whose bits have been widened.
PyObject* Decoder::integer(const Node& element, std::uint64_t bits) {
  if (element.op == Op::checked) return held(element, integer(plan_.node(element.element), bits));
  return number(element, bits);
}

namespace {

/// Numbers of one type, each of them made by `make`.
template <class Number, class Make>
[[nodiscard]] bool fill(PyObject* list, Py_ssize_t at, const std::uint8_t* from, std::size_t count,
                        Make make) {
  const auto end = at + static_cast<Py_ssize_t>(count);
  for (; at < end; ++at, from += sizeof(Number)) {
    PyObject* const item = make(static_cast<Number>(load(from, sizeof(Number))));
    if (item == nullptr) return false;
    PyList_SET_ITEM(list, at, item);
  }
  return true;
}

/// Integers without constraints, of 1 << `code` bytes.
[[nodiscard]] bool fill_integers(bool has_sign, std::uint8_t code, PyObject* list, Py_ssize_t at,
                                 const std::uint8_t* from, std::size_t count) {
  switch (code + (has_sign ? 4 : 0)) {
    case 0:
      return fill<std::uint8_t>(list, at, from, count, [](auto n) { return PyLong_FromLong(n); });
    case 1:
      return fill<std::uint16_t>(list, at, from, count, [](auto n) { return PyLong_FromLong(n); });
    case 2:
      return fill<std::uint32_t>(list, at, from, count, [](auto n) { return PyLong_FromUnsignedLong(n); });
    case 3:
      return fill<std::uint64_t>(list, at, from, count,
                                 [](auto n) { return PyLong_FromUnsignedLongLong(n); });
    case 4:
      return fill<std::int8_t>(list, at, from, count, [](auto n) { return PyLong_FromLong(n); });
    case 5:
      return fill<std::int16_t>(list, at, from, count, [](auto n) { return PyLong_FromLong(n); });
    case 6:
      return fill<std::int32_t>(list, at, from, count, [](auto n) { return PyLong_FromLong(n); });
    default:
      return fill<std::int64_t>(list, at, from, count, [](auto n) { return PyLong_FromLongLong(n); });
  }
}

constexpr std::uint64_t kLong = 1024;  // numbers that a memoryview makes faster than calls out of a library

/// So many numbers as a memoryview lists them; `letter` is that of `struct`.
[[nodiscard]] PyObject* listed(const std::uint8_t* from, std::size_t size, const char* letter) {
  char* const bytes = reinterpret_cast<char*>(const_cast<std::uint8_t*>(from));  // which is only read
  const Owned view(PyMemoryView_FromMemory(bytes, static_cast<Py_ssize_t>(size), PyBUF_READ));
  const Owned numbers(view ? PyObject_CallMethod(view.get(), "cast", "s", letter) : nullptr);
  return numbers ? PyObject_CallMethod(numbers.get(), "tolist", nullptr) : nullptr;
}

[[nodiscard]] bool is_long(std::uint64_t count) noexcept {
  return std::endian::native == std::endian::little && count > kLong;
}

}  // namespace

PyObject* Decoder::floats(Op op, std::uint64_t count) {
  const unsigned width = width_of(op);
  if (count > left() / width) return nullptr;
  if (is_long(count)) {
    pos_ += count * width;
    return listed(data_ + pos_ - count * width, count * width, op == Op::f32 ? "f" : "d");
  }
  Owned list(PyList_New(static_cast<Py_ssize_t>(count)));
  const auto single = [](std::uint32_t bits) {
    return PyFloat_FromDouble(double{std::bit_cast<float>(bits)});
  };
  const auto whole = [](std::uint64_t bits) { return PyFloat_FromDouble(std::bit_cast<double>(bits)); };
  if (!list) return nullptr;
  const bool is_good = op == Op::f32 ? fill<std::uint32_t>(list.get(), 0, data_ + pos_, count, single)
                                     : fill<std::uint64_t>(list.get(), 0, data_ + pos_, count, whole);
  pos_ += count * width;
  return is_good ? list.release() : nullptr;
}

bool Decoder::block(const Node& element, std::uint8_t code, std::size_t count, PyObject* list,
                    Py_ssize_t at) {
  const unsigned width = 1U << code;
  if (count > left() / width) return false;
  const std::uint8_t* from = data_ + pos_;
  const bool has_sign = is_signed(element.row);
  if (element.op == element.row) {
    pos_ += count * width;
    return fill_integers(has_sign, code, list, at, from, count);
  }
  for (std::size_t i = 0; i < count; ++i, from += width) {
    const std::uint64_t bits = load(from, width);
    PyObject* const item = integer(element, has_sign ? extended(bits, width) : bits);
    if (item == nullptr) return false;
    PyList_SET_ITEM(list, at + static_cast<Py_ssize_t>(i), item);
  }
  pos_ += count * width;
  return true;
}

/// Four codes a byte; the bits behind the last one are zero.
bool Decoder::codes(std::uint64_t blocks, std::uint8_t top, std::vector<std::uint8_t>& codes) {
  const std::uint64_t bytes = (blocks + 3) / 4;
  if (bytes > left()) return false;
  for (std::uint64_t i = 0; i < bytes * 4; ++i) {
    const auto code = static_cast<std::uint8_t>(data_[pos_ + i / 4] >> (i % 4 * 2) & 3U);
    if (i < blocks ? code > top : code != 0) return false;
    if (i < blocks) codes.push_back(code);
  }
  pos_ += bytes;
  return true;
}

namespace {

[[nodiscard]] bool is_ascending(PyObject* list) {
  for (Py_ssize_t i = 1; i < PyList_GET_SIZE(list); ++i)
    if (PyObject_RichCompareBool(PyList_GET_ITEM(list, i - 1), PyList_GET_ITEM(list, i), Py_LT) != 1)
      return false;
  return true;
}

}  // namespace

PyObject* Decoder::row(const Node& element, bool is_set) {
  std::uint64_t head = 0;
  if (!varint(head, true)) return nullptr;
  const std::uint64_t count = head >> 2;
  const auto code = static_cast<std::uint8_t>(head & 3);
  const std::uint8_t top = top_of(element);
  if (code > top || count > UINT32_MAX || (code != 0 && count == 0) || count > left()) return nullptr;
  if (!charge_each(count, (is_set ? kEntry : kPlace) + element.memory)) return nullptr;
  std::vector<std::uint8_t> all;
  if (count > kBlock) {
    all.push_back(code);
    if (!codes((count + kBlock - 1) / kBlock - 1, top, all)) return nullptr;
  }
  if (!is_set && element.op == element.row && is_long(count) &&
      std::ranges::count(all, code) == std::ssize(all)) {
    const std::size_t size = count << code;
    if (size > left()) return nullptr;
    pos_ += size;
    constexpr const char* kLetters[] = {"B", "H", "I", "Q", "b", "h", "i", "q"};
    return listed(data_ + pos_ - size, size, kLetters[code + (is_signed(element.row) ? 4 : 0)]);
  }
  Owned list(PyList_New(static_cast<Py_ssize_t>(count)));
  if (!list) return nullptr;
  for (std::uint64_t at = 0; at < count; at += kBlock) {
    const std::size_t size = std::min<std::uint64_t>(kBlock, count - at);
    if (!block(element, all.empty() ? code : all[at / kBlock], size, list.get(), static_cast<Py_ssize_t>(at)))
      return nullptr;
  }
  return is_set && !is_ascending(list.get()) ? nullptr : list.release();
}

PyObject* Decoder::row_array(const Node& element, std::uint64_t count) {
  std::vector<std::uint8_t> all;
  if (!codes((count + kBlock - 1) / kBlock, top_of(element), all)) return nullptr;
  if (count > left()) return nullptr;
  Owned list(PyList_New(static_cast<Py_ssize_t>(count)));
  if (!list) return nullptr;
  for (std::uint64_t at = 0; at < count; at += kBlock) {
    const std::size_t size = std::min<std::uint64_t>(kBlock, count - at);
    if (!block(element, all[at / kBlock], size, list.get(), static_cast<Py_ssize_t>(at))) return nullptr;
  }
  return list.release();
}

/// Of a map of integers, block by block: a byte of codes, the keys, the values.
bool Decoder::entries(const Node& map, std::uint64_t count, PyObject* dict) {
  const Node& key = plan_.node(map.key);
  const Node& mapped = plan_.node(map.element);
  Owned last;
  for (std::uint64_t at = 0; at < count; at += kBlock) {
    const auto size = static_cast<Py_ssize_t>(std::min<std::uint64_t>(kBlock, count - at));
    if (left() < 1 || data_[pos_] > 15) return false;
    const std::uint8_t code = data_[pos_++];
    const auto of_keys = static_cast<std::uint8_t>(code & 3U);
    const auto of_values = static_cast<std::uint8_t>(code >> 2U);
    if (of_keys > top_of(key) || of_values > top_of(mapped)) return false;
    const Owned keys(PyList_New(size));
    const Owned values(PyList_New(size));
    if (!keys || !values || !block(key, of_keys, static_cast<std::size_t>(size), keys.get(), 0)) return false;
    if (!is_ascending(keys.get())) return false;
    if (last && PyObject_RichCompareBool(last.get(), PyList_GET_ITEM(keys.get(), 0), Py_LT) != 1)
      return false;
    if (!block(mapped, of_values, static_cast<std::size_t>(size), values.get(), 0)) return false;
    for (Py_ssize_t i = 0; i < size; ++i)
      if (PyDict_SetItem(dict, PyList_GET_ITEM(keys.get(), i), PyList_GET_ITEM(values.get(), i)) < 0)
        return false;
    last = Owned::share(PyList_GET_ITEM(keys.get(), size - 1));
  }
  return true;
}

}  // namespace mf::native
