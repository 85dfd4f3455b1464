"""R6. The description of a topic in generated code."""

from copy import copy
from functools import cache
from typing import Any, Generic, TypeVar

from mf.codec.codec import Codec
from mf.core.service import Method, ServiceInfo
from mf.topics._generated.mf.topics._types import Overflow

T = TypeVar("T")

OVERFLOWS = tuple(each.name for each in Overflow)


class TopicInfo(Generic[T]):
    """One topic, as generated code makes it. `name`: the full one. `agent`: the name of its `per` parameter,
    or None. `replay`: how many messages of each agent are kept for later subscribers. `overflow`: the names
    of the policies that subscribers may choose. `codec`: the codec of its values. `descriptor`, `annex`: its
    schema as text, of which `fingerprint` is the hash.
    """

    __slots__ = (
        "_service",
        "agent",
        "annex",
        "codec",
        "descriptor",
        "fingerprint",
        "name",
        "overflow",
        "replay",
    )

    def __init__(
        self,
        *,
        name: str,
        agent: str | None,
        codec: Codec[T, T],
        descriptor: str,
        fingerprint: bytes,
        annex: str = "",
        replay: int = 0,
        overflow: tuple[str, ...] = OVERFLOWS,
    ) -> None:
        self.name = name
        self.agent = agent
        self.codec = codec
        self.descriptor = descriptor
        self.fingerprint = fingerprint
        self.annex = annex
        self.replay = replay
        self.overflow = tuple(Overflow[each] for each in overflow)
        self._service: ServiceInfo | None = None

    @property
    def default_overflow(self) -> Overflow:
        """The policy of a subscriber that chooses none."""
        return Overflow.drop_oldest if Overflow.drop_oldest in self.overflow else self.overflow[0]

    @property
    def service(self) -> ServiceInfo:
        """The topic as a service that is bound: it has no agent, and the one method that all topics have."""
        if self._service is None:
            self._service = ServiceInfo(
                name=self.name,
                agent=None,
                descriptor=self.descriptor,
                annex=self.annex,
                fingerprint=self.fingerprint,
                methods=(_subscribe(),),
            )
        return self._service

    def __repr__(self) -> str:
        return f"TopicInfo({self.name!r})"


@cache
def _subscribe() -> Method[Any, Any]:
    """Its name is not valid for a method of a service, so that a relay, which has no schema, recognizes a
    binding of a topic."""
    from mf.topics._generated.mf.topics._methods import ANY_TOPIC_SUBSCRIBE

    method = copy(ANY_TOPIC_SUBSCRIBE)
    method.name = "topic.subscribe"
    return method


AnyTopic = TopicInfo[Any]
