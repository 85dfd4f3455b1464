"""R6. A source of messages on a board (board.py): one publisher and agent, of this process or elsewhere. It
numbers the messages of its own publisher, passes messages to the inboxes of subscriptions, and keeps the
latest for later subscribers.

Threads: any number may publish. A message is numbered and put into all inboxes under the lock of the board,
so that all subscribers see the same order; values are encoded before that lock is taken, and subscribers are
woken after it is released. The publisher calls `publish`, and waits for room (Board.room) in the inbox that
it returns.
"""

from collections import deque
from collections.abc import Callable, Mapping
from itertools import islice
from threading import Lock
from types import MappingProxyType
from typing import NamedTuple

from mf.core.error import Code, Error, not_executed
from mf.core.identity import Identity
from mf.topics._generated.mf.topics._types import Why
from mf.topics.inbox import Inbox, Missing
from mf.topics.item import Item, Origin
from mf.topics.options import AgentStats
from mf.topics.pattern import pattern_matches


def closed(topic: str) -> Error:
    text = f"the topics of this process have been closed: nothing of {topic} is published any more"
    return not_executed(Code.SHUTTING_DOWN, text)


class Request(NamedTuple):
    """What a subscription wants. `seen`: by agent, the last number that the subscriber has of the publisher
    of this process. `matched` is called for each agent that is there or comes, without any lock."""

    agents: str
    replay: int
    peer: str = ""
    authentication: bytes = b""
    remote: bool = False
    seen: Mapping[str, int] = MappingProxyType({})
    matched: Callable[[], None] | None = None
    identity: Identity | None = None
    """Of the peer; None in this process."""


class Budget:
    """How many bytes the sources of a board keep: each alone, and all together."""

    __slots__ = ("each", "most", "used")

    def __init__(self, each: int, most: float) -> None:
        self.each = each
        self.most = most
        self.used = 0


class Source:
    """`first`, `next`: the numbers of the first message and of the next; those before `live` are replayed by
    their publisher. `keep`: how many messages are kept. `inboxes`: those of the subscriptions that match.
    `remote`: how many of them are read by other processes."""

    __slots__ = (
        "_budget",
        "_kept",
        "_kept_bytes",
        "_lock",
        "closed",
        "first",
        "inboxes",
        "keep",
        "live",
        "next",
        "origin",
        "remote",
    )

    def __init__(
        self,
        origin: Origin,
        keep: int,
        budget: Budget,
        lock: Lock,
        inboxes: dict[Inbox, Request],
        next_: int = 1,
    ) -> None:
        self.origin = origin
        self.keep = keep
        self.first = self.next = self.live = next_
        self.inboxes = inboxes
        self.remote = 0
        self.closed = False
        self._budget = budget
        self._lock = lock
        self._kept: deque[Item] | None = None  # until there is something to keep
        self._kept_bytes = 0

    def publish(self, entry: Item | Missing) -> Inbox | None:
        """Puts a message or a gap into all inboxes; or into none, if there is one that is waited for and has
        no room: then that is returned. A message without a number gets the next. Raises SHUTTING_DOWN once
        it is `closed`."""
        size = entry.size
        woken = []
        with self._lock:
            if self.closed:
                raise closed(self.origin.topic.name)
            for inbox in self.inboxes:
                if inbox.waited_for and not inbox.has_room(size):
                    return inbox
            if isinstance(entry, Item):
                entry.sequence = entry.sequence or self.next
                self.next = entry.sequence + 1
            else:
                self.next = entry.first + entry.count
                self.forget_kept()  # what is kept has no holes
            kept = self.next <= self.live
            for inbox in self.inboxes:
                if inbox.push(entry, kept=kept):
                    woken.append(inbox)
            if self.keep and isinstance(entry, Item):
                self._keep(entry)
        for inbox in woken:
            inbox.wake()
        return None

    def attach(self, inbox: Inbox, request: Request) -> bool:
        """Fills the inbox from now on, if the agents match. Under the lock of the board; the caller wakes the
        inbox."""
        agent = self.origin.agent
        if not pattern_matches(request.agents, agent):
            return False
        kept = self._kept or ()
        kept_from = self.next - len(kept)
        first = self.next - min(request.replay, len(kept))
        seen = request.seen.get(agent)
        if seen is not None:
            first = min(seen, self.next - 1) + 1
        if request.remote:
            inbox.begin(self.origin, first, self.next)
        if first < kept_from:
            inbox.push(Missing(self.origin, first, kept_from - first, Why.not_kept), kept=True)
            first = kept_from
        for item in islice(kept, first - kept_from, None):
            inbox.push(item, kept=True)
        self.inboxes[inbox] = request
        self.remote += request.remote
        return True

    def detach(self, inbox: Inbox) -> None:
        """Under the lock of the board."""
        request = self.inboxes.pop(inbox, None)
        if request is not None:
            self.remote -= request.remote

    def stats(self) -> AgentStats:
        """Under the lock of the board."""
        return AgentStats(self.origin.shown, self.next - 1, len(self._kept or ()))

    def forget_kept(self) -> None:
        while self._kept:
            self._forget_oldest()

    def _keep(self, item: Item) -> None:
        budget = self._budget
        kept = self._kept
        if kept is None:
            kept = self._kept = deque()
        kept.append(item)
        self._kept_bytes += item.size
        budget.used += item.size
        while kept and (
            len(kept) > self.keep
            or (self._kept_bytes > budget.each and len(kept) > 1)
            or budget.used > budget.most
        ):
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        assert self._kept
        size = self._kept.popleft().size
        self._kept_bytes -= size
        self._budget.used -= size
