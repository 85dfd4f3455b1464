// The layout of frames is that of mf/protocol/frame.py and docs/protocol.md, section 1.
#include "frames.hpp"

#include <array>
#include <cstdint>
#include <cstring>

namespace mf::native {

namespace {

constexpr std::size_t kHeaderSize = 16;
constexpr std::size_t kSmall = 4096;           // larger frames are left to Python
constexpr std::size_t kJoinBelow = 16 * 1024;  // frames above are sent in pieces, without a copy
constexpr unsigned kRequest = 5;
constexpr unsigned kEncodingMask = 0x0F;
constexpr unsigned kExtendedCount = 0xFFFF;
constexpr unsigned kLastCode = 19;  // mf.Code

struct Header {
  std::size_t size = 0;
  unsigned type = 0;
  unsigned flags = 0;
  unsigned route = 0;
  std::uint32_t id = 0;
  unsigned word = 0;
  unsigned count = 0;
};

[[nodiscard]] std::uint32_t get(const std::uint8_t* from, unsigned bytes) noexcept {
  std::uint32_t number = 0;
  for (unsigned i = 0; i < bytes; ++i) number |= static_cast<std::uint32_t>(from[i]) << (8 * i);
  return number;
}

void put(std::uint64_t number, unsigned bytes, std::uint8_t* to) noexcept {
  for (unsigned i = 0; i < bytes; ++i) to[i] = static_cast<std::uint8_t>(number >> (8 * i));
}

[[nodiscard]] Header header_at(const std::uint8_t* from) noexcept {
  return {.size = get(from, 4),
          .type = from[4],
          .flags = from[5],
          .route = get(from + 6, 2),
          .id = get(from + 8, 4),
          .word = get(from + 12, 2),
          .count = get(from + 14, 2)};
}

[[nodiscard]] constexpr std::size_t padded(std::size_t size) noexcept {
  return (size + 7) & ~std::size_t{7};
}

/// Received bytes, and how far they were read. They cannot be resized while this is there.
class Input {
 public:
  Input(PyObject* data, PyObject* at, PyObject* end)
      : data_(data, PyBUF_SIMPLE), at_(PyLong_AsSsize_t(at)), end_(PyLong_AsSsize_t(end)) {
    is_valid_ = data_ && PyErr_Occurred() == nullptr;
    if (is_valid_ && (at_ < 0 || end_ > data_->len)) {
      PyErr_SetString(PyExc_ValueError, "no such part of the received bytes");
      is_valid_ = false;
    }
  }

  [[nodiscard]] bool is_valid() const noexcept { return is_valid_; }
  [[nodiscard]] PyObject* position() const { return PyLong_FromSsize_t(at_); }

  /// Whether a small frame of this type is there as a whole, with its padding of zeros.
  [[nodiscard]] bool has_frame(unsigned type, Header& header) const noexcept {
    if (end_ - at_ < static_cast<Py_ssize_t>(kHeaderSize)) return false;
    header = header_at(here());
    if (header.type != type || header.size < kHeaderSize || header.size > kSmall) return false;
    const std::size_t next = padded(header.size);
    if (next > static_cast<std::size_t>(end_ - at_)) return false;
    for (std::size_t i = header.size; i < next; ++i)
      if (here()[i] != 0) return false;
    return true;
  }

  [[nodiscard]] PyObject* payload(const Header& header) const {
    return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(here() + kHeaderSize),
                                     static_cast<Py_ssize_t>(header.size - kHeaderSize));
  }

  void skip(const Header& header) noexcept { at_ += static_cast<Py_ssize_t>(padded(header.size)); }

 private:
  [[nodiscard]] const std::uint8_t* here() const noexcept {
    return static_cast<const std::uint8_t*>(data_->buf) + at_;
  }

  Buffer data_;
  Py_ssize_t at_;
  Py_ssize_t end_;
  bool is_valid_ = false;
};

/// Strings that live as long as the process.
struct FrameNames {
  PyObject* route = PyUnicode_InternFromString("route");
  PyObject* count = PyUnicode_InternFromString("count");
  bool is_whole = PyErr_Occurred() == nullptr;
};

[[nodiscard]] const FrameNames& frame_names() {
  static const FrameNames made;
  return made;
}

/// 1: the attribute is this number; 0: it is another one; -1: Python has an error.
[[nodiscard]] int is_number(PyObject* object, PyObject* name, unsigned number) {
  const Owned value(PyObject_GetAttr(object, name));
  if (!value) return -1;
  int overflow = 0;
  const long found = PyLong_AsLongAndOverflow(value.get(), &overflow);
  if (found == -1 && PyErr_Occurred() != nullptr) return -1;
  return overflow == 0 && found == static_cast<long>(number) ? 1 : 0;
}

/// Appends a tuple of `parts`, each of which may be null if Python has an error.
template <std::size_t Size>
[[nodiscard]] bool append_event(PyObject* events, std::array<Owned, Size>& parts) {
  const Owned event(PyTuple_New(static_cast<Py_ssize_t>(Size)));
  if (!event) return false;
  for (std::size_t i = 0; i < Size; ++i) {
    if (!parts[i]) return false;
    PyTuple_SET_ITEM(event.get(), static_cast<Py_ssize_t>(i), parts[i].release());
  }
  return PyList_Append(events, event.get()) == 0;
}

/// 1: the frame is the plain reply to a request, and was taken; 0: it is left to Python; -1: an error.
[[nodiscard]] int take_reply(const Input& in, const Header& header, PyObject* by_id, PyObject* events) {
  if (header.flags > kEncodingMask || header.word > kLastCode || header.count == kExtendedCount) return 0;
  const Owned id(PyLong_FromUnsignedLong(header.id));
  if (!id) return -1;
  PyObject* const found = PyDict_GetItemWithError(by_id, id.get());
  if (found == nullptr) return PyErr_Occurred() == nullptr ? 0 : -1;
  Owned call = Owned::share(found);
  int same = is_number(call.get(), frame_names().route, header.route);
  if (same == 1) same = is_number(call.get(), frame_names().count, header.count);
  if (same != 1) return same;
  Owned payload(in.payload(header));
  if (!payload || PyDict_DelItem(by_id, id.get()) < 0) return -1;
  std::array<Owned, 4> parts = {std::move(call), Owned(PyLong_FromUnsignedLong(header.word)),
                                Owned(PyLong_FromUnsignedLong(header.flags)), std::move(payload)};
  return append_event(events, parts) ? 1 : -1;
}

/// The same for a request to a bound route.
[[nodiscard]] int take_request(const Input& in, const Header& header, PyObject* routes, PyObject* in_flight,
                               PyObject* events) {
  if (header.count == 0 || header.count == kExtendedCount || header.flags == 0 ||
      header.flags > kEncodingMask || header.id == 0)
    return 0;
  Owned route(PyLong_FromUnsignedLong(header.route));
  Owned id(PyLong_FromUnsignedLong(header.id));
  if (!route || !id) return -1;
  PyObject* const found = PyDict_GetItemWithError(routes, route.get());
  if (found == nullptr) return PyErr_Occurred() == nullptr ? 0 : -1;
  if (found == Py_None) return 0;
  Owned target = Owned::share(found);
  const int is_known = PySet_Contains(in_flight, id.get());
  if (is_known != 0) return is_known < 0 ? -1 : 0;
  Owned payload(in.payload(header));
  if (!payload || PySet_Add(in_flight, id.get()) < 0) return -1;
  std::array<Owned, 8> parts = {std::move(target),
                                std::move(id),
                                std::move(route),
                                Owned(PyLong_FromUnsignedLong(header.flags)),
                                Owned(PyLong_FromUnsignedLong(header.word)),
                                Owned(PyLong_FromUnsignedLong(header.count)),
                                std::move(payload),
                                Owned::share(Py_None)};
  return append_event(events, parts) ? 1 : -1;
}

[[nodiscard]] PyObject* wrong(const char* function) {
  PyErr_SetString(PyExc_TypeError, function);
  return nullptr;
}

}  // namespace

bool make_frame_names() {
  if (frame_names().is_whole) return true;
  PyErr_NoMemory();
  return false;
}

bool number_in(PyObject* given, unsigned bytes, std::uint64_t& number) {
  if (!PyLong_Check(given)) return false;
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(given, &overflow);
  if (overflow != 0 || value < 0) return false;
  number = static_cast<std::uint64_t>(value);
  return number >> (8 * bytes) == 0;
}

Py_ssize_t append_small(PyObject* out, const Fields& fields, PyObject* payload) {
  const bool is_bytes = PyBytes_CheckExact(payload) != 0;
  if ((!is_bytes && !PyByteArray_CheckExact(payload)) || fields.count >= kExtendedCount) return 0;
  const char* const from = is_bytes ? PyBytes_AS_STRING(payload) : PyByteArray_AS_STRING(payload);
  const auto length =
      static_cast<std::size_t>(is_bytes ? PyBytes_GET_SIZE(payload) : PyByteArray_GET_SIZE(payload));
  if (length >= kJoinBelow - kHeaderSize) return 0;
  const std::size_t size = kHeaderSize + length;
  const Owned frame(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(padded(size))));
  if (!frame) return -1;
  auto* const to = reinterpret_cast<std::uint8_t*>(PyBytes_AS_STRING(frame.get()));
  put(size, 4, to);
  put(fields.type, 1, to + 4);
  put(fields.flags, 1, to + 5);
  put(fields.route, 2, to + 6);
  put(fields.id, 4, to + 8);
  put(fields.word, 2, to + 12);
  put(fields.count, 2, to + 14);
  std::memcpy(to + kHeaderSize, from, length);
  std::memset(to + size, 0, padded(size) - size);
  if (PyList_Append(out, frame.get()) < 0) return -1;
  return static_cast<Py_ssize_t>(padded(size));
}

PyObject* replies(PyObject* /*module*/, PyObject* const* given, Py_ssize_t count) {
  if (count != 5 || !PyDict_CheckExact(given[3]) || !PyList_CheckExact(given[4]))
    return wrong("replies(data, at, end, by_id: dict, events: list)");
  Input in(given[0], given[1], given[2]);
  if (!in.is_valid()) return nullptr;
  Header header;
  while (in.has_frame(kReply, header)) {
    const int taken = take_reply(in, header, given[3], given[4]);
    if (taken < 0) return nullptr;
    if (taken == 0) break;
    in.skip(header);
  }
  return in.position();
}

PyObject* requests(PyObject* /*module*/, PyObject* const* given, Py_ssize_t count) {
  if (count != 7 || !PyDict_CheckExact(given[3]) || !PyAnySet_CheckExact(given[4]) ||
      !PyList_CheckExact(given[6]))
    return wrong("requests(data, at, end, routes: dict, in_flight: set, most, events: list)");
  const Py_ssize_t most = PyLong_AsSsize_t(given[5]);
  if (most == -1 && PyErr_Occurred() != nullptr) return nullptr;
  Input in(given[0], given[1], given[2]);
  if (!in.is_valid()) return nullptr;
  Header header;
  while (PySet_GET_SIZE(given[4]) < most && in.has_frame(kRequest, header)) {
    const int taken = take_request(in, header, given[3], given[4], given[6]);
    if (taken < 0) return nullptr;
    if (taken == 0) break;
    in.skip(header);
  }
  return in.position();
}

PyObject* append_frame(PyObject* /*module*/, PyObject* const* given, Py_ssize_t count) {
  if (count != 8 || !PyList_CheckExact(given[0]))
    return wrong("append(out: list, type, flags, route, id, word, count, payload)");
  Fields fields;
  if (!number_in(given[1], 1, fields.type) || !number_in(given[2], 1, fields.flags) ||
      !number_in(given[3], 2, fields.route) || !number_in(given[4], 4, fields.id) ||
      !number_in(given[5], 2, fields.word) || !number_in(given[6], 2, fields.count))
    return PyLong_FromLong(0);
  const Py_ssize_t appended = append_small(given[0], fields, given[7]);
  return appended < 0 ? nullptr : PyLong_FromSsize_t(appended);
}

}  // namespace mf::native
