"""Which peers may give servers the identities of their clients: those to which the access file allows
`relay`."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import mf
from mf.core.identity import Identity, IdentityKind
from mf.protocol.handshake import Hello
from mf.route import pool
from tests.python.certificates import Authority
from tests.python.conftest import Recorder, eventually
from tests.python.echo import EchoClient
from tests.python.server.test_access import AnyMirror, AsyncMirror, Mirror, refused
from tests.python.serving import server_of

OWN = f"uid:{os.geteuid()}"
WEB, RELAY = "spiffe://example.org/web", "spiffe://example.org/relay"
OF_WEB = Identity(IdentityKind.CERTIFICATE, WEB, "CN=authority")
RULES = f"allow {OWN} relay\nallow {RELAY} relay\nallow {WEB} call demo.Echo.twice\nallow {WEB} subscribe *\n"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("relayed"))


@pytest.fixture(params=[Mirror, AsyncMirror], ids=["blocking", "asyncio"])
def mirror(request: pytest.FixtureRequest) -> AnyMirror:
    made: AnyMirror = request.param()
    return made


@pytest.fixture
def path(tmp_path: Path) -> str:
    return f"unix:{tmp_path}/s"


@pytest.fixture
def rules(tmp_path: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        fresh = tmp_path / "fresh.conf"
        fresh.write_text(text)
        return str(fresh.rename(tmp_path / "access.conf"))

    return write


@contextmanager
def relaying(address: str, client: Identity | None, tls: mf.Tls | None = None) -> Iterator[Any]:
    """A stub whose connection says, as a relay's does, that it is for this client."""
    own = pool.Pool._hello

    def hello(self: Any) -> Hello:
        made = own(self)
        made.passed = client
        return made

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pool.Pool, "_hello", hello)
        with mf.Client(address, tls=tls) as one:
            yield EchoClient(one).at("a")


def test_of_a_relay_that_is_allowed_to_is_its_client(
    mirror: AnyMirror, path: str, rules: Callable[[str], str]
) -> None:
    with (
        server_of(mirror, path, agent="a", access=rules(RULES)) as server,
        relaying(server.address, OF_WEB) as echo,
    ):
        assert echo.twice(1) == 2
        assert refused(lambda: echo.flaky(1)).message.startswith(f"{WEB} via {OWN} may not call")
    assert mirror.seen == [Identity(IdentityKind.CERTIFICATE, WEB, "CN=authority", (OWN,))]


def test_names_the_relays_in_their_order(mirror: AnyMirror, path: str, rules: Callable[[str], str]) -> None:
    behind = Identity(IdentityKind.TOKEN, "token:x", "", (RELAY, "dns:outer.example"))
    with (
        server_of(mirror, path, agent="a", access=rules(RULES + "allow token:x call *\n")) as server,
        relaying(server.address, behind) as echo,
    ):
        assert echo.twice(1) == 2
    assert mirror.seen[0].via == (RELAY, "dns:outer.example", OWN)
    assert str(mirror.seen[0]) == f"token:x via {RELAY}, dns:outer.example, {OWN}"


def test_a_client_that_has_shown_nothing_is_not_the_relay(
    mirror: AnyMirror, path: str, rules: Callable[[str], str]
) -> None:
    """Otherwise every client of a relay could do what the relay may."""
    access = rules(RULES + f"allow {OWN} call *\n")
    with server_of(mirror, path, agent="a", access=access) as server:
        with relaying(server.address, Identity()) as echo:
            error = refused(lambda: echo.twice(1))
        with relaying(server.address, None) as echo:  # the relay itself
            assert echo.twice(1) == 2
    assert error.code is mf.Code.PERMISSION_DENIED
    assert f"none via {OWN} may not call" in error.message
    assert list(map(str, mirror.seen)) == [OWN]


def test_a_peer_that_may_not_relay_is_itself_and_the_log_says_so_once(
    mirror: AnyMirror, path: str, rules: Callable[[str], str], caplog: pytest.LogCaptureFixture
) -> None:
    access = rules(f"allow {WEB} call *\nallow {OWN} call demo.Echo.echo\n")
    with server_of(mirror, path, agent="a", access=access) as server:
        for _ in range(3):
            with relaying(server.address, OF_WEB) as echo:
                assert f"{OWN} may not call" in refused(lambda: echo.twice(1)).message
                assert echo.echo(b"own") == b"own"
        assert eventually(lambda: "relay_not_believed" in caplog.text)
    assert caplog.text.count("relay_not_believed") == 1
    assert f"client={WEB}" in caplog.text
    assert mirror.seen == []


def test_a_peer_without_identity_may_not_relay_whatever_the_file_says(
    mirror: AnyMirror, rules: Callable[[str], str]
) -> None:
    access = rules(f"allow anyone relay\nallow {WEB} call *\n")
    with (
        server_of(mirror, "tcp://127.0.0.1:0", agent="a", access=access) as server,
        relaying(server.address, OF_WEB) as echo,
    ):
        assert "none may not call" in refused(lambda: echo.twice(1)).message
    assert mirror.seen == []


def test_a_server_without_an_access_file_believes_no_relay(mirror: AnyMirror, path: str) -> None:
    with server_of(mirror, path, agent="a") as server, relaying(server.address, OF_WEB) as echo:
        assert echo.twice(1) == 2
    assert list(map(str, mirror.seen)) == [OWN]


def test_a_user_of_the_relays_host_is_none_over_a_network(
    mirror: AnyMirror, authority: Authority, rules: Callable[[str], str]
) -> None:
    """Another host has other users of the same number."""
    access = rules(RULES + "allow uid:0 call *\n")
    shown = authority.issue(f"DNS:localhost,IP:127.0.0.1,URI:{RELAY}", ca=authority.file)
    root = Identity(IdentityKind.UID, "uid:0")
    demanding = authority.issue(ca=authority.file)
    with server_of(mirror, "tls://127.0.0.1:0", agent="a", tls=demanding, access=access) as server:
        with relaying(server.address, root, shown) as echo:
            assert f"none via {RELAY} may not call" in refused(lambda: echo.twice(1)).message
        with relaying(server.address, OF_WEB, shown) as echo:
            assert echo.twice(1) == 2
    assert list(map(str, mirror.seen)) == [f"{WEB} via {RELAY}"]


def test_authenticate_and_authorize_are_asked_about_the_client(
    mirror: AnyMirror, path: str, rules: Callable[[str], str]
) -> None:
    asked = []

    def authorize(identity: mf.Identity, *_: str) -> bool:
        asked.append(str(identity))
        return True

    def authenticate(_: mf.PeerHello, identity: mf.Identity) -> bool:
        asked.append(str(identity))
        return True

    options: dict[str, Any] = {"authorize": authorize, "authenticate": authenticate}
    with (
        server_of(mirror, path, agent="a", access=rules(RULES), **options) as server,
        relaying(server.address, OF_WEB) as echo,
    ):
        assert echo.twice(1) == 2
    assert set(asked) == {f"{WEB} via {OWN}"}


def test_a_relay_that_may_not_relay_any_more_is_retired(
    path: str, rules: Callable[[str], str], caplog: pytest.LogCaptureFixture
) -> None:
    servant = Recorder()
    with server_of(servant, path, agent="a", access=rules(RULES)) as server:
        with relaying(server.address, OF_WEB) as echo:
            assert echo.twice(1) == 2
            rules(RULES.replace(f"allow {OWN} relay", f"deny {OWN} relay"))
            assert server.reload()
            assert eventually(lambda: "whether it may relay has changed" in caplog.text)
            assert f"{OWN} may not call" in refused(lambda: echo.twice(1)).message
            rules(RULES)
            assert server.reload()
            assert eventually(lambda: caplog.text.count("whether it may relay has changed") >= 2)
        with relaying(server.address, OF_WEB) as echo:
            assert echo.twice(2) == 4


@pytest.mark.parametrize(
    "client",
    [
        Identity(IdentityKind.TOKEN, "uid:0"),
        Identity(IdentityKind.CERTIFICATE, "token://x"),
        Identity(IdentityKind.NONE, "dns:a"),
        Identity(IdentityKind.CERTIFICATE, "dns:*"),
        Identity(via=("uid:1",) * 8),
    ],
    ids=str,
)
def test_an_identity_that_cannot_be_ends_the_connection(
    path: str, rules: Callable[[str], str], client: Identity, caplog: pytest.LogCaptureFixture
) -> None:
    servant = Recorder()
    with server_of(servant, path, agent="a", access=rules(RULES + "allow anyone call *\n")) as server:
        with relaying(server.address, client) as echo, pytest.raises(mf.Error):
            echo.twice(1, options=mf.CallOptions(deadline=1.0))
        assert eventually(lambda: "the identity that a relay passes on" in caplog.text)
        with relaying(server.address, None) as echo:
            assert echo.twice(1) == 2
