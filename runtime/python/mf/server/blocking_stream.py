"""R5. A stream for a plain handler, on the handler's own thread: it waits for values, for credit and for
room, at most until the call's deadline.
"""

from collections.abc import Generator, Iterable, Iterator
from threading import Condition
from time import monotonic
from typing import Any, TypeVar

from mf.core.error import Code, Error
from mf.core.immediate import immediate
from mf.protocol.server_call import ServerCallEvent
from mf.server.current import ServedCall
from mf.server.stream import StreamCall
from mf.server.stream_ends import ReaderEnd, Waits, WriterEnd

T = TypeVar("T")

_FOREVER = 1e6
"""Seconds: longer waits of a lock have no timeout."""


def expire(call: ServedCall) -> None:
    why = Error(Code.DEADLINE_EXCEEDED, "the call's deadline has passed")
    call.connection.end_early(call, ServerCallEvent.EXPIRED, why)


class ThreadWaits(Waits):
    """`changed`: notified of events."""

    __slots__ = ("changed",)

    def __init__(self, call: StreamCall) -> None:
        super().__init__(call)
        self.changed = Condition(call.connection.lock)

    async def wait(self, seen: int) -> None:
        call = self.call
        left = call.deadline - monotonic()
        if left > 0:
            with call.connection.lock:
                if call.news != seen or call.stopped is not None:
                    return
                call.waiting += 1
                self.changed.wait(left if left < _FOREVER else None)
                call.waiting -= 1
        elif call.stopped is None:
            expire(call)

    def turn_soon(self) -> None:
        self.call.connection.turn_soon(self.call)


class BlockingReader(ReaderEnd[T], Iterator[T]):
    """See ReaderEnd."""

    __slots__ = ()

    def __next__(self) -> T:
        if not self._values and not immediate(self.more()):
            raise StopIteration
        return self._values.popleft()

    close = ReaderEnd.read_no_more


class BlockingWriter(WriterEnd):
    """See WriterEnd."""

    __slots__ = ()

    def write_all(self, values: Iterable[Any]) -> None:
        """Raises the handler's exceptions, and those of `put`, after closing the handler's generator."""
        given = iter(values)
        try:
            for value in given:
                if self.put(value):
                    immediate(self.drain())
        finally:
            if isinstance(given, Generator):
                given.close()

    def finish(self) -> None:
        """Sends the remaining values. Raises StoppedError."""
        immediate(self.drain(whole=True))
