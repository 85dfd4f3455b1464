"""R6. One topic and agent as this process publishes it: it numbers the messages, passes them to the queues of
subscriptions, and keeps the latest for later subscribers.

Threads: any number may publish. A message is numbered and pushed to all queues under one lock, so that all
subscribers see the same order; values are encoded before that lock is taken, and subscribers are woken after
it is released. The publisher calls `attempt`, and waits for room in the queue it returns, in a thread or
task."""

from collections import deque
from threading import Lock
from time import monotonic
from typing import NamedTuple, Protocol

from mf.core.error import Code, Error, not_executed
from mf.topics._generated.mf.topics._types import Why
from mf.topics.item import Item, Origin
from mf.topics.options import AgentStats, TopicsOptions
from mf.topics.queue import Queue


def closed(topic: str) -> Error:
    text = f"the topics of this process have been closed: nothing of {topic} is published any more"
    return not_executed(Code.SHUTTING_DOWN, text)


class Home(Protocol):
    """The part of the hub (hub.py) that an outlet uses."""

    options: TopicsOptions
    offered: bool


class Since(NamedTuple):
    """Which earlier messages a subscriber wants. `seen`: the number of the last message that it has."""

    replay: int
    seen: int | None = None


class _Match(NamedTuple):
    queue: Queue
    source: int
    remote: bool


class Outlet:
    __slots__ = (
        "_blocking",
        "_closed",
        "_home",
        "_keep_bytes",
        "_kept",
        "_kept_bytes",
        "_lock",
        "_matches",
        "_next",
        "_pushed",
        "_remote",
        "origin",
        "stall_timeout",
    )

    def __init__(self, origin: Origin, home: Home) -> None:
        self.origin = origin
        self.stall_timeout = home.options.stall_timeout
        self._home = home
        self._keep_bytes = home.options.keep_bytes
        self._lock = Lock()
        self._matches: dict[Queue, _Match] = {}
        self._pushed: tuple[_Match, ...] | None = ()
        """All matches, through which publishers iterate without the lock; None: the tuple has to be made
        anew."""
        self._remote = 0
        self._blocking = 0
        self._next = 1
        self._closed = False
        self._kept: deque[Item] = deque()
        self._kept_bytes = 0

    def prepare(self, item: Item) -> None:
        """Encodes the value if a remote subscriber needs it, or may need it later since it is kept. Called
        before any lock is taken. Raises Error if it cannot be encoded."""
        if self._remote or (self._home.offered and self.origin.topic.replay):
            item.size = len(item.payload())

    def attempt(self, item: Item) -> Queue | None:
        """Numbers a message and pushes it to all queues; or returns a blocking queue that has no room. Raises
        SHUTTING_DOWN after `close`."""
        with self._lock:
            if self._closed:
                raise closed(self.origin.topic.name)
            if self._blocking and (full := self._reserve(item.size)) is not None:
                return full
            item.sequence = self._next
            self._next += 1
            matches = self._pushed
            if matches is None:
                matches = self._pushed = tuple(self._matches.values())
            for queue, source, _ in matches:
                queue.push(item, source, reserved=queue.blocks)
            if self.origin.topic.replay:
                self._keep(item)
        for match in matches:
            match.queue.wake()
        return None

    def stalls_at(self, queue: Queue) -> float | None:
        """The time.monotonic() at which a stalled remote queue is ended; None for a queue of this process."""
        match = self._matches.get(queue)
        if match is not None and match.remote:
            return (queue.waited_since or monotonic()) + self.stall_timeout
        return None

    def cut(self, queue: Queue) -> None:
        """Ends a queue that has stalled."""
        text = (
            f"the subscriber has taken nothing for {self.stall_timeout * 1000:.0f} ms while the publisher "
            "waited for room in its queue"
        )
        queue.end(not_executed(Code.OVERLOADED, text))

    def no_room(self, queue: Queue) -> Error:
        text = (
            f"the subscriber of {self.origin.topic.name} {queue.owner_text()}, which blocks, has had no room "
            f"until the deadline: its queue holds {queue.content_text()}"
        )
        return not_executed(Code.DEADLINE_EXCEEDED, text)

    def attach(self, queue: Queue, since: Since, *, remote: bool) -> None:
        with self._lock:
            kept_from = self._next - len(self._kept)
            first = self._next - min(since.replay, len(self._kept))
            if since.seen is not None:
                first = min(since.seen, self._next - 1) + 1
            source = queue.add_source(self.origin, first, self._next)
            if first < kept_from:
                queue.push_missed(self.origin, source, first, kept_from - first, Why.not_kept)
                first = kept_from
            for at in range(first - kept_from, len(self._kept)):
                queue.push(self._kept[at], source, kept=True)
            self._matches[queue] = _Match(queue, source, remote)
            self._pushed = None
            self._remote += remote
            self._blocking += queue.blocks
        queue.wake()

    def detach(self, queue: Queue) -> None:
        with self._lock:
            match = self._matches.pop(queue, None)
            if match is None:
                return
            self._pushed = None
            self._remote -= match.remote
            self._blocking -= queue.blocks

    def close(self) -> None:
        """Makes every later `attempt` fail."""
        with self._lock:
            self._closed = True

    def stats(self) -> AgentStats:
        with self._lock:
            return AgentStats(self.origin.shown, self._next - 1, len(self._kept))

    def _reserve(self, size: int) -> Queue | None:
        """Reserves room in all blocking queues, or in none; then it returns the first that is full."""
        reserved: list[Queue] = []
        for queue in self._matches:
            if not queue.blocks:
                continue
            if not queue.reserve(size):
                for each in reserved:
                    each.unreserve(size)
                return queue
            reserved.append(queue)
        return None

    def _keep(self, item: Item) -> None:
        kept, most = self._kept, self.origin.topic.replay
        kept.append(item)
        self._kept_bytes += item.size
        while len(kept) > most or (self._kept_bytes > self._keep_bytes and len(kept) > 1):
            self._kept_bytes -= kept.popleft().size
