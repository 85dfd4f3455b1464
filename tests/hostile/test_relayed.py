"""Networks where every peer shows a certificate or a token, and a relay between: the identities that servers
see, and what a client of the relay cannot learn or reach by it."""

import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import UUID

import pytest

import mf
from mf.controller._generated.mf.controller import ControllerClient, Credential, Key, KeyKind, Offer
from mf.tokens.claims import TokenClaims
from mf.tokens.keys import TokenSigner
from tests.interop.peers import Peers, Server
from tests.python.certificates import Authority
from tests.python.conftest import Recorder, eventually
from tests.python.echo import EchoClient

SOON = mf.CallOptions(deadline=20.0)
OWNER, RELAY, CLIENT, STRANGER = (
    f"spiffe://example.org/{each}" for each in ("owner", "relay", "client", "stranger")
)
AT_CONTROLLER = f"""\
allow {OWNER} register demo.Echo per a at tls://127.0.0.1:*
allow {RELAY} relay
allow authenticated watch *
"""
AT_SERVER = f"""\
allow {RELAY} relay
allow {CLIENT} call demo.Echo.*
allow token:web-1 call demo.Echo.twice
"""


class Mirror(Recorder):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[mf.Identity] = []

    def twice(self, x: int) -> int:
        self.seen.append(mf.current_call().identity)
        return 2 * x


class Network:
    """A controller, a server and a relay, each with a certificate and an access file."""

    def __init__(self, peers: Peers, folder: Path, *relay: str, rules: str = AT_SERVER) -> None:
        self.authority = Authority(folder)
        self.servant = Mirror()
        demands = ("--client-ca", self.authority.file)
        at_controller, at_server = folder / "controller.conf", folder / "server.conf"
        at_controller.write_text(AT_CONTROLLER)
        at_server.write_text(rules)
        self.controller: Server = peers.controller_at(
            "tls://127.0.0.1:0", *self.shows(), *demands, "--access", str(at_controller)
        )
        own = self.of(OWNER)
        shown = mf.Tls(certificate=own.certificate, key=own.key, ca=self.authority.file)
        options = mf.ServerOptions(tls=shown, controller_tls=own, access=str(at_server))
        self.server = mf.Server("tls://127.0.0.1:0", self.controller.address, options)
        self.server.offer(self.servant, agent="a")
        certificate = self.of(RELAY)
        proves = ("--server-certificate", certificate.certificate, "--server-key", certificate.key)
        reaches = ("--ca", self.authority.file, *proves)
        self.relay: Server = peers.relay(
            self.controller.address,
            *self.shows(),
            *(relay or demands),
            *reaches,
            listen="tls://127.0.0.1:0",
        )

    def shows(self) -> tuple[str, ...]:
        shown = self.authority.issue()
        return ("--certificate", shown.certificate, "--key", shown.key)

    def of(self, name: str) -> mf.Tls:
        return self.authority.issue(names=f"DNS:localhost,IP:127.0.0.1,URI:{name}", ca=self.authority.file)

    def client(self, tls: mf.Tls, credential: mf.Secret | None = None) -> mf.Client:
        return mf.Client(self.relay.address, mf.ClientOptions(tls=tls, credential=credential))


def test_a_network_with_certificates_everywhere_works_through_a_relay(peers: Peers, tmp_path: Path) -> None:
    network = Network(peers, tmp_path)
    with network.server, network.client(network.of(CLIENT)) as client:
        assert EchoClient(client).at("a").twice(21, options=SOON) == 42
    assert [str(identity) for identity in network.servant.seen] == [f"{CLIENT} via {RELAY}"]


def test_a_stranger_behind_a_relay_is_one_at_the_server(peers: Peers, tmp_path: Path) -> None:
    network = Network(peers, tmp_path)
    with network.server, network.client(network.of(STRANGER)) as client, pytest.raises(mf.Error) as raised:
        EchoClient(client).at("a").twice(1, options=SOON)
    assert raised.value.code is mf.Code.PERMISSION_DENIED
    assert f"{STRANGER} via {RELAY} may not call" in raised.value.message
    assert network.servant.seen == []


def test_a_client_of_a_relay_has_none_of_the_relays_rights(peers: Peers, tmp_path: Path) -> None:
    rules = f"allow {RELAY} relay\nallow {RELAY} call *\n"
    network = Network(peers, tmp_path, rules=rules)
    with network.server, network.client(network.of(CLIENT)) as client, pytest.raises(mf.Error) as raised:
        EchoClient(client).at("a").twice(1, options=SOON)
    assert raised.value.code is mf.Code.PERMISSION_DENIED
    assert network.servant.seen == []


def test_a_relay_takes_tokens_and_says_whose_they_were(peers: Peers, tmp_path: Path) -> None:
    signer = TokenSigner.generate()
    keys, access = tmp_path / "keys.pub", tmp_path / "relay.conf"
    keys.write_text(signer.public_pem())
    access.write_text("allow token:web-1 call *\nallow anyone call mf.controller.Controller.*\n")
    network = Network(peers, tmp_path, "--token-keys", str(keys), "--access", str(access))
    now = int(time.time())
    token, other = (
        signer.sign(TokenClaims(subject="web-1", audience=audience, issued=now, expires=now + 600, issuer=""))
        for audience in ("mf.relay", "demo.Echo")
    )
    accepted = network.authority.accepted
    with network.server:
        with network.client(accepted, token) as client:
            assert EchoClient(client).at("a").twice(1, options=SOON) == 2
        with network.client(accepted, other) as client, pytest.raises(mf.Error):
            EchoClient(client).at("a").twice(1, options=mf.CallOptions(deadline=3.0))
        with network.client(accepted) as client, pytest.raises(mf.Error):
            EchoClient(client).at("a").twice(1, options=mf.CallOptions(deadline=3.0))
    assert [str(identity) for identity in network.servant.seen] == [f"token:web-1 via {RELAY}"]
    assert "not_authenticated" in network.relay.said()


def test_a_registration_at_the_address_of_another_server_keeps_no_client_from_it(
    peers: Peers, tmp_path: Path
) -> None:
    network = Network(peers, tmp_path)
    rules = tmp_path / "controller.conf"
    rules.write_text(f"{AT_CONTROLLER}allow {STRANGER} register demo.Echo per a at tls://127.0.0.1:*\n")
    network.controller.signal(signal.SIGHUP)
    controller = network.controller.address.replace("mf+tls://", "tls://")
    with network.server, mf.Client(controller, tls=network.of(STRANGER)) as stranger:
        offer = Offer(
            Key(KeyKind.service, "demo.Echo", "a"), [network.server.address], UUID(int=0), 1_000, {}, False
        )
        credential = Credential(UUID(int=9), UUID(int=1))
        held: list[object] = []  # what ends the registration with its end
        assert eventually(lambda: registers(stranger, credential, offer, held))
        for _ in range(4):
            with network.client(network.of(CLIENT)) as client:
                assert EchoClient(client).at("a").twice(1, options=SOON) == 2


def registers(client: mf.Client, credential: Credential, offer: Offer, held: list[object]) -> bool:
    """False: it may not yet."""
    standing = ControllerClient(client).register(credential, "another", [offer])
    with suppress(mf.Error):
        next(standing)
        held.append(standing)
    return bool(held)


def test_the_state_of_the_store_is_for_those_that_may_list(peers: Peers, tmp_path: Path) -> None:
    network = Network(peers, tmp_path)
    controller = network.controller.address.replace("mf+tls://", "tls://")
    (tmp_path / "controller.conf").write_text(f"{AT_CONTROLLER}allow {OWNER} list\n")
    network.controller.signal(signal.SIGHUP)

    def store(identity: str) -> str:
        with mf.Client(controller, tls=network.of(identity)) as client:
            return ControllerClient(client).status(options=SOON).store.name

    assert eventually(lambda: store(OWNER) != "")
    assert store(STRANGER) == ""


# ---- what a registered address may lead to


@contextmanager
def listening() -> Iterator[tuple[int, list[int]]]:
    """A port where a program listens that is no server of MF, and the connections that have come."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        came: list[int] = []

        def greet() -> None:
            with suppress(OSError):
                while True:
                    connected, _ = listener.accept()
                    came.append(1)
                    connected.sendall(b"SECRET-BANNER 1.0\r\n")
                    connected.close()

        thread = threading.Thread(target=greet)
        thread.start()
        yield listener.getsockname()[1], came
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def probed(peers: Peers, *addresses: str, listen: str, to: tuple[str, ...] = ()) -> tuple[list[str], str]:
    """The answers that a client of a relay gets for servers that have registered these addresses, and the
    relay's log."""
    controller = peers.controller().address
    relay = peers.relay(controller, "--open", *to, listen=listen)
    where = relay.address.replace("0.0.0.0", "127.0.0.1")
    told = []
    with mf.Client(controller.replace("mf://", "tcp://")) as asks, mf.Client(where) as client:
        for number, address in enumerate(addresses):
            offer = Offer(
                Key(KeyKind.service, "demo.Echo", f"p{number}"), [address], UUID(int=0), 1, {}, False
            )
            who = Credential(UUID(int=9 + number), UUID(int=1))
            standing = ControllerClient(asks).register(who, "probe", [offer])
            next(standing)
            with pytest.raises(mf.Error) as raised:
                EchoClient(client).at(f"p{number}").twice(1, options=mf.CallOptions(deadline=6.0))
            told.append(raised.value.message.replace(f"p{number}", "p"))
            standing.cancel()
    return told, relay.said()


def test_a_relay_is_no_scanner_of_its_own_host(peers: Peers) -> None:
    with listening() as (port, came):
        addresses = [f"tcp://{host}:{port}" for host in ("127.0.0.1", "localhost", "0.0.0.0")]
        told, said = probed(peers, *addresses, listen="tcp://0.0.0.0:0")
        assert came == []
    assert said.count("outside of the networks") >= len(addresses)
    for words in told:
        assert "a server was not reached" in words
        assert "SECRET" not in words
        assert str(port) not in words


def test_a_relay_dials_no_metadata_service_of_a_cloud(peers: Peers) -> None:
    told, said = probed(peers, "tcp://169.254.169.254:80", listen="tcp://127.0.0.1:0")
    assert "a server was not reached" in told[0]
    assert "169.254" not in told[0]
    assert "outside of the networks" in said


def test_what_a_client_is_told_does_not_say_whether_a_port_is_open(peers: Peers) -> None:
    with listening() as (port, came):
        addresses = [f"tcp://127.0.0.1:{port}", f"tcp://127.0.0.1:{closed_port()}"]
        told, said = probed(peers, *addresses, listen="tcp://127.0.0.1:0")
        assert came
    assert told[0] == told[1]
    assert "a server was not reached" in told[0]
    for address in addresses:
        assert address not in told[0]
        assert eventually(lambda: address in said)  # noqa: B023


def test_a_relay_that_was_given_networks_dials_no_other(peers: Peers) -> None:
    with listening() as (port, came):
        told, said = probed(
            peers, f"tcp://127.0.0.1:{port}", listen="tcp://127.0.0.1:0", to=("--to", "10.0.0.0/8")
        )
        assert came == []
    assert "a server was not reached" in told[0]
    assert "outside of the networks" in said


@pytest.mark.parametrize("network", ["everything", "10.0.0.1/8", "10.0.0.0/40", "unix:x"])
def test_a_network_that_cannot_be_read_ends_the_start(peers: Peers, network: str) -> None:
    command = [*peers.relay_command(), "--listen", "tcp://127.0.0.1:0", "--to", network]
    refused = peers.refused_server(command)
    assert refused.wait() == 1
    assert f"network '{network}'" in refused.said()


def test_tokens_without_an_access_file_end_the_start(peers: Peers, tmp_path: Path) -> None:
    keys = tmp_path / "keys.pub"
    keys.write_text(TokenSigner.generate().public_pem())
    command = [*peers.relay_command(), "--listen", "tcp://127.0.0.1:0", "--token-keys", str(keys)]
    refused = peers.refused_server(command)
    assert refused.wait() == 1
    assert "clients without a token could do everything" in refused.said()
