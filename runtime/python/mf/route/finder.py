"""R5. The search for a server: a machine without socket, loop or thread. Its transitions are those of
finder_table.py; the time is that of this process's clock. Its driver (routing.py) does what it says:

    search = finder.search(method, deadline)
    while (step := search.next()) is not Step.READY:
        if step is Step.REST: ...      # for search.pause seconds, or until search.view is outdated
        else: ...                      # connect to search.endpoint and bind, until search.until:
                                       # search.fire(event), then search.bound(...), or search.failed(why)
    search.route

A Finder is of one service and agent, and has their endpoints; each call that has no route makes a Search.
Endpoints are tried one after the other, the best first; one that does not answer within a moment is left
alone while there are others. How long a search goes on:

not reached yet (no controller, or a server that never was)       with back-off until the deadline
reached, but not offered, and this client never saw it            at most `wait_for_server` seconds
seen before, now gone                                             UNAVAILABLE at once, not executed
offered, but by servers whose schemas do not have the method      UNKNOWN_METHOD at once, not executed
offered, but by servers whose schemas do not allow the call       SCHEMA_MISMATCH at once, not executed

Servers with another schema are equivalent where the method can be called on them (docs/evolution.md). Any
number of threads may search at once.
"""

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Any, Generic, Protocol, TypeVar

from mf.core.agent_names import shown_agent
from mf.core.backoff import Backoff
from mf.core.code_class import PASSES
from mf.core.error import Code, Error, not_executed, shortened, some_of
from mf.core.log import info, quote, warning
from mf.core.service import Method, ServiceInfo
from mf.link import fork
from mf.link.core import HANDSHAKE_TIMEOUT, LinkCore
from mf.protocol.calls import Binding
from mf.route.finder_table import TABLE, UNDER_WAY, Event, Source, State, Step
from mf.route.resolver import Instance, View

L = TypeVar("L", bound=LinkCore)

_SHORT = 0.5
"""An attempt with less time, or one that the limit has cut off, may only have been too late: the previous
failure says more."""
_LOG_AFTER = 0.5
"""Seconds after which a search that goes on is logged."""
_MOST_LOGGED = 1000


def _is_final(code: Code) -> bool:
    """To wait is of no use. What is overloaded may have room when other calls have ended."""
    return code not in PASSES and code is not Code.OVERLOADED


class Route(Generic[L]):
    """The destination of a call: a connection, and the route numbers of the service's methods on it."""

    __slots__ = ("binding", "chosen", "link")

    def __init__(self, link: L, binding: Binding, chosen: bool) -> None:
        self.link = link
        self.binding = binding
        self.chosen = chosen
        """Whether there were several candidates, so that the outcome of a call is recorded for balancing."""

    @property
    def usable(self) -> bool:
        return self.link.usable and self.binding.bound


class Endpoint:
    """One address at which the service is offered, with the agent to bind there. `again_at`: when one that is
    cooling may be tried again; `failure`: that of the latest attempt; `route`: of one that is bound."""

    __slots__ = ("again_at", "agent", "failure", "instance", "route", "state")

    def __init__(self, agent: str, instance: Instance) -> None:
        self.agent = agent
        self.instance = instance
        self.state = State.UNKNOWN
        self.again_at = 0.0
        self.failure: Error | None = None
        self.route: Route[Any] | None = None

    def fire(self, event: Event) -> None:
        """The only place where its state changes. Raises ValueError for an event that cannot happen now."""
        after = TABLE[self.state].get(event)
        if after is None:
            raise ValueError(f"an endpoint that is {self.state.name} cannot be {event.name}")
        self.state = after
        if after is not State.BOUND:
            self.route = None

    def look(self, now: float) -> None:
        """Notices what has happened to its connection, and that its time of rest is over."""
        if self.state is State.BOUND:
            assert self.route is not None
            if not self.route.usable:
                lost = self.route.link.failure is not None or self.route.link.usable
                self.fire(Event.LOST if lost else Event.GOAWAY)
        elif self.state is State.COOLING and now >= self.again_at:
            self.fire(Event.RESTED)


class Client(Protocol):
    """What all finders of a client share (routing.py)."""

    resolver: Any
    pool: Any
    wait_for_server: float
    quiet: bool
    seen: set[tuple[str, str | None]]
    logged: set[tuple[str, str | None]]

    def ordered(
        self, endpoints: list[Endpoint], service: ServiceInfo, method: Method[Any, Any]
    ) -> list[Endpoint]: ...

    def surer(
        self, binding: Binding, method: Method[Any, Any], endpoint: Endpoint, left: list[Endpoint]
    ) -> list[Endpoint]: ...

    def used(self, service: ServiceInfo, schema: bytes, method: Method[Any, Any], *, only: bool) -> None: ...


class Finder:
    """See above. `agent` None: any agent."""

    __slots__ = (
        "__weakref__",
        "_by_name",
        "_view",
        "agent",
        "endpoints",
        "lock",
        "routing",
        "service",
        "source",
    )

    def __init__(self, routing: Client, service: ServiceInfo, agent: str | None) -> None:
        self.routing = routing
        self.service = service
        self.agent = "" if agent is None and service.agent is None else agent
        self.source = Source.UNKNOWN
        self.endpoints: list[Endpoint] = []
        self.lock = Lock()
        self._view: View | None = None
        self._by_name: dict[tuple[str, Instance], Endpoint] = {}
        fork.register(self)

    def after_fork(self) -> None:
        """In a child, where the threads of other searches do not run: no endpoint was tried yet."""
        self.lock = Lock()
        self._by_name = {each: Endpoint(*each) for each in self._by_name}
        self.endpoints = list(self._by_name.values())

    @property
    def key(self) -> tuple[str, str | None]:
        return self.service.name, self.agent

    @property
    def what(self) -> str:
        """As failures name it."""
        shown = shortened(shown_agent(self.service, self.agent)) if self.agent else ""
        return f'{self.service.name} for agent "{shown}"' if shown else self.service.name

    def search(
        self, method: Method[Any, Any], deadline: float, note: Callable[[Error], None] | None = None
    ) -> "Search":
        """A call looks for a route. `note` is called with the reason why there is none yet."""
        return Search(self, method, deadline, note)

    def compare(self) -> View:
        """With the lock: what the source says now. Endpoints that it still names keep their states."""
        view: View = self.routing.resolver.view(self.service.name)
        if view is not self._view:
            self._view = view
            before = self._by_name
            self._by_name = {
                each: before.get(each) or Endpoint(*each) for each in dict.fromkeys(view.find(self.agent))
            }
            self.endpoints = list(self._by_name.values())
            if self.endpoints:
                self.source = Source.OFFERED
            elif view.reached:
                self.source = Source.EMPTY
            else:
                self.source = Source.REFUSED if _is_final(view.code) else Source.RESOLVING
        return view

    def limit(self, start: float, deadline: float) -> float:
        """The time until which attempts continue that began at `start`."""
        view = self._view
        assert view is not None
        if self.key in self.routing.seen and (view.reached or self.endpoints):
            return start
        if self.source is Source.EMPTY:
            return min(deadline, start + self.routing.wait_for_server)
        return start if self.source is Source.REFUSED else deadline

    def unreached(self, view: View) -> Error:
        """The failure if there is no endpoint."""
        if not view.reached:
            text = f"no server of {self.what} is known yet"
            if view.trouble:
                text = f"nothing is known of {self.what}: {view.trouble}"
            return not_executed(view.code, text)
        text = f"no server offers {self.what}"
        known = [shown_agent(self.service, name) for name, some in view.agents.items() if some and name]
        if self.service.agent is not None and known:
            text += "; known agents: " + some_of(known, mark='"')
        return not_executed(Code.UNAVAILABLE, text)

    def unknown(self) -> Error | None:
        """The failure of a search that has to end now, if the source has not answered."""
        with self.lock:
            view = self.compare()
            if view.reached or self.endpoints:
                return None
        failure = self.unreached(view)
        return failure if _is_final(failure.code) else _gave_up(failure)


class SinceAnswered:
    """`wait_for_server` counts from the first answer of the resolver's source, not from the start of the
    call."""

    __slots__ = ("_answered",)

    def __init__(self) -> None:
        self._answered: float | None = None

    def start(self, view: View) -> float:
        """When the source was first seen to have answered; the current time before that."""
        if not view.reached:
            self._answered = None
            return monotonic()
        if self._answered is None:
            self._answered = monotonic()
        return self._answered


class Search:
    """The search of one call: see above. `view`: what the source has said; `only`: whether the found route is
    the only possible one; `begins`: instances that are to be connected together with the endpoint."""

    __slots__ = (
        "_ahead",
        "_backoff",
        "_begun",
        "_clock",
        "_deadline",
        "_finder",
        "_found",
        "_left",
        "_method",
        "_note",
        "_owns",
        "_since",
        "_start",
        "_trouble",
        "_troubles",
        "begins",
        "endpoint",
        "only",
        "pause",
        "route",
        "until",
        "view",
    )

    endpoint: Endpoint
    route: Route[Any]
    view: View

    def __init__(
        self,
        finder: Finder,
        method: Method[Any, Any],
        deadline: float,
        note: Callable[[Error], None] | None,
    ) -> None:
        self._finder = finder
        self._method = method
        self._deadline = deadline
        self._note = note
        self._clock: SinceAnswered | None = None
        self._backoff: Backoff | None = None
        self._since = 0.0
        self._trouble: Error | None = None
        self._left: list[Endpoint] | None = None  # of this round; None: another one begins
        self._owns = False  # the endpoint's attempt is this search's
        self.begins: list[Instance] = []
        self.only = False
        self.pause = self.until = 0.0

    def known(self) -> list[Endpoint]:
        with self._finder.lock:
            self._finder.compare()
            return list(self._finder.endpoints)

    # Steps

    def next(self) -> Step:
        """What the driver does next. Raises Error, NOT_EXECUTED, when it is time to give up, or the client
        was closed."""
        finder = self._finder
        with finder.lock:
            if self._left is None:
                self._begin_round()
            assert self._left is not None
            now = self._begun
            while self._left:
                endpoint = self._left.pop(0)
                endpoint.look(now)
                if endpoint.state is State.BOUND:
                    assert endpoint.route is not None
                    if self._takes(endpoint, endpoint.route):
                        return Step.READY
                elif endpoint.state is State.COOLING:
                    assert endpoint.failure is not None
                    self._troubles.add(endpoint.failure)
                else:
                    self._try(endpoint)
                    return Step.CONNECT
            if self._found is not None:
                return self._ready(self._found)
        self._end_round()
        return Step.REST

    def _begin_round(self) -> None:
        finder, routing = self._finder, self._finder.routing
        if routing.pool.closed:
            raise not_executed(Code.CANCELLED, "the client was closed")
        self._begun = monotonic()
        self.view = finder.compare()
        if self._clock is None:
            self._clock = SinceAnswered()
            self._since = self._begun
        self._start = self._clock.start(self.view)
        self._found: Route[Any] | None = None
        self._troubles = Troubles()
        endpoints = finder.endpoints
        self.only = len(endpoints) == 1
        for each in endpoints:
            if each.state is State.REFUSED:
                each.fire(Event.ASKED)
        if len(endpoints) > 1:
            endpoints = routing.ordered(endpoints, finder.service, self._method)
        self._left = list(endpoints)
        self._ahead = True  # the others may be connected ahead, once

    def _try(self, endpoint: Endpoint) -> None:
        """The driver connects to it and binds."""
        assert self._left is not None
        pool = self._finder.routing.pool
        self.endpoint = endpoint
        self._owns = endpoint.state not in UNDER_WAY
        if self._owns:
            endpoint.fire(Event.START)
        others = bool(self._left) or self._troubles.late
        waits = others or self._found is not None
        self.until = pool.patience(self._deadline) if waits else self._deadline
        self.begins = []
        if self._left and self._ahead and pool.usable(endpoint.instance) is None:
            self._ahead = False
            self.begins = [endpoint.instance, *(each.instance for each in self._left)]

    def fire(self, event: Event) -> None:
        """The endpoint is connected, differs, or was described."""
        if self._owns:
            with self._finder.lock:
                self.endpoint.fire(event)

    def bound(self, link: LinkCore, binding: Binding) -> Step:
        """READY, or what `next` says."""
        route: Route[Any] = Route(link, binding, not self.only)
        with self._finder.lock:
            if self._owns:
                self.endpoint.fire(Event.BOUND)
                self.endpoint.route = route
            if self._takes(self.endpoint, route):
                return Step.READY
        return self.next()

    def failed(self, why: Error) -> Step:
        """The attempt has failed. What `next` says."""
        pool = self._finder.routing.pool
        with self._finder.lock:
            self._end_attempt(why)
            others = bool(self._left) or self._troubles.late
            if others and monotonic() >= self.until:
                pool.note_silent(self.endpoint.instance)
                self._troubles.late = True
            self._troubles.add(why)
        return self.next()

    def abandoned(self) -> None:
        """The driver was interrupted. That says nothing about the endpoint, and does not concern other
        searches."""
        with self._finder.lock:
            endpoint = self.endpoint
            if self._owns and endpoint.state in UNDER_WAY:
                self._owns = False
                endpoint.fire(Event.ABANDONED)

    def _end_attempt(self, why: Error) -> None:
        endpoint = self.endpoint
        if self._owns and endpoint.state in UNDER_WAY:
            self._owns = False
            endpoint.fire(Event.REFUSED if _is_final(why.code) else Event.FAILED)
            endpoint.failure = why
            endpoint.again_at = self._finder.routing.pool.again_at(endpoint.instance)

    # Ends

    def _takes(self, endpoint: Endpoint, route: Route[Any]) -> bool:
        """Whether the call takes the route of this endpoint. Another one may suit its method better, or the
        server's schema does not allow it."""
        assert self._left is not None
        binding = route.binding
        if binding.adaptation is not None:
            refusal = binding.adaptation.refusal(self._method)
            if refusal is not None:
                self._troubles.refused(refusal)
                return False
            self._left = self._finder.routing.surer(binding, self._method, endpoint, self._left)
            if self._left:
                self._found = self._found or route
                return False
        self._ready(route)
        return True

    def _ready(self, route: Route[Any]) -> Step:
        finder, routing = self._finder, self._finder.routing
        self.route = route
        route.chosen = not self.only
        routing.seen.add(finder.key)
        if finder.key in routing.logged:
            routing.logged.discard(finder.key)
            info("%s is reached again", finder.what)
        if route.binding.schema:
            routing.used(finder.service, route.binding.schema, self._method, only=self.only)
        return Step.READY

    def _end_round(self) -> None:
        """No endpoint could be reached: to be tried again after `pause` seconds, or as soon as `view` is
        outdated. One that did not answer within a moment may still do so: it is given as long as one that is
        alone."""
        finder, troubles = self._finder, self._troubles
        self._left = None
        trouble = troubles.worst(finder.what)
        if trouble is not None and _is_final(trouble.code) and not troubles.late:
            raise trouble
        limit = finder.limit(self._start, self._deadline)
        if trouble is not None and trouble.code is Code.OVERLOADED:
            limit = self._deadline  # a binding becomes free when the calls on it have ended
        elif troubles.late:
            limit = max(limit, min(self._deadline, self._start + HANDSHAKE_TIMEOUT))
        left = limit - monotonic()
        if self._trouble is None or (left > 0 and self._begun + _SHORT < limit):
            self._trouble = trouble
        failure = self._trouble or finder.unreached(self.view)
        if self._note is not None:
            self._note(failure)
        if left <= 0:
            gives_up = limit >= self._deadline and not _is_final(failure.code)
            raise _gave_up(failure) if gives_up else failure
        if not self._log(failure):
            left = min(left, _LOG_AFTER)
        if self._backoff is None:
            self._backoff = Backoff()
        self.pause = min(self._backoff.next(), left) if finder.endpoints else left

    def _log(self, failure: Error) -> bool:
        """Logs the reason for a long search once, until a search for the same agent succeeds. A controller
        that does not answer is logged by the code that asks it. Returns whether nothing is left to be
        logged."""
        routing, key = self._finder.routing, self._finder.key
        if key in routing.logged or not self.view.reached or routing.quiet:
            return True
        if monotonic() - self._since < _LOG_AFTER:
            return False
        if len(routing.logged) >= _MOST_LOGGED:
            routing.logged.clear()
        routing.logged.add(key)
        warning("%s; trying on", quote(failure.message))
        return True


class Troubles:
    """The failure of one round with several endpoints: the first failure counts, or the last if it is final.
    A refusal by schema counts only if there is no other failure. `late`: some did not answer within a moment,
    and were left alone since there were others."""

    __slots__ = ("_refusal", "_refusals", "_trouble", "late")

    def __init__(self) -> None:
        self.late = False
        self._trouble: Error | None = None
        self._refusal: Error | None = None
        self._refusals = 0

    def worst(self, what: str) -> Error | None:
        """`what`: the service and agent that the endpoints offer."""
        refusal = self._refusal
        if self._trouble is not None or refusal is None or self._refusals == 1:
            return self._trouble or refusal
        text = f"all servers of {what} have another schema: {refusal.message}"
        return not_executed(refusal.code, text)

    def add(self, error: Error) -> None:
        if error.code is Code.SCHEMA_MISMATCH:
            self.refused(error)
        elif self._trouble is None or _is_final(error.code):
            self._trouble = error

    def refused(self, refusal: Error) -> None:
        """Refused by the client itself, as the server has another schema. A refusal of the call is more
        specific than that the method is unknown."""
        self._refusals += 1
        if self._refusal is None or refusal.code is Code.SCHEMA_MISMATCH:
            self._refusal = refusal


def _gave_up(failure: Error) -> Error:
    return Error(failure.code, f"gave up at the deadline: {failure.message}", failure.execution)
