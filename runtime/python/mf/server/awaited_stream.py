"""R5. A stream for an `async def` handler or an async generator, in its task on the serving loop. The task is
cancelled when the call must stop, also at its deadline; therefore nothing here checks that.
"""

from asyncio import CancelledError, Future, current_task, get_running_loop, sleep
from collections.abc import AsyncIterator
from time import monotonic
from typing import Any, TypeVar

from mf.server.answers import answer_raised
from mf.server.blocking_stream import expire
from mf.server.current import ServedCall
from mf.server.offer import Handler
from mf.server.stream import StreamCall
from mf.server.stream_ends import ReaderEnd, Waits

T = TypeVar("T")

_FOREVER = 1e9
"""No timer is needed beyond so many seconds."""


class TaskWatch:
    """Cancels the running task when its call must stop, also at the deadline."""

    __slots__ = ("_task", "_timer")

    def __init__(self, call: ServedCall) -> None:
        task = current_task()
        assert task is not None
        self._task = task
        left = call.deadline - monotonic()
        loop = get_running_loop()
        self._timer = loop.call_later(left, expire, call) if left < _FOREVER else None

    def stop(self) -> None:
        self._task.cancel()

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


async def maybe_await(value: Any) -> Any:
    return await value if hasattr(value, "__await__") else value


def is_cancelled(call: ServedCall, raised: BaseException) -> bool:
    """Whether the handler has stopped as requested."""
    return call.stopped is not None and isinstance(raised, CancelledError)


def ended_by(call: ServedCall, handler: Handler, raised: BaseException) -> None:
    """The task of a handler has ended with this exception."""
    if is_cancelled(call, raised):
        call.connection.drop(call)
    else:
        answer_raised(call, handler, raised)


class TaskWaits(Waits):
    """The tasks of one call that wait for events."""

    __slots__ = ("_futures", "_loop", "_watch")

    stops = False

    def __init__(self, call: StreamCall) -> None:
        super().__init__(call)
        self._loop = get_running_loop()
        self._futures: list[Future[None]] = []
        self._watch = TaskWatch(call)

    def stop(self) -> None:
        self._watch.stop()

    def end(self) -> None:
        self._watch.end()

    def is_stop(self, raised: BaseException) -> bool:
        return is_cancelled(self.call, raised)

    async def result_of(self, given: Any) -> Any:
        return await maybe_await(given)

    async def sent_frame(self) -> None:
        await sleep(0)  # for a generator that never waits

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


TaskWaits.reader = AwaitedReader
