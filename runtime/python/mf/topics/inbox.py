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
from mf.topics.hub import Topics, log_or_raise
from mf.topics.info import AnyTopic
from mf.topics.message import TopicMessage
from mf.topics.options import Gap, SubscribeOptions, SubscriberStats
from mf.topics.queue import Entry, Kind, Queue

_CALLS_AT_ONCE = 256
"""The most messages one callback handles in a row before other callbacks get the thread."""
_MOST_MISSED = (1 << 64) - 1
"""Counts of missed messages stop there, as in C++: a peer reports them, and may report any number."""

Matched = Callable[[int], None]


class Inbox(ABC):
    __slots__ = (
        "_calling",
        "_lock",
        "_missed",
        "_missed_by",
        "_on_end",
        "_on_gap",
        "_on_message",
        "_over",
        "closed",
        "queue",
        "topic",
    )

    def __init__(self, queue: Queue, topic: AnyTopic) -> None:
        self.queue = queue
        self.topic = topic
        self.closed = False
        self._lock = Lock()
        self._missed: dict[int, int] = {}  # source -> messages missed since its last message
        self._missed_by = dict.fromkeys(Why, 0)
        self._on_gap: Callable[[Gap], None] | None = None
        self._on_message: Callable[[TopicMessage[Any]], None] | None = None
        self._on_end: Callable[[Error], None] | None = None
        self._over = False  # `_on_end` was called, or the end was logged
        self._calling = RLock()  # held while callbacks run, so that close() can wait for them

    @abstractmethod
    def await_publishers(self, count: int, wake: Callable[[], None]) -> None:
        """Calls `wake` once `count` publishers are connected, possibly before it returns."""

    @abstractmethod
    def forget_waiter(self, wake: Callable[[], None]) -> None: ...

    @abstractmethod
    def set_listeners(self, matched: Matched | None, unmatched: Matched | None) -> None: ...

    @abstractmethod
    def stats(self) -> SubscriberStats: ...

    @abstractmethod
    def _leave(self) -> None:
        """Ends the subscriptions. Called at most once."""

    @abstractmethod
    def _complete(self, function: Callable[..., Any]) -> None: ...

    def silence(self) -> str:
        """Why no message comes, as far as that is known, in words behind those of an error; or ""."""
        return ""

    def take(self) -> TopicMessage[Any] | None:
        """The next message, or None if none waits now. Raises the error that has ended the subscription."""
        while (entry := self.queue.take()) is not None:
            if entry.kind is Kind.ENDED:
                raise self._ending()
            if entry.item is not None:
                missed = 0
                if self._missed:
                    with self._lock:
                        missed = self._missed.pop(entry.source, 0)
                return TopicMessage(entry.item, missed)
            if entry.kind is Kind.MISSED:
                self._miss(entry)
        return None

    def check(self) -> None:
        """Raises the error that has ended the subscription, even if messages wait."""
        if self.queue.ended:
            raise self._ending()

    @property
    def ended_well(self) -> bool:
        """Nothing has failed: the topics of the process have ended, or close() was called."""
        return self.queue.why is None

    def _miss(self, entry: Entry) -> None:
        with self._lock:
            self._missed[entry.source] = min(self._missed.get(entry.source, 0) + entry.count, _MOST_MISSED)
            self._missed_by[entry.why] = min(self._missed_by[entry.why] + entry.count, _MOST_MISSED)
            callback = self._on_gap
        if callback is None:
            return
        origin = entry.origin
        assert origin is not None
        try:
            callback(
                Gap(origin.topic.name, origin.shown, origin.publisher, entry.first, entry.count, entry.why)
            )
        except BaseException as raised:
            log_or_raise(f"on_gap of a subscriber of {self.topic.name}", raised)

    def _ending(self) -> Error:
        if self.closed:
            return not_executed(Code.CANCELLED, f"the subscriber of {self.topic.name} was closed")
        why = self.queue.why
        if why is not None:
            return Error(why.code, why.message, why.execution)
        return not_executed(Code.SHUTTING_DOWN, f"the publisher of {self.topic.name} has ended")

    # Callbacks

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
        self.queue.when_ready(lambda: self._complete(self._run_callbacks))

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
        self.queue.close()
        with self._calling:
            pass

    def _figures(self, **more: int) -> SubscriberStats:
        queue = self.queue
        with self._lock:
            missed = dict(self._missed_by)
        return SubscriberStats(
            received=queue.delivered,
            dropped=missed[Why.dropped],
            not_kept=missed[Why.not_kept],
            upstream=missed[Why.upstream],
            queued=queue.queued,
            queued_bytes=queue.queued_bytes,
            **more,
        )


class LocalInbox(Inbox):
    """The inbox for publishers in this process, which count as one, as those of any other process do: it is
    there once there is an agent that matches, until the topics are closed. Its constructor raises as
    Channel.subscribe does."""

    __slots__ = ("_channel", "_listeners", "_publishers", "_waiters")

    def __init__(self, topics: Topics, topic: AnyTopic, agents: str, options: SubscribeOptions) -> None:
        self._channel: Channel = topics.channel(topic)
        super().__init__(self._channel.make_queue(options), topic)
        self._publishers = 0
        self._waiters: list[tuple[int, Callable[[], None]]] = []
        self._listeners: list[Matched | None] = [None, None]
        replay = topic.replay if options.replay is None else options.replay
        self._channel.subscribe(self.queue, agents, replay=replay, matched=self._found)
        self.queue.when_ended(self._lost)

    def await_publishers(self, count: int, wake: Callable[[], None]) -> None:
        with self._lock:
            if self._publishers < count:
                self._waiters.append((count, wake))
                return
        wake()

    def forget_waiter(self, wake: Callable[[], None]) -> None:
        with self._lock:
            self._waiters = [each for each in self._waiters if each[1] is not wake]

    def set_listeners(self, matched: Matched | None, unmatched: Matched | None) -> None:
        """The callback also runs for publishers that were there before it was registered."""
        with self._lock:
            self._listeners = [matched or self._listeners[0], unmatched or self._listeners[1]]
            count = self._publishers
        if matched is not None and count:
            self._tell(matched, count)

    def _found(self) -> None:
        with self._lock:
            if self._publishers or self.queue.ended:
                return
            self._publishers = 1
            ready = [wake for count, wake in self._waiters if count <= 1]
            self._waiters = [each for each in self._waiters if each[0] > 1]
            listener = self._listeners[0]
        for wake in ready:
            wake()
        self._tell(listener, 1)

    def _lost(self) -> None:
        with self._lock:
            had, self._publishers = self._publishers, 0
            listener = None if self.closed or not had else self._listeners[1]
        self._tell(listener, 0)

    def _tell(self, listener: Matched | None, publishers: int) -> None:
        if listener is not None:
            self._channel.hub.complete(listener, publishers)

    def stats(self) -> SubscriberStats:
        counters = self._channel.hub.counters
        return self._figures(
            duplicates=0,
            undecodable=0,
            decoded=counters.decoded,
            copied=counters.copied,
            publishers=self._publishers,
        )

    def _leave(self) -> None:
        self._channel.unsubscribe(self.queue)

    def _complete(self, function: Callable[..., Any]) -> None:
        self._channel.hub.complete(function)
