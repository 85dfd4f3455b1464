"""What a stranger with a valid certificate, or with none, cannot do where peers are known: each of these was
seen to succeed before identities were asked about (docs/security.md)."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import mf
from mf.controller._generated.mf.controller import Credential, Filter, Key, KeyKind, NotOwner, Offer
from mf.controller._generated.mf.controller._client import ControllerClient
from tests.interop.peers import Peers, Server
from tests.python.certificates import Authority
from tests.python.conftest import Recorder, eventually
from tests.python.echo import EchoClient

SOON = mf.CallOptions(deadline=20.0)
OWNER, INTRUDER, CLIENT = (f"spiffe://example.org/{each}" for each in ("owner", "intruder", "client"))
RULES = f"""\
allow {OWNER} register demo.Echo per a at tls://127.0.0.1:*
allow {OWNER} lead demo.Echo
allow {INTRUDER} register demo.Other
deny  {INTRUDER} watch secret.*
allow authenticated watch *
"""


class Realm:
    """A controller over TLS that verifies its peers."""

    def __init__(self, peers: Peers, folder: Path, rules: str = RULES) -> None:
        self.authority = Authority(folder)
        self.folder = folder
        (folder / "access.conf").write_text(rules)
        shown = self.authority.issue()
        known = ("--client-ca", self.authority.file, "--access", str(folder / "access.conf"))
        shows = ("--certificate", shown.certificate, "--key", shown.key)
        self.controller: Server = peers.controller_at("tls://127.0.0.1:0", *shows, *known)

    def replace_rules(self, rules: str) -> None:
        fresh = self.folder / "fresh.conf"
        fresh.write_text(rules)
        fresh.rename(self.folder / "access.conf")
        self.controller.signal(signal.SIGHUP)

    def of(self, name: str) -> mf.Tls:
        """The certificate of this name, by which clients are verified, too."""
        return self.authority.issue(names=f"DNS:localhost,IP:127.0.0.1,URI:{name}", ca=self.authority.file)

    def asks(self, name: str) -> mf.Client:
        where = self.controller.address.replace("mf+tls", "tls")
        return mf.Client(where, mf.ClientOptions(tls=self.of(name)))

    def server(self, name: str) -> mf.Server:
        tls = self.of(name)
        shown = mf.Tls(certificate=tls.certificate, key=tls.key)
        options = mf.ServerOptions(tls=shown, controller_tls=tls)
        return mf.Server("tls://127.0.0.1:0", self.controller.address, options)

    def client(self) -> mf.Client:
        return mf.Client(self.controller.address, mf.ClientOptions(tls=self.of(CLIENT)))


@pytest.fixture
def realm(peers: Peers, tmp_path: Path) -> Realm:
    return Realm(peers, tmp_path)


def offer(service: str, agent: str, address: str, weight: int = 1) -> Offer:
    return Offer(Key(KeyKind.service, service, agent), [address], UUID(int=0), weight, {}, False)


def denied(action: Callable[[], Any]) -> str:
    with pytest.raises(mf.Error) as raised:
        action()
    assert raised.value.code is mf.Code.PERMISSION_DENIED
    assert raised.value.execution is mf.Execution.NOT_EXECUTED
    return raised.value.message


def test_the_certificate_of_a_client_registers_no_server(realm: Realm) -> None:
    rightful, intruder = Recorder(), Recorder()
    with realm.server(OWNER) as server, realm.server(INTRUDER) as other, realm.client() as client:
        server.offer(rightful, agent="a")
        other.offer(intruder, agent="a", weight=1000)
        echo = EchoClient(client).at("a")
        assert echo.twice(1, options=SOON) == 2
        assert eventually(lambda: "access_denied" in realm.controller.said())
        for number in range(100):
            echo.flaky(number, options=SOON)
    assert (rightful.calls, intruder.calls) == (100, 0)
    said = realm.controller.said()
    assert f"identity={INTRUDER}" in said
    assert "action=register object=demo.Echo agent=a" in said


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "tls://evil.example:1", "unix:/tmp/evil.sock"])
def test_who_may_register_does_so_at_the_places_of_the_line_alone(realm: Realm, address: str) -> None:
    who = Credential(UUID(int=9), UUID(int=9))
    with realm.asks(OWNER) as asks:
        there = [offer("demo.Echo", "a", address)]
        words = denied(lambda: next(ControllerClient(asks).register(who, "owner", there, options=SOON)))
    assert words == f'{OWNER} may not register demo.Echo for agent "a" at {address}'


def test_a_server_at_the_address_of_another_is_found_out_by_its_certificate(
    peers: Peers, tmp_path: Path
) -> None:
    """The intruder may register anything, and registers the place of the owner's server as its own."""
    realm = Realm(peers, tmp_path, "allow authenticated register *\nallow authenticated watch *\n")
    with realm.server(OWNER) as server, realm.asks(INTRUDER) as asks, realm.client() as client:
        server.offer(Recorder(), agent="a")
        there = [offer("demo.Echo", "b", server.address)]
        who = Credential(UUID(int=9), UUID(int=9))
        standing = ControllerClient(asks).register(who, "intruder", there)
        next(standing)
        assert EchoClient(client).at("a").twice(1, options=SOON) == 2
        words = f"registered as {INTRUDER}, and the certificate there is that of {OWNER}"
        with pytest.raises(mf.Error, match=words):
            EchoClient(client).at("b").twice(1, options=mf.CallOptions(deadline=4.0))
        standing.cancel()


def test_nobody_leads_without_a_line(realm: Realm) -> None:
    with realm.server(OWNER) as server, realm.asks(INTRUDER) as asks:
        server.offer(Recorder(), agent="a")
        stub = ControllerClient(asks)
        assert eventually(lambda: bool(stub.find(Filter(KeyKind.service, "demo.Echo", None)).instances))
        who = Credential(UUID(int=9), UUID(int=9))
        words = denied(lambda: next(stub.lead(who, Key(KeyKind.service, "demo.Echo", "a"), options=SOON)))
    assert words == f'{INTRUDER} may not lead demo.Echo for agent "a"'


def test_who_may_register_one_agent_does_not_lead_another(peers: Peers, tmp_path: Path) -> None:
    lines = f"allow {INTRUDER} register demo.Echo per b\nallow authenticated lead demo.Echo\n"
    realm = Realm(peers, tmp_path, lines)
    who = Credential(UUID(int=9), UUID(int=9))
    with realm.asks(INTRUDER) as asks:
        stub = ControllerClient(asks)
        standing = stub.register(who, "intruder", [offer("demo.Echo", "b", "tls://127.0.0.1:1")])
        next(standing)
        words = denied(lambda: next(stub.lead(who, Key(KeyKind.service, "demo.Echo", "a"), options=SOON)))
        assert next(stub.lead(who, Key(KeyKind.service, "demo.Echo", "b"), options=SOON)).epoch
        standing.cancel()
    assert words == 'only a process that offers demo.Echo for agent "a" may lead it'


@pytest.mark.parametrize(
    "address",
    [
        "tls://127.0.0.1\0.example:7001",
        "tls://127.0.0.1\n.example:7001",
        "tls://evil.example:80,tls://x.example:7001",
        "tls://user@127.0.0.1#.example:7001",
        "unix:/run/search/../../tmp/evil",
    ],
)
def test_an_address_that_is_none_is_not_registered(peers: Peers, tmp_path: Path, address: str) -> None:
    lines = (
        f"allow {OWNER} register * at tls://*.example:*\nallow {OWNER} register * at unix:///run/search/*\n"
    )
    realm = Realm(peers, tmp_path, lines)
    there = [offer("demo.Echo", "a", address)]
    with realm.asks(OWNER) as asks, pytest.raises(mf.Error) as refused:
        next(
            ControllerClient(asks).register(
                Credential(UUID(int=9), UUID(int=9)), "owner", there, options=SOON
            )
        )
    assert refused.value.code is mf.Code.INVALID_ARGUMENT
    assert refused.value.message.startswith(f"address '{address}': ")


def test_names_that_a_line_denies_are_not_seen_through_wider_patterns(realm: Realm) -> None:
    with realm.asks(INTRUDER) as asks:
        stub = ControllerClient(asks)
        for name in ("secret.Store", "secret.*", "s*", "*"):
            what = Filter(KeyKind.service, name, None)
            assert denied(lambda: stub.find(what)) == f"{INTRUDER} may not watch {name}"  # noqa: B023
            denied(lambda: next(stub.watch(what, 0, 0, options=SOON)))  # noqa: B023
        assert stub.find(Filter(KeyKind.service, "demo.*", None)).instances == []
        denied(lambda: list(stub.list_()))


def test_a_controller_reads_its_access_file_again(realm: Realm) -> None:
    """What a peer has registered by lines that are taken out is gone with its connection, and comes back with
    the lines."""
    rightful = Recorder()
    with realm.server(OWNER) as server, realm.client() as client:
        server.offer(rightful, agent="a")
        echo = EchoClient(client).at("a")
        assert echo.twice(1, options=SOON) == 2
        realm.replace_rules("allow authenticated watch *\n")
        assert eventually(lambda: "connection_retired" in realm.controller.said())
        assert eventually(lambda: "access_denied" in realm.controller.said())
        with realm.client() as fresh, pytest.raises(mf.Error):
            EchoClient(fresh).at("a").twice(1, options=mf.CallOptions(deadline=1.0))
        realm.replace_rules(RULES)
        with realm.client() as fresh:
            assert EchoClient(fresh).at("a").twice(1, options=SOON) == 2


def test_a_nonce_stays_with_the_identity_that_registered_it(peers: Peers, tmp_path: Path) -> None:
    """Also with the right secret, and at a controller that keeps nothing."""
    realm = Realm(peers, tmp_path, "allow authenticated register *\n")
    who, there = Credential(UUID(int=9), UUID(int=10)), [offer("demo.Echo", "a", "tls://127.0.0.1:1")]
    with realm.asks(OWNER) as owner, realm.asks(INTRUDER) as intruder:
        standing = ControllerClient(owner).register(who, "owner", there)
        next(standing)
        with pytest.raises(NotOwner):
            next(ControllerClient(intruder).register(who, "intruder", there, options=SOON))
        standing.cancel()
    assert f"identity={INTRUDER}" in realm.controller.said()


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser becomes another user")
def test_another_user_of_the_host_registers_nothing_at_a_unix_socket(peers: Peers, tmp_path: Path) -> None:
    rules = tmp_path / "access.conf"
    rules.write_text("allow uid:0 register demo.Echo\n")
    socket = tmp_path / "controller"
    controller = peers.controller_at(f"unix:{socket}", "--access", str(rules))
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == 0 and folder.is_relative_to("/tmp"):
            folder.chmod(folder.stat().st_mode | 0o011)
    socket.chmod(0o777)
    who, there = Credential(UUID(int=9), UUID(int=10)), [offer("demo.Echo", "a", "unix:/tmp/x")]
    with mf.Client(f"unix:{socket}") as client:
        standing = ControllerClient(client).register(who, "own", there)
        next(standing)
        standing.cancel()
    child = os.fork()
    if child == 0:
        try:
            os.setuid(65534)
            with mf.Client(f"unix:{socket}") as client, pytest.raises(mf.Error) as refused:
                next(ControllerClient(client).register(who, "other", there, options=SOON))
            os._exit(0 if "uid:65534 may not register demo.Echo" in refused.value.message else 2)
        except BaseException:
            os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert "identity=uid:65534" in controller.said()


def test_a_controller_that_knows_its_peers_and_has_no_file_lets_none_register(
    peers: Peers, tmp_path: Path
) -> None:
    authority = Authority(tmp_path)
    shown = authority.issue()
    known = ("--certificate", shown.certificate, "--key", shown.key, "--client-ca", authority.file)
    controller = peers.controller_at("tls://127.0.0.1:0", *known)
    tls = authority.issue(ca=authority.file)
    who = Credential(UUID(int=9), UUID(int=9))
    with mf.Client(controller.address.replace("mf+tls", "tls"), mf.ClientOptions(tls=tls)) as asks:
        stub = ControllerClient(asks)
        there = [offer("demo.Echo", "a", "tls://127.0.0.1:1")]
        denied(lambda: next(stub.register(who, "stranger", there, options=SOON)))
        assert stub.find(Filter(KeyKind.service, "*", None)).instances == []
