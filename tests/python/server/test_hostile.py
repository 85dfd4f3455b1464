"""Hostile bytes end their own connection, with a logged reason; other connections are still served."""

import random
import resource
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

import mf
from mf.codec import shape as s
from mf.codec.method import method
from mf.core.service import MEMCPY, Method, ServiceInfo
from mf.protocol import frame
from mf.protocol.handshake import Hello, pack_bind
from tests.python.conftest import AsyncRecorder, Recorder, Served, eventually
from tests.python.echo import ECHO_SERVICE
from tests.python.serving import server_of

HELLO = frame.pack(frame.HELLO, Hello(nonce=bytes(16), client_id=1).pack())
BIND = frame.pack(
    frame.BIND,
    pack_bind(ECHO_SERVICE.fingerprint, "demo.Echo", "a", ("twice", "echo", "sleep", "note", "flaky")),
)
TWICE = frame.pack(frame.REQUEST, b"\x15\0\0\0", flags=1, id_=1, count=1)


@dataclass(slots=True)
class LookUp:
    word: str


LOOK_UP: Method[LookUp, int] = method(
    "demo.Books.look_up",
    0,
    LookUp,
    params=lambda: (s.Field("word", s.STRING),),
    results=lambda: (s.Field("value", s.U32),),
    result_encoding=MEMCPY,
)
BOOKS = ServiceInfo(
    name="demo.Books", agent=None, descriptor="", fingerprint=bytes(range(16)), methods=(LOOK_UP,)
)


class Books(mf.Servant):
    mf_service: ClassVar[ServiceInfo] = BOOKS

    def look_up(self, word: str) -> int:
        return len(word)


class AsyncBooks(mf.AsyncServant):
    mf_service: ClassVar[ServiceInfo] = BOOKS

    async def look_up(self, word: str) -> int:
        return len(word)


def send(served: Served, data: bytes, wait_for_end: bool = True) -> bytes:
    """Sends bytes, then reads until the server closes."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=5) as connected:
        connected.sendall(data)
        connected.shutdown(socket.SHUT_WR)
        answer = b""
        try:
            while wait_for_end and (piece := connected.recv(65536)):
                answer += piece
        except ConnectionResetError:
            pass
        return answer


def resident() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@contextmanager
def serving(kind: type[Recorder | AsyncRecorder]) -> Iterator[int]:
    """The port of a server with threads, or on a loop."""
    with server_of(kind(), agent="a", drain_timeout=2.0) as server:
        yield int(server.address.rpartition(":")[2])


@pytest.mark.parametrize("kind", [Recorder, AsyncRecorder])
def test_a_header_alone_takes_no_memory(kind: type[Recorder | AsyncRecorder]) -> None:
    announced = struct.pack("<IBBHIHH", 1 << 24, frame.REQUEST, 1, 1, 1, 0, 1)
    with serving(kind) as port, ExitStack() as opened:
        before = resident()
        for number in range(200):
            connected = opened.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
            connected.sendall(HELLO + BIND + announced + bytes(4096))
            answered = b""
            while len(answered) < 16 or answered[-frame.HEADER_SIZE + 4] != frame.BOUND:
                answered += connected.recv(4096)
            if number == 0:  # memory that the first connection takes, such as modules and buffers
                before = resident()
        assert resident() - before < 100 << 20  # of 3,200 MiB announced


@pytest.mark.parametrize("kind", [Books, AsyncBooks])
def test_a_bulk_of_many_small_items_takes_no_more_memory_than_a_message_may(
    kind: type[Books | AsyncBooks],
) -> None:
    items = 1 << 24
    assert bytes(LOOK_UP.encode_request("")) == b"\0"
    with (
        server_of(kind(), drain_timeout=2.0) as server,
        socket.create_connection(
            ("127.0.0.1", int(server.address.rpartition(":")[2])), timeout=60
        ) as connected,
    ):
        bind = frame.pack(frame.BIND, pack_bind(BOOKS.fingerprint, BOOKS.name, "", ("look_up",)))
        connected.sendall(HELLO + bind)
        before = resident()
        bulk = frame.pack(
            frame.REQUEST,
            bytes(items - 64),
            flags=LOOK_UP.request_encoding | frame.BULK,
            id_=1,
            count=items - 64,
        )
        connected.sendall(bulk)
        answer = b""
        while b"more memory than one message may" not in answer:
            piece = connected.recv(65536)
            assert piece
            answer += piece
        assert resident() - before < 100 << 20  # the request itself twice, and not 1 GiB of its items


def test_a_well_behaved_client_without_our_runtime_is_served(served: Served) -> None:
    answer = send(served, HELLO + BIND + TWICE)

    assert answer[-24:] == frame.pack(frame.REPLY, b"\x2a\0\0\0", flags=1, id_=1, count=1)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "the peer speaks no MF: its first bytes look like HTTP"),
        (struct.pack("<I", 0xFFFFFFFF) + b"\1" + bytes(11), "payload of 4294967279 bytes"),
        (HELLO + struct.pack("<IBBHIHH", 0xFFFFFFFF, 5, 1, 0, 1, 0, 1), "payload of 4294967279 bytes"),
        (HELLO + b"\0" * 16, "unknown frame type 0"),
        (HELLO + BIND + BIND, "is bound already"),
        (TWICE, "REQUEST before HELLO"),
    ],
)
def test_a_broken_frame_is_refused_and_logged(
    served: Served, caplog: pytest.LogCaptureFixture, data: bytes, reason: str
) -> None:
    answer = send(served, data)

    assert answer[-frame.HEADER_SIZE :] != b""
    assert eventually(lambda: "protocol error" in caplog.text)
    assert reason in caplog.text
    assert served.echo.at("a").twice(3) == 6


def test_random_bytes_never_disturb_the_others(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    source = random.Random(7)
    echo = served.echo.at("a")
    for round_ in range(60):
        prefix = HELLO + BIND if round_ % 2 else b""
        send(served, prefix + source.randbytes(source.randrange(1, 400)))
        assert echo.twice(round_) == 2 * round_
    assert "protocol error" in caplog.text


def test_a_stream_cut_at_every_byte_never_disturbs_the_others(served: Served) -> None:
    data = HELLO + BIND + TWICE
    echo = served.echo.at("a")
    for cut in range(len(data)):
        send(served, data[:cut])
    assert echo.twice(4) == 8


def test_every_flipped_byte_is_an_answer_or_a_closed_connection(served: Served) -> None:
    data = HELLO + BIND + TWICE
    for at in range(0, len(data), 3):
        send(served, data[:at] + bytes((data[at] ^ 0xFF,)) + data[at + 1 :])
    assert served.echo.at("a").twice(4) == 8


def test_who_says_nothing_is_closed_after_two_seconds(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    start = time.monotonic()
    with socket.create_connection(("127.0.0.1", served.port), timeout=5) as silent:
        assert served.echo.at("a").twice(1) == 2
        assert silent.recv(1) == b""

    assert 1.5 < time.monotonic() - start < 4
    assert "no HELLO within 2 s" in caplog.text


def test_who_does_not_read_stops_being_read_and_does_not_disturb_the_others(served: Served) -> None:
    data = frame.pack(
        frame.REQUEST, struct.pack("<I", 1 << 20) + bytes(1 << 20), flags=2, route=1, id_=1, count=1
    )
    with socket.create_connection(("127.0.0.1", served.port), timeout=1) as greedy:
        greedy.sendall(HELLO + BIND)
        sent = 0
        try:
            for id_ in range(1, 100):
                greedy.sendall(data[:8] + struct.pack("<I", id_) + data[12:])
                sent = id_
        except TimeoutError:
            pass
        assert served.echo.at("a").twice(4) == 8

    assert sent < 60  # 8 MiB of replies, the capacity of the sockets, and what had been read


def test_more_in_flight_than_allowed_is_overloaded_and_not_executed() -> None:
    served = Served(max_in_flight=2)
    served.servant.act = lambda x: (served.servant.release.wait(5), x)[1]
    failures: list[mf.Error] = []

    def call() -> None:
        try:
            served.echo.at("b").flaky(1)
        except mf.Error as error:
            failures.append(error)

    served.echo.at("b").twice(1)
    threads = [threading.Thread(target=call) for _ in range(5)]
    for thread in threads:
        thread.start()
    assert eventually(lambda: len(failures) == 3)
    served.servant.release.set()
    for thread in threads:
        thread.join()
    served.close()

    assert {error.code for error in failures} == {mf.Code.OVERLOADED}
    assert {error.execution for error in failures} == {mf.Execution.NOT_EXECUTED}
