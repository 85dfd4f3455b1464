"""R5. Runs the `async def` handler or async generator of a request as a task of the serving loop, which is
cancelled when the call must stop.
"""

import asyncio
from collections.abc import Iterable
from time import monotonic
from typing import Any

from mf.core.current import enter, leave
from mf.core.outcome import Outcome, one_by_one, some_at_once
from mf.server.answers import (
    answer_one,
    answer_outcomes,
    answer_raised,
    bad_value,
    checked,
    decode,
    failure_for,
    may_run,
)
from mf.server.awaited_stream import AwaitedReader, AwaitedWriter, TaskWaits
from mf.server.blocking_stream import expire
from mf.server.current import ServedCall
from mf.server.offer import Handler
from mf.server.stream import BadValueError, StreamCall

_FOREVER = 1e9
"""No timer is needed beyond so many seconds."""


class TaskWatch:
    """Cancels the running task when its call must stop, also at the deadline."""

    __slots__ = ("_task", "_timer")

    def __init__(self, call: ServedCall) -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        left = call.deadline - monotonic()
        self._timer = loop.call_later(left, expire, call) if left < _FOREVER else None

    def stop(self) -> None:
        self._task.cancel()

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


async def run_async(call: ServedCall) -> None:
    """The items of a batch run concurrently, up to a limit; one after another if the method is @ordered."""
    if call.connection.hold(call):
        return
    handler = call.handler
    if not may_run(call, handler):
        return
    decoded = decode(call, handler)
    if decoded is None:
        return
    arguments, many = decoded
    watch = TaskWatch(call)
    if not call.connection.started(call, watch.stop):
        watch.end()
        return
    handler.counters.on_executed(call.count)
    token = enter(call)
    try:
        if call.count == 1:
            result = await _maybe_await(handler.function(*arguments))
        else:
            answer_outcomes(call, handler, await _run_many_async(call, handler, many))
            return
    except BaseException as raised:
        _answer_raised(call, raised)
        return
    finally:
        watch.end()
        leave(token)
    answer_one(call, handler, result)


async def _maybe_await(value: Any) -> Any:
    return await value if hasattr(value, "__await__") else value


async def _run_many_async(call: ServedCall, handler: Handler, many: Iterable[Any]) -> list[Outcome[Any]]:
    if handler.batch is not None:
        outcomes = await _maybe_await(handler.batch([handler.method.request(*item) for item in many]))
        return checked(handler, outcomes, call.count)
    in_turn = one_by_one if handler.method.ordered else some_at_once
    return await in_turn(_one_of_many(handler, item) for item in many)


async def _one_of_many(handler: Handler, item: Any) -> Outcome[Any]:
    try:
        return Outcome(await _maybe_await(handler.function(*item)))
    except BaseException as raised:  # a task that ended with SystemExit would end the loop of all handlers
        return Outcome(error=failure_for(handler, raised))


async def run_stream_async(call: StreamCall) -> None:
    """The same for a method with streams."""
    handler = call.handler
    if not may_run(call, handler):
        return
    decoded = decode(call, handler)
    if decoded is None:
        return
    watch = TaskWatch(call)
    waits = TaskWaits(call, asyncio.get_running_loop())
    call.driven_by(waits.wake)
    if not call.connection.started(call, watch.stop):
        watch.end()
        return
    handler.counters.on_executed(call.count)
    token = enter(call)
    writer = AwaitedWriter(waits)
    try:
        try:
            result = await _handled(call, list(decoded[0]), writer, waits)
        except Exception as raised:
            await writer.finish()  # values from before are sent
            _answer_failed(call, raised)
            return
        await writer.finish()
    except BaseException as raised:
        _answer_raised(call, raised)
        return
    finally:
        watch.end()
        leave(token)
    answer_one(call, handler, result)


async def _handled(call: StreamCall, arguments: list[Any], writer: AwaitedWriter, waits: TaskWaits) -> Any:
    """Only the handler holds the reader: when it releases it, the client is told that no more is read."""
    handler = call.handler
    if handler.method.param_element is not None:
        arguments.append(AwaitedReader(waits))
    result = await _maybe_await(handler.function(*arguments))
    if handler.method.result_element is None:
        return result
    arguments.clear()
    await writer.write_all(result)
    return None


def _answer_failed(call: StreamCall, raised: Exception) -> None:
    if isinstance(raised, BadValueError):
        call.connection.fail(call, bad_value(call.handler, raised.raised))
    else:
        _answer_raised(call, raised)


def _answer_raised(call: ServedCall, raised: BaseException) -> None:
    if call.stopped is not None and isinstance(raised, asyncio.CancelledError):
        call.connection.drop(call)  # it stopped as requested
    else:
        answer_raised(call, call.handler, raised)
