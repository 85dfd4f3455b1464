"""The caller's failure when a handler raises an Error of its own, for all kinds of calls."""

from asyncio import CancelledError
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

import mf
from mf.core.error import Code, Execution, not_executed
from tests.python.conftest import AsyncRecorder, Recorder, eventually
from tests.python.echo import EchoClient, Number
from tests.python.serving import AnyServant, AnyServer, server_of

CODES = (Code.INVALID_ARGUMENT, Code.OVERLOADED, Code.UNAUTHENTICATED, Code.PERMISSION_DENIED)


def doubled(x: int) -> int:
    if x < 4:
        raise not_executed(CODES[x], "not today")
    return 2 * x


class Refusing(Recorder):
    def twice(self, x: int) -> int:
        return doubled(x)


class Awaiting(AsyncRecorder):
    async def twice(self, x: int) -> int:
        return doubled(x)


class Batching(Refusing):
    """Does not raise, but returns failed outcomes, which are accepted."""

    def twice_items(self, requests: Sequence[Number]) -> list[mf.Outcome[int]]:
        return [
            mf.Outcome(error=not_executed(CODES[each.x], "not today"))
            if each.x < 4
            else mf.Outcome(2 * each.x)
            for each in requests
        ]


@pytest.fixture(params=["inline", "workers", "light"])
def over(request: pytest.FixtureRequest) -> Iterator[Callable[[AnyServant], EchoClient]]:
    opened: list[Any] = []

    def served(servant: AnyServant) -> EchoClient:
        if request.param == "light":
            hub = mf.Light()
            hub.offer(servant, agent="a")
            return EchoClient(mf.Client(hub)).at("a")
        if isinstance(servant, mf.Servant):
            plain = mf.Server(options=mf.ServerOptions(drain_timeout=1.0))
            plain.offer(servant, agent="a", inline=request.param == "inline")
            server: AnyServer = plain
        else:
            server = server_of(servant, agent="a", drain_timeout=1.0)
        server.start()
        client = mf.Client(server.address)
        opened.extend((client.close, server.stop))
        return EchoClient(client).at("a")

    yield served
    for close in opened:
        close()


def told(failures: Sequence[BaseException | None], execution: Execution = Execution.UNKNOWN) -> None:
    assert [error.code for error in failures if isinstance(error, mf.Error)] == list(CODES)
    for error in failures:
        assert isinstance(error, mf.Error)
        assert (error.message, error.execution) == ("not today", execution)


@pytest.mark.parametrize("servant", [Refusing, Awaiting, Batching])
def test_a_handler_that_has_begun_may_have_run(
    over: Callable[[AnyServant], EchoClient], servant: type[Recorder | AsyncRecorder]
) -> None:
    echo = over(servant())

    single = []
    for x in range(4):
        with pytest.raises(mf.Error) as raised:
            echo.twice(x)
        single.append(raised.value)
    told(single)
    requests = [Number(x) for x in range(5)]
    for outcomes in (echo.twice_bulk(requests), echo.twice_batch(requests).results()):
        given = Execution.NOT_EXECUTED if servant is Batching else Execution.UNKNOWN
        told([outcome.error for outcome in outcomes[:4]], given)
        assert outcomes[4] == mf.Outcome(8)


@pytest.mark.parametrize("raised", [SystemExit, KeyboardInterrupt, CancelledError])
def test_an_item_that_would_end_the_loop_ends_alone(
    raised: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    class Ending(AsyncRecorder):
        async def twice(self, x: int) -> int:
            if x == 1:
                raise raised
            return 2 * x

    with server_of(Ending(), agent="a", drain_timeout=1.0) as server, mf.Client(server.address) as client:
        echo = EchoClient(client).at("a")
        ended = echo.twice_bulk([Number(x) for x in range(3)], options=mf.CallOptions(deadline=10))
        assert [outcome.ok for outcome in ended] == [True, False, True]
        assert eventually(lambda: f"what={raised.__name__}" in caplog.text.replace('"', ""))
        assert echo.twice(2, options=mf.CallOptions(deadline=10)) == 4


@pytest.mark.parametrize("message", ["é" * 40_000, "\udcff" * 40_000, KeyError("x")])
def test_no_text_breaks_the_connection(over: Callable[[AnyServant], EchoClient], message: Any) -> None:
    servant = Recorder()

    def act(_: int) -> int:
        raise mf.Error(Code.OVERLOADED, message)

    servant.act = act
    echo = over(servant)

    with pytest.raises(mf.Error) as raised:
        echo.flaky(1, options=mf.CallOptions(deadline=5))
    assert raised.value.code is Code.OVERLOADED
    assert echo.twice(1) == 2
