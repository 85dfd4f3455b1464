"""R5. A client of asyncio: connections on one loop, shared by all generated clients made from it."""

from asyncio import get_running_loop
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

from mf.client.async_router import AsyncRouter
from mf.client.async_target import AsyncRemoteTarget
from mf.client.routes import DEFAULT_WAIT_FOR_SERVER
from mf.client.where import forwarded_keys, server_addresses
from mf.core import clock as core_clock
from mf.core.cached import Caches
from mf.core.clock import Clock
from mf.core.error import Code, not_executed
from mf.core.service import ServiceInfo
from mf.core.target import AsyncTarget, AsyncTargetSource
from mf.link import fork
from mf.link.async_pool import AsyncPool
from mf.link.async_resolver import AsyncResolver, AsyncStaticResolver
from mf.link.core import DEAD_AFTER
from mf.link.local_paths import LocalPaths
from mf.protocol.frame import DEFAULT_MAX_PAYLOAD

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from mf.transport.tls import Tls


class AsyncClient(AsyncTargetSource):
    """The counterpart of Client for the asyncio loop that runs when it is made: only tasks of that loop may
    use it, and it starts no thread. The loop of another thread needs its own client.

    `where`, `tls`, `wait_for_server`, `max_payload`, `forward_metadata`, `clock`, `dead_after` and
    `authentication` are those of Client; a resolver is an AsyncResolver. Raises RuntimeError where no loop
    runs.
    """

    __slots__ = ("__weakref__", "_caches", "_forwarded", "_loop", "_pool", "_resolver", "_router", "_source")

    def __init__(
        self,
        where: "str | AsyncResolver | AsyncTargetSource",
        *,
        wait_for_server: float = DEFAULT_WAIT_FOR_SERVER,
        max_payload: int = DEFAULT_MAX_PAYLOAD,
        tls: "Tls | None" = None,
        forward_metadata: Iterable[str] = (),
        clock: Clock | None = None,
        dead_after: float = DEAD_AFTER,
        authentication: bytes = b"",
        trusted_users: Iterable[int] = (),
    ) -> None:
        try:
            self._loop = get_running_loop()
        except RuntimeError:
            text = "an AsyncClient belongs to the running loop of asyncio: make it within a coroutine"
            raise RuntimeError(text) from None
        self._forwarded = forwarded_keys(forward_metadata)
        self._caches = Caches(clock or core_clock.monotonic)
        self._source: AsyncTargetSource | None = None
        self._pool: AsyncPool | None = None
        self._resolver: AsyncResolver | None = None
        self._router: AsyncRouter | None = None
        if isinstance(where, AsyncTargetSource):
            self._source = where
            return
        self._resolver = self._resolver_for(where, self._loop, tls) if isinstance(where, str) else where
        self._pool = AsyncPool(
            self._loop,
            tls=tls,
            max_payload=max_payload,
            dead_after=dead_after,
            given_id=self._resolver.client_id,
            authentication=authentication,
            paths=LocalPaths(allowed=tls is None, users=trusted_users),
        )
        self._router = AsyncRouter(self._resolver, self._pool, wait_for_server, self._forwarded, self._caches)
        fork.register(self)
        self._pool.close_when_dropped(self._resolver.close if isinstance(where, str) else None)

    def _resolver_for(
        self,
        where: str,
        loop: "AbstractEventLoop",
        tls: "Tls | None",
    ) -> AsyncResolver:
        """The resolver for an address. Raises ValueError for an invalid one."""
        return AsyncStaticResolver(loop, server_addresses(where, tls))

    def async_target(
        self, service: ServiceInfo, keys: tuple[str, ...] = (), caches: Caches | None = None
    ) -> AsyncTarget:
        if self._source is not None:
            return self._source.async_target(service, (*self._forwarded, *keys), caches or self._caches)
        assert self._router is not None
        return AsyncRemoteTarget(self._router.passing_on(keys) if keys else self._router, service, None)

    def subscriptions(self) -> tuple[AsyncResolver, AsyncRouter]:
        """The resolver and router for subscribers (mf.topics.remote). Raises Error(INVALID_ARGUMENT) for the
        client of a Light."""
        if self._resolver is None or self._router is None:
            text = "a client of a Light has no subscriptions: give the topics themselves"
            raise not_executed(Code.INVALID_ARGUMENT, text)
        return self._resolver, self._router

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

    def log_nothing(self) -> None:
        """What cannot be reached is logged by the caller."""
        if self._router is not None:
            self._router.quiet = True

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
