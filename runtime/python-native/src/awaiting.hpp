#pragma once
// What a task of asyncio awaits for one call (mf/link/async_link.py).

#include "owned.hpp"

namespace mf::native {

/// Adds the type `Waiter` to the module: a future of asyncio without value, whose task takes its next step
/// at once when `wake` is called, and not in the next turn of the loop. False: Python has an error.
///
///   waiter = Waiter(loop)
///   await waiter
///   waiter.wake()              ends it, and has its task go on before it returns; no task may be running
///   waiter.set_result(None)    ends it; its task goes on in the next turn of the loop
///   waiter.cancel(), waiter.done(), waiter.result() and what else a task asks of a future
[[nodiscard]] bool add_waiter(PyObject* module);

}  // namespace mf::native
