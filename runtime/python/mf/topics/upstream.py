"""R6. What the subscribers of a client share that want the same: the streams to all publishers of a topic
(feed.py), and what comes of them. A message is one item for all of them, decoded once, and each subscriber
has a queue of its own.

A subscriber that is alone is waited for: while its queue is full no stream is read, so that the publishers'
queues fill and their overflow policies act. Of several, those that block are waited for, unless they take
nothing for `stall_timeout`; the policy of the others acts on their own queues.

It is used on the loop of its client, except by waiters and for figures."""

from asyncio import Task
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from mf.core.error import Error
from mf.core.gate import LoopGate, until_called
from mf.core.log import info
from mf.core.options import INFINITE
from mf.link.background import spawn
from mf.protocol.other_schema import TopicValue
from mf.topics._generated.mf.topics._types import (
    MOST_POSITIONS,
    Message,
    Missed,
    Overflow,
    Position,
    Source,
    Subscription,
    Why,
)
from mf.topics.info import AnyTopic
from mf.topics.item import Counters, Item, Origin
from mf.topics.options import TopicsOptions
from mf.topics.queue import Queue

_MOST_FAILURES, _LONGEST_FAILURE = 3, 300
"""How many unreachable publishers the failure of a wait for a message names."""
_MOST_KEPT = 64 << 20
"""The bytes that are kept of all publishers and agents for subscribers that come later."""
_MOST_SEEN = 65_536
"""The most pairs of publisher and agent that are remembered; a forgotten one is treated as new."""


class Stream(Protocol):
    """The streams to one publisher, one after another (feed.py)."""

    def stand_in(self) -> None:
        """A publisher for which it stands by is free."""


class Sharing(Protocol):
    """A subscriber. `gives_way`: it has stalled the others, and is not waited for until it has room again."""

    queue: Queue
    gives_way: bool

    def changed(self, by: int, publishers: int) -> None:
        """A publisher was found (`by` 1) or lost (-1)."""


class _Owner:
    """The stream that has named a publisher, until it gives it up. `names`: how many of its sources are that
    publisher's."""

    __slots__ = ("names", "standing_by", "stream")

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.names = 0
        self.standing_by: set[Stream] = set()


class Seen:
    """The state of one publisher and agent. `first`, `next`: the first and the next expected sequence number;
    those before `live` are replayed. `number`: its source number in all queues. `kept`: the last messages,
    for subscribers that come later. `adapt`: converts its values, if it has another schema."""

    __slots__ = ("adapt", "first", "keep", "kept", "kept_bytes", "live", "next", "number", "origin")

    def __init__(self, origin: Origin, number: int, source: Source, keep: int) -> None:
        self.adapt: TopicValue | None = None
        self.origin = origin
        self.number = number
        self.first = self.next = source.next
        self.live = source.live
        self.keep = keep
        self.kept: deque[Item] = deque()
        self.kept_bytes = 0


class Wanted(NamedTuple):
    """What subscribers must have in common to share an upstream."""

    topic: AnyTopic
    agents: str
    overflow: Overflow
    max_messages: int
    max_bytes: int
    replay: int
    stall_timeout: float


class Upstream:
    def __init__(self, wanted: Wanted, table: dict[Any, Any]) -> None:
        self.wanted = wanted
        self.topic = wanted.topic
        self.seen: dict[tuple[UUID, str], Seen] = {}
        self.owners: dict[UUID, _Owner] = {}
        self.failures: dict[str, str] = {}
        """Why the latest attempt at a publisher has failed, by its key."""
        self.trouble = ""
        """Why the publishers are not known."""
        self.publishers = 0
        """That a stream names now: the peers of streams, or those behind relays."""
        self.duplicates = 0
        self.cut = 0
        self._table = table
        self._inboxes: list[Sharing] = []
        self._sources = 0  # that have been numbered
        self._kept_bytes = 0
        self._counters = Counters()
        self._waiting = Lock()
        self._waiters: list[tuple[int, Callable[[], None]]] = []
        self._task: Task[None] | None = None

    # For any thread

    def await_publishers(self, count: int, wake: Callable[[], None]) -> None:
        with self._waiting:
            if self.publishers < count:
                self._waiters.append((count, wake))
                return
        wake()

    def forget_waiter(self, wake: Callable[[], None]) -> None:
        with self._waiting:
            self._waiters = [each for each in self._waiters if each[1] is not wake]

    def silence(self) -> str:
        """Why no message comes, as Inbox.silence() says it."""
        failures = list(self.failures.values())
        if failures:
            more = len(failures) - _MOST_FAILURES
            shown = "; ".join(failures[:_MOST_FAILURES])
            return f": {shown}" + (f"; and so with {more} more" if more > 0 else "")
        if self.publishers:
            return ""
        return ": no publisher of it was found" + (f" ({self.trouble})" if self.trouble else "")

    def figures(self) -> dict[str, int]:
        """Those of all subscribers that share it."""
        counters = self._counters
        return {
            "duplicates": self.duplicates,
            "cut": self.cut,
            "undecodable": counters.undecodable,
            "decoded": counters.decoded,
            "copied": counters.copied,
            "publishers": self.publishers,
        }

    # Its subscribers

    def begin(self, streams: Coroutine[Any, Any, None]) -> None:
        self._task = spawn(streams)

    def join(self, inbox: Sharing) -> None:
        for seen in self.seen.values():
            for item in seen.kept:
                inbox.queue.push(item, seen.number, kept=True)
        self._inboxes.append(inbox)
        for each in self._inboxes:  # one that was alone is not waited for any more
            each.queue.look_again()

    def leave(self, inbox: Sharing) -> None:
        if inbox in self._inboxes:
            self._inboxes.remove(inbox)
        if not self._inboxes:
            self._forget()
            self._stop()

    def end(self, why: Error) -> None:
        """Ends the streams of all publishers, too: whatever they send would find queues that take no more."""
        self.end_queues(why)
        self._stop()

    def end_queues(self, why: Error) -> None:
        """Nothing more comes; later subscribers have another upstream."""
        self._forget()
        for inbox in self._inboxes:
            inbox.queue.end(why)

    def _forget(self) -> None:
        if self._table.get(self.wanted) is self:
            del self._table[self.wanted]

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def room(self, size: int) -> None:
        """Waits until all subscribers that are waited for have room."""
        while (full := self._full(size)) is not None:
            queue = full.queue
            taken, alone = queue.delivered, len(self._inboxes) == 1
            until = INFINITE if alone else monotonic() + self.wanted.stall_timeout
            had_room = await until_called(LoopGate, partial(queue.when_room, size), queue.forget_room, until)
            if not had_room and len(self._inboxes) > 1 and queue.delivered == taken:
                full.gives_way = True
                text = "a subscriber of %s takes nothing while others wait: it misses what finds no room"
                info(text, self.topic.name)

    def _full(self, size: int) -> Sharing | None:
        alone = len(self._inboxes) == 1
        for inbox in self._inboxes:
            if inbox.queue.has_room(size):
                inbox.gives_way = False
            elif alone or (inbox.queue.blocks and not inbox.gives_way):
                return inbox
        return None

    def wake(self) -> None:
        for inbox in self._inboxes:
            inbox.queue.wake()

    # Its streams

    def failed(self, key: str, why: str) -> None:
        """The latest attempt at a publisher has failed."""
        self.failures[key] = why if len(why) <= _LONGEST_FAILURE else why[:_LONGEST_FAILURE] + "…"

    def _count(self, by: int) -> None:
        """A publisher is named by a stream (`by` 1), or by none any more (`by` -1)."""
        with self._waiting:
            self.publishers += by
            ready = [wake for count, wake in self._waiters if count <= self.publishers]
            self._waiters = [each for each in self._waiters if each[0] > self.publishers]
        for wake in ready:
            wake()
        for inbox in list(self._inboxes):
            inbox.changed(by, self.publishers)

    def subscription(self) -> Subscription:
        latest = list(self.seen.items())[-MOST_POSITIONS:]
        wanted = self.wanted
        return Subscription(
            agents=wanted.agents,
            overflow=wanted.overflow,
            max_messages=wanted.max_messages,
            max_bytes=wanted.max_bytes,
            replay=wanted.replay,
            seen=[Position(publisher, agent, seen.next - 1) for (publisher, agent), seen in latest],
        )

    def source(self, source: Source, adapt: TopicValue | None = None) -> Seen:
        """Handles a source that a stream names. If it is known, the numbers that it skips are missed."""
        key = source.publisher, source.agent
        seen = self.seen.pop(key, None)
        if seen is None:
            if len(self.seen) >= _MOST_SEEN:  # the oldest is usually of a publisher that has gone
                self.ended(self.seen.pop(next(iter(self.seen))))
            origin = Origin(self.topic, source.agent, source.publisher, self._counters)
            seen = Seen(origin, self._sources, source, min(source.keep, self.wanted.replay))
            self._sources += 1
        elif source.next > seen.next:
            self._skip(seen, source.next, Why.not_kept)
        seen.live = source.live
        seen.adapt = adapt
        self.seen[key] = seen  # moves it to the end, as the most recent
        return seen

    def claims(self, publisher: UUID, stream: Stream) -> bool:
        """Whether the stream may speak for it; if not, it stands by."""
        owner = self.owners.get(publisher)
        if owner is None:
            owner = self.owners[publisher] = _Owner(stream)
        if owner.stream is not stream:
            owner.standing_by.add(stream)
            return False
        owner.names += 1
        if owner.names == 1:
            self._count(1)
        return True

    def lose(self, publisher: UUID) -> None:
        """A source is gone with its stream, which may come back to it."""
        owner = self.owners[publisher]
        owner.names -= 1
        if not owner.names:
            self._count(-1)

    def release(self, publisher: UUID) -> None:
        """A source is gone for good."""
        self.lose(publisher)
        if not self.owners[publisher].names:
            _stand_in(self.owners.pop(publisher))

    def give_up(self, stream: Stream, but: UUID | None = None) -> None:
        """The stream lives no more, or has come back and named `but` first: others may stand in for what it
        had."""
        owners = self.owners
        for publisher in [each for each, owner in owners.items() if owner.stream is stream]:
            if publisher != but and not owners[publisher].names:
                _stand_in(owners.pop(publisher))

    def forget(self, sources: Iterable[Seen]) -> None:
        """Forgets those of which nothing has come: their publisher has broken the protocol."""
        for each in sources:
            key = each.origin.publisher, each.origin.agent
            if each.next == each.first and self.seen.get(key) is each:
                del self.seen[key]

    def message(self, seen: Seen, message: Message) -> None:
        if message.sequence < seen.next:
            self.duplicates += 1
            return
        if message.sequence > seen.next:  # a gap that the publisher has not reported
            self._skip(seen, message.sequence, Why.upstream)
        item = Item(
            seen.origin,
            message.time,
            payload=bytes(message.payload),
            sequence=message.sequence,
            adapt=seen.adapt,
        )
        seen.next = message.sequence + 1
        kept = message.sequence < seen.live
        for inbox in self._inboxes:
            inbox.queue.push(item, seen.number, kept=kept)
        if seen.keep:
            self._keep(seen, item)

    def gap(self, seen: Seen, missed: Missed) -> None:
        end = missed.first + missed.count
        if end <= seen.next:
            return
        if missed.first > seen.next:
            self._skip(seen, missed.first, Why.upstream)
        self._skip(seen, end, missed.why)

    def ended(self, seen: Seen) -> None:
        """Nothing more comes of it, as far as is known: what was kept of it is dropped."""
        self._kept_bytes -= seen.kept_bytes
        seen.kept_bytes = 0
        seen.kept.clear()

    def _skip(self, seen: Seen, until: int, why: Why) -> None:
        self.ended(seen)  # what is kept has no holes
        for inbox in self._inboxes:
            inbox.queue.push_gap(seen.origin, seen.number, seen.next, until - seen.next, why)
        seen.next = until

    def _keep(self, seen: Seen, item: Item) -> None:
        seen.kept.append(item)
        seen.kept_bytes += item.size
        self._kept_bytes += item.size
        most = TopicsOptions().keep_bytes
        while seen.kept and (
            len(seen.kept) > seen.keep
            or (seen.kept_bytes > most and len(seen.kept) > 1)
            or self._kept_bytes > _MOST_KEPT
        ):
            size = seen.kept.popleft().size
            seen.kept_bytes -= size
            self._kept_bytes -= size


def _stand_in(owner: _Owner) -> None:
    for each in owner.standing_by:
        each.stand_in()
