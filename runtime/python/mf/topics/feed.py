"""R6. A feed of an upstream (upstream.py): its subscription at one instance.

A stream that ends is opened again while its instance is known, and continues after the last message seen.
What one names of a publisher that another stream has named before is left to that one, as long as that lives
(decision 0056): the stream waits, and begins anew when it may take over. Several relays reach the same
publishers, so only one of them has a stream, and the next one when it is lost."""

from asyncio import sleep
from itertools import count
from time import monotonic
from typing import Any

from mf.client.async_target import AsyncRemoteTarget
from mf.client.standing import StandingCall
from mf.core.client_options import ClientOptions
from mf.core.code_class import EVERYWHERE
from mf.core.error import Code, Error, Execution, not_executed
from mf.core.gate import LoopGate
from mf.core.log import info, line, log_escaped_exception, warning
from mf.core.options import INFINITE, CallOptions
from mf.core.stream import AsyncStreamReader
from mf.protocol.other_schema import TopicValue
from mf.route.adaptation import bind
from mf.route.async_resolver import AsyncResolver
from mf.route.async_routing import AsyncRouting
from mf.route.finder import Route
from mf.route.resolver import Instance, View
from mf.topics._generated.mf.topics._types import (
    DeliveryEnded,
    DeliveryMessage,
    DeliverySource,
    Overflow,
)
from mf.topics._generated.mf.topics._types import Source as Announcement
from mf.topics.announced import Announced, AnnouncedSources, check_missed, check_number
from mf.topics.inbox import Inbox
from mf.topics.source import Source
from mf.topics.upstream import Upstream

_CONNECT_WITHIN = 10.0
_OTHERWISE_WITHIN = 2.0
"""The same where there is another way."""
_LOG_EVERY = 10.0
"""Seconds between two lines about the losses of one subscription."""


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


Offered = dict[str, list[Instance]]
"""The ways to the instances that are known now, by the keys of their feeds."""


class Feed:
    """The streams to one instance, or to one of the relays with the same key, one after another."""

    def __init__(
        self, upstream: Upstream, router: AsyncRouting, offered: Offered, key: str, *, of_relays: bool
    ) -> None:
        self._upstream = upstream
        self._router = router
        self._offered = offered
        self._key = key
        self._of_relays = of_relays
        self._standing = StandingCall()
        self._turns = count()
        self._address = ""
        self._is_broken = False  # the last stream has broken the protocol
        self._has_answered = False  # before the publisher has, it may not know the subscriber
        self._stands_in = False  # the stream was ended for that
        self._stream: AsyncStreamReader[Any] | None = None
        self._sources = AnnouncedSources()  # of the last stream
        self._stands_by_logged = False
        self._loss_logged = False
        self._logged_at = 0.0

    async def run(self) -> None:
        """Keeps the subscription open while its instance is known."""
        upstream = self._upstream
        try:
            await self._standing.keep(self._session, self._goes_on)
        except Exception as bug:
            log_escaped_exception(f"a subscription to {upstream.topic.name} at {self._address}", bug)
            upstream.end(Error(Code.INTERNAL, f"{type(bug).__name__}: {bug}", Execution.UNKNOWN))
        finally:
            for source in self._sources.owned():
                source.forget_kept()
            upstream.give_up(self)
            upstream.failures.pop(self._key, None)

    def stand_in(self) -> None:
        """A publisher that it waits for is free: subscribes anew, so that nothing is missed that is
        kept."""
        self._stands_in = True
        if self._stream is not None:
            self._stream.cancel()

    async def _session(self) -> None:
        offered = self._offered.get(self._key)
        if offered is not None:  # it may have gone during the pause
            instance = offered[next(self._turns) % len(offered)]
            self._address = instance.address
            await self._subscribe(instance, _CONNECT_WITHIN if len(offered) == 1 else _OTHERWISE_WITHIN)

    def _goes_on(self, ended: Exception | None) -> bool:
        """Whether a stream that has ended so is opened again. Raises what is a bug."""
        upstream = self._upstream
        self._is_broken = False
        if ended is not None:
            if not isinstance(ended, Error):
                raise ended
            self._is_broken = _is_of_broken(ended)
            upstream.cut += self._is_broken
            placed = _placed(ended, self._address)
            if not self._is_broken and self._is_final(ended.code):
                upstream.end(placed)
                return False
            self._log_lost(ended)
            upstream.failed(self._key, placed.message)  # what is said of it is in the log by then
        if self._is_broken or not self._has_answered:
            upstream.give_up(self)
        return self._key in self._offered and not self._router.pool.closed

    def _is_final(self, code: Code) -> bool:
        """Whether to subscribe again is useless. With another schema there may be other publishers: those
        continue."""
        if code is Code.OVERLOADED:
            return self._upstream.wanted.overflow is Overflow.disconnect
        if code is Code.SCHEMA_MISMATCH:
            return len(self._offered) == 1
        return code in EVERYWHERE or code is Code.MESSAGE_TOO_LARGE

    def _log_lost(self, why: Error) -> None:
        """Logs the first loss since the publisher was there, of many only some."""
        now = monotonic()
        recently = self._logged_at and now - self._logged_at < _LOG_EVERY
        if self._loss_logged or recently or self._router.pool.closed:
            return
        self._loss_logged, self._logged_at = True, now
        topic = self._upstream.topic.name
        fields = {"topic": topic, "publisher": self._address, "code": why.code.name, "reason": why.message}
        warning("%s", line("subscription_lost", **fields, next="tries again"))

    async def _subscribe(self, instance: Instance, within: float) -> None:
        """Reads one stream until it ends. Raises the error that it ends with. It has to begin `within` so
        many seconds."""
        upstream, service = self._upstream, self._upstream.topic.service
        self._has_answered = self._stands_in = False
        until = monotonic() + within
        link = await self._router.pool.open(instance, until)
        schema = instance.fingerprint if self._of_relays else b""
        binding = await bind(link, service, "", until, schema)
        if binding.schema != schema:  # or it would be subscribed to twice
            text = f"{link.peer} has no publisher of {service.name} with the schema that was announced"
            raise not_executed(Code.UNAVAILABLE, text)
        adapt = None if binding.adaptation is None else binding.adaptation.value
        router = AsyncRouting(_One(instance), self._router.pool, _NO_WAIT)
        router.seen.add((service.name, ""))  # makes the router try only once
        target = AsyncRemoteTarget(router, service, None)
        target.begin_at(Route(link, binding, False))
        stream = target.read_stream(service.methods[0], _WITHOUT_END, upstream.subscription())
        async with stream:
            self._stream, self._sources = stream, AnnouncedSources()
            try:
                async for delivery in stream:
                    if not self._is_broken:  # one that has broken the protocol is asked less and less often
                        self._standing.answered()
                    if not self._has_answered:
                        self._answered()
                    await self._take(delivery, adapt)
            except Error as error:
                if self._stands_in and error.code is Code.CANCELLED:
                    return
                if _is_of_broken(error):
                    upstream.forget(self._sources.owned())
                raise
            finally:
                self._stream = None
                for source in self._sources.owned():
                    upstream.lose(source.origin.publisher)

    def _answered(self) -> None:
        """The publisher is there."""
        upstream = self._upstream
        self._has_answered = True
        upstream.failures.pop(self._key, None)
        if self._loss_logged:
            self._loss_logged = False
            info("%s", line("subscription_back", topic=upstream.topic.name, publisher=self._address))

    async def _take(self, delivery: Any, adapt: TopicValue | None) -> None:
        value = delivery.value
        size = len(value.payload) if isinstance(delivery, DeliveryMessage) else 0
        if isinstance(delivery, DeliverySource):
            source = self._announced(value)
        else:
            source = self._sources.find(value.source).source
        if isinstance(delivery, DeliveryEnded):
            self._sources.end(value.source)
            if source is not None:
                source.forget_kept()
                self._upstream.release(source.origin.publisher)
        elif source is None:
            self._upstream.duplicates += not isinstance(delivery, DeliverySource)
        else:
            while (full := self._pass_on(delivery, source, adapt)) is not None:
                await self._upstream.board.room(LoopGate, full, size)

    def _announced(self, announcement: Announcement) -> Source | None:
        """None: another stream has its publisher."""
        upstream = self._upstream
        self._sources.check(announcement)
        owns = upstream.claims(announcement.publisher, self)
        source = upstream.source(announcement) if owns else None
        self._sources.all.append(Announced(announcement.agent, source))
        if len(self._sources.all) == 1:
            upstream.give_up(self, announcement.publisher)
        if source is None and not self._stands_by_logged:
            self._stands_by_logged = True
            text = "%s names a publisher of %s that another address has named before: it is on standby"
            info(text, self._address, upstream.topic.name)
        return source

    def _pass_on(self, delivery: Any, source: Source, adapt: TopicValue | None) -> Inbox | None:
        """Returns an inbox that is waited for and has no room, if there is one."""
        upstream, value = self._upstream, delivery.value
        if isinstance(delivery, DeliveryMessage):
            check_number(value.sequence)
            return upstream.message(source, value, adapt)
        if isinstance(delivery, DeliverySource):
            return upstream.resume(source, value)
        check_missed(value)
        return upstream.gap(source, value)


class _One(AsyncResolver):
    """A resolver of one instance only, the peer of a stream."""

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


_WITHOUT_END = CallOptions(deadline=INFINITE)
_NO_WAIT = ClientOptions(wait_for_server=0.0)
