"""R6. The board of a topic: its subscriptions, and the sources (source.py) that fill their inboxes.
A topic that a process publishes has one (channel.py), and so have the subscribers of a client that share
streams (upstream.py).

A publisher waits for inboxes that block. The subscribers of a client take what has come, so that one that is
alone is waited for, whatever its policy is: while its inbox is full no stream is read, the inboxes at the
publishers fill, and their policies act. Of several, those that block are waited for, unless they take
nothing for a while; the policy of the others acts on their own inboxes.

To attach and to detach visit the sources, and no other subscription. Threads: any may call. Locks are taken
in the order board, inbox; callbacks run under none of them.
"""

from collections.abc import Hashable
from functools import partial
from threading import Lock
from time import monotonic

from mf.core.error import Code, Error, not_executed
from mf.core.gate import Gate, until_called
from mf.core.log import info
from mf.core.options import INFINITE
from mf.topics.count_waits import CountWaits
from mf.topics.inbox import Inbox
from mf.topics.item import Origin
from mf.topics.options import EndedStats, SubscriptionStats, TopicsOptions
from mf.topics.source import Budget, Request, Source, closed


class Board:
    """`shares`: its subscribers are those of a client; otherwise those of other processes are cut when they
    stall, and those of this process are waited for. `most_kept`: the bytes that all sources keep together."""

    def __init__(
        self, topic: str, options: TopicsOptions, *, shares: bool = False, most_kept: float = INFINITE
    ) -> None:
        self.subscriptions: dict[Inbox, Request] = {}
        self.sources: dict[Hashable, Source] = {}
        self.waits = CountWaits()
        """For the number of subscriptions."""
        self.cut = 0
        self.ended = EndedStats()
        self.lock = Lock()
        self._topic = topic
        self._options = options
        self._shares = shares
        self._budget = Budget(options.keep_bytes, most_kept)
        self._closed = False

    # Subscriptions

    def attach(self, inbox: Inbox, request: Request) -> None:
        """Puts every matching message into the inbox from now on. Raises OVERLOADED if there are too many
        subscriptions, and SHUTTING_DOWN."""
        if self._shares or request.remote:
            inbox.patience = self._options.stall_timeout
        with self.lock:
            self._check_attach()
            self.subscriptions[inbox] = request
            matches = [source.attach(inbox, request) for source in self.sources.values()]
            first = self._first_of(2)
        if first is not None:
            first.stay_alone(first is inbox)
        inbox.wake()
        self.waits.change(1)
        if request.matched is not None and any(matches):
            request.matched()

    def detach(self, inbox: Inbox) -> SubscriptionStats | None:
        """Closes the inbox. Returns its last figures; None if it is not attached."""
        inbox.close()  # before its last figures are taken, so that nothing is taken out of it afterwards
        with self.lock:
            request = self.subscriptions.pop(inbox, None)
            if request is None:
                return None
            for source in self.sources.values():
                source.detach(inbox)
            last = inbox.figures()
            self.cut += last.why is not None
            self.ended = self.ended.plus(last)
            left = self._first_of(1)
        self.waits.change(-1)
        if left is not None:
            left.stay_alone(True)
        return last

    def end(self, why: Error | None) -> None:
        """Ends all subscriptions."""
        with self.lock:
            inboxes = list(self.subscriptions)
        for inbox in inboxes:
            inbox.end(why)

    def close(self) -> None:
        """Ends all subscriptions; nothing is published any more."""
        with self.lock:
            self._closed = True
            for source in self.sources.values():
                source.closed = True
        self.end(None)

    # Sources

    def add(self, key: Hashable, origin: Origin, keep: int, next_: int = 1) -> Source:
        """The source with this key. A new one fills the inboxes of all subscriptions that match, and keeps
        `keep` messages for later ones. Raises SHUTTING_DOWN after `close`."""
        with self.lock:
            source = self.sources.get(key)
            if source is not None:  # another thread has added it
                return source
            if self._closed:
                raise closed(self._topic)
            inboxes = self.subscriptions if self._shares else {}  # those of a client want the same
            source = self.sources[key] = Source(origin, keep, self._budget, self.lock, inboxes, next_)
            matched = [
                (inbox, request)
                for inbox, request in self.subscriptions.items()
                if not self._shares and source.attach(inbox, request)
            ]
        for inbox, request in matched:
            inbox.wake()
            if request.matched is not None:
                request.matched()
        return source

    async def room(self, kind: type[Gate], full: Inbox, size: int, until: float = INFINITE) -> None:
        """Waits for room in an inbox that Source.publish() has returned, or until that has stalled: then it
        is cut, or not waited for any more. Raises DEADLINE_EXCEEDED after `until` (time.monotonic())."""
        stalls_at = full.stalls_at()
        if await until_called(kind, partial(full.when_room, size), full.forget, min(until, stalls_at)):
            return
        now = monotonic()
        if full.waited_since and now >= full.stalls_at():
            self._stalled(full)
        elif now >= until:
            text = (
                f"the subscriber of {self._topic} {full.owner_text()}, which blocks, has had no room until "
                f"the deadline: its queue holds {full.content_text()}"
            )
            raise not_executed(Code.DEADLINE_EXCEEDED, text)

    def _first_of(self, most: int) -> Inbox | None:
        """The inbox that was attached first, of at most so many that share streams."""
        few = self._shares and 0 < len(self.subscriptions) <= most
        return next(iter(self.subscriptions)) if few else None

    def _check_attach(self) -> None:
        if self._closed:
            raise not_executed(Code.SHUTTING_DOWN, f"the publisher of {self._topic} stops")
        most = self._options.max_subscriptions
        if len(self.subscriptions) >= most:
            text = f"topic {self._topic} has {most} subscriptions, the most that this publisher takes"
            raise not_executed(Code.OVERLOADED, text)

    def _stalled(self, inbox: Inbox) -> None:
        if self._shares:
            inbox.give_way()
            text = "a subscriber of %s takes nothing while others wait: it misses what finds no room"
            info(text, self._topic)
            return
        text = (
            f"the subscriber has taken nothing for {inbox.patience * 1000:.0f} ms while the publisher waited "
            "for room in its queue"
        )
        inbox.end(not_executed(Code.OVERLOADED, text))
