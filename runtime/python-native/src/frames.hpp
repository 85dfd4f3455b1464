#pragma once
// The hot part of a session (mf/protocol/frames.py): plain frames cut out of received bytes, and small frames
// made. Whatever is rare or wrong ends a run of plain frames: Python reads on from there, and finds the
// words.

#include <cstddef>
#include <cstdint>

#include "owned.hpp"

namespace mf::native {

/// What the header of a frame says, beside its size.
struct Fields {
  std::uint64_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t route = 0;
  std::uint64_t id = 0;
  std::uint64_t word = 0;
  std::uint64_t count = 0;
};

inline constexpr std::uint64_t kReply = 6;

/// Appends a frame to the list `out`, in one piece, and returns its size; 0 if it is not small, or the
/// payload no bytes or bytearray; -1 if Python has an error.
[[nodiscard]] Py_ssize_t append_small(PyObject* out, const Fields& fields, PyObject* payload);

/// A number of at most so many bytes; false: it is none.
[[nodiscard]] bool number_in(PyObject* given, unsigned bytes, std::uint64_t& number);

/// Makes the strings that these functions need. False: Python has an error.
[[nodiscard]] bool make_frame_names();

/// replies(data, at, end, by_id, events) -> position: appends an event for each plain small REPLY from `at`
/// on to `events`, and takes its request out of `by_id`.
PyObject* replies(PyObject* module, PyObject* const* given, Py_ssize_t count);

/// requests(data, at, end, routes, in_flight, most, events) -> position: the same for plain small REQUESTs to
/// bound routes, whose ids are added to `in_flight`, of which there are at most `most`.
PyObject* requests(PyObject* module, PyObject* const* given, Py_ssize_t count);

/// append(out, type, flags, route, id, word, count, payload) -> bytes: appends one small frame to the list
/// `out`, in one piece. 0: it is not of this kind, and nothing was appended.
PyObject* append_frame(PyObject* module, PyObject* const* given, Py_ssize_t count);

}  // namespace mf::native
