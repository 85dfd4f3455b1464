"""R6. Subscriptions from other processes, as a server serves them: a queued entry is encoded once the stream
has credit and room for it (mf.server.pushed).
"""

from collections.abc import Callable
from typing import Any

from mf.core.error import Code, Error, not_executed
from mf.core.service import Encoded
from mf.core.source import Pushing, PushServant, PushSource
from mf.topics._generated.mf.topics._methods import ANY_TOPIC_SUBSCRIBE
from mf.topics._generated.mf.topics._types import (
    DeliveryMessage,
    DeliveryMissed,
    DeliverySource,
    Message,
    Missed,
    Source,
    Subscription,
    Why,
)
from mf.topics.channel import Channel
from mf.topics.options import SubscribeOptions
from mf.topics.queue import Entry, Kind, Queue

_ELEMENT = ANY_TOPIC_SUBSCRIBE.result_element
assert _ELEMENT is not None
_ENCODE: Callable[[Any], Encoded] = _ELEMENT.encode


class ServedTopic(PushServant):
    """Serves one topic."""

    __slots__ = ("_channel",)

    def __init__(self, channel: Channel) -> None:
        self.mf_service = channel.topic.service
        self._channel = channel

    def subscribe(self, push: Pushing, *arguments: Any) -> PushSource:
        what: Subscription = arguments[0]
        queue = self._channel.make_queue(
            SubscribeOptions(overflow=what.overflow, max_messages=what.max_messages, max_bytes=what.max_bytes)
        )
        self._channel.subscribe(
            queue,
            what.agents,
            replay=what.replay,
            peer=push.peer,
            authentication=push.authentication,
            remote=True,
            seen=what.seen,
        )
        return _Subscribed(self._channel, queue, push)


class _Subscribed(PushSource):
    __slots__ = ("_asked", "_channel", "_latest", "_push", "_queue")

    def __init__(self, channel: Channel, queue: Queue, push: Pushing) -> None:
        self._channel = channel
        self._queue = queue
        self._push = push
        self._asked = False
        self._latest: Entry | None = None
        queue.when_ended(push.kick)

    def take(self) -> Encoded | Error | None:
        entry = self._queue.take()
        if entry is None:
            if not self._asked:
                self._asked = True
                self._queue.when_ready(self._ready)
                # If something came in the meantime, when_ready() has already called `_ready`.
            return None
        if entry.kind is Kind.ENDED:
            text = f"the publisher of {self._channel.topic.name} has ended"
            return not_executed(Code.SHUTTING_DOWN, text)
        self._latest = entry
        try:
            return _encoded(entry)
        except Error:  # a replayed value that was never encoded before breaks its schema
            return self.instead()

    def instead(self) -> Encoded | None:
        entry, self._latest = self._latest, None
        if entry is None or entry.item is None:
            return None
        self._queue.count_undeliverable()
        return _ENCODE(DeliveryMissed(Missed(entry.item.sequence, 1, entry.source, Why.dropped)))

    def failure(self) -> Error | None:
        return self._queue.why

    def gone(self) -> None:
        self._queue.forget_ended(self._push.kick)
        self._channel.unsubscribe(self._queue)

    def _ready(self) -> None:
        self._asked = False
        self._push.kick()


def _encoded(entry: Entry) -> Encoded:
    source, item, origin = entry.source, entry.item, entry.origin
    if item is not None:
        return _ENCODE(DeliveryMessage(Message(source, item.sequence, item.time, item.payload())))
    if entry.kind is Kind.SOURCE:
        assert origin is not None
        live, keep = entry.first + entry.count, origin.topic.replay
        return _ENCODE(
            DeliverySource(Source(source, origin.publisher, origin.agent, entry.first, live, keep))
        )
    return _ENCODE(DeliveryMissed(Missed(entry.first, entry.count, source, entry.why)))
