"""R5. The destination of a target's awaited calls. See destination.py."""

from typing import Any

from mf.client.async_router import AsyncRouter
from mf.client.destination import BaseDestination
from mf.client.routes import Route
from mf.core.service import Method
from mf.link.async_link import AsyncLink


class AsyncDestination(BaseDestination[AsyncRouter, AsyncLink]):
    """For one loop."""

    __slots__ = ()

    def begin_at(self, route: Route[AsyncLink]) -> None:
        """Offers this route to the next call, if it is still usable then."""
        self._route = route
        self._generation = self._resolver.generation

    async def find(self, method: Method[Any, Any], deadline: float) -> Route[AsyncLink]:
        """A usable route, waiting as the router's rules say. Raises Error, NOT_EXECUTED."""
        route = self.ready()
        if route is not None:
            return route
        generation = self._resolver.generation
        return self._found(*await self.router.find(self.service, self.agent, method, deadline), generation)
