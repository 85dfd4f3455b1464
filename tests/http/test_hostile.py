"""Requests against the protocol and beyond the limits of the HTTP door: each is refused, and others go on."""

import select
import socket
import time
from collections.abc import Iterator

import pytest

from tests.http.asking import JSON, PATIENCE, Door, all_of
from tests.http.bad_requests import BROKEN, HEAD, altered, check_altered, check_trickle_is_ended
from tests.http.conftest import door_of
from tests.interop.peers import Server
from tests.mf_tools.conftest import Peers

NOW = "2023-11-14T22:13:20Z"
MOST = 4096


@pytest.fixture(scope="module")
def small(peers: Peers, controller: Server, shop: Server) -> Door:
    """A door with small limits."""
    del shop
    limits = ("--http-max-body", str(MOST), "--http-connections", "8", "--http-timeout", "250")
    return door_of(peers.relay(controller.address, "--http", "http://127.0.0.1:0", *limits))


@pytest.fixture(autouse=True)
def goes_on(door: Door) -> Iterator[None]:
    yield
    assert door.result("shop.Clock.now") == NOW


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_request_is_refused_and_ends_the_connection(door: Door, name: str) -> None:
    sent, status = BROKEN[name]
    answered = door.raw(sent)
    assert answered.startswith(b"HTTP/1.1 %d " % status), answered
    assert answered.count(b"HTTP/1.1 ") == 1
    assert b"Connection: close\r\n" in answered
    assert b"application/problem+json" in answered


@pytest.mark.parametrize("at", [-2, -1, 0, 1, 2])
def test_a_folded_field_is_seen_wherever_a_segment_ends(door: Door, at: int) -> None:
    sent = HEAD + b"A: b\r\n c\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"
    cut = sent.index(b"\r\n c") + 2 + at
    with door.socket() as opened:
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        opened.sendall(sent[:cut])
        time.sleep(0.05)  # so that the door reads the parts one by one
        opened.sendall(sent[cut:])
        assert all_of(opened).startswith(b"HTTP/1.1 400 ")


UPGRADE = (
    b"GET /v1/shop.Shop/shout HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
)
KEY = b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"


@pytest.mark.parametrize(
    "rest",
    [
        b"Sec-WebSocket-Version: 13\r\n\r\n",
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n\r\n",
        KEY.replace(b"dGhl", b"!!!!") + b"\r\n",
        KEY + b"Content-Length: 5\r\n\r\nhello",
    ],
)
def test_a_websocket_that_begins_wrong_is_a_problem(door: Door, rest: bytes) -> None:
    with door.socket() as opened:
        opened.sendall(UPGRADE + rest)
        opened.shutdown(socket.SHUT_WR)
        answered = all_of(opened)
    assert answered.startswith(b"HTTP/1.1 400 ")
    assert b"Sec-WebSocket-Key" in answered


def test_a_websocket_does_not_name_the_library_under_it(door: Door) -> None:
    with door.socket() as opened:
        opened.sendall(UPGRADE + KEY + b"\r\n")
        answered = opened.recv(4096)
    assert answered.startswith(b"HTTP/1.1 101 ")
    assert b"Server: mf\r\n" in answered


def test_a_websocket_whose_client_sends_pings_and_reads_nothing_is_held_back(door: Door) -> None:
    """What waits for it is bounded, and so is what the door reads of it."""
    ping = b"\x89\xfd" + bytes(4) + bytes(125)
    with door.socket() as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        opened.sendall(UPGRADE + KEY + b"\r\n")
        assert opened.recv(4096).startswith(b"HTTP/1.1 101 ")
        opened.settimeout(1)
        sent = 0
        try:
            while sent < 64 << 20:
                sent += opened.send(ping * 500)
        except TimeoutError:
            pass
    assert sent < 64 << 20


def test_garbage_behind_a_request_is_refused_after_its_answer(door: Door) -> None:
    answered = door.raw(HEAD + b"Content-Length: 2\r\n\r\n{}" + b"garbage\r\n\r\n")
    first, second = answered.split(b"HTTP/1.1 ")[1:]
    assert first.startswith(b"200 ")
    assert first.endswith(NOW.encode() + b'"')
    assert second.startswith(b"400 ")


def test_a_request_within_the_body_of_another_is_not_served(door: Door) -> None:
    smuggled = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answered = door.raw(HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(smuggled) + smuggled)
    assert answered.count(b"HTTP/1.1 ") == 1
    assert answered.startswith(b"HTTP/1.1 400 ")


def test_a_body_beyond_the_limit_is_refused_however_it_comes(small: Door) -> None:
    body = b'{"word": "' + b"a" * MOST + b'"}'
    whole = small.ask("POST", "/v1/shop.Shop/find", body, JSON)
    assert (whole.status, whole.code) == (413, "MESSAGE_TOO_LARGE")
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    assert small.raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunks).startswith(b"HTTP/1.1 413 ")
    fits = b'{"word": "' + b"a" * (MOST - 12) + b'"}'
    assert small.ask("POST", "/v1/shop.Shop/find", fits, JSON).status == 200


SLOW: dict[str, bytes] = {
    "nothing at all": b"",
    "a part of the first line": b"GET / HT",
    "fields one by one": b"GET / HTTP/1.1\r\nHost: localhost\r\n",
    "a part of a body": HEAD + b"Content-Length: 10\r\n\r\n{",
    "a part of a chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\na\r\n{",
}


@pytest.mark.parametrize("name", SLOW)
def test_a_request_that_never_ends_ends_its_connection(small: Door, name: str) -> None:
    with small.socket() as opened:
        opened.sendall(SLOW[name])
        assert all_of(opened) == b""


def test_bytes_that_trickle_do_not_keep_a_connection(small: Door) -> None:
    with small.socket() as opened:
        check_trickle_is_ended(opened, 0.01)


def test_a_websocket_that_says_nothing_is_ended(small: Door) -> None:
    with small.websocket("/v1/shop.Shop/shout") as socket:
        assert socket.close_code() is None


@pytest.fixture
def narrow(peers: Peers, controller: Server, shop: Server) -> Door:
    """For eight connections."""
    del shop
    return door_of(peers.relay(controller.address, "--http", "http://127.0.0.1:0", "--http-connections", "8"))


def test_connections_beyond_the_limit_are_closed_and_those_that_are_answered_go_on(narrow: Door) -> None:
    request = HEAD + b"Content-Length: 2\r\n\r\n{}"
    endless = HEAD.replace(b"Clock/now", b"Shop/count") + b'Content-Length: 18\r\n\r\n{"to": 4000000000}'
    opened = [narrow.socket() for _ in range(8)]
    try:
        for each in opened:
            each.sendall(endless)
            assert each.recv(4096).startswith(b"HTTP/1.1 200 ")
        with narrow.socket() as late:
            assert all_of(late) == b""
        assert all(each.recv(4096) for each in opened)
        opened.pop().close()
        for _ in range(1000):
            with narrow.socket() as next_one:
                try:
                    next_one.sendall(request)
                    answered = next_one.recv(4096)
                except ConnectionError:
                    continue
            if answered:
                assert answered.startswith(b"HTTP/1.1 200 ")
                return
        pytest.fail("the place was not given to another")
    finally:
        for each in opened:
            each.close()


def test_silent_connections_keep_no_client_out(narrow: Door) -> None:
    kept = narrow.socket()
    request = HEAD + b"Content-Length: 2\r\n\r\n{}"
    kept.sendall(request)
    assert kept.recv(4096).startswith(b"HTTP/1.1 200 ")
    silent = [narrow.socket() for _ in range(20)]
    try:
        for _ in range(10):
            assert narrow.ask("POST", "/v1/shop.Clock/now", b"{}", JSON).status == 200
        kept.sendall(request)
        assert kept.recv(4096).startswith(b"HTTP/1.1 200 ")
        assert silent[0].recv(1) == b""  # the oldest was ended
    finally:
        for each in (kept, *silent):
            each.close()


def test_a_client_that_reads_no_answers_is_ended(small: Door) -> None:
    """Its answers are more than sockets keep."""
    body = b"[" + b",".join([b"{}"] * 1000) + b"]"
    asked = 60
    head = HEAD.replace(b"Clock/now", b"Shop/find") + b"Content-Length: %d\r\n\r\n" % len(body)
    with small.socket() as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        opened.sendall(asked * (head + body))
        ended = select.poll()
        ended.register(opened, select.POLLRDHUP)
        assert ended.poll(1000 * PATIENCE)
        assert all_of(opened).count(b"HTTP/1.1 200 OK\r\n") < asked


def test_requests_that_are_altered_at_random_are_answered_or_refused(door: Door) -> None:
    for sent in altered(HEAD + b"Content-Length: 2\r\n\r\n{}", 400):
        check_altered(door, sent)


def test_a_question_for_fields_alone_has_no_body(door: Door) -> None:
    answered = door.raw(b"HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    head, _, body = answered.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 405 ")
    assert body == b""


def test_upgrades_hold_nothing_of_what_bodies_may(door: Door) -> None:
    asked = (
        b"GET /v1/no.Such/thing HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
    )
    for _ in range(300):
        with door.socket() as stream:
            stream.sendall(asked + b"Transfer-Encoding: chunked\r\n\r\n")
            stream.sendall(b"0\r\n\r\n")
            stream.recv(4096)
    body = b"Content-Length: 2\r\n\r\n"
    with door.socket() as stream:
        stream.sendall(HEAD + body)
        time.sleep(0.05)  # so that the body comes after its head
        stream.sendall(b"{}")
        assert stream.recv(4096).startswith(b"HTTP/1.1 200 ")


def test_a_page_of_another_site_is_refused_without_an_origin_too(door: Door) -> None:
    for site in (b"cross-site", b"same-site"):
        asked = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: " + site
        assert door.raw(asked + b"\r\nConnection: close\r\n\r\n").startswith(b"HTTP/1.1 403 ")
    asked = b"GET / HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\nConnection: close\r\n\r\n"
    assert door.raw(asked).startswith(b"HTTP/1.1 200 ")  # a link leads to the page


def test_the_administration_of_servers_is_not_behind_the_door(door: Door) -> None:
    asked = (
        HEAD.replace(b"shop.Clock/now", b"mf.admin.Admin/drain")
        + b"Content-Length: 2\r\nConnection: close\r\n\r\n{}"
    )
    answered = door.raw(asked)
    assert answered.startswith(b"HTTP/1.1 403 ")
    assert b"mf.admin.Admin is not called through this door" in answered
