"""R5. A client that blocks: connections, shared by all generated clients made from it."""

from collections.abc import Callable, Iterable
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

from mf.client.router import Router
from mf.client.routes import DEFAULT_WAIT_FOR_SERVER
from mf.client.target import RemoteTarget
from mf.client.where import forwarded_keys, server_addresses
from mf.core import clock as core_clock
from mf.core.cached import Caches
from mf.core.clock import Clock
from mf.core.error import Code, not_executed
from mf.core.service import ServiceInfo
from mf.core.target import Target, TargetSource
from mf.link import fork
from mf.link.core import DEAD_AFTER
from mf.link.local_paths import LocalPaths
from mf.link.pool import Connect, Pool
from mf.link.resolver import Resolver, StaticResolver
from mf.protocol.frame import DEFAULT_MAX_PAYLOAD

if TYPE_CHECKING:
    from mf.client.async_client import AsyncClient
    from mf.client.background import AsyncSide
    from mf.transport.tls import Tls


class Client(TargetSource):
    """Calls services over connections, or in a Light.

    `where`: 'tcp://host:port', 'tls://host:port' or 'unix:/path' of one server, or several of one kind,
    separated by commas; a Resolver; or another source of targets, such as a Light. `tls`: how the client
    verifies servers at tls:// and identifies itself to them. `wait_for_server`: seconds that a call waits for
    a server of a (service, agent) that was never seen. `max_payload`: bytes of the largest accepted reply.
    `forward_metadata`: keys that a handler's calls through this client forward from the call being handled,
    as is done with trace context. `clock`: monotonic seconds, by which cached results expire. `dead_after`:
    if a server with pending calls sends nothing for so many seconds, not even the answer to a ping, its
    connection is given up: the calls on it end as UNKNOWN; 0: never. `authentication`: up to 16 KiB that
    are shown to each peer when a connection is made.
    """

    __slots__ = (
        "__weakref__",
        "_async_lock",
        "_async_side",
        "_caches",
        "_forwarded",
        "_make_async",
        "_pool",
        "_resolver",
        "_router",
        "_source",
    )

    def __init__(
        self,
        where: "str | Resolver | TargetSource",
        *,
        wait_for_server: float = DEFAULT_WAIT_FOR_SERVER,
        max_payload: int = DEFAULT_MAX_PAYLOAD,
        connect: Connect | None = None,
        tls: "Tls | None" = None,
        forward_metadata: Iterable[str] = (),
        clock: Clock | None = None,
        dead_after: float = DEAD_AFTER,
        authentication: bytes = b"",
        trusted_users: Iterable[int] = (),
    ) -> None:
        self._forwarded = forwarded_keys(forward_metadata)
        trusted_users = tuple(trusted_users)
        self._caches = Caches(clock or core_clock.monotonic)
        self._source: TargetSource | None = None
        self._pool: Pool | None = None
        self._resolver: Resolver | None = None
        self._router: Router | None = None
        self._async_lock = Lock()
        self._async_side: AsyncSide | None = None
        self._make_async: Callable[[], AsyncClient] | None = None
        fork.register(self)
        if isinstance(where, TargetSource):
            self._source = where
            return
        self._resolver = self._resolver_for(where, tls) if isinstance(where, str) else where
        if isinstance(where, str):
            options = {
                "tls": tls,
                "max_payload": max_payload,
                "dead_after": dead_after,
                "authentication": authentication,
                "trusted_users": trusted_users,
            }
            self._make_async = partial(self._async_client, where, options)
        self._pool = Pool(
            connect=connect,
            tls=tls,
            max_payload=max_payload,
            dead_after=dead_after,
            given_id=self._resolver.client_id,
            authentication=authentication,
            paths=LocalPaths(allowed=tls is None, users=trusted_users),
        )
        self._router = Router(self._resolver, self._pool, wait_for_server, self._forwarded, self._caches)
        if isinstance(where, str):
            self._router.replicator = self._replicator_for(where, options)

    def _replicator_for(self, where: str, options: dict[str, Any]) -> Any:  # noqa: ARG002 - of subclasses
        """What makes replicated calls; None: without a controller there are no replicas."""
        return None

    def _resolver_for(self, where: str, tls: "Tls | None") -> Resolver:
        """The resolver for an address. Raises ValueError for an invalid one."""
        return StaticResolver(server_addresses(where, tls))

    def _async_client(self, where: str, options: dict[str, Any]) -> "AsyncClient":
        """An AsyncClient with the same options, on the running loop."""
        from mf.client.async_client import AsyncClient

        return AsyncClient(where, **options)

    def async_side(self) -> "AsyncSide":
        """Its asynchronous side (background.py). Raises Error(INVALID_ARGUMENT) for one without addresses."""
        from mf.client.background import AsyncSide  # only for subscriptions: importing asyncio takes long

        if self._pool is not None and self._pool.closed:
            raise not_executed(Code.CANCELLED, "the client was closed")
        if self._make_async is None:
            text = "a client of a resolver or a Light has no subscriptions: give it addresses"
            raise not_executed(Code.INVALID_ARGUMENT, text)
        with self._async_lock:
            if self._async_side is None:
                self._async_side = AsyncSide(self._make_async)
            return self._async_side

    def target(
        self, service: ServiceInfo, keys: tuple[str, ...] = (), caches: Caches | None = None
    ) -> Target:
        if self._source is not None:
            return self._source.target(service, (*self._forwarded, *keys), caches or self._caches)
        assert self._router is not None
        return RemoteTarget(self._router.passing_on(keys) if keys else self._router, service, None)

    def close(self) -> None:
        """Closes all connections; running calls end as CANCELLED. May be called twice."""
        self._caches.close()
        if self._router is not None and self._router.replicator is not None:
            self._router.replicator.close()
        self._make_async = None
        with self._async_lock:
            side = self._async_side
        if side is not None:
            side.close()
        if self._resolver is not None:
            self._resolver.close()
        if self._pool is not None:
            self._pool.close()

    def after_fork(self) -> None:
        """In a child it connects anew, and keeps no answers of the parent's."""
        self._async_lock = Lock()
        self._caches.after_fork()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
