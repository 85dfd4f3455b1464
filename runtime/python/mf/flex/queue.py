"""The waiting messages, indexed by pattern: a pure data structure without locks, threads or time.

Each shape of patterns gets an index on first use: key -> the numbers of matching messages, in the order of
arrival; for patterns with functions they are grouped by the values that the functions are called with. So the
cost of a look-up depends on the matching messages, not on all. Numbers of taken messages stay in an index
until a look-up finds them; an index with more of them than there are messages is dropped. At most 32 indexes
are kept; the oldest is dropped first.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any, Final

from mf.flex.message import Message
from mf.flex.pattern import Key, Pattern, Shape

_MOST_INDEXES: Final = 32
_SLACK: Final = 64

Numbers = deque[int]


class Parcel:
    """A message with its size in bytes, its sender, and its owner, which is called when it is taken."""

    __slots__ = ("message", "owner", "sender", "sequence", "size")

    def __init__(self, message: Message, size: int, sender: Any, owner: Any, sequence: int = 0) -> None:
        self.message = message
        self.size = size
        self.sender = sender
        self.owner = owner
        self.sequence = sequence


class _Index:
    """`numbers`: used for shapes without functions. `groups`: used for shapes with functions, the numbers by
    value. `stale`: an upper bound of the numbers in it whose messages were taken."""

    __slots__ = ("groups", "numbers", "shape", "stale")

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.stale = 0
        self.numbers: dict[Key, Numbers] = {}
        self.groups: dict[Key, dict[Key, Numbers]] = {}

    def add(self, number: int, message: Message) -> None:
        key = self.shape.key_of(message)
        if key is None:
            return
        if not self.shape.tests:
            self.numbers.setdefault(key, deque()).append(number)
            return
        tested = self.shape.tested_of(message)
        if tested is not None:
            self.groups.setdefault(key, {}).setdefault(tested, deque()).append(number)


class Queue:
    """`messages`: the waiting messages by number, in the order of arrival."""

    __slots__ = ("_indexes", "_next", "messages")

    def __init__(self) -> None:
        self.messages: dict[int, Parcel] = {}
        self._indexes: dict[Shape, _Index] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self.messages)

    def put(self, parcel: Parcel) -> int:
        number = self._next
        self._next = number + 1
        self.messages[number] = parcel
        for index in self._indexes.values():
            index.add(number, parcel.message)
        return number

    def first(self, pattern: Pattern) -> int | None:
        """The number of the first message that matches a pattern without functions."""
        index = self._index(pattern.shape)
        numbers = index.numbers.get(pattern.key)
        if numbers is None:
            return None
        found = self._front(numbers)
        if found is None:
            del index.numbers[pattern.key]
        return found

    def candidates(self, pattern: Pattern) -> list[tuple[int, Key]]:
        """For a pattern with functions: the first message for each distinct set of values that they are
        called with, in the order of arrival."""
        index = self._index(pattern.shape)
        groups = index.groups.get(pattern.key)
        if groups is None:
            return []
        found: list[tuple[int, Key]] = []
        empty: list[Key] = []
        for tested, numbers in groups.items():
            front = self._front(numbers)
            if front is None:
                empty.append(tested)
            else:
                found.append((front, tested))
        for tested in empty:
            del groups[tested]
        if not groups:
            del index.groups[pattern.key]
        found.sort(key=_number)
        return found

    def take(self, number: int) -> Parcel | None:
        """Removes a message; None if it was taken already."""
        parcel = self.messages.pop(number, None)
        if parcel is not None:
            self._taken(None)
        return parcel

    def take_first(self, pattern: Pattern) -> Parcel | None:
        """Removes the first message that matches a pattern without functions."""
        index = self._indexes.get(pattern.shape) or self._index(pattern.shape)
        numbers = index.numbers.get(pattern.key)
        if numbers is None:
            return None
        while numbers:
            parcel = self.messages.pop(numbers.popleft(), None)
            if parcel is not None:
                if len(self._indexes) > 1:
                    self._taken(index)
                return parcel
        del index.numbers[pattern.key]
        return None

    def _taken(self, known: _Index | None) -> None:
        """A message was taken, which is in all indexes but the `known` one still."""
        limit = len(self.messages) + _SLACK
        crowded = False
        for index in self._indexes.values():
            if index is not known:
                index.stale += 1
                crowded = crowded or index.stale > limit
        if crowded:  # the next look-up rebuilds those that go
            self._indexes = {at: each for at, each in self._indexes.items() if each.stale <= limit}

    def take_all(self) -> list[Parcel]:
        taken = list(self.messages.values())
        self.messages.clear()
        self._indexes.clear()
        return taken

    def __iter__(self) -> Iterator[Parcel]:
        return iter(self.messages.values())

    def _front(self, numbers: Numbers) -> int | None:
        messages = self.messages
        while numbers:
            if numbers[0] in messages:
                return numbers[0]
            numbers.popleft()
        return None

    def _index(self, shape: Shape) -> _Index:
        index = self._indexes.get(shape)
        if index is None:
            index = _Index(shape)
            for number, parcel in self.messages.items():
                index.add(number, parcel.message)
            if len(self._indexes) >= _MOST_INDEXES:
                del self._indexes[next(iter(self._indexes))]
            self._indexes[shape] = index
        return index


def _number(candidate: tuple[int, Key]) -> int:
    return candidate[0]
