"""R6. One topic that a process publishes: its board (board.py), and the sources of its agents.

Threads: any thread may call; user callbacks run under no lock.
"""

from collections.abc import Callable
from typing import Any, Protocol
from uuid import UUID

from mf.core.agent_names import shown_agent
from mf.core.error import Code, Error, not_executed, shortened, some_of
from mf.core.log import line, warning
from mf.core.peers import own_identity, peer_fields
from mf.core.source import SourceFigures
from mf.topics._generated.mf.topics._types import Overflow
from mf.topics.board import Board
from mf.topics.inbox import Inbox
from mf.topics.info import AnyTopic
from mf.topics.item import Counters, Item, Origin
from mf.topics.options import (
    PublisherStats,
    SubscribeOptions,
    SubscriptionStats,
    TopicAccess,
    TopicAction,
    TopicsOptions,
)
from mf.topics.pattern import pattern_refusal, type_refusal
from mf.topics.source import Request, Source

LONGEST_AGENT = 1024

Listener = Callable[[SubscriptionStats], None]


class Home(Protocol):
    """The part of the hub (hub.py) that a channel uses."""

    options: TopicsOptions
    offered: bool
    publisher: UUID
    counters: Counters

    def changed(self) -> None: ...

    def complete(self, function: Callable[..., Any], *arguments: Any) -> None: ...


def check_subscription(topic: AnyTopic, overflow: Overflow, agents: str) -> None:
    """Raises INVALID_ARGUMENT for an overflow policy that the topic does not allow, or an invalid pattern."""
    refusal = pattern_refusal(topic.name, topic.agent is not None, agents)
    if refusal:
        raise not_executed(Code.INVALID_ARGUMENT, refusal)
    if overflow not in topic.overflow:
        allowed = some_of([each.name for each in Overflow if each in topic.overflow])
        text = f"topic {topic.name} does not allow overflow {overflow.name}, but {allowed}"
        raise not_executed(Code.INVALID_ARGUMENT, text)


class Channel:
    __slots__ = ("_matched", "_refused", "_unmatched", "board", "hub", "topic")

    def __init__(self, hub: Home, topic: AnyTopic) -> None:
        self.hub = hub
        self.topic = topic
        self.board = Board(topic.name, hub.options)
        self._matched: Listener | None = None
        self._unmatched: Listener | None = None
        self._refused = 0

    # Agents

    def source(self, agent: str) -> Source:
        """The source of an agent, given as on the wire; created on first use. Raises INVALID_ARGUMENT,
        PERMISSION_DENIED and SHUTTING_DOWN."""
        found = self.board.sources.get(agent)
        if found is not None:
            return found
        self._check_agent(agent)
        own = own_identity()
        self._authorize(TopicAccess(self.topic.name, agent, "", TopicAction.PUBLISH, identity=own))
        origin = Origin(self.topic, agent, self.hub.publisher, self.hub.counters)
        made = self.board.add(agent, origin, self.topic.replay)
        self.hub.changed()
        return made

    def prepare(self, item: Item, source: Source) -> None:
        """Encodes the value if a remote subscriber needs it, or may need it later since it is kept. Called
        before any lock is taken. Raises Error if it cannot be encoded."""
        if source.remote or (source.keep and self.hub.offered):
            item.size = len(item.payload())

    def _check_agent(self, agent: str) -> None:
        name, problem = self.topic.name, ""
        if self.topic.agent is not None and not agent:
            problem = f"topic {name} has agents: say of which a message is"
        elif self.topic.agent is None and agent:
            problem = f'topic {name} has no agents, and "{shortened(agent)}" is one'
        elif len(agent.encode()) > LONGEST_AGENT:
            problem = f"an agent has at most {LONGEST_AGENT} bytes, not {len(agent.encode())}"
        elif "*" in agent:
            problem = f"an agent to publish for has no '*': \"{shortened(agent)}\""
        else:
            problem = type_refusal(self.topic, agent)
        if problem:
            raise not_executed(Code.INVALID_ARGUMENT, problem)

    def agents(self) -> list[str]:
        """The agents that have a source, as on the wire."""
        with self.board.lock:
            return [source.origin.agent for source in self.board.sources.values()]

    # Subscriptions

    def make_inbox(self, wanted: SubscribeOptions) -> Inbox:
        """An inbox as the subscriber wants it, within the limits of this process."""
        most = self.hub.options
        overflow = self.topic.default_overflow if wanted.overflow is None else wanted.overflow
        return Inbox(
            min(wanted.max_messages or most.max_messages, most.max_messages),
            min(wanted.max_bytes or most.max_bytes, most.max_bytes),
            overflow,
        )

    def subscribe(self, inbox: Inbox, request: Request) -> None:
        """Puts every matching message into the inbox from now on. Raises INVALID_ARGUMENT as
        `check_subscription` does, PERMISSION_DENIED, and what Board.attach raises."""
        agents, peer = request.agents, request.peer
        try:
            check_subscription(self.topic, inbox.overflow, agents)
            identity = request.identity or own_identity()
            shown = request.authentication
            self._authorize(
                TopicAccess(self.topic.name, agents, peer, authentication=shown, identity=identity)
            )
            inbox.peer, inbox.agents = peer, shown_agent(self.topic, agents)
            inbox.identity = identity
            self.board.attach(inbox, request)
        except Error:
            with self.board.lock:
                self._refused += 1
            raise
        self._tell(self._matched, inbox.figures())

    def unsubscribe(self, inbox: Inbox) -> None:
        """Closes the inbox."""
        last = self.board.detach(inbox)
        if last is None:
            return
        if last.why is not None and last.peer:
            text = line(
                "subscription_cut",
                topic=self.topic.name,
                agents=last.agents,
                **peer_fields(last.peer, inbox.identity),
                overflow=last.overflow.name,
                code=last.why.code.name,
                reason=last.why.message,
            )
            self.hub.complete(warning, "%s", text)
        self._tell(self._unmatched, last)

    def set_listeners(self, matched: Listener | None, unmatched: Listener | None) -> None:
        self._matched = matched or self._matched
        self._unmatched = unmatched or self._unmatched

    def stats(self) -> PublisherStats:
        board, counters = self.board, self.hub.counters
        with board.lock:
            return PublisherStats(
                [source.stats() for source in board.sources.values()],
                [inbox.figures() for inbox in board.subscriptions],
                self._refused,
                board.cut,
                counters.encoded,
                counters.copied,
                board.ended,
            )

    def figures(self) -> SourceFigures:
        stats = self.stats()
        dropped = stats.ended.dropped + sum(each.dropped for each in stats.subscriptions)
        published = sum(each.published for each in stats.agents)
        return SourceFigures(self.topic.name, len(stats.subscriptions), published, dropped, stats.cut)

    def _authorize(self, access: TopicAccess) -> None:
        authorize = self.hub.options.authorize
        if authorize is not None and not authorize(access):
            verb = "publish" if access.action is TopicAction.PUBLISH else "subscribe to"
            what = f' for "{shortened(access.agents)}"' if access.agents else ""
            raise not_executed(Code.PERMISSION_DENIED, f"this peer may not {verb} {access.topic}{what}")

    def _tell(self, listener: Listener | None, about: SubscriptionStats) -> None:
        if listener is not None:
            self.hub.complete(listener, about)
