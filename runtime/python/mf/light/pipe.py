"""R5. Values that a caller has written to a duplex stream and the handler has not taken: 64 at most. Either
side may be a thread that blocks or a task that awaits, so that each waits in its own way, and is woken by
what was registered for it.

Nobody waits for longer than the call may: see LightCall.limit. A task that takes values is bounded by what
awaits the handler.
"""

import asyncio
from _thread import allocate_lock
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from threading import TIMEOUT_MAX, RLock
from time import monotonic
from typing import Any, Generic, TypeVar

from mf.core.error import Code, Error
from mf.core.stream import stream_has_ended
from mf.light.call import LightCall
from mf.light.checks import check_value

T = TypeVar("T")

MOST = 64
_NOTHING: Any = object()
_END: Any = object()


class Pipe(Generic[T]):
    """See above. Values that are written after the call has ended are not wanted by anybody."""

    __slots__ = ("_call", "_done_writing", "_is_closed", "_lock", "_values", "_waiting")

    def __init__(self, call: LightCall) -> None:
        self._call = call
        self._lock = RLock()  # a finalizer, which may run anywhere, closes a pipe
        self._values: deque[T] = deque()
        self._done_writing = False
        self._is_closed = False
        self._waiting: list[Callable[[], object]] = []

    # The caller

    def put(self, value: T) -> bool:
        """False: nobody wants the value, or there was no room for it in time."""
        self._check(value)
        while True:
            with self._lock:
                if self._is_closed or self._add(value):
                    return not self._is_closed
                wait = self._sleeper()
            if not wait(self._call.wait_limit()):
                self._call.out_of_time()
                return False

    async def put_async(self, value: T) -> bool:
        self._check(value)
        while True:
            with self._lock:
                if self._is_closed or self._add(value):
                    return not self._is_closed
                future = self._future()
            left = self._call.wait_limit() - monotonic()
            await asyncio.wait((future,), timeout=left if left < TIMEOUT_MAX else None)
            if not future.done():
                self._call.out_of_time()
                return False

    def _check(self, value: T) -> None:
        if self._done_writing:
            raise stream_has_ended(self._call.service_info, self._call.called)
        check_value(self._call.called, value)

    def _add(self, value: T) -> bool:
        if len(self._values) >= MOST:
            return False
        self._values.append(value)
        self._wake()
        return True

    def done_writing(self) -> None:
        """No more values come."""
        with self._lock:
            self._done_writing = True
            self._wake()

    def close(self) -> None:
        """The call is over, or the handler reads no more: who waits goes on."""
        with self._lock:
            self._is_closed = True
            self._wake()

    # The handler

    def take(self) -> T:
        """_END: there are no more. Raises what the call was ended with."""
        while True:
            with self._lock:
                value = self._taken()
                if value is not _NOTHING:
                    return value
                wait = self._sleeper()
            if not wait(self._call.limit):
                raise self._call.out_of_time()

    async def take_async(self) -> T:
        while True:
            with self._lock:
                value = self._taken()
                if value is not _NOTHING:
                    return value
                future = self._future()
            await future

    def _taken(self) -> T:
        if self._values:
            self._wake()
            return self._values.popleft()
        if self._is_closed:
            raise self._call.stopped or Error(Code.CANCELLED, "the other side of this stream is gone")
        return _END if self._done_writing else _NOTHING  # type: ignore[no-any-return]

    # Waiting

    def _sleeper(self) -> Callable[[float], bool]:
        """Registers this thread. What it returns waits until then; False: nothing has happened."""
        lock = allocate_lock()
        lock.acquire()
        self._waiting.append(lock.release)
        return lambda limit: lock.acquire(True, min(max(limit - monotonic(), 0.0), TIMEOUT_MAX))

    def _future(self) -> "asyncio.Future[None]":
        """Registers this task."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        self._waiting.append(lambda: loop.call_soon_threadsafe(_resolve, future))
        return future

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for wake in waiting:
            with suppress(RuntimeError):  # the loop of that task has been closed
                wake()


def _resolve(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


class PipeReader(Iterator[T], Generic[T]):
    """A plain handler iterates over it."""

    __slots__ = ("_pipe",)

    def __init__(self, pipe: Pipe[T]) -> None:
        self._pipe = pipe

    def __next__(self) -> T:
        value = self._pipe.take()
        if value is _END:
            raise StopIteration
        return value

    def __del__(self) -> None:
        self._pipe.close()


class AsyncPipeReader(AsyncIterator[T], Generic[T]):
    """An async handler iterates over it."""

    __slots__ = ("_pipe",)

    def __init__(self, pipe: Pipe[T]) -> None:
        self._pipe = pipe

    async def __anext__(self) -> T:
        value = await self._pipe.take_async()
        if value is _END:
            raise StopAsyncIteration
        return value

    def __del__(self) -> None:
        self._pipe.close()
