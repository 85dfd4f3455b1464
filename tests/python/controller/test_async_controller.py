"""Asyncio clients and servers with a controller: tasks watch and register, and no thread does."""

import asyncio
import threading

import pytest

import mf
from mf.core.error import Code
from tests.python.conftest import AsyncRecorder, Recorder
from tests.python.controller.test_controller import Running, controller
from tests.python.echo import EchoAsyncClient, EchoClient

__all__ = ["controller"]


def serving(address: str, agent: str) -> mf.AsyncServer:
    server = mf.AsyncServer(controller=address, options=mf.ServerOptions(drain_timeout=1.0))
    server.offer(AsyncRecorder(), agent=agent)
    return server


def test_a_server_registers_and_a_client_finds_it_without_a_thread(controller: Running) -> None:
    async def main() -> tuple[list[int], dict[str, int], set[str]]:
        first, second = serving(controller.address, "a"), serving(controller.address, "b")
        async with first, mf.AsyncClient(controller.address) as client:
            echo = EchoAsyncClient(client)
            answers = [await echo.at("a").twice(1)]
            async with second:  # which the client learns of when it is there
                answers.append(await echo.at("b").twice(2))
                scattered = (await echo.everywhere().twice(3)).ok
            return answers, scattered, {thread.name for thread in threading.enumerate()} - before

    before = {thread.name for thread in threading.enumerate()}
    answers, scattered, threads = asyncio.run(main())

    assert (answers, scattered) == ([2, 4], {"a": 6, "b": 6})
    assert not [name for name in threads if name.startswith("mf-")]


def test_one_way_calls_that_wait_for_their_server_arrive_in_order(controller: Running) -> None:
    servant = Recorder()
    server = mf.Server(controller=controller.address, options=mf.ServerOptions(drain_timeout=1.0))
    server.offer(servant, agent="a")

    async def main() -> None:
        async with mf.AsyncClient(controller.address) as client:
            echo = EchoAsyncClient(client).at("a")
            calls = asyncio.gather(*(echo.note(x) for x in range(100)))
            await asyncio.sleep(0.05)
            await asyncio.to_thread(server.start)
            await calls
            assert await echo.twice(1) == 2

    asyncio.run(main())
    server.stop()
    assert servant.notes == list(range(100))


def test_an_offer_ends_with_its_server(controller: Running) -> None:
    async def main() -> mf.Error:
        async with mf.AsyncClient(controller.address, mf.ClientOptions(wait_for_server=0.05)) as client:
            echo = EchoAsyncClient(client).at("a")
            async with serving(controller.address, "a"):
                assert await echo.twice(1) == 2
            with pytest.raises(mf.Error) as raised:
                await echo.twice(1)
            return raised.value

    assert asyncio.run(main()).code is Code.UNAVAILABLE
    with (
        mf.Client(controller.address, mf.ClientOptions(wait_for_server=0.05)) as client,
        pytest.raises(mf.Error),
    ):
        EchoClient(client).at("a").twice(1)


def test_a_controller_that_is_not_there_is_named() -> None:
    async def main() -> mf.Error:
        async with mf.AsyncClient("mf://127.0.0.1:1") as client:
            with pytest.raises(mf.Error) as raised:
                await EchoAsyncClient(client).at("a").twice(1, options=mf.CallOptions(deadline=2.5))
            return raised.value

    error = asyncio.run(main())
    assert error.code is Code.UNAVAILABLE
    assert error.message == (
        'gave up at the deadline: nothing is known of demo.Echo for agent "a": the controller at '
        "mf://127.0.0.1:1 does not answer: connect tcp://127.0.0.1:1: connection refused"
    )
