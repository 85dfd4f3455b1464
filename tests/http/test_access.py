"""Identities and rights at the HTTP door: certificates, tokens, access files, hosts and origins."""

import signal
import ssl
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from mf.tokens.claims import TokenClaims
from mf.tokens.keys import TokenSigner
from tests.http.asking import JSON, Answer, Door, all_of
from tests.http.conftest import door_of
from tests.interop.peers import BUILD, Server
from tests.mf_tools.conftest import Peers
from tests.python.certificates import Authority

SIGNER = TokenSigner.generate()
ACCESS = """\
allow token:alice        call shop.Shop.* per books
allow token:alice        call shop.Shop.find
allow token:alice        subscribe shop.Sales per books
allow dns:client.example call shop.Clock.*
allow anyone             call shop.Shop.area
"""


def token(audience: str = "mf.relay", **claims: Any) -> str:
    now = int(time.time())
    given = {"subject": "alice", "issued": now, "expires": now + 600, **claims}
    return SIGNER.sign(TokenClaims(audience=audience, **given)).reveal()


def bearer(shown: str | None = None) -> dict[str, str]:
    return {"Authorization": f"Bearer {token() if shown is None else shown}"}


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    folder = tmp_path_factory.mktemp("rules")
    (folder / "access").write_text(ACCESS)
    (folder / "access").chmod(0o600)
    (folder / "keys.pub").write_text(SIGNER.public_pem())
    return ("--access", str(folder / "access"), "--token-keys", str(folder / "keys.pub"))


@pytest.fixture(scope="module")
def relay(
    peers: Peers, controller: Server, shop: Server, authority: Authority, rules: tuple[str, ...]
) -> Server:
    del shop
    shown = authority.issue()
    tls = ("--certificate", shown.certificate, "--key", shown.key)
    return peers.relay(controller.address, *tls, *rules, "--http", "https://127.0.0.1:0")


@pytest.fixture(scope="module")
def guarded(relay: Server, authority: Authority) -> Door:
    """Takes tokens over TLS."""
    return Door(relay.line(), ssl.create_default_context(cafile=authority.file))


def refused(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.code


def test_a_token_gives_its_bearer_what_the_access_file_allows(guarded: Door) -> None:
    answer = guarded.call("shop.Shop.answer", {"question": "?"}, MF_Agent="books", **bearer())
    assert answer.json == {"text": "books: ?"}
    denied = guarded.call("shop.Shop.answer", {"question": "?"}, MF_Agent="maps", **bearer())
    assert refused(denied) == (403, "PERMISSION_DENIED")
    assert "token:alice may not call shop.Shop.answer" in denied.detail
    assert refused(guarded.call("shop.Shop.answer", {"question": "?"}, **bearer()))[0] == 403
    assert guarded.call("shop.Shop.find", {}, **bearer()).status == 200


def test_who_shows_nothing_is_asked_who_it_is_and_may_do_what_anyone_may(guarded: Door) -> None:
    asked = guarded.call("shop.Shop.find")
    assert refused(asked) == (401, "UNAUTHENTICATED")
    assert asked.headers["WWW-Authenticate"] == "Bearer"
    assert guarded.result("shop.Shop.area", {"size": {"width": 2, "height": 2, "kind": "map"}}) == 4.0


def test_what_is_denied_is_denied_before_it_is_known_whether_it_is_there(guarded: Door) -> None:
    for name in ("shop.Nothing.at_all", "shop.Shop.nothing"):
        assert refused(guarded.call(name)) == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    "shown",
    [
        "Bearer v4.public.nothing",
        "Basic YTpi",
        "Bearer",
        lambda: "Bearer " + token("another.service"),
        lambda: "Bearer " + token(issued=1, expires=2),
        lambda: "Bearer " + token()[:-2] + "AA",
    ],
)
def test_a_token_that_is_not_valid_is_refused_without_any_part_of_it(guarded: Door, shown: Any) -> None:
    text = shown() if callable(shown) else shown
    answer = guarded.call("shop.Shop.area", {"size": {}}, Authorization=text)
    assert refused(answer) == (401, "UNAUTHENTICATED")
    assert "v4.public" not in answer.detail


def test_two_tokens_in_one_request_are_refused(guarded: Door) -> None:
    head = "POST /v1/shop.Shop/find HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    twice = 2 * f"Authorization: Bearer {token()}\r\n"
    assert guarded.raw((head + twice + "Content-Length: 2\r\n\r\n{}").encode()).startswith(b"HTTP/1.1 400 ")


def test_a_websocket_shows_its_token_in_its_first_message(guarded: Door) -> None:
    with guarded.websocket("/v1/topics/shop.Sales") as socket:
        socket.send({"agents": "books", "token": token()})
        assert socket.next()["agent"] == "books"
    for opening in ({"agents": "*", "token": token()}, {"agents": "maps", "token": token()}, {}):
        with guarded.websocket("/v1/topics/shop.Sales") as socket:
            socket.send(opening)
            (last,) = socket.rest()
            assert last["problem"]["status"] == (403 if opening else 401)
    with guarded.websocket("/v1/shop.Shop/find", bearer("v4.public.nothing")) as socket:
        assert socket.refused is not None
        assert refused(socket.refused) == (401, "UNAUTHENTICATED")


def test_the_document_shows_only_what_its_reader_may_call(guarded: Door) -> None:
    asked = "/openapi.json?service=shop.Shop,shop.Clock"
    assert set(guarded.ask("GET", asked).json["paths"]) == {"/v1/shop.Shop/area"}
    mine = guarded.ask("GET", asked, headers=bearer()).json["paths"]
    assert set(mine) == {"/v1/shop.Shop/find", "/v1/shop.Shop/area"}


def test_a_token_in_clear_is_refused(
    peers: Peers, controller: Server, shop: Server, rules: tuple[str, ...]
) -> None:
    del shop
    door = door_of(peers.relay(controller.address, *rules, "--http", "http://127.0.0.1:0"))
    answer = door.call("shop.Shop.area", {}, **bearer())
    assert refused(answer) == (401, "UNAUTHENTICATED")
    assert "in clear" in answer.detail


def test_a_relay_without_keys_takes_no_tokens(door: Door) -> None:
    answer = door.call("shop.Shop.find", {}, **bearer())
    assert refused(answer) == (401, "UNAUTHENTICATED")
    assert "accepts no tokens" in answer.detail


def test_a_certificate_gives_its_holder_what_the_access_file_allows(
    peers: Peers, controller: Server, shop: Server, authority: Authority, rules: tuple[str, ...]
) -> None:
    del shop
    shown, mine = authority.issue(), authority.issue(names="DNS:client.example")
    given = ("--certificate", shown.certificate, "--key", shown.key, "--client-ca", authority.file)
    relay = peers.relay(controller.address, *given, *rules, "--http", "https://127.0.0.1:0")
    context = ssl.create_default_context(cafile=authority.file)
    address = relay.line()
    with pytest.raises((ssl.SSLError, ConnectionError)):
        Door(address, context).call("shop.Clock.now")
    context.load_cert_chain(mine.certificate, mine.key)
    door = Door(address, context)
    assert door.result("shop.Clock.now") == "2023-11-14T22:13:20Z"
    assert refused(door.call("shop.Shop.find")) == (403, "PERMISSION_DENIED")
    assert door.call("shop.Shop.find", {}, **bearer()).status == 200


def test_a_denied_call_is_logged_once(relay: Server, guarded: Door) -> None:
    head = b"POST /v1/shop.Clock/now HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    request = head + b"Content-Length: 2\r\n\r\n{}"
    with guarded.socket() as opened:
        for _ in range(2):
            opened.sendall(request)
            assert opened.recv(4096).startswith(b"HTTP/1.1 401 ")
    said = [line for line in relay.said().splitlines() if "call_denied" in line and "shop.Clock" in line]
    assert len(said) == 1
    assert "identity=none" in said[0]


# ---- hosts, origins and listening


def test_pages_of_other_sites_and_other_names_of_this_host_are_refused(door: Door) -> None:
    at = f"127.0.0.1:{door.port}"
    for host in ("evil.example", f"evil.example:{door.port}", "127.0.0.1.evil.example", ""):
        answer = door.ask("POST", "/v1/shop.Clock/now", "{}", JSON | {"Host": host})
        assert answer.status == (421 if host else 400), host
    assert door.ask("GET", "/", headers={"Host": "evil.example"}).status == 421
    for origin in ("https://evil.example", "null", f"https://{at}", "http://127.0.0.1:1"):
        answer = door.ask("POST", "/v1/shop.Clock/now", "{}", JSON | {"Origin": origin})
        assert refused(answer) == (403, "PERMISSION_DENIED"), origin
        assert "Access-Control-Allow-Origin" not in answer.headers
        assert door.ask("OPTIONS", "/v1/shop.Clock/now", headers={"Origin": origin}).status == 403
        with door.websocket("/v1/shop.Clock/now", {"Origin": origin}) as socket:
            assert socket.refused is not None
            assert socket.refused.status == 403
    own = door.ask("POST", "/v1/shop.Clock/now", "{}", JSON | {"Origin": f"http://{at}"})
    assert own.status == 200


def test_pages_of_an_origin_that_is_named_may_use_it(peers: Peers, controller: Server, shop: Server) -> None:
    del shop
    site = "https://app.example"
    options = ("--http", "http://127.0.0.1:0", "--http-origin", site)
    door = door_of(peers.relay(controller.address, *options))
    asked = {"Origin": site, "Access-Control-Request-Method": "POST"}
    before = door.ask("OPTIONS", "/v1/shop.Clock/now", headers=asked)
    assert (before.status, before.headers["Access-Control-Allow-Origin"]) == (204, site)
    assert "content-type" in before.headers["Access-Control-Allow-Headers"]
    answer = door.ask("POST", "/v1/shop.Clock/now", "{}", JSON | {"Origin": site})
    assert (answer.status, answer.headers["Access-Control-Allow-Origin"]) == (200, site)
    assert answer.headers["Vary"] == "Origin"
    assert door.ask("GET", "/", headers={"Origin": "https://app.example.evil.example"}).status == 403


def status_at(door: Door, host: str) -> int:
    return door.ask("POST", "/v1/shop.Clock/now", "{}", JSON | {"Host": host}).status


def test_beyond_loopback_only_addresses_and_given_names_are_hosts(
    peers: Peers, controller: Server, shop: Server
) -> None:
    """So that no page can reach it by a name of its own."""
    del shop
    options = ("--open", "--http", "http://0.0.0.0:0", "--http-name", "door.example")
    door = door_of(peers.relay(controller.address, *options))
    for host in ("door.example", "DOOR.example:80", "10.0.0.7", "[fd00::1]:8080", "localhost:1"):
        assert status_at(door, host) == 200, host
    for host in ("evil.example", "door.example.evil.example", "evil.example:80"):
        assert status_at(door, host) == 421, host
    answer = door.ask("GET", "/", headers={"Host": "evil.example"})
    assert "--http-name" in answer.detail
    with door.websocket("/v1/shop.Clock/now", {"Host": "evil.example"}) as socket:
        assert socket.refused is not None
        assert socket.refused.status == 421


def test_at_loopback_a_given_name_is_taken_beside_localhost(
    peers: Peers, controller: Server, shop: Server
) -> None:
    del shop
    options = ("--http", "http://127.0.0.1:0", "--http-name", "door.example")
    door = door_of(peers.relay(controller.address, *options))
    assert [status_at(door, host) for host in ("door.example", "localhost", "10.0.0.7")] == [200, 200, 421]


def test_over_tls_the_certificate_says_who_the_door_is(
    peers: Peers, controller: Server, shop: Server, authority: Authority, rules: tuple[str, ...]
) -> None:
    del shop
    shown = authority.issue()
    given = ("--certificate", shown.certificate, "--key", shown.key, *rules, "--http", "https://0.0.0.0:0")
    context = ssl.create_default_context(cafile=authority.file)
    context.check_hostname = False
    free = Door(peers.relay(controller.address, *given).line(), context)
    named = Door(peers.relay(controller.address, *given, "--http-name", "door.example").line(), context)
    assert status_at(free, "any.example") == 401  # of the call, which shows no token
    assert [status_at(named, host) for host in ("door.example", "any.example")] == [401, 421]


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--http", "http://0.0.0.0:0"), "every program that reaches it"),
        (("--http", "ftp://127.0.0.1:0"), "http://HOST:PORT"),
        (("--http", "http://127.0.0.1"), "port"),
        (("--http", "http://127.0.0.1:70000"), "port"),
        (("--http", "http://host.example:80"), "IP address"),
        (("--http", "https://127.0.0.1:0"), "certificate"),
        (("--http", "http://127.0.0.1:0", "--http-name", "door.example:80"), "neither a port"),
        (("--http", "http://127.0.0.1:0", "--http-name", "http://door.example"), "neither a port"),
        (("--http", "http://127.0.0.1:0", "--http-origin", "app.example"), "no origin"),
        (("--http", "http://127.0.0.1:0", "--http-origin", "https://app.example/page"), "no origin"),
    ],
)
def test_a_door_that_would_be_open_or_cannot_be_opened_is_refused_in_words(
    tmp_path: Path, controller: Server, options: tuple[str, ...], word: str
) -> None:
    command = [str(BUILD / "mf-relay"), "--listen", "tcp://127.0.0.1:0", "--controller", controller.address]
    done = subprocess.run(
        [*command, *options], capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert word in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_subscription_ends_when_it_is_not_allowed_any_more(
    peers: Peers, controller: Server, shop: Server, tmp_path: Path
) -> None:
    del shop
    access = tmp_path / "access"
    access.write_text("allow anyone subscribe shop.Sales\nallow anyone call shop.Clock.*\n")
    access.chmod(0o600)
    relay = peers.relay(controller.address, "--http", "http://127.0.0.1:0", "--access", str(access))
    door = door_of(relay)
    with door.websocket("/v1/topics/shop.Sales") as talking, door.socket() as listening:
        talking.send({})
        assert talking.next()["agent"] == "books"
        listening.sendall(b"GET /v1/topics/shop.Sales HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert listening.recv(64).startswith(b"HTTP/1.1 200 OK\r\n")
        (tmp_path / "next").write_text("allow anyone call shop.Clock.*\n")
        (tmp_path / "next").chmod(0o600)
        (tmp_path / "next").rename(access)
        relay.signal(signal.SIGHUP)
        (last,) = talking.rest()
        assert (last["problem"]["status"], last["problem"]["code"]) == (401, "UNAUTHENTICATED")
        assert not all_of(listening).endswith(b"0\r\n\r\n")
    assert door.call("shop.Clock.now").status == 200


def test_what_is_open_ends_when_the_certificate_of_its_client_is_revoked(
    peers: Peers, controller: Server, shop: Server, tmp_path: Path
) -> None:
    del shop
    authority = Authority(tmp_path)
    shown, mine = authority.issue(), authority.issue(names="DNS:client.example")
    revoked = authority.revoke()
    (tmp_path / "access").write_text("allow dns:client.example subscribe shop.Sales\n")
    (tmp_path / "access").chmod(0o600)
    given = ("--certificate", shown.certificate, "--key", shown.key, "--client-ca", authority.file)
    options = (*given, "--client-crl", revoked, "--access", str(tmp_path / "access"))
    relay = peers.relay(controller.address, *options, "--http", "https://127.0.0.1:0")
    context = ssl.create_default_context(cafile=authority.file)
    context.load_cert_chain(mine.certificate, mine.key)
    door = Door(relay.line(), context)
    with door.websocket("/v1/topics/shop.Sales") as talking, door.socket() as listening:
        talking.send({})
        assert talking.next()["agent"] == "books"
        listening.sendall(b"GET /v1/topics/shop.Sales HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert listening.recv(64).startswith(b"HTTP/1.1 200 OK\r\n")
        authority.revoke(mine)
        relay.signal(signal.SIGHUP)
        (last,) = talking.rest()
        assert (last["problem"]["status"], last["problem"]["code"]) == (401, "UNAUTHENTICATED")
        assert "certificate" in last["problem"]["detail"]
        assert not all_of(listening).endswith(b"0\r\n\r\n")


def test_what_is_open_ends_when_the_token_of_its_client_is_not_accepted_any_more(
    peers: Peers, controller: Server, shop: Server, authority: Authority, tmp_path: Path
) -> None:
    del shop
    shown = authority.issue()
    (tmp_path / "keys.pub").write_text(SIGNER.public_pem())
    (tmp_path / "access").write_text("allow token:alice subscribe shop.Sales\n")
    (tmp_path / "access").chmod(0o600)
    tls = ("--certificate", shown.certificate, "--key", shown.key)
    rules = ("--access", str(tmp_path / "access"), "--token-keys", str(tmp_path / "keys.pub"))
    relay = peers.relay(controller.address, *tls, *rules, "--http", "https://127.0.0.1:0")
    door = Door(relay.line(), ssl.create_default_context(cafile=authority.file))
    with door.websocket("/v1/topics/shop.Sales") as talking:
        talking.send({"token": token()})
        assert talking.next()["agent"] == "books"
        (tmp_path / "next").write_text(TokenSigner.generate().public_pem())
        (tmp_path / "next").rename(tmp_path / "keys.pub")
        relay.signal(signal.SIGHUP)
        (last,) = talking.rest()
        assert (last["problem"]["status"], last["problem"]["code"]) == (401, "UNAUTHENTICATED")
        assert "token" in last["problem"]["detail"]
