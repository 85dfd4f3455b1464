"""R6. Subscribers: the base classes of the generated ones.

    here = AdditionsSubscriber(topics, "books")                 # in this process
    there = AdditionsSubscriber(client, "eu.*.books", mf.SubscribeOptions(overflow=mf.Overflow.block))

    message = there.next()                # waits
    message = there.poll(0.01)            # waits at most 10 ms
    for message in there: ...             # until the subscription ends, or close()
    there.on_message(handle)

Any thread may take messages. Messages wait in a queue (SubscribeOptions) until they are taken. The asyncio
classes have the same methods as coroutines.
"""

from collections.abc import Callable
from time import monotonic
from typing import Any, ClassVar, Generic, Self, TypeVar

from mf.core.abandoned import begin, close_soon
from mf.core.agent import Agent
from mf.core.error import Code, Error, not_executed
from mf.core.gate import Gate, LoopGate, ThreadGate, until_called
from mf.core.handler_wait import waiting
from mf.core.immediate import immediate
from mf.core.options import INFINITE
from mf.core.target import AsyncTargetSource, TargetSource
from mf.topics.hub import Topics
from mf.topics.info import AnyTopic
from mf.topics.message import TopicMessage
from mf.topics.options import Gap, SubscribeOptions, SubscriberStats
from mf.topics.pattern import sent_pattern
from mf.topics.receiver import LocalReceiver, Matched, Receiver

T = TypeVar("T")
A = TypeVar("A", bound=Agent)


def _none_came(receiver: Receiver) -> Error:
    text = f"no message of {receiver.topic.name} has come in time{receiver.silence()}"
    return not_executed(Code.DEADLINE_EXCEEDED, text)


class _Taking(Generic[T]):
    """The common part of blocking and asyncio subscribers."""

    __slots__ = ("_receiver",)

    mf_topic: ClassVar[AnyTopic]
    """Set by the generated class."""
    _receiver: Receiver

    def on_gap(self, callback: Callable[[Gap], None]) -> None:
        """Registers a callback for missed messages. It runs before the message after the gap is taken, on the
        thread that takes it."""
        self._receiver.on_gap(callback)

    def on_matched(self, callback: Matched) -> None:
        """Registers a callback that gets the number of publishers when one is added."""
        self._receiver.set_listeners(callback, None)

    def on_unmatched(self, callback: Matched) -> None:
        """Registers a callback that gets the number of publishers when one is lost."""
        self._receiver.set_listeners(None, callback)

    def stats(self) -> SubscriberStats:
        return self._receiver.stats()

    def _begin(self, receiver: Receiver) -> None:
        self._receiver = receiver
        begin()

    async def _next(self, kind: type[Gate], timeout: float | None) -> TopicMessage[T]:
        message = await self._poll(kind, INFINITE if timeout is None else timeout)
        if message is None:
            raise _none_came(self._receiver)
        return message

    async def _poll(self, kind: type[Gate], timeout: float) -> TopicMessage[T] | None:
        receiver = self._receiver
        message = receiver.take()
        if message is not None or timeout <= 0:
            return message
        until = monotonic() + timeout
        while message is None:
            inbox = receiver.inbox
            if not await until_called(kind, inbox.when_ready, inbox.forget, until):
                return receiver.take()
            message = receiver.take()
        return message

    async def _await_publishers(self, kind: type[Gate], count: int, timeout: float) -> bool:
        receiver = self._receiver
        publishers, inbox = receiver.publishers, receiver.inbox

        def begin(wake: Callable[[], None]) -> None:
            publishers.wait(count, wake)
            inbox.when_ended(wake)  # the wait ends when the subscription does, too

        def forget(wake: Callable[[], None]) -> None:
            publishers.forget(wake)
            inbox.forget(wake)

        await until_called(kind, begin, forget, monotonic() + timeout)
        if publishers.count >= count:
            return True
        receiver.check()
        return False

    def close(self) -> None:
        """Ends the subscription; what has not been taken is dropped. May be called twice."""
        self._receiver.close()

    def __del__(self) -> None:
        receiver: Receiver | None = getattr(self, "_receiver", None)  # None if the constructor raised
        if receiver is not None and not receiver.closed:
            close_soon(receiver.close)


class _Blocking(_Taking[T]):
    __slots__ = ()

    def __init__(
        self,
        source: Topics | TargetSource,
        agents: str,
        options: SubscribeOptions | None,
    ) -> None:
        if isinstance(source, Topics):
            self._begin(LocalReceiver(source, self.mf_topic, agents, options or SubscribeOptions()))
        else:
            from mf.topics.remote import blocking_receiver

            self._begin(blocking_receiver(source, self.mf_topic, agents, options or SubscribeOptions()))

    def next(self, timeout: float | None = None) -> TopicMessage[T]:
        """Waits for the next message; raises DEADLINE_EXCEEDED after `timeout` seconds. Raises the error that
        ended the subscription: OVERLOADED if its policy is disconnect; SHUTTING_DOWN if the topics of this
        process were closed; CANCELLED after close()."""
        message = self._receiver.take()
        return waiting(immediate, self._next(ThreadGate, timeout)) if message is None else message

    def poll(self, timeout: float = 0.0) -> TopicMessage[T] | None:
        """The next message, or None if none came within `timeout` seconds."""
        message = self._receiver.take()
        if message is not None or timeout <= 0:
            return message
        return waiting(immediate, self._poll(ThreadGate, timeout))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> TopicMessage[T]:
        try:
            return self.next()
        except Error:
            if self._receiver.ended_well:
                raise StopIteration from None
            raise

    def on_message(self, callback: Callable[[TopicMessage[T]], None]) -> None:
        """Calls `callback` for each message until close(), one at a time, on the background thread of the
        client, or on the callback thread of the Topics."""
        self._receiver.on_message(callback)

    def on_end(self, callback: Callable[[Error], None]) -> None:
        """Calls `callback` once if the subscription ends otherwise than by close(), behind the last message
        of on_message(), with what next() would raise. Without it such an end is logged."""
        self._receiver.on_end(callback)

    def await_publishers(self, count: int, timeout: float) -> bool:
        """Waits at most `timeout` seconds until `count` publishers are there for it; False: there are fewer.
        Raises the error that has ended the subscription, as next() does. The publishers of a process are one;
        behind a relay each process counts."""
        return waiting(immediate, self._await_publishers(ThreadGate, count, timeout))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class _Awaited(_Taking[T]):
    __slots__ = ()

    def __init__(
        self,
        source: Topics | AsyncTargetSource,
        agents: str,
        options: SubscribeOptions | None,
    ) -> None:
        if isinstance(source, Topics):
            self._begin(LocalReceiver(source, self.mf_topic, agents, options or SubscribeOptions()))
        else:
            from mf.topics.remote import async_receiver

            self._begin(async_receiver(source, self.mf_topic, agents, options or SubscribeOptions()))

    async def next(self, timeout: float | None = None) -> TopicMessage[T]:
        """Waits for the next message; raises as next() of the blocking subscriber does. If it is cancelled,
        no message is lost."""
        return await self._next(LoopGate, timeout)

    async def poll(self, timeout: float = 0.0) -> TopicMessage[T] | None:
        """The next message, or None if none came within `timeout` seconds."""
        return await self._poll(LoopGate, timeout)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> TopicMessage[T]:
        try:
            return await self.next()
        except Error:
            if self._receiver.ended_well:
                raise StopAsyncIteration from None
            raise

    async def await_publishers(self, count: int, timeout: float) -> bool:
        """See the blocking subscriber."""
        return await self._await_publishers(LoopGate, count, timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: Any) -> None:
        self.close()


class PerAgentSubscriber(_Blocking[T], Generic[A, T]):
    """Subscribes to one agent of a topic `per` an agent, or to all that match a pattern ("eu.*.books")."""

    __slots__ = ("__weakref__",)

    def __init__(
        self,
        source: Topics | TargetSource,
        agents: A | str,
        options: SubscribeOptions | None = None,
    ) -> None:
        super().__init__(source, sent_pattern(self.mf_topic, agents), options)


class PerAgentAsyncSubscriber(_Awaited[T], Generic[A, T]):
    """PerAgentSubscriber for asyncio."""

    __slots__ = ("__weakref__",)

    def __init__(
        self,
        source: Topics | AsyncTargetSource,
        agents: A | str,
        options: SubscribeOptions | None = None,
    ) -> None:
        super().__init__(source, sent_pattern(self.mf_topic, agents), options)


class LoneSubscriber(_Blocking[T]):
    """Subscribes to a topic without agents."""

    __slots__ = ("__weakref__",)

    def __init__(self, source: Topics | TargetSource, options: SubscribeOptions | None = None) -> None:
        super().__init__(source, "", options)


class LoneAsyncSubscriber(_Awaited[T]):
    """Subscribes to a topic without agents, for asyncio."""

    __slots__ = ("__weakref__",)

    def __init__(self, source: Topics | AsyncTargetSource, options: SubscribeOptions | None = None) -> None:
        super().__init__(source, "", options)
