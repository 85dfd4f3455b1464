"""Calls over a connection: results, typed and immediate errors, deadlines, retries, waiting."""

import asyncio
import os
import socket
import threading
import time
from collections.abc import Callable
from typing import cast

import pytest

import mf
from mf.core.error import Code, Execution
from mf.route.resolver import StaticResolver
from tests.python.conftest import Recorder, Served, eventually
from tests.python.echo import DESCRIPTOR, EchoAsyncClient, EchoClient, Negative, Number, service

SHELVES = pytest.mark.parametrize("shelf", ["a", "b"])


@SHELVES
def test_a_call_returns_the_result(served: Served, shelf: str) -> None:
    assert served.echo.at(shelf).twice(21) == 42


@SHELVES
@pytest.mark.parametrize("size", [0, 1, 4091, 65_531, 65_536, 300_001, (16 << 20) - 4])
def test_payloads_of_all_sizes_come_back(served: Served, shelf: str, size: int) -> None:
    data = os.urandom(size)

    assert served.echo.at(shelf).echo(data) == data


@SHELVES
def test_a_declared_error_is_raised_as_its_own_type(served: Served, shelf: str) -> None:
    with pytest.raises(Negative) as raised:
        served.echo.at(shelf).twice(-3)
    assert raised.value.x == -3


@SHELVES
def test_a_failing_handler_gives_type_and_text_and_the_traceback_stays_there(
    served: Served, shelf: str, caplog: pytest.LogCaptureFixture
) -> None:
    def act(_: int) -> int:
        raise KeyError("oops")

    served.servant.act = act

    with pytest.raises(mf.Error) as raised:
        served.echo.at(shelf).flaky(1)

    assert (raised.value.code, raised.value.execution) == (Code.HANDLER_FAILED, Execution.UNKNOWN)
    assert "oops" not in str(raised.value)
    assert "Traceback" in caplog.text


def test_a_result_that_is_not_what_the_schema_says_is_a_failed_handler(served: Served) -> None:
    served.servant.act = lambda _: cast(int, "text")

    with pytest.raises(mf.Error, match="HANDLER_FAILED: the result is not what the schema says"):
        served.echo.at("b").flaky(1)


def test_a_wrong_argument_is_refused_before_anything_is_sent(served: Served) -> None:
    with pytest.raises(mf.Error) as raised:
        served.echo.at("a").twice(1 << 40)

    assert (raised.value.code, raised.value.execution) == (Code.INVALID_ARGUMENT, Execution.NOT_EXECUTED)


def _with_max_payload(max_payload: int) -> mf.Client:
    return mf.Client("tcp://127.0.0.1:1", mf.ClientOptions(max_payload=max_payload))


@pytest.mark.parametrize("make", [_with_max_payload, Served])
def test_a_limit_of_payloads_that_no_peer_accepts_is_refused_where_it_is_given(
    make: Callable[..., object],
) -> None:
    for size in (0, 4095, 1 << 32):
        with pytest.raises(ValueError, match=f"max_payload is {size}: give bytes from 4096 to 4294967295"):
            make(max_payload=size)


def test_an_unknown_agent_is_named_with_those_that_are_known(served: Served) -> None:
    with pytest.raises(mf.Error) as raised:
        served.echo.at("y").twice(1)

    assert (raised.value.code, raised.value.execution) == (Code.UNKNOWN_AGENT, Execution.NOT_EXECUTED)
    assert 'known agents: "a", "b"' in raised.value.message


def test_an_unknown_service_is_an_error_at_once(served: Served) -> None:
    with pytest.raises(mf.Error, match=r"UNKNOWN_SERVICE: .* it offers demo\.Echo"):
        EchoClient(served.client, service(name="demo.Other")).twice(1)


def test_different_schemas_are_refused_in_words(served: Served) -> None:
    other = service(DESCRIPTOR.replace("x i32", "x f64"))

    with pytest.raises(mf.Error) as raised:
        EchoClient(served.client, other).at("a").twice(1)

    assert raised.value.code == Code.SCHEMA_MISMATCH
    words = "Echo.twice: parameter x: f64 here, i32 there"
    assert raised.value.message == f"{served.server.address}: {words}"


@SHELVES
def test_a_deadline_ends_the_call_and_the_next_one_works(served: Served, shelf: str) -> None:
    served.echo.at("b").twice(0)  # connected
    served.servant.act = lambda x: x if served.servant.release.wait(20.0) else -1

    with pytest.raises(mf.Error) as raised:
        served.echo.at("b").flaky(1, options=mf.CallOptions(deadline=0.05))

    assert raised.value.code == Code.DEADLINE_EXCEEDED
    assert not served.servant.release.is_set()
    assert served.echo.at(shelf).twice(2) == 4
    served.servant.release.set()


def test_followers_have_their_own_deadlines(served: Served) -> None:
    echo = served.echo.at("b")
    echo.twice(0)
    served.servant.act = lambda x: x if served.servant.release.wait(20.0) else -1
    leader = threading.Thread(target=echo.flaky, args=(1,))
    leader.start()
    assert eventually(lambda: served.servant.calls == 1)

    with pytest.raises(mf.Error, match="DEADLINE_EXCEEDED"):
        echo.flaky(2, options=mf.CallOptions(deadline=0.05))

    assert leader.is_alive()
    served.servant.release.set()
    leader.join(20.0)


def test_a_leader_that_is_done_makes_a_waiting_caller_the_leader(served: Served) -> None:
    echo = served.echo.at("b")
    releases = [threading.Event() for _ in range(3)]
    served.servant.act = lambda x: x if releases[x].wait(20.0) else -1
    ended: list[int] = []
    threads = [threading.Thread(target=lambda x=x: ended.append(echo.flaky(x))) for x in range(3)]

    def all_begun(number: int) -> bool:
        return eventually(lambda: served.servant.calls == number)

    for number, thread in enumerate(threads, start=1):  # the first one leads
        thread.start()
        assert all_begun(number)
    for number in (0, 2, 1):
        releases[number].set()
        threads[number].join(20.0)

    assert ended == [0, 2, 1]


def test_a_request_larger_than_the_server_takes_is_refused_by_the_sender() -> None:
    served = Served(max_payload=4096)
    try:
        with pytest.raises(mf.Error) as raised:
            served.echo.at("a").echo(bytes(5000))

        assert (raised.value.code, raised.value.execution) == (Code.MESSAGE_TOO_LARGE, Execution.NOT_EXECUTED)
        assert "5004" in raised.value.message
        assert "4096" in raised.value.message
        assert served.echo.at("a").twice(1) == 2
    finally:
        served.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def server_on(port: int, servant: Recorder | None = None) -> mf.Server:
    server = mf.Server(f"tcp://127.0.0.1:{port}", options=mf.ServerOptions(drain_timeout=1.0))
    server.offer(servant or Recorder(), agent="a")
    server.start()
    return server


def test_a_client_that_is_first_waits_for_the_server() -> None:
    port = free_port()
    servers: list[mf.Server] = []
    starter = threading.Timer(0.3, lambda: servers.append(server_on(port)))
    starter.start()

    with mf.Client(f"tcp://127.0.0.1:{port}") as client:
        assert EchoClient(client).at("a").twice(4) == 8

    starter.join()
    servers[0].stop()


def test_a_client_whose_server_never_comes_fails_at_its_deadline_without_having_run() -> None:
    address = f"tcp://127.0.0.1:{free_port()}"
    with mf.Client(address) as client, pytest.raises(mf.Error) as raised:
        EchoClient(client).at("a").twice(4, options=mf.CallOptions(deadline=0.2))

    assert (raised.value.code, raised.value.execution) == (Code.UNAVAILABLE, Execution.NOT_EXECUTED)
    assert raised.value.message == f"gave up at the deadline: connect {address}: connection refused"


def test_wait_for_server_is_no_limit_where_addresses_of_servers_were_given() -> None:
    address = f"tcp://127.0.0.1:{free_port()}"

    async def awaiting() -> None:
        async with mf.AsyncClient(address, mf.ClientOptions(wait_for_server=0.001)) as client:
            await EchoAsyncClient(client).at("a").twice(4, options=mf.CallOptions(deadline=0.3))

    with (
        mf.Client(address, mf.ClientOptions(wait_for_server=0.001)) as client,
        pytest.raises(mf.Error) as blocked,
    ):
        EchoClient(client).at("a").twice(4, options=mf.CallOptions(deadline=0.3))
    with pytest.raises(mf.Error) as awaited:
        asyncio.run(awaiting())

    for raised in (blocked, awaited):
        assert raised.value.message == f"gave up at the deadline: connect {address}: connection refused"


def test_nobody_waits_for_a_server_that_was_reached_once_and_has_gone() -> None:
    async def awaiting(server: mf.Server) -> None:
        async with mf.AsyncClient(server.address, mf.ClientOptions(wait_for_server=60)) as client:
            echo = EchoAsyncClient(client).at("a")
            await echo.twice(1)
            await asyncio.to_thread(server.stop)
            await echo.twice(2, options=mf.CallOptions(deadline=60))

    def blocking(server: mf.Server) -> None:
        with mf.Client(server.address, mf.ClientOptions(wait_for_server=60)) as client:
            echo = EchoClient(client).at("a")
            echo.twice(1)
            server.stop()
            echo.twice(2, options=mf.CallOptions(deadline=60))

    for call in (blocking, lambda server: asyncio.run(awaiting(server))):
        server = server_on(0)
        with pytest.raises(mf.Error) as raised:
            call(server)
        assert raised.value.message == f"connect {server.address}: connection refused"


def test_a_server_seen_before_and_gone_fails_at_once_and_is_used_again_when_back() -> None:
    server = server_on(0)
    port = int(server.address.rpartition(":")[2])
    with mf.Client(server.address) as client:
        echo = EchoClient(client).at("a")
        assert echo.twice(1) == 2
        server.stop()
        start = time.monotonic()

        with pytest.raises(mf.Error) as raised:
            echo.twice(2)

        assert (raised.value.code, raised.value.execution) == (Code.UNAVAILABLE, Execution.NOT_EXECUTED)
        assert time.monotonic() - start < 20  # and not at the deadline, 30 s
        server = server_on(port)

        def works() -> bool:
            try:
                return echo.twice(3) == 6
            except mf.Error:
                return False

        assert eventually(works)
    server.stop()


def test_a_restarted_server_is_noticed_before_the_next_call_is_sent() -> None:
    servant = Recorder()
    server = server_on(0, servant)
    port = int(server.address.rpartition(":")[2])
    with mf.Client(server.address) as client:
        echo = EchoClient(client).at("a")
        assert echo.sleep(0.0) == 0.0
        server.stop()
        server = server_on(port)
        time.sleep(0.1)

        assert (
            echo.sleep(0.0) == 0.0
        )  # not idempotent: an attempt on the dead connection would be CONNECTION_LOST
    server.stop()


class Dying:
    """A server that makes the handshake, and closes the connection on the first `deaths` requests."""

    def __init__(self, deaths: int) -> None:
        self.deaths = deaths
        self.requests = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()

    def run(self) -> None:
        from mf.protocol.events import BindRequested
        from mf.protocol.handshake import Hello
        from mf.protocol.server_session import ServerSession

        while True:
            try:
                connected, _ = self.listener.accept()
            except OSError:
                return
            session = ServerSession(Hello(nonce=bytes(16), max_in_flight=9), bytearray(65536))
            alive = True
            while alive and (count := connected.recv_into(session.window())):
                for event in session.received(count):
                    if isinstance(event, BindRequested):
                        session.accept(event, ["x"] * len(event.methods))
                    elif isinstance(event, tuple):
                        self.requests += 1
                        if self.requests <= self.deaths:
                            alive = False
                        else:
                            session.reply(event[1], event[2], 0, 1, event[5], event[6])
                if alive:
                    connected.sendall(b"".join(session.take_output()))
            connected.close()


def test_a_call_in_flight_to_a_server_that_dies_may_have_run() -> None:
    dying = Dying(1)
    with mf.Client(dying.address) as client, pytest.raises(mf.Error) as raised:
        EchoClient(client).at("a").sleep(1.0)

    assert (raised.value.code, raised.value.execution) == (Code.CONNECTION_LOST, Execution.UNKNOWN)
    dying.close()
    assert dying.requests == 1


def test_an_idempotent_call_is_repeated_at_most_twice() -> None:
    dying = Dying(2)
    with mf.Client(dying.address) as client:
        assert EchoClient(client).at("a").flaky(5) == 5
    dying.close()
    assert dying.requests == 3

    dying = Dying(9)
    with mf.Client(dying.address) as client, pytest.raises(mf.Error, match="CONNECTION_LOST"):
        EchoClient(client).at("a").flaky(5)
    dying.close()
    assert dying.requests == 3


def test_everywhere_needs_somebody_who_knows_the_agents(served: Served) -> None:
    with pytest.raises(mf.Error, match="it is not known which agents"):
        served.echo.everywhere().twice(1)


def test_scatter_gives_an_outcome_per_agent(served: Served) -> None:
    scattered = served.echo.on(["a", "y", "b"]).twice(4)

    assert list(scattered) == ["a", "y", "b"]
    assert scattered.ok == {"a": 8, "b": 8}
    failed = scattered.failed["y"]
    assert isinstance(failed, mf.Error)
    assert failed.code == Code.UNKNOWN_AGENT


def test_scatter_sends_everything_before_it_waits() -> None:
    first, second = Served(), Served()
    barrier = threading.Barrier(2, timeout=5)  # neither answers before both were asked

    def act(x: int) -> int:
        barrier.wait()
        return x

    first.servant.act = second.servant.act = act
    with mf.Client(StaticResolver({"a": [first.server.address], "b": [second.server.address]})) as client:
        scattered = EchoClient(client).everywhere().flaky(7)

    first.close()
    second.close()
    assert scattered.ok == {"a": 7, "b": 7}


def test_any_takes_whichever_agent_the_server_has(served: Served) -> None:
    assert served.echo.any().twice(3) == 6


def test_a_forked_child_has_its_own_connections(served: Served) -> None:
    echo = served.echo.at("b")
    assert echo.twice(1) == 2
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        good = all(echo.twice(x) == 2 * x for x in range(100))
        os.write(write, b"good" if good else b"bad!")
        os._exit(0)

    mine = all(echo.twice(x) == 2 * x for x in range(100))
    os.waitpid(child, 0)

    assert mine
    assert os.read(read, 4) == b"good"


def test_closing_the_client_ends_calls_in_flight(served: Served) -> None:
    failures: list[mf.Error] = []

    def call() -> None:
        try:
            served.echo.at("b").sleep(1.0)
        except mf.Error as error:
            failures.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    time.sleep(0.1)
    served.client.close()
    thread.join(0.5)

    assert not thread.is_alive()
    assert failures[0].code == Code.CANCELLED


def test_a_blocking_client_starts_no_thread(served: Served) -> None:
    before = threading.active_count()
    served.echo.at("a").twice(1)

    assert threading.active_count() == before


def test_both_sides_may_send_more_than_the_socket_holds(served: Served) -> None:
    """Unread replies must not keep the requests from being written."""
    data = bytes(4 << 20)
    echo = served.echo.at("b")
    threads = [threading.Thread(target=echo.echo, args=(data,)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert not any(thread.is_alive() for thread in threads)


def test_notes_arrive_in_order_and_before_what_follows(served: Served) -> None:
    for shelf in ("a", "b"):
        for x in range(500):
            served.echo.at(shelf).note(x)
        served.echo.at(shelf).twice(0)
        assert served.servant.notes == list(range(500))
        served.servant.notes.clear()


def test_a_batch_of_notes_arrives(served: Served) -> None:
    outcomes = served.echo.at("b").note_batch([Number(x) for x in range(300)]).results()
    served.echo.at("b").twice(0)

    assert all(outcome.ok for outcome in outcomes)
    assert served.servant.notes == list(range(300))
