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
from mf.topics.inbox import Beginning, Entry, Inbox
from mf.topics.item import Item, Origin
from mf.topics.options import SubscribeOptions
from mf.topics.source import Request

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
        inbox = self._channel.make_inbox(
            SubscribeOptions(overflow=what.overflow, max_messages=what.max_messages, max_bytes=what.max_bytes)
        )
        here = self._channel.hub.publisher
        seen = {each.agent: each.sequence for each in what.seen if each.publisher == here}
        push.check_subscription(what.agents)
        request = Request(
            what.agents,
            what.replay,
            push.peer,
            push.authentication,
            remote=True,
            seen=seen,
            identity=push.identity,
        )
        self._channel.subscribe(inbox, request)
        return _Subscribed(self._channel, inbox, push)


class _Subscribed(PushSource):
    __slots__ = ("_asked", "_channel", "_inbox", "_latest", "_numbers", "_push")

    def __init__(self, channel: Channel, inbox: Inbox, push: Pushing) -> None:
        self._channel = channel
        self._inbox = inbox
        self._push = push
        self._asked = False
        self._latest: Entry | None = None
        self._numbers: dict[Origin, int] = {}  # of the sources that have begun
        inbox.when_ended(push.kick)
        inbox.on_growth = push.kick

    def take(self) -> Encoded | Error | None:
        entry = self._inbox.take()
        if entry is None:
            if self._inbox.exhausted:
                text = f"the publisher of {self._channel.topic.name} has ended"
                return not_executed(Code.SHUTTING_DOWN, text)
            if not self._asked:
                self._asked = True
                self._inbox.when_ready(self._ready)
                # If something came in the meantime, when_ready() has already called `_ready`.
            return None
        self._latest = entry
        try:
            return self._encoded(entry)
        except Error:  # a replayed value that was never encoded before breaks its schema
            return self.instead()

    def instead(self) -> Encoded | None:
        entry, self._latest = self._latest, None
        if not isinstance(entry, Item):
            return None
        self._inbox.count_undeliverable()
        return _ENCODE(DeliveryMissed(Missed(entry.sequence, 1, self._numbers[entry.origin], Why.dropped)))

    def held_bytes(self) -> int:
        return self._inbox.held_bytes()

    def failure(self) -> Error | None:
        return self._inbox.why

    def gone(self) -> None:
        self._inbox.forget(self._push.kick)
        self._inbox.on_growth = None
        self._channel.unsubscribe(self._inbox)

    def _ready(self) -> None:
        self._asked = False
        self._push.kick()

    def _encoded(self, entry: Entry) -> Encoded:
        origin, numbers = entry.origin, self._numbers
        if isinstance(entry, Item):
            message = Message(numbers[origin], entry.sequence, entry.time, entry.payload())
            return _ENCODE(DeliveryMessage(message))
        if isinstance(entry, Beginning):
            number = numbers[origin] = len(numbers)
            keep = origin.topic.replay
            source = Source(number, origin.publisher, origin.agent, entry.next, entry.live, keep)
            return _ENCODE(DeliverySource(source))
        return _ENCODE(DeliveryMissed(Missed(entry.first, entry.count, numbers[origin], entry.why)))
