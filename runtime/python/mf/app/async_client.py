"""R7. The client of programs of asyncio: knows all kinds of addresses."""

from asyncio import AbstractEventLoop
from typing import TYPE_CHECKING

from mf.client.async_client import AsyncClient as BaseClient
from mf.client.where import refuse_in_clear
from mf.link.async_resolver import AsyncRelayedResolver, AsyncResolver
from mf.link.resolver import CONTROLLERS, RELAYS, relay_addresses

if TYPE_CHECKING:
    from mf.transport.tls import Tls


class AsyncClient(BaseClient):
    """Calls services from the loop of asyncio that runs when it is made: through a controller, at servers, or
    in this process. Only the tasks of that loop may use it; it starts no thread. `where` and the options are
    those of Client.

        async with mf.AsyncClient("tcp://127.0.0.1:7401") as client:
            hits = await IndexAsyncClient(client).at("books").query(["the"])

    Raises ValueError for an address that is none, RuntimeError where no loop runs.
    """

    __slots__ = ()

    def _resolver_for(self, where: str, loop: AbstractEventLoop, tls: "Tls | None") -> AsyncResolver:
        scheme = where.partition("://")[0]
        if scheme in CONTROLLERS:
            from mf.controller.async_resolver import AsyncControllerResolver

            return AsyncControllerResolver(where, loop, tls)
        if scheme in RELAYS:
            from mf.controller.async_resolver import AsyncControllerResolver

            relays = relay_addresses(where)
            refuse_in_clear(relays, tls)
            return AsyncRelayedResolver(AsyncControllerResolver(where, loop, tls), relays)
        return super()._resolver_for(where, loop, tls)
