"""R5. A stream for a plain handler, on the handler's own thread: it waits for values, for credit and for
room, at most until the call's deadline.
"""

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from threading import Condition
from time import monotonic
from typing import Any, Generic, TypeVar

from mf.core.error import Code, Error
from mf.core.service import ElementCodec
from mf.protocol.server_call import ServerCallEvent
from mf.server.current import ServedCall
from mf.server.stream import BadValueError, StreamCall

T = TypeVar("T")

_FOREVER = 1e6
"""Seconds: longer waits of a lock have no timeout."""


class StoppedError(Exception):
    """The writer must stop; the call knows why."""


def _wait(call: StreamCall, seen: int, changed: Condition) -> None:
    """Waits until there are events after `seen`, or the call must stop, as it must at its deadline."""
    left = call.deadline - monotonic()
    if left > 0:
        with call.connection.lock:
            if call.news != seen or call.stopped is not None:
                return
            call.waiting += 1
            changed.wait(left if left < _FOREVER else None)
            call.waiting -= 1
    elif call.stopped is None:
        expire(call)


def expire(call: ServedCall) -> None:
    why = Error(Code.DEADLINE_EXCEEDED, "the call's deadline has passed")
    call.connection.end_early(call, ServerCallEvent.EXPIRED, why)


class BlockingReader(Iterator[T], Generic[T]):
    """The parameter stream for the handler. Raises Error if the call ends before the stream does."""

    __slots__ = ("_call", "_changed", "_element", "_values")

    def __init__(self, call: StreamCall, changed: Condition) -> None:
        element = call.handler.method.param_element
        assert element is not None
        self._call = call
        self._changed = changed
        self._element: ElementCodec[T] = element
        self._values: deque[T] = deque()

    def __next__(self) -> T:
        values = self._values
        while not values:
            taken = self._take()
            if taken is None:
                raise StopIteration
            values.extend(taken)
        return values.popleft()

    def _take(self) -> list[T] | None:
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
                return None
            if taken is None:
                _wait(call, seen, self._changed)
            elif taken[1]:
                return self._decode(*taken)

    def _decode(self, payload: Any, count: int) -> list[T]:
        try:
            return self._element.decode_all(payload, count)
        except Error as malformed:
            error = Error(malformed.code, malformed.message)
            self._call.connection.fault(self._call, error)
            raise error from malformed

    def close(self) -> None:
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


class BlockingWriter:
    """Sends the values of a handler."""

    __slots__ = ("_call", "_changed")

    def __init__(self, call: StreamCall, changed: Condition) -> None:
        self._call = call
        self._changed = changed

    def write_all(self, values: Iterable[Any]) -> None:
        """Raises the handler's exceptions; BadValueError for a value that violates the schema; StoppedError
        when the values are not wanted any more, after closing the handler's generator.
        """
        element = self._call.handler.method.result_element
        assert element is not None
        encode = element.encode
        write = self._write
        given = iter(values)
        try:
            for value in given:
                try:
                    data = encode(value)
                except Exception as raised:
                    raise BadValueError(raised) from raised
                write(data)
        finally:
            if isinstance(given, Generator):
                given.close()

    def _write(self, data: Any) -> None:
        call = self._call
        with call.connection.lock:
            if call.stopped is not None:
                raise StoppedError
            call.add(data)
            is_full = call.is_full
            due = not is_full and call.becomes_due()
        if is_full:
            self._drain(whole=False)
        elif due:
            call.connection.turn_soon(call)

    def finish(self) -> None:
        """Sends the remaining values. Raises StoppedError."""
        self._drain(whole=True)

    def _drain(self, *, whole: bool) -> None:
        """Sends until nothing waits, or less than a frame."""
        call = self._call
        connection = call.connection
        while True:
            with connection.lock:
                if call.stopped is not None:
                    raise StoppedError
                call.push()
                is_done = not len(call.outgoing) if whole else not call.is_full
                seen = call.news
            connection.written()
            if is_done:
                return
            _wait(call, seen, self._changed)
