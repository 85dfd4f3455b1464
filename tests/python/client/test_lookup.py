"""Looking for a route of an awaited call holds up neither the loop nor its executor nor its end."""

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import mf
from mf.core.error import Code, Execution
from tests.python.client.test_calls import free_port, server_on
from tests.python.conftest import eventually
from tests.python.echo import EchoClient

ROOT = Path(__file__).resolve().parents[3]


def nobody() -> EchoClient:
    return EchoClient(mf.Client(f"tcp://127.0.0.1:{free_port()}")).at("a")


def lookups() -> int:
    return sum(thread.name == "mf-lookup" for thread in threading.enumerate())


def test_a_program_that_gives_up_ends_at_once() -> None:
    program = """
import asyncio, mf
from tests.python.client.test_lookup import nobody

async def main():
    try:
        async with asyncio.timeout(0.05):
            await nobody().twice_async(1, options=mf.CallOptions(deadline=600))
    except TimeoutError:
        print("gave up")

asyncio.run(main())
print("over")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )

    assert done.stdout.split("\n")[:2] == ["gave up", "over"], done.stderr


def test_calls_that_look_for_a_server_leave_the_executor_of_the_loop_alone() -> None:
    async def run() -> bool:
        calls = [asyncio.create_task(nobody().twice_async(1)) for _ in range(64)]
        await asyncio.sleep(0.02)
        ran = await asyncio.to_thread(lambda: True)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        return ran

    assert asyncio.run(run())


def test_many_calls_of_one_target_share_one_search_and_each_ends_at_its_deadline() -> None:
    async def run() -> tuple[int, list[BaseException | int]]:
        echo = nobody()
        calls = [
            echo.twice_async(1, options=mf.CallOptions(deadline=0.1 + 0.001 * number))
            for number in range(100)
        ]
        tasks = [asyncio.create_task(call) for call in calls]
        await asyncio.sleep(0.03)
        return lookups() - before, await asyncio.gather(*tasks, return_exceptions=True)

    before = lookups()
    threads, ends = asyncio.run(run())

    assert threads <= 1
    for end in ends:
        assert isinstance(end, mf.Error)
        assert (end.code, end.execution) == (Code.UNAVAILABLE, Execution.NOT_EXECUTED)
        assert end.message.startswith("gave up at the deadline: connect tcp://127.0.0.1:")
        assert "connection refused" in end.message
    assert eventually(lambda: lookups() <= before)


def test_all_who_wait_go_on_when_the_server_comes() -> None:
    port = free_port()

    async def run() -> list[int]:
        echo = EchoClient(client).at("a")
        calls = [asyncio.create_task(echo.twice_async(number)) for number in range(20)]
        await asyncio.sleep(0.05)
        servers.append(await asyncio.to_thread(server_on, port))
        return await asyncio.gather(*calls)

    servers: list[mf.Server] = []
    with mf.Client(f"tcp://127.0.0.1:{port}") as client:
        assert asyncio.run(run()) == [2 * number for number in range(20)]
    servers[0].stop()


def test_a_client_that_is_closed_ends_a_search() -> None:
    async def run() -> int:
        client = mf.Client(f"tcp://127.0.0.1:{free_port()}")
        call = asyncio.create_task(EchoClient(client).at("a").twice_async(1))
        await asyncio.sleep(0.05)
        client.close()
        return await call

    with pytest.raises(mf.Error) as raised:
        asyncio.run(run())

    assert (raised.value.code, raised.value.execution) == (Code.CANCELLED, Execution.NOT_EXECUTED)
    assert "the client was closed" in raised.value.message
