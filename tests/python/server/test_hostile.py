"""Hostile bytes close their own connection, with a logged reason; the others are served on."""

import random
import socket
import struct
import threading
import time

import pytest

import mf
from mf.protocol import frame
from mf.protocol.handshake import Hello, pack_bind
from tests.python.conftest import Served, eventually
from tests.python.echo import ECHO_SERVICE

HELLO = frame.pack(frame.HELLO, Hello(nonce=bytes(16), client_id=1).pack())
BIND = frame.pack(
    frame.BIND,
    pack_bind(ECHO_SERVICE.fingerprint, "demo.Echo", "a", ("twice", "echo", "sleep", "note", "flaky")),
)
TWICE = frame.pack(frame.REQUEST, b"\x15\0\0\0", flags=1, id_=1, count=1)


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

    assert sent < 60  # 8 MiB of replies, what the sockets hold, and what had been read


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
