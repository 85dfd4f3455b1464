"""Searching a route of an awaited call: the loop does it, and no thread or task is left."""

import asyncio
import gc
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import mf
from mf.core.error import Code, Execution
from tests.python.client.test_calls import free_port, server_on
from tests.python.echo import EchoAsyncClient

ROOT = Path(__file__).resolve().parents[3]


def nobody() -> str:
    return f"tcp://127.0.0.1:{free_port()}"


def test_a_program_that_gives_up_ends_at_once() -> None:
    program = """
import asyncio, mf
from tests.python.client.test_async_search import nobody
from tests.python.echo import EchoAsyncClient

async def main():
    client = mf.AsyncClient(nobody())
    try:
        async with asyncio.timeout(0.05):
            await EchoAsyncClient(client).at("a").twice(1, options=mf.CallOptions(deadline=600))
    except TimeoutError:
        print("gave up")

asyncio.run(main())
print("over")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )

    assert done.stdout.split("\n")[:2] == ["gave up", "over"], done.stderr


def test_each_of_many_calls_ends_at_its_deadline_and_starts_no_thread() -> None:
    async def run() -> tuple[int, list[BaseException | int]]:
        async with mf.AsyncClient(nobody()) as client:
            echo = EchoAsyncClient(client).at("a")
            calls = [
                echo.twice(1, options=mf.CallOptions(deadline=1.0 + 0.001 * number)) for number in range(100)
            ]
            tasks = [asyncio.create_task(call) for call in calls]
            await asyncio.sleep(0.03)
            return threading.active_count() - before, await asyncio.gather(*tasks, return_exceptions=True)

    before = threading.active_count()
    threads, ends = asyncio.run(run())

    assert threads == 0
    for end in ends:
        assert isinstance(end, mf.Error)
        assert (end.code, end.execution) == (Code.UNAVAILABLE, Execution.NOT_EXECUTED)
        words, _, why = end.message.rpartition(": ")
        assert words.startswith("gave up at the deadline: connect tcp://127.0.0.1:")
        assert why in (
            "connection refused",
            "no answer within the deadline",
        )  # of an attempt that is under way


def test_all_who_wait_go_on_when_the_server_comes() -> None:
    port = free_port()

    async def run() -> list[int]:
        async with mf.AsyncClient(f"tcp://127.0.0.1:{port}") as client:
            echo = EchoAsyncClient(client).at("a")
            calls = [asyncio.create_task(echo.twice(number)) for number in range(20)]
            await asyncio.sleep(0.05)
            servers.append(await asyncio.to_thread(server_on, port))
            return await asyncio.gather(*calls)

    servers: list[mf.Server] = []
    assert asyncio.run(run()) == [2 * number for number in range(20)]
    servers[0].stop()


def test_a_client_that_is_closed_ends_a_search_without_burning_a_core() -> None:
    async def run() -> tuple[float, mf.Error]:
        client = mf.AsyncClient(nobody())
        call = asyncio.create_task(EchoAsyncClient(client).at("a").twice(1))
        await asyncio.sleep(0.05)
        begun = time.process_time()
        await client.close()
        with pytest.raises(mf.Error) as raised:
            await call
        return time.process_time() - begun, raised.value

    burnt, error = asyncio.run(run())

    assert (error.code, error.execution) == (Code.CANCELLED, Execution.NOT_EXECUTED)
    assert "the client was closed" in error.message
    assert burnt < 1.0


def descriptors() -> int:
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_task_that_is_cancelled_while_it_connects_closes_its_socket() -> None:
    async def run(where: str) -> tuple[int, int, int]:
        async with mf.AsyncClient(where) as client:
            before = descriptors()
            call = asyncio.create_task(EchoAsyncClient(client).at("a").twice(1))
            await asyncio.sleep(0.05)
            meanwhile = descriptors()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await asyncio.sleep(0.01)
            return before, meanwhile, descriptors()

    # The kernel completes one more connection than the queue has room for; the next one hangs.
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        port = full.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            before, meanwhile, after = asyncio.run(run(f"tcp://127.0.0.1:{port}"))

    assert (meanwhile, after) == (before + 1, before)


def test_a_name_server_that_is_silent_holds_up_neither_the_loop_nor_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go_on = threading.Event()
    ask = socket.getaddrinfo
    asked: list[str] = []

    def silent(host: str, *arguments: object, **options: object) -> object:
        if host == "silent.test" and threading.current_thread().name == "mf-lookup":
            asked.append(host)
            go_on.wait(30)
        return ask(host, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", silent)

    async def run() -> tuple[mf.Error, int]:
        async with mf.AsyncClient("tcp://silent.test:1") as client:
            echo = EchoAsyncClient(client).at("a")
            call = asyncio.create_task(echo.twice(1, options=mf.CallOptions(deadline=0.2)))
            turns = 0
            while not call.done():
                turns += 1
                await asyncio.sleep(0.001)
            with pytest.raises(mf.Error) as raised:
                await call
            return raised.value, turns

    error, turns = asyncio.run(run())
    go_on.set()

    assert asked == ["silent.test"]
    assert turns > 10
    assert (error.code, error.execution) == (Code.UNAVAILABLE, Execution.NOT_EXECUTED)
    assert (
        error.message == "gave up at the deadline: connect tcp://silent.test:1: no answer within the deadline"
    )
