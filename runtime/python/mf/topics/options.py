"""R6. Options and statistics of topics, publishers and subscribers. All times are in seconds."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple
from uuid import UUID

from mf.core.error import Error
from mf.core.identity import NO_IDENTITY, Identity
from mf.core.options import check_all_numbers, check_numbers
from mf.topics._generated.mf.topics._types import Overflow, Why

ALL_KEPT = (1 << 32) - 1
"""The `replay` of a subscriber that sets none."""
_MOST = (1 << 32) - 1


class TopicAction(Enum):
    """What is to be done with a topic."""

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
    """The limits of the topics of a process.

    Args:
        max_messages: The most messages in one subscription's queue, also if the subscriber asks for 0.
            Defaults to 65,536.
        max_bytes: The most bytes in one subscription's queue. Defaults to 67,108,864.
        max_subscriptions: Subscriptions to one topic over all its agents; more fail with OVERLOADED. Defaults
            to 10,000.
        keep_bytes: Bytes that are kept for replay of one topic and agent, whatever `@replay` says. Defaults
            to 8,388,608.
        stall_timeout: Seconds after which a remote subscription that a publisher waits for (Overflow.block)
            ends with OVERLOADED, if it has taken nothing. Defaults to 10.0.
        authorize: Called for each subscription, and for each agent before its first message; False refuses
            with PERMISSION_DENIED. Defaults to None: everything is allowed.
    """

    max_messages: int = 65_536
    max_bytes: int = 64 << 20
    max_subscriptions: int = 10_000
    keep_bytes: int = 8 << 20
    stall_timeout: float = 10.0
    authorize: Callable[[TopicAccess], bool] | None = None

    def __post_init__(self) -> None:
        check_all_numbers(self)
        _check_bounds(self.max_messages, self.max_bytes, least=1)
        if self.max_subscriptions < 1 or self.keep_bytes < 0 or not self.stall_timeout > 0:
            text = "max_subscriptions is at least 1, keep_bytes at least 0, stall_timeout more than 0"
            raise ValueError(f"{text}: not {self.max_subscriptions}, {self.keep_bytes}, {self.stall_timeout}")


@dataclass(slots=True, kw_only=True)
class PublishOptions:
    """Options of publishing.

    Args:
        deadline: Seconds that a message may wait for room in the queues of blocking subscriptions. Defaults
            to 30.0.
    """

    deadline: float = 30.0

    def __post_init__(self) -> None:
        check_all_numbers(self)
        if not self.deadline >= 0:
            raise ValueError(f"deadline is {self.deadline}: give seconds, or mf.INFINITE")


@dataclass(slots=True, kw_only=True)
class SubscribeOptions:
    """Options of one subscription.

    Args:
        overflow: What happens when its queue is full. Defaults to None: drop_oldest, or else the first policy
            that the topic allows.
        max_messages: Messages that the queue takes; 0: the publisher's maximum. Defaults to 1,024.
        max_bytes: Bytes that the queue takes; 0: the publisher's maximum. One message always fits. Defaults
            to 8,388,608.
        replay: The most earlier messages of each agent to get. Defaults to None: all that the publisher keeps
            (`@replay`).
        stall_timeout: Seconds. If subscribers of one client share a stream, and this one blocks, the others
            wait for it no longer than this; then it misses what finds no room, until it takes messages again.
            Defaults to 5.0.
    """

    overflow: Overflow | None = None
    max_messages: int = 1024
    max_bytes: int = 8 << 20
    replay: int | None = None
    stall_timeout: float = 5.0

    def __post_init__(self) -> None:
        check_all_numbers(self)
        _check_bounds(self.max_messages, self.max_bytes, least=0)
        if self.overflow is not None and not isinstance(self.overflow, Overflow):
            raise TypeError(f"overflow is {self.overflow!r}: give one of mf.Overflow")
        check_numbers(replay=self.replay)
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
