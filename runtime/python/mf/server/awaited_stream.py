"""R5. A stream for an `async def` handler or an async generator, in its task on the serving loop. The task is
cancelled when the call must stop, also at its deadline; therefore nothing here checks that.
"""

from asyncio import AbstractEventLoop, Future, sleep
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable
from typing import Any, TypeVar

from mf.server.stream import StreamCall
from mf.server.stream_ends import ReaderEnd, Waits, WriterEnd

T = TypeVar("T")


class TaskWaits(Waits):
    """The tasks of one call that wait for events."""

    __slots__ = ("_futures", "_loop")

    stops = False

    def __init__(self, call: StreamCall, loop: AbstractEventLoop) -> None:
        super().__init__(call)
        self._loop = loop
        self._futures: list[Future[None]] = []

    def wake(self) -> None:
        """Under the lock."""
        self.call.waiting = 0
        self._loop.call_soon(self._wake)

    def _wake(self) -> None:
        futures, self._futures = self._futures, []
        for future in futures:
            if not future.done():
                future.set_result(None)

    async def wait(self, seen: int) -> None:
        call = self.call
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
        with self.call.connection.lock:
            self.call.turn()
        self.call.connection.written()


class AwaitedReader(ReaderEnd[T], AsyncIterator[T]):
    """See ReaderEnd."""

    __slots__ = ()

    async def __anext__(self) -> T:
        if not self._values and not await self.more():
            raise StopAsyncIteration
        return self._values.popleft()

    async def aclose(self) -> None:
        self.read_no_more()


class AwaitedWriter(WriterEnd):
    """See WriterEnd."""

    __slots__ = ()

    async def write_all(self, values: AsyncIterable[Any] | Iterable[Any]) -> None:
        """Raises the handler's exceptions, and those of `put`."""
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
        if self.put(value):
            await self.drain()
            await sleep(0)  # a generator that never waits lets other tasks run after each frame

    async def finish(self) -> None:
        """Sends the remaining values."""
        await self.drain(whole=True)
