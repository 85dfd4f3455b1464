"""R5. A stream for a plain handler, on the handler's own thread: it waits for values, for credit and for
room, at most until the call's deadline.
"""

from collections.abc import Iterator
from threading import Condition
from time import monotonic
from typing import TypeVar

from mf.core.error import Code, Error
from mf.core.immediate import immediate
from mf.protocol.server_call import ServerCallEvent
from mf.server.current import ServedCall
from mf.server.stream import StreamCall
from mf.server.stream_ends import ReaderEnd, StoppedError, Waits

T = TypeVar("T")

_FOREVER = 1e6
"""Seconds: longer waits of a lock have no timeout."""


def expire(call: ServedCall) -> None:
    why = Error(Code.DEADLINE_EXCEEDED, "the call's deadline has passed")
    call.connection.end_early(call, ServerCallEvent.EXPIRED, why)


class ThreadWaits(Waits):
    """`_changed`: notified of events."""

    __slots__ = ("_changed",)

    def __init__(self, call: StreamCall) -> None:
        super().__init__(call)
        self._changed = Condition(call.connection.lock)

    def wake(self) -> None:
        self._changed.notify_all()

    stop = wake

    def is_stop(self, raised: BaseException) -> bool:
        return isinstance(raised, StoppedError)

    async def wait(self, seen: int) -> None:
        call = self.call
        left = call.deadline - monotonic()
        if left > 0:
            with call.connection.lock:
                if call.news != seen or call.stopped is not None:
                    return
                call.waiting += 1
                self._changed.wait(left if left < _FOREVER else None)
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


ThreadWaits.reader = BlockingReader
