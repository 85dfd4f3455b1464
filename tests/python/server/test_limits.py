"""The limits of a server: unread replies, incomplete messages, connections, cancelled calls (docs/limits.md).
The same as tests/cpp/server/limits_test.cpp."""

import asyncio
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import pytest

import mf
from mf.core.service import ServiceInfo
from mf.protocol import frame
from mf.protocol.handshake import Hello, pack_bind
from mf.server import connection, server_io, stream
from mf.server.stream import OUTPUT_LIMIT
from tests.python.conftest import AsyncRecorder, Recorder, eventually
from tests.python.echo import ECHO_SERVICE, EchoClient, Number
from tests.python.serving import server_of

HELLO = frame.pack(frame.HELLO, Hello(nonce=bytes(16), client_id=1).pack())
METHODS = ("twice", "echo", "sleep", "note", "flaky")
BIND = frame.pack(frame.BIND, pack_bind(ECHO_SERVICE.fingerprint, "demo.Echo", "a", METHODS))
KINDS = [Recorder, AsyncRecorder]


@contextmanager
def serving(kind: Any, **options: Any) -> Iterator[Any]:
    with server_of(kind(), agent="a", drain_timeout=0.5, **options) as server:
        yield server


def port_of(server: Any) -> int:
    return int(server.address.rpartition(":")[2])


def connected(server: Any) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port_of(server)), timeout=20)


def read_until(peer: socket.socket, wanted: bytes) -> bytes:
    """The received bytes, until `wanted` is among them."""
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
    monkeypatch.setattr(server_io, "PROGRESS_TIMEOUT", 0.2)
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
        idle.sendall(frame.pack(frame.PING, bytes(8)))  # a client without pending work may be silent
        read_until(idle, frame.pack(frame.PONG, bytes(8)))


class Much(mf.Servant):
    """Answers with large replies."""

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
    server: Any = server_of(servant, agent="b", drain_timeout=0.5)
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
        assert servant.ran < 60  # 8 MiB, and the capacity of the sockets
        size = 24 + (512 << 10)
        left = every * ((size + 7) & ~7) - 1000
        while left > 0:
            piece = peer.recv(1 << 20)
            assert piece
            left -= len(piece)
        assert eventually(lambda: servant.ran == every)


HELD_AFTER = 9


class Big(mf.Servant):
    """`echo` answers with `size` bytes, nearly 1 MiB: nine such replies are the first that are more than
    OUTPUT_LIMIT, whatever a socket holds of them. `twice` waits for a permit if its number is negative."""

    mf_service: ClassVar[ServiceInfo] = ECHO_SERVICE

    def __init__(self) -> None:
        self.echoed = 0
        self.size = (1 << 20) - 1000
        self.permits = threading.Semaphore(0)

    def twice(self, x: int) -> int:
        if x < 0:
            self.permits.acquire(timeout=20)
        return 2 * x

    def echo(self, data: bytes) -> bytes:  # noqa: ARG002
        self.echoed += 1
        return bytes(self.size)


class AsyncBig(mf.AsyncServant):
    mf_service: ClassVar[ServiceInfo] = ECHO_SERVICE

    def __init__(self) -> None:
        self.echoed = 0
        self.size = (1 << 20) - 1000
        self.permits = threading.Semaphore(0)

    async def twice(self, x: int) -> int:
        while x < 0 and not self.permits.acquire(blocking=False):
            await asyncio.sleep(0.001)
        return 2 * x

    async def echo(self, data: bytes) -> bytes:  # noqa: ARG002
        self.echoed += 1
        return bytes(self.size)


def echoes(ids: range, *, deadline: float = mf.INFINITE) -> bytes:
    word = frame.pack_deadline(deadline)
    fields = {"flags": 2, "route": 1, "word": word, "count": 1}
    return b"".join(frame.pack(frame.REQUEST, bytes(4), id_=id_, **fields) for id_ in ids)


class SlowReader:
    """Requests big replies, and reads them when the test says so."""

    def __init__(self, server: Any) -> None:
        self.socket, theirs = socket.socketpair()
        self.socket.settimeout(20)
        server.adopt(theirs)
        self.socket.sendall(HELLO + BIND)
        read_until(self.socket, frame.pack(frame.BOUND))
        self._reader = self.socket.makefile("rb")

    def ask(self, *requests: bytes) -> None:
        """All of it is sent at once."""
        self.socket.sendall(b"".join(requests))

    def replies(self, count: int) -> dict[int, int]:
        """This many replies: the status of each by its id."""
        found: dict[int, int] = {}
        for _ in range(count):
            size, type_, _, _, id_, word, _ = frame.HEADER.unpack(self._reader.read(16))
            self._reader.read(((size + 7) & ~7) - 16)
            assert type_ == frame.REPLY
            assert id_ not in found
            found[id_] = word
        return found

    def close(self) -> None:
        self._reader.close()
        self.socket.close()


@pytest.fixture(params=[Big, AsyncBig], ids=["plain", "async"])
def big(request: pytest.FixtureRequest) -> Iterator[Callable[..., tuple[Any, Any, SlowReader, EchoClient]]]:
    """A server whose calls have their turns in the order of arrival; a client that does not read; one that
    does."""
    open_: list[Any] = []

    def start(**options: Any) -> tuple[Any, Any, SlowReader, EchoClient]:
        servant = request.param()
        server = server_of(servant, agent="a", workers=1, drain_timeout=1.0, **options)
        server.start()
        client = mf.Client(server.address)
        slow = SlowReader(server)
        open_.extend((slow, client))
        open_.append(server)
        return servant, server, slow, EchoClient(client).at("a")

    yield start
    for each in open_:
        each.stop() if hasattr(each, "stop") else each.close()


Start = Callable[..., tuple[Any, Any, SlowReader, EchoClient]]


@contextmanager
def all_wait(servant: Any, server: Any, other: EchoClient, count: int) -> Iterator[None]:
    """The only worker, or the first slot, is occupied until the `count` calls of the block have been read."""
    first = threading.Thread(target=other.twice, args=(-1,))
    first.start()
    assert eventually(lambda: server.stats().executed == 1)
    yield
    # Tasks of a loop do not wait for each other, but for the end of the turn that has read them.
    assert eventually(lambda: server.stats().connections.calls == count + 1 or servant.echoed == HELD_AFTER)
    servant.permits.release(1)
    first.join(20)


ONE_BY_ONE = mf.Limit(1, queued=100)
ALL_AT_ONCE = mf.Limit(100)


@pytest.mark.parametrize(
    "options",
    [{}, {"limit": ONE_BY_ONE}, {"limits": {"echo": ONE_BY_ONE}}, {"limit": ALL_AT_ONCE}],
    ids=["no limit", "of the server", "of the method", "wide"],
)
def test_who_does_not_read_keeps_neither_replies_nor_slots_whatever_the_limit(
    big: Start, options: dict[str, Any]
) -> None:
    servant, server, slow, other = big(**options)
    with all_wait(servant, server, other, 40):
        slow.ask(echoes(range(1, 41)))
    assert eventually(lambda: servant.echoed == HELD_AFTER)

    # Requests of another caller may be answered where they are read, so those that are held may still be on
    # their way through the queue of a limit.
    assert eventually(lambda: (server.stats().running, server.stats().waiting) == (0, 0))
    answers = [other.twice(x) for x in range(20)]
    stats = server.stats()
    held = (servant.echoed, stats.running, stats.waiting)

    assert answers == [2 * x for x in range(20)]
    assert held == (HELD_AFTER, 0, 0)
    assert stats.connections.held_bytes < OUTPUT_LIMIT + (1 << 20) + 4096
    assert slow.replies(40) == dict.fromkeys(range(1, 41), 0)
    assert servant.echoed == 40
    assert (server.stats().refused, server.stats().expired) == (0, 0)
    assert eventually(lambda: server.stats().connections.calls == 0)


@pytest.mark.parametrize("limit", [None, ALL_AT_ONCE])
def test_a_call_whose_deadline_passes_while_replies_are_not_read_is_never_run(
    big: Start, limit: mf.Limit | None
) -> None:
    servant, server, slow, other = big(limit=limit)
    with all_wait(servant, server, other, 19):
        slow.ask(echoes(range(1, 10)), echoes(range(10, 15), deadline=0.2), echoes(range(15, 20)))
    assert eventually(lambda: servant.echoed == HELD_AFTER)
    assert other.twice(1) == 2
    time.sleep(0.25)

    statuses = slow.replies(19)

    late = range(10, 15)
    assert statuses == {id_: mf.Code.DEADLINE_EXCEEDED if id_ in late else 0 for id_ in range(1, 20)}
    assert (servant.echoed, server.stats().expired) == (14, 5)


def test_a_call_that_was_held_asks_its_limit_again(big: Start) -> None:
    servant, server, slow, other = big(limit=mf.Limit(20, queued=3))
    with all_wait(servant, server, other, 20):
        slow.ask(echoes(range(1, 21)))
    assert eventually(lambda: servant.echoed == HELD_AFTER)
    assert other.twice(1) == 2
    batch = other.twice_batch([Number(-1)] * 20, options=mf.BatchOptions(size=1, window=20))
    waiting = threading.Thread(target=batch.results)
    waiting.start()
    assert eventually(lambda: server.stats().running == 20)

    statuses = slow.replies(17)  # nine that ran, and all but three of the others
    stats = server.stats()
    servant.permits.release(20)
    statuses |= slow.replies(3)
    waiting.join(20)

    assert statuses == {id_: mf.Code.OVERLOADED if id_ in range(13, 21) else 0 for id_ in range(1, 21)}
    assert (stats.running, stats.waiting, stats.refused) == (20, 3, 8)
    assert [outcome.value() for outcome in batch.results()] == [-2] * 20
    assert (server.stats().running, server.stats().waiting, servant.echoed) == (0, 0, 12)


@pytest.mark.parametrize("limit", [None, mf.Limit(1000)])
def test_calls_that_are_given_up_while_replies_are_not_read_are_all_forgotten(
    big: Start, limit: mf.Limit | None
) -> None:
    servant, server, slow, other = big(limit=limit)
    with all_wait(servant, server, other, 809):
        cancels = [frame.pack(frame.CANCEL, id_=id_) for id_ in range(10, 810)]
        slow.ask(echoes(range(1, 810)), *cancels)
    assert eventually(lambda: servant.echoed == HELD_AFTER)
    assert other.twice(1) == 2

    statuses = slow.replies(809)

    assert statuses == {id_: mf.Code.CANCELLED if id_ > 9 else 0 for id_ in range(1, 810)}
    assert eventually(lambda: server.stats().connections.calls == 0)
    assert servant.echoed == HELD_AFTER


def test_a_call_that_is_given_up_counts_until_its_turn_comes() -> None:
    servant = Recorder()
    servant.act = lambda x: (servant.release.wait(20), x)[1]
    with (
        server_of(servant, agent="a", workers=1, max_in_flight=8, drain_timeout=0.5) as server,
        connected(server) as peer,
    ):
        peer.sendall(HELLO + BIND)
        read_until(peer, frame.pack(frame.BOUND))
        number = struct.pack("<i", 1)
        peer.sendall(frame.pack(frame.REQUEST, number, flags=1, route=4, id_=1, count=1))
        assert eventually(lambda: server.stats().executed == 1)
        every = 40
        codes: list[int] = []
        for id_ in range(2, every + 2):  # one after another, so that each CANCEL is handled before the next
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


@pytest.mark.parametrize("oneway", [False, True], ids=["with replies", "one-way"])
def test_small_requests_that_wait_are_held_bytes_too_until_they_end(big: Start, oneway: bool) -> None:
    servant, server, peer, _ = big()
    number = struct.pack("<i", -1)
    flags, count = (1 | frame.ONEWAY) if oneway else 1, 200
    peer.ask(
        *(frame.pack(frame.REQUEST, number, flags=flags, id_=id_, count=1) for id_ in range(1, count + 1))
    )

    assert eventually(lambda: server.stats().connections.held_bytes == count * len(number))
    servant.permits.release(count)
    if not oneway:
        assert peer.replies(count) == dict.fromkeys(range(1, count + 1), 0)
    assert eventually(lambda: server.stats().executed == count)
    assert eventually(lambda: server.stats().connections.held_bytes == 0)


@pytest.mark.parametrize("oneway", [False, True], ids=["with replies", "one-way"])
def test_requests_that_run_where_they_are_read_are_no_held_bytes(oneway: bool) -> None:
    servant, server = Much(), server_of(Recorder(), agent="b", drain_timeout=0.5)
    assert isinstance(server, mf.Server)
    server.offer(servant, "a", inline=True)
    with server:
        peer = SlowReader(server)
        flags = (1 | frame.ONEWAY) if oneway else 1
        peer.ask(*(frame.pack(frame.REQUEST, bytes(4), flags=flags, id_=id_, count=1) for id_ in range(1, 9)))
        assert eventually(lambda: server.stats().executed == 8)
        if not oneway:
            assert len(peer.replies(8)) == 8
        assert eventually(lambda: server.stats().connections.held_bytes == 0)
        peer.close()


def test_requests_that_wait_for_room_begin_when_there_is_and_keep_nobody_busy_until_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (stream, connection, server_io):  # less than what a socket has room for when it says so
        monkeypatch.setattr(module, "OUTPUT_LIMIT", 64 << 10)
    block = connection.Connection._block
    attempts = 0

    def counted(self: connection.Connection, rest: Any, size: int) -> None:
        nonlocal attempts
        attempts += 1
        block(self, rest, size)

    monkeypatch.setattr(connection.Connection, "_block", counted)
    servant = Big()
    servant.size = 40 << 10
    every = 40
    server: Any = server_of(servant, agent="b", drain_timeout=0.5)
    server.offer(servant, "a", inline=True)
    with server, mf.Client(server.address) as client:
        slow = SlowReader(server)
        slow.ask(echoes(range(1, every + 1)))
        assert eventually(lambda: server.stats().connections.held_bytes > 64 << 10)
        other = EchoClient(client).at("b")
        assert [other.twice(x) for x in range(20)] == [2 * x for x in range(20)]
        before = attempts
        assert [other.twice(x) for x in range(20)] == [2 * x for x in range(20)]
        assert attempts == before, "the same thread has served others, and has left this one alone"
        assert servant.echoed < every
        assert slow.replies(every) == dict.fromkeys(range(1, every + 1), 0)
        slow.close()


def greeted(server: Any, host: str = "127.0.0.1") -> socket.socket:
    """A connection from that address of this host which has sent HELLO, and nothing else."""
    peer = socket.create_connection(("127.0.0.1", port_of(server)), timeout=20, source_address=(host, 0))
    peer.sendall(HELLO)
    assert peer.recv(16)  # the head of its HELLO
    return peer


@pytest.mark.parametrize("kind", KINDS)
def test_connections_that_bind_nothing_are_ended_for_those_of_other_hosts(kind: Any) -> None:
    with serving(kind, max_connections=3) as server:
        with greeted(server) as first, greeted(server) as user, greeted(server) as third:
            user.sendall(BIND)
            assert eventually(lambda: any(each.binds.used for each in connections(server)))
            with greeted(server, "127.0.0.2") as newcomer:
                assert b"has never bound anything" in read_to_end(first)
                newcomer.sendall(BIND)
                assert newcomer.recv(16)
            third.sendall(BIND)
            assert third.recv(16)
        assert server.stats().connections.cut_idle == 1
        assert server.stats().connections.refused == 0


@pytest.mark.parametrize("kind", KINDS)
def test_an_idle_connection_is_ended_for_one_of_its_host_after_a_while(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(kind, max_connections=1) as server, greeted(server) as first:
        with connected(server) as refused:
            assert b"1 connections, the most" in read_to_end(refused)
        monkeypatch.setattr(server_io, "IDLE_GRACE", 0.0)
        with greeted(server):
            assert b"has never bound anything" in read_to_end(first)


@pytest.mark.parametrize("kind", KINDS)
def test_the_connections_of_a_host_are_limited(kind: Any) -> None:
    with serving(kind, max_connections_per_host=2) as server:
        with greeted(server), greeted(server), connected(server) as third:
            assert b"2 connections of this host, the most" in read_to_end(third)
            with greeted(server, "127.0.0.2"):
                assert server.stats().connections.open == 3
        assert eventually(lambda: server.stats().connections.open == 0)
        greeted(server).close()


def connections(server: Any) -> list[Any]:
    return list(getattr(server, "server", server)._load.connections.values())
