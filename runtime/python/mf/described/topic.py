"""R8. A topic as one of its publishers describes it."""

from typing import Any

from mf.adapt.made import Made
from mf.codec import shape as s
from mf.codec.codec import Codec
from mf.codec.json import to_json
from mf.core.description import Description
from mf.core.target import TargetSource
from mf.described.errors import made, schema_of, value_of
from mf.evolution.reading import line_tree
from mf.evolution.schema import Schema
from mf.topics.hub import Topics
from mf.topics.info import OVERFLOWS, TopicInfo
from mf.topics.options import SubscribeOptions
from mf.topics.publisher import LonePublisher, PerAgentPublisher
from mf.topics.subscriber import LoneSubscriber, PerAgentSubscriber

_MOST_REPLAYED = (1 << 32) - 1


class Topic:
    """Raises Error(SCHEMA_MISMATCH) for a description that is none, or of a service."""

    __slots__ = ("_shape", "description", "info", "schema")

    def __init__(self, description: Description) -> None:
        self.description = description
        self.schema: Schema = schema_of(description, "topic")
        shape = made(description, self._composite)
        self._shape: s.Composite = shape
        replay, overflow = _kept(description.annex)
        self.info: TopicInfo[Any] = TopicInfo(
            name=self.schema.name,
            agent=None if self.schema.per is None else self.schema.per[0],
            codec=Codec(shape, where=self.schema.name),
            descriptor=description.descriptor,
            annex=description.annex,
            fingerprint=self.schema.fingerprint,
            replay=replay,
            overflow=overflow,
        )

    def _composite(self) -> s.Composite:
        assert self.schema.value is not None  # reading has checked it
        return Made(self.schema).alone(self.schema.name, self.schema.value)

    @property
    def name(self) -> str:
        return self.schema.name

    def value(self, json: str | bytes) -> Any:
        """A message's value. Raises DecodeError."""
        return value_of(self.name, self._shape, json)

    def value_json(self, value: Any) -> str:
        return to_json(value, self._shape)

    def subscriber(
        self, source: TargetSource | Topics, agents: str = "*", options: SubscribeOptions | None = None
    ) -> LoneSubscriber[Any] | PerAgentSubscriber[str, Any]:
        """As a generated subscriber; `agents` is not used for a topic without agents."""
        body = {"__slots__": (), "mf_topic": self.info}
        if self.info.agent is None:
            lone: LoneSubscriber[Any] = type("Subscriber", (LoneSubscriber,), body)(source, options)
            return lone
        each: PerAgentSubscriber[str, Any] = type("Subscriber", (PerAgentSubscriber,), body)(
            source, agents, options
        )
        return each

    def publisher(self, topics: Topics) -> LonePublisher[Any] | PerAgentPublisher[str, Any]:
        """As a generated publisher."""
        kind = LonePublisher if self.info.agent is None else PerAgentPublisher
        found: LonePublisher[Any] | PerAgentPublisher[str, Any] = type(
            "Publisher", (kind,), {"__slots__": (), "mf_topic": self.info}
        )(topics)
        return found

    def __repr__(self) -> str:
        return f"described.Topic({self.name!r})"


def _kept(annex: str) -> tuple[int, tuple[str, ...]]:
    """What the annex of a topic, which has been read before, says that its publishers keep, and allow."""
    if not annex:
        return 0, OVERFLOWS
    head = line_tree(annex, "annex").get("annex")
    count, allowed = head.get("replay").rest, head.get("overflow").rest
    replay = min(int(count[:10]), _MOST_REPLAYED) if count.isascii() and count.isdecimal() else 0
    return replay, tuple(each for each in allowed.split(" ") if each in OVERFLOWS) or OVERFLOWS
