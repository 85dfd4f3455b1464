"""A relay over TLS: which clients it lets in, which relays clients accept, and the failures of the others."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import mf
from tests.interop.peers import Peers
from tests.python.certificates import Authority
from tests.python.conftest import Recorder
from tests.python.echo import EchoClient

SOON = mf.CallOptions(deadline=20.0)
LITTLE = mf.CallOptions(deadline=4.0)  # a client looks for its relay all the time


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def controller(peers: Peers) -> Iterator[str]:
    address = peers.controller().address
    with mf.Server(controller=address) as server:
        server.offer(Recorder(), agent="a")
        yield address


def relay(peers: Peers, controller: str, shown: mf.Tls, *arguments: str) -> str:
    shows = ("--certificate", shown.certificate, "--key", shown.key)
    return peers.relay(controller, *shows, *arguments, listen="tls://127.0.0.1:0").address


def refusal(where: str, tls: mf.Tls | None) -> str:
    with mf.Client(where, mf.ClientOptions(tls=tls)) as client, pytest.raises(mf.Error) as refused:
        EchoClient(client).at("a").twice(1, options=LITTLE)
    assert refused.value.execution == mf.Execution.NOT_EXECUTED
    return refused.value.message


def test_who_accepts_its_certificate_calls_through_it_and_others_hear_why_not(
    peers: Peers, controller: str, authority: Authority, tmp_path: Path
) -> None:
    address = relay(peers, controller, authority.issue())
    assert address.startswith("relay+tls://127.0.0.1:")
    with mf.Client(address, mf.ClientOptions(tls=authority.accepted)) as client:
        assert EchoClient(client).at("a").twice(21, options=SOON) == 42
    assert "certificate" in refusal(address, Authority(tmp_path, "other").accepted)
    assert "TLS" in refusal(address.replace("relay+tls", "relay"), None)


def test_a_relay_that_wants_certificates_of_clients_refuses_those_without(
    peers: Peers, controller: str, authority: Authority
) -> None:
    address = relay(peers, controller, authority.issue(), "--client-ca", authority.file)
    shown = authority.issue()
    known = mf.Tls(ca=authority.file, certificate=shown.certificate, key=shown.key)
    with mf.Client(address, mf.ClientOptions(tls=known)) as client:
        assert EchoClient(client).at("a").twice(21, options=SOON) == 42
    assert "certificate" in refusal(address, authority.accepted)


def test_a_relay_behind_another_one_is_reached_over_tls_too(
    peers: Peers, controller: str, authority: Authority
) -> None:
    inner = relay(peers, controller, authority.issue())
    outer = peers.relay(inner, "--ca", authority.file).address
    with mf.Client(outer) as client:
        assert EchoClient(client).at("a").twice(21, options=SOON) == 42
