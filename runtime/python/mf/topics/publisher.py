"""R6. Publishers: the base classes of the generated ones.

    books = additions.at("books")
    books.publish(value)
    books.publish_all(values)

May be used from any thread. publish() numbers a message and puts it into the queues of all subscriptions; it
waits for room in those that have chosen Overflow.block. A published value is shared with all subscribers of
this process and must not be changed afterwards; `copy=True` publishes a deep copy of it.
"""

from collections.abc import AsyncIterable, Iterable
from copy import deepcopy
from functools import partial
from time import monotonic
from typing import ClassVar, Generic, TypeVar

from mf.codec.times import Timestamp
from mf.core.agent import Agent
from mf.core.error import Code, not_executed
from mf.core.gate import Gate, LoopGate, ThreadGate, until_called
from mf.core.handler_wait import waiting
from mf.core.immediate import immediate
from mf.topics.channel import Channel, Listener
from mf.topics.hub import Topics
from mf.topics.info import AnyTopic
from mf.topics.item import Item
from mf.topics.options import PublisherStats, PublishOptions
from mf.topics.outlet import Outlet
from mf.topics.pattern import sent_agent
from mf.topics.queue import Queue

T = TypeVar("T")
A = TypeVar("A", bound=Agent)

_USUAL = PublishOptions()


class _Wait:
    """A wait for room in a queue: when it ends (time.monotonic()), and what happens then."""

    __slots__ = ("_outlet", "_queue", "deadline", "until")

    def __init__(self, outlet: Outlet, queue: Queue, deadline: float) -> None:
        self._outlet = outlet
        self._queue = queue
        self.deadline = deadline
        stalls_at = outlet.stalls_at(queue)
        self.until = deadline if stalls_at is None else min(deadline, stalls_at)

    def over(self) -> None:
        """Called if no room came until then. It cuts the queue if that has stalled, and otherwise raises
        DEADLINE_EXCEEDED if the deadline has passed."""
        now = monotonic()
        stalls_at = self._outlet.stalls_at(self._queue)
        if stalls_at is not None and self._queue.waited_since and now >= stalls_at:
            self._outlet.cut(self._queue)
        elif now >= self.deadline:
            raise self._outlet.no_room(self._queue)


class _ToOutlet(Generic[T]):
    """The common part of blocking and asyncio publishers."""

    __slots__ = ("_outlet",)

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet

    def _item(self, value: T, copy: bool) -> Item:
        origin = self._outlet.origin
        origin.topic.codec.check(value)
        if copy:
            value = deepcopy(value)
            origin.counters.count_copy()
        item = Item(origin, Timestamp.now(), value)
        self._outlet.prepare(item)
        return item


class AgentPublisher(_ToOutlet[T]):
    """Publishes for one agent."""

    __slots__ = ()

    def publish(self, value: T, options: PublishOptions | None = None, *, copy: bool = False) -> None:
        """Raises INVALID_ARGUMENT for a value that breaks its schema, and DEADLINE_EXCEEDED (NOT_EXECUTED) if
        a blocking subscription has no room before the deadline. The constraints of a value are always
        checked, and the types of its parts once a subscriber of another process may get it."""
        item, outlet = self._item(value, copy), self._outlet
        deadline = 0.0
        while (full := outlet.attempt(item)) is not None:
            deadline = deadline or monotonic() + (options or _USUAL).deadline
            waiting(immediate, _wait_for_room(ThreadGate, full, item.size, _Wait(outlet, full, deadline)))

    def publish_all(
        self, values: Iterable[T], options: PublishOptions | None = None, *, copy: bool = False
    ) -> None:
        """Calls publish() for each value; if one raises, those before it have been published."""
        for value in values:
            self.publish(value, options, copy=copy)


async def _wait_for_room(kind: type[Gate], queue: Queue, size: int, wait: _Wait) -> None:
    if not await until_called(kind, partial(queue.when_room, size), queue.forget_room, wait.until):
        wait.over()


class AgentAsyncPublisher(_ToOutlet[T]):
    """AgentPublisher for asyncio. Tasks of any loop may use it."""

    __slots__ = ()

    async def publish(self, value: T, options: PublishOptions | None = None, *, copy: bool = False) -> None:
        """See AgentPublisher. If it is cancelled while it waits for room, nothing is published."""
        item, outlet = self._item(value, copy), self._outlet
        deadline = 0.0
        while (full := outlet.attempt(item)) is not None:
            deadline = deadline or monotonic() + (options or _USUAL).deadline
            await _wait_for_room(LoopGate, full, item.size, _Wait(outlet, full, deadline))

    async def publish_all(
        self,
        values: AsyncIterable[T] | Iterable[T],
        options: PublishOptions | None = None,
        *,
        copy: bool = False,
    ) -> None:
        """See AgentPublisher."""
        if isinstance(values, AsyncIterable):
            async for value in values:
                await self.publish(value, options, copy=copy)
        else:
            for value in values:
                await self.publish(value, options, copy=copy)


class _Channel:
    """The common part of publishers of topics with and without agents."""

    __slots__ = ()

    _channel: Channel

    mf_topic: ClassVar[AnyTopic]
    """Set by the generated class."""

    def __init__(self, topics: Topics) -> None:
        given: object = topics
        if not isinstance(given, Topics):
            text = f"a publisher publishes in topics, which a server offers: not in a {type(given).__name__}"
            raise not_executed(Code.INVALID_ARGUMENT, text)
        self._channel = topics.channel(self.mf_topic)  # type: ignore[misc]  # a slot of the classes below

    def on_matched(self, listener: Listener) -> None:
        """Registers a callback for each subscription that begins from now on. It runs on the callback thread
        of the Topics, one call at a time."""
        self._channel.set_listeners(listener, None)

    def on_unmatched(self, listener: Listener) -> None:
        """Registers a callback for each subscription that ends; it is given the final statistics."""
        self._channel.set_listeners(None, listener)

    def stats(self) -> PublisherStats:
        return self._channel.stats()

    async def _await_subscribers(self, kind: type[Gate], count: int, timeout: float) -> bool:
        channel = self._channel
        begin = partial(channel.when_subscribers, count)
        return await until_called(kind, begin, channel.forget_waiter, monotonic() + timeout)


class _Blocking(_Channel):
    __slots__ = ()

    def await_subscribers(self, count: int, timeout: float) -> bool:
        """Waits until there are `count` subscriptions to the topic, whatever their agents, for at most
        `timeout` seconds; False: there are fewer. A relay is one, as equal subscribers of a client are."""
        return waiting(immediate, self._await_subscribers(ThreadGate, count, timeout))


class _Awaited(_Channel):
    __slots__ = ()

    async def await_subscribers(self, count: int, timeout: float) -> bool:
        """See the blocking publisher."""
        return await self._await_subscribers(LoopGate, count, timeout)


class PerAgentPublisher(_Blocking, Generic[A, T]):
    """The publisher of a topic `per` an agent."""

    __slots__ = ("_channel",)

    def at(self, agent: A) -> AgentPublisher[T]:
        """`agent`: a member of an enum may be given by its name, too. Raises INVALID_ARGUMENT for an invalid
        agent."""
        return AgentPublisher(self._channel.outlet(sent_agent(self.mf_topic, agent)))


class PerAgentAsyncPublisher(_Awaited, Generic[A, T]):
    """The publisher of a topic `per` an agent, for asyncio."""

    __slots__ = ("_channel",)

    def at(self, agent: A) -> AgentAsyncPublisher[T]:
        """`agent`: a member of an enum may be given by its name, too. Raises INVALID_ARGUMENT for an invalid
        agent."""
        return AgentAsyncPublisher(self._channel.outlet(sent_agent(self.mf_topic, agent)))


class LonePublisher(_Blocking, AgentPublisher[T]):
    """The publisher of a topic without agents."""

    __slots__ = ("_channel",)

    def __init__(self, topics: Topics) -> None:
        _Blocking.__init__(self, topics)
        AgentPublisher.__init__(self, self._channel.outlet(""))


class LoneAsyncPublisher(_Awaited, AgentAsyncPublisher[T]):
    """The publisher of a topic without agents, for asyncio."""

    __slots__ = ("_channel",)

    def __init__(self, topics: Topics) -> None:
        _Awaited.__init__(self, topics)
        AgentAsyncPublisher.__init__(self, self._channel.outlet(""))
