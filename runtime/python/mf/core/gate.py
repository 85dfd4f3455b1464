"""R0. What one thread or task waits for, and any thread may open. A wait is written once, over a gate of its
caller's kind; those of threads block, and do not suspend (mf.core.immediate).
"""

from _thread import allocate_lock
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from threading import TIMEOUT_MAX
from time import monotonic
from typing import TYPE_CHECKING

from mf.core.clock import moment
from mf.core.options import INFINITE

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future

Open = Callable[[], None]


class Gate(ABC):
    """See above."""

    __slots__ = ()

    blocks = False
    """Whether a wait blocks its thread."""

    gone = False
    """Whether the loop of its task was found closed when it was opened."""

    @abstractmethod
    def open(self) -> None:
        """From any thread; also when it is open."""

    @abstractmethod
    async def wait(self, seconds: float) -> bool:
        """Waits until it was opened, and closes it again. False: it was not opened within so many seconds,
        which may be INFINITE."""


class ThreadGate(Gate):
    """For a thread. A forked child may open it, too: a lock of another thread is not needed for that, as it
    is for a threading.Event."""

    __slots__ = ("_lock",)

    blocks = True
    gone = False

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._lock.acquire()

    def open(self) -> None:
        with suppress(RuntimeError):
            self._lock.release()

    async def wait(self, seconds: float) -> bool:
        until = monotonic() + seconds
        left = seconds
        while not self._lock.acquire(timeout=min(moment(max(left, 0.0)), TIMEOUT_MAX)):
            left = until - monotonic()
            if left <= 0:
                return False
        return True


def _first_running_loop() -> "AbstractEventLoop":
    from asyncio import get_running_loop  # slow to import, and blocking programs do not need it

    global _running_loop
    _running_loop = get_running_loop
    return get_running_loop()


_running_loop = _first_running_loop


class LoopGate(Gate):
    """For a task of the running loop."""

    __slots__ = ("_future", "_is_open", "_loop", "gone")

    def __init__(self) -> None:
        self._loop = _running_loop()
        self._future: Future[None] | None = None
        self._is_open = False
        self.gone = False

    def open(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self.open_here)
        except RuntimeError:
            self.gone = True

    def open_here(self) -> None:
        """The same, on its loop."""
        self._is_open = True
        self._resume()

    def _resume(self) -> None:
        if self._future is not None and not self._future.done():
            self._future.set_result(None)

    async def wait(self, seconds: float) -> bool:
        if not self._is_open:
            self._future = self._loop.create_future()
            timer = None
            if seconds < INFINITE:
                timer = self._loop.call_later(max(seconds, 0.0), self._resume)
            try:
                await self._future
            finally:
                self._future = None
                if timer is not None:
                    timer.cancel()
        is_open, self._is_open = self._is_open, False
        return is_open


async def until_called(
    kind: type[Gate], begin: Callable[[Open], None], forget: Callable[[Open], None], until: float
) -> bool:
    """Passes a function to `begin`, which any thread may call, and waits for that call. False: it was not
    called before `until` (time.monotonic()). `forget` is always called with the function at the end."""
    gate = kind()
    called = gate.open  # one object, by which it is forgotten
    try:
        begin(called)
        return await gate.wait(until - monotonic())
    finally:
        forget(called)
