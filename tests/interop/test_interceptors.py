"""Interceptors of Python's clients and servers with a controller and a relay of C++ between them, and the
trace that these hand on."""

import asyncio
from typing import Any

import pytest

import mf
from mf.interceptors import Recorded, Recorder
from tests.interop.peers import Peers
from tests.python.conftest import AsyncRecorder
from tests.python.conftest import Recorder as Echo
from tests.python.echo import EchoAsyncClient, EchoClient, Negative, Number
from tests.python.flow import FlowAsyncClient, FlowClient
from tests.python.flowing import Awaiting, Plain
from tests.python.serving import LoopServer

CALLS = ["count", "twice", "twice"]
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class AsTraced(mf.Interceptor):
    """Gives each call of a client a trace."""

    def begin(self, call: mf.InterceptedCall) -> None:
        call.metadata["traceparent"] = PARENT


def do_blocking(where: str, interceptors: list[mf.Interceptor]) -> None:
    with mf.Client(where, interceptors=interceptors) as client:
        echo = EchoClient(client).at("a")
        assert echo.twice(21) == 42
        assert [outcome.ok for outcome in echo.twice_bulk([Number(1), Number(-1)])] == [True, False]
        assert list(FlowClient(client).count(3)) == [1, 2, 3]


async def do_awaited(where: str, interceptors: list[mf.Interceptor]) -> None:
    async with mf.AsyncClient(where, interceptors=interceptors) as client:
        echo = EchoAsyncClient(client).at("a")
        assert await echo.twice(21) == 42
        assert [outcome.ok for outcome in await echo.twice_bulk([Number(1), Number(-1)])] == [True, False]
        assert [value async for value in FlowAsyncClient(client).count(3)] == [1, 2, 3]


@pytest.mark.parametrize("by", ["controller", "relay"])
@pytest.mark.parametrize("caller", ["plain", "async"])
@pytest.mark.parametrize("handler", ["plain", "async"])
def test_both_sides_see_calls_through_programs_between_them(
    peers: Peers, by: str, caller: str, handler: str
) -> None:
    controller = peers.controller().address
    where = (
        controller if by == "controller" else "relay://" + peers.relay(controller).address.partition("://")[2]
    )
    sent, served = Recorder(), Recorder()
    server: Any = (mf.Server if handler == "plain" else LoopServer)(
        "tcp://127.0.0.1:0", controller, options=mf.ServerOptions(interceptors=[served])
    )
    server.offer(Echo() if handler == "plain" else AsyncRecorder(), "a")
    server.offer(Plain() if handler == "plain" else Awaiting())
    with server:
        if caller == "plain":
            do_blocking(where, [sent, AsTraced()])
        else:
            asyncio.run(do_awaited(where, [sent, AsTraced()]))
        served.wait_for(3)

    for side in (sent.calls(), served.calls()):
        assert sorted(each.call.method for each in side) == CALLS
        assert {each.end.code for each in side} == {mf.Code.OK}
        assert bulk(side).end.outcomes == [mf.Outcome(2), mf.Outcome(error=Negative(-1))]
    assert {each.call.metadata["traceparent"] for each in served.calls()} == {PARENT}
    assert all(each.end.peer.startswith("tcp://127.0.0.1:") for each in sent.calls())
    assert {each.end.attempts for each in sent.calls()} == {1}


def bulk(seen: list[Recorded]) -> Recorded:
    (only,) = [each for each in seen if each.call.kind is mf.CallKind.BULK]
    return only
