"""R6. Subscriptions to publishers in other processes: one stream to each matching instance, all of which fill
the one queue of the subscriber. They run on the asyncio loop of the client; a blocking client has one on its
own thread.

A stream that ends is opened again while its instance is known, and continues after the last message seen.
What one names of a publisher that another stream has named before is left to that one, as long as that lives
(decision 0056): the stream stands by, and begins anew when it may stand in.
Several relays reach the same publishers, so only one of them has a stream, and the next one when it is lost.
While the queue is full no stream is read, so that the publishers' queues fill and their overflow policies
act."""

from asyncio import AbstractEventLoop, Task, get_running_loop, sleep, wait
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import Context
from functools import partial
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple
from uuid import UUID

from mf.client.async_client import AsyncClient
from mf.client.async_router import AsyncRouter
from mf.client.async_streams import read_stream
from mf.client.async_target import AsyncRemoteTarget
from mf.client.client import Client
from mf.client.routes import Route
from mf.core.error import Code, Error, Execution, not_executed
from mf.core.log import info, line, log_handler_failure, warning
from mf.core.options import INFINITE, CallOptions
from mf.core.stream import AsyncStreamReader
from mf.core.target import AsyncTargetSource, TargetSource
from mf.link.async_resolver import AsyncResolver
from mf.link.background import Background
from mf.link.reconnect import Backoff
from mf.link.resolver import Instance, View, topic_view
from mf.protocol.other_schema import TopicValue
from mf.topics._generated.mf.topics._types import (
    MOST_POSITIONS,
    DeliveryEnded,
    DeliveryMessage,
    DeliveryMissed,
    DeliverySource,
    Message,
    Missed,
    Overflow,
    Position,
    Source,
    Subscription,
    Why,
)
from mf.topics.channel import LONGEST_AGENT, check_subscription
from mf.topics.hub import log_or_raise
from mf.topics.inbox import Inbox, Matched
from mf.topics.info import AnyTopic
from mf.topics.item import Counters, Item, Origin
from mf.topics.options import ALL_KEPT, SubscribeOptions, SubscriberStats
from mf.topics.pattern import pattern_matches
from mf.topics.queue import Queue
from mf.topics.waiting import until_called

_FINAL = frozenset(
    (
        Code.INVALID_ARGUMENT,
        Code.SCHEMA_MISMATCH,
        Code.PERMISSION_DENIED,
        Code.UNAUTHENTICATED,
        Code.MESSAGE_TOO_LARGE,
    )
)
"""Errors after which subscribing again would be useless."""
_CONNECT_WITHIN = 10.0
_MOST_FAILURES, _LONGEST_FAILURE = 3, 300
"""What is told of publishers that are not reached, to who has waited for a message in vain."""
_TELL_EVERY = 10.0
"""Seconds between two lines about the losses of one subscription."""
_MOST_SOURCES = 1 << 16
_MOST_NAMES = 8 << 20
"""The most sources of one stream, and the most characters of their agents; a publisher that names more is
taken as hostile, and its stream ends."""
_MOST_NAMED = 1 << 20
"""The most sources in the life of one stream, most of which have ended; then it begins anew."""
_LAST_NUMBER = 1 << 48
"""The last number of a message: a million a second for nine years. Who counts further is taken as hostile."""
_MOST_SEEN = 65_536
"""The most pairs of publisher and agent that are remembered; a forgotten one is treated as new."""


def _is_of_broken(error: Error) -> bool:
    """Whether the publisher has broken the protocol. What it refuses is not executed; what it sends against
    its schema is no argument."""
    return error.code in (Code.PROTOCOL_ERROR, Code.DECODE_ERROR) or (
        error.code is Code.INVALID_ARGUMENT and error.execution is not Execution.NOT_EXECUTED
    )


def _check_number(number: int) -> None:
    if not 0 < number <= _LAST_NUMBER:
        raise _broken(f"counts to {number}: messages are numbered from 1 to {_LAST_NUMBER}")


class _Owner:
    """The stream that has named a publisher, until it gives it up. `names`: how many of its sources are that
    publisher's."""

    __slots__ = ("names", "standing_by", "stream")

    def __init__(self, stream: "_Stay") -> None:
        self.stream = stream
        self.names = 0
        self.standing_by: set[_Stay] = set()


class _Seen:
    """The state of one publisher and agent. `first`, `next`: the first and the next expected sequence number.
    `queue_source`: its source number in the queue. `adapt`: converts its values, if it has another schema."""

    __slots__ = ("adapt", "first", "next", "origin", "queue_source")

    def __init__(self, origin: Origin, queue_source: int, next_: int) -> None:
        self.adapt: TopicValue | None = None
        self.origin = origin
        self.queue_source = queue_source
        self.first = self.next = next_


class RemoteInbox(Inbox):
    """`run` calls a function on the loop; it may be used from any thread."""

    __slots__ = (
        "_counters",
        "_run",
        "_task",
        "_waiters",
        "_waiting",
        "agents",
        "cut",
        "duplicates",
        "failures",
        "keeps",
        "listeners",
        "options",
        "owners",
        "publishers",
        "seen",
        "trouble",
    )

    def __init__(
        self,
        topic: AnyTopic,
        agents: str,
        options: SubscribeOptions,
        run: Callable[..., Any],
    ) -> None:
        overflow = topic.default_overflow if options.overflow is None else options.overflow
        check_subscription(topic, overflow, agents)
        most = SubscribeOptions()
        super().__init__(
            Queue(
                options.max_messages or most.max_messages, options.max_bytes or most.max_bytes, Overflow.block
            ),
            topic,
        )
        self.agents = agents
        self.options = SubscribeOptions(
            overflow=overflow,
            max_messages=options.max_messages,
            max_bytes=options.max_bytes,
            replay=options.replay,
        )
        self.keeps: object = None
        """Keeps the needed part of a blocking client alive after the user has dropped the client."""
        self.seen: dict[tuple[UUID, str], _Seen] = {}
        self.owners: dict[UUID, _Owner] = {}
        self.failures: dict[str, str] = {}
        """Why the latest attempt at a publisher has failed, by its key."""
        self.trouble = ""
        """Why it is not known who publishes."""
        self.publishers = 0
        self.duplicates = 0
        self.cut = 0
        self.listeners: list[Matched | None] = [None, None]
        self._counters = Counters()
        self._run = run
        self._waiting = Lock()
        self._waiters: list[tuple[int, Callable[[], None]]] = []
        self._task: Task[None] | None = None

    # For the subscriber

    def await_publishers(self, count: int, wake: Callable[[], None]) -> None:
        with self._waiting:
            if self.publishers < count:
                self._waiters.append((count, wake))
                return
        wake()

    def forget_waiter(self, wake: Callable[[], None]) -> None:
        with self._waiting:
            self._waiters = [each for each in self._waiters if each[1] is not wake]

    def set_listeners(self, matched: Matched | None, unmatched: Matched | None) -> None:
        self.listeners = [matched or self.listeners[0], unmatched or self.listeners[1]]

    def silence(self) -> str:
        failures = list(self.failures.values())
        if failures:
            more = len(failures) - _MOST_FAILURES
            shown = "; ".join(failures[:_MOST_FAILURES])
            return f": {shown}" + (f"; and so with {more} more" if more > 0 else "")
        if self.publishers:
            return ""
        return ": no publisher of it was found" + (f" ({self.trouble})" if self.trouble else "")

    def failed(self, key: str, address: str, why: str) -> None:
        """The latest attempt at a publisher has failed."""
        why = why if address in why else f"{address}: {why}"
        self.failures[key] = why if len(why) <= _LONGEST_FAILURE else why[:_LONGEST_FAILURE] + "…"

    def stats(self) -> SubscriberStats:
        counters = self._counters
        return self._figures(
            duplicates=self.duplicates,
            cut=self.cut,
            undecodable=counters.undecodable,
            decoded=counters.decoded,
            copied=counters.copied,
            publishers=self.publishers,
        )

    def _leave(self) -> None:
        self._run(self._stop)

    def _complete(self, function: Callable[..., Any]) -> None:
        self._run(function)

    # On the loop

    def begin(self, client: AsyncClient) -> None:
        follow = _Follow(self, *client.subscriptions())
        self._task = get_running_loop().create_task(follow.run(), context=Context())

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def end(self, why: Error) -> None:
        """Ends the subscriptions at all publishers: whatever they send would find a queue that takes no
        more."""
        self.queue.end(why)
        self._stop()

    def matched(self, by: int) -> None:
        """Called when a publisher was connected (`by` 1) or lost (`by` -1)."""
        with self._waiting:
            self.publishers += by
            ready = [wake for count, wake in self._waiters if count <= self.publishers]
            self._waiters = [each for each in self._waiters if each[0] > self.publishers]
        for wake in ready:
            wake()
        listener = self.listeners[0 if by > 0 else 1]
        if listener is not None:
            try:
                listener(self.publishers)
            except BaseException as raised:
                log_or_raise(f"a listener of a subscriber of {self.topic.name}", raised)

    def subscription(self) -> Subscription:
        latest = list(self.seen.items())[-MOST_POSITIONS:]
        options = self.options
        assert options.overflow is not None
        return Subscription(
            agents=self.agents,
            overflow=options.overflow,
            max_messages=options.max_messages,
            max_bytes=options.max_bytes,
            replay=ALL_KEPT if options.replay is None else options.replay,
            seen=[Position(publisher, agent, seen.next - 1) for (publisher, agent), seen in latest],
        )

    def source(self, source: Source, adapt: TopicValue | None = None) -> _Seen:
        """Handles a source that a stream names. If it is known, the numbers that it skips are missed."""
        key = source.publisher, source.agent
        seen = self.seen.pop(key, None)
        if seen is None:
            if len(self.seen) >= _MOST_SEEN:  # the oldest is usually of a publisher that has gone
                del self.seen[next(iter(self.seen))]
            origin = Origin(self.topic, source.agent, source.publisher, self._counters)
            seen = _Seen(origin, self.queue.add_untold_source(), source.next)
        elif source.next > seen.next:
            self._skip(seen, source.next, Why.not_kept)
        seen.adapt = adapt
        self.seen[key] = seen  # moves it to the end, as the most recent
        return seen

    def claims(self, publisher: UUID, stream: "_Stay") -> bool:
        """Whether the stream may speak for it; if not, it stands by."""
        owner = self.owners.get(publisher)
        if owner is None:
            owner = self.owners[publisher] = _Owner(stream)
        if owner.stream is not stream:
            owner.standing_by.add(stream)
            return False
        owner.names += 1
        return True

    def lose(self, publisher: UUID) -> None:
        """A source is gone with its stream, which may come back to it."""
        self.owners[publisher].names -= 1

    def release(self, publisher: UUID) -> None:
        """A source is gone for good."""
        self.lose(publisher)
        if not self.owners[publisher].names:
            _stand_in(self.owners.pop(publisher))

    def give_up(self, stream: "_Stay", but: UUID | None = None) -> None:
        """The stream lives no more, or has come back and named `but` first: others may stand in for what it
        had."""
        owners = self.owners
        for publisher in [each for each, owner in owners.items() if owner.stream is stream]:
            if publisher != but and not owners[publisher].names:
                _stand_in(owners.pop(publisher))

    def forget(self, sources: Iterable[_Seen]) -> None:
        """Forgets those of which nothing has come: their publisher has broken the protocol."""
        for each in sources:
            key = each.origin.publisher, each.origin.agent
            if each.next == each.first and self.seen.get(key) is each:
                del self.seen[key]

    def message(self, seen: _Seen, message: Message) -> None:
        if message.sequence < seen.next:
            self.duplicates += 1
            return
        if message.sequence > seen.next:  # a gap that the publisher has not reported
            self._skip(seen, message.sequence, Why.upstream)
        item = Item(
            seen.origin,
            message.time,
            payload=bytes(message.payload),
            sequence=message.sequence,
            adapt=seen.adapt,
        )
        seen.next = message.sequence + 1
        self.queue.push(item, seen.queue_source)

    def gap(self, seen: _Seen, missed: Missed) -> None:
        end = missed.first + missed.count
        if end <= seen.next:
            return
        if missed.first > seen.next:
            self._skip(seen, missed.first, Why.upstream)
        self._skip(seen, end, missed.why)

    def _skip(self, seen: _Seen, until: int, why: Why) -> None:
        self.queue.push_missed(seen.origin, seen.queue_source, seen.next, until - seen.next, why)
        seen.next = until


def _stand_in(owner: _Owner) -> None:
    for each in owner.standing_by:
        each.stand_in()


_RELAYS = "relays"
"""The common key of all relays, in place of a key for each process."""


class _Stay:
    """The streams to one key of instances, one after another."""

    __slots__ = ("_lost_told", "_told_at", "address", "matched", "standing_in", "stream", "told_of_other")

    def __init__(self) -> None:
        self.address = ""
        self.matched = False  # the publisher has answered; before that it may not know the subscriber
        self.standing_in = False  # the stream was ended for that
        self.stream: AsyncStreamReader[Any] | None = None
        self.told_of_other = False
        self._lost_told = False
        self._told_at = 0.0

    def tell_lost(self, topic: str, why: Error) -> None:
        """Logs the first loss since the publisher was there, of many only some."""
        now = monotonic()
        if self._lost_told or (self._told_at and now - self._told_at < _TELL_EVERY):
            return
        self._lost_told, self._told_at = True, now
        fields = {"topic": topic, "publisher": self.address, "code": why.code.name, "reason": why.message}
        warning("%s", line("subscription_lost", **fields, next="tries again"))

    def tell_back(self, topic: str) -> None:
        """Logs that the publisher is there, if its loss was."""
        if self._lost_told:
            self._lost_told = False
            info("%s", line("subscription_back", topic=topic, publisher=self.address))

    def stand_in(self) -> None:
        """A publisher for which it stands by is free: subscribes anew, so that nothing is missed that is
        kept."""
        self.standing_in = True
        if self.stream is not None:
            self.stream.cancel()


class _One(AsyncResolver):
    """A resolver that knows one instance only, the peer of a stream."""

    __slots__ = ("_view",)

    def __init__(self, instance: Instance) -> None:
        self.generation = 0
        self._view = View({}, whole=(instance,))

    def view(self, service: str) -> View:  # noqa: ARG002 - it is the same for every service
        return self._view

    async def wait(self, service: str, old: View, timeout: float) -> View:  # noqa: ARG002
        await sleep(timeout)
        return self._view

    def close(self) -> None:
        pass


class _Follow:
    """Follows the instances that publish what the subscriber wants, with one task for each."""

    def __init__(self, inbox: RemoteInbox, resolver: AsyncResolver, router: AsyncRouter) -> None:
        self._inbox = inbox
        self._resolver = resolver
        self._router = router
        self._offered: dict[str, list[Instance]] = {}
        self._tasks: dict[str, Task[None]] = {}

    async def run(self) -> None:
        inbox = self._inbox
        name = topic_view(inbox.topic.name)
        try:
            view = self._resolver.view(name)
            while not self._router.pool.closed:
                self._meet(view)
                view = await self._resolver.wait(name, view, INFINITE)
        except Exception as bug:
            log_handler_failure(f"a subscriber of {inbox.topic.name}", bug)
            inbox.queue.end(Error(Code.INTERNAL, f"{type(bug).__name__}: {bug}", Execution.UNKNOWN))
        finally:
            tasks = list(self._tasks.values())
            for task in tasks:
                task.cancel()
            inbox.queue.end(not_executed(Code.CANCELLED, "the client was closed"))
            if tasks:
                await wait(tasks)

    def _meet(self, view: View) -> None:
        self._inbox.trouble = "" if view.reached else view.trouble
        self._offered = {}
        for key, instance in self._wanted(view):
            ways = self._offered.setdefault(_RELAYS if self._resolver.of_relays else key, [])
            if instance not in ways:
                ways.append(instance)
        loop = get_running_loop()
        for key in self._offered:
            if key not in self._tasks:
                self._tasks[key] = loop.create_task(self._stay(key))

    def _wanted(self, view: View) -> Iterable[tuple[str, Instance]]:
        """The matching instances, each with a key that is unique for its process."""
        for instance in view.whole:
            yield instance.address, instance
        for agent, instances in view.agents.items():
            if agent == "*" or pattern_matches(self._inbox.agents, agent):
                for instance in instances:
                    yield instance.nonce.hex() or instance.address, instance

    async def _stay(self, key: str) -> None:
        """Keeps a subscription to one key open while its instance is known."""
        backoff, inbox, stay = Backoff(), self._inbox, _Stay()
        broken = False
        turn = 0
        try:
            while key in self._offered and not self._router.pool.closed:
                ways = self._offered[key]
                instance = ways[turn % len(ways)]
                stay.address = instance.address
                turn += 1
                try:
                    # One that has broken the protocol is asked again less and less often.
                    await self._subscribe(key, instance, stay, None if broken else backoff)
                except Error as error:
                    broken = _is_of_broken(error)
                    inbox.cut += broken
                    if not broken and self._is_final(error.code):
                        inbox.end(error)
                        return
                    inbox.failed(key, stay.address, error.message)
                    stay.tell_lost(inbox.topic.name, error)
                else:
                    broken = False
                if broken or not stay.matched:
                    inbox.give_up(stay)
                await sleep(backoff.next())
        except Exception as bug:
            log_handler_failure(f"a subscription to {inbox.topic.name} at {stay.address}", bug)
            inbox.end(Error(Code.INTERNAL, f"{type(bug).__name__}: {bug}", Execution.UNKNOWN))
        finally:
            inbox.give_up(stay)
            inbox.failures.pop(key, None)
            self._tasks.pop(key, None)

    def _is_final(self, code: Code) -> bool:
        """A schema mismatch is not final if there are other publishers: those continue."""
        if code is Code.OVERLOADED:
            return self._inbox.options.overflow is Overflow.disconnect
        return code in _FINAL and (code is not Code.SCHEMA_MISMATCH or len(self._offered) == 1)

    async def _subscribe(self, key: str, instance: Instance, stay: _Stay, backoff: Backoff | None) -> None:
        """Reads one stream until it ends. Raises the error that it ends with."""
        inbox, service = self._inbox, self._inbox.topic.service
        stay.matched = stay.standing_in = False
        until = monotonic() + _CONNECT_WITHIN
        link = await self._router.pool.open(instance, until)
        binding = await link.bind(service, "", until)
        adapt = None if binding.adaptation is None else binding.adaptation.value
        router = AsyncRouter(_One(instance), self._router.pool, 0.0)
        router.seen.add((service.name, ""))  # makes the router try only once
        target = AsyncRemoteTarget(router, service, None)
        target.begin_at(Route(link, binding, False))
        stream = read_stream(target, service.methods[0], _WITHOUT_END, (inbox.subscription(),))
        async with stream:
            stay.stream = stream
            sources = _Sources()
            try:
                async for delivery in stream:
                    if backoff is not None:
                        backoff.reset()
                    if not stay.matched:
                        stay.matched = True
                        inbox.matched(1)
                        inbox.failures.pop(key, None)
                        stay.tell_back(inbox.topic.name)
                    await self._take(delivery, stay, sources, adapt)
            except Error as error:
                if stay.standing_in and error.code is Code.CANCELLED:
                    return
                if _is_of_broken(error):
                    inbox.forget(sources.seen())
                raise
            finally:
                stay.stream = None
                for seen in sources.seen():
                    inbox.lose(seen.origin.publisher)
                if stay.matched:
                    inbox.matched(-1)

    async def _take(self, delivery: Any, stay: _Stay, sources: "_Sources", adapt: TopicValue | None) -> None:
        inbox = self._inbox
        size = len(delivery.value.payload) if isinstance(delivery, DeliveryMessage) else 0
        while not inbox.queue.has_room(size):
            await until_called(partial(inbox.queue.when_room, size), inbox.queue.forget_room, INFINITE)
        value = delivery.value
        if isinstance(delivery, DeliverySource):
            sources.check(value)
            seen = inbox.source(value, adapt) if inbox.claims(value.publisher, stay) else None
            sources.all.append(_Named(value.agent, seen))
            if len(sources.all) == 1:
                inbox.give_up(stay, value.publisher)
            if seen is None and not stay.told_of_other:
                stay.told_of_other = True
                text = "%s names a publisher of %s that another address has named before: it stands by"
                info(text, stay.address, inbox.topic.name)
            return
        named = sources.find(value.source)
        seen = named.seen
        if isinstance(delivery, DeliveryEnded):
            sources.end(value.source)
            if seen is not None:
                inbox.release(seen.origin.publisher)
        elif seen is None:
            inbox.duplicates += 1
        elif isinstance(delivery, DeliveryMessage):
            _check_number(value.sequence)
            inbox.message(seen, value)
        elif isinstance(delivery, DeliveryMissed):
            _check_number(value.first)
            if not 0 < value.count <= _LAST_NUMBER - value.first:
                raise _broken(f"says that {value.count} messages from {value.first} on are missed")
            inbox.gap(seen, value)
        inbox.queue.wake()


class _Named(NamedTuple):
    """A source of a stream. `seen`: None if another stream has its publisher."""

    agent: str
    seen: _Seen | None


class _Sources:
    """The sources of one stream, by their numbers; None: it has ended."""

    __slots__ = ("_live", "_names", "all")

    def __init__(self) -> None:
        self.all: list[_Named | None] = []
        self._live = 0  # that have not ended
        self._names = 0  # characters of their agents

    def check(self, source: Source) -> None:
        """Raises PROTOCOL_ERROR for one that cannot follow."""
        if source.source != len(self.all):
            raise _broken(f"sent source {source.source} where {len(self.all)} follows")
        _check_number(source.next)
        _check_number(source.live)
        if source.live < source.next:
            raise _broken(f"replays from message {source.next} to {source.live}")
        if len(source.agent.encode()) > LONGEST_AGENT:
            raise _broken(f"names an agent of {len(source.agent.encode())} bytes, of at most {LONGEST_AGENT}")
        self._live += 1
        self._names += len(source.agent)
        many = self._live > _MOST_SOURCES or len(self.all) >= _MOST_NAMED
        if many or self._names > _MOST_NAMES:
            text = f"has more than {_MOST_SOURCES} agents, or more than {_MOST_NAMES} bytes of their names"
            raise _broken(f"{text}, in one subscription")

    def seen(self) -> list[_Seen]:
        return [each.seen for each in self.all if each is not None and each.seen is not None]

    def end(self, number: int) -> None:
        self._live -= 1
        self._names -= len(self.find(number).agent)
        self.all[number] = None

    def find(self, number: int) -> _Named:
        if number >= len(self.all):
            raise _broken(f"sent a message of source {number}, of which it has {len(self.all)}")
        found = self.all[number]
        if found is None:
            raise _broken(f"sent a message of source {number}, which it has ended")
        return found


def _broken(what: str) -> Error:
    return Error(Code.PROTOCOL_ERROR, f"a publisher {what}", Execution.UNKNOWN)


_WITHOUT_END = CallOptions(deadline=INFINITE)


def async_inbox(
    source: AsyncTargetSource, topic: AnyTopic, agents: str, options: SubscribeOptions
) -> RemoteInbox:
    """Raises Error(INVALID_ARGUMENT)."""
    if not isinstance(source, AsyncClient):
        raise not_executed(Code.INVALID_ARGUMENT, _no_source(source))
    loop = get_running_loop()
    inbox = RemoteInbox(topic, agents, options, _Soon(loop))
    inbox.begin(source)
    return inbox


def blocking_inbox(
    source: TargetSource, topic: AnyTopic, agents: str, options: SubscribeOptions
) -> RemoteInbox:
    """Raises Error(INVALID_ARGUMENT)."""
    if not isinstance(source, Client):
        raise not_executed(Code.INVALID_ARGUMENT, _no_source(source))
    thread: Background
    side = source.async_side()
    thread, client = side.running()
    inbox = RemoteInbox(topic, agents, options, thread.soon)
    inbox.keeps = side
    thread.call(inbox.begin, client)
    return inbox


def _no_source(source: object) -> str:
    return f"messages come from topics or a client, not from a {type(source).__name__}"


class _Soon:
    """Calls functions on a loop, from any thread, unless the loop is closed."""

    __slots__ = ("_loop",)

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop

    def __call__(self, function: Callable[..., Any], *arguments: Any) -> None:
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function, *arguments)
