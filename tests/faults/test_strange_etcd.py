"""A controller whose etcd is not there, says nothing, is slow, or says what no etcd says: it starts, serves
from memory, and says what is wrong.
"""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tests.interop.peers import Peers, free_port

PATIENCE = 60.0
PIECE = 1 << 16


def answer(body: bytes, status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class FakeEtcd:
    """Takes connections, and says the same to whatever comes; nothing at all if that is empty."""

    def __init__(self, says: bytes) -> None:
        self.asked = threading.Event()
        self._says = says
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        for each in (self._listener, *self._open):
            with contextlib.suppress(OSError):  # its other end may have been quicker
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            while connection.recv(PIECE):
                self.asked.set()
                if self._says:
                    connection.sendall(self._says)
        except OSError:
            return


@pytest.fixture
def fake_etcd() -> Iterator[Callable[[bytes], FakeEtcd]]:
    started: list[FakeEtcd] = []

    def start(says: bytes) -> FakeEtcd:
        started.append(FakeEtcd(says))
        return started[-1]

    yield start
    for each in started:
        each.close()


def serves_and_says(peers: Peers, where: str, reason: str) -> None:
    controller = peers.controller(store=f"etcd://{where}")
    peers.server("cpp", "--controller", controller.address, "--room", "red")

    found = peers.client("python", controller.address).ask("who red")

    assert [each["ok"] for each in found] == [True], controller.said()
    end = time.monotonic() + PATIENCE
    while reason not in controller.said() and time.monotonic() < end:
        time.sleep(0.05)
    assert "store_degraded" in controller.said()
    assert reason in controller.said()
    assert len(controller.said().splitlines()) < 10, "a loss is logged once"


def test_an_etcd_that_is_not_there(peers: Peers) -> None:
    serves_and_says(peers, f"127.0.0.1:{free_port()}", "Connection refused")


@pytest.mark.parametrize(
    ("says", "reason"),
    [
        (b"", "does not answer"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "bad version"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "does not answer"),
        (answer(b"<html>a proxy's page</html>"), "no answer of etcd"),
        (answer(b"[]"), "no answer of etcd"),
        (answer(b"{}"), "gives no lease"),
        (answer(b'{"ID":"7","TTL":"10","header":{"revision":"1"}}'), "lacks a part"),
        (answer(b'{"ID":"x","TTL":"10"}'), "no answer of etcd"),
        (answer(b'{"error":"etcdserver: no leader","code":14}', "503 Service Unavailable"), "no leader"),
        (answer(b'{"error":{"message":"a token\\u001b[31m"}}', "401 Unauthorized"), "a token\\x1b"),
    ],
)
def test_an_etcd_that_says_something_else(
    peers: Peers, fake_etcd: Callable[[bytes], FakeEtcd], says: bytes, reason: str
) -> None:
    fake = fake_etcd(says)
    serves_and_says(peers, fake.address, reason)
    assert fake.asked.is_set()


@pytest.mark.parametrize("where", ["", "nowhere", "h:1,", "h:x", "h:1/a b", "h:1/\n"])
def test_what_is_no_place_of_an_etcd_is_refused_in_words(peers: Peers, where: str) -> None:
    process = peers.refused_server(
        [*peers.controller_command(f"etcd://{where}"), "--listen", "tcp://127.0.0.1:0"]
    )

    assert process.wait() == 1
    assert "etcd://host:port,host:port/prefix" in process.said()
    assert len(process.said().splitlines()) == 1
