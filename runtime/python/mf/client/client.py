"""R5. A client that blocks: connections, shared by all generated clients made from it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

from mf.client.router import Router
from mf.client.routes import DEFAULT_WAIT_FOR_SERVER
from mf.client.target import RemoteTarget
from mf.core import clock as core_clock
from mf.core.cached import Caches
from mf.core.clock import Clock
from mf.core.metadata import TOKEN_KEY, check_key
from mf.core.service import ServiceInfo
from mf.core.target import Target, TargetSource
from mf.link.core import DEAD_AFTER
from mf.link.pool import Connect, Pool
from mf.link.resolver import Resolver, StaticResolver
from mf.protocol.frame import DEFAULT_MAX_PAYLOAD
from mf.transport.address import Address
from mf.transport.sockets import SCHEMES

if TYPE_CHECKING:
    from mf.transport.tls import Tls


class Client(TargetSource):
    """Calls services somewhere else, or in a Light.

    `where`: 'tcp://host:port', 'tls://host:port' or 'unix:/path' of one server, or of several of a kind, with
    commas between them; a Resolver; or another source of targets, such as a Light. `tls`: how servers at
    tls:// are verified, and what is shown to them.
    `wait_for_server`: seconds that a call waits for a server of a (service, agent) that was never seen yet.
    `max_payload`: bytes of one reply that are accepted. `forward_metadata`: keys that pass on by themselves
    from the call of a handler into the calls that it makes through this client, as trace context does.
    `clock`: monotonic seconds, by which the results of cached calls grow old. `dead_after`: a server that is
    awaited, and from which nothing comes for so many seconds, not even the answer to a ping, is given up: the
    calls on its connection end as UNKNOWN; 0: none is.
    """

    __slots__ = ("_caches", "_forwarded", "_pool", "_resolver", "_router", "_source")

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
    ) -> None:
        self._forwarded = forwarded_keys(forward_metadata)
        self._caches = Caches(clock or core_clock.monotonic)
        self._source: TargetSource | None = None
        self._pool: Pool | None = None
        self._resolver: Resolver | None = None
        self._router: Router | None = None
        if isinstance(where, TargetSource):
            self._source = where
            return
        self._resolver = self._resolver_for(where, tls) if isinstance(where, str) else where
        self._pool = Pool(connect=connect, tls=tls, max_payload=max_payload, dead_after=dead_after)
        self._router = Router(self._resolver, self._pool, wait_for_server, self._forwarded, self._caches)
        if isinstance(where, str):
            self._router.replicator = self._replicator_for(where, tls)

    def _replicator_for(self, where: str, tls: "Tls | None") -> Any:
        """What makes replicated calls, which need a controller; None: there are none."""
        del where, tls

    def _resolver_for(self, where: str, tls: "Tls | None") -> Resolver:  # noqa: ARG002 - of subclasses
        """The resolver that an address stands for. Raises ValueError for an address that is none."""
        return StaticResolver(server_addresses(where))

    def target(
        self, service: ServiceInfo, keys: tuple[str, ...] = (), caches: Caches | None = None
    ) -> Target:
        if self._source is not None:
            return self._source.target(service, (*self._forwarded, *keys), caches or self._caches)
        assert self._router is not None
        return RemoteTarget(self._router.passing_on(keys) if keys else self._router, service, None)

    def close(self) -> None:
        """Closes all connections; calls under way end as CANCELLED. May be called twice."""
        self._caches.close()
        if self._router is not None and self._router.replicator is not None:
            self._router.replicator.close()
        if self._resolver is not None:
            self._resolver.close()
        if self._pool is not None:
            self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def forwarded_keys(keys: Iterable[str]) -> tuple[str, ...]:
    """Raises ValueError for keys that may not pass on by themselves."""
    forwarded = tuple(keys)
    for key in forwarded:
        check_key(key)
    if TOKEN_KEY in forwarded:
        raise ValueError(f"forward_metadata: {TOKEN_KEY} is a token, which never passes on by itself")
    return forwarded


def server_addresses(where: str) -> list[str]:
    """Raises ValueError for an address that is none, or none of a server."""
    addresses = Address.parse_list(where)
    for address in addresses:
        if address.scheme not in SCHEMES:
            text = (
                "are those of servers (tcp, tls, unix, memory), or of controllers (mf), or of relays (relay)"
            )
            raise ValueError(f"address '{address}': the addresses of a client {text}")
    return list(map(str, addresses))
