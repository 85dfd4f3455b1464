"""Servers that are stopped and continued (SIGSTOP, SIGCONT), as clients of Python see it: the kernel goes on
taking connections and bytes for them. Counts and outcomes alone; nothing is timed."""

import asyncio
import importlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mf
from tests.interop.peers import LANGUAGES, Peers, Server

WARM = 200
TENTH = mf.CallOptions(deadline=0.2)
WAYS = ("direct", "controller")
PATIENCE = 30.0
LOST = (mf.Code.DEADLINE_EXCEEDED, mf.Code.CONNECTION_LOST)


@pytest.fixture
def interop(stubs: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(stubs / "interop"))
    return importlib.import_module("interop")


class Two:
    """Two servers of one room, and where a client finds them."""

    def __init__(self, peers: Peers, language: str, way: str) -> None:
        controller = peers.controller().address if way == "controller" else ""
        registered = ("--controller", controller) if controller else ()
        self.servers = [peers.server(language, *registered, "--room", "red") for _ in range(2)]
        self.where = controller or ",".join(each.address for each in self.servers)


def lost_until(call: Callable[[int], int], wanted: int) -> int:
    """Calls until so many have ended well; how many have not."""
    well = lost = 0
    while well < wanted and lost < wanted:
        try:
            assert call(7) == 7 * 1_000_000_007
            well += 1
        except mf.Error as error:
            if error.code not in LOST:
                raise
            lost += 1
    return lost


def eventually(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if holds():
            return True
    return False


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("server", LANGUAGES)
def test_a_frozen_server_loses_the_call_that_is_with_it_and_is_used_again(
    peers: Peers, interop: Any, server: str, way: str
) -> None:
    two = Two(peers, server, way)
    first, second = two.servers
    with mf.Client(two.where) as client:
        shapes = interop.ShapesClient(client).at("red")

        def call(a: int) -> int:
            result: int = shapes.in1_out1(a, options=TENTH)
            return result

        assert eventually(lambda: both_answer(call, two.servers))
        assert lost_until(call, WARM) == 0
        first.freeze()

        assert lost_until(call, 1_000) <= 2

        first.thaw()
        assert eventually(lambda: used(call, second))


def used(call: Callable[[int], int], other: Server) -> bool:
    """Whether calls go on without the other one."""
    lost_until(call, 50)
    other.freeze()
    goes_on = lost_until(call, 20) <= 2
    other.thaw()
    return goes_on


def both_answer(call: Callable[[int], int], servers: list[Server]) -> bool:
    """Whether the client has found both: it goes on without either."""
    return all(used(call, each) for each in servers)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("server", LANGUAGES)
def test_a_frozen_server_loses_awaited_calls_that_are_with_it_and_no_more(
    peers: Peers, interop: Any, server: str, way: str
) -> None:
    two = Two(peers, server, way)
    at_once = 16

    async def run() -> int:
        async with mf.AsyncClient(two.where) as client:
            shapes = interop.ShapesAsyncClient(client).at("red")
            lost = 0

            async def caller(count: int) -> None:
                nonlocal lost
                for _ in range(count):
                    try:
                        assert await shapes.in1_out1(1, options=TENTH) == 1_000_000_007
                    except mf.Error as error:
                        if error.code not in LOST:
                            raise
                        lost += 1

            await asyncio.gather(*(caller(20) for _ in range(at_once)))
            assert lost == 0
            two.servers[0].freeze()
            await asyncio.gather(*(caller(200) for _ in range(at_once)))
            return lost

    assert asyncio.run(run()) <= 200 * at_once // 100


@pytest.mark.parametrize("server", LANGUAGES)
def test_a_server_alone_that_is_frozen_ends_the_call_that_waits_long_before_its_deadline(
    peers: Peers, interop: Any, server: str
) -> None:
    frozen = peers.server(server, "--room", "red")
    with mf.Client(frozen.address, mf.ClientOptions(dead_after=0.5)) as client:
        shapes = interop.ShapesClient(client).at("red")
        assert shapes.in1_out1(0) == 0
        frozen.freeze()

        with pytest.raises(mf.Error) as raised:
            shapes.in1_out1(1, options=mf.CallOptions(deadline=300.0))

        check_cut(raised.value, frozen)
        frozen.thaw()
        assert shapes.in1_out1(0) == 0


def check_cut(error: mf.Error, server: Server) -> None:
    assert (error.code, error.execution) == (mf.Code.CONNECTION_LOST, mf.Execution.UNKNOWN)
    assert server.address.removeprefix("tcp://") in error.message
    assert "nothing has come for 0.4 s, not even the answer to a ping" in error.message


@pytest.mark.parametrize("server", LANGUAGES)
def test_the_same_for_a_call_that_is_awaited_and_for_a_batch(peers: Peers, interop: Any, server: str) -> None:
    frozen = peers.server(server, "--room", "red")
    options = mf.CallOptions(deadline=300.0)

    async def run() -> None:
        async with mf.AsyncClient(frozen.address, mf.ClientOptions(dead_after=0.5)) as client:
            shapes = interop.ShapesAsyncClient(client).at("red")
            assert await shapes.in1_out1(0) == 0
            frozen.freeze()
            with pytest.raises(mf.Error) as raised:
                await shapes.in1_out1(1, options=options)
            check_cut(raised.value, frozen)
            frozen.thaw()
            assert await shapes.in1_out1(0) == 0

    asyncio.run(run())
    with mf.Client(frozen.address, mf.ClientOptions(dead_after=0.5)) as client:
        shapes = interop.ShapesClient(client).at("red")
        assert shapes.in1_out1(0) == 0
        frozen.freeze()
        requests = [interop.ShapesIn1Out1Request(a) for a in range(3)]
        batch = shapes.in1_out1_batch(requests, options=mf.BatchOptions(deadline=300.0))
        for outcome in batch.results():
            assert isinstance(outcome.error, mf.Error)
            check_cut(outcome.error, frozen)
        frozen.thaw()


@pytest.mark.parametrize("server", LANGUAGES)
def test_a_server_that_runs_a_long_call_answers_pings_and_is_not_cut(
    peers: Peers, interop: Any, server: str
) -> None:
    busy = peers.server(server, "--room", "red")
    options = mf.CallOptions(deadline=60.0)
    with mf.Client(busy.address, mf.ClientOptions(dead_after=0.25)) as client:
        interop.ShapesClient(client).at("red").slow(1_500, options=options)

    async def run() -> None:
        async with mf.AsyncClient(busy.address, mf.ClientOptions(dead_after=0.25)) as client:
            await interop.ShapesAsyncClient(client).at("red").slow(1_500, options=options)

    asyncio.run(run())
