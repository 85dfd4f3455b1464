"""A handler may stop its own server: the call is answered, and the server stops afterwards."""

import asyncio
from typing import Any

import pytest

import mf
from tests.python.conftest import AsyncRecorder, Recorder, eventually
from tests.python.echo import EchoAsyncClient, EchoClient


@pytest.mark.parametrize("inline", [True, False])
def test_a_handler_stops_its_server(inline: bool) -> None:
    servant = Recorder()
    server = mf.Server("tcp://127.0.0.1:0", options=mf.ServerOptions(drain_timeout=20.0))
    server.offer(servant, "a", inline=inline)
    server.start()
    io: Any = server._io

    def act(x: int) -> int:
        server.stop()
        return x

    servant.act = act
    with mf.Client(server.address) as client:
        assert EchoClient(client).at("a").flaky(7) == 7
    assert eventually(lambda: not io.thread.is_alive())
    server.run()  # returns at once: the server was stopped
    server.stop()


def test_a_handler_of_asyncio_stops_its_server() -> None:
    async def main() -> int:
        server = mf.AsyncServer("tcp://127.0.0.1:0", options=mf.ServerOptions(drain_timeout=20.0))

        class Stopping(AsyncRecorder):
            async def flaky(self, x: int) -> int:
                await server.stop()
                return x

        server.offer(Stopping(), "a")
        serving = asyncio.create_task(server.serve())
        while server._io is None:
            await asyncio.sleep(0)
        async with mf.AsyncClient(server.address) as client:
            result = await EchoAsyncClient(client).at("a").flaky(7)
        await serving
        return result

    assert asyncio.run(main()) == 7
