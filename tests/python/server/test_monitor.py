"""What the monitor of a server says of its calls and connections, and when it is ready."""

import asyncio
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mf
from mf.core.error import Code
from mf.monitor import Exposition
from tests.python.certificates import Authority
from tests.python.conftest import AsyncRecorder, Recorder, eventually
from tests.python.echo import EchoClient, Negative, Number
from tests.python.serving import LoopServer, server_of
from tests.python.topics.made import events, indexed

KINDS = [Recorder, AsyncRecorder]


def got(server: Any, path: str = "/metrics") -> str:
    server = server.server if isinstance(server, LoopServer) else server
    with urllib.request.urlopen(f"http://{server.monitor_address}{path}", timeout=30) as answer:
        return str(answer.read().decode())


def refused(server: Any) -> str:
    with pytest.raises(urllib.error.HTTPError) as raised:
        got(server, "/readyz")
    assert raised.value.code == 503
    return raised.value.read().decode()


@pytest.mark.parametrize("kind", KINDS)
def test_calls_are_counted_by_their_outcomes(kind: Callable[[], Any]) -> None:
    with server_of(kind(), agent="a", monitor="127.0.0.1:0") as server:
        assert "mf_server_calls_total{" not in got(server)
        with mf.Client(server.address) as client:
            echo = EchoClient(client).at("a")
            assert [echo.twice(x) for x in range(5)] == [0, 2, 4, 6, 8]
            with pytest.raises(Negative):
                echo.twice(-1)
            batch = echo.twice_bulk([Number(1), Number(-1), Number(2)])
            assert [outcome.error is None for outcome in batch] == [True, False, True]
            assert eventually(lambda: 'code="DECLARED"} 2' in got(server))
            said = got(server)
    assert '\nmf_server_calls_total{service="demo.Echo",method="twice",code="OK"} 7\n' in said
    assert '\nmf_server_call_duration_seconds_count{service="demo.Echo",method="twice"} 7\n' in said
    assert 'method="twice",le="137.438953472"} 7\n' in said
    assert "\nmf_server_connections 1\n" in said
    assert "\nmf_server_ready 1\n" in said


@pytest.mark.parametrize("kind", KINDS)
def test_it_says_when_the_certificate_expires(kind: Callable[[], Any], tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    name = "mf_server_certificate_expires_timestamp_seconds"
    with server_of(
        kind(), "tls://127.0.0.1:0", agent="a", tls=authority.issue(), monitor="127.0.0.1:0"
    ) as server:
        found = re.search(rf"^{name} (\S+)$", got(server), re.MULTILINE)
    assert found
    assert time.time() < float(found[1]) < time.time() + 1000 * 86_400
    with server_of(kind(), agent="a", monitor="127.0.0.1:0") as server:
        assert name not in got(server)


@pytest.mark.parametrize("kind", KINDS)
def test_there_is_none_unless_asked_for(kind: Callable[[], Any]) -> None:
    with server_of(kind(), agent="a") as server:
        inner = server.server if isinstance(server, LoopServer) else server
        assert inner.monitor_address == ""


def test_failures_have_their_codes() -> None:
    servant = Recorder()
    servant.act = lambda x: 1 // x
    with server_of(servant, agent="a", monitor="127.0.0.1:0") as server:
        with mf.Client(server.address) as client:
            with pytest.raises(mf.Error) as raised:
                EchoClient(client).at("a").flaky(0)
            assert raised.value.code is Code.HANDLER_FAILED
        said = got(server)
    assert 'method="flaky",code="HANDLER_FAILED"} 1\n' in said


@pytest.mark.parametrize("kind", KINDS)
def test_the_user_is_asked_too(kind: Callable[[], Any]) -> None:
    why = ""

    def expose(out: Exposition) -> None:
        out.gauge("index_documents", "Documents.", 42)

    with server_of(kind(), agent="a", monitor="127.0.0.1:0", expose=expose, not_ready=lambda: why) as server:
        assert got(server, "/readyz") == "ok\n"
        why = "the index is being loaded"
        assert refused(server) == "the index is being loaded\n"
        assert "\nindex_documents 42\n" in got(server)
        assert "\nmf_server_ready 0\n" in got(server)
        assert got(server, "/livez") == "ok\n"


def test_it_says_that_a_server_is_not_registered() -> None:
    options = mf.ServerOptions(monitor="127.0.0.1:0", drain_timeout=0.1)
    with mf.Server("tcp://127.0.0.1:0", "mf://127.0.0.1:1", options) as server:
        assert refused(server) == "the server is not registered at its controller\n"


def test_it_says_that_a_server_of_asyncio_is_not_registered() -> None:
    async def main() -> str:
        options = mf.ServerOptions(monitor="127.0.0.1:0", drain_timeout=0.1)
        async with mf.AsyncServer("tcp://127.0.0.1:0", "mf://127.0.0.1:1", options) as server:
            return await asyncio.to_thread(refused, server)

    assert asyncio.run(main()) == "the server is not registered at its controller\n"


def test_an_address_that_cannot_be_used_refuses_the_server() -> None:
    with pytest.raises(ValueError, match="every program that reaches it may read it"):
        mf.Server(monitor="0.0.0.0:0")

    async def never() -> str:
        return ""

    with pytest.raises(TypeError, match="not_ready is `async def`"):
        mf.Server(not_ready=never)  # type: ignore[arg-type]
    with mf.Server(monitor="127.0.0.1:0") as first:
        second = mf.Server(monitor=first.monitor_address)
        with pytest.raises(OSError, match="cannot listen there"):
            second.start()


def test_topics_are_counted_with_their_subscribers_and_drops() -> None:
    with mf.Topics() as topics:
        books = events.AdditionsPublisher(topics).at("books")
        slow = mf.SubscribeOptions(max_messages=1, overflow=mf.Overflow.drop_newest)
        with (
            server_of(topics, monitor="127.0.0.1:0") as server,  # type: ignore[arg-type]
            events.AdditionsSubscriber(topics, "books", slow),
        ):
            for doc in range(3):
                books.publish(indexed(doc))
            said = got(server)
        for name, value in (("subscribers", 1), ("published_total", 3), ("dropped_total", 2)):
            assert f'\nmf_topic_{name}{{topic="{events.ADDITIONS_TOPIC.name}"}} {value}\n' in said
