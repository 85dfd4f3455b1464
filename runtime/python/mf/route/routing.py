"""R5. What all targets of a client share: the finders of its servers, and the rules by which a call goes to
one of several. The drivers of searches are written once, as coroutines; the waits are those of the kinds of
clients (blocking_routing.py, async_routing.py).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from copy import copy
from time import monotonic
from typing import Any, Generic, Self, TypeVar

from mf.core.backoff import JITTER, Backoff
from mf.core.cached import Caches
from mf.core.client_options import DEFAULTS, ClientOptions
from mf.core.error import Code, Error, not_executed
from mf.core.log import info, line, warning
from mf.core.service import Method, ServiceInfo
from mf.link.core import LinkCore
from mf.protocol.call import Call, RetryBudget, too_late
from mf.protocol.call_table import CallEvent
from mf.protocol.calls import Binding
from mf.route.adaptation import bind
from mf.route.balance import usual_with
from mf.route.finder import Endpoint, Finder, Route, Search, SinceAnswered
from mf.route.finder_table import Step
from mf.route.pool import Pool
from mf.route.resolver import Instance, View, Views

V = TypeVar("V", bound=Views)
P = TypeVar("P", bound=Pool[Any, Any])

_MOST_CHECKED = 4096
_MOST_DIFFERING = 1000
_MOST_FINDERS = 8192


class Routing(ABC, Generic[V, P]):
    """`budget`: limits repetitions of calls. `forward_metadata`: keys that are forwarded from a handler's
    call to calls that it makes here. `caches`: cached results. `replications`: senders of replicated calls,
    by service and agent; `replicator`: makes them for blocking clients. `upstreams`: what the subscribers of
    a client share (mf.topics.remote).
    """

    def __init__(
        self, resolver: V, pool: P, options: ClientOptions = DEFAULTS, caches: Caches | None = None
    ) -> None:
        self.resolver = resolver
        self.pool = pool
        self.wait_for_server = options.wait_for_server
        self.forward_metadata = tuple(options.forward_metadata)
        self.budget = RetryBudget()
        self.caches = Caches() if caches is None else caches
        self.replications: dict[tuple[str, str], Any] = {}
        self.replicator: Any = None
        self.upstreams: dict[Any, Any] = {}
        self.quiet = False
        """Whether the owner itself logs what cannot be reached."""
        self.logged: set[tuple[str, str | None]] = set()
        """The services and agents that could not be reached, and were logged as such."""
        self.seen: set[tuple[str, str | None]] = set()
        self.some_refuse = False  # some server was overloaded before
        self._finders: dict[tuple[str, bytes, str | None], Finder] = {}
        self._checked: set[tuple[int, bytes]] = set()
        """By method, schemas that lack some of its values."""
        self._differing: set[tuple[str, bytes, bytes]] = set()
        """Services with their own and other schemas of servers, which were logged."""
        self._one_way: dict[str, bytes] = {}  # by service: the schema of the latest one-way call at a relay
        self._usual: dict[int, float] = {}  # seconds that a method usually takes

    def passing_on(self, keys: tuple[str, ...]) -> Self:
        """A copy for calls that forward more keys."""
        other = copy(self)
        other.forward_metadata = (*self.forward_metadata, *keys)
        return other

    # Finding

    @abstractmethod
    async def news(self, service: ServiceInfo, old: View, timeout: float) -> None:
        """Waits until the view of the service differs from `old`, at most `timeout` seconds."""

    @abstractmethod
    async def rest(self, service: ServiceInfo, until: float) -> None:
        """Waits until the given time, or until the client is closed."""

    @abstractmethod
    def in_turn(
        self, service: ServiceInfo, agent: str | None, deadline: float
    ) -> AbstractAsyncContextManager[None]:
        """While a one-way call is sent. Raises TimeoutError if its turn does not come before the deadline."""

    def finder(self, service: ServiceInfo, agent: str | None) -> Finder:
        key = (service.name, service.fingerprint, agent)
        finder = self._finders.get(key)
        if finder is None:
            if len(self._finders) >= _MOST_FINDERS:
                self._finders.clear()
            finder = self._finders.setdefault(key, Finder(self, service, agent))
        return finder

    async def find(
        self,
        service: ServiceInfo,
        agent: str | None,
        method: Method[Any, Any],
        deadline: float,
        note: Callable[[Error], None] | None = None,
    ) -> tuple[Route[Any], bool]:
        """A route, and whether it is the only possible one. `note` is called with the reason why there is
        none yet. Raises Error, NOT_EXECUTED."""
        search = self.finder(service, agent).search(method, deadline, note)
        while (route := await self.attempt(search, service, deadline)) is None:
            await self.news(service, search.view, search.pause)
        return route, search.only

    async def attempt(self, search: Search, service: ServiceInfo, deadline: float) -> Route[Any] | None:
        """One round of a search. None: it rests. Raises Error, NOT_EXECUTED."""
        step = search.next()
        while step is Step.CONNECT:
            endpoint, instance = search.endpoint, search.endpoint.instance
            try:
                if search.begins:
                    await self.pool.begin_all(search.begins, deadline)
                link: LinkCore = await self.pool.open(instance, search.until)
                schema = self.schema_of(instance)
                binding = await bind(link, service, endpoint.agent, search.until, schema, search.fire)
            except Error as failure:
                self._note_refusal(service, instance, failure)
                step = search.failed(failure)
            except BaseException:
                search.abandoned()
                raise
            else:
                self._note_schema(service, instance, binding)
                step = search.bound(link, binding)
        return search.route if step is Step.READY else None

    def late(self, service: ServiceInfo, agent: str | None) -> Error:
        """The failure of a call whose deadline passed before its search began."""
        failure = None if self.pool.closed else self.finder(service, agent).unknown()
        return failure or too_late()

    async def agents(self, service: ServiceInfo, deadline: float) -> list[str]:
        """All agents known so far, including those whose servers have gone; waits for the first. Raises
        Error, NOT_EXECUTED."""
        clock, finder = SinceAnswered(), self.finder(service, None)
        late = monotonic() >= deadline
        while True:
            if self.pool.closed:
                raise not_executed(Code.CANCELLED, "the client was closed")
            with finder.lock:
                view = finder.compare()
            start = clock.start(view)
            if view.whole:
                text = f"it is not known which agents {service.name} has: name them, or use a controller"
                raise not_executed(Code.INVALID_ARGUMENT, text)
            if view.agents:
                gone = (agent for agent, instances in view.agents.items() if not instances)
                self.seen.update((service.name, agent) for agent in gone)  # no call waits for these
                return list(view.agents)
            if late:
                raise too_late()
            pause = finder.limit(start, deadline) - monotonic()
            if pause <= 0:
                raise finder.unreached(view)
            await self.news(service, view, pause)

    # Other schemas

    def _note_schema(self, service: ServiceInfo, instance: Instance, binding: Binding) -> None:
        """A server is bound. If it has another schema, that is logged once for each schema."""
        adaptation = binding.adaptation
        if adaptation is None or not self._is_news(service, adaptation.fingerprint):
            return
        if words := adaptation.differences:
            self._tell_schema(service, instance, words, "other calls go on, adapted")
        else:
            harmless = "nothing that calls need"
            info("%s", _schema_differs(service, instance, harmless, "calls go on, adapted"))

    def _note_refusal(self, service: ServiceInfo, instance: Instance, refusal: Error) -> None:
        """A server is not bound. The same, if that is because of its schema."""
        if refusal.code is Code.SCHEMA_MISMATCH:
            theirs = instance.fingerprint or instance.address.encode()
            if self._is_news(service, theirs):
                self._tell_schema(service, instance, refusal.message, "no call is made there")

    @staticmethod
    def _tell_schema(service: ServiceInfo, instance: Instance, words: str, then: str) -> None:
        warning("%s", _schema_differs(service, instance, words, then), peer=instance.address)

    def _is_news(self, service: ServiceInfo, theirs: bytes) -> bool:
        key = (service.name, service.fingerprint, theirs)
        if key in self._differing or len(self._differing) >= _MOST_DIFFERING:
            return False
        self._differing.add(key)
        return True

    # Which of several

    def ordered(
        self, endpoints: list[Endpoint], service: ServiceInfo, method: Method[Any, Any]
    ) -> list[Endpoint]:
        """The endpoints with the best choice first; there are several."""
        if self.resolver.of_relays:
            chosen = self._ordered_relays(endpoints, service, method)
        else:
            chosen = self.pool.ordered(endpoints)
        if self._checked:
            chosen = self._sure_first(chosen, method)
        if self.some_refuse:
            now = monotonic()
            chosen.sort(key=lambda endpoint: self._refuses(endpoint.instance, now))
        return chosen

    def _ordered_relays(
        self, endpoints: list[Endpoint], service: ServiceInfo, method: Method[Any, Any]
    ) -> list[Endpoint]:
        """A relay is an endpoint for each schema behind it. It gets calls in proportion to the servers that
        have them; but order holds only among calls that it has in one binding, so that calls go where the
        latest one-way call went."""
        kept = self._one_way.get(service.name, b"" if method.oneway else None)
        relays: dict[str, list[Endpoint]] = {}
        for endpoint in endpoints:
            relays.setdefault(endpoint.instance.address, []).append(endpoint)
        for of_relay in relays.values():
            if kept is not None:
                of_relay.sort(key=lambda each: _preference(each.instance, service, kept))
            else:  # drawn without replacement, by weight
                of_relay.sort(key=lambda each: JITTER.random() ** (1 / each.instance.weight), reverse=True)
        firsts = self.pool.ordered([of_relay[0] for of_relay in relays.values()])
        return firsts + [each for first in firsts for each in relays[first.instance.address][1:]]

    def _sure_first(self, endpoints: list[Endpoint], method: Method[Any, Any]) -> list[Endpoint]:
        sure = [each for each in endpoints if _checks_key(method, each.instance) not in self._checked]
        if not any(self.pool.usable(each.instance) for each in sure):
            return endpoints
        return sure + [each for each in endpoints if each not in sure]

    def surer(
        self, binding: Binding, method: Method[Any, Any], endpoint: Endpoint, left: list[Endpoint]
    ) -> list[Endpoint]:
        """The endpoints whose schemas may have all values of the method, where that of `endpoint` lacks
        some."""
        if binding.adaptation is None or not binding.adaptation.checks(method):
            return []
        if len(self._checked) > _MOST_CHECKED:
            self._checked.clear()
        self._checked.add(_checks_key(method, endpoint.instance))
        return [
            other
            for other in left
            if _checks_key(method, other.instance) not in self._checked
            and (self.pool.usable(other.instance) or self.pool.is_untried(other.instance))
        ]

    def used(self, service: ServiceInfo, schema: bytes, method: Method[Any, Any], *, only: bool) -> None:
        """A call goes to servers of this schema behind a relay. `only`: others may follow unseen."""
        if method.oneway:
            self._one_way[service.name] = schema
        elif only and any(each.oneway for each in service.methods):
            self._one_way.setdefault(service.name, schema)

    def schema_of(self, instance: Instance) -> bytes:
        """The fingerprint by which bindings to the instance are known: only a relay has several."""
        return instance.fingerprint if self.resolver.of_relays else b""

    # What calls report

    def _refuses(self, instance: Instance, now: float) -> bool:
        link: LinkCore | None = self.pool.usable(instance)
        return link is not None and link.refuses_until > now

    def _may_take_it(self, instance: Instance, now: float) -> bool:
        """The instance is connected and has refused nothing lately, or was never tried. One that was tried
        and has no connection is down."""
        link: LinkCore | None = self.pool.usable(instance)
        return link.refuses_until <= now if link is not None else self.pool.is_untried(instance)

    def rest_of(
        self, call: Call[Any], link: LinkCore, service: ServiceInfo, agent: str | None, now: float
    ) -> float:
        """A server has refused the call as OVERLOADED, and it is to be sent again. Returns the seconds that
        it rests before: 0 if another instance may accept it."""
        link.refused(now)
        self.some_refuse = True
        view: View = self.resolver.view(service.name)
        candidates = view.find("" if agent is None and service.agent is None else agent)
        if any(self._may_take_it(instance, now) for _, instance in candidates):
            return 0.0
        backoff = Backoff()
        for _ in range(call.attempts - 2):
            backoff.next()
        return backoff.next()

    def learn(self, route: Route[Any], call: Call[Any], sent: float, now: float) -> None:
        """Records the end of a request that was sent at `sent` on a chosen route, before the call is
        settled."""
        standing = route.link.standing
        if call.failure is not None:
            if call.ended_by is CallEvent.EXPIRED:
                standing.missed(now)
        elif call.status == Code.DEADLINE_EXCEEDED:
            standing.missed(now)
        elif call.status == Code.UNAVAILABLE:
            standing.failed(now)
        elif call.status == Code.OVERLOADED:
            return  # rest_of() handles that
        elif call.items != 1:
            standing.replied(now - sent, 0.0, sent, now)
        else:
            key = id(call.method)
            usual = self._usual.get(key, 0.0)
            standing.replied(now - sent, usual, sent, now)
            self._usual[key] = usual_with(usual, now - sent)


def _schema_differs(service: ServiceInfo, instance: Instance, words: str, then: str) -> str:
    at = instance.address
    return line("schema_differs", service=service.name, server=at, difference=words, next=then)


def _checks_key(method: Method[Any, Any], instance: Instance) -> tuple[int, bytes]:
    return id(method), instance.fingerprint or instance.address.encode()


def _preference(instance: Instance, service: ServiceInfo, kept: bytes) -> tuple[bool, bool, int, bytes]:
    schema = instance.fingerprint
    return schema != kept, schema != service.fingerprint, -instance.weight, schema
