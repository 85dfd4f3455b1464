"""R5. Where the calls of one target go: a service at one agent or at any, and the route of the last call.

That route is used again until its connection ends, its binding is given up, or the resolver reports a change;
with several instances each call chooses.
"""

from typing import TYPE_CHECKING

from mf.client.routes import Route, Router
from mf.core.error import Error
from mf.core.service import ServiceInfo

if TYPE_CHECKING:
    from mf.client.lookup import Lookup


class Destination:
    """See above. Any number of threads and loops may share one. `agent` None: whichever can be reached."""

    __slots__ = (
        "_generation",
        "_lookup",
        "_resolver",
        "_route",
        "_trouble",
        "agent",
        "agent_key",
        "router",
        "service",
    )

    def __init__(self, router: Router, service: ServiceInfo, agent: str | None) -> None:
        self.router = router
        self.service = service
        self.agent = agent
        self.agent_key = "*" if agent is None else f"={agent}"
        self._resolver = router.resolver
        self._route: Route | None = None
        self._generation = -1
        self._trouble: Error | None = None  # of the latest search, while it finds none
        self._lookup: Lookup | None = None  # once something was awaited

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
            route, only = self.router.find(self.service, self.agent, deadline, self._note)
            self._route = route if only else None
            self._generation = generation
        return route

    async def find_async(self, deadline: float) -> Route:
        """The same, without blocking the loop."""
        if self._lookup is None:
            from mf.client.lookup import Lookup  # brings asyncio along

            self._lookup = Lookup(self.find, lambda: self._trouble)
        return await self._lookup.route(deadline)

    def _note(self, trouble: Error) -> None:
        self._trouble = trouble

    def forget(self, route: Route) -> None:
        """A call on this route failed: look for another one next time."""
        if self._route is route:
            self._route = None
