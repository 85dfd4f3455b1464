"""R5. Streams that are awaited.

Values are gathered: they are sent when they fill a frame, or within one turn of the loop. Cancelling a task
that waits for a stream cancels the call.
"""

from asyncio import AbstractEventLoop, CancelledError, Lock, get_running_loop
from collections.abc import AsyncIterable, Iterable
from contextlib import suppress
from typing import Any, Self

from mf.client.driving import open_stream
from mf.client.stream_base import ClientStream, Held
from mf.core.gate import LoopGate
from mf.core.options import INFINITE
from mf.core.stream import AsyncDuplexStream, AsyncStreamReader
from mf.link.async_link import AsyncLink


class Stream(ClientStream[AsyncLink]):
    """See above."""

    __slots__ = ("_loop", "_opening", "_scheduled", "_waiting")

    def _set_up(self) -> None:
        self._loop: AbstractEventLoop | None = None
        self._opening = Lock()
        self._scheduled = False
        self._waiting: list[LoopGate] = []

    async def open(self) -> None:
        """Sends the request, once."""
        if self.route is not None or self.ended:
            return
        async with self._opening:
            if self.route is None and not self.ended:
                await self._open()

    async def _open(self) -> None:
        self._loop = get_running_loop()
        self.call.on_done = lambda _: self.wake()
        self.route = await open_stream(self.call, self.to)

    def wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for gate in waiting:
            gate.open_here()
        # Credit may have arrived: values that wait for it are sent, whatever the task waits for.
        if self.call.sending and not self._scheduled and self.route is not None and self._loop is not None:
            self._scheduled = True
            self._loop.call_soon(self._flush_soon)

    async def wait_values(self) -> None:
        await self.wait(self.idle)

    wait_room = wait_values

    async def wait(self, seconds: float) -> None:
        """Waits for any event. If there is none for `seconds`, the call ends."""
        gate = LoopGate()
        self._waiting.append(gate)
        try:
            if not await gate.wait(seconds):
                self.too_idle()
        except CancelledError:
            self.cancel()
            raise

    def send(self) -> None:
        assert self.route is not None
        self.route.link.flush()

    async def next_value(self) -> Any:
        """Raises StopAsyncIteration at the end, or the failure of the call."""
        await self.open()
        while not self.values:
            if not (self.take() or await self.step()):
                raise StopAsyncIteration
        return self.values.popleft()

    async def write(self, value: Any) -> bool:
        """False if the other side reads no more."""
        await self.open()
        if not self.put(value):
            return False
        if self.full:
            await self.flush()
            return self.takes_more()
        if not self._scheduled:
            self._scheduled = True
            assert self._loop is not None
            self._loop.call_soon(self._flush_soon)
        return True

    def _flush_soon(self) -> None:
        self._scheduled = False
        if self.wanted and self.route is not None:
            unsent = self._unsent
            if not self.queue_values():
                self._unsent = unsent  # so that the next writer waits
            self.route.link.flush()

    async def flush(self) -> None:
        await self.open()
        await super().flush()

    async def done_writing(self) -> None:
        await self.open()
        await super().done_writing()

    async def write_all(self, values: AsyncIterable[Any] | Iterable[Any]) -> Any:
        """The result of a call whose only stream is this. An exception of `values` cancels the call and is
        raised. An early reply ends the writing, however long the next value takes."""
        await self.open()
        feeder = get_running_loop().create_task(self._feed(values))
        feeder.add_done_callback(lambda _: self.wake())
        try:
            while not self.ended:
                if feeder.done():
                    feeder.result()
                await self.wait(INFINITE)
        except BaseException:
            self.cancel()
            raise
        finally:
            feeder.cancel()
            with suppress(BaseException):
                await feeder
        return self.result()

    async def _feed(self, values: AsyncIterable[Any] | Iterable[Any]) -> None:
        if isinstance(values, AsyncIterable):
            if not await self._feed_awaited(values):
                return
        elif isinstance(values, list | tuple):
            await self.put_all(values)
        else:
            for value in values:
                if not await self.write(value):
                    return
        await self.done_writing()

    async def _feed_awaited(self, values: AsyncIterable[Any]) -> bool:
        """False if the other side reads no more. A plain value is only kept while the turn that sends it is
        scheduled."""
        plain, sending = self.plain(), self.call.sending
        async for value in values:
            if not self._scheduled or plain is None or not self.keep_plain(value, plain, sending):
                if not await self.write(value):
                    return False
            elif self.full:
                await self.flush()
                if not self.takes_more():
                    return False
        return True


class Reader(Held[Stream], AsyncStreamReader[Any]):
    """See ClientStream."""

    __slots__ = ()

    async def __aenter__(self) -> Self:
        await self._stream.open()
        return self

    async def __anext__(self) -> Any:
        values = self._stream.values
        return values.popleft() if values else await self._stream.next_value()


class Duplex(Reader, AsyncDuplexStream[Any, Any]):
    """See ClientStream."""

    __slots__ = ()

    async def write(self, value: Any) -> bool:
        return await self._stream.write(value)

    async def flush(self) -> None:
        await self._stream.flush()

    async def done_writing(self) -> None:
        await self._stream.done_writing()
