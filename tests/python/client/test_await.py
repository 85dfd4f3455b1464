"""Calls from asyncio: no extra thread, cancellation, deadlines, several loops, and writes that are sent
together."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

import mf
from mf.client import async_target
from mf.client.driving import run as run_one
from mf.core.error import Code, Execution
from mf.link.async_link import AsyncLink
from mf.protocol.client_session import ClientSession
from tests.python.client.test_calls import free_port
from tests.python.conftest import Recorder, Served, eventually
from tests.python.echo import EchoAsyncClient, Negative, Number

T = TypeVar("T")


def awaited(where: str, do: Callable[[EchoAsyncClient], Awaitable[T]]) -> T:
    async def main() -> T:
        async with mf.AsyncClient(where) as client:
            return await do(EchoAsyncClient(client).at("b"))

    return asyncio.run(main())


def test_calls_are_awaited(served: Served) -> None:
    async def run(echo: EchoAsyncClient) -> list[int]:
        return [await echo.twice(1), *await asyncio.gather(*(echo.twice(x) for x in range(500)))]

    assert awaited(served.server.address, run) == [2, *(2 * x for x in range(500))]


def test_failures_are_raised_where_they_are_awaited(served: Served) -> None:
    async def run(echo: EchoAsyncClient) -> None:
        with pytest.raises(Negative):
            await echo.twice(-1)
        with pytest.raises(mf.Error, match="UNKNOWN_AGENT"):
            await echo.at("y").twice(1)

    awaited(served.server.address, run)


@pytest.mark.parametrize("is_connected", [True, False])
def test_a_call_in_another_loop_than_that_of_its_client_is_refused(
    served: Served, is_connected: bool
) -> None:
    async def make() -> tuple[mf.AsyncClient, EchoAsyncClient]:
        client = mf.AsyncClient(served.server.address)
        echo = EchoAsyncClient(client).at("b")
        if is_connected:
            await echo.twice(1)
        return client, echo

    async def refused(call: Callable[[], Awaitable[Any]]) -> None:
        with pytest.raises(RuntimeError, match="belongs to the loop of asyncio in which it was made"):
            await call()

    own = asyncio.new_event_loop()
    try:
        client, echo = own.run_until_complete(make())
        asyncio.run(refused(lambda: echo.twice(2)))
        asyncio.run(refused(lambda: echo.twice_bulk([Number(1)])))
        asyncio.run(refused(lambda: echo.twice_batch([Number(1)])))
        assert own.run_until_complete(echo.twice(3)) == 6
        own.run_until_complete(client.close())
    finally:
        own.close()


def test_a_deadline_holds_while_the_loop_does_other_things(served: Served) -> None:
    async def run(echo: EchoAsyncClient) -> Code:
        await echo.twice(0)  # connected
        with pytest.raises(mf.Error) as raised:
            await echo.sleep(0.5, options=mf.CallOptions(deadline=0.05))
        return raised.value.code

    assert awaited(served.server.address, run) == Code.DEADLINE_EXCEEDED


def test_calls_end_each_at_its_own_deadline(served: Served) -> None:
    ended: list[int] = []

    async def run(echo: EchoAsyncClient) -> None:
        async def late(number: int, seconds: float) -> None:
            with pytest.raises(mf.Error, match="DEADLINE_EXCEEDED"):
                await echo.flaky(0, options=mf.CallOptions(deadline=seconds))
            ended.append(number)

        await echo.twice(0)  # connected
        served.servant.act = lambda x: (served.servant.release.wait(10) and x) or x
        await asyncio.gather(late(0, 1.3), late(1, 0.1), late(2, 0.7))

    awaited(served.server.address, run)
    assert ended == [1, 2, 0]


def test_a_cancelled_task_cancels_its_call_and_the_next_works(served: Served) -> None:
    async def run(echo: EchoAsyncClient) -> int:
        await echo.twice(0)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(echo.sleep(0.3), 0.02)
        return await echo.twice(4)

    assert awaited(served.server.address, run) == 8


def test_scatter_is_awaited(served: Served) -> None:
    async def run(echo: EchoAsyncClient) -> mf.Scattered[str, int]:
        return await echo.on(["a", "y", "b"]).twice(3)

    scattered = awaited(served.server.address, run)

    assert scattered.ok == {"a": 6, "b": 6}
    assert list(scattered.failed) == ["y"]


def test_two_loops_on_two_threads_have_a_client_each(served: Served) -> None:
    results: list[list[int]] = []

    async def run(echo: EchoAsyncClient) -> list[int]:
        return [await echo.twice(x) for x in range(200)]

    def call() -> None:
        results.append(awaited(served.server.address, run))

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert results == [[2 * x for x in range(200)]] * 2


def test_a_client_belongs_to_the_loop_that_runs_when_it_is_made(served: Served) -> None:
    with pytest.raises(
        RuntimeError, match="belongs to the running loop of asyncio: make it within a coroutine"
    ):
        mf.AsyncClient(served.server.address)


def test_no_thread_is_started(served: Served) -> None:
    before = set(threading.enumerate())

    async def run(echo: EchoAsyncClient) -> set[threading.Thread]:
        await asyncio.gather(*(echo.twice(x) for x in range(100)))
        await echo.twice_batch([Number(x) for x in range(1000)])
        await echo.on(["a", "b"]).twice(1)
        with pytest.raises(mf.Error):
            async with mf.AsyncClient("tcp://127.0.0.1:1") as nobody:
                await EchoAsyncClient(nobody).at("a").twice(1, options=mf.CallOptions(deadline=0.05))
        return set(threading.enumerate())

    started = awaited(served.server.address, run) - before
    assert [thread.name for thread in started if not thread.name.startswith("mf-worker")] == []


def test_a_closed_client_ends_what_is_awaited(served: Served) -> None:
    async def main() -> Code:
        client = mf.AsyncClient(served.server.address)
        task = asyncio.ensure_future(EchoAsyncClient(client).at("b").flaky(1))
        while not served.servant.calls:
            await asyncio.sleep(0.005)
        await client.close()
        await client.close()
        with pytest.raises(mf.Error) as raised:
            await task
        return raised.value.code

    served.servant.act = lambda x: (served.servant.release.wait(10) and x) or x
    assert asyncio.run(main()) == Code.CANCELLED


def test_one_way_calls_are_awaited_until_they_are_on_their_way(served: Served) -> None:
    async def run(echo: EchoAsyncClient) -> None:
        for x in range(100):
            await echo.note(x)
        await echo.note_batch([Number(x) for x in range(100, 1000)])
        await echo.twice(1)

    awaited(served.server.address, run)

    assert eventually(lambda: served.servant.notes == list(range(1000)))


def test_a_one_way_call_leaves_though_the_client_is_closed_at_once(served: Served) -> None:
    async def run(echo: EchoAsyncClient) -> None:
        await echo.twice(1)
        await echo.note(7)

    awaited(served.server.address, run)

    assert eventually(lambda: served.servant.notes == [7])


def test_one_way_calls_to_a_server_that_does_not_read_are_held_back(served: Served) -> None:
    sent = 0

    async def run(echo: EchoAsyncClient) -> None:
        async def send() -> None:
            nonlocal sent
            while True:
                await echo.note(sent)
                sent += 1

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(send(), 5)

    served.servant.note = lambda _: served.servant.release.wait(30)  # type: ignore[assignment]
    task = threading.Thread(target=awaited, args=(served.server.address, run))
    task.start()
    seen = -1
    while seen != sent or not sent:
        seen = sent
        threading.Event().wait(0.5)
    served.servant.release.set()
    task.join(20)
    assert 0 < seen < 1_000_000


def test_requests_of_one_turn_of_the_loop_leave_in_one_write(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[int] = []
    write = AsyncLink._write

    def counted(self: Any) -> None:
        if self._session.out:
            writes.append(len(self._session.out))
        write(self)

    async def run(echo: EchoAsyncClient) -> None:
        await echo.twice(1)
        monkeypatch.setattr(AsyncLink, "_write", counted)
        await asyncio.gather(*(echo.twice(x) for x in range(100)))

    awaited(served.server.address, run)
    assert writes[0] == 100


def test_one_way_calls_of_tasks_that_wait_for_a_server_leave_in_the_order_in_which_they_were_made() -> None:
    servant = Recorder()
    port = free_port()

    async def run() -> None:
        async with mf.AsyncClient(f"tcp://127.0.0.1:{port}") as client:
            # Each has its own stub, as in many programs.
            tasks = [
                asyncio.create_task(EchoAsyncClient(client).at("a").note(number)) for number in range(100)
            ]
            await asyncio.sleep(0.1)
            server = mf.Server(f"tcp://127.0.0.1:{port}")
            server.offer(servant, agent="a")
            server.start()
            await asyncio.gather(*tasks)
            assert await asyncio.to_thread(eventually, lambda: len(servant.notes) == 100)
            await asyncio.to_thread(server.stop)

    asyncio.run(run())
    assert servant.notes == list(range(100))


def test_a_one_way_call_behind_another_one_keeps_its_own_deadline() -> None:
    async def run() -> tuple[mf.Error, bool]:
        async with mf.AsyncClient(f"tcp://127.0.0.1:{free_port()}") as client:
            echo = EchoAsyncClient(client).at("a")
            first = asyncio.create_task(echo.note(1))
            await asyncio.sleep(0)
            with pytest.raises(mf.Error) as raised:
                await echo.note(2, options=mf.CallOptions(deadline=0.05))
            waits = not first.done()
            first.cancel()
            await asyncio.wait([first])
            return raised.value, waits

    error, first_waits = asyncio.run(run())
    assert (error.code, error.execution) == (Code.DEADLINE_EXCEEDED, Execution.NOT_EXECUTED)
    assert first_waits


def test_a_bug_in_one_call_of_a_scatter_leaves_no_task_behind(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[str] = []

    async def broken(call: Any, to: Any, step: Any = None) -> None:
        if to.agent == "a":
            raise RuntimeError("a bug")
        await asyncio.sleep(0.02)
        await run_one(call, to, step)
        ended.append(to.agent)

    async def call(client: mf.AsyncClient) -> None:
        await EchoAsyncClient(client).on(["a", "b"]).twice(1)

    async def run() -> set[Any]:
        async with mf.AsyncClient(served.server.address) as client:
            before = asyncio.all_tasks()
            with pytest.raises(RuntimeError, match="a bug"):
                await call(client)
            return {task for task in asyncio.all_tasks() - before if "broken" in repr(task)}

    monkeypatch.setattr(async_target, "run", broken)
    assert asyncio.run(run()) == set()
    assert ended == ["b"]


def test_a_bug_in_one_connection_ends_that_one_and_the_next_call_has_another(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slip(*_: object) -> None:
        raise RuntimeError("a slip")

    async def run() -> int:
        async with mf.AsyncClient(served.server.address) as client:
            echo = EchoAsyncClient(client).at("a")
            assert await echo.twice(1) == 2
            with monkeypatch.context() as patched:
                patched.setattr(ClientSession, "received", slip)
                with pytest.raises(mf.Error, match="a bug was met on this connection") as raised:
                    await echo.sleep(0.0, options=mf.CallOptions(deadline=20))
            assert raised.value.execution is Execution.UNKNOWN
            return await echo.twice(2)

    assert asyncio.run(run()) == 4
