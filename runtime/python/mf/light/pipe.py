"""R5. Values that a caller has written to a duplex stream and the handler has not taken: 64 at most. `Pipe`
is for threads, `AsyncPipe` for the tasks of one loop.

Both raise Error(DEADLINE_EXCEEDED) where they would wait beyond the deadline of the call.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from threading import Condition
from time import monotonic
from typing import Generic, TypeVar

from mf.core.error import Code, Error
from mf.light.call import LightCall

T = TypeVar("T")

MOST = 64
_FOREVER = 1e6


def _over() -> Error:
    return Error(Code.CANCELLED, "the other side of this stream is gone")


class Pipe(Iterator[T], Generic[T]):
    """The handler iterates over it."""

    __slots__ = ("_call", "_changed", "_has_ended", "_is_closed", "_values")

    def __init__(self, call: LightCall) -> None:
        self._call = call
        self._changed = Condition()
        self._values: deque[T] = deque()
        self._has_ended = False
        self._is_closed = False

    def put(self, value: T) -> None:
        """Waits while it is full. What is written behind the end of the call is not wanted by anybody."""
        with self._changed:
            while len(self._values) >= MOST and not self._is_closed:
                self._wait()
            self._add(value)

    def put_now(self, value: T) -> bool:
        """Without waiting; False: it is full."""
        with self._changed:
            if len(self._values) >= MOST and not self._is_closed:
                return False
            self._add(value)
            return True

    def _add(self, value: T) -> None:
        if self._is_closed:
            raise _over()
        self._values.append(value)
        self._changed.notify_all()

    def end(self) -> None:
        """No more values come."""
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

    def close(self) -> None:
        """The call is over: who waits goes on."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def __next__(self) -> T:
        with self._changed:
            while not self._values:
                if self._is_closed:
                    raise _over()
                if self._has_ended:
                    raise StopIteration
                self._wait()
            self._changed.notify_all()
            return self._values.popleft()

    def _wait(self) -> None:
        left = self._call.deadline - monotonic()
        if left <= 0:
            raise self._call.late()
        self._changed.wait(left if left < _FOREVER else None)


class ThreadedPipe(AsyncIterator[T], Generic[T]):
    """A pipe that an async handler takes from, on the loop of a caller who blocks: it waits on a thread."""

    __slots__ = ("_pipe",)

    def __init__(self, pipe: Pipe[T]) -> None:
        self._pipe = pipe

    async def __anext__(self) -> T:
        end = object()
        value = await asyncio.to_thread(next, self._pipe, end)
        if value is end:
            raise StopAsyncIteration
        return value  # type: ignore[return-value]


class AsyncPipe(AsyncIterator[T], Generic[T]):
    """The handler iterates over it. Who waits is bounded by what awaits the handler; who writes, here."""

    __slots__ = ("_call", "_has_ended", "_is_closed", "_values", "_waiting")

    def __init__(self, call: LightCall) -> None:
        self._call = call
        self._values: deque[T] = deque()
        self._has_ended = False
        self._is_closed = False
        self._waiting: list[asyncio.Future[None]] = []

    async def put(self, value: T) -> None:
        while len(self._values) >= MOST and not self._is_closed:
            left = self._call.deadline - monotonic()
            if left <= 0:
                raise self._call.late()
            await asyncio.wait((self._change(),), timeout=left if left < _FOREVER else None)
        if self._is_closed:
            raise _over()
        self._values.append(value)
        self._tell()

    def end(self) -> None:
        self._has_ended = True
        self._tell()

    def close(self) -> None:
        self._is_closed = True
        self._tell()

    async def __anext__(self) -> T:
        while not self._values:
            if self._is_closed:
                raise _over()
            if self._has_ended:
                raise StopAsyncIteration
            await self._change()
        self._tell()
        return self._values.popleft()

    def _change(self) -> "asyncio.Future[None]":
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        return future

    def _tell(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)
