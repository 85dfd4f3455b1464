"""Calls whose deadline is 0 or has passed end as DEADLINE_EXCEEDED, NOT_EXECUTED, and nothing of them runs.

Every kind of call is made three times: for an agent that was called before, for one that the client has not
reached yet, and in light.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Any

import pytest

import mf
from tests.python.conftest import Recorder, eventually
from tests.python.echo import EchoAsyncClient, EchoClient, Number
from tests.python.flow import FlowAsyncClient, FlowClient, FlowServant
from tests.python.flowing import Plain

THREE = [Number(1), Number(2), Number(3)]


class Counting(Recorder):
    """Counts all that runs."""

    def twice(self, x: int) -> int:
        self.calls += 1
        return super().twice(x)

    def note(self, x: int) -> None:
        super().note(x)
        self.calls += 1


class Flowing(Plain):
    """The same for streams."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def count(self, to: int) -> Iterator[int]:
        self.calls += 1
        return super().count(to)

    def total(self, start: int, values: Iterator[int]) -> int:
        self.calls += 1
        return super().total(start, values)

    def shout(self, words: Iterator[str]) -> Iterator[str]:
        self.calls += 1
        return super().shout(words)


@dataclass
class Place:
    """A server or a light, and its servants, which count calls."""

    source: Any
    where: Any
    echo: Counting
    flow: Flowing
    known: bool

    @property
    def ran(self) -> int:
        return self.echo.calls + self.flow.calls


@pytest.fixture(params=["called before", "not reached yet", "light"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    echo, flow = Counting(), Flowing()
    if request.param == "light":
        hub = mf.Light()
        hub.offer(echo, agent="a")
        hub.offer(flow)
        yield Place(hub, hub, echo, flow, known=True)
        return
    with mf.Server("tcp://127.0.0.1:0", options=mf.ServerOptions(drain_timeout=2.0)) as server:
        server.offer(echo, agent="a")
        server.offer(flow)
        with mf.Client(server.address) as client:
            known = request.param == "called before"
            if known:
                EchoClient(client).at("a").twice(1)
                FlowClient(client).total(0, [])
            echo.calls = flow.calls = 0
            yield Place(client, server.address, echo, flow, known)


def blocking_calls(source: Any) -> dict[str, Callable[[float], Any]]:
    echo, flow = EchoClient(source).at("a"), FlowClient(source)
    options = mf.CallOptions
    return {
        "call": lambda left: echo.twice(1, options=options(deadline=left)),
        "one-way": lambda left: echo.note(1, options=options(deadline=left)),
        "bulk": lambda left: echo.twice_bulk(THREE, options=options(deadline=left)),
        "result stream": lambda left: list(flow.count(3, options=options(deadline=left))),
        "parameter stream": lambda left: flow.total(1, [1, 2], options=options(deadline=left)),
        "streams both ways": lambda left: next(iter(flow.shout(options=options(deadline=left)))),
    }


def awaited_calls(source: Any) -> dict[str, Callable[[float], Coroutine[Any, Any, Any]]]:
    echo, flow = EchoAsyncClient(source).at("a"), FlowAsyncClient(source)
    options = mf.CallOptions
    return {
        "call": lambda left: echo.twice(1, options=options(deadline=left)),
        "one-way": lambda left: echo.note(1, options=options(deadline=left)),
        "bulk": lambda left: echo.twice_bulk(THREE, options=options(deadline=left)),
        "result stream": lambda left: _first(flow.count(3, options=options(deadline=left))),
        "parameter stream": lambda left: flow.total(1, [1, 2], options=options(deadline=left)),
        "streams both ways": lambda left: _first(flow.shout(options=options(deadline=left))),
    }


async def _first(values: AsyncIterator[Any]) -> Any:
    return await anext(values)


def is_out_of_time(failure: object) -> bool:
    return (
        isinstance(failure, mf.Error)
        and failure.code is mf.Code.DEADLINE_EXCEEDED
        and failure.execution is mf.Execution.NOT_EXECUTED
    )


@pytest.mark.parametrize("left", [0, -1.5, -math.inf])
@pytest.mark.parametrize("kind", list(blocking_calls(mf.Light())))
def test_a_blocking_call_without_time_runs_nothing(place: Place, kind: str, left: float) -> None:
    with pytest.raises(mf.Error) as raised:
        blocking_calls(place.source)[kind](left)

    assert is_out_of_time(raised.value), repr(raised.value)
    assert place.ran == 0


@pytest.mark.parametrize("left", [0, -1.5])
@pytest.mark.parametrize("kind", list(blocking_calls(mf.Light())))
def test_an_awaited_call_without_time_runs_nothing(place: Place, kind: str, left: float) -> None:
    async def main(source: Any) -> None:
        if place.known and not isinstance(source, mf.Light):
            await EchoAsyncClient(source).at("a").twice(1)
            await FlowAsyncClient(source).total(0, [])
            place.echo.calls = place.flow.calls = 0
        with pytest.raises(mf.Error) as raised:
            await awaited_calls(source)[kind](left)
        assert is_out_of_time(raised.value), repr(raised.value)

    _with_async_source(place, main)
    assert place.ran == 0


@pytest.mark.parametrize("left", [0, -1.5])
def test_each_call_of_a_blocking_batch_or_scattered_call_has_that_failure(place: Place, left: float) -> None:
    echo = EchoClient(place.source)
    outcomes = echo.at("a").twice_batch(THREE, options=mf.BatchOptions(deadline=left, size=2)).results()
    outcomes += echo.on(["a"]).twice(1, options=mf.CallOptions(deadline=left)).values()
    if place.known and isinstance(place.source, mf.Light):
        outcomes += echo.everywhere().twice(1, options=mf.CallOptions(deadline=left)).values()

    assert [is_out_of_time(each.error) for each in outcomes] == [True] * len(outcomes)
    assert len(outcomes) >= 4
    assert place.ran == 0


@pytest.mark.parametrize("left", [0, -1.5])
def test_each_call_of_an_awaited_batch_or_scattered_call_has_that_failure(place: Place, left: float) -> None:
    async def main(source: Any) -> None:
        echo = EchoAsyncClient(source)
        options = mf.BatchOptions(deadline=left, size=2)
        outcomes = await echo.at("a").twice_batch(THREE, options=options)
        scattered = await echo.on(["a"]).twice(1, options=mf.CallOptions(deadline=left))
        outcomes += scattered.values()
        assert [is_out_of_time(each.error) for each in outcomes] == [True] * 4

    _with_async_source(place, main)
    assert place.ran == 0


def test_a_call_to_all_agents_without_time_to_learn_of_any_has_that_failure() -> None:
    with mf.Client("mf://127.0.0.1:1") as client, pytest.raises(mf.Error) as raised:
        EchoClient(client).everywhere().twice(1, options=mf.CallOptions(deadline=0))

    assert is_out_of_time(raised.value), repr(raised.value)


def test_a_call_of_a_handler_without_time_left_runs_nothing() -> None:
    """Also where its connection is open: no caller would take the result of the request."""
    inner = Counting()
    failures: list[object] = []

    class Outer(FlowServant):
        def count(self, to: int) -> Iterator[int]:
            assert eventually(lambda: mf.current_call().deadline <= monotonic())
            try:
                echo.twice(to)
            except mf.Error as failure:
                failures.append(failure)
            yield 0

    with mf.Server("tcp://127.0.0.1:0", options=mf.ServerOptions(drain_timeout=2.0)) as server:
        server.offer(inner, agent="a")
        server.offer(Outer())
        with mf.Client(server.address) as client:
            echo = EchoClient(client).at("a")
            echo.twice(1)
            with pytest.raises(mf.Error):
                list(FlowClient(client).count(1, options=mf.CallOptions(deadline=0.2)))
            assert eventually(lambda: bool(failures))

    assert [is_out_of_time(each) for each in failures] == [True]
    assert inner.calls == 1


def _with_async_source(place: Place, main: Callable[[Any], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        if isinstance(place.where, mf.Light):
            await main(place.where)
        else:
            async with mf.AsyncClient(place.where) as client:
                await main(client)

    asyncio.run(run())
