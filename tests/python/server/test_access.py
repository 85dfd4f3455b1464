"""What servers learn of their callers, and what they let them call: identities, the functions `authenticate`
and `authorize`, and access files."""

import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import mf
from mf.core.error import Code, Execution
from tests.python.certificates import Authority
from tests.python.conftest import AsyncRecorder, Recorder, eventually
from tests.python.echo import EchoClient, Number
from tests.python.flow import FlowClient, FlowServant
from tests.python.serving import server_of

OWN = f"uid:{os.geteuid()}"
SEARCH = "spiffe://example.org/search"
TLS = "tls://127.0.0.1:0"


class Mirror(Recorder):
    """Records the identity of its caller; `inner` is called from `flaky`."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[mf.Identity] = []
        self.inner: EchoClient | None = None

    def twice(self, x: int) -> int:
        self.seen.append(mf.current_call().identity)
        return 2 * x

    def flaky(self, x: int) -> int:
        assert self.inner is not None
        result = self.inner.twice(x)
        self.seen.append(mf.current_call().identity)
        return result


class AsyncMirror(AsyncRecorder):
    def __init__(self) -> None:
        self.seen: list[mf.Identity] = []

    async def twice(self, x: int) -> int:
        self.seen.append(mf.current_call().identity)
        return 2 * x


AnyMirror = Mirror | AsyncMirror


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("access"))


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
        file = tmp_path / "access.conf"
        file.write_text(text)
        return str(file)

    return write


def identity_at(servant: AnyMirror, listen: str, shown: mf.Tls | None = None, **options: Any) -> mf.Identity:
    """The identity that a server with these options sees of a client that shows this certificate."""
    with (
        server_of(servant, listen, agent="a", **options) as server,
        mf.Client(server.address, tls=shown) as one,
    ):
        assert EchoClient(one).at("a").twice(1) == 2
    return servant.seen[-1]


def refused(call: Callable[[], object]) -> mf.Error:
    with pytest.raises(mf.Error) as raised:
        call()
    assert raised.value.execution is Execution.NOT_EXECUTED
    return raised.value


# Identities


def test_of_a_process_of_this_host_is_its_user(mirror: AnyMirror, path: str) -> None:
    assert identity_at(mirror, path) == mf.Identity(mf.IdentityKind.UID, OWN)


def test_of_an_address_is_none(mirror: AnyMirror) -> None:
    assert identity_at(mirror, "tcp://127.0.0.1:0") == mf.Identity()


def test_of_a_call_in_the_process_is_its_user() -> None:
    mirror = Mirror()
    light = mf.Light()
    light.offer(mirror, agent="a")
    EchoClient(mf.Client(light)).at("a").twice(1)
    assert str(mirror.seen[0]) == OWN


def test_a_nested_call_has_the_identity_of_the_process_and_the_outer_one_keeps_its_own() -> None:
    inner, outer = Mirror(), Mirror()
    light = mf.Light()
    light.offer(inner, agent="a")
    outer.inner = EchoClient(mf.Client(light)).at("a")
    with server_of(outer, agent="a") as server, mf.Client(server.address) as client:
        assert EchoClient(client).at("a").flaky(4) == 8
    assert list(map(str, inner.seen)) == [OWN]
    assert list(map(str, outer.seen)) == ["none"]


def test_is_known_in_streams(path: str) -> None:
    class Counting(FlowServant):
        def count(self, to: int) -> Iterator[int]:
            assert str(mf.current_call().identity) == OWN
            yield from range(to)

    with server_of(Counting(), path) as server, mf.Client(server.address) as client:
        assert list(FlowClient(client).count(3)) == [0, 1, 2]


def demanded(authority: Authority, mirror: AnyMirror, names: str) -> str:
    """The identity that a server which demands certificates sees of one with these names."""
    shown = authority.issue(names, ca=authority.file)
    return str(identity_at(mirror, TLS, shown, tls=authority.issue(ca=authority.file)))


@pytest.mark.parametrize(
    ("names", "identity"),
    [
        (f"DNS:a.example,URI:{SEARCH},URI:spiffe://b/c", SEARCH),
        ("IP:127.0.0.1,DNS:a.example,DNS:b.example", "dns:a.example"),
        ("IP:127.0.0.1", "none"),
        ("", "none"),
        ("DNS:*.example", "none"),
        ("URI:spiffe://example.org/*", "none"),
        ("URI:uid:0", "none"),
        ("URI:uid://0,DNS:a.example", "dns:a.example"),
        ("URI:TOKEN://root", "none"),
        ("URI:dns://a.example", "none"),
    ],
)
def test_of_a_certificate_is_its_first_usable_uri_then_its_first_usable_host(
    authority: Authority, mirror: AnyMirror, names: str, identity: str
) -> None:
    assert demanded(authority, mirror, names) == identity


def test_of_a_certificate_names_its_issuer(authority: Authority, mirror: AnyMirror) -> None:
    demanded(authority, mirror, "DNS:a.example")
    assert mirror.seen[-1] == mf.Identity(mf.IdentityKind.CERTIFICATE, "dns:a.example", "CN=authority")


def test_without_a_certificate_is_none(authority: Authority, mirror: AnyMirror) -> None:
    assert not identity_at(mirror, TLS, authority.accepted, tls=authority.issue()).known


def test_a_certificate_with_thousands_of_names_has_the_first(authority: Authority, mirror: AnyMirror) -> None:
    names = ",".join(f"DNS:{number:x}" for number in range(10_000))
    assert demanded(authority, mirror, names) == "dns:0"


def with_nul(authority: Authority, tmp_path: Path) -> mf.Tls:
    """A certificate for the host 'a', NUL, '.example', which openssl's command cannot write as text."""
    config = tmp_path / "nul.conf"
    name = b"a\0.example"
    inner = bytes([0x82, len(name)]) + name
    config.write_text(f"2.5.29.17 = DER:30:{len(inner):02x}:{inner.hex(':')}\n")
    return authority.issue("", ca=authority.file, extensions=str(config))


def test_a_name_with_a_nul_is_none(authority: Authority, mirror: AnyMirror, tmp_path: Path) -> None:
    shown = with_nul(authority, tmp_path)
    assert str(identity_at(mirror, TLS, shown, tls=authority.issue(ca=authority.file))) == "none"


@pytest.mark.parametrize("kind", ["expired", "of another authority"])
def test_a_certificate_that_does_not_count_reaches_no_servant(
    authority: Authority, mirror: AnyMirror, tmp_path: Path, kind: str
) -> None:
    if kind == "expired":
        shown = authority.issue(f"URI:{SEARCH}", days=-1, ca=authority.file)
    else:
        other = Authority(tmp_path, "other").issue(f"URI:{SEARCH}")
        shown = mf.Tls(ca=authority.file, certificate=other.certificate, key=other.key)
    with (
        server_of(mirror, TLS, agent="a", tls=authority.issue(ca=authority.file)) as server,
        mf.Client(server.address, tls=shown) as client,
        pytest.raises(mf.Error),
    ):
        EchoClient(client).at("a").twice(1, options=mf.CallOptions(deadline=5))
    assert mirror.seen == []


# authenticate


def test_a_peer_that_is_not_admitted_is_unauthenticated(
    mirror: AnyMirror, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[tuple[mf.PeerHello, mf.Identity]] = []

    def authenticate(hello: mf.PeerHello, identity: mf.Identity) -> bool:
        asked.append((hello, identity))
        return hello.authentication == b"desk"

    with server_of(mirror, path, agent="a", authenticate=authenticate) as server:
        with mf.Client(server.address, authentication=b"door") as client:
            error = refused(lambda: EchoClient(client).at("a").twice(1))
            assert error.code is Code.UNAUTHENTICATED
            assert f"this server does not admit {OWN}" in error.message
        with mf.Client(server.address, authentication=b"desk") as client:
            echo = EchoClient(client).at("a")
            assert [echo.twice(x) for x in range(5)] == [0, 2, 4, 6, 8]
        assert [hello.authentication for hello, _ in asked].count(b"desk") == 1
        assert asked[0][0].peer.startswith(path)
        assert {str(identity) for _, identity in asked} == {OWN}
        assert eventually(lambda: f"({OWN}): not authenticated: " in caplog.text)


def fails(*_: object) -> bool:
    raise RuntimeError("no rules")


def answers_a_word(*_: object) -> Any:
    return "yes"


@pytest.mark.parametrize("answer", [fails, answers_a_word])
def test_an_authenticate_that_gives_no_answer_admits_nothing_and_is_logged(
    mirror: AnyMirror, answer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with server_of(mirror, agent="a", authenticate=answer) as server, mf.Client(server.address) as client:
        assert refused(lambda: EchoClient(client).at("a").twice(1)).code is Code.UNAUTHENTICATED
        assert eventually(lambda: "exception_escaped from=ServerOptions.authenticate" in caplog.text)


# authorize


class Rules:
    """Denies the named methods, and records what it was asked."""

    def __init__(self, *denied: str) -> None:
        self._denied = denied
        self.asked: list[str] = []

    def __call__(self, identity: mf.Identity, service: str, agent: str, method: str) -> bool:
        self.asked.append(f"{identity} {service}.{method} per {agent}")
        return method not in self._denied


def test_authorize_is_asked_once_for_each_method_of_a_connection(mirror: AnyMirror, path: str) -> None:
    rules = Rules()
    with server_of(mirror, path, agent="a", authorize=rules) as server, mf.Client(server.address) as client:
        echo = EchoClient(client).at("a")
        for number in range(10):
            assert echo.twice(number) == 2 * number
    assert rules.asked.count(f"{OWN} demo.Echo.twice per a") == 1
    assert len(rules.asked) == 5


def test_authorize_denies_a_method_and_allows_the_others(
    mirror: AnyMirror, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    rules = Rules("echo", "note")
    with server_of(mirror, path, agent="a", authorize=rules) as server, mf.Client(server.address) as client:
        echo = EchoClient(client).at("a")
        for _ in range(3):
            error = refused(lambda: echo.echo(b""))
            assert error.code is Code.PERMISSION_DENIED
            assert f'{OWN} may not call this method of demo.Echo for agent "a"' in error.message
        echo.note(1)
        assert echo.twice(4) == 8
        assert eventually(lambda: caplog.text.count("call_denied") == 2)
    assert f"identity={OWN} service=demo.Echo agent=a method=echo" in caplog.text
    assert "method=note" in caplog.text


def test_a_batch_of_a_denied_method_fails_as_a_whole(mirror: AnyMirror, path: str) -> None:
    rules = Rules("twice")
    with server_of(mirror, path, agent="a", authorize=rules) as server, mf.Client(server.address) as client:
        echo = EchoClient(client).at("a")
        error = refused(lambda: echo.twice_bulk([Number(1), Number(2)]))
        assert error.code is Code.PERMISSION_DENIED
    assert mirror.seen == []


def test_a_denied_stream_reaches_no_servant(path: str) -> None:
    class Counting(FlowServant):
        ran = False

        def count(self, to: int) -> Iterator[int]:
            self.ran = True
            yield from range(to)

    servant = Counting()
    with (
        server_of(servant, path, authorize=Rules("count", "total")) as server,
        mf.Client(server.address) as client,
    ):
        assert refused(lambda: list(FlowClient(client).count(3))).code is Code.PERMISSION_DENIED
        assert refused(lambda: FlowClient(client).total(1, iter([1] * 100))).code is Code.PERMISSION_DENIED
        assert len(list(FlowClient(client).chunks(1, 2))) == 2
    assert not servant.ran


@pytest.mark.parametrize("answer", [fails, answers_a_word, lambda *_: False])
def test_a_service_of_which_nothing_may_be_called_is_denied(
    mirror: AnyMirror, path: str, answer: Any
) -> None:
    with server_of(mirror, path, agent="a", authorize=answer) as server, mf.Client(server.address) as client:
        error = refused(lambda: EchoClient(client).at("a").twice(1))
        assert error.code is Code.PERMISSION_DENIED
        assert f'{OWN} may not call demo.Echo for agent "a"' in error.message
    assert mirror.seen == []


def test_an_authorize_that_raises_is_logged_once(path: str, caplog: pytest.LogCaptureFixture) -> None:
    with server_of(Mirror(), path, agent="a", authorize=fails) as server, mf.Client(server.address) as client:
        refused(lambda: EchoClient(client).at("a").twice(1))
        assert eventually(lambda: "call_denied" in caplog.text)
        tracebacks = [each for each in caplog.records if "ServerOptions.authorize" in each.getMessage()]
        assert len(tracebacks) == 1
        assert tracebacks[0].levelno == logging.ERROR


@pytest.mark.parametrize("option", ["authenticate", "authorize"])
def test_functions_that_would_have_to_be_awaited_are_refused_at_the_start(option: str) -> None:
    async def later(*_: object) -> bool:
        return True

    wrong: Any = {option: later}
    with pytest.raises(TypeError, match=f"{option} is `async def`"):
        mf.Server("tcp://127.0.0.1:0", **wrong)


# Access files


def test_an_access_file_says_which_methods_of_which_agents_may_be_called(
    mirror: AnyMirror, path: str, rules: Callable[[str], str]
) -> None:
    access = rules(f"deny anyone call demo.Echo.echo\nallow {OWN} call demo.* per a*\n")
    with server_of(mirror, path, agent="a", access=access) as server, mf.Client(server.address) as client:
        assert EchoClient(client).at("a").twice(1) == 2
        assert EchoClient(client).any().twice(2) == 4
        assert refused(lambda: EchoClient(client).at("a").echo(b"")).code is Code.PERMISSION_DENIED


def test_what_no_line_of_an_access_file_allows_is_denied(
    mirror: AnyMirror, path: str, rules: Callable[[str], str]
) -> None:
    access = rules(f"allow {OWN} call demo.* per b\nallow uid:4294967294 call *\n")
    with server_of(mirror, path, agent="a", access=access) as server, mf.Client(server.address) as client:
        assert refused(lambda: EchoClient(client).at("a").twice(1)).code is Code.PERMISSION_DENIED
        assert refused(lambda: EchoClient(client).any().twice(1)).code is Code.PERMISSION_DENIED


def test_an_access_file_knows_certificates(
    authority: Authority, mirror: AnyMirror, rules: Callable[[str], str]
) -> None:
    access = rules(f"allow {SEARCH} call demo.Echo.*\n")
    own = authority.issue(ca=authority.file)
    with server_of(mirror, TLS, agent="a", tls=own, access=access) as server:
        allowed = authority.issue(f"URI:{SEARCH}", ca=authority.file)
        with mf.Client(server.address, tls=allowed) as client:
            assert EchoClient(client).at("a").twice(1) == 2
        other = authority.issue("URI:spiffe://example.org/other", ca=authority.file)
        with mf.Client(server.address, tls=other) as client:
            error = refused(lambda: EchoClient(client).at("a").twice(1))
            assert error.code is Code.PERMISSION_DENIED
            assert "spiffe://example.org/other may not call demo.Echo" in error.message


def test_a_plain_address_has_no_identity_that_a_file_could_allow(
    mirror: AnyMirror, rules: Callable[[str], str]
) -> None:
    access = rules("allow authenticated call *\n")
    with server_of(mirror, agent="a", access=access) as server, mf.Client(server.address) as client:
        error = refused(lambda: EchoClient(client).at("a").twice(1))
        assert "none may not call demo.Echo" in error.message


def test_file_and_function_must_both_allow(mirror: AnyMirror, path: str, rules: Callable[[str], str]) -> None:
    access = rules("deny anyone call demo.Echo.echo\nallow anyone call *\n")
    asked = Rules("sleep")
    with (
        server_of(mirror, path, agent="a", access=access, authorize=asked) as server,
        mf.Client(server.address) as client,
    ):
        echo = EchoClient(client).at("a")
        assert echo.twice(1) == 2
        assert refused(lambda: echo.echo(b"")).code is Code.PERMISSION_DENIED
        assert refused(lambda: echo.sleep(0.0)).code is Code.PERMISSION_DENIED


@pytest.mark.parametrize("kind", [mf.Server, mf.AsyncServer])
def test_mistakes_in_an_access_file_are_named_at_the_start(
    kind: Any, rules: Callable[[str], str], tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=r"access.conf:2: 'cal' is no action; did you mean 'call'\?"):
        kind("tcp://127.0.0.1:0", access=rules("# first\nallow anyone cal *\n"))
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        kind("tcp://127.0.0.1:0", access=str(tmp_path / "absent"))
