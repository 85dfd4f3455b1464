"""Waiters: one for each thread or task that waits for a message, with its pattern.

A waiter that is woken looks for a message itself, and waits again if another receiver was faster. For
patterns without functions, a message wakes the longest-waiting waiter with its key that was not woken yet;
it also wakes every waiter with its key whose pattern has functions.
"""

from collections import deque
from collections.abc import Iterable

from mf.core.gate import Gate
from mf.flex.message import Message
from mf.flex.pattern import Key, Pattern, Shape


class Waiter:
    """`gate`: what its thread or task waits for. `woken`: whether it was woken since it last looked."""

    __slots__ = ("_fresh", "_gate", "pattern", "woken")

    def __init__(self, pattern: Pattern, gate: Gate) -> None:
        self.pattern = pattern
        self.woken = False
        self._gate = gate
        self._fresh: deque[int] = deque()

    def wake(self) -> None:
        """May be called from any thread, without the mailbox's lock."""
        self._gate.open()

    async def wait(self, seconds: float) -> bool:
        """False: it was not woken within so many seconds."""
        found = await self._gate.wait(seconds)
        if found:
            self.woken = False
        return found

    def note(self, number: int) -> None:
        """Records a new message for which the functions of the pattern must be called."""
        self._fresh.append(number)

    def fresh(self) -> Iterable[int]:
        """Yields and removes the recorded numbers."""
        while self._fresh:
            yield self._fresh.popleft()

    def look_again(self, numbers: Iterable[int]) -> None:
        """Called when a woken waiter left without a message: all waiting messages count as new."""
        self.woken = True
        if self.pattern.tests:
            self._fresh = deque(numbers)


class Waiters:
    """All waiters of a mailbox. Its methods are called under the mailbox's lock."""

    __slots__ = ("_by_shape",)

    def __init__(self) -> None:
        self._by_shape: dict[Shape, dict[Key, dict[Waiter, None]]] = {}

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._by_shape)

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
        """Marks and returns the waiters that a new message wakes."""
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
