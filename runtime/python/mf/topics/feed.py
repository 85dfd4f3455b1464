"""R6. The streams of an upstream (upstream.py): one to each instance that publishes what its subscribers
want.

A stream that ends is opened again while its instance is known, and continues after the last message seen.
What one names of a publisher that another stream has named before is left to that one, as long as that lives
(decision 0056): the stream stands by, and begins anew when it may stand in. Several relays reach the same
publishers, so only one of them has a stream, and the next one when it is lost."""

from asyncio import Task, get_running_loop, sleep, wait
from collections.abc import Iterable
from itertools import count
from time import monotonic
from typing import Any, NamedTuple

from mf.client.async_target import AsyncRemoteTarget
from mf.client.standing import StandingCall
from mf.core.client_options import ClientOptions
from mf.core.code_class import EVERYWHERE
from mf.core.error import Code, Error, Execution, not_executed
from mf.core.gate import LoopGate
from mf.core.log import info, line, log_handler_failure, warning
from mf.core.options import INFINITE, CallOptions
from mf.core.stream import AsyncStreamReader
from mf.protocol.other_schema import TopicValue
from mf.route.adaptation import bind
from mf.route.async_resolver import AsyncResolver
from mf.route.async_routing import AsyncRouting
from mf.route.finder import Route
from mf.route.resolver import Instance, View, topic_view
from mf.topics._generated.mf.topics._types import (
    DeliveryEnded,
    DeliveryMessage,
    DeliverySource,
    Overflow,
)
from mf.topics._generated.mf.topics._types import Source as Announced
from mf.topics.channel import LONGEST_AGENT
from mf.topics.inbox import Inbox
from mf.topics.pattern import pattern_matches
from mf.topics.source import Source
from mf.topics.upstream import Upstream

_CONNECT_WITHIN = 10.0
_OTHERWISE_WITHIN = 2.0
"""The same where there is another way."""
_LOG_EVERY = 10.0
"""Seconds between two lines about the losses of one subscription."""
_MOST_SOURCES = 1 << 16
_MOST_NAMES = 8 << 20
"""The most sources of one stream, and the most characters of their agents; a publisher that names more is
taken as hostile, and its stream ends."""
_MOST_NAMED = 1 << 20
"""The most sources in the life of one stream, most of which have ended; then it begins anew."""
_LAST_NUMBER = 1 << 48
"""The last number of a message: a million a second for nine years. A peer beyond it is hostile."""


def _placed(error: Error, where: str) -> Error:
    """The error with the address of its sender in front, unless the text has it, as relays write it."""
    if where.partition("://")[2] in error.message:
        return error
    return Error(error.code, f"{where}: {error.message}", error.execution)


def _is_of_broken(error: Error) -> bool:
    """Whether the publisher has broken the protocol. What it refuses is not executed; what it sends against
    its schema is no argument."""
    return error.code in (Code.PROTOCOL_ERROR, Code.DECODE_ERROR) or (
        error.code is Code.INVALID_ARGUMENT and error.execution is not Execution.NOT_EXECUTED
    )


def _check_number(number: int) -> None:
    if not 0 < number <= _LAST_NUMBER:
        raise _broken(f"counts to {number}: messages are numbered from 1 to {_LAST_NUMBER}")


_RELAYS = "relays"
"""The common key of all relays, in place of a key for each process, where the schema of the publishers behind
them is not known; else that is the key."""


class Stay:
    """The streams to one key of instances, one after another."""

    __slots__ = (
        "_logged_at",
        "_loss_logged",
        "address",
        "broken",
        "matched",
        "other_schema_logged",
        "sources",
        "standing_in",
        "stream",
    )

    def __init__(self) -> None:
        self.address = ""
        self.broken = False  # the last stream has broken the protocol
        self.matched = False  # the publisher has answered; before that it may not know the subscriber
        self.sources: list[Source] = []  # of the last stream
        self.standing_in = False  # the stream was ended for that
        self.stream: AsyncStreamReader[Any] | None = None
        self.other_schema_logged = False
        self._loss_logged = False
        self._logged_at = 0.0

    def tell_lost(self, topic: str, why: Error) -> None:
        """Logs the first loss since the publisher was there, of many only some."""
        now = monotonic()
        if self._loss_logged or (self._logged_at and now - self._logged_at < _LOG_EVERY):
            return
        self._loss_logged, self._logged_at = True, now
        fields = {"topic": topic, "publisher": self.address, "code": why.code.name, "reason": why.message}
        warning("%s", line("subscription_lost", **fields, next="tries again"))

    def tell_back(self, topic: str) -> None:
        """Logs that the publisher is there, if its loss was."""
        if self._loss_logged:
            self._loss_logged = False
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


class Follow:
    """Follows the instances that publish what the subscriber wants, with one task for each."""

    def __init__(self, upstream: Upstream, resolver: AsyncResolver, router: AsyncRouting) -> None:
        self._upstream = upstream
        self._resolver = resolver
        self._router = router
        self._offered: dict[str, list[Instance]] = {}
        self._tasks: dict[str, Task[None]] = {}

    async def run(self) -> None:
        upstream = self._upstream
        name = topic_view(upstream.topic.name)
        try:
            view = self._resolver.view(name)
            while not self._router.pool.closed:
                self._meet(view)
                view = await self._resolver.wait(name, view, INFINITE)
        except Exception as bug:
            log_handler_failure(f"a subscriber of {upstream.topic.name}", bug)
            upstream.end_inboxes(Error(Code.INTERNAL, f"{type(bug).__name__}: {bug}", Execution.UNKNOWN))
        finally:
            tasks = list(self._tasks.values())
            for task in tasks:
                task.cancel()
            upstream.end_inboxes(not_executed(Code.CANCELLED, "the client was closed"))
            if tasks:
                await wait(tasks)

    def _meet(self, view: View) -> None:
        self._upstream.trouble = "" if view.reached else view.trouble
        self._offered = {}
        for key, instance in self._wanted(view):
            if self._resolver.of_relays:
                key = instance.fingerprint.hex() or _RELAYS
            ways = self._offered.setdefault(key, [])
            if all(instance.address != way.address for way in ways):
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
            if agent == "*" or pattern_matches(self._upstream.wanted.agents, agent):
                for instance in instances:
                    yield instance.nonce.hex() or instance.address, instance

    async def _stay(self, key: str) -> None:
        """Keeps a subscription to one key open while its instance is known."""
        upstream, stay, standing = self._upstream, Stay(), StandingCall()
        turns = count()

        async def session() -> None:
            offered = self._offered.get(key)
            if offered is None:  # during the pause
                return
            instance = offered[next(turns) % len(offered)]
            stay.address = instance.address
            until = monotonic() + (_CONNECT_WITHIN if len(offered) == 1 else _OTHERWISE_WITHIN)
            await self._subscribe(key, instance, stay, until, standing)

        def goes_on(ended: Exception | None) -> bool:
            return self._goes_on(key, stay, ended) and key in self._offered and not self._router.pool.closed

        try:
            await standing.keep(session, goes_on)
        except Exception as bug:
            log_handler_failure(f"a subscription to {upstream.topic.name} at {stay.address}", bug)
            upstream.end(Error(Code.INTERNAL, f"{type(bug).__name__}: {bug}", Execution.UNKNOWN))
        finally:
            for source in stay.sources:
                source.forget_kept()
            upstream.give_up(stay)
            upstream.failures.pop(key, None)
            self._tasks.pop(key, None)

    def _goes_on(self, key: str, stay: Stay, ended: Exception | None) -> bool:
        """Whether a stream that has ended so is opened again. Raises what is a bug."""
        upstream = self._upstream
        stay.broken = False
        if ended is not None:
            if not isinstance(ended, Error):
                raise ended
            stay.broken = _is_of_broken(ended)
            upstream.cut += stay.broken
            placed = _placed(ended, stay.address)
            if not stay.broken and self._is_final(ended.code):
                upstream.end(placed)
                return False
            if not self._router.pool.closed:
                stay.tell_lost(upstream.topic.name, ended)
            upstream.failed(key, placed.message)  # what is said of it is in the log by then
        if stay.broken or not stay.matched:
            upstream.give_up(stay)
        return True

    def _is_final(self, code: Code) -> bool:
        """Whether to subscribe again is useless. With another schema there may be other
        publishers: those continue."""
        if code is Code.OVERLOADED:
            return self._upstream.wanted.overflow is Overflow.disconnect
        if code is Code.SCHEMA_MISMATCH:
            return len(self._offered) == 1
        return code in EVERYWHERE or code is Code.MESSAGE_TOO_LARGE

    async def _subscribe(
        self, key: str, instance: Instance, stay: Stay, until: float, standing: StandingCall
    ) -> None:
        """Reads one stream until it ends. Raises the error that it ends with. `until` it has to begin."""
        upstream, service = self._upstream, self._upstream.topic.service
        stay.matched = stay.standing_in = False
        link = await self._router.pool.open(instance, until)
        schema = instance.fingerprint if self._resolver.of_relays else b""
        binding = await bind(link, service, "", until, schema)
        if binding.schema != schema:  # or it would be subscribed to twice
            text = f"{link.peer} knows no publisher of {service.name} with the schema that was announced"
            raise not_executed(Code.UNAVAILABLE, text)
        adapt = None if binding.adaptation is None else binding.adaptation.value
        router = AsyncRouting(_One(instance), self._router.pool, _NO_WAIT)
        router.seen.add((service.name, ""))  # makes the router try only once
        target = AsyncRemoteTarget(router, service, None)
        target.begin_at(Route(link, binding, False))
        stream = target.read_stream(service.methods[0], _WITHOUT_END, upstream.subscription())
        async with stream:
            stay.stream = stream
            sources = _Sources()
            try:
                async for delivery in stream:
                    if not stay.broken:  # one that has broken the protocol is asked less and less often
                        standing.answered()
                    if not stay.matched:
                        stay.matched = True
                        upstream.failures.pop(key, None)
                        stay.tell_back(upstream.topic.name)
                    await self._take(delivery, stay, sources, adapt)
            except Error as error:
                if stay.standing_in and error.code is Code.CANCELLED:
                    return
                if _is_of_broken(error):
                    upstream.forget(sources.owned())
                raise
            finally:
                stay.stream = None
                stay.sources = sources.owned()
                for source in stay.sources:
                    upstream.lose(source.origin.publisher)

    async def _take(self, delivery: Any, stay: Stay, sources: "_Sources", adapt: TopicValue | None) -> None:
        value = delivery.value
        size = len(value.payload) if isinstance(delivery, DeliveryMessage) else 0
        if isinstance(delivery, DeliverySource):
            named = self._named(value, stay, sources)
        else:
            named = sources.find(value.source)
        source = named.source
        if isinstance(delivery, DeliveryEnded):
            sources.end(value.source)
            if source is not None:
                source.forget_kept()
                self._upstream.release(source.origin.publisher)
        elif source is None:
            self._upstream.duplicates += not isinstance(delivery, DeliverySource)
        else:
            while (full := self._pass_on(delivery, source, adapt)) is not None:
                await self._upstream.board.room(LoopGate, full, size)

    def _named(self, announced: Announced, stay: Stay, sources: "_Sources") -> "_Named":
        """A stream announces a source."""
        upstream = self._upstream
        sources.check(announced)
        owns = upstream.claims(announced.publisher, stay)
        named = _Named(announced.agent, upstream.source(announced) if owns else None)
        sources.all.append(named)
        if len(sources.all) == 1:
            upstream.give_up(stay, announced.publisher)
        if not owns and not stay.other_schema_logged:
            stay.other_schema_logged = True
            text = "%s names a publisher of %s that another address has named before: it stands by"
            info(text, stay.address, upstream.topic.name)
        return named

    def _pass_on(self, delivery: Any, source: Source, adapt: TopicValue | None) -> Inbox | None:
        """Returns an inbox that is waited for and has no room, if there is one."""
        upstream, value = self._upstream, delivery.value
        if isinstance(delivery, DeliveryMessage):
            _check_number(value.sequence)
            return upstream.message(source, value, adapt)
        if isinstance(delivery, DeliverySource):
            return upstream.resume(source, value)
        _check_number(value.first)
        if not 0 < value.count <= _LAST_NUMBER - value.first:
            raise _broken(f"says that {value.count} messages from {value.first} on are missed")
        return upstream.gap(source, value)


class _Named(NamedTuple):
    """A source of a stream. `source`: None if another stream has its publisher."""

    agent: str
    source: Source | None


class _Sources:
    """The sources of one stream, by their numbers; None: it has ended."""

    __slots__ = ("_live", "_names", "all")

    def __init__(self) -> None:
        self.all: list[_Named | None] = []
        self._live = 0  # that have not ended
        self._names = 0  # characters of their agents

    def check(self, source: Announced) -> None:
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

    def owned(self) -> list[Source]:
        return [each.source for each in self.all if each is not None and each.source is not None]

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
_NO_WAIT = ClientOptions(wait_for_server=0.0)
