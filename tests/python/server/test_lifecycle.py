"""What servers log of their start and their end."""

import asyncio
import logging
import threading

import pytest

import mf
from tests.python.conftest import Recorder
from tests.python.core.test_log import wait_until_written
from tests.python.echo import EchoClient


def events(caplog: pytest.LogCaptureFixture) -> list[str]:
    wait_until_written()
    return [each.getMessage().partition(" ")[0] for each in caplog.records if each.name == "mf"]


def test_a_server_says_that_it_starts_and_ends(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "mf")
    with mf.Server("tcp://127.0.0.1:0") as server:
        address = server.address
    server.stop()

    assert events(caplog) == ["started", "draining", "drained", "stopped"]
    started = caplog.records[0].getMessage()
    assert f"addresses={address} controllers=none identity={server.nonce.hex()} access=none" in started


def test_an_async_server_says_the_same(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "mf")

    async def serve() -> None:
        async with mf.AsyncServer("tcp://127.0.0.1:0"):
            pass

    asyncio.run(serve())

    assert events(caplog) == ["started", "draining", "drained", "stopped"]


def test_a_server_that_cuts_calls_was_not_drained(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "mf")
    servant, began = Recorder(), threading.Event()

    def wait(x: int) -> int:
        began.set()
        servant.release.wait(60)
        return x

    servant.act = wait
    with mf.Server("tcp://127.0.0.1:0", drain_timeout=0.01) as server:
        server.offer(servant, agent="a")
        client = mf.Client(server.address)

        def lose() -> None:
            with pytest.raises(mf.Error):
                EchoClient(client).at("a").flaky(1)

        calling = threading.Thread(target=lose)
        calling.start()
        assert began.wait(60)
        assert not server.stop()
        servant.release.set()
        calling.join()
        client.close()

    assert events(caplog) == ["started", "draining", "calls_cut", "stopped"]
