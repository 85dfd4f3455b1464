"""A client that finds no server logs that once, and logs when it has found one."""

import asyncio
import socket
import threading
from typing import Any

import pytest

import mf
from tests.python.client.test_calls import free_port
from tests.python.conftest import Recorder, Served, eventually
from tests.python.echo import EchoAsyncClient, EchoClient

LONG = mf.CallOptions(deadline=60)


def said(caplog: pytest.LogCaptureFixture, words: str) -> list[str]:
    return [each.getMessage() for each in caplog.records if words in each.getMessage()]


@pytest.mark.parametrize("awaits", [False, True])
def test_a_refused_connection_is_logged_once_and_the_call_goes_on(
    caplog: pytest.LogCaptureFixture, awaits: bool
) -> None:
    caplog.set_level("INFO", "mf")
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    results: list[Any] = []

    async def awaited() -> int:
        async with mf.AsyncClient(address) as client:
            return await EchoAsyncClient(client).at("a").twice(1, options=LONG)

    def call() -> None:
        if awaits:
            results.append(asyncio.run(awaited()))
        else:
            with mf.Client(address) as client:
                results.append(EchoClient(client).at("a").twice(1, options=LONG))

    caller = threading.Thread(target=call)
    caller.start()
    assert eventually(lambda: bool(said(caplog, "trying on")))
    server = mf.Server(address)
    server.offer(Recorder(), "a")
    with server:
        caller.join()
    assert results == [2]
    [line] = said(caplog, "trying on")
    assert line == f"'connect {address}: connection refused'; trying on"
    assert eventually(lambda: bool(said(caplog, 'demo.Echo for agent "a" is reached again')))


def test_a_call_ends_at_once_where_the_controller_speaks_another_protocol(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """And logs it once."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            while True:
                try:
                    peer, _ = listener.accept()
                except OSError:
                    return
                peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" + bytes(100))
                peer.close()

        threading.Thread(target=answer, daemon=True).start()
        where = f"mf://127.0.0.1:{listener.getsockname()[1]}"
        with mf.Client(where) as client:
            for _ in range(3):
                with pytest.raises(mf.Error) as raised:
                    EchoClient(client).at("a").twice(1, options=mf.CallOptions(deadline=3600))
                assert raised.value.code is mf.Code.PROTOCOL_ERROR
        listener.shutdown(socket.SHUT_RDWR)
    assert len(said(caplog, "broke the protocol")) == 1


def test_a_search_that_succeeds_soon_logs_nothing(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "mf")
    assert served.echo.at("a").twice(1) == 2
    assert said(caplog, "trying on") == []
