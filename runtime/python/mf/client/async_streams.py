"""R5. Streams that are awaited.

Values are gathered: they are sent when they fill a frame, or within one turn of the loop. Cancelling a task
that waits for a stream cancels the call.
"""

from asyncio import AbstractEventLoop, CancelledError, Future, Lock, get_running_loop
from collections.abc import AsyncIterable, Iterable
from contextlib import suppress
from typing import Any, TypeVar

from mf.client.destination import Destination
from mf.client.driving import open_stream
from mf.client.stream_base import ClientStream
from mf.core.options import INFINITE, CallOptions
from mf.core.service import Method
from mf.core.stream import AsyncDuplexStream, AsyncStreamReader
from mf.link.async_link import AsyncLink

T = TypeVar("T")


class _Stream(ClientStream[AsyncLink]):
    __slots__ = ("_loop", "_opening", "_scheduled", "_waiting")

    def __init__(
        self,
        to: Destination[Any],
        method: Method[Any, Any],
        options: CallOptions | None,
        arguments: tuple[Any, ...],
    ) -> None:
        super().__init__(to, method, options, arguments)
        self._loop: AbstractEventLoop | None = None
        self._opening = Lock()
        self._scheduled = False
        self._waiting: list[Future[None]] = []

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
        for future in waiting:
            _resolve(future)
        # Credit may have arrived: values that wait for it are sent, whatever the task waits for.
        if self.call.sending and not self._scheduled and self.route is not None and self._loop is not None:
            self._scheduled = True
            self._loop.call_soon(self._flush_soon)

    async def wait_values(self) -> None:
        await self.wait(self.idle)

    wait_room = wait_values

    async def wait(self, seconds: float) -> None:
        """Waits for any event. If there is none for `seconds`, the call ends."""
        loop = self._loop
        assert loop is not None
        future: Future[None] = loop.create_future()
        self._waiting.append(future)
        timer = loop.call_later(seconds, self._nothing_came, future) if seconds < INFINITE else None
        try:
            await future
        except CancelledError:
            self.cancel()
            raise
        finally:
            if timer is not None:
                timer.cancel()

    def send(self) -> None:
        assert self.route is not None
        self.route.link.flush()

    def _nothing_came(self, future: "Future[None]") -> None:
        if not future.done():
            self.too_idle()
            _resolve(future)

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

    async def feed(self, values: AsyncIterable[Any] | Iterable[Any]) -> None:
        if isinstance(values, AsyncIterable):
            async for value in values:
                if not await self.write(value):
                    return
        else:
            for value in values:
                if not await self.write(value):
                    return
        await self.done_writing()


def _resolve(future: "Future[None]") -> None:
    """Wakes the awaiting task, once."""
    if not future.done():
        future.set_result(None)


class _Reader(AsyncStreamReader[T]):
    __slots__ = ("_stream",)

    def __init__(self, stream: _Stream) -> None:
        self._stream = stream

    async def __aenter__(self) -> "_Reader[T]":
        await self._stream.open()
        return self

    async def __anext__(self) -> T:
        value: T = await self._stream.next_value()
        return value

    def cancel(self) -> None:
        self._stream.cancel()

    def __del__(self) -> None:
        self._stream.dropped()


class _Duplex(AsyncDuplexStream[Any, T]):
    __slots__ = ("_stream",)

    def __init__(self, stream: _Stream) -> None:
        self._stream = stream

    async def __aenter__(self) -> "_Duplex[T]":
        await self._stream.open()
        return self

    async def __anext__(self) -> T:
        value: T = await self._stream.next_value()
        return value

    async def write(self, value: Any) -> bool:
        return await self._stream.write(value)

    async def flush(self) -> None:
        await self._stream.flush()

    async def done_writing(self) -> None:
        await self._stream.done_writing()

    def cancel(self) -> None:
        self._stream.cancel()

    def __del__(self) -> None:
        self._stream.dropped()


def read_stream(
    to: Destination[Any], method: Method[Any, Any], options: CallOptions | None, arguments: tuple[Any, ...]
) -> AsyncStreamReader[Any]:
    return _Reader(_Stream(to, method, options, arguments))


def duplex_stream(
    to: Destination[Any], method: Method[Any, Any], options: CallOptions | None, arguments: tuple[Any, ...]
) -> AsyncDuplexStream[Any, Any]:
    return _Duplex(_Stream(to, method, options, arguments))


async def write_stream(
    to: Destination[Any],
    method: Method[Any, T],
    options: CallOptions | None,
    values: AsyncIterable[Any] | Iterable[Any],
    arguments: tuple[Any, ...],
) -> T:
    """An exception of `values` cancels the call and is raised. An early reply ends the writing, however long
    the next value takes."""
    stream = _Stream(to, method, options, arguments)
    await stream.open()
    feeder = get_running_loop().create_task(stream.feed(values))
    feeder.add_done_callback(lambda _: stream.wake())
    try:
        while not stream.ended:
            if feeder.done():
                feeder.result()
            await stream.wait(INFINITE)
    except BaseException:
        stream.cancel()
        raise
    finally:
        feeder.cancel()
        with suppress(BaseException):
            await feeder
    result: T = stream.result()
    return result
