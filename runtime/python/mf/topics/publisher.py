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
from mf.topics.pattern import sent_agent
from mf.topics.source import Source

T = TypeVar("T")
A = TypeVar("A", bound=Agent)

_USUAL = PublishOptions()


class _ToSource(Generic[T]):
    """The common part of blocking and asyncio publishers."""

    __slots__ = ("_channel", "_source")

    def __init__(self, channel: Channel, source: Source) -> None:
        self._channel = channel
        self._source = source

    def _item(self, value: T, copy: bool) -> Item:
        origin = self._source.origin
        origin.topic.codec.check(value)
        if copy:
            value = deepcopy(value)
            origin.counters.count_copy()
        item = Item(origin, Timestamp.now(), value)
        self._channel.prepare(item, self._source)
        return item


class AgentPublisher(_ToSource[T]):
    """Publishes for one agent."""

    __slots__ = ()

    def publish(self, value: T, options: PublishOptions | None = None, *, copy: bool = False) -> None:
        """Raises INVALID_ARGUMENT for a value that breaks its schema, and DEADLINE_EXCEEDED (NOT_EXECUTED) if
        a blocking subscription has no room before the deadline. The constraints of a value are always
        checked, and the types of its parts once a subscriber of another process may get it."""
        item = self._item(value, copy)
        until = 0.0
        while (full := self._source.publish(item)) is not None:
            until = until or monotonic() + (options or _USUAL).deadline
            waiting(immediate, self._channel.board.room(ThreadGate, full, item.size, until))

    def publish_all(
        self, values: Iterable[T], options: PublishOptions | None = None, *, copy: bool = False
    ) -> None:
        """Calls publish() for each value; if one raises, those before it have been published."""
        for value in values:
            self.publish(value, options, copy=copy)


class AgentAsyncPublisher(_ToSource[T]):
    """AgentPublisher for asyncio. Tasks of any loop may use it."""

    __slots__ = ()

    async def publish(self, value: T, options: PublishOptions | None = None, *, copy: bool = False) -> None:
        """See AgentPublisher. If it is cancelled while it waits for room, nothing is published."""
        item = self._item(value, copy)
        until = 0.0
        while (full := self._source.publish(item)) is not None:
            until = until or monotonic() + (options or _USUAL).deadline
            await self._channel.board.room(LoopGate, full, item.size, until)

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
        waits = self._channel.board.waits
        return await until_called(kind, partial(waits.wait, count), waits.forget, monotonic() + timeout)


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
        return AgentPublisher(self._channel, self._channel.source(sent_agent(self.mf_topic, agent)))


class PerAgentAsyncPublisher(_Awaited, Generic[A, T]):
    """The publisher of a topic `per` an agent, for asyncio."""

    __slots__ = ("_channel",)

    def at(self, agent: A) -> AgentAsyncPublisher[T]:
        """`agent`: a member of an enum may be given by its name, too. Raises INVALID_ARGUMENT for an invalid
        agent."""
        return AgentAsyncPublisher(self._channel, self._channel.source(sent_agent(self.mf_topic, agent)))


class LonePublisher(_Blocking, AgentPublisher[T]):
    """The publisher of a topic without agents."""

    __slots__ = ()

    def __init__(self, topics: Topics) -> None:
        _Blocking.__init__(self, topics)
        AgentPublisher.__init__(self, self._channel, self._channel.source(""))


class LoneAsyncPublisher(_Awaited, AgentAsyncPublisher[T]):
    """The publisher of a topic without agents, for asyncio."""

    __slots__ = ()

    def __init__(self, topics: Topics) -> None:
        _Awaited.__init__(self, topics)
        AgentAsyncPublisher.__init__(self, self._channel, self._channel.source(""))
