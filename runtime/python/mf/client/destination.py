"""R5. Where the calls of one target go: a service at one agent or at any, and the route of the last call.

That route is used again until its connection ends, its binding is given up, or the resolver reports a change;
with several instances each call chooses.
"""

from mf.client.routes import Route, Router
from mf.core.service import ServiceInfo


class Destination:
    """See above. Any number of threads and loops may share one. `agent` None: whichever can be reached."""

    __slots__ = ("_generation", "_resolver", "_route", "agent", "router", "service")

    def __init__(self, router: Router, service: ServiceInfo, agent: str | None) -> None:
        self.router = router
        self.service = service
        self.agent = agent
        self._resolver = router.resolver
        self._route: Route | None = None
        self._generation = -1

    def ready(self) -> Route | None:
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

    def find(self, deadline: float) -> Route:
        """A usable route, waiting as the router's rules say. Raises Error, NOT_EXECUTED."""
        route = self.ready()
        if route is None:
            generation = self._resolver.generation
            route, only = self.router.find(self.service, self.agent, deadline)
            self._route = route if only else None
            self._generation = generation
        return route

    def forget(self, route: Route) -> None:
        """A call on this route failed: look for another one next time."""
        if self._route is route:
            self._route = None
