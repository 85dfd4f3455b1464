"""R6. The queue of one subscription: messages, and entries about their sources. It is bounded in messages and
bytes; the overflow policy (Overflow) decides what happens to a message that does not fit.

Order: for each source first a SOURCE entry, then its messages and MISSED entries by sequence number. Dropped
messages are reported as one MISSED entry per source, as soon as there is room: before all waiting entries if
the oldest were dropped, behind them if the newest were.

Threads: any. `push` is called under the lock of an outlet, so it wakes no thread: the caller calls `wake`
after it has released that lock. Callbacks given to `when_ready` and `when_room` are called once, from any
thread, without the lock of the queue.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from threading import Lock
from time import monotonic

from mf.core.error import Code, Error, not_executed, shortened
from mf.topics._generated.mf.topics._types import Overflow, Why
from mf.topics.item import Item, Origin


class Kind(IntEnum):
    MESSAGE = 0
    SOURCE = 1
    MISSED = 2
    ENDED = 3
    """The queue has ended: nothing more comes."""


@dataclass(slots=True)
class Entry:
    """`first`: in a SOURCE the next sequence number, from which on `count` messages are replayed; in a MISSED
    the first missed number. `origin`: set in these two."""

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
        "_over",
        "_ready",
        "_reserved",
        "_reserved_bytes",
        "_ring",
        "_room",
        "_sources",
        "_urgent",
        "_urgent_gaps",
        "agents",
        "delivered",
        "dropped",
        "max_bytes",
        "max_messages",
        "not_kept",
        "overflow",
        "peer",
        "waited_since",
        "why",
    )

    def __init__(self, max_messages: int, max_bytes: int, overflow: Overflow) -> None:
        self.max_messages = max_messages
        self.max_bytes = max_bytes
        self.overflow = overflow
        self.peer = ""
        """The peer of the subscriber that reads the queue; "" in this process."""
        self.agents = ""
        """The agents that it subscribes to, as they are shown."""
        self.delivered = 0
        self.dropped = 0
        self.not_kept = 0
        self.why: Error | None = None
        """The error that ended the queue; None if it has not ended, or ended normally."""
        self.waited_since = 0.0
        """Since when (time.monotonic()) a publisher waits for room and nothing was taken; 0: none waits."""
        self._lock = Lock()
        self._sources = 0
        self._ring: deque[Entry] = deque()
        self._urgent: deque[Entry] = deque()
        self._urgent_gaps: dict[int, Entry] = {}
        """The latest gap of each source in `_urgent`."""
        # source -> its origin, the first dropped number, and how many were dropped
        self._missing: dict[int, tuple[Origin, int, int]] = {}
        self._dropped_first = overflow is Overflow.drop_oldest
        self._messages = 0
        self._gaps = 0  # MISSED entries in the ring
        self._bytes = 0
        self._reserved = 0
        self._reserved_bytes = 0
        self._ended = False
        self._closed = False
        self._ready: list[_Wake] = []
        self._room: list[_Wake] = []
        self._over: list[_Wake] = []

    @property
    def blocks(self) -> bool:
        return self.overflow is Overflow.block

    @property
    def queued(self) -> int:
        return self._messages

    @property
    def queued_bytes(self) -> int:
        return self._bytes

    def owner_text(self) -> str:
        """The subscriber as failures name it: 'at tcp://192.0.2.1:4711 for "books"'."""
        place = f"at {self.peer}" if self.peer else "in this process"
        return f'{place} for "{shortened(self.agents)}"' if self.agents else place

    def content_text(self) -> str:
        """What the queue holds, for failures: "2 of 2 messages and 40 of 8388608 bytes"."""
        messages, size = self._messages + self._gaps, self._bytes
        return f"{messages} of {self.max_messages} messages and {size} of {self.max_bytes} bytes"

    def has_room(self, size: int) -> bool:
        """One message always fits into an empty queue. A MISSED entry counts as one message."""
        messages = self._messages + self._gaps + self._reserved
        if not messages:
            return True
        return messages < self.max_messages and self._bytes + self._reserved_bytes + size <= self.max_bytes

    # For publishers

    def add_source(self, origin: Origin, next_: int, live: int) -> int:
        """Adds a source and returns its number. `next_` is the sequence number of its next message, `live`
        that of the first message that is not replayed."""
        with self._lock:
            source = self._sources
            self._sources += 1
            if not self._ended:
                self._ring.append(Entry(Kind.SOURCE, source, None, next_, live - next_, origin=origin))
        return source

    def push(self, item: Item, source: int, *, reserved: bool = False, kept: bool = False) -> None:
        """`reserved`: room was reserved by `reserve`. `kept`: the message is replayed; its publisher holds it
        in memory anyway, so a queue whose policy drops nothing takes it beyond the limits."""
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
                self._ring.append(self._missed_of(source))
            self._messages += 1
            self._bytes += size
            self._ring.append(Entry(Kind.MESSAGE, source, item))

    def push_missed(self, origin: Origin, source: int, first: int, count: int, why: Why) -> None:
        with self._lock:
            if not self._ended:
                self._gaps += 1
                self.not_kept += count if why is Why.not_kept else 0
                self._ring.append(Entry(Kind.MISSED, source, None, first, count, why, origin))

    def push_gap(self, origin: Origin, source: int, first: int, count: int, why: Why) -> None:
        """The same within the limits: if there is no room, the overflow policy decides."""
        with self._lock:
            if self._ended:
                return
            if not self.has_room(0):
                if self.overflow is Overflow.disconnect:
                    self._disconnect()
                    return
                if not self._dropped_first:
                    self._miss(source, origin, first, count)
                    return
                self._drop_oldest(0)
            if not self._dropped_first and source in self._missing:
                self._gaps += 1
                self._ring.append(self._missed_of(source))
            self._gaps += 1
            self._ring.append(Entry(Kind.MISSED, source, None, first, count, why, origin))

    def end(self, why: Error | None) -> None:
        """Ends the queue. Entries that are in it can still be taken; then `take` returns ENDED."""
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
        """Ends the queue and drops what is in it."""
        with self._lock:
            self._ended = self._closed = True
            self.dropped += self._messages
            self._ring.clear()
            self._urgent.clear()
            self._urgent_gaps.clear()
            self._missing.clear()
            self._messages = self._gaps = self._bytes = 0
            room, self._room = self._room, []
        for each in room:
            each()
        self.wake()

    def after_fork(self, why: Error) -> None:
        """Ends, in a child, a queue that only threads of the parent fill."""
        self._lock = Lock()
        self._ready, self._room, self._over = [], [], []
        self._ended = True
        self.why = why

    def wake(self) -> None:
        """Calls the `when_ready` callbacks if there is something to take."""
        if self._ended and self._over:
            with self._lock:
                over, self._over = self._over, []
            for each in over:
                each()
        if not self._ready:
            return
        with self._lock:
            if self._is_silent():
                return
            ready, self._ready = self._ready, []
        for each in ready:
            each()

    # For publishers that wait for room

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
        """Calls `room` once something was taken, or at once if there is room."""
        with self._lock:
            if not self._ended and not self.has_room(size):
                self._room.append(room)
                if not self.waited_since:
                    self.waited_since = monotonic()
                return
        room()

    def look_again(self) -> None:
        """Calls the `when_room` callbacks, because room may not be needed any more."""
        with self._lock:
            room, self._room = self._room, []
        for each in room:
            each()

    def forget_room(self, room: _Wake) -> None:
        """Unregisters a callback of `when_room`."""
        with self._lock:
            if room in self._room:
                self._room.remove(room)

    # For the subscriber

    def take(self) -> Entry | None:
        """The next entry, None if there is none now, or ENDED if nothing more comes."""
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
        """Calls `ready` once there is something to take, possibly at once."""
        with self._lock:
            if self._is_silent():
                self._ready.append(ready)
                return
        ready()

    def forget_ready(self, ready: _Wake) -> None:
        with self._lock:
            if ready in self._ready:
                self._ready.remove(ready)

    @property
    def ended(self) -> bool:
        """Nothing more comes into it."""
        return self._ended

    def when_ended(self, over: _Wake) -> None:
        """Calls `over` once the queue has ended, possibly at once."""
        with self._lock:
            if not self._ended:
                self._over.append(over)
                return
        over()

    def forget_ended(self, over: _Wake) -> None:
        with self._lock:
            if over in self._over:
                self._over.remove(over)

    def count_undeliverable(self) -> None:
        """Counts the message that was taken last as dropped, because it cannot be sent."""
        with self._lock:
            self.delivered -= 1
            self.dropped += 1

    # Under the lock

    def _is_silent(self) -> bool:
        return not (self._ring or self._urgent or self._missing or self._ended)

    def _next(self) -> Entry | None:
        if self._urgent:
            first = self._urgent.popleft()
            if self._urgent_gaps.get(first.source) is first:
                del self._urgent_gaps[first.source]
            return first
        # With drop_oldest, what was dropped of a source precedes all of its entries in the ring.
        if self._missing and (self._dropped_first or not self._ring):
            return self._missed_of(next(iter(self._missing)))
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

    def _miss(self, source: int, origin: Origin, first: int, count: int = 1) -> None:
        _, first, before = self._missing.get(source) or (origin, first, 0)
        self._missing[source] = origin, first, before + count
        self.dropped += count

    def _missed_of(self, source: int) -> Entry:
        origin, first, count = self._missing.pop(source)
        return Entry(Kind.MISSED, source, None, first, count, Why.dropped, origin)

    def _make_room(self, item: Item, source: int, size: int) -> bool:
        """Applies the overflow policy. False: the message is not queued."""
        if self.overflow is Overflow.drop_oldest:
            self._drop_oldest(size)
            return True
        if self.overflow is Overflow.disconnect:
            self._disconnect()  # before this message, which it has not dropped
            return False
        # drop_newest, or a push to a blocking queue without a reservation
        self._miss(source, item.origin, item.sequence)
        return False

    def _disconnect(self) -> None:
        self._ended = True
        text = (
            f"the subscriber does not keep up: its queue of {self.max_messages} messages and "
            f"{self.max_bytes} bytes is full, and it asked to be disconnected then"
        )
        self.why = not_executed(Code.OVERLOADED, text)

    def _drop_oldest(self, size: int) -> None:
        """SOURCE and MISSED entries before a dropped message are kept in `_urgent`, which is taken first.
        What was dropped of their source earlier is reported before them."""
        while not self.has_room(size) and self._ring:
            oldest = self._ring.popleft()
            if oldest.item is not None:
                self._messages -= 1
                self._bytes -= oldest.item.size
                self._miss(oldest.source, oldest.item.origin, oldest.item.sequence)
                continue
            if oldest.source in self._missing:
                self._put_urgent_gap(self._missed_of(oldest.source))
            if oldest.kind is Kind.MISSED:
                self._gaps -= 1
                self._put_urgent_gap(oldest)
            else:
                self._urgent_gaps.pop(oldest.source, None)  # later gaps come after this entry
                self._urgent.append(oldest)

    def _put_urgent_gap(self, gap: Entry) -> None:
        """A gap that follows the latest one of its source becomes part of it: a queue that is not emptied
        must not grow. Where their reasons differ and there are many already, all of them count as dropped.
        """
        before = self._urgent_gaps.get(gap.source)
        if before is not None and before.first + before.count == gap.first:
            many = len(self._urgent) >= self.max_messages
            if before.why is gap.why or many:
                before.why = gap.why if before.why is gap.why else Why.dropped
                before.count += gap.count
                return
        self._urgent.append(gap)
        self._urgent_gaps[gap.source] = gap
