"""A controller over TLS: servers register at it and clients ask it, and strangers do not."""

import asyncio
from pathlib import Path

import pytest

import mf
from tests.interop.peers import Peers
from tests.python.certificates import Authority
from tests.python.conftest import AsyncRecorder, Recorder
from tests.python.echo import EchoAsyncClient, EchoClient

SOON = mf.CallOptions(deadline=20.0)
LITTLE = mf.CallOptions(deadline=4.0)  # a client looks for its controller all the time


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def controller(peers: Peers, shown: mf.Tls, *arguments: str) -> str:
    shows = ("--certificate", shown.certificate, "--key", shown.key)
    return peers.controller_at("tls://127.0.0.1:0", *shows, *arguments).address


def secret_server(address: str, authority: Authority) -> mf.Server:
    """A server at tls://: clients that know their controller over TLS use no other address."""
    return mf.Server(
        "tls://127.0.0.1:0",
        address,
        mf.ServerOptions(tls=authority.issue(), controller_tls=authority.accepted),
    )


def refusal(where: str, tls: mf.Tls | None) -> str:
    with mf.Client(where, mf.ClientOptions(tls=tls)) as client, pytest.raises(mf.Error) as refused:
        EchoClient(client).at("a").twice(1, options=LITTLE)
    assert refused.value.execution == mf.Execution.NOT_EXECUTED
    return refused.value.message


def test_a_server_registers_and_a_client_finds_it_over_tls(
    peers: Peers, authority: Authority, tmp_path: Path
) -> None:
    address = controller(peers, authority.issue())
    assert address.startswith("mf+tls://127.0.0.1:")
    with secret_server(address, authority) as server:
        server.offer(Recorder(), agent="a")
        with mf.Client(address, mf.ClientOptions(tls=authority.accepted)) as client:
            assert EchoClient(client).at("a").twice(21, options=SOON) == 42
        assert "certificate" in refusal(address, Authority(tmp_path, "other").accepted)


def test_a_server_of_asyncio_registers_over_tls(peers: Peers, authority: Authority) -> None:
    address = controller(peers, authority.issue())

    async def served() -> int:
        shown = authority.issue()
        accepted = authority.accepted
        async with mf.AsyncServer(
            "tls://127.0.0.1:0", address, mf.ServerOptions(tls=shown, controller_tls=accepted)
        ) as server:
            server.offer(AsyncRecorder(), agent="a")
            async with mf.AsyncClient(address, mf.ClientOptions(tls=authority.accepted)) as client:
                return await EchoAsyncClient(client).at("a").twice(21, options=SOON)

    assert asyncio.run(served()) == 42


def test_a_relay_in_cpp_asks_it_over_tls(peers: Peers, authority: Authority) -> None:
    address = controller(peers, authority.issue())
    relay = peers.relay(address, "--ca", authority.file).address
    with secret_server(address, authority) as server:
        server.offer(Recorder(), agent="a")
        with mf.Client(relay) as client:
            assert EchoClient(client).at("a").twice(21, options=SOON) == 42


@pytest.fixture
def open_rules(tmp_path: Path) -> str:
    """An access file: every identity may register and look up."""
    path = tmp_path / "access.conf"
    path.write_text("allow authenticated register *\nallow authenticated watch *\n")
    return str(path)


def test_one_that_wants_certificates_takes_no_server_without(
    peers: Peers, authority: Authority, open_rules: str
) -> None:
    address = controller(peers, authority.issue(), "--client-ca", authority.file, "--access", open_rules)
    shown = authority.issue()
    known = mf.Tls(ca=authority.file, certificate=shown.certificate, key=shown.key)
    with (
        secret_server(address, authority) as stranger,
        mf.Server("tls://127.0.0.1:0", address, mf.ServerOptions(tls=shown, controller_tls=known)) as server,
    ):
        stranger.offer(Recorder(), agent="stranger")
        server.offer(Recorder(), agent="a")
        with mf.Client(address, mf.ClientOptions(tls=known)) as client:
            assert EchoClient(client).at("a").twice(21, options=SOON) == 42
            with pytest.raises(mf.Error, match="stranger"):
                EchoClient(client).at("stranger").twice(1, options=LITTLE)


def test_one_that_wants_certificates_lets_nobody_register_without_a_line(
    peers: Peers, authority: Authority
) -> None:
    address = controller(peers, authority.issue(), "--client-ca", authority.file)
    shown = authority.issue()
    known = mf.Tls(ca=authority.file, certificate=shown.certificate, key=shown.key)
    options = mf.ServerOptions(tls=shown, controller_tls=known)
    with mf.Server("tls://127.0.0.1:0", address, options) as server:
        server.offer(Recorder(), agent="a")
        with (
            mf.Client(address, mf.ClientOptions(tls=known)) as client,
            pytest.raises(mf.Error, match="no server of"),
        ):
            EchoClient(client).at("a").twice(1, options=LITTLE)


def test_a_server_is_called_by_the_certificate_that_it_registered_with(
    peers: Peers, authority: Authority, open_rules: str
) -> None:
    address = controller(peers, authority.issue(), "--client-ca", authority.file, "--access", open_rules)
    own, other = (f"DNS:localhost,IP:127.0.0.1,URI:spiffe://example.org/{each}" for each in ("own", "other"))
    registers, shown = authority.issue(names=own), authority.issue(names=other)
    known = mf.Tls(ca=authority.file, certificate=registers.certificate, key=registers.key)
    options = mf.ServerOptions(tls=shown, controller_tls=known)
    with mf.Server("tls://127.0.0.1:0", address, options) as server:
        server.offer(Recorder(), agent="a")
        words = "registered as spiffe://example.org/own, and the certificate there is that of spiffe://example.org/other"
        with mf.Client(address, mf.ClientOptions(tls=known)) as client, pytest.raises(mf.Error, match=words):
            EchoClient(client).at("a").twice(1, options=LITTLE)
        with mf.Client(server.address, mf.ClientOptions(tls=known)) as client:
            assert EchoClient(client).at("a").twice(21, options=SOON) == 42


def test_a_relay_shows_its_certificate_to_servers_that_demand_one(
    peers: Peers, authority: Authority, open_rules: str
) -> None:
    address = controller(peers, authority.issue(), "--client-ca", authority.file, "--access", open_rules)
    shown, demanding = authority.issue(), authority.issue(ca=authority.file)
    known = mf.Tls(ca=authority.file, certificate=shown.certificate, key=shown.key)
    shows = ("--server-certificate", shown.certificate, "--server-key", shown.key)
    relay = peers.relay(address, "--ca", authority.file, *shows).address
    with mf.Server(
        "tls://127.0.0.1:0", address, mf.ServerOptions(tls=demanding, controller_tls=known)
    ) as server:
        server.offer(Recorder(), agent="a")
        with mf.Client(relay) as client:
            assert EchoClient(client).at("a").twice(21, options=SOON) == 42
