// Lists whose elements are in a buffer: arrays of numpy, of the module `array`, memoryviews. They are written
// from their memory, and arrays of numpy are made over the message (mf/codec/arrays.py).
#include <bit>
#include <cstring>
#include <vector>

#include "decoder.hpp"
#include "encoder.hpp"

namespace mf::native {

namespace {

struct Format {
  char letter = '\0';  // what struct calls a number; none: it is something else
  unsigned width = 0;

  [[nodiscard]] bool is_integer() const noexcept {
    return letter != '\0' && std::strchr("bhilqBHILQ", letter);
  }
  [[nodiscard]] bool has_sign() const noexcept { return letter >= 'a'; }
};

/// Arrays over a message, which are not aligned, say '=d' where others say 'd'.
[[nodiscard]] Format format_of(const Buffer& buffer) noexcept {
  const char* format = buffer->format;
  if (format == nullptr) return {};
  if (*format == '=' || *format == '<') ++format;
  return std::strlen(format) == 1 ? Format{*format, static_cast<unsigned>(buffer->itemsize)} : Format{};
}

[[nodiscard]] char letter_of(Op op) noexcept {
  switch (op) {
    case Op::boolean:
      return '?';
    case Op::u8:
      return 'B';
    case Op::i8:
      return 'b';
    case Op::f32:
      return 'f';
    case Op::f64:
      return 'd';
    default:
      return '\0';
  }
}

/// In two's complement; false: one of them is no value of `op`.
[[nodiscard]] bool widened(Op op, Format format, const std::uint8_t* from,
                           std::vector<std::uint64_t>& numbers) {
  for (std::uint64_t& number : numbers) {
    number = load(from, format.width);
    if (format.has_sign()) number = extended(number, format.width);
    // A number above INT64_MAX fits in u64 alone, a negative one only in signed types.
    if (format.has_sign() != is_signed(op) && static_cast<std::int64_t>(number) < 0) return false;
    if (!fits(op, number)) return false;
    from += format.width;
  }
  return true;
}

}  // namespace

bool Encoder::buffer(const Node& node, PyObject* given) {
  const Node& element = plan_.node(node.element);
  if (node.array_bytes != nullptr) return structs(node, given);
  if (std::endian::native != std::endian::little || PyObject_CheckBuffer(given) == 0 ||
      PyBytes_Check(given) != 0 || PyByteArray_Check(given) != 0)
    return false;
  const Buffer buffer(given, PyBUF_ND | PyBUF_FORMAT);
  if (!buffer || buffer->ndim != 1) return false;
  const Format format = format_of(buffer);
  const Py_ssize_t length = buffer->shape[0];
  const bool is_array = node.op == Op::array;
  if (!enter() || (is_array && length != node.length)) return false;
  const auto* const from = static_cast<const std::uint8_t*>(buffer->buf);
  if (element.has_row()) {
    std::vector<std::uint64_t> numbers(static_cast<std::size_t>(length));
    if (element.op != element.row || !format.is_integer() || !widened(element.op, format, from, numbers))
      return false;
    if (!put_row(element, numbers, !is_array)) return false;
  } else {
    const char wanted = letter_of(element.op);  // none: it is no plain number
    if (wanted == '\0' || wanted != format.letter || (!is_array && !count(length))) return false;
    const auto size = static_cast<std::size_t>(buffer->len);
    for (std::size_t i = 0; element.op == Op::boolean && i < size; ++i)
      if (from[i] > 1) return false;
    out_->put(from, size);
  }
  --depth_;
  return true;
}

bool Encoder::structs(const Node& node, PyObject* given) {
  const Node& element = plan_.node(node.element);
  const Owned bytes(PyObject_CallOneArg(node.array_bytes, given));
  if (!bytes || bytes.get() == Py_None || depth_ + 2 > kMaxDepth) return false;  // the list and the struct
  const Buffer buffer(bytes.get(), PyBUF_SIMPLE);
  if (!buffer || !count(buffer->len / static_cast<Py_ssize_t>(element.size))) return false;
  out_->put(buffer->buf, static_cast<std::size_t>(buffer->len));
  return true;
}

PyObject* Decoder::array(PyObject* read_array) {
  const Owned found(PyObject_CallFunction(read_array, "OnnLi", owner_, static_cast<Py_ssize_t>(pos_),
                                          static_cast<Py_ssize_t>(end_), static_cast<long long>(budget_),
                                          depth_));
  if (!found || !PyTuple_Check(found.get()) || PyTuple_GET_SIZE(found.get()) != 3) return nullptr;
  const Py_ssize_t pos = PyLong_AsSsize_t(PyTuple_GET_ITEM(found.get(), 1));
  const long long budget = PyLong_AsLongLong(PyTuple_GET_ITEM(found.get(), 2));
  if (PyErr_Occurred() != nullptr) return nullptr;
  pos_ = static_cast<std::size_t>(pos);
  budget_ = budget;
  return Py_NewRef(PyTuple_GET_ITEM(found.get(), 0));
}

}  // namespace mf::native
