"""R5. A client of asyncio: connections on one loop, shared by all generated clients made from it."""

from asyncio import get_running_loop
from typing import Any, Self, Unpack

from mf.client.async_target import AsyncRemoteTarget
from mf.client.where import async_resolver_for, check_where
from mf.core import clock
from mf.core.agent import Agent, called_agent
from mf.core.cached import Caches
from mf.core.client_options import DEFAULTS, ClientFields, ClientOptions, checked
from mf.core.description import Description
from mf.core.error import Code, not_executed
from mf.core.intercepting import interceptors_of
from mf.core.service import ServiceInfo
from mf.core.target import AsyncTarget, AsyncTargetSource
from mf.link import fork
from mf.route.async_pool import AsyncPool
from mf.route.async_resolver import AsyncResolver
from mf.route.async_routing import AsyncRouting


class AsyncClient(AsyncTargetSource):
    """Calls services from the loop of asyncio that runs when it is made. Only the tasks of that loop may use
    it; it starts no thread. `where`, `options` and `changes` are those of Client; a resolver is an
    AsyncResolver.

        async with mf.AsyncClient("tcp://127.0.0.1:7401") as client:
            hits = await IndexAsyncClient(client).at("books").query(["the"])

    Raises ValueError for an address that is none, RuntimeError where no loop runs; so does a call in another
    loop than that one.
    """

    __slots__ = (
        "__weakref__",
        "_caches",
        "_interceptors",
        "_options",
        "_pool",
        "_resolver",
        "_router",
        "_source",
    )

    def __init__(
        self,
        where: str | AsyncResolver | AsyncTargetSource,
        options: ClientOptions = DEFAULTS,
        **changes: Unpack[ClientFields],
    ) -> None:
        try:
            loop = get_running_loop()
        except RuntimeError:
            text = "an AsyncClient belongs to the running loop of asyncio: make it within a coroutine"
            raise RuntimeError(text) from None
        options = self._options = checked(options, **changes)
        self._caches = Caches(options.clock or clock.monotonic)
        self._interceptors = interceptors_of(options, blocks=False, awaits=True)
        self._source: AsyncTargetSource | None = None
        self._pool: AsyncPool | None = None
        self._resolver: AsyncResolver | None = None
        self._router: AsyncRouting | None = None
        if isinstance(where, AsyncTargetSource):
            self._source = where
            return
        check_where(where, AsyncResolver)
        self._resolver = (
            async_resolver_for(where, options.tls, options.credential) if isinstance(where, str) else where
        )
        self._pool = AsyncPool(loop, options, self._resolver.client_id)
        self._router = AsyncRouting(self._resolver, self._pool, options, self._caches)
        fork.register(self)
        self._pool.close_when_dropped(self._resolver.close if isinstance(where, str) else None)

    def async_target(
        self, service: ServiceInfo, keys: tuple[str, ...] = (), caches: Caches | None = None
    ) -> AsyncTarget:
        """Called by generated code: a target for `service`; `keys` and `caches`: see TargetSource."""
        target: AsyncTarget
        if self._source is not None:
            target = self._source.async_target(
                service, (*self._options.forward_metadata, *keys), caches or self._caches
            )
        else:
            assert self._router is not None
            target = AsyncRemoteTarget(self._router.passing_on(keys) if keys else self._router, service, None)
        if self._interceptors is None:
            return target
        from mf.client.async_intercepted import AsyncInterceptedTarget

        return AsyncInterceptedTarget(self._interceptors, service, target)

    async def describe(
        self, name: str, *, agent: Agent | None = None, topic: bool = False, deadline: float = 10.0
    ) -> Description:
        """What a server says of the service or topic `name`; `agent`, `topic` and `deadline`: as of
        Client.describe."""
        if self._router is None:
            raise not_executed(Code.INVALID_ARGUMENT, "a Light describes nothing: give the client addresses")
        from mf.client.describing import describe

        text = None if agent is None else called_agent(agent)
        return await describe(self._router, name, text, topic, deadline)

    def subscriptions(self) -> tuple[AsyncResolver, AsyncRouting]:
        """The resolver and router for subscribers (mf.topics.remote). Raises Error(INVALID_ARGUMENT) for the
        client of a Light."""
        if self._resolver is None or self._router is None:
            text = "a client of a Light has no subscriptions: give the topics themselves"
            raise not_executed(Code.INVALID_ARGUMENT, text)
        return self._resolver, self._router

    def reload(self) -> bool:
        """Reads the files of `tls` again, at once. Connections to servers whose certificates are not accepted
        any more end. False: a file cannot be used, which the log says, and those read before stay in use."""
        usable = [each.reload() for each in (self._pool, self._resolver) if each is not None]
        return all(usable)

    async def close(self) -> None:
        """Closes all connections; running calls end as CANCELLED. When it returns, nothing of the client runs
        any more. May be called twice."""
        self._caches.close()
        if self._pool is not None and self._resolver is not None:
            assert self._router is not None
            for replication in list(self._router.replications.values()):
                await replication.close()
            self._pool.close()
            self._resolver.close()
            await self._pool.end()
            await self._resolver.closed()

    def after_fork(self) -> None:
        """In a child, where its loop does not run, the client is closed; its connections remain those of the
        parent."""
        self._caches.after_fork()
        if self._pool is not None:
            self._pool.after_fork()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()
