"""R6. The untyped source of a subscriber's messages: for topics of this process the queue that its publishers
fill, otherwise a queue that subscriptions to publishers in other processes fill (remote.py).

Threads: any number of threads may take messages. `on_gap` callbacks run on the thread that takes;
`on_message` callbacks run where `_complete` puts them, one at a time.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from threading import Lock, RLock
from typing import Any

from mf.core.error import Code, Error, not_executed
from mf.core.log import line, warning
from mf.topics._generated.mf.topics._types import Why
from mf.topics.channel import Channel
from mf.topics.count_waits import CountWaits
from mf.topics.hub import Topics, log_or_raise
from mf.topics.inbox import Inbox, Missing
from mf.topics.info import AnyTopic
from mf.topics.item import Item, Origin
from mf.topics.message import TopicMessage
from mf.topics.options import Gap, SubscribeOptions, SubscriberStats
from mf.topics.source import Request

_CALLS_AT_ONCE = 256
"""The most messages one callback handles in a row before other callbacks get the thread."""
_MOST_SOURCES = 65_536
"""The most sources whose missed messages are counted until their next message comes."""
_MOST_MISSED = (1 << 64) - 1
"""Counts of missed messages stop there, as in C++: a peer reports them, and may report any number."""

Matched = Callable[[int], None]


class Receiver(ABC):
    __slots__ = (
        "_calling",
        "_listeners",
        "_lock",
        "_missed",
        "_missed_by",
        "_on_end",
        "_on_gap",
        "_on_message",
        "_over",
        "_reported",
        "closed",
        "inbox",
        "publishers",
        "topic",
    )

    def __init__(self, inbox: Inbox, topic: AnyTopic) -> None:
        self.inbox = inbox
        self.topic = topic
        self.closed = False
        self.publishers = CountWaits()
        """For the number of publishers."""
        self._lock = Lock()
        self._missed: dict[Origin, int] = {}  # messages missed since the last message
        self._missed_by = dict.fromkeys(Why, 0)
        self._listeners: tuple[Matched | None, Matched | None] = (None, None)
        self._reported = 0  # so many publishers
        self._on_gap: Callable[[Gap], None] | None = None
        self._on_message: Callable[[TopicMessage[Any]], None] | None = None
        self._on_end: Callable[[Error], None] | None = None
        self._over = False  # `_on_end` was called, or the end was logged
        self._calling = RLock()  # held while callbacks run, so that close() can wait for them

    @abstractmethod
    def stats(self) -> SubscriberStats: ...

    @abstractmethod
    def _leave(self) -> None:
        """Ends the subscriptions. Called at most once."""

    @abstractmethod
    def _complete(self, function: Callable[..., Any], *arguments: Any) -> None: ...

    def silence(self) -> str:
        """Why no message comes, as far as that is known, in words behind those of an error; or ""."""
        return ""

    def take(self) -> TopicMessage[Any] | None:
        """The next message, or None if none waits now. Raises the error that has ended the subscription."""
        while (entry := self.inbox.take()) is not None:
            if isinstance(entry, Item):
                missed = 0
                if self._missed:
                    with self._lock:
                        missed = self._missed.pop(entry.origin, 0)
                return TopicMessage(entry, missed)
            if isinstance(entry, Missing):
                self._miss(entry)
        if self.inbox.exhausted:
            raise self._ending()
        return None

    def check(self) -> None:
        """Raises the error that has ended the subscription, even if messages wait."""
        if self.inbox.ended:
            raise self._ending()

    @property
    def ended_well(self) -> bool:
        """Nothing has failed: the topics of the process have ended, or close() was called."""
        return self.inbox.why is None

    def _miss(self, gap: Missing) -> None:
        origin = gap.origin
        with self._lock:
            missed = min(self._missed.pop(origin, 0) + gap.count, _MOST_MISSED)
            if len(self._missed) >= _MOST_SOURCES:  # the first is usually of a publisher that has gone
                del self._missed[next(iter(self._missed))]
            self._missed[origin] = missed
            self._missed_by[gap.why] = min(self._missed_by[gap.why] + gap.count, _MOST_MISSED)
            callback = self._on_gap
        if callback is None:
            return
        try:
            callback(Gap(origin.topic.name, origin.shown, origin.publisher, gap.first, gap.count, gap.why))
        except BaseException as raised:
            log_or_raise(f"on_gap of a subscriber of {self.topic.name}", raised)

    def _ending(self) -> Error:
        if self.closed:
            return not_executed(Code.CANCELLED, f"the subscriber of {self.topic.name} was closed")
        why = self.inbox.why
        if why is not None:
            return Error(why.code, why.message, why.execution)
        return not_executed(Code.SHUTTING_DOWN, f"the publisher of {self.topic.name} has ended")

    # Callbacks

    def set_listeners(self, matched: Matched | None, unmatched: Matched | None) -> None:
        """`matched` is also called for publishers that were there before it was registered."""
        with self._lock:
            self._listeners = matched or self._listeners[0], unmatched or self._listeners[1]
            count = self.publishers.count
            if matched is None or count in (0, self._reported):
                return
            self._reported = count
        self._complete(self._tell, matched, count)

    def changed(self, by: int, publishers: int) -> None:
        """A publisher was found (`by` 1) or lost (-1)."""
        with self._lock:
            listener = self._listeners[by < 0]
            if by > 0 and (listener is None or self._reported == publishers):
                return
            self._reported = publishers
        if listener is not None:
            self._complete(self._tell, listener, publishers)

    def _tell(self, listener: Matched, publishers: int) -> None:
        try:
            listener(publishers)
        except BaseException as raised:
            log_or_raise(f"a listener of a subscriber of {self.topic.name}", raised)

    def on_gap(self, callback: Callable[[Gap], None]) -> None:
        self._on_gap = callback

    def on_message(self, callback: Callable[[TopicMessage[Any]], None]) -> None:
        with self._lock:
            if self._on_message is not None:
                raise not_executed(Code.INVALID_ARGUMENT, "on_message() was called before")
            self._on_message = callback
        self._watch()

    def on_end(self, callback: Callable[[Error], None]) -> None:
        with self._lock:
            self._on_end = callback
            over = self._over
        if over:
            self._complete(self._tell_end)

    def _tell_end(self) -> None:
        why = self._ending()
        with self._calling:
            if self.closed:
                return
            with self._lock:
                self._over = True
                callback, self._on_end = self._on_end, None
            if callback is not None:
                try:
                    callback(why)
                except BaseException as raised:
                    log_or_raise(f"on_end of a subscriber of {self.topic.name}", raised)
                return
        if why.code not in (Code.SHUTTING_DOWN, Code.CANCELLED):  # the end was not requested
            said = line("subscription_over", topic=self.topic.name, code=why.code.name, reason=why.message)
            warning("%s", said)

    def _watch(self) -> None:
        self.inbox.when_ready(lambda: self._complete(self._run_callbacks))

    def _run_callbacks(self) -> None:
        callback = self._on_message
        assert callback is not None
        with self._calling:
            for _ in range(_CALLS_AT_ONCE):
                if self.closed:
                    return
                try:
                    message = self.take()
                except Error:
                    self._tell_end()
                    return
                if message is None:
                    break
                try:
                    callback(message)
                except BaseException as raised:
                    log_or_raise(f"on_message of a subscriber of {self.topic.name}", raised)
        self._watch()

    def close(self) -> None:
        """Ends the subscription. No callback runs after this returns, except one that called it."""
        with self._lock:
            if self.closed:
                return
            self.closed = True
        self._leave()
        self.inbox.close()
        with self._calling:
            pass

    def _figures(self, **more: int) -> SubscriberStats:
        inbox = self.inbox
        with self._lock:
            missed = dict(self._missed_by)
        return SubscriberStats(
            received=inbox.delivered,
            dropped=missed[Why.dropped],
            not_kept=missed[Why.not_kept],
            upstream=missed[Why.upstream],
            queued=inbox.queued,
            queued_bytes=inbox.queued_bytes,
            publishers=self.publishers.count,
            **more,
        )


class LocalReceiver(Receiver):
    """For publishers in this process, which count as one, as those of any other process do: it is there once
    there is an agent that matches, until the topics are closed. Its constructor raises as Channel.subscribe
    does."""

    __slots__ = ("_channel",)

    def __init__(self, topics: Topics, topic: AnyTopic, agents: str, options: SubscribeOptions) -> None:
        self._channel: Channel = topics.channel(topic)
        super().__init__(self._channel.make_inbox(options), topic)
        replay = topic.replay if options.replay is None else options.replay
        self._channel.subscribe(self.inbox, Request(agents, replay, matched=self._found))
        self.inbox.when_ended(self._lost)

    def _found(self) -> None:
        with self._lock:
            if self.publishers.count or self.inbox.ended:
                return
            self.publishers.change(1)
        self.changed(1, 1)

    def _lost(self) -> None:
        with self._lock:
            if not self.publishers.count:
                return
            self.publishers.change(-1)
        if not self.closed:
            self.changed(-1, 0)

    def stats(self) -> SubscriberStats:
        counters = self._channel.hub.counters
        return self._figures(duplicates=0, undecodable=0, decoded=counters.decoded, copied=counters.copied)

    def _leave(self) -> None:
        self._channel.unsubscribe(self.inbox)

    def _complete(self, function: Callable[..., Any], *arguments: Any) -> None:
        self._channel.hub.complete(function, *arguments)
