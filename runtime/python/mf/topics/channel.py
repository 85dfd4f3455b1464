"""R6. One topic of a process: the outlets of its agents, and the subscriptions to them, local and remote.

Threads: any thread may call. Locks are taken in the order channel, outlet, queue; user callbacks run under
none of them.
"""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from mf.core.agent_names import shown_agent
from mf.core.error import Code, Error, not_executed, shortened, some_of
from mf.core.log import line, warning
from mf.topics._generated.mf.topics._types import Overflow, Position
from mf.topics.info import AnyTopic
from mf.topics.item import Counters, Origin
from mf.topics.options import (
    EndedStats,
    PublisherStats,
    SubscribeOptions,
    SubscriptionStats,
    TopicAccess,
    TopicAction,
)
from mf.topics.outlet import Home as OutletHome
from mf.topics.outlet import Outlet, Since, closed
from mf.topics.pattern import pattern_matches, pattern_refusal, type_refusal
from mf.topics.queue import Queue

LONGEST_AGENT = 1024

Listener = Callable[[SubscriptionStats], None]


class Home(OutletHome, Protocol):
    """The part of the hub (hub.py) that a channel uses."""

    publisher: UUID
    counters: Counters

    def changed(self) -> None: ...

    def complete(self, function: Callable[..., Any], *arguments: Any) -> None: ...


class _Attached(NamedTuple):
    """One subscription. `seen` maps an agent to the last sequence number that the subscriber has of this
    publisher. `matched` is called for each agent that is there or comes, under none of the locks."""

    queue: Queue
    agents: str
    remote: bool
    replay: int
    seen: dict[str, int]
    matched: Callable[[], None] | None = None

    def figures(self) -> SubscriptionStats:
        queue = self.queue
        return SubscriptionStats(
            queue.peer,
            queue.agents,
            queue.overflow,
            queue.delivered,
            queue.dropped,
            queue.queued,
            queue.queued_bytes,
            self.cut_for(),
            queue.not_kept,
        )

    def cut_for(self) -> Error | None:
        """Why its publisher has cut it. A publisher that ends cuts no subscription."""
        why = self.queue.why
        return why if why is not None and why.code is not Code.SHUTTING_DOWN else None


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
    __slots__ = (
        "_closed",
        "_cut",
        "_ended",
        "_lock",
        "_matched",
        "_outlets",
        "_refused",
        "_subscriptions",
        "_unmatched",
        "_waiters",
        "hub",
        "topic",
    )

    def __init__(self, hub: Home, topic: AnyTopic) -> None:
        self.hub = hub
        self.topic = topic
        self._lock = Lock()
        self._outlets: dict[str, Outlet] = {}
        self._subscriptions: dict[Queue, _Attached] = {}
        self._waiters: list[tuple[int, Callable[[], None]]] = []
        self._matched: Listener | None = None
        self._unmatched: Listener | None = None
        self._refused = 0
        self._cut = 0
        self._ended = EndedStats()
        self._closed = False

    # Agents

    def outlet(self, agent: str) -> Outlet:
        """The outlet of an agent, given as on the wire; created on first use. Raises INVALID_ARGUMENT and
        PERMISSION_DENIED."""
        found = self._outlets.get(agent)
        if found is not None:
            return found
        self._check_agent(agent)
        self._authorize(TopicAccess(self.topic.name, agent, "", TopicAction.PUBLISH))
        with self._lock:
            if self._closed:
                raise closed(self.topic.name)
            found = self._outlets.get(agent)  # another thread may have created it
            if found is not None:
                return found
            origin = Origin(self.topic, agent, self.hub.publisher, self.hub.counters)
            made = self._outlets[agent] = Outlet(origin, self.hub)
            matched = [
                attached.matched
                for attached in self._subscriptions.values()
                if _match(attached, made) and attached.matched is not None
            ]
        for each in matched:
            each()
        self.hub.changed()
        return made

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
        """The agents that have an outlet, as on the wire."""
        with self._lock:
            return list(self._outlets)

    # Subscriptions

    def make_queue(self, wanted: SubscribeOptions) -> Queue:
        """A queue as the subscriber wants it, within the limits of this process."""
        most = self.hub.options
        overflow = self.topic.default_overflow if wanted.overflow is None else wanted.overflow
        return Queue(
            min(wanted.max_messages or most.max_messages, most.max_messages),
            min(wanted.max_bytes or most.max_bytes, most.max_bytes),
            overflow,
        )

    def subscribe(
        self,
        queue: Queue,
        agents: str,
        *,
        replay: int,
        peer: str = "",
        authentication: bytes = b"",
        remote: bool = False,
        seen: Sequence[Position] = (),
        matched: Callable[[], None] | None = None,
    ) -> None:
        """Puts every matching message into the queue from now on. Raises OVERLOADED if there are too many
        subscriptions, INVALID_ARGUMENT as `check_subscription` does, PERMISSION_DENIED, SHUTTING_DOWN."""
        ours = {each.agent: each.sequence for each in seen if each.publisher == self.hub.publisher}
        attached = _Attached(queue, agents, remote, replay, ours, matched)
        try:
            check_subscription(self.topic, queue.overflow, agents)
            self._authorize(TopicAccess(self.topic.name, agents, peer, authentication=authentication))
            queue.peer, queue.agents = peer, shown_agent(self.topic, agents)
            with self._lock:
                self._check_count()
                matches = [_match(attached, outlet) for outlet in self._outlets.values()]
                self._subscriptions[queue] = attached
                count = len(self._subscriptions)
                ready = [wake for most, wake in self._waiters if most <= count]
                self._waiters = [each for each in self._waiters if each[0] > count]
                listener = self._matched
        except Error:
            with self._lock:
                self._refused += 1
            raise
        for wake in ready:
            wake()
        if matched is not None and any(matches):
            matched()
        self._tell(listener, attached.figures())

    def unsubscribe(self, queue: Queue) -> None:
        """Closes the queue."""
        queue.close()  # before its last figures are taken, so that nothing is taken out of it afterwards
        with self._lock:
            gone = self._subscriptions.pop(queue, None)
            if gone is None:
                return
            for outlet in self._outlets.values():
                outlet.detach(queue)
            why = gone.cut_for()
            self._cut += why is not None
            last = gone.figures()
            self._ended = self._ended.plus(last)
            listener = self._unmatched
        if why is not None and gone.remote:
            text = line(
                "subscription_cut",
                topic=self.topic.name,
                agents=last.agents,
                peer=queue.peer,
                overflow=queue.overflow.name,
                code=why.code.name,
                reason=why.message,
            )
            self.hub.complete(warning, "%s", text)
        self._tell(listener, last)

    def when_subscribers(self, count: int, wake: Callable[[], None]) -> None:
        """Calls `wake` once there are `count` subscriptions, possibly before it returns."""
        with self._lock:
            if len(self._subscriptions) < count:
                self._waiters.append((count, wake))
                return
        wake()

    def forget_waiter(self, wake: Callable[[], None]) -> None:
        with self._lock:
            self._waiters = [each for each in self._waiters if each[1] is not wake]

    def set_listeners(self, matched: Listener | None, unmatched: Listener | None) -> None:
        with self._lock:
            self._matched = matched or self._matched
            self._unmatched = unmatched or self._unmatched

    def stats(self) -> PublisherStats:
        with self._lock:
            counters = self.hub.counters
            return PublisherStats(
                [outlet.stats() for outlet in self._outlets.values()],
                [attached.figures() for attached in self._subscriptions.values()],
                self._refused,
                self._cut,
                counters.encoded,
                counters.copied,
                self._ended,
            )

    def close(self) -> None:
        """Ends all subscriptions."""
        with self._lock:
            self._closed = True
            outlets, queues = list(self._outlets.values()), list(self._subscriptions)
        for outlet in outlets:
            outlet.close()
        for queue in queues:
            queue.end(None)

    def _authorize(self, access: TopicAccess) -> None:
        authorize = self.hub.options.authorize
        if authorize is not None and not authorize(access):
            verb = "publish" if access.action is TopicAction.PUBLISH else "subscribe to"
            what = f' for "{shortened(access.agents)}"' if access.agents else ""
            raise not_executed(Code.PERMISSION_DENIED, f"this peer may not {verb} {access.topic}{what}")

    def _check_count(self) -> None:
        if self._closed:
            raise not_executed(Code.SHUTTING_DOWN, f"the publisher of {self.topic.name} stops")
        most = self.hub.options.max_subscriptions
        if len(self._subscriptions) >= most:
            text = f"topic {self.topic.name} has {most} subscriptions, the most that this publisher takes"
            raise not_executed(Code.OVERLOADED, text)

    def _tell(self, listener: Listener | None, about: SubscriptionStats) -> None:
        if listener is not None:
            self.hub.complete(listener, about)


def _match(attached: _Attached, outlet: Outlet) -> bool:
    agent = outlet.origin.agent
    if not pattern_matches(attached.agents, agent):
        return False
    since = Since(attached.replay, attached.seen.get(agent))
    outlet.attach(attached.queue, since, remote=attached.remote)
    return True
