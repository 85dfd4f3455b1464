"""R6. Options and statistics of topics, publishers and subscribers. All times are in seconds."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple
from uuid import UUID

from mf.core.error import Error
from mf.core.identity import NO_IDENTITY, Identity
from mf.topics._generated.mf.topics._types import Overflow, Why

ALL_KEPT = (1 << 32) - 1
"""The `replay` of a subscriber that sets none."""
_MOST = (1 << 32) - 1


class TopicAction(Enum):
    SUBSCRIBE = "subscribe"
    PUBLISH = "publish"


class TopicAccess(NamedTuple):
    """An access to be authorized. `agents`: the pattern of a subscriber, or the agent of a publisher, as
    they are sent: a member of an enum by its number. `peer`:
    "tcp://10.0.0.3:5123", or "" in this process. `authentication`: the field of the peer's HELLO. `identity`:
    what the peer has proved of itself, in this process its own user."""

    topic: str
    agents: str
    peer: str
    action: TopicAction = TopicAction.SUBSCRIBE
    authentication: bytes = b""
    identity: Identity = NO_IDENTITY

    def __repr__(self) -> str:
        what = f"topic={self.topic!r}, agents={self.agents!r}, peer={self.peer!r}, action={self.action}"
        return f"mf.TopicAccess({what}, authentication=…, identity={self.identity!r})"


@dataclass(slots=True, kw_only=True)
class TopicsOptions:
    """The limits of the topics of a process. `max_messages`, `max_bytes`: the upper limits of one
    subscription's queue, which also apply if the subscriber asks for 0. `max_subscriptions`: the most for one
    topic over all its agents; further ones fail with OVERLOADED. `keep_bytes`: the most kept for replay per
    topic and agent, whatever `@replay` says. `stall_timeout`: a remote subscription that a publisher waits
    for (Overflow.block) ends with OVERLOADED when it has taken nothing for this long. `authorize`: called for
    each subscription, and for each agent before its first message; False refuses with PERMISSION_DENIED; None
    allows everything.
    """

    max_messages: int = 65_536
    max_bytes: int = 64 << 20
    max_subscriptions: int = 10_000
    keep_bytes: int = 8 << 20
    stall_timeout: float = 10.0
    authorize: Callable[[TopicAccess], bool] | None = None

    def __post_init__(self) -> None:
        _check_bounds(self.max_messages, self.max_bytes, least=1)
        if self.max_subscriptions < 1 or self.keep_bytes < 0 or not self.stall_timeout > 0:
            text = "max_subscriptions is at least 1, keep_bytes at least 0, stall_timeout more than 0"
            raise ValueError(f"{text}: not {self.max_subscriptions}, {self.keep_bytes}, {self.stall_timeout}")


@dataclass(slots=True, kw_only=True)
class PublishOptions:
    """`deadline`: how many seconds a message may wait for room in the queues of blocking subscriptions."""

    deadline: float = 30.0

    def __post_init__(self) -> None:
        if not self.deadline >= 0:
            raise ValueError(f"deadline is {self.deadline}: give seconds, or mf.INFINITE")


@dataclass(slots=True, kw_only=True)
class SubscribeOptions:
    """`overflow`: None means drop_oldest, or else the first policy that the topic allows. `max_messages`,
    `max_bytes`: the limits of the queue; 0 means the publisher's maximum. One message always fits. `replay`:
    the most earlier messages of each agent to get; None means all that the publisher keeps (`@replay`).
    `stall_timeout`: if subscribers of one client share a stream, and this one blocks, the others wait for it
    no longer than this; then it misses what finds no room, until it takes messages again.
    """

    overflow: Overflow | None = None
    max_messages: int = 1024
    max_bytes: int = 8 << 20
    replay: int | None = None
    stall_timeout: float = 5.0

    def __post_init__(self) -> None:
        _check_bounds(self.max_messages, self.max_bytes, least=0)
        if self.overflow is not None and not isinstance(self.overflow, Overflow):
            raise TypeError(f"overflow is {self.overflow!r}: give one of mf.Overflow")
        if self.replay is not None and not 0 <= self.replay <= _MOST:
            raise ValueError(f"replay is {self.replay}: give a number of messages")
        if not self.stall_timeout > 0:
            raise ValueError(f"stall_timeout is {self.stall_timeout}: give seconds, or mf.INFINITE")


def _check_bounds(max_messages: int, max_bytes: int, *, least: int) -> None:
    if not (least <= max_messages <= _MOST and least <= max_bytes <= _MOST):
        text = f"max_messages is {max_messages}, max_bytes {max_bytes}"
        raise ValueError(f"{text}: give numbers from {least} to {_MOST}")


@dataclass(slots=True, frozen=True)
class Gap:
    """`count` messages, from sequence number `first` on, that a subscriber did not get."""

    topic: str
    agent: str
    publisher: UUID
    first: int
    count: int
    why: Why


@dataclass(slots=True, frozen=True)
class SubscriptionStats:
    """One subscription as its publisher sees it. `peer` is "" in this process. `delivered` counts messages
    that have left the queue for the subscriber, `dropped` those for which there was no room, and those that
    waited when the subscription ended. `why`: the publisher has cut it, for this reason. `not_kept`: a
    subscriber that came back had missed so many, which were not kept any more; they may be counted in its
    last subscription, too."""

    peer: str
    agents: str
    overflow: Overflow
    delivered: int
    dropped: int
    queued: int
    queued_bytes: int
    why: Error | None = None
    not_kept: int = 0


@dataclass(slots=True, frozen=True)
class EndedStats:
    """The sums over the subscriptions that have ended."""

    subscriptions: int = 0
    delivered: int = 0
    dropped: int = 0
    not_kept: int = 0

    def plus(self, last: SubscriptionStats) -> "EndedStats":
        return EndedStats(
            self.subscriptions + 1,
            self.delivered + last.delivered,
            self.dropped + last.dropped,
            self.not_kept + last.not_kept,
        )


@dataclass(slots=True, frozen=True)
class AgentStats:
    """`kept`: how many messages are kept for replay."""

    agent: str
    published: int
    kept: int


@dataclass(slots=True, frozen=True)
class PublisherStats:
    """`refused`: subscriptions that were refused. `cut`: subscriptions that the publisher ended (disconnect,
    or stalled). `ended`: what those had that have ended, for whatever reason. For all topics of the process:
    `encoded` counts values that were encoded, `copied` those that mutate() and `copy=True` copied."""

    agents: list[AgentStats]
    subscriptions: list[SubscriptionStats]
    refused: int
    cut: int
    encoded: int
    copied: int
    ended: EndedStats = EndedStats()


@dataclass(slots=True, frozen=True)
class SubscriberStats:
    """`received`: messages taken. `dropped`, `not_kept`, `upstream`: messages missed, by reason.
    `duplicates`: messages that came twice and were discarded. `undecodable`: messages whose `value` raises.
    `cut`: subscriptions that were ended since their publisher broke the protocol.
    `publishers`: processes that publish for it now, also behind relays."""

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
    cut: int = 0
