"""R5. The destination of a target's calls: a service at one agent or any, and the route of the last call.

That route is reused until its connection ends, its binding is given up, or the resolver reports a change;
with several instances a route is chosen for each call.
"""

from time import monotonic
from typing import Any, Generic, TypeVar

from mf.client.router import Router
from mf.client.routes import L, Route, Routing
from mf.core.cached import Caches
from mf.core.service import Method, ServiceInfo
from mf.link.link import Link
from mf.protocol.call import Call
from mf.protocol.call_table import CallEvent, CallStep

R = TypeVar("R", bound=Routing[Any, Any])


class BaseDestination(Generic[R, L]):
    """See above. `agent` None: any reachable agent."""

    __slots__ = ("_generation", "_resolver", "_route", "agent", "agent_key", "router", "service")

    def __init__(self, router: R, service: ServiceInfo, agent: str | None) -> None:
        self.router = router
        self.service = service
        self.agent = agent
        self.agent_key = "*" if agent is None else f"={agent}"
        self._resolver = router.resolver
        self._route: Route[L] | None = None
        self._generation = -1

    @property
    def caches(self) -> Caches:
        return self.router.caches

    @property
    def forwarded(self) -> tuple[str, ...]:
        return self.router.forward_metadata

    def ready(self) -> Route[L] | None:
        """The route that can be used at once, if there is one."""
        route = self._route
        if (
            route is None
            or not route.link.usable
            or not route.binding.bound
            or self._resolver.generation != self._generation
        ):
            return None
        return route

    def _found(self, route: Route[L], only: bool, generation: int) -> Route[L]:
        """`generation`: that of the resolver when the search began."""
        self._route = route if only and route.binding.adaptation is None else None
        self._generation = generation
        return route

    def forget(self, route: Route[L]) -> None:
        """A call on this route failed: the next call searches for another one."""
        if self._route is route:
            self._route = None

    def again(self, call: Call[Any], route: Route[L]) -> tuple[CallStep, float]:
        """The next step of a call after an attempt on this route, and the time until which it rests before:
        0, meaning no rest, unless the server was overloaded and there is no other. A call without time for
        the rest ends with the server's failure.
        """
        self.forget(route)
        if call.refusal is None:
            return CallStep.RESOLVE, 0.0
        now = monotonic()
        until = now + self.router.rest_of(call, route.link, self.service, self.agent, now)
        if until >= call.deadline:
            return call.fail(CallEvent.UNREACHABLE, call.refusal, now), 0.0
        return CallStep.RESOLVE, until


class Destination(BaseDestination[Router, Link]):
    """The destination of blocking calls. Thread-safe."""

    __slots__ = ()

    def find(self, method: Method[Any, Any], deadline: float) -> Route[Link]:
        """A usable route, waiting as the router's rules say. Raises Error, NOT_EXECUTED."""
        route = self.ready()
        if route is not None:
            return route
        generation = self._resolver.generation
        return self._found(*self.router.find(self.service, self.agent, method, deadline), generation)
