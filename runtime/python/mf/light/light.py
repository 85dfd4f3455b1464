"""R5. Light: the same stubs, called directly. A plain handler runs on the caller's thread, an `async def` as
a task of the caller's loop, and objects are passed by reference: what a servant changes in its arguments, or
a caller in a result, the other side sees.

Parameters are checked as a client of a connection would. What differs from a connection, and is meant to:
results and errors are not, a plain handler is not left behind at the deadline, because it has its caller's
thread, and declared errors arrive as the very object that was raised.
"""

from collections.abc import Iterable

from mf.core.agent import Agent
from mf.core.cached import Caches
from mf.core.interceptor import Interceptor
from mf.core.service import BaseServant, ServiceInfo
from mf.core.target import AsyncTarget, AsyncTargetSource, Target, TargetSource
from mf.light.offers import LightOffers
from mf.light.target import LightTarget


class Light(TargetSource, AsyncTargetSource):
    """Offers servants to clients of the same process: `mf.Client(light)`, `mf.AsyncClient(light)`. Any number
    of threads and loops may call. `interceptors`: what is around all handlers, the outermost first
    (docs/interceptors.md); those of callers are given to their clients."""

    __slots__ = ("_caches", "_offers")

    def __init__(self, *, interceptors: Iterable[Interceptor] = ()) -> None:
        self._offers = LightOffers(tuple(interceptors))
        self._caches = Caches()

    def offer(self, servant: BaseServant, agent: Agent | None = None) -> None:
        """Offers a servant, for one agent if its service is `per` agent. A later offer for the same
        replaces it.

        Raises ValueError if the offer does not fit the service, TypeError for what is no agent, and if an
        interceptor of this Light is for the other kind of handlers.
        """
        self._offers.add(servant, agent)

    def withdraw(self, service: ServiceInfo, agent: Agent = "") -> None:
        """Takes back what is offered of `service` for `agent`; calls under way go on."""
        self._offers.remove(service, agent)

    def target(
        self, service: ServiceInfo, keys: tuple[str, ...] = (), caches: Caches | None = None
    ) -> Target:
        """Called by generated code: a target for `service`; `keys` and `caches`: see TargetSource."""
        return LightTarget(self._offers, service, None, keys, caches or self._caches)

    def async_target(
        self, service: ServiceInfo, keys: tuple[str, ...] = (), caches: Caches | None = None
    ) -> AsyncTarget:
        """Called by generated code: a target for `service`; `keys` and `caches`: see TargetSource."""
        from mf.light.async_target import AsyncLightTarget  # brings asyncio along

        return AsyncLightTarget(self._offers, service, None, keys, caches or self._caches)

    def agents(self, service: ServiceInfo) -> list[str]:
        """The agents for which a service is offered."""
        return self._offers.agents(service)
