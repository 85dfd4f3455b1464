"""A server and a client of it in one process, joined without a network: all of the protocol, real frames.

with Channel(MyShop()) as channel:
    ShopClient(channel.client).buy("tea")
    channel.faults.cut(Operation.REPLY)                       # see mf.testing.faults

async with AsyncChannel(MyAsyncShop()) as channel:
    await ShopAsyncClient(channel.client).buy("tea")
"""

from collections.abc import Callable
from itertools import count
from typing import Self

from mf.client.async_client import AsyncClient
from mf.client.client import Client
from mf.core.agent import Agent
from mf.core.service import AsyncServant, Servant
from mf.server.async_server import AsyncServer
from mf.server.server import Server
from mf.testing.faults import Faults

_numbers = count(1)


def new_name() -> str:
    """A name for a place in memory that no other one has."""
    return f"testing{next(_numbers)}"


class Channel:
    """See above. `client` and `server` make these for an address, if theirs need options:
    server=lambda address: mf.Server(address, options=mf.ServerOptions(workers=1))."""

    def __init__(
        self,
        servant: Servant,
        agent: Agent | None = None,
        *,
        client: Callable[[str], Client] = Client,
        server: Callable[[str], Server] = Server,
    ) -> None:
        name = new_name()
        self.address = f"memory:{name}"
        """Where more clients of this process reach the server."""
        self.faults = Faults(name)
        self.server = server(self.address)
        self.server.offer(servant, agent)
        self.client = client(self.address)

    def __enter__(self) -> Self:
        self.server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.server.stop()


class AsyncChannel:
    """The same on the running loop of asyncio."""

    def __init__(
        self,
        servant: AsyncServant,
        agent: Agent | None = None,
        *,
        client: Callable[[str], AsyncClient] = AsyncClient,
        server: Callable[[str], AsyncServer] = AsyncServer,
    ) -> None:
        name = new_name()
        self.address = f"memory:{name}"
        self.faults = Faults(name)
        self.server = server(self.address)
        self.server.offer(servant, agent)
        self._make_client = client

    async def __aenter__(self) -> Self:
        await self.server.start()
        self.client = self._make_client(self.address)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.close()
        await self.server.stop()
