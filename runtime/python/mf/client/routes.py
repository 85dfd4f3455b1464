"""R5. From (service, agent) to a bound route on a connection: what to wait for, and what to fail at once.

nobody reached yet (no controller, or a server that never was)    wait with back-off until the deadline
reached, but nobody offers it, and this client never saw it       wait at most `wait_for_server` seconds
seen before, now gone                                             UNAVAILABLE at once, not executed
"""

from time import monotonic

from mf.core.error import Code, Error, not_executed, shortened, some_of
from mf.core.service import ServiceInfo
from mf.link.balancing import order
from mf.link.link import Link
from mf.link.pool import Pool
from mf.link.reconnect import Backoff
from mf.link.resolver import Instance, Resolver, View

DEFAULT_WAIT_FOR_SERVER = 5.0

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
    """Where a call goes: `first` is the number of the service's first method on this connection."""

    __slots__ = ("first", "link")

    def __init__(self, link: Link, first: int) -> None:
        self.link = link
        self.first = first


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


class Router:
    """Shared by all targets of a client."""

    __slots__ = ("_seen", "_wait_for_server", "pool", "resolver")

    def __init__(self, resolver: Resolver, pool: Pool, wait_for_server: float) -> None:
        self.resolver = resolver
        self.pool = pool
        self._wait_for_server = wait_for_server
        self._seen: set[tuple[str, str | None]] = set()

    def find(self, service: ServiceInfo, agent: str | None, deadline: float) -> tuple[Route, bool]:
        """A route, and whether it is the only possible one. Raises Error, NOT_EXECUTED."""
        clock = _SinceAnswered()
        backoff = Backoff()
        name = service.name
        if agent is None and service.agent is None:
            agent = ""
        while True:
            view = self.resolver.view(name)
            start = clock.start(view)
            candidates = view.find(agent)
            route, trouble = self._try(service, candidates, deadline)
            if route is not None:
                self._seen.add((name, agent))
                return route, len(candidates) == 1
            if trouble is not None and trouble.code in _FINAL:
                raise trouble
            error = trouble or _nobody(service, agent, view)
            limit = self._limit((name, agent), view, bool(candidates), start, deadline)
            left = limit - monotonic()
            if left <= 0:
                raise error
            self.resolver.wait(name, view, min(backoff.next(), left) if candidates else left)

    def _limit(
        self, key: tuple[str, str | None], view: View, candidates: bool, start: float, deadline: float
    ) -> float:
        """Until when to go on trying."""
        if key in self._seen and (view.reached or candidates):
            return start
        if view.reached and not candidates:
            return min(deadline, start + self._wait_for_server)
        return deadline

    def _try(
        self, service: ServiceInfo, candidates: list[tuple[str, Instance]], deadline: float
    ) -> tuple[Route | None, Error | None]:
        trouble: Error | None = None
        for agent, instance in order(candidates, lambda candidate: self.pool.load(candidate[1].address)):
            try:
                link = self.pool.get(instance.address, deadline)
                return Route(link, link.bind(service, agent, deadline).first), None
            except Error as error:
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
                self._seen.update((service.name, agent) for agent in gone)  # nobody waits for these
                return list(view.agents)
            limit = self._limit((service.name, None), view, False, start, deadline)
            left = limit - monotonic()
            if left <= 0:
                raise _nobody(service, None, view)
            self.resolver.wait(service.name, view, left)


def _nobody(service: ServiceInfo, agent: str | None, view: View) -> Error:
    if not view.reached:
        return not_executed(Code.UNAVAILABLE, view.trouble or f"no server of {service.name} is known yet")
    text = f"no server offers {service.name}"
    if agent:
        text += f' for agent "{shortened(agent)}"'
    known = [name for name, instances in view.agents.items() if instances and name]
    if service.agent is not None:
        text += "; known agents: " + (some_of(known, mark='"') or "none")
    return not_executed(Code.UNAVAILABLE, text)
