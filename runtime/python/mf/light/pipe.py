"""R5. Values that a caller has written to a duplex stream and the handler has not taken: 64 at most. Either
side may be a thread that blocks or a task that awaits, so that each waits in its own way, and is woken by
what was registered for it.

No wait lasts longer than the call may: see LightCall.limit. A task that takes values is bounded by what
awaits the handler.
"""

from collections import deque
from collections.abc import AsyncIterator, Iterator
from threading import RLock
from time import monotonic
from typing import Any, Generic, TypeVar

from mf.core.error import Code, Error
from mf.core.gate import Gate, LoopGate, ThreadGate
from mf.core.immediate import immediate
from mf.core.options import INFINITE
from mf.core.stream import stream_has_ended
from mf.light.call import LightCall
from mf.light.checks import check_value

T = TypeVar("T")

MOST = 64
_NOTHING: Any = object()
_END: Any = object()


class Pipe(Generic[T]):
    """See above. Values that are written after the call has ended are dropped."""

    __slots__ = ("_call", "_done_writing", "_is_closed", "_lock", "_values", "_waiting")

    def __init__(self, call: LightCall) -> None:
        self._call = call
        self._lock = RLock()  # a finalizer, which may run anywhere, closes a pipe
        self._values: deque[T] = deque()
        self._done_writing = False
        self._is_closed = False
        self._waiting: list[Gate] = []

    # The caller

    async def put(self, value: T, kind: type[Gate]) -> bool:
        """False: the value is not wanted any more, or there was no room for it in time."""
        self._check(value)
        while True:
            with self._lock:
                if self._is_closed or self._add(value):
                    return not self._is_closed
                gate = self._gate(kind)
            if not await gate.wait(self._call.wait_limit() - monotonic()):
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
        """The call is over, or the handler reads no more: all waits end."""
        with self._lock:
            self._is_closed = True
            self._wake()

    # The handler

    async def take(self, kind: type[Gate]) -> T:
        """_END: there are no more. Raises what the call was ended with. A task waits as long as what awaits
        the handler."""
        while True:
            with self._lock:
                value = self._taken()
                if value is not _NOTHING:
                    return value
                gate = self._gate(kind)
            if not await gate.wait(self._call.limit - monotonic() if kind.blocks else INFINITE):
                raise self._call.out_of_time()

    def _taken(self) -> T:
        if self._values:
            self._wake()
            return self._values.popleft()
        if self._is_closed:
            raise self._call.stopped or Error(Code.CANCELLED, "the other side of this stream is gone")
        return _END if self._done_writing else _NOTHING  # type: ignore[no-any-return]

    # Waiting

    def _gate(self, kind: type[Gate]) -> Gate:
        gate = kind()
        self._waiting.append(gate)
        return gate

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for gate in waiting:
            gate.open()


class PipeReader(Iterator[T], Generic[T]):
    """A plain handler iterates over it."""

    __slots__ = ("_pipe",)

    def __init__(self, pipe: Pipe[T]) -> None:
        self._pipe = pipe

    def __next__(self) -> T:
        value = immediate(self._pipe.take(ThreadGate))
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
        value = await self._pipe.take(LoopGate)
        if value is _END:
            raise StopAsyncIteration
        return value

    def __del__(self) -> None:
        self._pipe.close()
