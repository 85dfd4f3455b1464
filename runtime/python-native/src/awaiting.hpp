#pragma once
// What a task of asyncio awaits for one call (mf/link/async_link.py).

#include "owned.hpp"

namespace mf::native {

/// Adds the type `Waiter` to the module: a future of asyncio without value, whose task takes its next step
/// at once when `wake` is called, and not in the next turn of the loop. False: Python has an error.
///
///   waiter = Waiter(loop)
///   await waiter
///   waiter.wake()              ends it, and has its task take a step before it returns
///   waiter.set_result(None)    ends it; its task goes on in the next turn of the loop
///   waiter.cancel(), waiter.done(), waiter.result() and what else a task asks of a future
///
/// If the task cannot take its step within `wake`, because another task is running or its context is in use,
/// it goes on in the next turn. `wake` raises what the step raises: only what ends the program, since a task
/// keeps any other exception of its coroutine. Nothing wakes a task a second time: if `wake` or `set_result`
/// raises that it could not schedule the task (the loop is closed, memory is out), the task does not go on.
[[nodiscard]] bool add_waiter(PyObject* module);

}  // namespace mf::native
