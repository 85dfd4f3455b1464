"""R5. Routes for clients of asyncio: applies the rules of routes.py in tasks that wait."""

from asyncio import Lock
from time import monotonic
from typing import Any
from weakref import WeakValueDictionary

from mf.client.routes import AgentsSearch, Route, Routing, Search, Troubles, refusal_of
from mf.core.cached import Caches
from mf.core.client_options import DEFAULTS, ClientOptions
from mf.core.error import Error
from mf.core.service import Method, ServiceInfo
from mf.link.async_link import AsyncLink
from mf.link.async_pool import AsyncPool
from mf.link.async_resolver import AsyncResolver
from mf.link.resolver import Instance


class Turn(Lock):
    """The lock of an agent's one-way call that is being sent; the others wait in the order in which they were
    made. `calls`: their number."""

    calls = 0


class AsyncRouter(Routing[AsyncResolver, AsyncPool]):
    """See above. For one loop. `upstreams`: what the subscribers of a client share (mf.topics.remote)."""

    __slots__ = ("_turns", "upstreams")

    def __init__(
        self,
        resolver: AsyncResolver,
        pool: AsyncPool,
        options: ClientOptions = DEFAULTS,
        caches: Caches | None = None,
    ) -> None:
        super().__init__(resolver, pool, options, caches)
        self.upstreams: dict[Any, Any] = {}
        self._turns: WeakValueDictionary[tuple[str, str | None], Turn] = WeakValueDictionary()

    def turn(self, service: ServiceInfo, agent: str | None) -> Turn:
        key = (service.name, agent)
        turn = self._turns.get(key)
        if turn is None:
            turn = self._turns[key] = Turn()
        return turn

    async def find(
        self, service: ServiceInfo, agent: str | None, method: Method[Any, Any], deadline: float
    ) -> tuple[Route[AsyncLink], bool]:
        """A route, and whether it is the only possible one. Raises Error, NOT_EXECUTED."""
        search = Search(self, service, agent, deadline)
        while True:
            tried = await self._try_all(service, method, search.candidates(), deadline)
            if isinstance(tried, Route):
                search.succeeded(tried.binding, method)
                return tried, search.only
            search.failed(tried)
            await self.resolver.wait(service.name, search.view, search.pause)

    async def _try_all(
        self,
        service: ServiceInfo,
        method: Method[Any, Any],
        candidates: list[tuple[str, Instance]],
        deadline: float,
    ) -> Route[AsyncLink] | Troubles:
        """A route to the first reachable candidate, or the reason why there is none. A candidate that does
        not answer is waited for only briefly while there are others."""
        pool = self.pool
        troubles = Troubles()
        found: Route[AsyncLink] | None = None
        left = self.ordered(candidates, service, method)
        if len(left) > 1 and pool.usable(left[0][1]) is None:
            pool.begin_all([instance for _, instance in left if not instance.local])
        while left:
            (agent, instance), *left = left
            others = bool(left) or troubles.late
            until = pool.patience(deadline) if others or found is not None else deadline
            try:
                link = await pool.open(instance, until)
                binding = await link.bind(service, agent, until, self.schema_of(instance))
                if (refusal := refusal_of(binding, method)) is None:
                    route = Route(link, binding, len(candidates) > 1)
                    left = self.surer(binding, method, instance, left)
                    if not left:
                        return route
                    found = found or route
                else:
                    troubles.refused(refusal)
            except Error as error:
                if others and monotonic() >= until:
                    pool.note_silent(instance)
                    troubles.late = True
                troubles.add(error)
        return found or troubles

    async def agents(self, service: ServiceInfo, deadline: float) -> list[str]:
        """See AgentsSearch."""
        search = AgentsSearch(self, service, deadline)
        while (agents := search.attempt()) is None:
            await self.resolver.wait(service.name, search.view, search.pause)
        return agents
