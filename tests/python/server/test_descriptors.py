"""Which file descriptors servers and clients hold, and when they close them."""

import asyncio
import gc
from pathlib import Path

import mf
from tests.python.conftest import Served, eventually
from tests.python.echo import EchoAsyncClient


def held() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_server_that_was_never_started_holds_no_descriptor() -> None:
    before = held()
    servers = [mf.Server("tcp://127.0.0.1:0") for _ in range(50)]
    assert held() < before + 10  # others may open or close a few meanwhile
    del servers


def test_clients_of_asyncio_that_are_dropped_give_their_connections_back(served: Served) -> None:
    async def main() -> None:
        for _ in range(20):
            assert await EchoAsyncClient(mf.AsyncClient(served.server.address)).at("a").twice(1) == 2
        gc.collect()
        for _ in range(5000):  # the server closes its ends on a thread of its own
            if not served.server.stats().connections.open:
                break
            await asyncio.sleep(0.001)
        assert held() < before + 10

    before = held()
    asyncio.run(main())
    assert eventually(lambda: served.server.stats().connections.open == 0)
