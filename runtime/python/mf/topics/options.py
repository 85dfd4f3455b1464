"""R6. What may be said about topics, publishing and subscribing, and what is counted. All times are
seconds."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple
from uuid import UUID

from mf.topics._generated.mf.topics._types import Overflow, Why

ALL_KEPT = (1 << 32) - 1
"""`replay` of a subscriber that says nothing."""
_MOST = (1 << 32) - 1


class TopicAction(Enum):
    SUBSCRIBE = "subscribe"
    PUBLISH = "publish"


class TopicAccess(NamedTuple):
    """Who wants to do what. `agents`: the pattern; of a publisher the agent. `peer`: "tcp://10.0.0.3:5123";
    "" in this process. `authentication`: what its HELLO says of it."""

    topic: str
    agents: str
    peer: str
    action: TopicAction = TopicAction.SUBSCRIBE
    authentication: bytes = b""


class TopicsOptions:
    """Of the topics of a process. `max_messages`, `max_bytes`: the most that the queue of one subscription
    may hold, and what it holds if its subscriber says 0. `max_subscriptions`: of one topic, of all its agents
    together; one more is refused as OVERLOADED. `keep_bytes`: kept for replay, of one topic and agent,
    however many messages `@replay` asks for. `stall_timeout`: a subscription from elsewhere for which a
    publisher waits (Overflow.block) ends as OVERLOADED when it has taken nothing for so long. `authorize`:
    asked of each subscription, and of each agent before the first message is published for it; False refuses
    it as PERMISSION_DENIED; None: all may do all.
    """

    __slots__ = (
        "authorize",
        "keep_bytes",
        "max_bytes",
        "max_messages",
        "max_subscriptions",
        "stall_timeout",
    )

    def __init__(
        self,
        *,
        max_messages: int = 65_536,
        max_bytes: int = 64 << 20,
        max_subscriptions: int = 10_000,
        keep_bytes: int = 8 << 20,
        stall_timeout: float = 10.0,
        authorize: Callable[[TopicAccess], bool] | None = None,
    ) -> None:
        _check_bounds(max_messages, max_bytes, least=1)
        if max_subscriptions < 1 or keep_bytes < 0 or not stall_timeout > 0:
            text = "max_subscriptions is at least 1, keep_bytes at least 0, stall_timeout more than 0"
            raise ValueError(f"{text}: not {max_subscriptions}, {keep_bytes}, {stall_timeout}")
        self.max_messages = max_messages
        self.max_bytes = max_bytes
        self.max_subscriptions = max_subscriptions
        self.keep_bytes = keep_bytes
        self.stall_timeout = stall_timeout
        self.authorize = authorize


class PublishOptions:
    """`deadline`: seconds that a message may wait for room in the queues of subscriptions that block."""

    __slots__ = ("deadline",)

    def __init__(self, *, deadline: float = 30.0) -> None:
        if not deadline >= 0:
            raise ValueError(f"deadline is {deadline}: give seconds, or mf.INFINITE")
        self.deadline = deadline


class SubscribeOptions:
    """`overflow`: None is drop_oldest, or the first that the topic allows. `max_messages`, `max_bytes`: the
    bounds of the queue; 0: the most that the publisher allows. One message always fits. `replay`: at most so
    many messages of each agent from before the subscription; None: all that the publisher keeps (`@replay`).
    """

    __slots__ = ("max_bytes", "max_messages", "overflow", "replay")

    def __init__(
        self,
        *,
        overflow: Overflow | None = None,
        max_messages: int = 1024,
        max_bytes: int = 8 << 20,
        replay: int | None = None,
    ) -> None:
        _check_bounds(max_messages, max_bytes, least=0)
        if overflow is not None and not isinstance(overflow, Overflow):
            raise TypeError(f"overflow is {overflow!r}: give one of mf.Overflow")
        if replay is not None and not 0 <= replay <= _MOST:
            raise ValueError(f"replay is {replay}: give a number of messages")
        self.overflow = overflow
        self.max_messages = max_messages
        self.max_bytes = max_bytes
        self.replay = replay


def _check_bounds(max_messages: int, max_bytes: int, *, least: int) -> None:
    if not (least <= max_messages <= _MOST and least <= max_bytes <= _MOST):
        text = f"max_messages is {max_messages}, max_bytes {max_bytes}"
        raise ValueError(f"{text}: give numbers from {least} to {_MOST}")


@dataclass(slots=True, frozen=True)
class Gap:
    """Messages that a subscriber did not get: `count` of them, from the number `first` on."""

    topic: str
    agent: str
    publisher: UUID
    first: int
    count: int
    why: Why


@dataclass(slots=True, frozen=True)
class SubscriptionStats:
    """One subscription as its publisher sees it. `peer`: "" in this process. `delivered`: messages that have
    left the queue for the subscriber."""

    peer: str
    agents: str
    overflow: Overflow
    delivered: int
    dropped: int
    queued: int
    queued_bytes: int


@dataclass(slots=True, frozen=True)
class AgentStats:
    """`kept`: messages for replay."""

    agent: str
    published: int
    kept: int


@dataclass(slots=True, frozen=True)
class PublisherStats:
    """`refused`: subscriptions. `cut`: those that were ended from here: disconnect, or stalled. Of all topics
    of the process: `encoded`, values that became bytes; `copied`, by mutate() and `copy=True`."""

    agents: list[AgentStats]
    subscriptions: list[SubscriptionStats]
    refused: int
    cut: int
    encoded: int
    copied: int


@dataclass(slots=True, frozen=True)
class SubscriberStats:
    """`received`: messages that were taken. Messages that were missed, by the reason: `dropped`, `not_kept`,
    `upstream`. `duplicates`: that came a second time, and were left out. `undecodable`: of which `value`
    raises. `publishers`: that it is subscribed at now."""

    received: int
    dropped: int
    not_kept: int
    upstream: int
    duplicates: int
    undecodable: int
    decoded: int
    copied: int
    publishers: int
    queued: int
    queued_bytes: int
