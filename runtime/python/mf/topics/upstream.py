"""R6. What comes from other processes for one subscription of a client: what is known of each publisher and
agent, which stream (feed.py) speaks for a publisher, and the board that the subscribers share which want the
same. A message is one item for all of them, decoded once.

It is used on the loop of its client, except by waiters and for figures."""

from asyncio import Task
from collections.abc import Callable, Coroutine, Iterable
from sys import maxsize
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from mf.core.error import Error
from mf.core.service import Payload
from mf.link.background import spawn
from mf.topics._generated.mf.topics._types import (
    MOST_POSITIONS,
    Message,
    Missed,
    Overflow,
    Position,
    Subscription,
    Why,
)
from mf.topics._generated.mf.topics._types import Source as Announcement
from mf.topics.board import Board
from mf.topics.count_waits import CountWaits
from mf.topics.inbox import Inbox, Missing
from mf.topics.info import AnyTopic
from mf.topics.item import Counters, Item, Origin
from mf.topics.options import TopicsOptions
from mf.topics.source import Request, Source

_MOST_FAILURES, _LONGEST_FAILURE = 3, 300
"""How many unreachable publishers the failure of a wait for a message names."""
_MOST_KEPT = 64 << 20
"""The bytes that are kept of all publishers and agents for subscribers that come later."""
_MOST_SOURCES = 65_536
"""The most pairs of publisher and agent that are remembered; a forgotten one is treated as new."""
_Adapt = Callable[[bytes], Payload]


class Stream(Protocol):
    """The streams to one publisher, one after another (feed.py)."""

    def stand_in(self) -> None:
        """A publisher that it waits for is free."""


class Sharing(Protocol):
    """A subscriber."""

    inbox: Inbox
    publishers: CountWaits

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
        options = TopicsOptions(stall_timeout=wanted.stall_timeout, max_subscriptions=maxsize)
        self.board = Board(wanted.topic.name, options, shares=True, most_kept=_MOST_KEPT)
        self.owners: dict[UUID, _Owner] = {}
        self.failures: dict[str, str] = {}
        """Why the latest attempt at a publisher has failed, by its key."""
        self.trouble = ""
        """Why the publishers are not known."""
        self.publishers = CountWaits()
        """That a stream names now: the peers of streams, or those behind relays."""
        self.duplicates = 0
        self.cut = 0
        self._table = table
        self._sharing: dict[Sharing, None] = {}
        self._counters = Counters()
        self._task: Task[None] | None = None

    # For any thread

    def silence(self) -> str:
        """Why no message comes, as Receiver.silence() says it."""
        failures = list(self.failures.values())
        if failures:
            more = len(failures) - _MOST_FAILURES
            shown = "; ".join(failures[:_MOST_FAILURES])
            return f": {shown}" + (f"; and so with {more} more" if more > 0 else "")
        if self.publishers.count:
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
        }

    # Its subscribers

    def begin(self, streams: Coroutine[Any, Any, None]) -> None:
        self._task = spawn(streams)

    def join(self, subscriber: Sharing) -> None:
        subscriber.publishers = self.publishers
        self.board.attach(subscriber.inbox, Request(self.wanted.agents, self.wanted.replay))
        self._sharing[subscriber] = None

    def leave(self, subscriber: Sharing) -> None:
        self.board.detach(subscriber.inbox)
        self._sharing.pop(subscriber, None)
        if not self._sharing:
            self._forget()
            self._stop()

    def end(self, why: Error) -> None:
        """Ends the streams of all publishers, too: what they send would find inboxes that take no more."""
        self.end_inboxes(why)
        self._stop()

    def end_inboxes(self, why: Error) -> None:
        """Nothing more comes; later subscribers have another upstream."""
        self._forget()
        self.board.end(why)

    def _forget(self) -> None:
        if self._table.get(self.wanted) is self:
            del self._table[self.wanted]

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    # Its streams

    def failed(self, key: str, why: str) -> None:
        """The latest attempt at a publisher has failed."""
        self.failures[key] = why if len(why) <= _LONGEST_FAILURE else why[:_LONGEST_FAILURE] + "…"

    def _count(self, by: int) -> None:
        """A publisher is named by a stream (`by` 1), or by none any more (`by` -1)."""
        publishers = self.publishers.change(by)
        for each in list(self._sharing):
            each.changed(by, publishers)

    def subscription(self) -> Subscription:
        latest = list(self.board.sources.values())[-MOST_POSITIONS:]
        wanted = self.wanted
        return Subscription(
            agents=wanted.agents,
            overflow=wanted.overflow,
            max_messages=wanted.max_messages,
            max_bytes=wanted.max_bytes,
            replay=wanted.replay,
            seen=[Position(each.origin.publisher, each.origin.agent, each.next - 1) for each in latest],
        )

    def source(self, announcement: Announcement) -> Source:
        """The source that a stream announces. `resume` follows."""
        key = announcement.publisher, announcement.agent
        sources = self.board.sources
        source = sources.pop(key, None)
        if source is not None:
            sources[key] = source  # the last, as the most recent
            return source
        if len(sources) >= _MOST_SOURCES:  # the oldest is usually of a publisher that has gone
            sources.pop(next(iter(sources))).forget_kept()
        origin = Origin(self.topic, announcement.agent, announcement.publisher, self._counters)
        return self.board.add(key, origin, min(announcement.keep, self.wanted.replay), announcement.next)

    def resume(self, source: Source, announcement: Announcement) -> Inbox | None:
        """The numbers that the announcement skips are missed. Returns as `message` does."""
        if announcement.next > source.next:
            full = self._skip(source, announcement.next, Why.not_kept)
            if full is not None:
                return full
        source.live = announcement.live
        return None

    def claims(self, publisher: UUID, stream: Stream) -> bool:
        """Whether the stream may speak for it; if not, it waits."""
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

    def forget(self, sources: Iterable[Source]) -> None:
        """Forgets those of which nothing has come: their publisher has broken the protocol."""
        for each in sources:
            key = each.origin.publisher, each.origin.agent
            if each.next == each.first and self.board.sources.get(key) is each:
                del self.board.sources[key]

    def message(self, source: Source, message: Message, adapt: _Adapt | None = None) -> Inbox | None:
        """Hands a message on; or returns an inbox that is waited for and has no room: then it is to be called
        again once there is room."""
        if message.sequence < source.next:
            self.duplicates += 1
            return None
        full = None
        if message.sequence > source.next:  # a gap that the publisher has not reported
            full = self._skip(source, message.sequence, Why.upstream)
        return full or source.publish(
            Item(
                source.origin,
                message.time,
                payload=bytes(message.payload),
                sequence=message.sequence,
                adapt=adapt,
            )
        )

    def gap(self, source: Source, missed: Missed) -> Inbox | None:
        """The same for what a publisher reports as missed."""
        end = missed.first + missed.count
        if end <= source.next:
            return None
        full = self._skip(source, missed.first, Why.upstream) if missed.first > source.next else None
        return full or self._skip(source, end, missed.why)

    def _skip(self, source: Source, until: int, why: Why) -> Inbox | None:
        return source.publish(Missing(source.origin, source.next, until - source.next, why))


def _stand_in(owner: _Owner) -> None:
    for each in owner.standing_by:
        each.stand_in()
