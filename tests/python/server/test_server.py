"""The lifetime of a server: offers, order, deadlines, async handlers, stopping, and missing descriptors."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import mf
from mf.core.service import Servant, ServiceInfo
from mf.protocol.events import BindRequested
from mf.server.offer import Offers
from tests.python.conftest import AsyncRecorder, Recorder, Served, eventually
from tests.python.echo import ECHO_SERVICE, EchoClient, Negative, Number, service
from tests.python.serving import server_of

ROOT = Path(__file__).parents[3]


def serve(servant: Servant, agent: str = "a", **options: Any) -> tuple[mf.Server, mf.Client]:
    server = mf.Server(options=mf.ServerOptions(drain_timeout=2.0, **options))
    server.offer(servant, agent=agent)
    server.start()
    return server, mf.Client(server.address)


def test_offers_that_do_not_fit_are_refused() -> None:
    class Plain(Recorder):
        mf_service = service(name="demo.Plain", agent=None)

    server = mf.Server()

    with pytest.raises(ValueError, match="say which"):
        server.offer(Recorder())
    with pytest.raises(ValueError, match="leave agent='x' out"):
        server.offer(Plain(), agent="x")
    server.offer(Recorder(), agent="a")
    with pytest.raises(ValueError, match="is offered already for agent 'a'"):
        server.offer(Recorder(), agent="a")


def test_several_services_and_agents_of_one_server() -> None:
    class Plain(Recorder):
        mf_service = service(name="demo.Plain", agent=None)

    server = mf.Server(options=mf.ServerOptions(drain_timeout=1.0))
    server.offer(Recorder(), agent="a")
    server.offer(Plain())
    with server, mf.Client(server.address) as client:
        assert EchoClient(client).at("a").twice(1) == 2
        assert EchoClient(client, Plain.mf_service).twice(2) == 4


@pytest.mark.parametrize("inline", [False, True])
def test_a_handler_knows_what_it_serves(inline: bool) -> None:
    seen: list[tuple[str, str, str, str, float, int]] = []

    class Asking(Recorder):
        def twice(self, x: int) -> int:
            call = mf.current_call()
            seen.append(
                (call.service, call.agent, call.method, call.peer, call.deadline_left, call.request_id)
            )
            return x

    server = mf.Server(options=mf.ServerOptions(drain_timeout=1.0))
    server.offer(Asking(), agent="a", inline=inline)
    with server, mf.Client(server.address) as client:
        EchoClient(client).at("a").twice(1, options=mf.CallOptions(deadline=5))

    name, agent, method, peer, left, id_ = seen[0]
    assert (name, agent, method) == ("demo.Echo", "a", "twice")
    assert peer.startswith("tcp://127.0.0.1:")
    assert 4 < left <= 5.01
    assert id_ & 0xFFFFFFFF == 1
    with pytest.raises(RuntimeError):
        mf.current_call()


def test_a_servants_own_batch_function_gets_all_items() -> None:
    sizes: list[int] = []

    class Batching(Recorder):
        def twice_items(self, requests: Sequence[Number]) -> list[mf.Outcome[int]]:
            sizes.append(len(requests))
            return [mf.Outcome(r.x + 100) if r.x != 3 else mf.Outcome(error=Negative(3)) for r in requests]

    server, client = serve(Batching())
    with client:
        echo = EchoClient(client).at("a")
        outcomes = echo.twice_bulk([Number(x) for x in range(5)])
        single = echo.twice(4)
    server.stop()

    assert sizes == [5]
    assert single == 8
    assert outcomes == [mf.Outcome(error=Negative(3)) if x == 3 else mf.Outcome(x + 100) for x in range(5)]


def test_a_batch_function_that_forgets_items_is_a_failed_handler(caplog: pytest.LogCaptureFixture) -> None:
    class Forgetful(Recorder):
        def twice_items(self, requests: Sequence[Number]) -> list[mf.Outcome[int]]:
            return [mf.Outcome(1)] * (len(requests) - 1)

    server, client = serve(Forgetful())
    with client, pytest.raises(mf.Error, match="HANDLER_FAILED: the handler has failed"):
        EchoClient(client).at("a").twice_bulk([Number(1), Number(2)])
    server.stop()
    assert eventually(lambda: "TypeError: twice_items must return a list of 2" in caplog.text)


def test_async_handlers_run_concurrently_on_one_loop() -> None:
    class Meeting(AsyncRecorder):
        """Its calls wait for one another; one after another they would never end."""

        def __init__(self) -> None:
            self.waiting = 0
            self.all_here = asyncio.Event()

        async def twice(self, x: int) -> int:
            if x < 0:
                raise Negative(x)
            self.waiting += 1
            if self.waiting == 40:
                self.all_here.set()
            await self.all_here.wait()
            return 2 * x

    with server_of(Meeting(), agent="a", drain_timeout=1.0) as server, mf.Client(server.address) as client:
        echo = EchoClient(client).at("a")
        options = mf.BatchOptions(size=4, deadline=10)
        outcomes = echo.twice_batch([Number(x) for x in range(40)], options=options).results()
        assert [outcome.value() for outcome in outcomes] == [2 * x for x in range(40)]
        assert echo.twice(4) == 8
        with pytest.raises(Negative):
            echo.twice(-1)


def test_a_servant_of_the_other_kind_is_refused() -> None:
    class Mixed(Recorder):
        async def twice(self, x: int) -> int:  # type: ignore[override]
            return x

    refused: Any = AsyncRecorder()
    for servant in (refused, Mixed()):
        with pytest.raises(TypeError, match=r"`async def`: an mf\.AsyncServer runs these"):
            mf.Server().offer(servant, agent="a")
    plain: Any = Recorder()
    with pytest.raises(TypeError, match="Recorder is no servant of asyncio"):
        mf.AsyncServer().offer(plain, agent="a")


def test_one_way_calls_run_in_order_and_later_calls_to_the_same_after_them() -> None:
    order: list[int] = []

    class Slow(Recorder):
        def note(self, x: int) -> None:
            time.sleep(0.002)
            order.append(x)

        def twice(self, x: int) -> int:
            order.append(-x)
            return x

    server, client = serve(Slow())
    with client:
        echo = EchoClient(client).at("a")
        for x in range(1, 31):
            echo.note(x)
        echo.twice(31)
        for x in range(32, 40):
            echo.note(x)
        echo.twice(40)
    server.stop()

    assert order == [*range(1, 31), -31, *range(32, 40), -40]


def test_a_one_way_call_that_fails_does_not_stop_the_next(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(Recorder):
        def note(self, x: int) -> None:
            if x == 1:
                raise RuntimeError("no")
            super().note(x)

    servant = Failing()
    server, client = serve(servant)
    with client:
        echo = EchoClient(client).at("a")
        for x in range(3):
            echo.note(x)
        echo.twice(0)
    server.stop()

    assert servant.notes == [0, 2]
    assert "RuntimeError: no" in caplog.text


def test_one_way_calls_of_a_client_that_is_gone_run() -> None:
    servant = Recorder()
    server, client = serve(servant)
    with client:
        for x in range(100):
            EchoClient(client).at("a").note(x)

    assert eventually(lambda: servant.notes == list(range(100)))
    server.stop()


def test_stopping_finishes_calls_under_way_and_refuses_new_ones(served: Served) -> None:
    results: list[float] = []
    echo = served.echo.at("b")
    echo.twice(1)
    thread = threading.Thread(target=lambda: results.append(echo.sleep(0.3)))
    thread.start()
    time.sleep(0.1)

    served.server.stop()
    thread.join()

    assert results == [0.3]
    with pytest.raises(mf.Error) as raised:
        echo.twice(1)
    assert raised.value.execution == mf.Execution.NOT_EXECUTED


@pytest.mark.parametrize("servant", [Recorder, AsyncRecorder])
def test_stopping_waits_for_no_connection_that_has_nothing_to_do(
    servant: type[Recorder] | type[AsyncRecorder],
) -> None:
    server = server_of(servant(), agent="a", drain_timeout=600.0)
    server.start()
    with mf.Client(server.address) as client:
        echo = EchoClient(client).at("a")
        assert echo.twice(1) == 2
        time.sleep(0.2)  # by then the kernel usually has the acknowledgement of the reply
        stopping = threading.Thread(target=server.stop, daemon=True)
        stopping.start()
        stopping.join(30)

        assert not stopping.is_alive()


def test_a_program_that_does_not_stop_its_server_ends_all_the_same() -> None:
    program = """
import mf
from tests.python.conftest import Recorder
from tests.python.echo import EchoClient

server = mf.Server()
server.offer(Recorder(), agent="a")
server.start()
print(EchoClient(mf.Client(server.address)).at("a").twice(1))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=25, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")


def test_stopping_under_load_loses_no_call(served: Served) -> None:
    """Each call is answered, or certainly was not executed."""
    doubtful: list[mf.Error] = []
    done = threading.Event()

    def work() -> None:
        echo = served.echo.at("b")
        while not done.is_set():
            try:
                echo.sleep(0.001)
            except mf.Error as error:
                if error.execution != mf.Execution.NOT_EXECUTED:
                    doubtful.append(error)
                return

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.2)
    served.server.stop()
    done.set()
    for thread in threads:
        thread.join()

    assert doubtful == []


SCRIPT = """
import resource, sys, time
import mf
from tests.python.conftest import Recorder
server = mf.Server(sys.argv[1], options=mf.ServerOptions(drain_timeout=5.0))
server.offer(Recorder(), agent="a")
{before}
server.start()
print(server.address, flush=True)
server.run()
print("over", flush=True)
"""


def script(before: str = "") -> str:
    return textwrap.dedent(SCRIPT).format(before=before)


def process(code: str, listen: str = "tcp://127.0.0.1:0", **more: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT}/runtime/python", **more}
    return subprocess.Popen(
        [sys.executable, "-c", code, listen],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_finishes_what_is_under_way_and_exits_0(number: signal.Signals) -> None:
    running = process(script())
    assert running.stdout is not None
    address = running.stdout.readline().strip()
    results: list[float] = []
    with mf.Client(address) as client:
        echo = EchoClient(client).at("a")
        echo.twice(1)
        thread = threading.Thread(target=lambda: results.append(echo.sleep(0.4)))
        thread.start()
        time.sleep(0.1)
        running.send_signal(number)
        thread.join()
    out, err = running.communicate(timeout=60)

    assert results == [0.4]
    assert (running.returncode, out, err) == (0, "over\n", "")


def test_a_taken_port_is_said_in_one_line_and_ends_the_program(served: Served) -> None:
    code = script().replace("server.start()\nprint(server.address, flush=True)\n", "")

    running = process(code, served.server.address)
    out, err = running.communicate(timeout=60)

    assert running.returncode == 1
    assert out == ""
    assert err.count("\n") == 1
    assert f"{served.server.address} is taken by another program" in err


def test_a_server_out_of_descriptors_refuses_cleanly_and_recovers(tmp_path: Path) -> None:
    manager = str(tmp_path / "manager")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
        ready.bind(manager)
        ready.settimeout(60)
        running = process(
            script("resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))"), NOTIFY_SOCKET=manager
        )
        assert ready.recv(100) == b"READY=1"  # run() has opened all that it needs
    assert running.stdout is not None
    address = running.stdout.readline().strip()
    port = int(address.rpartition(":")[2])
    with mf.Client(address) as client:
        echo = EchoClient(client).at("a")
        assert echo.twice(1) == 2
        crowd = [socket.create_connection(("127.0.0.1", port), timeout=5) for _ in range(60)]
        assert echo.twice(2) == 4
        for one in crowd:
            one.close()
        with mf.Client(address) as late:
            assert EchoClient(late).at("a").twice(3) == 6
    running.terminate()
    _, err = running.communicate(timeout=60)

    assert running.returncode == 0
    assert err.count("cannot accept connections") >= 1
    assert err.count("cannot accept connections") < 5


def test_adopted_sockets_are_served_like_accepted_ones(served: Served) -> None:
    from mf.transport.inproc import pair

    def connect(_: str, __: float) -> Any:
        ours, theirs = pair()
        served.server.adopt(theirs)
        return ours

    with mf.Client("tcp://in-process:1", mf.ClientOptions(connect=connect)) as client:
        assert EchoClient(client).at("b").twice(5) == 10


def test_the_descriptor_of_a_service_is_what_the_client_compares(served: Served) -> None:
    assert served.server._offers.description("demo.Echo") == (ECHO_SERVICE.descriptor, "")
    assert served.server._offers.description("demo.Other") == ("", "")


def test_a_method_that_is_not_generated_is_bound_and_refused_when_it_is_called() -> None:
    """A client in another language names all methods of the schema."""

    class Whole(Recorder):
        mf_service = ServiceInfo(
            name=ECHO_SERVICE.name,
            agent=ECHO_SERVICE.agent,
            descriptor=f"{ECHO_SERVICE.descriptor}\n method scan\n  params febird\n",
            fingerprint=ECHO_SERVICE.fingerprint,
            methods=ECHO_SERVICE.methods,
        )

    offers = Offers()
    offers.add(Whole(), "a", inline=False)

    def bound(*names: str) -> Any:
        return offers.resolve(BindRequested(0, ECHO_SERVICE.fingerprint, ECHO_SERVICE.name, "a", list(names)))

    twice, scan = bound("twice", "scan")
    assert twice.function(2) == 4
    with pytest.raises(mf.Error, match="UNKNOWN_METHOD: this method is not generated for Python"):
        scan.method.decode_request(b"")
    assert bound("twice", "scam") == (mf.Code.UNKNOWN_METHOD, f"{ECHO_SERVICE.name} has no method scam")


def test_an_offer_that_is_withdrawn_is_bound_no_more_and_goes_on_where_it_was() -> None:
    servant = Recorder()
    server = mf.Server()
    server.offer(servant, agent="a")
    with server, mf.Client(server.address) as before:
        bound = EchoClient(before).at("a")
        assert bound.twice(2) == 4
        server.withdraw(servant, agent="a")
        assert bound.twice(3) == 6
        with mf.Client(server.address) as after, pytest.raises(mf.UnknownService):
            EchoClient(after).at("a").twice(2)
        with pytest.raises(ValueError, match="is not offered"):
            server.withdraw(servant, agent="a")
