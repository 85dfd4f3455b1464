#pragma once
// The straight way of a call through a server: from its request to its reply (mf/server/dispatch.py).

#include "owned.hpp"

namespace mf::native {

/// Makes the strings that `run` needs. False: Python has an error.
[[nodiscard]] bool make_serving_names();

/// run(call, (run, answer_raised, answer_one, current, running, ended, closed)): runs the handler of a
/// ServedCall that runs where it was read, and answers. `run` is the same function of Python, which is called
/// before the handler for whatever is rare or wrong; `answer_raised` answers for what a handler raised,
/// `answer_one` for a result that cannot be encoded; `current` is the context variable of the running call;
/// the others are states of calls and sessions.
PyObject* run(PyObject* module, PyObject* const* given, Py_ssize_t count);

/// begin(call, (begin, ended_by, answer_one, current, running, ended, closed, enter_task, leave_task,
/// maybe_await), loop, task): takes the first step of an `async def` handler as a task of a loop, and answers
/// if that is its last one (mf/server/first_step.py). Returns None, or a tuple of the context, the coroutine
/// that waits, and what for.
PyObject* begin(PyObject* module, PyObject* const* given, Py_ssize_t count);

}  // namespace mf::native
