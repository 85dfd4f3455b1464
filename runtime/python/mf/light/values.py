"""R5. What a handler gives in light, one value after the other, and how it is stopped. The handler runs where
its values are asked for: a plain one on the thread that asks, an async one in the task that asks. Where an
awaiting caller's plain handler may wait for what only the loop can give, it runs on a thread.

A handler is closed when it is safe: by its closer, or, if a thread or task is inside of it at that moment, by
that one when it comes out.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Generator, Iterator
from contextlib import suppress
from threading import TIMEOUT_MAX, Lock
from time import monotonic
from typing import Any

from mf.core.current import enter, leave
from mf.light.call import LightCall

_END: Any = object()


def _nothing_left() -> Any:
    raise StopIteration


class HandlerValues(Iterator[Any], ABC):
    """For callers that block. One thread at a time is inside; any may close."""

    __slots__ = ("_call", "_closing", "_inside", "_step")

    def __init__(self, call: LightCall, step: Callable[[], Any]) -> None:
        self._call = call
        self._step = step
        """Gives the next value."""
        self._inside = Lock()
        self._closing = False

    def __next__(self) -> Any:
        if not self._inside.acquire(blocking=False):
            raise self._call.stopped or RuntimeError("two threads read the same stream at once")
        token = enter(self._call)
        try:
            return self._step()
        finally:
            leave(token)
            self._inside.release()
            if self._closing:
                self.close()

    def close(self) -> None:
        """What the handler raises meanwhile is logged, as no caller waits for it."""
        self._closing = True
        if not self._inside.acquire(blocking=False):
            self._interrupt()
            return
        token = enter(self._call)
        try:
            if self._step is not _nothing_left:
                self._step = _nothing_left
                self._release()
        except Exception as raised:
            self._call.failure(raised)
        finally:
            leave(token)
            self._inside.release()

    @abstractmethod
    def _release(self) -> None: ...

    def _interrupt(self) -> None:
        """Makes the thread inside come out, if that is possible."""


class PlainValues(HandlerValues):
    """Those of a plain handler."""

    __slots__ = ("_open", "_values")

    def __init__(self, call: LightCall, open_: Callable[[], Any]) -> None:
        super().__init__(call, self._first)
        self._open = open_
        self._values: Iterator[Any] | None = None

    def _first(self) -> Any:
        self._values = iter(self._open())
        self._step = self._values.__next__
        return self._step()

    def _release(self) -> None:
        if isinstance(self._values, Generator):
            self._values.close()


class AwaitedValues:
    """For callers that await. One task at a time is inside; any thread may stop it."""

    __slots__ = ("_call", "_loop", "_open", "_timer", "_values")

    def __init__(self, call: LightCall, open_: Callable[[], Any]) -> None:
        self._call = call
        self._open = open_
        self._values: AsyncIterator[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.Timeout | None = None

    async def next_value(self) -> Any:
        """Raises StopAsyncIteration at the end, and Error if the call is stopped or its time is up."""
        call = self._call
        left = call.limit - monotonic()
        self._loop = asyncio.get_running_loop()
        token = enter(call)
        try:
            async with asyncio.timeout(left if left < TIMEOUT_MAX else None) as timer:
                self._timer = timer
                # Order matters: a thread that stops the call after this line finds the timer.
                if call.stopped is not None:
                    raise call.stopped
                if self._values is None:
                    self._values = await _opened(call, self._open())
                return await anext(self._values)
        except TimeoutError:
            if not timer.expired():
                raise  # the handler's own
            raise call.out_of_time() from None
        finally:
            self._timer = None
            leave(token)

    def stop(self) -> None:
        """From any thread: the task inside comes out; if there is none, the handler is closed soon."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed, and has closed the handler
                self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        assert self._loop is not None
        task = self._loop.create_task(self.close())
        _closing.add(task)
        task.add_done_callback(_closing.discard)

    async def close(self) -> None:
        """Makes the task inside come out, and closes."""
        if self._timer is not None:
            with suppress(RuntimeError):  # the timer has expired, and he is on his way
                self._timer.reschedule(asyncio.get_running_loop().time())
            return
        values, self._values = self._values, _nothing()
        if isinstance(values, (AsyncGenerator, _Plain)):
            token = enter(self._call)
            try:
                await values.aclose()
            except Exception as raised:
                self._call.failure(raised)
            finally:
                leave(token)


_closing: set[asyncio.Task[None]] = set()
"""A loop keeps only weak references to its tasks."""


async def _nothing() -> AsyncIterator[Any]:
    return
    yield


async def _opened(call: LightCall, given: Any) -> AsyncIterator[Any]:
    """What a handler has returned: an async generator, or a coroutine that gives something iterable."""
    if isinstance(given, HandlerValues):
        return _Plain(given, on_thread=call.called.param_element is not None)
    if hasattr(given, "__await__"):
        given = await given
    if isinstance(given, AsyncIterable):
        return aiter(given)
    return _Plain(PlainValues(call, lambda: given), on_thread=False)


class _Plain(AsyncIterator[Any]):
    """The values of a plain handler for an awaiting caller."""

    __slots__ = ("_on_thread", "_values")

    def __init__(self, values: HandlerValues, *, on_thread: bool) -> None:
        self._values = values
        self._on_thread = on_thread

    async def __anext__(self) -> Any:
        if self._on_thread:
            value = await asyncio.to_thread(next, self._values, _END)
        else:
            value = next(self._values, _END)
        if value is _END:
            raise StopAsyncIteration
        return value

    async def aclose(self) -> None:
        self._values.close()


class LoopValues(HandlerValues):
    """Those of an async handler, for a caller that blocks: on a loop that runs while it waits."""

    __slots__ = ("_runner", "_values")

    def __init__(self, call: LightCall, open_: Callable[[], Any]) -> None:
        super().__init__(call, self._run)
        self._runner = asyncio.Runner()
        self._values = AwaitedValues(call, open_)

    def _run(self) -> Any:
        try:
            return self._runner.run(self._values.next_value())
        except StopAsyncIteration:
            raise StopIteration from None

    def _interrupt(self) -> None:
        self._values.stop()

    def _release(self) -> None:
        try:
            self._runner.run(self._values.close())
        finally:
            self._runner.close()
