"""R5. A stream for an `async def` handler or an async generator, in its task on the serving loop. The task is
cancelled when the call must stop, also at its deadline; therefore nothing here checks that.
"""

from asyncio import AbstractEventLoop, Future, sleep
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable
from typing import Any, Generic, TypeVar

from mf.core.error import Error
from mf.core.service import ElementCodec
from mf.server.stream import BadValueError, StreamCall

T = TypeVar("T")


class Waiters:
    """The tasks of one call that wait for events."""

    __slots__ = ("_call", "_futures", "_loop")

    def __init__(self, call: StreamCall, loop: AbstractEventLoop) -> None:
        self._call = call
        self._loop = loop
        self._futures: list[Future[None]] = []

    def wake(self) -> None:
        """Under the lock."""
        self._call.waiting = 0
        self._loop.call_soon(self._wake)

    def _wake(self) -> None:
        futures, self._futures = self._futures, []
        for future in futures:
            if not future.done():
                future.set_result(None)

    async def wait(self, seen: int) -> None:
        """Waits until there are events after `seen`."""
        call = self._call
        future = self._loop.create_future()
        with call.connection.lock:
            if call.news != seen:
                return
            call.waiting += 1
            self._futures.append(future)
        await future

    def turn_soon(self) -> None:
        self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        call = self._call
        with call.connection.lock:
            call.turn()
        call.connection.written()


class AwaitedReader(AsyncIterator[T], Generic[T]):
    """The parameter stream for the handler."""

    __slots__ = ("_call", "_element", "_values", "_waiters")

    def __init__(self, call: StreamCall, waiters: Waiters) -> None:
        element = call.handler.method.param_element
        assert element is not None
        self._call = call
        self._waiters = waiters
        self._element: ElementCodec[T] = element
        self._values: deque[T] = deque()

    async def __anext__(self) -> T:
        values = self._values
        while not values:
            taken = await self._take()
            if taken is None:
                raise StopAsyncIteration
            values.extend(taken)
        return values.popleft()

    async def _take(self) -> list[T] | None:
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
                await self._waiters.wait(seen)
            elif taken[1]:
                return self._decode(*taken)

    def _decode(self, payload: Any, count: int) -> list[T]:
        try:
            return self._element.decode_all(payload, count)
        except Error as malformed:
            error = Error(malformed.code, malformed.message)
            self._call.connection.fault(self._call, error)
            raise error from malformed

    async def aclose(self) -> None:
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


class AwaitedWriter:
    """Sends the values of a handler."""

    __slots__ = ("_call", "_waiters")

    def __init__(self, call: StreamCall, waiters: Waiters) -> None:
        self._call = call
        self._waiters = waiters

    async def write_all(self, values: AsyncIterable[Any] | Iterable[Any]) -> None:
        """Raises the handler's exceptions, and BadValueError for a value that violates the schema."""
        if isinstance(values, AsyncIterable):
            given = aiter(values)
            try:
                async for value in given:
                    await self._write(value)
            finally:
                if isinstance(given, AsyncGenerator):
                    await given.aclose()
        else:
            for value in values:
                await self._write(value)

    async def _write(self, value: Any) -> None:
        call = self._call
        element = call.handler.method.result_element
        assert element is not None
        try:
            data = element.encode(value)
        except Exception as raised:
            raise BadValueError(raised) from raised
        with call.connection.lock:
            call.add(data)
            is_full = call.is_full
            due = not is_full and call.becomes_due()
        if is_full:
            await self._drain(whole=False)
            await sleep(0)  # a generator that never waits lets other tasks run after each frame
        elif due:
            self._waiters.turn_soon()

    async def finish(self) -> None:
        """Sends the remaining values."""
        await self._drain(whole=True)

    async def _drain(self, *, whole: bool) -> None:
        call = self._call
        connection = call.connection
        while True:
            with connection.lock:
                call.push()
                is_done = not len(call.outgoing) if whole else not call.is_full
                seen = call.news
            connection.written()
            if is_done:
                return
            await self._waiters.wait(seen)
