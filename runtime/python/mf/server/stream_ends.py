"""R5. The ends of a call's streams that its handler holds: it reads values from one and writes to the other.
Written once for both kinds of handlers, as is what runs them, over the waits of blocking_stream.py and
awaited_stream.py: those of threads block, and do not suspend (mf.core.immediate).
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Generator, Iterable, Iterator
from typing import Any, ClassVar, Generic, TypeVar

from mf.core.current import enter, leave
from mf.core.error import Error
from mf.core.service import ElementCodec, Encoded
from mf.protocol.cutting import ENDED, cutting, plain_bytes
from mf.protocol.frame import DATA_LIMIT
from mf.server.answers import answer_one, answer_raised, arguments_of, bad_value
from mf.server.stream import MOST_WAITING, BadValueError, StreamCall

T = TypeVar("T")


class StoppedError(Exception):
    """The writer must stop; the call has the reason."""


class Waits(ABC):
    """How the handler of one call runs and waits."""

    __slots__ = ("call",)

    stops = True
    """Whether a writer has to look if the call must stop. Tasks are cancelled then."""
    reader: "ClassVar[type[ReaderEnd[Any]]]"

    def __init__(self, call: StreamCall) -> None:
        self.call = call

    @abstractmethod
    def stop(self) -> None:
        """Under the lock: the call must stop."""

    @abstractmethod
    def wake(self) -> None:
        """Under the lock: there is an event, and the handler waits."""

    @abstractmethod
    def is_stop(self, raised: BaseException) -> bool:
        """Whether the handler raised this since it stopped, as requested."""

    @abstractmethod
    async def wait(self, seen: int) -> None:
        """Waits until there are events after `seen`, or the call must stop."""

    @abstractmethod
    def turn_soon(self) -> None:
        """Written values become due: they are sent soon."""

    async def result_of(self, given: Any) -> Any:
        """What the handler has returned."""
        return given

    async def sent_frame(self) -> None:  # noqa: B027 - threads need no pause
        """After each full frame, so that other tasks can run."""


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
        """The handler wants no more values: the client is sent a CANCEL, and stops sending."""
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

    __slots__ = ("_call", "_encode", "_plain", "_waits")

    def __init__(self, waits: Waits) -> None:
        self._waits = waits
        self._call = waits.call
        element = self._call.handler.method.result_element
        self._encode: Any = None if element is None else element.encode
        self._plain: Any = None if element is None or element.plain is None else element.plain()

    def put(self, value: Any) -> bool:
        """Keeps a value. True: a frame is full, to be drained. Raises BadValueError for a value that violates
        the schema; StoppedError when the values are not wanted any more."""
        try:
            data = self._encode(value)
        except Exception as raised:
            raise BadValueError(raised) from raised
        return self._keep(data)

    def _keep(self, data: Encoded | None = None) -> bool:
        """Keeps one more value, or None. True: a frame is full."""
        call = self._call
        with call.connection.lock:
            if call.stopped is not None and self._waits.stops:
                raise StoppedError
            if data is not None:
                call.add(data)
            is_full = call.is_full
            due = not is_full and call.becomes_due()
        if due:
            self._waits.turn_soon()
        return is_full

    async def _gather(self, given: Iterator[Any]) -> None:
        """Sends the values, of which most are plain, and need no look at the call after each."""
        call, gather = self._call, cutting().gather
        outgoing = call.outgoing
        guards = (call, "is_due", True), (call, "stopped", None)
        while True:
            room, most = DATA_LIMIT - outgoing.size, MOST_WAITING - len(outgoing)
            try:
                found = gather(given, self._plain, outgoing.values, outgoing.longest, room, most, guards)
            finally:
                with call.connection.lock:
                    outgoing.count_again()
            if found == ENDED:
                return
            if self.put(found[0]) if isinstance(found, tuple) else self._keep():
                await self._send_frame()

    async def _gather_awaited(self, given: AsyncIterator[Any]) -> None:
        """The same on a loop, where nothing happens to a call between two values that are not waited for."""
        call, plain = self._call, self._plain
        outgoing = call.outgoing
        values, longest = outgoing.values, outgoing.longest
        async for value in given:
            data = plain_bytes(plain, value, longest)
            if data is not None and call.is_due and call.stopped is None:
                values.append(data)
                outgoing.size += len(data)
                is_full = outgoing.size >= DATA_LIMIT or len(values) >= MOST_WAITING
            else:
                is_full = self.put(value)
            if is_full:
                await self._send_frame()

    async def write_all(self, values: AsyncIterable[Any] | Iterable[Any]) -> None:
        """Raises the handler's exceptions, and those of `put`, after closing the handler's generator."""
        if isinstance(values, AsyncIterable):
            awaited = aiter(values)
            try:
                if self._plain is not None:
                    await self._gather_awaited(awaited)
                    return
                async for value in awaited:
                    if self.put(value):
                        await self._send_frame()
            finally:
                if isinstance(awaited, AsyncGenerator):
                    await awaited.aclose()
            return
        given = iter(values)
        try:
            if self._plain is not None:
                await self._gather(given)
                return
            for value in given:
                if self.put(value):
                    await self._send_frame()
        finally:
            if isinstance(given, Generator):
                given.close()

    async def _send_frame(self) -> None:
        await self.drain()
        await self._waits.sent_frame()

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


async def serve_stream(call: StreamCall, waits: Waits) -> None:
    """Runs the handler of a call with streams, and answers."""
    handler = call.handler
    decoded = arguments_of(call)
    if decoded is None:
        return
    call.driven_by(waits.wake)
    if not call.connection.started(call, waits.stop):
        return
    handler.counters.on_executed(1)
    token = enter(call)
    writer = WriterEnd(waits)
    try:
        try:
            result = await _handled(waits, list(decoded[0]), writer)
        except Exception as raised:
            await writer.drain(whole=True)  # values from before are sent
            _answer_failed(waits, raised)
            return
        await writer.drain(whole=True)
    except BaseException as raised:
        _answer_failed(waits, raised)
        return
    finally:
        leave(token)
    answer_one(call, handler, result)


async def _handled(waits: Waits, arguments: list[Any], writer: WriterEnd) -> Any:
    """Only the handler holds the reader: when it releases it, the client learns that no more is read."""
    handler = waits.call.handler
    if handler.method.param_element is not None:
        arguments.append(waits.reader(waits))
    result = await waits.result_of(handler.function(*arguments))
    if handler.method.result_element is None:
        return result
    arguments.clear()
    await writer.write_all(result)
    return None


def _answer_failed(waits: Waits, raised: BaseException) -> None:
    call = waits.call
    if isinstance(raised, BadValueError):
        call.connection.fail(call, bad_value(call, raised.raised))
    elif waits.is_stop(raised):
        call.connection.drop(call)
    else:
        answer_raised(call, call.handler, raised)
