"""A server on a loop: its lifetime, that it starts no thread, its end, and what limits clients that send too
much."""

import asyncio
import gc
import importlib
import signal
import socket
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

import mf
from mf.core.error import Code
from mf.protocol import frame
from mf.protocol.handshake import Hello, pack_bind
from mf.server.async_io import _EXPIRY_PACE, AsyncIo
from mf.server.current import ServedCall
from tests.python.conftest import AsyncRecorder
from tests.python.echo import ECHO_SERVICE, EchoAsyncClient, EchoAsyncServant, Number

ROOT = Path(__file__).parents[3]
HELLO = frame.pack(frame.HELLO, Hello(nonce=bytes(16), client_id=1).pack())
BIND = frame.pack(
    frame.BIND,
    pack_bind(ECHO_SERVICE.fingerprint, "demo.Echo", "a", ("twice", "echo", "sleep", "note", "flaky")),
)


class Held(AsyncRecorder):
    """Its `flaky` and `note` wait until they are released."""

    def __init__(self) -> None:
        self.began: list[int] = []
        self.ended: list[str] = []
        self.go_on = asyncio.Event()

    async def flaky(self, x: int) -> int:
        self.began.append(x)
        try:
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise
        self.ended.append("well")
        return x

    async def note(self, x: int) -> None:
        self.began.append(x)
        await self.go_on.wait()

    async def until(self, count: int) -> None:
        while len(self.began) < count:
            await asyncio.sleep(0.001)


def serving(servant: EchoAsyncServant, listen: str = "tcp://127.0.0.1:0", **options: Any) -> mf.AsyncServer:
    server = mf.AsyncServer(listen, options=mf.ServerOptions(**options))
    server.offer(servant, agent="a")
    return server


def test_client_and_server_share_a_loop_and_start_no_thread() -> None:
    async def main() -> tuple[list[int], set[threading.Thread]]:
        server = serving(AsyncRecorder())
        async with server, mf.AsyncClient(server.address) as client:
            echo = EchoAsyncClient(client).at("a")
            answers = await asyncio.gather(*(echo.twice(x) for x in range(1000)))
            await echo.twice_batch([Number(x) for x in range(1000)])
            return answers, set(threading.enumerate())

    before = set(threading.enumerate())
    answers, threads = asyncio.run(main())

    assert answers == [2 * x for x in range(1000)]
    assert threads <= before  # some of another test may be ending


def test_it_finishes_what_is_under_way_and_takes_nothing_new() -> None:
    async def main() -> tuple[int, Code, list[str]]:
        servant = Held()
        server = serving(servant, drain_timeout=10.0)
        await server.start()
        async with mf.AsyncClient(server.address, mf.ClientOptions(wait_for_server=0)) as client:
            echo = EchoAsyncClient(client).at("a")
            running = asyncio.create_task(echo.flaky(7))
            await servant.until(1)
            stopping = asyncio.create_task(server.stop())
            error: mf.Error | None = None
            while error is None:
                try:
                    await echo.twice(1, options=mf.CallOptions(deadline=0.2))
                except mf.Error as refused:
                    error = refused
            servant.go_on.set()
            answer = await running
            await stopping
            await server.stop()
            return answer, error.code, servant.ended

    answer, code, ended = asyncio.run(main())
    assert (answer, ended) == (7, ["well"])
    assert code in (Code.UNAVAILABLE, Code.SHUTTING_DOWN)


def test_handlers_that_last_longer_than_the_drain_timeout_are_cancelled() -> None:
    async def main() -> tuple[list[str], mf.Error, int]:
        servant = Held()
        server = serving(servant, drain_timeout=0.05)
        await server.start()
        async with mf.AsyncClient(server.address) as client:
            running = asyncio.create_task(EchoAsyncClient(client).at("a").flaky(7))
            await servant.until(1)
            await server.stop()
            with pytest.raises(mf.Error) as raised:
                await running
        return servant.ended, raised.value, len(asyncio.all_tasks()) - 1

    ended, error, tasks_left = asyncio.run(main())
    assert (ended, tasks_left) == (["cancelled"], 0)
    assert error.code in (Code.CONNECTION_LOST, Code.UNAVAILABLE)


def test_a_deadline_cancels_the_task_of_the_handler() -> None:
    async def main() -> tuple[list[str], Code]:
        servant = Held()
        server = serving(servant)
        async with server, mf.AsyncClient(server.address) as client:
            echo = EchoAsyncClient(client).at("a")
            await echo.twice(0)  # connected
            with pytest.raises(mf.Error) as raised:
                await echo.flaky(1, options=mf.CallOptions(deadline=0.05))
            while not servant.ended:
                await asyncio.sleep(0.001)
            return servant.ended, raised.value.code

    assert asyncio.run(main()) == (["cancelled"], Code.DEADLINE_EXCEEDED)


def test_deadlines_of_their_own_do_not_make_the_server_look_all_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[float] = []
    expire = AsyncIo._expire

    def counted(io: AsyncIo) -> None:
        looks.append(monotonic())
        expire(io)

    monkeypatch.setattr(AsyncIo, "_expire", counted)

    async def main() -> list[Any]:
        servant = Held()
        server = serving(servant)
        async with server, mf.AsyncClient(server.address) as client:
            echo = EchoAsyncClient(client).at("a")
            held = [asyncio.create_task(echo.flaky(x)) for x in range(4000)]
            await servant.until(len(held))
            short = [echo.flaky(x, options=mf.CallOptions(deadline=0.2 + x * 0.0005)) for x in range(400)]
            failed = await asyncio.gather(*short, return_exceptions=True)
            while len(servant.ended) < len(short):
                await asyncio.sleep(0.001)
            servant.go_on.set()
            await asyncio.gather(*held)
            return failed

    assert {type(each) for each in asyncio.run(main())} == {mf.DeadlineExceeded}
    assert min(later - look for look, later in pairwise(looks)) >= 4000 * _EXPIRY_PACE


def at_once(loop: Any, coroutine: Any, **named: Any) -> Any:
    """As asyncio.eager_task_factory of Python 3.12, for tasks that no other task makes."""
    task = asyncio.Task(coroutine, loop=loop, **named)
    if loop.is_running() and asyncio.current_task(loop) is None:
        loop._ready.pop()._run()
    return task


def test_nothing_is_left_of_tasks_that_take_their_first_step_at_once() -> None:
    wrong: list[dict[str, Any]] = []

    def calls() -> int:
        gc.collect()
        return sum(isinstance(each, ServedCall) for each in gc.get_objects())

    async def main() -> list[int]:
        loop = asyncio.get_running_loop()
        loop.set_task_factory(at_once)
        loop.set_exception_handler(lambda _, context: wrong.append(context))
        server = serving(AsyncRecorder())
        async with server, mf.AsyncClient(server.address) as client:
            echo = EchoAsyncClient(client).at("a")
            before = calls()
            answers = await asyncio.gather(*(echo.twice(x) for x in range(50)), echo.sleep(0.01))
            assert calls() <= before  # those of other tests may go meanwhile
            return [int(each) for each in answers[:-1]]

    assert asyncio.run(main()) == [2 * x for x in range(50)]
    gc.collect()
    assert wrong == []


def test_a_task_that_serves_and_is_cancelled_stops_the_server() -> None:
    async def main() -> str:
        server = serving(AsyncRecorder(), drain_timeout=1.0)
        task = asyncio.create_task(server.serve())
        while not server.address:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        host, _, port = server.address.removeprefix("tcp://").rpartition(":")
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(host, int(port))
        return server.address

    assert asyncio.run(main())


PROGRAM = """
import asyncio, signal, sys, mf
from tests.python.server.test_async_server import Held, serving

async def main():
    server = serving(Held(), drain_timeout=float(sys.argv[1]))
    serving_ = asyncio.create_task(server.serve())
    while not server.address:
        await asyncio.sleep(0)
    print(server.address, flush=True)
    await serving_
    print("stopped", signal.getsignal(signal.SIGTERM) is signal.SIG_DFL, flush=True)

asyncio.run(main())
"""


def started(drain_timeout: float) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", PROGRAM, str(drain_timeout)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(number: signal.Signals) -> None:
    with started(5.0) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("tcp://127.0.0.1:")
        process.send_signal(number)
        assert process.stdout.readline() == "stopped True\n"
        assert process.wait(20) == 0


def test_a_second_signal_ends_it_at_once() -> None:
    with started(600.0) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()

        async def call() -> None:
            async with mf.AsyncClient(address) as client:
                running = asyncio.create_task(EchoAsyncClient(client).at("a").flaky(1))
                await asyncio.sleep(0.2)
                process.send_signal(signal.SIGTERM)
                await asyncio.sleep(0.2)
                process.send_signal(signal.SIGTERM)
                with pytest.raises(mf.Error):
                    await running

        asyncio.run(call())
        assert process.wait(20) == 128 + signal.SIGTERM


def test_who_sends_more_than_is_run_is_not_read_any_more() -> None:
    one = frame.pack(frame.REQUEST, b"\x01\0\0\0", flags=1 | frame.ONEWAY, route=3, id_=1, count=1)

    async def main() -> tuple[int, int, int]:
        servant = Held()
        server = serving(servant, drain_timeout=0.1)
        async with server:
            port = int(server.address.rpartition(":")[2])
            with socket.create_connection(("127.0.0.1", port)) as connected:
                connected.setblocking(False)
                loop = asyncio.get_running_loop()
                await loop.sock_sendall(connected, HELLO + BIND)
                sent = 0

                async def flood() -> None:
                    nonlocal sent
                    while True:
                        await loop.sock_sendall(connected, one * 1000)
                        sent += 1000

                flooding = asyncio.create_task(flood())
                seen = -1
                while seen != sent:
                    seen = sent
                    await asyncio.sleep(0.3)
                flooding.cancel()
                assert server._io is not None
                (connection,) = server._io._connections.values()
                return sent, len(connection._ordered), len(servant.began)

    sent, waiting, began = asyncio.run(main())
    assert (began, sent > 20_000) == (1, True)
    assert waiting < 8192 + 262_144 // len(one) + 1  # the backlog, and what one read brings


def test_a_plain_port_says_what_it_is_asked_in(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        server = serving(AsyncRecorder())
        async with server:
            port = int(server.address.rpartition(":")[2])
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            while await reader.read(1000):
                pass
            writer.close()
            await writer.wait_closed()
            async with mf.AsyncClient(server.address) as client:
                assert await EchoAsyncClient(client).at("a").twice(2) == 4

    asyncio.run(main())
    assert "the peer speaks no MF: its first bytes look like HTTP" in caplog.text


def test_an_address_that_is_taken_is_refused_in_words() -> None:
    async def main() -> None:
        first = serving(AsyncRecorder())
        async with first:
            with pytest.raises(OSError, match="is taken by another program"):
                await serving(AsyncRecorder(), listen=first.address).start()
            with pytest.raises(ValueError, match="started already"):
                await first.start()
        with pytest.raises(OSError, match=r"cannot listen on tcp://nowhere\.invalid:1: "):
            await serving(AsyncRecorder(), listen="tcp://nowhere.invalid:1", open=True).start()

    asyncio.run(main())


def test_uvloop_is_a_loop_as_any_other() -> None:
    pytest.importorskip("uvloop", reason="uvloop is not installed")
    uvloop: Any = importlib.import_module("uvloop")

    async def main() -> None:
        server = serving(AsyncRecorder(), listen="tcp://127.0.0.1:0")
        async with server, mf.AsyncClient(server.address) as client:
            echo = EchoAsyncClient(client).at("a")
            assert await asyncio.gather(*(echo.twice(x) for x in range(500))) == [2 * x for x in range(500)]
            assert await echo.echo(bytes(4_000_000)) == bytes(4_000_000)
            assert [each.value() for each in await echo.twice_batch([Number(3)] * 1000)] == [6] * 1000
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(echo.sleep(30), 0.05)
            async with mf.AsyncClient("tcp://127.0.0.1:1") as nobody:
                with pytest.raises(mf.Error, match="connection refused"):
                    await EchoAsyncClient(nobody).at("a").twice(1, options=mf.CallOptions(deadline=0.05))

    uvloop.run(main())


def test_an_offer_that_is_withdrawn_is_bound_no_more_and_goes_on_where_it_was() -> None:
    async def main() -> None:
        servant = AsyncRecorder()
        server = serving(servant)
        async with server, mf.AsyncClient(server.address) as before, mf.AsyncClient(server.address) as after:
            bound = EchoAsyncClient(before).at("a")
            assert await bound.twice(2) == 4
            server.withdraw(servant, agent="a")
            assert await bound.twice(3) == 6
            with pytest.raises(mf.Error) as raised:
                await EchoAsyncClient(after).at("a").twice(2)
            assert raised.value.code is Code.UNKNOWN_SERVICE
            with pytest.raises(ValueError, match="is not offered"):
                server.withdraw(servant, agent="a")
            server.offer(servant, agent="a")
            assert await EchoAsyncClient(after).at("a").twice(4) == 8

    asyncio.run(main())
