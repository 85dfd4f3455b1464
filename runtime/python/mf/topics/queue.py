"""R6. What waits for one subscriber: messages, and between them what he is told of their sources. Bounded in
messages and bytes; what becomes of a message that finds no room is the queue's policy (Overflow).

Order. Of each source: first SOURCE, then its messages and what is missed of them, by their numbers. What was
dropped is told as soon as there is room for anything again, as one run of numbers a source: the oldest were
dropped, so it comes before all that waits, or the newest, and it comes behind.

Threads. Any. Who pushes holds the lock of its outlet, so that nothing slow happens here: waking is left to
`wake`, which is called without that lock. What `when_ready` and `when_room` were given is called without the
queue's own lock, from any thread, once.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from threading import Lock
from time import monotonic

from mf.core.error import Code, Error, not_executed
from mf.topics._generated.mf.topics._types import Overflow, Why
from mf.topics.item import Item, Origin


class Kind(IntEnum):
    MESSAGE = 0
    SOURCE = 1
    MISSED = 2
    ENDED = 3
    """Of the queue: nothing more comes."""


@dataclass(slots=True)
class Entry:
    """`first`: of SOURCE the next number, of which `count` are replayed; of MISSED the first that is missed.
    `origin`: of these two."""

    kind: Kind
    source: int = 0
    item: Item | None = None
    first: int = 0
    count: int = 0
    why: Why = Why.dropped
    origin: Origin | None = field(default=None, compare=False)


_END = Entry(Kind.ENDED)
_LOSSLESS = (Overflow.block, Overflow.disconnect)
_Wake = Callable[[], None]


class Queue:
    __slots__ = (
        "_bytes",
        "_closed",
        "_dropped_first",
        "_ended",
        "_gaps",
        "_lock",
        "_messages",
        "_missing",
        "_ready",
        "_reserved",
        "_reserved_bytes",
        "_ring",
        "_room",
        "_sources",
        "_urgent",
        "delivered",
        "dropped",
        "max_bytes",
        "max_messages",
        "on_end",
        "overflow",
        "waited_since",
        "why",
    )

    def __init__(self, max_messages: int, max_bytes: int, overflow: Overflow) -> None:
        self.max_messages = max_messages
        self.max_bytes = max_bytes
        self.overflow = overflow
        self.delivered = 0
        self.dropped = 0
        self.why: Error | None = None
        """What it has ended with, if that was no success."""
        self.on_end: _Wake | None = None
        """Called once when it has ended, whether or not somebody waits for something to take."""
        self.waited_since = 0.0
        """Since when somebody waits for room, and nothing was taken; 0: nobody does."""
        self._lock = Lock()
        self._sources = 0
        self._ring: deque[Entry] = deque()
        self._urgent: deque[Entry] = deque()
        # Of sources the first that was dropped, and how many.
        self._missing: dict[int, tuple[Origin, int, int]] = {}
        self._dropped_first = overflow is Overflow.drop_oldest
        self._messages = 0
        self._gaps = 0  # entries of the ring that tell of missed messages
        self._bytes = 0
        self._reserved = 0
        self._reserved_bytes = 0
        self._ended = False
        self._closed = False
        self._ready: list[_Wake] = []
        self._room: list[_Wake] = []

    @property
    def blocks(self) -> bool:
        return self.overflow is Overflow.block

    @property
    def queued(self) -> int:
        return self._messages

    @property
    def queued_bytes(self) -> int:
        return self._bytes

    def has_room(self, size: int) -> bool:
        """One message always fits into an empty queue. What is told of missed ones counts as one."""
        messages = self._messages + self._gaps + self._reserved
        if not messages:
            return True
        return messages < self.max_messages and self._bytes + self._reserved_bytes + size <= self.max_bytes

    # Who fills it

    def add_source(self, origin: Origin, next_: int, live: int) -> int:
        """A new source, whose next message has this number, and whose first that is not replayed has `live`;
        gives its own."""
        with self._lock:
            source = self._number()
            if not self._ended:
                self._ring.append(Entry(Kind.SOURCE, source, None, next_, live - next_, origin=origin))
        return source

    def add_untold_source(self) -> int:
        """The same, and who takes is not told of it."""
        with self._lock:
            return self._number()

    def _number(self) -> int:
        self._sources += 1
        return self._sources - 1

    def push(self, item: Item, source: int, *, reserved: bool = False, kept: bool = False) -> None:
        """`reserved`: `reserve` has said that there is room. `kept`: it is replayed, and its publisher has it
        anyhow, so that a queue that loses nothing takes it beyond its bounds."""
        size = item.size
        with self._lock:
            if reserved and self._reserved:
                self._reserved -= 1
                self._reserved_bytes -= size
            if self._ended:
                return
            anyhow = kept and self.overflow in _LOSSLESS
            if not anyhow and not self.has_room(size) and not self._make_room(item, source, size):
                return
            if self._missing and not self._dropped_first and source in self._missing:
                self._gaps += 1
                self._ring.append(self._told(source))
            self._messages += 1
            self._bytes += size
            self._ring.append(Entry(Kind.MESSAGE, source, item))

    def push_missed(self, origin: Origin, source: int, first: int, count: int, why: Why) -> None:
        with self._lock:
            if not self._ended:
                self._gaps += 1
                self._ring.append(Entry(Kind.MISSED, source, None, first, count, why, origin))

    def end(self, why: Error | None) -> None:
        """Nothing more comes: all that is in it can still be taken, then it ends."""
        with self._lock:
            if self._ended:
                return
            self._ended = True
            self.why = why
            room, self._room = self._room, []
        for each in room:
            each()
        self.wake()

    def close(self) -> None:
        """Nobody takes anything any more."""
        with self._lock:
            self._ended = self._closed = True
            self._ring.clear()
            self._urgent.clear()
            self._missing.clear()
            self._messages = self._gaps = self._bytes = 0
            room, self._room = self._room, []
        for each in room:
            each()
        self.wake()

    def wake(self) -> None:
        """Lets those go on who wait for something to take."""
        if self._ended and self.on_end is not None:
            ended, self.on_end = self.on_end, None
            ended()
        if not self._ready:
            return
        with self._lock:
            if self._is_silent():
                return
            ready, self._ready = self._ready, []
        for each in ready:
            each()

    # Room, for who waits for it

    def reserve(self, size: int) -> bool:
        with self._lock:
            if not self._ended and not self.has_room(size):
                return False
            self._reserved += 1
            self._reserved_bytes += size
            return True

    def unreserve(self, size: int) -> None:
        with self._lock:
            if self._reserved:
                self._reserved -= 1
                self._reserved_bytes -= size

    def when_room(self, size: int, room: _Wake) -> None:
        """Calls when something was taken, or at once if there is room."""
        with self._lock:
            if not self._ended and not self.has_room(size):
                self._room.append(room)
                if not self.waited_since:
                    self.waited_since = monotonic()
                return
        room()

    def forget_room(self, room: _Wake) -> None:
        """Of one who waits no more."""
        with self._lock:
            if room in self._room:
                self._room.remove(room)

    # Who takes

    def take(self) -> Entry | None:
        """None: nothing is there now. ENDED: nothing comes any more."""
        with self._lock:
            entry = self._next()
            if entry is None or entry.kind is Kind.ENDED:
                return entry
            self.waited_since = 0.0
            room, self._room = self._room, []
        for each in room:
            each()
        return entry

    def when_ready(self, ready: _Wake) -> None:
        """Calls when there is something to take, or at once."""
        with self._lock:
            if self._is_silent():
                self._ready.append(ready)
                return
        ready()

    def forget_ready(self, ready: _Wake) -> None:
        with self._lock:
            if ready in self._ready:
                self._ready.remove(ready)

    def count_undeliverable(self) -> None:
        """The message that was taken last cannot be sent to the subscriber: it is dropped."""
        with self._lock:
            self.delivered -= 1
            self.dropped += 1

    # Under the lock

    def _is_silent(self) -> bool:
        return not (self._ring or self._urgent or self._missing or self._ended)

    def _next(self) -> Entry | None:
        if self._urgent:
            return self._urgent.popleft()
        # Of sources whose first entry is still in the ring nothing was dropped from its front.
        if self._missing and (self._dropped_first or not self._ring):
            return self._told(next(iter(self._missing)))
        if not self._ring:
            return _END if self._ended else None
        entry = self._ring.popleft()
        if entry.item is not None:
            self._messages -= 1
            self._bytes -= entry.item.size
            self.delivered += 1
        elif entry.kind is Kind.MISSED:
            self._gaps -= 1
        return entry

    def _miss(self, source: int, item: Item) -> None:
        origin, first, count = self._missing.get(source) or (item.origin, item.sequence, 0)
        self._missing[source] = origin, first, count + 1
        self.dropped += 1

    def _told(self, source: int) -> Entry:
        origin, first, count = self._missing.pop(source)
        return Entry(Kind.MISSED, source, None, first, count, Why.dropped, origin)

    def _make_room(self, item: Item, source: int, size: int) -> bool:
        """By the policy. False: the message is not taken."""
        if self.overflow is Overflow.drop_oldest:
            self._drop_oldest(size)
            return True
        if self.overflow is Overflow.disconnect:
            self._ended = True
            self.dropped += 1
            text = (
                f"the subscriber does not keep up: its queue of {self.max_messages} messages and "
                f"{self.max_bytes} bytes is full, and it asked to be disconnected then"
            )
            self.why = not_executed(Code.OVERLOADED, text)
            return False
        self._miss(source, item)  # who does not wait for room, drops
        return False

    def _drop_oldest(self, size: int) -> None:
        """Events that stood before a dropped message stay, and are told first; what is missed of their source
        before them even before them."""
        while not self.has_room(size) and self._ring:
            oldest = self._ring.popleft()
            if oldest.item is not None:
                self._messages -= 1
                self._bytes -= oldest.item.size
                self._miss(oldest.source, oldest.item)
                continue
            if oldest.kind is Kind.MISSED:
                self._gaps -= 1
            if oldest.source in self._missing:
                self._urgent.append(self._told(oldest.source))
            self._urgent.append(oldest)
