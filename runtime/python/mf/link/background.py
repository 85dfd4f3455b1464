"""R4. Work that belongs to no call: tasks of a loop, and an asyncio loop on one daemon thread, where a
blocking client or server watches services, or stays registered, with the asyncio implementations.
"""

import threading
from asyncio import (
    SelectorEventLoop,
    Task,
    all_tasks,
    current_task,
    get_running_loop,
    run_coroutine_threadsafe,
    wait,
)
from asyncio import timeout as within
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from contextvars import Context
from selectors import DefaultSelector
from typing import Any, Protocol, TypeVar

from mf.core.error import Code, Error, Execution

T = TypeVar("T")


def spawn(coroutine: Coroutine[Any, Any, None]) -> Task[None]:
    """A task on the running loop, in a context of its own, since it belongs to no call."""
    return get_running_loop().create_task(coroutine, context=Context())


class _Reloads(Protocol):
    def reload(self) -> bool: ...


class Background:
    """The loop runs from the start. Other threads may use it."""

    __slots__ = ("_awaited", "_inherited", "_lock", "_loop", "_selector", "_stopped", "_thread")

    def __init__(self, name: str) -> None:
        self._lock = threading.Lock()
        self._stopped = self._inherited = False
        self._awaited: set[Future[Any]] = set()
        self._selector = DefaultSelector()
        self._loop = SelectorEventLoop(self._selector)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def is_this_thread(self) -> bool:
        """Whether the loop runs on the calling thread, which must not wait for it then."""
        return threading.current_thread() is self._thread

    def soon(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Calls a function on the loop, unless that has ended."""
        with self._lock:
            if not self._stopped:
                self._loop.call_soon_threadsafe(function, *arguments)

    def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Runs a function on the loop, or at once on the loop's own thread, and returns its result. Raises as
        `run` does."""
        if self.is_this_thread():
            return function(*arguments)

        async def called() -> T:
            return function(*arguments)

        return self.run(called())

    def reload(self, what: _Reloads) -> bool:
        """Makes what runs on the loop read its files again, and returns what that returns; True if the loop
        has ended."""
        with suppress(CancelledError):
            return self.call(what.reload)
        return True

    def run(self, coroutine: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """The result of a coroutine. After `timeout` seconds it is cancelled, and TimeoutError raised. Raises
        concurrent.futures.CancelledError when the loop ends before, and Error(CONNECTION_LOST) if this is a
        child by now, that was forked meanwhile.
        """
        with self._lock:
            if self._stopped:
                coroutine.close()
                raise CancelledError
            future = run_coroutine_threadsafe(coroutine, self._loop)
            self._awaited.add(future)
        try:
            return future.result(timeout)
        except CancelledError:
            if self._inherited:
                text = "what was begun belongs to the parent process"
                raise Error(Code.CONNECTION_LOST, text, Execution.UNKNOWN) from None
            raise
        finally:
            self._awaited.discard(future)
            future.cancel()

    def stop(self, last: Coroutine[Any, Any, object], timeout: float) -> None:
        """Ends the loop after a last coroutine, and waits at most `timeout` seconds for that. On the loop's
        own thread, in a callback, it does not wait: the loop ends after the callback."""
        with self._lock:
            if self._stopped:
                last.close()
                return
            self._stopped = True
            run_coroutine_threadsafe(self._end(last, timeout), self._loop)
        if not self.is_this_thread():
            self._thread.join(timeout + 0.1)

    def after_fork(self) -> None:
        """In a child, where the thread does not run: closes its copy of the selector. The thread that has
        forked, as a signal handler may, waits no longer."""
        self._lock = threading.Lock()
        self._stopped = self._inherited = True
        self._selector.close()
        for future in self._awaited:
            future.cancel()

    async def _end(self, last: Coroutine[Any, Any, object], timeout: float) -> None:
        try:
            async with within(timeout):
                await last
        finally:
            others = all_tasks() - {current_task()}
            for task in others:
                task.cancel()
            if others:
                await wait(others)
            self._loop.stop()

    def _run(self) -> None:
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()
