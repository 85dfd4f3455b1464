"""R6. The topics of a process: `mf.Topics`."""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, Thread, current_thread, main_thread
from typing import Any, Self
from uuid import UUID, uuid4
from weakref import finalize

from mf.core.error import Code, not_executed
from mf.core.log import log_escaped_exception
from mf.core.source import OfferSource, PushServant, SourceFigures
from mf.topics.channel import Channel
from mf.topics.info import AnyTopic
from mf.topics.item import Counters
from mf.topics.options import TopicsOptions

_MOST_LISTED = 4096
"""The most agents of one topic that are registered one by one; beyond that the topic is registered as "*"."""


class Topics(OfferSource):
    """The hub of a process: it passes messages from the publishers of the process to its subscribers, and
    through `server.offer(topics)` to those in other processes. May be used from any thread.

    `options`: its limits; those of `mf.TopicsOptions()` by default. `publisher` is a random UUID that
    identifies this hub. `offered`: whether a server has offered it.
    """

    def __init__(self, options: TopicsOptions | None = None) -> None:
        self.options = options or TopicsOptions()
        self.publisher: UUID = uuid4()
        self.counters = Counters()
        self._lock = Lock()
        self._channels: dict[str, Channel] = {}
        self._work: SimpleQueue[tuple[Callable[..., Any], tuple[Any, ...]] | None] | None = None
        self._thread: Thread | None = None
        self._listeners: list[Callable[[], None]] = []
        self.offered = False
        self._closed = False

    def channel(self, topic: AnyTopic) -> Channel:
        """The channel of a topic, created on first use. Raises SCHEMA_MISMATCH if this process already uses
        the topic with another schema."""
        with self._lock:
            channel = self._channels.get(topic.name)
            if channel is None:
                channel = self._channels[topic.name] = Channel(self, topic)
                if self._closed:
                    channel.board.close()
        if channel.topic.fingerprint != topic.fingerprint:
            text = f"topic {topic.name} is in this process from two different schemas"
            raise not_executed(Code.SCHEMA_MISMATCH, text)
        return channel

    def find(self, topic: str) -> Channel | None:
        """The channel of a topic, or None if this process has no publisher or subscriber of it."""
        with self._lock:
            return self._channels.get(topic)

    def servant(self, name: str) -> PushServant | None:
        channel = self.find(name)
        if channel is None:
            return None
        from mf.topics.served import ServedTopic  # only programs that serve topics need it

        return ServedTopic(channel)

    def published(self) -> list[tuple[str, str]]:
        """Pairs of topic name and agent that clients can find; the agent is "*" if there are too many."""
        with self._lock:
            channels = list(self._channels.values())
        found: list[tuple[str, str]] = []
        for channel in channels:
            agents = channel.agents()
            listed = agents if len(agents) <= _MOST_LISTED else ["*"]
            found += [(channel.topic.name, each) for each in listed]
        return found

    def figures(self) -> list[SourceFigures]:
        with self._lock:
            channels = list(self._channels.values())
        return [channel.figures() for channel in channels]

    def listen(self, changed: Callable[[], None]) -> None:
        """Calls `changed` whenever the result of `published` changes, on the thread that changed it."""
        with self._lock:
            self._listeners.append(changed)
            self.offered = True

    def changed(self) -> None:
        """Calls what waits for a change of the topics."""
        with self._lock:
            listeners = list(self._listeners)
        for each in listeners:
            each()

    def complete(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Runs the user callback `function` on the callback thread of this hub, one at a time."""
        with self._lock:
            if self._work is None or self._thread is None or not self._thread.is_alive():  # after a fork
                if self._closed:
                    return
                self._work = SimpleQueue()
                self._thread = Thread(target=_run, args=(self._work,), name="mf-topics", daemon=True)
                self._thread.start()
                finalize(self, self._work.put, None).atexit = False
            self._work.put((function, arguments))

    def close(self) -> None:
        """Ends all subscriptions and stops publishing. May be called twice."""
        with self._lock:
            self._closed = True
            channels = list(self._channels.values())
        for channel in channels:
            channel.board.close()
        with self._lock:
            work, self._work = self._work, None
        if work is not None:
            work.put(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _run(work: "SimpleQueue[tuple[Callable[..., Any], tuple[Any, ...]] | None]") -> None:
    while (each := work.get()) is not None:
        _call(*each)
        del each  # it may hold the last reference to the topics


def _call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        function(*arguments)
    except BaseException as raised:
        log_or_raise("a callback of topics", raised)


def log_or_raise(where: str, raised: BaseException) -> None:
    """Logs what a callback raised. SystemExit and the like are raised again on the main thread only: on
    another thread they would end just that thread, which other callbacks need."""
    if not isinstance(raised, Exception) and current_thread() is main_thread():
        raise raised
    log_escaped_exception(where, raised)
