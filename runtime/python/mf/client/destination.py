"""R5. The destination of a target's calls: a service at one agent or any, and the route of the last call.

That route is reused until its connection ends, its binding is given up, or the resolver reports a change;
with several instances a route is chosen for each call.
"""

from time import monotonic
from typing import Any, Generic, Self, TypeVar

from mf.core.cached import Caches
from mf.core.error import Error
from mf.core.service import Method, ServiceInfo
from mf.protocol.call import Call
from mf.protocol.call_table import CallEvent, CallStep
from mf.route.finder import Route
from mf.route.routing import Routing

R = TypeVar("R", bound=Routing[Any, Any])


class Destination(Generic[R]):
    """See above. `agent` None: any reachable agent. Any number of threads may use one."""

    __slots__ = ("_generation", "_resolver", "_route", "agent", "agent_key", "router", "service")

    def __init__(self, router: R, service: ServiceInfo, agent: str | None) -> None:
        self.router = router
        self.service = service
        self.agent = agent
        self.agent_key = "*" if agent is None else f"={agent}"
        self._resolver = router.resolver
        self._route: Route[Any] | None = None
        self._generation = -1

    @property
    def caches(self) -> Caches:
        return self.router.caches

    @property
    def forwarded(self) -> tuple[str, ...]:
        return self.router.forward_metadata

    def for_agent(self, agent: str | None) -> Self:
        return type(self)(self.router, self.service, agent)

    def begin_at(self, route: Route[Any]) -> None:
        """Offers this route to the next call, if it is still usable then."""
        self._route = route
        self._generation = self._resolver.generation

    def kept(self) -> Route[Any] | None:
        """The route of the last call, if the next one may take it as it is: to a server of this side's
        schema."""
        route = self._route
        if route is None or not route.usable or self._resolver.generation != self._generation:
            return None
        return route if route.binding.adaptation is None else None

    async def find(self, method: Method[Any, Any], deadline: float) -> Route[Any]:
        """A usable route, waiting as the finder says. Raises Error, NOT_EXECUTED."""
        route = self._route
        generation = self._resolver.generation
        if route is not None and route.usable and generation == self._generation:
            return route
        route, only = await self.router.find(self.service, self.agent, method, deadline)
        self._route = route if only and route.binding.adaptation is None else None
        self._generation = generation  # that of the resolver when the search began
        return route

    def late(self) -> Error:
        """The failure of a call whose deadline passed before it looked for a route."""
        return self.router.late(self.service, self.agent)

    def forget(self, route: Route[Any]) -> None:
        """A call on this route failed: the next call searches for another one."""
        if self._route is route:
            self._route = None

    def again(self, call: Call[Any], route: Route[Any]) -> tuple[CallStep, float]:
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
