"""R5. A client that blocks: connections, shared by all generated clients made from it."""

from dataclasses import replace
from typing import Any, Self, Unpack

from mf.client.background import AsyncSide
from mf.client.target import RemoteTarget
from mf.client.where import check_where, is_controller, resolver_for
from mf.core import clock
from mf.core.agent import Agent, called_agent
from mf.core.cached import Caches
from mf.core.client_options import DEFAULTS, ClientFields, ClientOptions, checked
from mf.core.description import Description
from mf.core.error import Code, not_executed
from mf.core.handler_wait import waiting
from mf.core.immediate import immediate
from mf.core.intercepting import interceptors_of
from mf.core.service import ServiceInfo
from mf.core.target import Target, TargetSource
from mf.link import fork
from mf.route.blocking_pool import BlockingPool
from mf.route.blocking_routing import BlockingRouting
from mf.route.resolver import Resolver


class Client(TargetSource):
    """Calls services: through a controller, at servers, or in this process.

    Any number of threads and generated clients may share one. Connections are opened when needed and used by
    all. Within a coroutine its calls hold up the loop: AsyncClient is for asyncio.

    Args:
        where: 'mf://host:port' of a controller, 'mf+tls://host:port' over TLS; 'relay://host:port' of a
            relay, through which all servers are reached, 'relay+tls://host:port' over TLS; 'tcp://host:port',
            'tls://host:port' or 'unix:/path' of one server, or of several of a kind, with commas between
            them, as controllers may be; a Light; or a Resolver of your own.
        options: Defaults to `mf.ClientOptions()`.
        changes: Fields of `mf.ClientOptions`, given by name instead of with `options`, or changing it.

    Raises:
        ValueError: `where` is no address, or an option does not fit.
        TypeError: `where` is neither an address nor what finds servers, or an option is of a wrong kind.
    """

    __slots__ = (
        "__weakref__",
        "_caches",
        "_interceptors",
        "_options",
        "_pool",
        "_resolver",
        "_router",
        "_side",
        "_source",
    )

    def __init__(
        self,
        where: str | Resolver | TargetSource,
        options: ClientOptions = DEFAULTS,
        **changes: Unpack[ClientFields],
    ) -> None:
        options = self._options = checked(options, **changes)
        self._caches = Caches(options.clock or clock.monotonic)
        self._interceptors = interceptors_of(options, blocks=True, awaits=False)
        self._source: TargetSource | None = None
        self._pool: BlockingPool | None = None
        self._resolver: Resolver | None = None
        self._router: BlockingRouting | None = None
        self._side: AsyncSide | None = None
        fork.register(self)
        if isinstance(where, TargetSource):
            self._source = where
            return
        check_where(where, Resolver)
        self._resolver = (
            resolver_for(where, options.tls, options.credential) if isinstance(where, str) else where
        )
        self._pool = BlockingPool(options, self._resolver.client_id)
        self._router = BlockingRouting(self._resolver, self._pool, options, self._caches)
        if isinstance(where, str):
            self._side = AsyncSide(where, replace(options, interceptors=()))
            if is_controller(where):  # without one there are no replicas
                self._router.replicator = self._side.replicate

    def async_side(self) -> AsyncSide:
        """Its asynchronous side (background.py). Raises Error(INVALID_ARGUMENT) for one without addresses."""
        if self._pool is not None and self._pool.closed:
            raise not_executed(Code.CANCELLED, "the client was closed")
        if self._side is None:
            text = "a client of a resolver or a Light has no subscriptions: give it addresses"
            raise not_executed(Code.INVALID_ARGUMENT, text)
        return self._side

    def target(
        self, service: ServiceInfo, keys: tuple[str, ...] = (), caches: Caches | None = None
    ) -> Target:
        """Called by generated code: a target for `service`; `keys` and `caches`: see TargetSource."""
        target: Target
        if self._source is not None:
            target = self._source.target(
                service, (*self._options.forward_metadata, *keys), caches or self._caches
            )
        else:
            assert self._router is not None
            target = RemoteTarget(self._router.passing_on(keys) if keys else self._router, service, None)
        if self._interceptors is None:
            return target
        from mf.client.intercepted import InterceptedTarget

        return InterceptedTarget(self._interceptors, service, target)

    def describe(
        self, name: str, *, agent: Agent | None = None, topic: bool = False, deadline: float = 10.0
    ) -> Description:
        """What a server says of a service or a topic; `mf.described` makes callable methods of it.

        Args:
            name: The full name of the service, or of the topic.
            agent: An agent for which the server that is asked offers it. Defaults to None: any server.
            topic: Whether it is a topic. Defaults to False.
            deadline: Seconds for all of it. Defaults to 10.0.

        Raises:
            Error: NOT_EXECUTED. UNKNOWN_SERVICE if the servers that answer do not offer it; INVALID_ARGUMENT
                for the client of a Light, which describes nothing.
        """
        if self._router is None:
            raise not_executed(Code.INVALID_ARGUMENT, "a Light describes nothing: give the client addresses")
        from mf.client.describing import describe

        text = None if agent is None else called_agent(agent)
        return waiting(immediate, describe(self._router, name, text, topic, deadline))

    def reload(self) -> bool:
        """Reads the files of `tls` again, at once. Connections to servers whose certificates are not accepted
        any more end. False: a file cannot be used, which the log says, and those read before stay in use."""
        usable = [each.reload() for each in (self._pool, self._resolver, self._side) if each is not None]
        return all(usable)

    def close(self) -> None:
        """Closes all connections; running calls end as CANCELLED. May be called twice."""
        self._caches.close()
        if self._side is not None:
            self._side.close()
        if self._resolver is not None:
            self._resolver.close()
        if self._pool is not None:
            self._pool.close()

    def after_fork(self) -> None:
        """In a child it connects anew, and keeps no answers of the parent's."""
        self._caches.after_fork()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
