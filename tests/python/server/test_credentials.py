"""Tokens as credentials: clients show them to verified servers only, and servers make identities of those
that are valid.
"""

import asyncio
import base64
import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import mf
from mf.core.error import Code
from mf.protocol.client_session import ClientSession
from mf.protocol.handshake import Hello
from mf.tokens.claims import TokenClaims
from mf.tokens.keys import TokenSigner
from tests.python.certificates import Authority
from tests.python.conftest import AsyncRecorder, Recorder, eventually
from tests.python.echo import EchoAsyncClient, EchoClient
from tests.python.serving import AnyServer, server_of

AUDIENCE = "demo.Echo"
NEVER = 3600.0
SIGNER = TokenSigner.generate()
OTHER = TokenSigner.generate()
seen: list[mf.Identity] = []


class Blocking(Recorder):
    def twice(self, x: int) -> int:
        seen.append(mf.current_call().identity)
        return 2 * x


class Awaiting(AsyncRecorder):
    async def twice(self, x: int) -> int:
        seen.append(mf.current_call().identity)
        return 2 * x


Kind = type[Blocking] | type[Awaiting]
KINDS = pytest.mark.parametrize("kind", [Blocking, Awaiting], ids=["blocking", "asyncio"])


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    file = tmp_path / "keys.pub"
    file.write_text(SIGNER.public_pem())
    seen.clear()
    return file


def token(signer: TokenSigner = SIGNER, audience: str = AUDIENCE, **claims: Any) -> mf.Secret:
    now = int(time.time())
    given = {"subject": "alice", "issued": now, "expires": now + 600, "issuer": "tests", **claims}
    return signer.sign(TokenClaims(audience=audience, **given))


@contextmanager
def serving(kind: Kind, listen: str, keys: Path, **options: Any) -> Iterator[AnyServer]:
    how = {
        "token_keys": str(keys),
        "token_audience": AUDIENCE,
        "drain_timeout": 0.3,
        "reload_interval": NEVER,
    }
    with server_of(kind(), listen, agent="a", **{**how, **options}) as server:
        yield server


@contextmanager
def over_tls(kind: Kind, authority: Authority, keys: Path, **options: Any) -> Iterator[AnyServer]:
    with serving(kind, "tls://127.0.0.1:0", keys, tls=authority.issue(), **options) as server:
        yield server


def refusal_of(server: AnyServer, authority: Authority, shown: mf.Secret | str) -> mf.Error:
    with (
        mf.Client(server.address, tls=authority.accepted, credential=shown) as client,
        pytest.raises(mf.Error) as refused,
    ):
        EchoClient(client).at("a").twice(1, options=mf.CallOptions(deadline=5.0))
    return refused.value


@KINDS
def test_a_valid_token_is_the_identity_of_its_subject(kind: Kind, authority: Authority, keys: Path) -> None:
    with over_tls(kind, authority, keys) as server:
        with mf.Client(server.address, tls=authority.accepted, credential=token()) as client:
            assert EchoClient(client).at("a").twice(1) == 2

        async def main() -> None:
            options = mf.ClientOptions(tls=authority.accepted, credential=token(subject="bob"))
            async with mf.AsyncClient(server.address, options) as client:
                assert await EchoAsyncClient(client).at("a").twice(1) == 2

        asyncio.run(main())
        with mf.Client(server.address, tls=authority.accepted) as client:
            assert EchoClient(client).at("a").twice(1) == 2
    kinds = mf.IdentityKind
    assert seen == [
        mf.Identity(kinds.TOKEN, "token:alice", "tests"),
        mf.Identity(kinds.TOKEN, "token:bob", "tests"),
        mf.Identity(),
    ]


def test_access_files_name_it(authority: Authority, keys: Path, tmp_path: Path) -> None:
    access = tmp_path / "access"
    access.write_text("allow token:alice call *\n")
    with over_tls(Blocking, authority, keys, access=str(access)) as server:
        with mf.Client(server.address, tls=authority.accepted, credential=token()) as client:
            assert EchoClient(client).at("a").twice(1) == 2
        assert refusal_of(server, authority, token(subject="eve")).code is Code.PERMISSION_DENIED


def jwt() -> mf.Secret:
    def part(value: bytes) -> str:
        return base64.urlsafe_b64encode(value).decode().rstrip("=")

    claims = {"sub": "alice", "aud": AUDIENCE, "exp": int(time.time()) + 600}
    header = part(b'{"alg":"none"}')
    return mf.Secret(f"{header}.{part(json.dumps(claims).encode())}.")


def altered() -> mf.Secret:
    text = token().reveal()
    at = len(text) // 2
    return mf.Secret(text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :])


HOUR = 3600
HOSTILE = {
    "altered": (altered, "signature"),
    "of another algorithm": (jwt, "no token of PASETO v4.public"),
    "of another version": (lambda: mf.Secret("v3" + token().reveal()[2:]), "no token of PASETO v4.public"),
    "cut": (lambda: mf.Secret(token().reveal()[:-9]), "key that is not known|base64url"),
    "of another key": (lambda: token(OTHER), "a key that is not known"),
    "for another service": (lambda: token(audience="demo.Other"), "for another service"),
    "an hour old": (lambda: token(issued=None, expires=int(time.time()) - HOUR), "has expired"),
    "of a clock an hour ahead": (lambda: token(issued=int(time.time()) + HOUR), "not valid before"),
    "not valid yet": (lambda: token(not_before=int(time.time()) + HOUR), "not valid before"),
    "with a star": (lambda: token(subject="*"), "no name"),
    "too long": (lambda: mf.Secret("v4.public." + "A" * 2038), "key|form|parts|base64url|short"),
}


@pytest.mark.parametrize("how", HOSTILE)
def test_a_token_that_is_not_valid_is_refused_and_never_printed(
    how: str, authority: Authority, keys: Path, caplog: pytest.LogCaptureFixture
) -> None:
    make, why = HOSTILE[how]
    shown = make()
    with over_tls(Blocking, authority, keys) as server:
        refused = refusal_of(server, authority, shown)
    assert refused.code is Code.UNAUTHENTICATED
    assert any(each in refused.message for each in why.split("|")), refused.message
    assert seen == []
    for part in (shown.reveal(), shown.reveal()[10:30]):
        assert part not in caplog.text + str(refused) + repr(refused)


def test_a_minute_of_difference_between_clocks_is_accepted(authority: Authority, keys: Path) -> None:
    now = int(time.time())
    for shown in (token(issued=now + 30), token(expires=now - 5)):
        with (
            over_tls(Blocking, authority, keys) as server,
            mf.Client(server.address, tls=authority.accepted, credential=shown) as client,
        ):
            assert EchoClient(client).at("a").twice(1) == 2


# Over connections that were not verified


def test_an_address_in_clear_beside_a_credential_is_an_error() -> None:
    for where in ("tcp://127.0.0.1:1", "relay://127.0.0.1:1"):
        with pytest.raises(ValueError, match="credential is given, and nothing is encrypted there"):
            mf.Client(where, credential=token())


class Listening:
    """A program that is no server, and keeps what is sent to it."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.socket.getsockname()[1]}"

    def received(self) -> bytes:
        self.socket.settimeout(20)
        with self.socket, self.socket.accept()[0] as connection:
            connection.settimeout(0.5)
            data = b""
            try:
                while more := connection.recv(65536):
                    data += more
            except TimeoutError:
                pass
            return data


def test_nothing_is_shown_to_a_server_that_a_resolver_names_in_clear() -> None:
    from mf.route.resolver import StaticResolver

    listening = Listening()
    shown = token()
    with mf.Client(StaticResolver([f"tcp://{listening.address}"]), credential=shown) as client:
        with pytest.raises(mf.Error):
            EchoClient(client).at("a").twice(1, options=mf.CallOptions(deadline=0.2))
        data = listening.received()
    assert data[:64].find(b"MFIDL") >= 0, "a HELLO has come"
    assert shown.reveal().encode() not in data


def test_a_server_refuses_a_token_that_comes_in_clear(keys: Path) -> None:
    with serving(Blocking, "tcp://127.0.0.1:0", keys) as server:
        host, _, port = server.address.removeprefix("tcp://").rpartition(":")
        session = ClientSession(Hello(nonce=b"n" * 16, credential=token()), bytearray(65536))
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(b"".join(session.take_output()))
            data = b""
            while more := connection.recv(65536):
                data += more
    assert b"a token is not accepted over a connection in clear" in data
    assert seen == []


def test_a_token_is_shown_at_a_trusted_path_of_this_host(tmp_path: Path, keys: Path) -> None:
    with (
        serving(Blocking, f"unix:{tmp_path}/server.sock", keys) as server,
        mf.Client(server.address, credential=token()) as client,
    ):
        assert EchoClient(client).at("a").twice(1) == 2
    assert [each.name for each in seen] == ["token:alice"]


# Files


def test_a_file_is_read_again_for_each_connection(authority: Authority, keys: Path, tmp_path: Path) -> None:
    file = tmp_path / "token"

    def write(shown: mf.Secret) -> None:
        file.write_text(shown.reveal() + "\n")
        file.chmod(0o600)

    write(token())
    tls = authority.accepted
    with (
        over_tls(Blocking, authority, keys) as server,
        mf.Client(server.address, tls=tls, credential=str(file)) as client,
    ):
        assert EchoClient(client).at("a").twice(1) == 2
        write(token(OTHER))
        assert EchoClient(client).at("a").twice(1) == 2, "its connection was made with the earlier one"
        assert refusal_of(server, authority, str(file)).code is Code.UNAUTHENTICATED
        file.chmod(0o644)
        with pytest.raises(ValueError, match="chmod 600 it"):
            mf.Client(server.address, tls=tls, credential=str(file))


@KINDS
def test_a_key_that_is_taken_out_ends_the_connections_of_its_tokens(
    kind: Kind, authority: Authority, keys: Path
) -> None:
    keys.write_text(SIGNER.public_pem() + OTHER.public_pem())
    tls = authority.accepted
    with (
        over_tls(kind, authority, keys) as server,
        mf.Client(server.address, tls=tls, credential=token()) as kept,
        mf.Client(server.address, tls=tls, credential=token(OTHER)) as lost,
    ):
        for client in (kept, lost):
            assert EchoClient(client).at("a").twice(1) == 2
        keys.write_text(SIGNER.public_pem())
        assert server.reload()
        assert eventually(lambda: server.stats().connections.open == 1)
        assert EchoClient(kept).at("a").twice(1) == 2
        keys.write_text("no key")
        assert not server.reload()
        assert EchoClient(kept).at("a").twice(1) == 2
        assert refusal_of(server, authority, token(OTHER)).code is Code.UNAUTHENTICATED


def test_a_connection_ends_with_its_token(authority: Authority, keys: Path) -> None:
    shown = token(issued=None, expires=int(time.time()) - 58)  # within the difference that clocks may have
    with (
        over_tls(Blocking, authority, keys, reload_interval=0.05) as server,
        mf.Client(server.address, tls=authority.accepted, credential=shown) as client,
    ):
        assert EchoClient(client).at("a").twice(1) == 2
        assert eventually(lambda: server.stats().connections.open == 0)


def test_keys_without_an_audience_are_refused(keys: Path) -> None:
    with pytest.raises(ValueError, match="belong together"):
        mf.ServerOptions(token_keys=str(keys))
    with pytest.raises(ValueError, match="no-such-file"):
        mf.Server(token_keys="no-such-file", token_audience=AUDIENCE)
