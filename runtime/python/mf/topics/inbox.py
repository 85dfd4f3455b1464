"""R6. The inbox of one subscription: a queue of messages, with the gaps between them. It is bounded in
messages and bytes; its overflow policy (Overflow) decides what happens to an entry that finds no room.

The entries of a source come in the order of their numbers, behind its beginning. A gap is an entry of size 0
and counts as a message. What the inbox itself drops becomes a gap in the same place, which does not count:
before all that waits if the oldest entries are dropped, behind it if the newest are. There is one for each
source in that place (a few, if their reasons differ), so that an inbox that is not emptied does not grow.

Threads: any. `push` is called under the lock of a board and wakes no thread: if it returns True, the caller
calls `wake` after it has released that lock. Callbacks given to `when_ready`, `when_room` and `when_ended`
are called once, from any thread, without the lock of the inbox.
"""

from collections import deque
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Any

from mf.core.error import Code, Error, not_executed, shortened
from mf.core.identity import NO_IDENTITY
from mf.core.options import INFINITE
from mf.topics._generated.mf.topics._types import Overflow, Why
from mf.topics.item import Item, Origin
from mf.topics.options import SubscriptionStats


class Beginning:
    """A source begins: its next message is `next`, and those before `live` are replayed."""

    __slots__ = ("live", "next", "origin")

    def __init__(self, origin: Origin, next_: int, live: int) -> None:
        self.origin = origin
        self.next = next_
        self.live = live


class Missing:
    """A gap: `count` messages of a source, from `first` on. `counts`: it takes the place of a message."""

    __slots__ = ("count", "counts", "first", "origin", "why")

    size = 0

    def __init__(self, origin: Origin, first: int, count: int, why: Why, *, counts: bool = True) -> None:
        self.origin = origin
        self.first = first
        self.count = count
        self.why = why
        self.counts = counts


GROWTH = 16 << 10
_ENTRY_COST = 128
"""Bytes of memory of an entry in addition to its message, about."""

Entry = Item | Missing | Beginning
_Wake = Callable[[], None]


class Inbox:
    __slots__ = (
        "_alone",
        "_bytes",
        "_drops_oldest",
        "_ended",
        "_front",
        "_gaps",
        "_grown_at",
        "_keeps_all",
        "_latest",
        "_lock",
        "_over",
        "_ready",
        "_ring",
        "_room",
        "_uncounted",
        "agents",
        "delivered",
        "dropped",
        "identity",
        "max_bytes",
        "max_messages",
        "not_kept",
        "on_growth",
        "overflow",
        "patience",
        "peer",
        "waited_for",
        "waited_since",
        "why",
    )

    def __init__(self, max_messages: int, max_bytes: int, overflow: Overflow) -> None:
        self.max_messages = max_messages
        self.max_bytes = max_bytes
        self.overflow = overflow
        self.peer = ""
        """The peer of the subscriber that reads the inbox; "" in this process."""
        self.identity = NO_IDENTITY
        self.agents = ""
        """The agents that it subscribes to, as they are shown."""
        self.patience = INFINITE
        """After so many seconds in which a publisher waits and nothing is taken, it has stalled."""
        self.delivered = 0
        self.dropped = 0
        self.not_kept = 0
        self.why: Error | None = None
        """The error that ended the inbox; None if it has not ended, or ended normally."""
        self.on_growth: _Wake | None = None
        """Called from any thread when its bytes have grown by GROWTH since `held_bytes` was called."""
        self.waited_for = overflow is Overflow.block
        """Whether publishers wait for room in it."""
        self.waited_since = 0.0
        """Since when (time.monotonic()) a publisher waits for room and nothing was taken; 0: none waits."""
        self._alone = False
        self._drops_oldest = overflow is Overflow.drop_oldest
        self._keeps_all = overflow in (Overflow.block, Overflow.disconnect)
        self._lock = Lock()
        self._front: deque[Beginning | Missing] = deque()
        """What is taken before the ring: beginnings, and gaps in the place of the oldest messages."""
        self._ring: deque[Item | Missing] = deque()
        self._latest: dict[Origin, Missing] = {}
        """Of each source the gap of what was dropped last, as long as it can grow."""
        self._bytes = 0
        self._gaps = 0  # in the ring
        self._uncounted = 0  # of these
        self._grown_at = GROWTH
        self._ended = False
        self._ready: list[_Wake] = []
        self._room: list[_Wake] = []
        self._over: list[_Wake] = []

    @property
    def queued(self) -> int:
        return len(self._ring) - self._gaps

    @property
    def queued_bytes(self) -> int:
        return self._bytes

    @property
    def ended(self) -> bool:
        """Nothing more comes into it."""
        return self._ended

    @property
    def exhausted(self) -> bool:
        """It has ended, and nothing is left in it."""
        return self._ended and not self._ring and not self._front

    def owner_text(self) -> str:
        """The subscriber as failures name it: 'at tcp://192.0.2.1:4711 for "books"'."""
        place = f"at {self.peer}" if self.peer else "in this process"
        return f'{place} for "{shortened(self.agents)}"' if self.agents else place

    def content_text(self) -> str:
        """What the inbox holds, for failures: "2 of 2 messages and 40 of 8388608 bytes"."""
        messages, size = len(self._ring) - self._uncounted, self._bytes
        return f"{messages} of {self.max_messages} messages and {size} of {self.max_bytes} bytes"

    def figures(self) -> SubscriptionStats:
        """The subscription as its publisher sees it. A publisher that ends cuts no subscription."""
        why = self.why if self.why is not None and self.why.code is not Code.SHUTTING_DOWN else None
        return SubscriptionStats(
            self.peer,
            self.agents,
            self.overflow,
            self.delivered,
            self.dropped,
            self.queued,
            self._bytes,
            why,
            self.not_kept,
        )

    def has_room(self, size: int) -> bool:
        """One message always fits into an empty inbox, and any into one that has ended."""
        count = len(self._ring) - self._uncounted
        if not count or self._ended:
            return True
        return count < self.max_messages and self._bytes + size <= self.max_bytes

    # For publishers

    def begin(self, origin: Origin, next_: int, live: int) -> None:
        """A source begins. The caller calls `wake` later."""
        with self._lock:
            if not self._ended:
                self._front.append(Beginning(origin, next_, live))

    def push(self, entry: Item | Missing, *, kept: bool = False) -> bool:
        """`kept`: the message is replayed; its publisher holds it in memory anyway, so an inbox whose policy
        drops nothing takes it beyond the limits. Returns whether `wake` has to be called."""
        with self._lock:
            if self._ended:
                return False
            if isinstance(entry, Missing):
                self.not_kept += entry.count if entry.why is Why.not_kept else 0
                if self._extends_last(entry):
                    return bool(self._ready)
            if (
                not self.has_room(entry.size)
                and not (kept and self._keeps_all)
                and not self._make_room(entry)
            ):
                return self._ended or bool(self._ready)
            if self._latest and not self._drops_oldest:
                self._latest.pop(entry.origin, None)  # what is dropped later comes behind this entry
            self._gaps += isinstance(entry, Missing)
            self._bytes += entry.size
            self._ring.append(entry)
            return bool(self._ready) or self._has_grown()

    def end(self, why: Error | None) -> None:
        """Ends the inbox. Entries that are in it can still be taken."""
        with self._lock:
            if self._ended:
                return
            self._ended = True
            self.why = why
        self.look_again()
        self.wake()

    def close(self) -> None:
        """Ends the inbox and drops what is in it."""
        with self._lock:
            self._ended = True
            self.dropped += self.queued
            self._front.clear()
            self._ring.clear()
            self._latest.clear()
            self._bytes = self._gaps = self._uncounted = 0
        self.look_again()
        self.wake()

    def after_fork(self, why: Error) -> None:
        """Ends, in a child, an inbox that only threads of the parent fill."""
        self._lock = Lock()
        self._ready, self._room, self._over = [], [], []
        self._ended = True
        self.why = why

    def wake(self) -> None:
        """Calls the `when_ready` callbacks if there is something to take, and `on_growth` if it is due."""
        with self._lock:
            if self._is_silent():
                return
            grown = self.on_growth if self._has_grown() else None
            if grown is not None:
                self._grown_at += GROWTH
            calls, self._ready = self._ready, []
            if self._ended:
                calls += self._over
                self._over = []
        for each in calls:
            each()
        if grown is not None:
            grown()

    # For publishers that wait for room

    def stay_alone(self, alone: bool) -> None:
        """Whether it is the only one of its client's board: then publishers wait for it, whatever its policy
        is, and as long as it takes."""
        self._alone = alone
        self.waited_for = alone or self.overflow is Overflow.block
        self.waited_since = 0.0
        self.look_again()

    def give_way(self) -> None:
        """It is not waited for until something is taken: meanwhile it misses what finds no room."""
        self.waited_for = False

    def stalls_at(self) -> float:
        """The time.monotonic() at which it has stalled, if a publisher waits for room from now on."""
        return INFINITE if self._alone else (self.waited_since or monotonic()) + self.patience

    def when_room(self, size: int, room: _Wake) -> None:
        """Calls `room` once something was taken, or at once if there is room."""
        with self._lock:
            if not self.has_room(size):
                self._room.append(room)
                self.waited_since = self.waited_since or monotonic()
                return
        room()

    def look_again(self) -> None:
        """Calls the `when_room` callbacks, because room may not be needed any more."""
        with self._lock:
            room, self._room = self._room, []
        for each in room:
            each()

    # For the subscriber

    def held_bytes(self) -> int:
        """The memory of what is queued, which its server charges to the client."""
        held = self._cost()
        self._grown_at = held + GROWTH
        return held

    def take(self) -> Entry | None:
        """The next entry, or None if there is none now."""
        with self._lock:
            entry: Entry
            if self._front:
                entry = self._front.popleft()
            elif self._ring:
                entry = self._pop()
                self.delivered += isinstance(entry, Item)
            else:
                return None
            if self._latest and self._latest.get(entry.origin) is entry:
                del self._latest[entry.origin]
            if not self.waited_since:
                return entry
            self.waited_since = 0.0
            self.waited_for = self._alone or self.overflow is Overflow.block
        self.look_again()
        return entry

    def when_ready(self, ready: _Wake) -> None:
        """Calls `ready` once there is something to take, or the inbox has ended, possibly at once."""
        with self._lock:
            if self._is_silent():
                self._ready.append(ready)
                return
        ready()

    def when_ended(self, over: _Wake) -> None:
        """Calls `over` once the inbox has ended, possibly at once."""
        with self._lock:
            if not self._ended:
                self._over.append(over)
                return
        over()

    def forget(self, call: _Wake) -> None:
        """Unregisters a callback of `when_room`, `when_ready` or `when_ended`."""
        with self._lock:
            for calls in (self._room, self._ready, self._over):
                if call in calls:
                    calls.remove(call)

    def count_undeliverable(self) -> None:
        """Counts the message that was taken last as dropped, because it cannot be sent."""
        with self._lock:
            self.delivered -= 1
            self.dropped += 1

    # Under the lock

    def _cost(self) -> int:
        return self._bytes + _ENTRY_COST * len(self._ring)

    def _has_grown(self) -> bool:
        return self.on_growth is not None and self._cost() >= self._grown_at

    def _is_silent(self) -> bool:
        return not (self._ring or self._front or self._ended)

    def _pop(self) -> Item | Missing:
        entry = self._ring.popleft()
        self._bytes -= entry.size
        if isinstance(entry, Missing):
            self._gaps -= 1
            self._uncounted -= not entry.counts
        return entry

    def _extends_last(self, gap: Missing) -> bool:
        """A gap that goes on where the last entry ends, for the same reason, becomes part of that."""
        last = self._ring[-1] if self._ring else None
        if not isinstance(last, Missing) or (last.origin, last.why) != (gap.origin, gap.why):
            return False
        if last.first + last.count != gap.first:
            return False
        if last.counts:  # other inboxes may have it, too
            self._ring[-1] = Missing(last.origin, last.first, last.count + gap.count, last.why)
        else:
            last.count += gap.count
        return True

    def _make_room(self, entry: Item | Missing) -> bool:
        """Applies the overflow policy. False: the entry is not queued."""
        if self.overflow is Overflow.disconnect:
            self._disconnect()  # before this entry, which it has not dropped
            return False
        if not self._drops_oldest:  # also an inbox that blocks, if no caller waits for it
            self._drop(entry)
            return False
        while not self.has_room(entry.size):
            self._drop(self._pop())
        return True

    def _disconnect(self) -> None:
        self._ended = True
        text = (
            f"the subscriber does not keep up: its queue of {self.max_messages} messages and "
            f"{self.max_bytes} bytes is full, and it asked to be disconnected then"
        )
        self.why = not_executed(Code.OVERLOADED, text)

    def _drop(self, entry: Item | Missing) -> None:
        """Makes the entry part of the latest gap of its source. A gap of another reason is one of its own,
        unless there are many already: then all of both count as dropped."""
        if isinstance(entry, Missing):
            first, count, why = entry.first, entry.count, entry.why
        else:
            first, count, why = entry.sequence, 1, Why.dropped
            self.dropped += 1
        place: deque[Any] = self._front if self._drops_oldest else self._ring
        gap = self._latest.get(entry.origin)
        if gap is None or (gap.why is not why and len(place) < self.max_messages):
            gap = self._latest[entry.origin] = Missing(entry.origin, first, 0, why, counts=False)
            place.append(gap)
            if place is self._ring:
                self._gaps += 1
                self._uncounted += 1
        elif gap.why is not why:
            for each, of in ((gap.why, gap.count), (why, count)):
                self.dropped += of if each is not Why.dropped else 0
                self.not_kept -= of if each is Why.not_kept else 0
            gap.why = Why.dropped
        gap.count += count
