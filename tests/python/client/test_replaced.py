"""A connection whose server is stopping is replaced; calls on the old one end with their client, too."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import pytest

import mf
from tests.python.conftest import Recorder
from tests.python.echo import EchoAsyncClient, EchoClient


class _Stopping:
    """A server that waits for a call while it stops, and another one at its address."""

    def __init__(self) -> None:
        self.began, self._let_go = Event(), Event()
        servant = Recorder()
        servant.act = self._hold
        self._first = mf.Server(listen="tcp://127.0.0.1:0", options=mf.ServerOptions(drain_timeout=20))
        self._first.offer(servant, agent="a")
        self._first.start()
        self.address = self._first.address
        self._stop = Thread(target=self._first.stop)

    def _hold(self, x: int) -> int:
        self.began.set()
        self._let_go.wait(20)
        return x

    def replace(self) -> None:
        self._stop.start()
        while True:
            try:
                self._second = mf.Server(listen=self.address)
                self._second.offer(Recorder(), agent="a")
                self._second.start()
                return
            except OSError:  # the first one listens still
                pass

    def end(self) -> None:
        self._let_go.set()
        self._stop.join()
        self._second.stop()


@contextmanager
def stopping() -> Iterator[_Stopping]:
    servers = _Stopping()
    try:
        yield servers
    finally:
        servers.end()


def test_closing_a_client_ends_calls_on_a_connection_that_was_replaced() -> None:
    with stopping() as servers:
        client = mf.Client(servers.address)
        echo = EchoClient(client).at("a")
        ended: list[mf.Error] = []

        def call() -> None:
            with pytest.raises(mf.Error) as raised:
                echo.flaky(1)
            ended.append(raised.value)

        thread = Thread(target=call)
        thread.start()
        assert servers.began.wait(20)
        servers.replace()
        while echo.twice(2) != 4:
            pass
        client.close()
        thread.join(20)
        assert [each.code for each in ended] == [mf.Code.CANCELLED]


def test_so_it_is_with_asyncio() -> None:
    async def run(servers: _Stopping) -> None:
        async with mf.AsyncClient(servers.address) as client:
            echo = EchoAsyncClient(client).at("a")
            call = asyncio.create_task(echo.flaky(1))
            await asyncio.to_thread(servers.began.wait, 20)
            await asyncio.to_thread(servers.replace)
            assert await echo.twice(2) == 4
        with pytest.raises(mf.Error) as raised:
            await asyncio.wait_for(call, 20)
        assert raised.value.code == mf.Code.CANCELLED

    with stopping() as servers:
        asyncio.run(run(servers))
