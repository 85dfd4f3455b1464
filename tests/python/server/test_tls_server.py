"""Servers and clients at tls://: all kinds of calls, and the messages of both sides when TLS fails."""

import asyncio
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import mf
from mf.core.error import Code, Execution
from mf.route.resolver import StaticResolver
from tests.python.certificates import Authority
from tests.python.conftest import AsyncRecorder, Recorder, eventually
from tests.python.controller.test_controller import Running, controller
from tests.python.echo import EchoAsyncClient, EchoClient, EchoServant, Number
from tests.python.flow import AnyFlowServant, FlowServant
from tests.python.flowing import Awaiting, Flow
from tests.python.serving import AnyServer, server_of

__all__ = ["controller"]
FOREVER = mf.CallOptions(deadline=60)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


@contextmanager
def serving(
    servant: EchoServant | AnyFlowServant, tls: mf.Tls | None, listen: str = "tls://127.0.0.1:0"
) -> Iterator[AnyServer]:
    agent = "a" if isinstance(servant, EchoServant) else None
    with server_of(servant, listen, agent=agent, tls=tls, drain_timeout=2.0) as server:
        yield server


@pytest.fixture(params=[False, True], ids=["blocking", "asyncio"])
def flow(request: pytest.FixtureRequest, authority: Authority) -> Iterator[Flow]:
    with serving(Awaiting() if request.param else FlowServant(), authority.issue()) as server:
        one = Flow(FlowServant(), awaits=request.param, where=server.address, tls=authority.accepted)
        yield one
        one.close()


@pytest.fixture
def echo(authority: Authority) -> Iterator[EchoClient]:
    with (
        serving(Recorder(), authority.issue()) as server,
        mf.Client(server.address, mf.ClientOptions(tls=authority.accepted)) as client,
    ):
        yield EchoClient(client).at("a")


def test_all_kinds_of_calls(echo: EchoClient) -> None:
    echo.note(7)
    assert echo.twice(3) == 6
    assert echo.echo(b"x" * 3_000_000) == b"x" * 3_000_000
    assert echo.on(["a", "none"]).twice(1).ok == {"a": 2}
    batch = echo.twice_batch([Number(x) for x in range(1000)], options=mf.BatchOptions(size=10))
    assert [outcome.value() for outcome in batch.results()] == list(range(0, 2000, 2))


def test_streams(flow: Flow) -> None:
    assert flow.count(20_000) == list(range(1, 20_001))
    assert flow.total(list(range(1, 5000))) == 10 + sum(range(5000))
    assert flow.shout(["a", "bc", "é" * 50_000]) == ["A", "BC", "É" * 50_000]


@pytest.mark.parametrize("size", [10, 9_000, 40_000])
@pytest.mark.parametrize("kind", [Recorder, AsyncRecorder])
def test_no_request_and_no_reply_that_waits_inside_is_forgotten(
    authority: Authority, kind: type[Recorder | AsyncRecorder], size: int
) -> None:
    # Many messages fit into one read of a socket, and no descriptor reports the later ones.
    async def run(where: str) -> None:
        async with mf.AsyncClient(where, mf.ClientOptions(tls=authority.accepted)) as client:
            echo = EchoAsyncClient(client).at("a")
            for number in range(20):
                data = bytes([number]) * size
                calls = (echo.echo(data, options=FOREVER) for _ in range(30))
                assert await asyncio.gather(*calls) == [data] * 30

    listen = "tls://127.0.0.1:0"
    with server_of(kind(), listen, agent="a", tls=authority.issue(), drain_timeout=2.0) as server:
        asyncio.run(run(server.address))


def test_many_threads_share_a_connection(echo: EchoClient) -> None:
    failed: list[BaseException] = []

    def call(number: int) -> None:
        try:
            for size in (1, 20_000, 300_000):
                data = bytes([number]) * size
                assert echo.echo(data, options=FOREVER) == data
        except BaseException as raised:
            failed.append(raised)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_clients_may_have_to_show_a_certificate(authority: Authority) -> None:
    with (
        serving(Recorder(), authority.issue(ca=authority.file)) as server,
        mf.Client(server.address, mf.ClientOptions(tls=authority.issue(ca=authority.file))) as client,
    ):
        assert EchoClient(client).at("a").twice(1) == 2


def test_the_name_may_be_another_one_than_that_of_the_address(authority: Authority) -> None:
    tls = mf.Tls(ca=authority.file, server_name="books.example")
    with (
        serving(Recorder(), authority.issue("DNS:books.example")) as server,
        mf.Client(server.address, mf.ClientOptions(tls=tls)) as client,
    ):
        assert EchoClient(client).at("a").twice(1) == 2


def test_a_server_may_listen_at_addresses_of_all_schemes(authority: Authority, tmp_path: Path) -> None:
    listen = f"tcp://127.0.0.1:0,tls://127.0.0.1:0,unix:{tmp_path / 's'}"
    with serving(Recorder(), authority.issue(), listen) as server:
        assert [address.partition(":")[0] for address in server.addresses] == ["tcp", "tls", "unix"]
        for where in server.addresses:
            tls = authority.accepted if where.startswith("tls://") else None
            with mf.Client(where, mf.ClientOptions(tls=tls)) as client:
                assert [EchoClient(client).at("a").twice(x) for x in range(20)] == list(range(0, 40, 2))


def test_it_is_registered_and_found_as_a_server_at_tls(authority: Authority, controller: Running) -> None:
    shown = authority.issue()
    server = mf.Server("tls://0.0.0.0:0", controller.address, tls=shown, open=True, drain_timeout=2.0)
    server.offer(Recorder(), "a")
    with server, mf.Client(controller.address, mf.ClientOptions(tls=authority.accepted)) as client:
        assert EchoClient(client).at("a").twice(1) == 2
        (instance,) = controller.servant.instances()

    assert instance.offer.addresses == [server.address.replace("0.0.0.0", "127.0.0.1")]
    assert instance.offer.addresses[0].startswith("tls://")


def test_several_servers_are_connected_to_at_once(authority: Authority) -> None:
    with serving(Recorder(), authority.issue()) as one, serving(Recorder(), authority.issue()) as other:
        known = StaticResolver({"a": [one.address], "b": [other.address]})
        with mf.Client(known, mf.ClientOptions(tls=authority.accepted)) as client:
            scattered = EchoClient(client).on(["a", "b"]).twice(1)
    assert scattered.ok == {"a": 2}
    failure = scattered.failed["b"]
    assert isinstance(failure, mf.Error)
    assert failure.code is Code.UNKNOWN_AGENT


def failure_with(
    server: mf.Tls, client: mf.Tls | None, log: pytest.LogCaptureFixture
) -> tuple[mf.Error, str]:
    """The client's failure, and the server's log."""
    with (
        serving(Recorder(), server) as running,
        mf.Client(running.address, mf.ClientOptions(tls=client)) as calling,
    ):
        with pytest.raises(mf.Error) as raised:
            EchoClient(calling).at("a").twice(1, options=FOREVER)
        assert eventually(lambda: "certificate" in log.text)
    return raised.value, log.text


NOT_ACCEPTED = "the client does not accept the certificate of this server: "


@pytest.mark.parametrize(
    ("certificate", "accepted", "client_says", "server_says"),
    [
        (
            lambda own, _: own.issue(days=-1),
            lambda own, _: own.accepted,
            "the certificate of the server has expired",
            NOT_ACCEPTED + "it has expired",
        ),
        (
            lambda own, _: own.issue("DNS:elsewhere.example,IP:127.0.0.2"),
            lambda own, _: own.accepted,
            "the certificate of the server is not for '127.0.0.1'",
            NOT_ACCEPTED + "it is not for the name that was asked for, not valid yet, or damaged",
        ),
        (
            lambda own, _: own.issue(""),
            lambda own, _: mf.Tls(ca=own.file, server_name="MF test 1"),  # its common name
            "the certificate of the server is not for 'MF test 1'",
            NOT_ACCEPTED + "it is not for the name that was asked for, not valid yet, or damaged",
        ),
        (
            lambda own, _: own.issue(),
            lambda _, other: other.accepted,
            "the certificate of the server is of an authority that is not in '{other}'",
            NOT_ACCEPTED + "its authority is none of those that the client accepts",
        ),
        (
            lambda own, _: own.issue(),
            lambda *_: None,
            "the certificate of the server is of an authority that is not among those of the system",
            NOT_ACCEPTED + "its authority is none of those that the client accepts",
        ),
        (
            lambda own, _: own.issue(ca=own.file),
            lambda own, _: own.accepted,
            "the server demands a certificate of this client: set certificate and key of mf.Tls",
            "the client shows no certificate, and this server demands one",
        ),
        (
            lambda own, _: own.issue(ca=own.file),
            lambda own, other: other.issue(ca=own.file),
            "the server does not accept the certificate of this client: its authority is none of those that "
            "the server accepts",
            "the certificate of the client is of an authority that is not in '{own}'",
        ),
    ],
    ids=["expired", "other name", "common name", "other authority", "system", "none shown", "other client"],
)
def test_what_is_not_accepted_is_told_to_both_ends(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    certificate: Callable[[Authority, Authority], mf.Tls],
    accepted: Callable[[Authority, Authority], mf.Tls | None],
    client_says: str,
    server_says: str,
) -> None:
    own, other = Authority(tmp_path, "own"), Authority(tmp_path, "other")

    error, log = failure_with(certificate(own, other), accepted(own, other), caplog)

    assert (error.code, error.execution) == (Code.UNAUTHENTICATED, Execution.NOT_EXECUTED)
    assert error.message.endswith(": " + client_says.format(own=own.file, other=other.file))
    assert server_says.format(own=own.file, other=other.file) in log


def test_a_client_that_speaks_tls_to_a_server_without(
    authority: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(Recorder(), None, "tcp://127.0.0.1:0") as server:
        where = server.address.replace("tcp", "tls")
        with (
            mf.Client(where, mf.ClientOptions(tls=authority.accepted)) as client,
            pytest.raises(mf.Error) as raised,
        ):
            EchoClient(client).at("a").twice(1, options=mf.CallOptions(deadline=0.2))

    assert (raised.value.code, raised.value.execution) == (Code.PROTOCOL_ERROR, Execution.NOT_EXECUTED)
    assert raised.value.message.endswith(f"connect {where}: the server speaks no TLS")
    assert "its first bytes look like TLS; an address begins with tls:// at both ends" in caplog.text


def test_a_client_that_speaks_no_tls_to_a_server_with(
    authority: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(Recorder(), authority.issue()) as server:
        where = server.address.replace("tls", "tcp")
        with mf.Client(where) as client, pytest.raises(mf.Error) as raised:
            EchoClient(client).at("a").twice(1, options=mf.CallOptions(deadline=0.2))

    assert (raised.value.code, raised.value.execution) == (Code.PROTOCOL_ERROR, Execution.NOT_EXECUTED)
    assert (
        "the peer speaks no MF: its first bytes look like TLS; an address begins with" in raised.value.message
    )
    assert "the client speaks no TLS, but MF: its address must begin with tls://" in caplog.text


def test_a_connection_within_its_handshake_holds_up_nobody(authority: Authority) -> None:
    with serving(Recorder(), authority.issue()) as server:
        silent = socket.create_connection(("127.0.0.1", int(server.address.rpartition(":")[2])))
        with mf.Client(server.address, mf.ClientOptions(tls=authority.accepted)) as client:
            assert EchoClient(client).at("a").twice(1) == 2
        silent.sendall(b"\x16\x03\x01")
    with silent:  # the server has stopped
        assert silent.recv(1) == b""


def test_tls_without_an_address_that_uses_it_is_refused_and_the_other_way_round(authority: Authority) -> None:
    with pytest.raises(ValueError, match="tls is given, but no address of `listen` begins with tls://"):
        mf.Server("tcp://127.0.0.1:0", options=mf.ServerOptions(tls=authority.issue()))
    with pytest.raises(ValueError, match="a server at tls:// needs a certificate and its key"):
        mf.Server("tls://127.0.0.1:0")
    with pytest.raises(ValueError, match=r"mf\.Tls\.ca: cannot read '/nowhere/ca'"):
        mf.Client("tls://127.0.0.1:1", mf.ClientOptions(tls=mf.Tls(ca="/nowhere/ca")))


def test_who_uses_no_tls_loads_no_openssl() -> None:
    code = "import sys, mf; mf.Client('tcp://h:1'); mf.Server(); assert 'ssl' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
