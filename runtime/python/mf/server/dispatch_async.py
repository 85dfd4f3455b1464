"""R5. Runs the `async def` handler or async generator of a request as a task of the serving loop, which is
cancelled when the call must stop. The IO of the loop watches the deadlines of calls without streams.
"""

from asyncio import AbstractEventLoop, current_task
from collections.abc import Iterable
from typing import Any

from mf.core.current import enter, leave
from mf.core.many_at_once import some_at_once
from mf.core.outcome import Outcome, one_by_one
from mf.server.answers import (
    answer_one,
    answer_outcomes,
    arguments_of,
    checked,
    failure_for,
)
from mf.server.awaited_stream import TaskWaits, ended_by, maybe_await
from mf.server.current import ServedCall
from mf.server.offer import Handler
from mf.server.stream import StreamCall
from mf.server.stream_ends import serve_stream


async def run_async(call: ServedCall, loop: AbstractEventLoop) -> None:
    """The items of a batch run concurrently, up to a limit; one after another if the method is @ordered.
    `loop` is the running one, which Python 3.11 finds by a system call."""
    if call.connection.hold(call):
        return
    handler = call.handler
    decoded = arguments_of(call)
    if decoded is None:
        return
    arguments, many = decoded
    task = current_task(loop)
    assert task is not None
    if not call.connection.started(call, task.cancel):
        return
    handler.counters.on_executed(call.count)
    token = enter(call)
    try:
        if call.count == 1:
            result = await maybe_await(handler.function(*arguments))
        else:
            answer_outcomes(call, handler, await _run_many_async(call, handler, many))
            return
    except BaseException as raised:
        ended_by(call, handler, raised)
        return
    finally:
        leave(token)
    answer_one(call, handler, result)


async def _run_many_async(call: ServedCall, handler: Handler, many: Iterable[Any]) -> list[Outcome[Any]]:
    if handler.batch is not None:
        outcomes = await maybe_await(handler.batch([handler.method.request(*item) for item in many]))
        return checked(call, handler, outcomes)
    in_turn = one_by_one if handler.method.ordered else some_at_once
    function: Any = handler.function
    return await in_turn(_one_of_many(call, handler, function, item) for item in many)


async def _one_of_many(call: ServedCall, handler: Handler, function: Any, item: Any) -> Outcome[Any]:
    try:
        result = function(*item)
        return Outcome(await result if hasattr(result, "__await__") else result)
    except BaseException as raised:  # a task that ended with SystemExit would end the loop of all handlers
        return Outcome(error=failure_for(call, handler, raised))


async def run_stream_async(call: StreamCall) -> None:
    """The same for a method with streams."""
    waits = TaskWaits(call)
    try:
        await serve_stream(call, waits)
    finally:
        waits.end()
