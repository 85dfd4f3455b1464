"""R5. From (service, agent) to a bound route on a connection: what to wait for, and what to fail at once.

nobody reached yet (no controller, or a server that never was)    wait with back-off until the deadline
reached, but nobody offers it, and this client never saw it       wait at most `wait_for_server` seconds
seen before, now gone                                             UNAVAILABLE at once, not executed
"""

from collections.abc import Callable, Iterable
from copy import copy
from time import monotonic

from mf.core.agent_names import shown_agent
from mf.core.cached import Caches
from mf.core.error import Code, Error, not_executed, shortened, some_of
from mf.core.service import ServiceInfo
from mf.link.balancing import order
from mf.link.link import Link
from mf.link.pool import Pool
from mf.link.reconnect import Backoff
from mf.link.resolver import Instance, Resolver, View
from mf.protocol.call import RetryBudget
from mf.protocol.calls import Binding

DEFAULT_WAIT_FOR_SERVER = 5.0
_SHORT = 0.1  # an attempt with less time may only have been too late: the one before it says more

# A server that refuses with one of these will go on refusing (with MESSAGE_TOO_LARGE we do): there is
# nothing to wait for.
_FINAL = frozenset(
    (
        Code.UNKNOWN_SERVICE,
        Code.UNKNOWN_AGENT,
        Code.UNKNOWN_METHOD,
        Code.SCHEMA_MISMATCH,
        Code.MESSAGE_TOO_LARGE,
        Code.UNAUTHENTICATED,
        Code.PERMISSION_DENIED,
    )
)


class Route:
    """Where a call goes: a connection, and the numbers of the service's methods on it."""

    __slots__ = ("binding", "link")

    def __init__(self, link: Link, binding: Binding) -> None:
        self.link = link
        self.binding = binding


class _SinceAnswered:
    """`wait_for_server` counts from when somebody who knows has answered, not from the call."""

    __slots__ = ("_answered",)

    def __init__(self) -> None:
        self._answered: float | None = None

    def start(self, view: View) -> float:
        """When the one who knows was first seen to have answered; now, while nobody has."""
        if not view.reached:
            self._answered = None
            return monotonic()
        if self._answered is None:
            self._answered = monotonic()
        return self._answered


class Search:
    """The way of one call to a route. `attempt` tries what is known now; it may connect and bind, but never
    waits for a server to be known: who drives it does, as long as `pause` says.
    """

    __slots__ = (
        "_agent",
        "_backoff",
        "_clock",
        "_deadline",
        "_note",
        "_router",
        "_service",
        "_trouble",
        "only",
        "pause",
        "view",
    )

    def __init__(
        self,
        router: "Router",
        service: ServiceInfo,
        agent: str | None,
        deadline: float,
        note: Callable[[Error], None] | None = None,
    ) -> None:
        self._router = router
        self._note = note
        self._service = service
        self._agent = "" if agent is None and service.agent is None else agent
        self._deadline = deadline
        self._clock = _SinceAnswered()
        self._backoff = Backoff()
        self._trouble: Error | None = None
        self.only = False
        """Whether the route found is the only possible one."""
        self.pause = 0.0
        self.view: View | None = None

    def candidates(self) -> list[tuple[str, Instance]]:
        return self._router.resolver.view(self._service.name).find(self._agent)

    def attempt(self) -> Route | None:
        """A route; None: try again after `pause` seconds, or as soon as `view` is out of date. Raises Error,
        NOT_EXECUTED, when it is time to give up."""
        router, service = self._router, self._service
        if router.pool.closed:
            raise not_executed(Code.CANCELLED, "the client was closed")
        begun = monotonic()
        view = self.view = router.resolver.view(service.name)
        start = self._clock.start(view)
        candidates = view.find(self._agent)
        route, trouble = router.try_all(service, candidates, self._deadline)
        key = (service.name, self._agent)
        if route is not None:
            router.seen.add(key)
            self.only = len(candidates) == 1
            return route
        if trouble is not None and trouble.code in _FINAL:
            raise trouble
        limit = router.limit(key, view, bool(candidates), start, self._deadline)
        if trouble is not None and trouble.code is Code.OVERLOADED:
            limit = self._deadline  # a binding becomes free when the calls on it have ended
        if self._trouble is None or begun + _SHORT < limit:
            self._trouble = trouble
        left = limit - monotonic()
        failure = self._trouble or _nobody(service, self._agent, view)
        if self._note is not None:
            self._note(failure)
        if left <= 0:
            raise failure if limit < self._deadline else _gave_up(failure)
        self.pause = min(self._backoff.next(), left) if candidates else left
        return None


class Router:
    """Shared by all targets of a client. `budget`: what its calls may repeat. `forward_metadata`: keys that
    pass on from the call of a handler into calls that it makes here.
    """

    __slots__ = ("_wait_for_server", "budget", "caches", "forward_metadata", "pool", "resolver", "seen")

    def __init__(
        self,
        resolver: Resolver,
        pool: Pool,
        wait_for_server: float,
        forward_metadata: tuple[str, ...] = (),
        caches: Caches | None = None,
    ) -> None:
        self.resolver = resolver
        self.pool = pool
        self._wait_for_server = wait_for_server
        self.forward_metadata = forward_metadata
        self.budget = RetryBudget()
        self.caches = Caches() if caches is None else caches
        self.seen: set[tuple[str, str | None]] = set()

    def passing_on(self, keys: tuple[str, ...]) -> "Router":
        """The same router for calls that pass on more keys."""
        other = copy(self)
        other.forward_metadata = (*self.forward_metadata, *keys)
        return other

    def find(
        self,
        service: ServiceInfo,
        agent: str | None,
        deadline: float,
        note: Callable[[Error], None] | None = None,
    ) -> tuple[Route, bool]:
        """A route, and whether it is the only possible one. `note` hears why there is none yet. Raises Error,
        NOT_EXECUTED."""
        search = Search(self, service, agent, deadline, note)
        while (route := search.attempt()) is None:
            assert search.view is not None
            self.resolver.wait(service.name, search.view, search.pause)
        return route, search.only

    def prepare(self, service: ServiceInfo, searches: Iterable[Search], deadline: float) -> None:
        """Connects and binds for several searches at once, so that their attempts find what they need there.
        Nothing fails here."""
        agents: dict[Instance, list[str]] = {}
        for search in searches:
            for agent, instance in search.candidates()[:1]:
                agents.setdefault(instance, []).append(agent)
        self.pool.connect_all(list(agents), deadline)
        for instance, some in agents.items():
            link = self.pool.usable(instance)
            if link is not None and len(some) > 1:
                link.bind_all(service, some, deadline)

    def limit(
        self, key: tuple[str, str | None], view: View, candidates: bool, start: float, deadline: float
    ) -> float:
        """Until when to go on trying."""
        if key in self.seen and (view.reached or candidates):
            return start
        if view.reached and not candidates:
            return min(deadline, start + self._wait_for_server)
        return deadline

    def try_all(
        self, service: ServiceInfo, candidates: list[tuple[str, Instance]], deadline: float
    ) -> tuple[Route | None, Error | None]:
        """A route to the first of the candidates that can be reached; else what is wrong with them. One that
        does not answer is waited for only a moment while there are others."""
        pool = self.pool
        trouble: Error | None = None
        begun = False
        left = pool.late_last(order(candidates, lambda candidate: pool.load(candidate[1])))
        while left:
            (agent, instance), *left = left
            until = pool.patience(deadline) if left else deadline
            if left and not begun and pool.usable(instance) is None:
                begun = True
                pool.connect_all([instance, *(other for _, other in left)], deadline)
            try:
                link = pool.open(instance, until)
                return Route(link, link.bind(service, agent, until)), None
            except Error as error:
                if left and monotonic() >= until:
                    pool.note_late(instance.address)
                if trouble is None or error.code in _FINAL:
                    trouble = error
        return None, trouble

    def agents(self, service: ServiceInfo, deadline: float) -> list[str]:
        """All agents known by now, also those whose servers have gone; waits for the first. Raises Error,
        NOT_EXECUTED.
        """
        clock = _SinceAnswered()
        while True:
            view = self.resolver.view(service.name)
            start = clock.start(view)
            if view.whole:
                text = f"it is not known which agents {service.name} has: name them, or use a controller"
                raise not_executed(Code.INVALID_ARGUMENT, text)
            if view.agents:
                gone = (agent for agent, instances in view.agents.items() if not instances)
                self.seen.update((service.name, agent) for agent in gone)  # nobody waits for these
                return list(view.agents)
            limit = self.limit((service.name, None), view, False, start, deadline)
            left = limit - monotonic()
            if left <= 0:
                raise _nobody(service, None, view)
            self.resolver.wait(service.name, view, left)


def _gave_up(failure: Error) -> Error:
    return Error(failure.code, f"gave up at the deadline: {failure.message}", failure.execution)


def _nobody(service: ServiceInfo, agent: str | None, view: View) -> Error:
    if not view.reached:
        return not_executed(Code.UNAVAILABLE, view.trouble or f"no server of {service.name} is known yet")
    text = f"no server offers {service.name}"
    if agent:
        text += f' for agent "{shortened(shown_agent(service, agent))}"'
    known = [shown_agent(service, name) for name, instances in view.agents.items() if instances and name]
    if service.agent is not None:
        text += "; known agents: " + (some_of(known, mark='"') or "none")
    return not_executed(Code.UNAVAILABLE, text)
