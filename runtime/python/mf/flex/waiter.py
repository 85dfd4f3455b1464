"""Those who wait for a message: a thread or a task each, with its pattern.

A waiter that is woken looks for itself, and waits again if somebody was faster. One message wakes the one
that has waited longest of those whose key it has and that were not woken yet, and all those whose functions
are to be asked about it.
"""

from _thread import allocate_lock
from asyncio import AbstractEventLoop, Future
from collections import deque
from collections.abc import Iterable
from contextlib import suppress

from mf.flex.message import Message
from mf.flex.pattern import Key, Pattern, Shape


class Waiter:
    """`woken`: since it has last looked."""

    __slots__ = ("_fresh", "pattern", "woken")

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.woken = False
        self._fresh: deque[int] = deque()

    def wake(self) -> None:
        """From any thread, outside of the lock."""
        raise NotImplementedError

    def note(self, number: int) -> None:
        """A message came that its functions are to be asked about."""
        self._fresh.append(number)

    def fresh(self) -> Iterable[int]:
        """The numbers of such messages, which it forgets."""
        while self._fresh:
            yield self._fresh.popleft()

    def look_again(self, numbers: Iterable[int]) -> None:
        """Who was to have a message did not take it."""
        self.woken = True
        if self.pattern.tests:
            self._fresh = deque(numbers)


class BlockingWaiter(Waiter):
    __slots__ = ("_gate",)

    def __init__(self, pattern: Pattern) -> None:
        super().__init__(pattern)
        self._gate = allocate_lock()
        self._gate.acquire()

    def wake(self) -> None:
        with suppress(RuntimeError):  # it was woken, and has not looked yet
            self._gate.release()

    def wait(self, seconds: float) -> bool:
        """False: nothing has woken it for so long."""
        found = self._gate.acquire() if seconds == float("inf") else self._gate.acquire(timeout=seconds)
        if found:
            self.woken = False
        return found


class AsyncWaiter(Waiter):
    """For one task of a loop."""

    __slots__ = ("_future", "_loop", "expired")

    def __init__(self, pattern: Pattern, loop: AbstractEventLoop) -> None:
        super().__init__(pattern)
        self._loop = loop
        self._future: Future[None] = loop.create_future()
        self.expired = False

    def wake(self) -> None:
        with suppress(RuntimeError):  # the loop is closed, and its tasks are gone
            self._loop.call_soon_threadsafe(self._wake)

    def expire(self) -> None:
        self.expired = True
        self._wake()

    def _wake(self) -> None:
        if not self._future.done():
            self._future.set_result(None)

    async def wait(self) -> None:
        await self._future
        self._future = self._loop.create_future()
        self.woken = False


class Waiters:
    """All of a mailbox; under its lock."""

    __slots__ = ("_by_shape",)

    def __init__(self) -> None:
        self._by_shape: dict[Shape, dict[Key, dict[Waiter, None]]] = {}

    def add(self, waiter: Waiter) -> None:
        pattern = waiter.pattern
        by_key = self._by_shape.setdefault(pattern.shape, {})
        by_key.setdefault(pattern.key, {})[waiter] = None

    def remove(self, waiter: Waiter) -> None:
        pattern = waiter.pattern
        by_key = self._by_shape.get(pattern.shape, {})
        same = by_key.get(pattern.key, {})
        same.pop(waiter, None)
        if not same:
            by_key.pop(pattern.key, None)
            if not by_key:
                self._by_shape.pop(pattern.shape, None)

    def of(self, message: Message, number: int) -> list[Waiter]:
        """Those that a message is to wake."""
        woken: list[Waiter] = []
        for shape, by_key in self._by_shape.items():
            key = shape.key_of(message)
            same = by_key.get(key) if key is not None else None
            if same is None:
                continue
            if shape.tests:
                if shape.tested_of(message) is not None:
                    for waiter in same:
                        waiter.note(number)
                        waiter.woken = True
                        woken.append(waiter)
                continue
            first = next((each for each in same if not each.woken), None)
            if first is not None:
                first.woken = True
                woken.append(first)
        return woken

    def all(self) -> list[Waiter]:
        return [each for by_key in self._by_shape.values() for same in by_key.values() for each in same]
