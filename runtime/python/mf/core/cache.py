"""R0. The cached results of one method at a client, and its calls in progress. No lock, no clock, no thread:
its owner (mf.core.cached) locks it and passes the time.

A key is the agent's text and the encoded request. One of several equal calls leads and makes a request; the
others wait for it: together they are a flight, which ends in one of these ways.

    land       the leader got an answer: it is kept, and the waiting calls get it, too
    fail       the leader got none: the first waiting call leads now, the others continue to wait
    fail       ... and no call waits: the flight is over

An entry that is forgotten during a flight stays forgotten: that flight takes no more callers, and its answer
is not kept. The least recently used entries are dropped when there are too many, or too many bytes.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Protocol

from mf.core.service import CacheInfo

Key = tuple[str, bytes]

ENTRY_BYTES = 256
"""The bytes that an entry counts beside its contents."""


@dataclass(frozen=True, slots=True)
class CacheStats:
    """Counts of one method at one client. `hits`: calls without a request of their own; `misses`: calls that
    made one. `bytes`: of agents, requests and results, and 256 for each entry. `evictions`: entries dropped
    for lack of room."""

    hits: int
    misses: int
    entries: int
    bytes: int
    evictions: int


class Kept:
    """An encoded answer. `error`: the index of the declared error; -1: it is a result."""

    __slots__ = ("error", "payload")

    def __init__(self, payload: bytes, error: int = -1) -> None:
        self.payload = payload
        self.error = error


class Waiter(Protocol):
    """A call that waits for an equal one. Its functions are called without the lock."""

    def wake(self, kept: Kept | None) -> bool:
        """Called with the answer, or None: the call leads from now on. False: the call has ended and cannot
        lead."""


class Flight:
    """Equal calls in progress. `leader`: the leading call, if it has waited before. `place`: see
    Cache.lead."""

    __slots__ = ("forgotten", "key", "leader", "place", "waiters")

    def __init__(self, key: Key, place: object) -> None:
        self.key = key
        self.place = place
        self.leader: Waiter | None = None
        self.waiters: deque[Waiter] = deque()
        self.forgotten = False


class _Entry:
    __slots__ = ("expires", "kept", "size")

    def __init__(self, kept: Kept, size: int, expires: float) -> None:
        self.kept = kept
        self.size = size
        self.expires = expires


class Cache:
    """See above."""

    __slots__ = ("_bytes", "_entries", "_evictions", "_flights", "_hits", "_info", "_misses")

    def __init__(self, info: CacheInfo) -> None:
        self._info = info
        self._entries: OrderedDict[Key, _Entry] = OrderedDict()
        self._flights: dict[Key, Flight] = {}
        self._bytes = self._hits = self._misses = self._evictions = 0

    def find(self, key: Key, now: float) -> Kept | None:
        """The kept answer; counts a hit."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        if entry.expires <= now:
            self._drop(key)
            return None
        self._entries.move_to_end(key)
        self._hits += 1
        return entry.kept

    # Flights

    def under_way(self, key: Key) -> Flight | None:
        return self._flights.get(key)

    def lead(self, key: Key, place: object) -> Flight:
        """Starts a flight, which the caller leads. `place`: where it leads, for callers that must not wait
        there."""
        self._misses += 1
        flight = self._flights[key] = Flight(key, place)
        return flight

    def land(self, flight: Flight, kept: Kept, now: float, *, keep: bool) -> list[Waiter]:
        """The leader got an answer. Returns the calls to wake with it. `keep`: whether the answer may be
        kept."""
        self._over(flight)
        if keep and not flight.forgotten:
            self._store(flight.key, kept, now)
        waiters = list(flight.waiters)
        flight.waiters.clear()
        self._hits += len(waiters)
        return waiters

    def fail(self, flight: Flight) -> Waiter | None:
        """The leader got no answer. Returns the call to wake, which leads from now on."""
        if not flight.waiters:
            self._over(flight)
            return None
        flight.leader = flight.waiters.popleft()
        self._misses += 1
        return flight.leader

    def leave(self, flight: Flight, waiter: Waiter) -> bool:
        """A call stops waiting. True: it leads by now, so its flight must land or fail."""
        if waiter in flight.waiters:
            flight.waiters.remove(waiter)
            return False
        return flight.leader is waiter

    def _over(self, flight: Flight) -> None:
        if self._flights.get(flight.key) is flight:
            del self._flights[flight.key]

    # What is kept

    def forget(self, key: Key) -> None:
        if key in self._entries:
            self._drop(key)
        self._detach(key)

    def forget_agent(self, agent: str) -> None:
        for key in [key for key in self._entries if key[0] == agent]:
            self._drop(key)
        for key in [key for key in self._flights if key[0] == agent]:
            self._detach(key)

    def forget_all(self) -> None:
        self._entries.clear()
        self._bytes = 0
        for key in list(self._flights):
            self._detach(key)

    def stats(self) -> CacheStats:
        return CacheStats(self._hits, self._misses, len(self._entries), self._bytes, self._evictions)

    def _store(self, key: Key, kept: Kept, now: float) -> None:
        info = self._info
        size = len(key[0].encode()) + len(key[1]) + len(kept.payload) + ENTRY_BYTES
        if key in self._entries:
            self._drop(key)
        if size > info.max_bytes:
            return
        self._entries[key] = _Entry(kept, size, float("inf") if info.ttl is None else now + info.ttl)
        self._bytes += size
        while len(self._entries) > info.entries or self._bytes > info.max_bytes:
            _, entry = self._entries.popitem(last=False)
            self._bytes -= entry.size
            self._evictions += 1

    def _drop(self, key: Key) -> None:
        self._bytes -= self._entries.pop(key).size

    def _detach(self, key: Key) -> None:
        flight = self._flights.pop(key, None)
        if flight is not None:
            flight.forgotten = True
