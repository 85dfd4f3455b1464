"""R5. The target of generated asyncio clients: one service at one agent or any, over connections. See
target.py; the drivers are driving.py, async_batch.py and async_streams.py.
"""

from asyncio import CancelledError, gather
from collections.abc import AsyncIterable, Coroutine, Iterable, Sequence
from time import monotonic
from typing import Any, TypeVar, cast

from mf.client import async_batch
from mf.client.async_streams import Duplex, Reader, Stream
from mf.client.begin import begin, deadline_of, give_metadata
from mf.client.destination import Destination
from mf.client.driving import Bulk, go_on, replicated_agent, run, scattered_outcome
from mf.core.options import BatchOptions, CallOptions
from mf.core.outcome import Outcome
from mf.core.replicated import Replicated, ReplicatedOptions
from mf.core.service import Method, ServiceInfo
from mf.core.stream import AsyncDuplexStream, AsyncStreamReader
from mf.core.target import AsyncScatterTarget, AsyncTarget, Scattered
from mf.protocol.call import NOT_OVER
from mf.protocol.call_table import RESOLVE
from mf.route.async_routing import AsyncRouting

T = TypeVar("T")
R = TypeVar("R")


class AsyncRemoteTarget(Destination[AsyncRouting], AsyncTarget):
    """See above. For one loop."""

    __slots__ = ()

    def several(self, agents: list[str] | None) -> AsyncScatterTarget:
        return AsyncAgentsTarget(self.router, self.service, agents)

    # Calls

    async def call(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> T:
        now = monotonic()
        call = begin(self.router, method, options, arguments, now)
        route = self._route
        if (
            route is None
            or not route.link.usable
            or not route.binding.bound
            or self._resolver.generation != self._generation
            or method.oneway
            or call.deadline <= now
        ):
            await run(call, self)
        else:  # as `run` does, for a route that is available
            call.begin_at(route.binding, now)
            future = route.link.submit(call, call.word)
            if future is not None:
                try:
                    await future
                except CancelledError:
                    route.link.give_up(call)
                    raise
            if (result := call.take_result()) is not NOT_OVER:
                return result
            if call.settle(monotonic()) is RESOLVE:
                await go_on(call, self, route)
        give_metadata(options, call.reply_metadata)
        if method.oneway and call.failure is None:
            return cast(T, None)
        return call.value()

    async def replicate(
        self, method: Method[Any, T], options: ReplicatedOptions | None, *arguments: Any
    ) -> Replicated[T]:
        key = (self.service.name, replicated_agent(self.service, self.agent))
        replication = self.router.replications.get(key)
        if replication is None:
            from mf.replicated._generated.mf.replication._methods import REPLICA_SERVICE
            from mf.replicated.calls import AsyncReplication

            replicas = AsyncRemoteTarget(self.router, REPLICA_SERVICE, None)
            replication = AsyncReplication(replicas, self.service, key[1])
            self.router.replications[key] = replication
        result: Replicated[T] = await replication.call(method, options, arguments)
        return result

    def batch(
        self, method: Method[R, T], requests: Sequence[R], options: BatchOptions | None = None
    ) -> Coroutine[Any, Any, list[Outcome[T]]]:
        return async_batch.batch(self, method, requests, options or BatchOptions())

    async def bulk(
        self, method: Method[R, T], requests: Sequence[R], options: CallOptions | None = None
    ) -> list[Outcome[T]]:
        if not requests:
            return []
        bulk = Bulk(self.router, method, options, requests)
        while True:
            call = bulk.begin()
            await run(call, self)
            outcomes = bulk.ended(call)
            if outcomes is not None:
                return outcomes

    # Streams

    def read_stream(
        self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any
    ) -> AsyncStreamReader[Any]:
        return Reader(Stream(self, method, options, arguments))

    async def write_stream(
        self,
        method: Method[Any, T],
        options: CallOptions | None,
        values: AsyncIterable[Any] | Iterable[Any],
        *arguments: Any,
    ) -> T:
        return cast(T, await Stream(self, method, options, arguments).write_all(values))

    def duplex_stream(
        self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any
    ) -> AsyncDuplexStream[Any, Any]:
        return Duplex(Stream(self, method, options, arguments))


class AsyncAgentsTarget(AsyncScatterTarget):
    """One call to several agents, with an outcome for each: all are searched at the same time, so that an
    unknown agent delays no other. `agents` None: all agents that are known when a call is made."""

    __slots__ = ("_agents", "_router", "_service")

    def __init__(self, router: AsyncRouting, service: ServiceInfo, agents: list[str] | None) -> None:
        self._router = router
        self._service = service
        self._agents = agents

    async def call(
        self, method: Method[Any, T], options: CallOptions | None, *arguments: Any
    ) -> Scattered[str, T]:
        now = monotonic()
        router, service = self._router, self._service
        agents = self._agents
        if agents is None:
            agents = await router.agents(service, deadline_of(method, options, now))
        calls = {agent: begin(router, method, options, arguments, now) for agent in agents}
        # Waits for all calls before an exception of one is raised, so that no task is left behind.
        ended = await gather(
            *(run(call, Destination(router, service, agent)) for agent, call in calls.items()),
            return_exceptions=True,
        )
        for each in ended:
            if each is not None:
                raise each
        return Scattered((agent, scattered_outcome(call, options)) for agent, call in calls.items())
