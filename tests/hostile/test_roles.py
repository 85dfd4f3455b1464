"""The matrix of roles (roles.py): each cell is tried with programs that a module shares. It looks at the code
that its caller gets, and at what the place that decides writes about it."""

import logging
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import UUID, uuid4

import pytest

import mf
from mf import flex
from mf.controller._generated.mf.controller import Credential, Filter, Key, KeyKind, Offer
from mf.controller._generated.mf.controller._client import ControllerClient
from mf.core.error import Code
from mf.replicated._generated.mf import replication as wire
from mf.replicated.links import group_agent
from mf.tokens.claims import TokenClaims
from mf.tokens.keys import TokenSigner
from mfidl.compiler import Exit, Targets, compile_files
from tests.hostile.roles import ACTIONS, ALLOWED, CREDENTIALS, PLACES, Cell, Try, cells, why_not
from tests.interop.peers import BUILD, Peers, Server
from tests.python.certificates import Authority
from tests.python.conftest import AsyncRecorder, Recorder, eventually
from tests.python.echo import EchoClient
from tests.python.serving import LoopServer

TESTS = Path(__file__).resolve().parents[1]
SCHEMAS = ("interop/interop.mfidl", "topics/events.mfidl", "python/replicated/journal.mfidl")
HOST = "spiffe://example.org/host"
RULES = f"""\
group us = {ALLOWED}, token:allowed
allow {HOST} register *
allow {HOST} publish *
allow {HOST} lead *
allow {HOST} watch *
allow @us register roles.*
allow authenticated register offered.*
allow anyone register offered.*
allow @us publish roles.*
allow @us lead offered.*
allow @us watch roles.*
allow @us list
allow @us call demo.Echo.twice
allow @us call interop.Shapes.who
allow @us subscribe events.Additions
allow @us call journal.Journal.* per s
allow @us call journal.Journal.* per a
allow @us replicate journal.Journal.b
allow @us send B
allow authenticated send open
allow @us register mf.flex.Mailbox per A
"""
SOON = 20.0
_ = mf.Replica  # is read before there are threads, of which Python 3.11 cannot parse two modules at once
DEADLINE = mf.CallOptions(deadline=SOON)


class Kept(logging.Handler):
    """What this process logs: places of Python run in it."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.text += record.getMessage() + "\n"

    def said(self) -> str:
        return self.text


class Realm:
    """All places, each for certificates and, if it takes them, for tokens."""

    def __init__(self, folder: Path, stubs: Path, stack: list[Callable[[], Any]]) -> None:
        self.folder, self._stack = folder, stack
        self.peers = Peers(folder, stubs)
        self._stubs = stubs
        stack.append(self.peers.close)
        self.log = Kept()
        logging.getLogger("mf").addHandler(self.log)
        stack.append(lambda: logging.getLogger("mf").removeHandler(self.log))
        self.authority, others = Authority(folder), Authority(folder, "others")
        self.rules = str(folder / "access.conf")
        Path(self.rules).write_text(RULES)
        self.shown = self._issue("host")
        self._certificates = {
            "no certificate": self.authority.accepted,
            "wrong authority": self._issue("allowed", others),
            "expired certificate": self._issue("allowed", days=-1),
            "revoked certificate": self._issue("allowed"),
            "stranger's certificate": self._issue("stranger"),
            "allowed certificate": self._issue("allowed"),
        }
        crl = self.authority.revoke(self._certificates["revoked certificate"])
        self.tls = replace(self.shown, crl=crl)
        self._tokens = self._make_tokens()
        self.keys = folder / "keys.pub"
        self.places: dict[tuple[str, str], tuple[str, Callable[[], str]]] = {}
        """Of a place and 'certificate' or 'token': its address and what it has logged."""
        self._start()

    def credential(self, cell: Cell) -> dict[str, Any]:
        """The options of a client."""
        shown = self._certificates.get(cell.credential)
        if shown is not None:
            return {"tls": shown}
        token = self._tokens.get(cell.credential)
        return {"tls": self.authority.accepted, **({"credential": token} if token else {})}

    def client(self, cell: Cell) -> mf.Client:
        return mf.Client(self.at(cell)[0], **self.credential(cell))

    def at(self, cell: Cell) -> tuple[str, Callable[[], str]]:
        place = f"{cell.place} of B" if cell.place == "node (C++)" and cell.action == "send" else cell.place
        at = self.places.get((place, CREDENTIALS[cell.credential].shown))
        if at is None and place == "bridge":
            pytest.skip("mf-bridge was built without NATS; `make test-system` installs that")
        assert at is not None
        return at

    def _issue(self, name: str, by: Authority | None = None, days: int = 1) -> mf.Tls:
        names = f"DNS:localhost,IP:127.0.0.1,URI:spiffe://example.org/{name}"
        return (by or self.authority).issue(names=names, ca=self.authority.file, days=days)

    def _make_tokens(self) -> dict[str, mf.Secret]:
        signer = TokenSigner.generate()
        (self.folder / "keys.pub").write_text(signer.public_pem())
        now = int(time.time())

        def token(by: TokenSigner = signer, subject: str = "allowed", **claims: Any) -> mf.Secret:
            given = {"audience": "roles", "issued": now, "expires": now + 3600, "issuer": "tests", **claims}
            return by.sign(TokenClaims(subject=subject, **given))

        return {
            "altered token": token(TokenSigner.generate()),
            "expired token": token(issued=now - 7200, expires=now - 3600),
            "token for others": token(audience="others"),
            "stranger's token": token(subject="stranger"),
            "allowed token": token(),
        }

    def _start(self) -> None:
        shows = ("--certificate", self.shown.certificate, "--key", self.shown.key, "--access", self.rules)
        asks = ("--client-ca", self.authority.file, "--client-crl", self.tls.crl)
        tokens = ("--token-keys", str(self.keys), "--token-audience", "roles", "--open")
        at = "tls://127.0.0.1:0"
        controller = self.peers.controller_at(at, *shows, *asks)
        self._add("controller", "certificate", controller)
        self._add("controller", "token", self.peers.controller_at(at, *shows, *tokens))
        self._python(controller.address)
        as_client = ("--ca", self.authority.file, "--server-certificate", self.shown.certificate)
        as_client_too = ("--server-key", self.shown.key)
        for shown, how in (("certificate", asks), ("token", tokens)):
            options = (*shows, *how, *as_client, *as_client_too)
            self._add("relay", shown, self.peers.relay(controller.address, *options, listen=at))
        self._bridge(shows + asks)
        self._cpp(controller.address)

    def _add(self, place: str, shown: str, server: Server) -> None:
        address = re.sub(r"^(mf|relay)\+tls", "tls", server.address)
        self.places[place, shown] = (address, server.said)

    # Python

    def _python(self, controller: str) -> None:
        by_token = {"token_keys": str(self.keys), "token_audience": "roles"}
        for shown in ("certificate", "token"):
            own = mf.Tls(certificate=self.shown.certificate, key=self.shown.key)
            how = {"tls": self.tls} if shown == "certificate" else {"tls": own, **by_token}
            for kind, name in ((mf.Server, "threads"), (LoopServer, "asyncio")):
                server = self._server(kind, {**how, "access": self.rules})
                self.places[f"server ({name})", shown] = (server.address, self.log.said)
                self.places[f"topic ({name})", shown] = (server.address, self.log.said)
        self._server(mf.Server, {"tls": self.tls, "controller_tls": self.tls}, controller)  # the relay's
        self._replica(controller)
        node = flex.Node("", listen="tls://127.0.0.1:0", tls=self.tls, access=self.rules)
        self._stack.append(node.close)
        for process in ("B", "open"):
            node.process(process)
        self.places["node (Python)", "certificate"] = (node.address, self.log.said)

    def _server(self, kind: Any, how: dict[str, Any], controller: str | None = None) -> Any:
        server = kind("tls://127.0.0.1:0", controller, **how)
        server.offer(Recorder() if kind is mf.Server else AsyncRecorder(), agent="a")
        topics = mf.Topics()
        publisher = events().AdditionsPublisher(topics)
        server.offer(topics)
        server.start()
        publisher.at("books").publish(events().Indexed(1, "x"))  # kept for those that come
        self._stack.extend((topics.close, server.stop))
        return server

    def _replica(self, controller: str) -> None:
        class Pages(import_module("journal").JournalServant):  # type: ignore[misc] # as it was generated
            def applied(self, version: mf.Version, request: Any) -> int:  # noqa: ARG002
                return 0

            on_apply_no_versioning = on_apply_version_request = on_apply_message_returns_version = applied
            on_apply_one_hop = on_apply_wait_for_version = on_apply_chain = on_apply_one_hop_ack_client = (
                applied
            )

            def texts(self) -> list[str]:
                return []

        replica = mf.Replica(
            Pages(),
            controller,
            member="a",
            members=["a", "b"],
            agent="s",
            listen="tls://127.0.0.1:0",
            tls=self.tls,
            access=self.rules,
        )
        replica.start()
        self._stack.append(replica.stop)
        address = self._registered(controller, group_agent("journal.Journal", "s") + "a")
        self.places["replica (Python)", "certificate"] = (address, self.log.said)

    def _registered(self, controller: str, agent: str, service: str = wire.REPLICA_SERVICE.name) -> str:
        """Where the controller says that this replica, or another server, is."""
        what = Filter(KeyKind.service, service, agent)
        with mf.Client(controller.replace("mf+tls", "tls"), tls=self.tls) as asks:
            found: list[str] = []

            def is_there() -> bool:
                instances = ControllerClient(asks).find(what, options=DEADLINE).instances
                found[:] = [each.offer.addresses[0] for each in instances]
                return bool(found)

            assert eventually(is_there)
        return found[0]

    # C++

    def _bridge(self, how: tuple[str, ...]) -> None:
        described = ("--topic", str(self._stubs / "additions.topic"))
        nowhere = ("--engine", "nats://127.0.0.1:1", "--listen", "tls://127.0.0.1:0")
        command = [str(BUILD / "mf-bridge"), "out", *described, *nowhere, *how]
        try:
            self._add("bridge", "certificate", self._run(command, {}))
        except pytest.fail.Exception as ended:
            if "was built without" not in str(ended):
                raise

    def _cpp(self, controller: str) -> None:
        shows = {"MF_PEER_CERTIFICATE": self.shown.certificate, "MF_PEER_KEY": self.shown.key}
        shows |= {"MF_PEER_ACCESS": self.rules, "MF_PEER_LISTEN": "tls://127.0.0.1:0"}
        asks = shows | {"MF_PEER_CA": self.authority.file, "MF_PEER_CRL": self.tls.crl}
        keys = shows | {"MF_PEER_TOKEN_KEYS": str(self.keys), "MF_PEER_TOKEN_AUDIENCE": "roles"}
        for shown, how in (("certificate", asks), ("token", keys)):
            serve = [*self._program("interop/interop-server"), "--listen", "tls://127.0.0.1:0", "--room", "a"]
            self._add("server (C++)", shown, self._run(serve, how))
            publish = [*self._program("topics/topics"), "publisher", "tls://127.0.0.1:0"]
            publisher = self._run(publish, how)
            publisher.tell("publish books 1 1 1")
            assert publisher.line() == "1"
            self._add("topic (C++)", shown, publisher)
        replica = self._run(
            [*self._program("replicated/replicated"), "replica", controller, "a", "a,b", "100"], asks
        )
        address = self._registered(controller, group_agent("journal.Journal", "a") + "a")
        self.places["replica (C++)", "certificate"] = (address, replica.said)
        for process, place in (("B", "node (C++) of B"), ("open", "node (C++)")):
            node = self._run([*self._program("flex/flex-peer"), controller, process, "take", "1000"], asks)
            address = self._registered(controller, process, "mf.flex.Mailbox")
            self.places[place, "certificate"] = (address, node.said)

    def _program(self, name: str) -> list[str]:
        binary = BUILD / "tests" / name
        assert binary.is_file(), f"{binary} is missing: cmake --build --preset release"
        return [str(binary)]

    def _run(self, command: list[str], more: dict[str, str]) -> Server:
        errors = self.folder / f"place-{len(self._stack)}.stderr"
        server = Server(command, dict(os.environ) | more, errors)
        self._stack.append(server.close)
        return server


def events() -> ModuleType:
    return import_module("events")


@pytest.fixture(scope="module")
def realm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Realm]:
    folder = tmp_path_factory.mktemp("roles")
    stubs = folder / "stubs"
    outcome = compile_files([str(TESTS / each) for each in SCHEMAS], [], Targets(python=str(stubs)))
    assert outcome.exit is Exit.OK, outcome.diagnostics
    describe = [sys.executable, "-m", "mfidl", "descriptor", str(TESTS / "topics/events.mfidl")]
    written = ["--topic", "Additions", "--out", str(stubs / "additions.topic")]
    subprocess.run([*describe, *written], check=True, timeout=60)
    stack: list[Callable[[], Any]] = []
    sys.path.insert(0, str(stubs))
    try:
        yield Realm(folder, stubs, stack)
    finally:
        for each in reversed(stack):
            each()
        sys.path.remove(str(stubs))
        for name in [
            each for each in sys.modules if each.partition(".")[0] in {"interop", "events", "journal"}
        ]:
            del sys.modules[name]


# How each action is tried. It returns if it was allowed, and raises mf.Error.


def try_register(realm: Realm, cell: Cell) -> None:
    if cell.place.startswith("node"):
        send(realm, cell, "open")
    else:
        registers(realm, cell, KeyKind.service, "roles.Thing")


def try_publish(realm: Realm, cell: Cell) -> None:
    registers(realm, cell, KeyKind.topic, "roles.News")


def registers(realm: Realm, cell: Cell, kind: KeyKind, name: str) -> None:
    with realm.client(cell) as client:
        offer = Offer(Key(kind, name, ""), ["tls://127.0.0.1:1"], UUID(int=0), 1, {}, False)
        standing = ControllerClient(client).register(Credential(uuid4(), uuid4()), "x", [offer])
        next(standing)
        standing.cancel()


def try_lead(realm: Realm, cell: Cell) -> None:
    """Of what it has registered, as all may."""
    who, key = Credential(uuid4(), uuid4()), Key(KeyKind.service, "offered.Thing", "")
    with realm.client(cell) as client:
        offer = Offer(key, ["tls://127.0.0.1:1"], UUID(int=0), 1, {}, False)
        standing = ControllerClient(client).register(who, "x", [offer])
        next(standing)
        lead = ControllerClient(client).lead(who, key)
        next(lead)
        lead.cancel()
        standing.cancel()


def try_watch(realm: Realm, cell: Cell) -> None:
    with realm.client(cell) as client:
        watch = ControllerClient(client).watch(Filter(KeyKind.service, "roles.*", None), 0, 0)
        next(watch)
        watch.cancel()


def try_list(realm: Realm, cell: Cell) -> None:
    with realm.client(cell) as client:
        list(ControllerClient(client).list_(options=DEADLINE))


def try_call(realm: Realm, cell: Cell) -> None:
    if cell.place.startswith("replica"):
        link(realm, cell, wire.Peer(client=uuid4()))
        return
    with realm.client(cell) as client:
        if cell.place == "server (C++)":
            stub = import_module("interop").ShapesClient(client).at("a")
            assert stub.who(options=DEADLINE) == "a"
        else:
            assert EchoClient(client).at("a").twice(4, options=DEADLINE) == 8


def try_replicate(realm: Realm, cell: Cell) -> None:
    link(realm, cell, wire.Peer(member="b"))


def link(realm: Realm, cell: Cell, who: wire.Peer) -> None:
    """Nothing need come back over the link of one that is admitted."""
    agent = group_agent("journal.Journal", "a" if "C++" in cell.place else "s") + "a"
    with realm.client(cell) as client:
        messages = wire.ReplicaClient(client).at(agent).link(who, options=mf.CallOptions(deadline=3.0))
        try:
            next(iter(messages))
        except mf.Error as ended:
            if ended.code is not Code.DEADLINE_EXCEEDED:
                raise


def try_subscribe(realm: Realm, cell: Cell) -> None:
    with realm.client(cell) as client:
        subscriber = events().AdditionsSubscriber(client, "*")
        try:
            subscriber.next(3.0 if cell.place == "bridge" else SOON)
        except mf.Error as ended:  # the engine of the bridge is away, which has nothing for those that may
            if cell.place != "bridge" or ended.code is not Code.DEADLINE_EXCEEDED:
                raise
        finally:
            subscriber.close()


def try_send(realm: Realm, cell: Cell) -> None:
    send(realm, cell, "B")


def send(realm: Realm, cell: Cell, dest: str) -> None:
    """Sends a message. One that waits in the mailbox because it was not taken was let in, too."""
    address, _ = realm.at(cell)
    where = f"unix:{realm.folder}/{uuid4().hex}"
    with flex.Node(address, listen=where, patience=2.0, **realm.credential(cell)) as node:
        sent = node.process("A").send(dest=dest, tag="x")
        try:
            sent.wait(2.0)
        except mf.Error as refused:
            if "has not taken the message" not in refused.message:
                raise


TRIES = {action: globals()[f"try_{action}"] for action in ACTIONS}


@pytest.mark.parametrize("cell", list(cells()), ids=lambda cell: "-".join(cell).replace(" ", "_"))
def test_a_cell(realm: Realm, cell: Cell) -> None:
    _, said = realm.at(cell)
    before = len(said())
    code, words = Code.OK, ""
    try:
        TRIES[cell.action](realm, cell)
    except mf.Error as refused:
        code, words = refused.code, refused.message
    assert code is cell.outcome, words
    for pattern in cell.log:
        assert eventually(lambda: re.search(pattern, said()[before:]) is not None), said()[before:]  # noqa: B023


def test_each_cell_is_tried_or_has_a_reason() -> None:
    for place, actions in PLACES.items():
        assert tuple(actions) == ACTIONS, place
        for action in ACTIONS:
            for credential in CREDENTIALS:
                assert isinstance(actions[action], Try) or why_not(place, action, credential)
