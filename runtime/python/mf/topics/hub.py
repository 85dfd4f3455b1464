"""R6. The topics of a process: `mf.Topics`."""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, Thread, current_thread, main_thread
from typing import Any, Self
from uuid import UUID, uuid4
from weakref import finalize

from mf.core.error import Code, not_executed
from mf.core.log import log_handler_failure
from mf.core.source import OfferSource, PushServant
from mf.topics.channel import Channel
from mf.topics.info import AnyTopic
from mf.topics.item import Counters
from mf.topics.options import TopicsOptions

_MOST_TOLD = 4096
"""Agents of one topic that a controller is told of; with more it is told of all, "*"."""


class Topics(OfferSource):
    """The hub of a process: what its publishers publish goes to the subscribers in it, and through
    `server.offer(topics)` to those elsewhere. May be used from any thread.

    `publisher`: random, another one for each hub that was ever made.
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
        self._closed = False

    def channel(self, topic: AnyTopic) -> Channel:
        """Made when it is first asked for. Raises SCHEMA_MISMATCH: this process has it from another
        schema."""
        with self._lock:
            channel = self._channels.get(topic.name)
            if channel is None:
                channel = self._channels[topic.name] = Channel(self, topic)
                if self._closed:
                    channel.close()
        if channel.topic.fingerprint != topic.fingerprint:
            text = f"topic {topic.name} is in this process from two different schemas"
            raise not_executed(Code.SCHEMA_MISMATCH, text)
        return channel

    def find(self, topic: str) -> Channel | None:
        """None: nobody in this process has asked for it."""
        with self._lock:
            return self._channels.get(topic)

    def servant(self, name: str) -> PushServant | None:
        channel = self.find(name)
        if channel is None:
            return None
        from mf.topics.served import ServedTopic  # by who serves topics

        return ServedTopic(channel)

    def published(self) -> list[tuple[str, str]]:
        """Names of topics, and agents, that clients are told of."""
        with self._lock:
            channels = list(self._channels.values())
        found: list[tuple[str, str]] = []
        for channel in channels:
            agents = channel.agents()
            found += [(channel.topic.name, each) for each in (agents if len(agents) <= _MOST_TOLD else ["*"])]
        return found

    def listen(self, changed: Callable[[], None]) -> None:
        """Calls whenever `published` has changed, on the thread that has changed it."""
        with self._lock:
            self._listeners.append(changed)

    def changed(self) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for each in listeners:
            each()

    def complete(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Calls what users want to be called, one after the other, on a thread of its own."""
        with self._lock:
            if self._work is None or self._thread is None or not self._thread.is_alive():  # as after a fork
                if self._closed:
                    return
                self._work = SimpleQueue()
                self._thread = Thread(target=_run, args=(self._work,), name="mf-topics", daemon=True)
                self._thread.start()
                finalize(self, self._work.put, None).atexit = False
            self._work.put((function, arguments))

    def close(self) -> None:
        """Ends all subscriptions; nothing is delivered any more. May be called twice."""
        with self._lock:
            self._closed = True
            channels = list(self._channels.values())
        for channel in channels:
            channel.close()
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
        del each  # it may be the last that holds the topics


def _call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        function(*arguments)
    except BaseException as raised:
        log_or_raise("a callback of topics", raised)


def log_or_raise(where: str, raised: BaseException) -> None:
    """Of a callback. What would end a program ends it on its main thread alone: elsewhere it would end a
    thread that others need."""
    if not isinstance(raised, Exception) and current_thread() is main_thread():
        raise raised
    log_handler_failure(where, raised)
