"""R5. The routing of a client of asyncio: its waits are of one loop."""

from asyncio import Lock
from asyncio import timeout as within
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any
from weakref import WeakValueDictionary

from mf.core.service import ServiceInfo
from mf.route.async_pool import AsyncPool
from mf.route.async_resolver import AsyncResolver
from mf.route.resolver import View
from mf.route.routing import Routing


class Turn(Lock):
    """The lock of an agent's one-way call that is being sent; the others wait in the order in which they were
    made. `calls`: their number."""

    calls = 0


class AsyncRouting(Routing[AsyncResolver, AsyncPool]):
    """See above."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._turns: WeakValueDictionary[tuple[str, str | None], Turn] = WeakValueDictionary()

    async def news(self, service: ServiceInfo, old: View, timeout: float) -> None:
        await self.resolver.wait(service.name, old, timeout)

    async def rest(self, service: ServiceInfo, until: float) -> None:
        resolver = self.resolver
        while (left := until - monotonic()) > 0 and not self.pool.closed:
            await resolver.wait(service.name, resolver.view(service.name), left)

    @asynccontextmanager
    async def in_turn(self, service: ServiceInfo, agent: str | None, deadline: float) -> AsyncIterator[None]:
        key = (service.name, agent)
        turn = self._turns.get(key)
        if turn is None:
            turn = self._turns[key] = Turn()
        turn.calls += 1
        try:
            if turn.calls == 1:
                await turn.acquire()  # at once
            else:
                async with within(max(deadline - monotonic(), 0.0)):
                    await turn.acquire()
            try:
                yield
            finally:
                turn.release()
        finally:
            turn.calls -= 1
