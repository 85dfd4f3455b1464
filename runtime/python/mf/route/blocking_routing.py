"""R5. The routing of a blocking client: its waits block the thread, and any number of threads may search."""

from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from time import monotonic, sleep
from typing import Any

from mf.core.service import ServiceInfo
from mf.route.blocking_pool import BlockingPool
from mf.route.finder import Search
from mf.route.resolver import Instance, Resolver, View
from mf.route.routing import Routing

_SLICE = 0.05
"""After this many seconds a resting call notices that its client was closed."""


_AT_ONCE: AbstractAsyncContextManager[None] = nullcontext()


class BlockingRouting(Routing[Resolver, BlockingPool]):
    """See above."""

    async def news(self, service: ServiceInfo, old: View, timeout: float) -> None:
        self.resolver.wait(service.name, old, timeout)

    async def rest(self, service: ServiceInfo, until: float) -> None:  # noqa: ARG002 - as loops need it
        while (left := until - monotonic()) > 0 and not self.pool.closed:
            sleep(min(left, _SLICE))

    def in_turn(
        self,
        service: ServiceInfo,  # noqa: ARG002 - threads have no order
        agent: str | None,  # noqa: ARG002
        deadline: float,  # noqa: ARG002
    ) -> AbstractAsyncContextManager[None]:
        return _AT_ONCE

    async def prepare(self, searches: Iterable[Search], service: ServiceInfo, deadline: float) -> None:
        """Connects and binds for several searches at once, so that their attempts find connections and
        bindings. Failures are ignored here."""
        agents: dict[Instance, list[str]] = {}
        for search in searches:
            for endpoint in search.known()[:1]:
                agents.setdefault(endpoint.instance, []).append(endpoint.agent)
        if len(agents) > 1:
            await self.pool.begin_all(list(agents), deadline)
        for instance, some in agents.items():
            link: Any = self.pool.usable(instance)
            if link is not None and len(some) > 1:
                link.bind_all(service, some, deadline, self.schema_of(instance))
