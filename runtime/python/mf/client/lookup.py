"""R5. Routes for calls that are awaited. Finding one may block (a name, a connection, a server that is still
to come), so it is done on a daemon thread: one a destination, only while somebody waits, and shared by all
who do.

Nobody waits for that thread: a call ends at its deadline or when its task is cancelled, and a loop or a
program ends when it likes.
"""

from asyncio import AbstractEventLoop, Future, get_running_loop
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from mf.core.error import Code, Error, not_executed

if TYPE_CHECKING:
    from mf.client.routes import Route

T = TypeVar("T")


class _Waiter:
    __slots__ = ("deadline", "future", "loop")

    def __init__(self, loop: AbstractEventLoop, deadline: float) -> None:
        self.loop = loop
        self.future: Future[Any] = loop.create_future()
        self.deadline = deadline

    def give(self, result: Any, failure: BaseException | None) -> None:
        """From any thread."""
        with suppress(RuntimeError):  # the loop was closed: nobody waits any more
            self.loop.call_soon_threadsafe(self.settle, result, failure)

    def settle(self, result: Any, failure: BaseException | None) -> None:
        if self.future.done():
            return
        if failure is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(failure)


class Lookup:
    """Of one destination. `find(deadline)` blocks until there is a route, or raises Error; `trouble()` says
    why there is none yet."""

    __slots__ = ("_find", "_lock", "_runs", "_trouble", "_waiting")

    def __init__(self, find: "Callable[[float], Route]", trouble: Callable[[], Error | None]) -> None:
        self._find = find
        self._trouble = trouble
        self._lock = Lock()
        self._waiting: list[_Waiter] = []
        self._runs = False

    async def route(self, deadline: float) -> "Route":
        """Raises Error, NOT_EXECUTED."""
        loop = get_running_loop()
        waiter = _Waiter(loop, deadline)
        with self._lock:
            self._waiting.append(waiter)
            start = not self._runs
            self._runs = True
        if start:
            Thread(target=self._run, name="mf-lookup", daemon=True).start()
        late = loop.call_later(min(max(deadline - monotonic(), 0.0), 1e6), self._late, waiter)
        try:
            route: Route = await waiter.future
        finally:
            late.cancel()
            with self._lock, suppress(ValueError):
                self._waiting.remove(waiter)
        return route

    def _late(self, waiter: _Waiter) -> None:
        trouble = self._trouble() or not_executed(Code.UNAVAILABLE, "no connection yet")
        text = f"gave up at the deadline: {trouble.message}"
        waiter.settle(None, not_executed(trouble.code, text))

    def _run(self) -> None:
        while True:
            with self._lock:
                waiting = list(self._waiting)
                if not waiting:
                    self._runs = False
                    return
            route: Route | None = None
            failure: BaseException | None = None
            try:
                route = self._find(max(waiter.deadline for waiter in waiting))
            except BaseException as raised:  # whatever it is, those who wait are to know
                failure = raised
            with self._lock:
                if failure is None:
                    waiting = self._waiting[:]  # a route is good for those who have come since, too
                self._waiting = [waiter for waiter in self._waiting if waiter not in waiting]
            for waiter in waiting:
                waiter.give(route, failure)


async def on_own_thread(work: Callable[..., T], *arguments: Any) -> T:
    """What may block, on a daemon thread of its own."""
    waiter = _Waiter(get_running_loop(), 0.0)

    def run() -> None:
        try:
            waiter.give(work(*arguments), None)
        except BaseException as raised:
            waiter.give(None, raised)

    Thread(target=run, name="mf-lookup", daemon=True).start()
    result: T = await waiter.future
    return result
