"""`mf doctor`: each planted fault is named, with its cure."""

import json
import re
import signal
import socket
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import mf
from mf import described
from tests.interop.peers import Server
from tests.mf_tools.conftest import ROOT, Peers, Tool
from tests.python.certificates import Authority
from tests.python.conftest import Recorder as Echo
from tests.python.conftest import eventually
from tests.python.echo import EchoClient

Finding = dict[str, str]


def findings(tool: Tool, *arguments: str) -> dict[str, Finding]:
    """By the name of the fault; those that are well by that of the check."""
    found = json.loads(tool.run("doctor", *arguments, "--json"))
    assert all(each["cure"] for each in found if "fault" in each)
    assert tool.code == any(each["state"] == "fault" for each in found)
    return {each.get("fault") or each["check"]: each for each in found}


def fault(tool: Tool, *arguments: str) -> str:
    """The only one."""
    names = [name for name, each in findings(tool, *arguments).items() if each["state"] == "fault"]
    assert len(names) == 1, names
    return names[0]


@contextmanager
def listening(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """Something else than a server of MF."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        ends = threading.Event()

        def serve() -> None:
            made.settimeout(0.1)
            while not ends.is_set():
                try:
                    peer, _ = made.accept()
                except TimeoutError:
                    continue
                with peer:
                    peer.settimeout(5.0)
                    with suppress(OSError):
                        answer(peer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{made.getsockname()[1]}"
        finally:
            ends.set()
            thread.join()


def ended(_: socket.socket) -> None:
    """Its connection ends at once."""


@contextmanager
def secured(authority: Authority, **given: Any) -> Iterator[tuple[str, mf.Server]]:
    """A server over TLS, without any service: its host and port."""
    shown = authority.issue(**given)
    with mf.Server("tls://127.0.0.1:0", tls=shown) as server:
        yield str(server.address).removeprefix("tls://"), server


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@contextmanager
def unready(controller: Server) -> Iterator[mf.Server]:
    """A registered server that says why it may be given no work."""
    with mf.Server(controller=controller.address) as server:
        server.add_check("index", lambda: "it is being loaded")
        server.add_check("disk", lambda: "it is full", service="demo.Echo")
        server.offer(Echo(), agent="a")
        yield server


# All is well


def test_a_healthy_controller_and_service_have_no_fault(
    tool: Tool, controller: Server, registered: Server
) -> None:
    found = findings(tool, controller.address, "--service", "shop.Shop")
    assert {each["state"] for each in found.values()} == {"ok"}
    order = [
        "name",
        "route",
        "port",
        "hello",
        "identity",
        "load",
        "health",
        "access",
        "clock",
        "ledger",
        "registration",
    ]
    assert [*found] == [*order, "schema"]
    lines = tool.well("doctor", controller.address).splitlines()
    assert lines[0].startswith("ok      name")
    del registered


def test_a_server_that_is_not_ready_says_why(tool: Tool, controller: Server) -> None:
    with unready(controller) as server:
        found = findings(tool, server.address)
        assert found["not_serving"]["state"] == "warning"
        assert "index: it is being loaded" in found["not_serving"]["text"]
        assert eventually(lambda: "demo.Echo" in tool.well("ls", "--where", controller.address))
        tool.run("doctor", controller.address, "--service", "demo.Echo", "--json")
        [of_service] = [each for each in json.loads(tool.out) if each.get("fault") == "not_serving"]
    assert f"demo.Echo at {server.address} may be given no work" in of_service["text"]
    assert "disk: it is full" in of_service["text"]


def test_a_server_whose_workers_are_all_busy_is_found(tool: Tool) -> None:
    servant, entered, leave = Echo(), threading.Event(), threading.Event()

    def act(x: int) -> int:
        entered.set()
        leave.wait(60)
        return x

    servant.act = act
    with mf.Server(workers=1) as server, mf.Client(server.address) as client:
        server.offer(servant, agent="a")
        calling = threading.Thread(target=EchoClient(client).at("a").flaky, args=(1,))
        calling.start()
        assert entered.wait(30)
        assert fault(tool, server.address) == "health_does_not_answer"
        leave.set()
        calling.join(30)


def test_a_server_whose_health_cannot_be_asked_is_no_fault(tool: Tool, tmp_path: Path) -> None:
    rules = tmp_path / "access.conf"
    rules.write_text("allow anyone call demo.Echo.*\n")
    with mf.Server(access=str(rules)) as server:
        server.offer(Echo(), agent="a")
        found = findings(tool, server.address)
    assert found["health"]["state"] == "ok"
    assert "cannot be asked for its health" in found["health"]["text"]


def test_a_healthy_server_over_tls_has_no_fault(tool: Tool, authority: Authority) -> None:
    with secured(authority) as (place, _):
        found = findings(tool, f"tls://{place}", "--ca", authority.file)
    assert not [each for each in found.values() if each["state"] == "fault"]
    assert "days left" in found["tls"]["text"]
    assert found["certificate_expires_soon"]["state"] == "warning"  # it is valid for a day


# Address, name, route, port


@pytest.mark.parametrize("address", ["127.0.0.1:7400", "http://127.0.0.1:80", "mf://127.0.0.1", "mf://h:x"])
def test_an_address_that_is_none(tool: Tool, address: str) -> None:
    assert fault(tool, address) == "no_address"


def test_a_path_without_its_scheme(tool: Tool) -> None:
    Path("there").touch()
    found = findings(tool, "there")
    assert found["path_as_address"]["cure"] == f"write unix:{tool.folder}/there"


def test_a_name_that_nobody_knows(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert fault(tool, "mf://no.such.name.invalid:7400") == "unknown_name"


def test_a_resolver_that_does_not_answer(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", away)
    assert fault(tool, "mf://host.invalid:7400") == "resolver_does_not_answer"


def test_an_address_without_a_route(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: Any) -> Any:
        raise OSError(101, "Network is unreachable")

    monkeypatch.setattr(socket.socket, "connect", unreachable)
    assert fault(tool, "mf://192.0.2.1:7400") == "no_route"


def test_a_port_at_which_nothing_listens(tool: Tool) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        assert fault(tool, f"mf://127.0.0.1:{taken.getsockname()[1]}") == "port_refused"


def test_a_port_that_does_not_answer(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    from mf_tools.doctor import network

    monkeypatch.setattr(network, "CONNECT_WITHIN", 0.05)
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = []
        try:
            for _ in range(8):  # its backlog is full then, and further packets are dropped
                each = socket.socket()
                each.setblocking(False)
                each.connect_ex(full.getsockname())
                waiting.append(each)
            assert fault(tool, f"tcp://127.0.0.1:{full.getsockname()[1]}") == "port_does_not_answer"
        finally:
            for each in waiting:
                each.close()


def test_a_name_of_which_one_address_answers(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    known = socket.getaddrinfo
    with listening(ended) as place:
        port = int(place.rpartition(":")[2])

        def both(*_: Any, **__: Any) -> Any:
            return [*known("127.0.0.2", port, type=socket.SOCK_STREAM), *known("127.0.0.1", port, type=1)]

        monkeypatch.setattr(socket, "getaddrinfo", both)
        found = findings(tool, f"tcp://both.invalid:{port}")
    assert found["some_addresses_do_not_answer"]["state"] == "warning"


# Unix sockets


def test_a_socket_that_is_not_there(tool: Tool) -> None:
    assert fault(tool, f"unix:{tool.folder}/none.sock") == "no_such_socket"


def test_a_file_that_is_no_socket(tool: Tool) -> None:
    Path("file").touch()
    assert fault(tool, f"unix:{tool.folder}/file") == "no_socket"


def test_a_socket_whose_server_has_ended(tool: Tool) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("old.sock")
    assert stat.S_ISSOCK(Path("old.sock").stat().st_mode)
    assert fault(tool, f"unix:{tool.folder}/old.sock") == "stale_socket"


def test_a_socket_that_this_user_may_not_use(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    with socket.socket(socket.AF_UNIX) as made:
        made.bind("other.sock")
        monkeypatch.setattr(socket.socket, "connect", denied)
        assert fault(tool, f"unix:{tool.folder}/other.sock") == "socket_denied"


def test_a_folder_that_this_user_may_not_enter(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    from mf_tools.doctor import network

    def denied(*_: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(network, "stat_of", denied)
    assert fault(tool, f"unix:{tool.folder}/a.sock") == "socket_out_of_reach"


# What speaks there


def test_a_web_server(tool: Tool) -> None:
    def answer(peer: socket.socket) -> None:
        peer.recv(4096)
        peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with listening(answer) as place:
        assert fault(tool, f"tcp://{place}") == "is_http"


def test_another_protocol(tool: Tool) -> None:
    def answer(peer: socket.socket) -> None:
        peer.recv(4096)
        peer.sendall(b"-ERR unknown command\r\n")

    with listening(answer) as place:
        assert fault(tool, f"tcp://{place}") == "another_protocol"


def test_a_server_that_ends_at_once(tool: Tool) -> None:
    with listening(ended) as place:
        assert fault(tool, f"tcp://{place}") == "ends_at_once"


def test_a_server_that_says_nothing(tool: Tool, peers: Peers) -> None:
    stopped = peers.shop()
    stopped.freeze()
    try:
        assert fault(tool, stopped.address) == "says_nothing"
    finally:
        stopped.signal(signal.SIGCONT)


def test_a_server_where_a_controller_should_be(tool: Tool, shop: Server) -> None:
    assert fault(tool, shop.address.replace("tcp://", "mf://")) == "no_controller"


def test_a_controller_where_a_server_should_be(tool: Tool, controller: Server) -> None:
    found = findings(tool, controller.address.replace("mf://", "tcp://"))
    assert found["is_a_controller"]["state"] == "warning"


# TLS


def test_tls_where_an_address_says_none(tool: Tool, authority: Authority) -> None:
    with secured(authority) as (place, _):
        assert fault(tool, f"tcp://{place}") == "is_tls"


def test_no_tls_where_an_address_says_so(tool: Tool, shop: Server) -> None:
    assert fault(tool, shop.address.replace("tcp://", "tls://")) == "no_tls"


def test_an_authority_that_is_not_accepted(tool: Tool, authority: Authority, tmp_path: Path) -> None:
    other = Authority(tmp_path, "other")
    with secured(authority) as (place, _):
        assert fault(tool, f"tls://{place}") == "unknown_authority"
        assert fault(tool, f"tls://{place}", "--ca", other.file) == "unknown_authority"


def test_a_certificate_of_another_name(tool: Tool, authority: Authority) -> None:
    with secured(authority, names="DNS:other.example") as (place, _):
        found = findings(tool, f"tls://{place}", "--ca", authority.file)
        assert "is for other.example, not for 127.0.0.1" in found["certificate_of_another_name"]["text"]
        named = findings(tool, f"tls://{place}", "--ca", authority.file, "--server-name", "other.example")
        assert "certificate_of_another_name" not in named


def test_a_certificate_that_has_expired(tool: Tool, authority: Authority) -> None:
    with secured(authority, days=-1) as (place, _):
        assert fault(tool, f"tls://{place}", "--ca", authority.file) == "certificate_expired"


def test_a_certificate_of_the_future(
    tool: Tool, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mf_tools.doctor import tls

    class Context:
        """Whose clock is an hour behind: OpenSSL has no other way to set the time here."""

        def wrap_socket(self, *_: Any, **__: Any) -> Any:
            import ssl

            refused = ssl.SSLCertVerificationError(1, "certificate is not yet valid")
            refused.verify_code = 9
            raise refused

    monkeypatch.setattr(tls, "_context", lambda _: Context())
    with secured(authority) as (place, _):
        assert fault(tool, f"tls://{place}", "--ca", authority.file) == "certificate_not_yet_valid"


def test_a_server_that_demands_a_certificate(tool: Tool, authority: Authority) -> None:
    with secured(authority, ca=authority.file) as (place, _):
        assert fault(tool, f"tls://{place}", "--ca", authority.file) == "certificate_demanded"


def test_a_server_that_does_not_accept_ours(tool: Tool, authority: Authority, tmp_path: Path) -> None:
    other = Authority(tmp_path, "other").issue()
    ours = ("--ca", authority.file, "--certificate", other.certificate, "--key", other.key)
    with secured(authority, ca=authority.file) as (place, _):
        assert fault(tool, f"tls://{place}", *ours) == "own_certificate_refused"


# Files of this side


def test_files_that_cannot_be_read(tool: Tool) -> None:
    assert fault(tool, "tls://127.0.0.1:1", "--ca", "none.pem") == "ca_unreadable"
    Path("empty.pem").touch()
    assert fault(tool, "tls://127.0.0.1:1", "--ca", "empty.pem") == "ca_no_certificate"


def test_credentials_for_an_address_in_clear(tool: Tool, authority: Authority) -> None:
    assert fault(tool, "tcp://127.0.0.1:1", "--ca", authority.file) == "credentials_in_clear"


def test_a_key_that_others_can_read(tool: Tool, authority: Authority) -> None:
    ours = authority.issue()
    Path(ours.key).chmod(0o644)
    given = ("--certificate", ours.certificate, "--key", ours.key)
    assert fault(tool, "tls://127.0.0.1:1", *given) == "key_open_to_others"
    Path(ours.key).chmod(0o600)
    assert fault(tool, "tls://127.0.0.1:1", *given) == "port_refused"


def test_keys_and_certificates_that_do_not_belong_together(tool: Tool, authority: Authority) -> None:
    one, other = authority.issue(), authority.issue()
    for each in (one, other):
        Path(each.key).chmod(0o600)
    to = "tls://127.0.0.1:1"
    assert (
        fault(tool, to, "--certificate", one.certificate, "--key", other.key) == "key_of_another_certificate"
    )
    assert fault(tool, to, "--certificate", one.certificate) == "certificate_alone"
    assert fault(tool, to, "--key", one.key) == "key_alone"


def test_our_certificate_that_has_expired(tool: Tool, authority: Authority) -> None:
    ours = authority.issue(days=-1)
    Path(ours.key).chmod(0o600)
    given = ("--certificate", ours.certificate, "--key", ours.key)
    assert fault(tool, "tls://127.0.0.1:1", *given) == "own_certificate_expired"


def test_keys_that_are_none(tool: Tool, authority: Authority) -> None:
    ours = authority.issue()
    Path("none.key").write_text("nothing")
    locked = ["openssl", "pkey", "-in", ours.key, "-aes256", "-passout", "pass:x", "-out", "locked.key"]
    subprocess.run(locked, check=True)
    for name in ("none.key", "locked.key"):
        Path(name).chmod(0o600)
    to = ("tls://127.0.0.1:1", "--certificate", ours.certificate, "--key")
    assert fault(tool, *to, "none.key") == "no_key"
    assert fault(tool, *to, "locked.key") == "key_with_passphrase"


def dated(path: str, days: float) -> None:
    """A certificate, and its key, whose only day begins in so many days."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    begins = datetime.now(UTC) + timedelta(days=days)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1)
        .not_valid_before(begins)
        .not_valid_after(begins + timedelta(days=1))
    )
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    Path(f"{path}.pem").write_bytes(made.sign(key, hashes.SHA256()).public_bytes(encoding))
    Path(f"{path}.key").touch(0o600)
    Path(f"{path}.key").write_bytes(key.private_bytes(encoding, form, serialization.NoEncryption()))


def test_certificates_of_this_side_at_the_wrong_time(tool: Tool) -> None:
    dated("old", -2)
    dated("early", 1)
    to = "tls://127.0.0.1:1"
    assert fault(tool, to, "--ca", "old.pem") == "ca_expired"
    found = fault(tool, to, "--certificate", "early.pem", "--key", "early.key")
    assert found == "own_certificate_not_yet_valid"


# Tokens


def signed(signer: mf.TokenSigner, path: str, issued: float, lasts: float) -> None:
    claims = mf.TokenClaims(subject="web", audience="desk", issued=int(issued), expires=int(issued + lasts))
    Path(path).touch(0o600)
    Path(path).write_text(signer.sign(claims).reveal())


def test_tokens_that_no_server_will_accept(tool: Tool) -> None:
    signer = mf.TokenSigner.generate()
    now = time.time()
    for name, issued, lasts in (("old", now - 7200, 3600), ("early", now + 7200, 3600), ("open", now, 3600)):
        signed(signer, name, issued, lasts)
    Path("open").chmod(0o644)
    Path("none").write_text("nothing")
    Path("none").chmod(0o600)
    to = "tls://127.0.0.1:1"
    assert fault(tool, to, "--token-file", "old") == "token_expired"
    assert fault(tool, to, "--token-file", "early") == "token_of_the_future"
    assert fault(tool, to, "--token-file", "open") == "token_open_to_others"
    assert fault(tool, to, "--token-file", "none") == "no_token"


def test_a_token_that_the_server_refuses(tool: Tool, authority: Authority) -> None:
    signer = mf.TokenSigner.generate()
    signed(signer, "token", time.time(), 3600)
    Path("keys.pub").write_text(mf.TokenSigner.generate().public_pem())
    shown = authority.issue()
    keys = str(tool.folder / "keys.pub")
    with mf.Server("tls://127.0.0.1:0", tls=shown, token_keys=keys, token_audience="desk") as server:
        found = fault(tool, str(server.address), "--ca", authority.file, "--token-file", "token")
    assert found == "not_authenticated"


# Access, registration, schema, load


class _Nothing(mf.Servant):
    mf_service = described.Service(described.Description("test.Nothing", "service test.Nothing\n", "")).info


def test_a_service_and_an_agent_that_are_not_registered(
    tool: Tool, controller: Server, registered: Server
) -> None:
    found = findings(tool, controller.address, "--service", "shop.Shpo")
    assert "did you mean shop.Shop?" in found["not_registered"]["text"]
    assert fault(tool, controller.address, "--service", "shop.Shop", "--agent", "x") == "agent_not_registered"
    assert fault(tool, registered.address, "--service", "shop.None") == "not_offered"


def test_an_instance_that_does_not_answer(tool: Tool, peers: Peers) -> None:
    controller = peers.controller()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        dead = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with mf.Server("tcp://127.0.0.1:0", controller.address, advertise=dead) as server:
            server.offer(_Nothing())
            await_offer(tool, controller)
            found = fault(tool, controller.address, "--service", "test.Nothing")
    assert found == "instance_does_not_answer"


def test_another_process_at_the_address_of_an_instance(tool: Tool, peers: Peers, shop: Server) -> None:
    controller = peers.controller()
    with mf.Server("tcp://127.0.0.1:0", controller.address, advertise=shop.address) as server:
        server.offer(_Nothing())
        await_offer(tool, controller)
        assert fault(tool, controller.address, "--service", "test.Nothing") == "another_process"


def test_instances_with_several_schemas(tool: Tool, peers: Peers) -> None:
    controller = peers.controller()

    class Other(mf.Servant):
        mf_service = described.Service(
            described.Description(
                "test.Nothing", "service test.Nothing\n method x\n  oneway\n  params memcpy\n", ""
            )
        ).info

        def x(self) -> None:
            pass

    with (
        mf.Server("tcp://127.0.0.1:0", controller.address) as one,
        mf.Server("tcp://127.0.0.1:0", controller.address) as other,
    ):
        one.offer(_Nothing())
        other.offer(Other())
        await_offer(tool, controller, 2)
        found = findings(tool, controller.address, "--service", "test.Nothing")
    assert found["several_schemas"]["state"] == "warning"


def test_what_one_process_wants_alone_and_two_offer(tool: Tool, peers: Peers) -> None:
    controller = peers.controller()
    with (
        mf.Server("tcp://127.0.0.1:0", controller.address) as one,
        mf.Server("tcp://127.0.0.1:0", controller.address) as other,
    ):
        for each in (one, other):
            each.offer(_Nothing(), alone=True)
        await_offer(tool, controller, 2)
        assert fault(tool, controller.address, "--service", "test.Nothing") == "offered_twice"


def await_offer(tool: Tool, controller: Server, count: int = 1) -> None:
    until = time.monotonic() + 30
    while len(tool.json("ls", "test.*", "-w", controller.address)) < count:
        assert time.monotonic() < until


def test_an_access_file_that_denies(tool: Tool, authority: Authority, peers: Peers) -> None:
    Path("access").write_text("allow uid:1 list\n")
    controller = peers.controller("--access", str(tool.folder / "access"))
    assert fault(tool, controller.address) == "denied"
    del authority


def test_a_server_that_takes_no_more_connections(tool: Tool) -> None:
    with mf.Server("tcp://127.0.0.1:0", max_connections=1) as server, mf.Client(server.address) as first:
        with pytest.raises(mf.Error, match="does not offer"):
            first.describe("a.B")
        assert fault(tool, str(server.address)) == "takes_no_more"


def test_a_server_that_is_slow(tool: Tool, shop: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    from mf_tools.doctor import peer

    monkeypatch.setattr(peer, "_SLOW", 0.0)
    assert findings(tool, shop.address)["slow"]["state"] == "warning"


NOT_PLANTED = {
    "busy",  # a load at the moment of HELLO
    "certificate_refused",  # what OpenSSL may find besides
    "certificate_revoked",
    "clocks_differ",
    "description_unusable",
    "files_unusable",  # of files that were looked at before
    "list_failed",
    "not_verified",  # of a controller that has just started again
    "status_failed",
    "stopped_answering",
    "store_degraded",  # a disk that is full under the controller
    "tls_ended",
}


def test_each_fault_that_can_be_planted_is() -> None:
    sources = [each.read_text() for each in (ROOT / "cli/mf_tools/doctor").glob("*.py")]
    sources.append((ROOT / "cli/mf_tools/commands/doctor.py").read_text())
    call = r'(?:found|findings)\.(?:fault|warn)\(\s*(?:_CHECK|"\w+"),\s*(?:f"\{field\}(\w+)"|"(\w+)")'
    named = {end or whole for text in sources for end, whole in re.findall(call, text)}
    planted = Path(__file__).read_text().partition("NOT_PLANTED")[0]
    written = {name: rf'"\w+{name}"' if name.startswith("_") else f'"{name}"' for name in named}
    missing = {name for name in named if not re.search(written[name], planted)}
    assert missing == NOT_PLANTED
    assert len(named - missing) >= 25
