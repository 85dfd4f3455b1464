"""R5. Where the awaited calls of one target go. See destination.py."""

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
        """The next call takes this route, if it can still be used then."""
        self._route = route
        self._generation = self._resolver.generation

    async def find(self, method: Method[Any, Any], deadline: float) -> Route[AsyncLink]:
        """A usable route, waiting as the router's rules say. Raises Error, NOT_EXECUTED."""
        route = self.ready()
        if route is not None:
            return route
        generation = self._resolver.generation
        return self._found(*await self.router.find(self.service, self.agent, method, deadline), generation)
