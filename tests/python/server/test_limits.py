"""What a server bounds: unread replies, half-sent messages, connections, calls that are given up
(docs/limits.md). The same as tests/cpp/server/limits_test.cpp."""

import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import pytest

import mf
from mf.core.service import ServiceInfo
from mf.protocol import frame
from mf.protocol.handshake import Hello, pack_bind
from mf.server import async_io, io, server_io
from mf.server.stream import OUTPUT_LIMIT
from tests.python.conftest import AsyncRecorder, Recorder, eventually
from tests.python.echo import ECHO_SERVICE
from tests.python.serving import server_of

HELLO = frame.pack(frame.HELLO, Hello(nonce=bytes(16), client_id=1).pack())
METHODS = ("twice", "echo", "sleep", "note", "flaky")
BIND = frame.pack(frame.BIND, pack_bind(ECHO_SERVICE.fingerprint, "demo.Echo", "a", METHODS))
KINDS = [Recorder, AsyncRecorder]


@contextmanager
def serving(kind: Any, **options: Any) -> Iterator[Any]:
    with server_of(kind(), agent="a", grace=0.5, **options) as server:
        yield server


def port_of(server: Any) -> int:
    return int(server.address.rpartition(":")[2])


def connected(server: Any) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port_of(server)), timeout=20)


def read_until(peer: socket.socket, wanted: bytes) -> bytes:
    """What came, until `wanted` is in it."""
    got = b""
    while wanted not in got:
        piece = peer.recv(1 << 16)
        assert piece, got[-200:]
        got += piece
    return got


def read_to_end(peer: socket.socket) -> bytes:
    got = b""
    try:
        while piece := peer.recv(1 << 16):
            got += piece
    except ConnectionResetError:
        pass
    return got


@pytest.mark.parametrize("kind", KINDS)
def test_one_connection_too_many_is_refused_in_words_and_logged_once(
    kind: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(kind, max_connections=2) as server, connected(server) as first, connected(server) as second:
        for peer in (first, second):
            peer.sendall(HELLO)
            assert peer.recv(16)
        for _ in range(20):
            with connected(server) as third:
                assert b"2 connections, the most" in read_to_end(third)
        stats = server.stats().connections
        assert (stats.open, stats.accepted, stats.refused, stats.handshakes) == (2, 2, 20, 0)
        assert caplog.text.count("the most that it takes") == 1
        first.close()
        assert eventually(lambda: server.stats().connections.open == 1)
        with connected(server) as again:
            again.sendall(HELLO + BIND)
            read_until(again, frame.pack(frame.BOUND))


@pytest.mark.parametrize("kind", KINDS)
def test_of_too_many_that_do_not_speak_the_oldest_is_ended(
    kind: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(kind, max_handshakes=2) as server, connected(server) as first:
        assert eventually(lambda: server.stats().connections.handshakes == 1)
        with connected(server) as second, connected(server) as third:
            third.sendall(HELLO)
            assert third.recv(16)
            assert read_to_end(first) == b""
            second.sendall(HELLO)
            assert second.recv(16)
        assert server.stats().connections.cut_handshakes == 1
    assert caplog.text.count("this one for the longest") == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_that_does_not_end_is_not_waited_for(
    kind: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for module in (server_io, io, async_io):
        monkeypatch.setattr(module, "PROGRESS_TIMEOUT", 0.2)
    with serving(kind) as server, connected(server) as slow, connected(server) as idle:
        idle.sendall(HELLO + BIND)
        read_until(idle, frame.pack(frame.BOUND))
        slow.sendall(HELLO + BIND)
        read_until(slow, frame.pack(frame.BOUND))
        slow.settimeout(0.02)
        announced = struct.pack("<IBBHIHH", 1 << 20, frame.REQUEST, 1, 1, 1, 0, 1) + bytes(100)

        def is_over() -> bool:
            try:
                return slow.recv(1) == b""
            except TimeoutError:
                return False
            except OSError:
                return True

        for at in range(len(announced)):
            try:
                slow.sendall(announced[at : at + 1])
            except OSError:
                break
            if is_over():
                break
        else:
            pytest.fail("one byte now and then went on for ever")
        assert "does not end the frame" in caplog.text
        assert server.stats().connections.cut_progress == 1
        idle.sendall(frame.pack(frame.PING, bytes(8)))  # who owes nothing may be silent
        read_until(idle, frame.pack(frame.PONG, bytes(8)))


class Much(mf.Servant):
    """Answers with much."""

    mf_service: ClassVar[ServiceInfo] = ECHO_SERVICE

    def __init__(self) -> None:
        self.ran = 0

    def twice(self, x: int) -> int:  # noqa: ARG002
        self.ran += 1
        return 1

    def echo(self, data: bytes) -> bytes:  # noqa: ARG002
        self.ran += 1
        return bytes(512 << 10)


class AsyncMuch(mf.AsyncServant):
    mf_service: ClassVar[ServiceInfo] = ECHO_SERVICE

    def __init__(self) -> None:
        self.ran = 0

    async def echo(self, data: bytes) -> bytes:  # noqa: ARG002
        self.ran += 1
        return bytes(512 << 10)


@pytest.mark.parametrize("kind", [Much, AsyncMuch])
@pytest.mark.parametrize("inline", [False, True])
def test_no_request_begins_while_replies_are_not_read(kind: Any, inline: bool) -> None:
    if kind is AsyncMuch and inline:
        pytest.skip("its handlers are tasks")
    servant = kind()
    every = 400
    server: Any = server_of(servant, agent="b", grace=0.5)
    server.offer(servant, "a", **({"inline": True} if inline else {}))
    with server, connected(server) as peer:
        peer.sendall(HELLO + BIND)
        read_until(peer, frame.pack(frame.BOUND))
        request = [
            frame.pack(frame.REQUEST, bytes(4), flags=2, route=1, id_=id_, count=1)
            for id_ in range(1, every + 1)
        ]
        peer.sendall(b"".join(request))
        assert eventually(lambda: server.stats().connections.held_bytes > OUTPUT_LIMIT // 2)
        time.sleep(0.2)
        assert servant.ran < 60  # 8 MiB, and what the sockets hold
        size = 24 + (512 << 10)
        left = every * ((size + 7) & ~7) - 1000
        while left > 0:
            piece = peer.recv(1 << 20)
            assert piece
            left -= len(piece)
        assert eventually(lambda: servant.ran == every)


def test_a_call_that_is_given_up_counts_until_its_turn_comes() -> None:
    servant = Recorder()
    servant.act = lambda x: (servant.release.wait(20), x)[1]
    with (
        server_of(servant, agent="a", workers=1, max_in_flight=8, grace=0.5) as server,
        connected(server) as peer,
    ):
        peer.sendall(HELLO + BIND)
        read_until(peer, frame.pack(frame.BOUND))
        number = struct.pack("<i", 1)
        peer.sendall(frame.pack(frame.REQUEST, number, flags=1, route=4, id_=1, count=1))
        assert eventually(lambda: server.stats().executed == 1)
        every = 40
        codes: list[int] = []
        for id_ in range(2, every + 2):  # one after the other, so that each CANCEL is seen before the next
            request = frame.pack(frame.REQUEST, number, flags=1, route=4, id_=id_, count=1)
            peer.sendall(request + frame.pack(frame.CANCEL, id_=id_))
            head = peer.recv(16, socket.MSG_WAITALL)
            (size,) = struct.unpack_from("<I", head)
            peer.recv(((size + 7) & ~7) - 16, socket.MSG_WAITALL)
            codes.append(struct.unpack_from("<H", head, 12)[0])
        assert codes.count(mf.Code.CANCELLED) == 7
        assert codes.count(mf.Code.OVERLOADED) == every - 7
        servant.release.set()
        assert eventually(lambda: server.stats().connections.calls == 0)
        assert server.stats().executed == 1
