"""R6. One published message, shared by all subscribers in the process. It holds the value, its bytes, or
both; each is made from the other at most once, on first use.
"""

from collections.abc import Callable
from threading import Lock
from typing import Any
from uuid import UUID

from mf.codec.times import Timestamp
from mf.core.agent_names import shown_agent
from mf.core.error import Error, Execution
from mf.core.service import Payload
from mf.topics.info import AnyTopic

_NOTHING: Any = object()


class Counters:
    """Counts of values that were encoded, decoded and copied. `lock` protects all of them."""

    __slots__ = ("copied", "decoded", "encoded", "lock", "undecodable")

    def __init__(self) -> None:
        self.lock = Lock()
        self.encoded = 0
        self.decoded = 0
        self.undecodable = 0
        self.copied = 0

    def count_copy(self) -> None:
        with self.lock:
            self.copied += 1

    def count_encoded(self) -> None:
        with self.lock:
            self.encoded += 1

    def count_decoded(self, *, good: bool) -> None:
        with self.lock:
            self.decoded += good
            self.undecodable += not good


class Origin:
    """The source of messages: one publisher, topic and agent. `agent`: as it is sent; `shown`: as users read
    it."""

    __slots__ = ("agent", "counters", "publisher", "shown", "topic")

    def __init__(self, topic: AnyTopic, agent: str, publisher: UUID, counters: Counters) -> None:
        self.topic = topic
        self.agent = agent
        self.shown = shown_agent(topic, agent)
        self.publisher = publisher
        self.counters = counters


class Item:
    """`size`: the bytes that count against the limits of queues; 0 for a value that was not encoded. `adapt`:
    converts the payload from the publisher's schema to that of this process, if they differ."""

    __slots__ = ("_adapt", "_fault", "_lock", "_payload", "_value", "origin", "sequence", "size", "time")

    def __init__(
        self,
        origin: Origin,
        time: Timestamp,
        value: Any = _NOTHING,
        payload: bytes | None = None,
        sequence: int = 0,
        adapt: Callable[[bytes], Payload] | None = None,
    ) -> None:
        self.origin = origin
        self.sequence = sequence
        self.time = time
        self.size = 0 if payload is None else len(payload)
        self._value = value
        self._payload = payload
        self._adapt = adapt
        self._fault: Error | None = None  # why there is no value
        self._lock = Lock()  # of this item alone: codecs of users may use other items

    def payload(self) -> bytes:
        """The encoded value, in the tier of its type. Raises Error for a value that breaks the schema."""
        payload = self._payload
        if payload is None:
            origin = self.origin
            with self._lock:
                payload = self._payload
                if payload is None:
                    payload = self._payload = bytes(origin.topic.codec.encode(self._value))
                    origin.counters.count_encoded()
        return payload

    def value(self) -> Any:
        """The value. Raises Error if the bytes are no value of the schema."""
        value = self._value
        if value is _NOTHING:
            with self._lock:
                value = self._value
                if value is _NOTHING:
                    value = self._value = self._decoded()
        return value

    def _decoded(self) -> Any:
        origin = self.origin
        assert self._payload is not None
        if self._fault is not None:
            raise Error(self._fault.code, self._fault.message, Execution.UNKNOWN)
        try:
            payload = self._payload if self._adapt is None else self._adapt(self._payload)
            value = origin.topic.codec.decode(payload)
        except Error as bad:
            origin.counters.count_decoded(good=False)
            text = f"message {self.sequence} of {origin.topic.name}: {bad.message}"
            self._fault = Error(bad.code, text, Execution.UNKNOWN)
            raise self._fault from bad
        origin.counters.count_decoded(good=True)
        return value
