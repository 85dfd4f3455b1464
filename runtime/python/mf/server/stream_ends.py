"""R5. The ends of a call's streams that its handler holds: it reads values from one and writes to the other.
Written once for both kinds of handlers, whose waits are blocking_stream.py and awaited_stream.py: those of
threads block, and do not suspend (mf.core.immediate).
"""

from abc import ABC, abstractmethod
from collections import deque
from typing import Any, Generic, TypeVar

from mf.core.error import Error
from mf.core.service import ElementCodec
from mf.server.stream import BadValueError, StreamCall

T = TypeVar("T")


class StoppedError(Exception):
    """The writer must stop; the call knows why."""


class Waits(ABC):
    """The waits of one call's handler."""

    __slots__ = ("call",)

    stops = True
    """Whether a writer has to look if the call must stop. Tasks are cancelled then."""

    def __init__(self, call: StreamCall) -> None:
        self.call = call

    @abstractmethod
    async def wait(self, seen: int) -> None:
        """Waits until there are events after `seen`, or the call must stop."""

    @abstractmethod
    def turn_soon(self) -> None:
        """Written values become due: they are sent soon."""


class ReaderEnd(Generic[T]):
    """The parameter stream for the handler. Raises Error if the call ends before the stream does."""

    __slots__ = ("_call", "_element", "_values", "_waits")

    def __init__(self, waits: Waits) -> None:
        self._waits = waits
        self._call = waits.call
        element = self._call.handler.method.param_element
        assert element is not None
        self._element: ElementCodec[T] = element
        self._values: deque[T] = deque()

    async def more(self) -> bool:
        """Waits for values. False: there are no more."""
        call = self._call
        connection = call.connection
        while True:
            with connection.lock:
                taken = call.take()
                at_end = taken is None and (call.end_received or call.unread)
                if taken is None:
                    call.push()  # pending values are sent before waiting
                seen = call.news
                must_send = bool(connection.session.out)
            if must_send:
                connection.written()
            if at_end:
                return False
            if taken is None:
                await self._waits.wait(seen)
            elif taken[1]:
                self._values.extend(self._decode(*taken))
                if self._values:
                    return True

    def _decode(self, payload: Any, count: int) -> list[T]:
        try:
            return self._element.decode_all(payload, count)
        except Error as malformed:
            error = Error(malformed.code, malformed.message)
            self._call.connection.fault(self._call, error)
            raise error from malformed

    def read_no_more(self) -> None:
        """The handler wants no more values: the client is told, and stops sending."""
        call = self._call
        self._values.clear()
        with call.connection.lock:
            call.read_no_more()
        call.connection.written()

    def __del__(self) -> None:
        call = self._call
        if not call.end_received and call.stopped is None:
            call.dropped = True
            call.connection.turn_soon(call)


class WriterEnd:
    """Sends the values of a handler."""

    __slots__ = ("_call", "_encode", "_waits")

    def __init__(self, waits: Waits) -> None:
        self._waits = waits
        self._call = waits.call
        element = self._call.handler.method.result_element
        self._encode: Any = None if element is None else element.encode

    def put(self, value: Any) -> bool:
        """Keeps a value. True: a frame is full, to be drained. Raises BadValueError for a value that violates
        the schema; StoppedError when the values are not wanted any more."""
        call = self._call
        try:
            data = self._encode(value)
        except Exception as raised:
            raise BadValueError(raised) from raised
        with call.connection.lock:
            if call.stopped is not None and self._waits.stops:
                raise StoppedError
            call.add(data)
            is_full = call.is_full
            due = not is_full and call.becomes_due()
        if due:
            self._waits.turn_soon()
        return is_full

    async def drain(self, *, whole: bool = False) -> None:
        """Sends until nothing waits, or less than a frame. Raises StoppedError."""
        call = self._call
        connection = call.connection
        while True:
            with connection.lock:
                if call.stopped is not None and self._waits.stops:
                    raise StoppedError
                call.push()
                is_done = not len(call.outgoing) if whole else not call.is_full
                seen = call.news
            connection.written()
            if is_done:
                return
            await self._waits.wait(seen)
