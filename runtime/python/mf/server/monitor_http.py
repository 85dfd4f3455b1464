"""R5. As much of an HTTP/1.1 server as a monitor needs: GET and HEAD without a body, one answer for each
connection.

One thread reads and answers. A connection has so many seconds for its request and for taking its answer, and
a request at most so many bytes; above the most connections the oldest one is ended.
"""

import os
import selectors
import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from time import monotonic
from typing import Final, NamedTuple

from mf.core.log import error

_MOST_CONNECTIONS: Final = 32
_LARGEST_REQUEST: Final = 8192
_PATIENCE: Final = 5.0
_REASONS: Final = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    421: "Misdirected Request",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


class Answer(NamedTuple):
    status: int
    text: str
    content_type: str = "text/plain; charset=utf-8"


class _Connection:
    __slots__ = ("answer", "received", "socket", "until")

    def __init__(self, accepted: socket.socket) -> None:
        self.socket = accepted
        self.received = b""
        self.answer: bytes | None = None
        self.until = monotonic() + _PATIENCE


class HttpThread:
    """`answer`: gets the path and the host that a request names, the host without its port; called on this
    thread."""

    def __init__(self, listening: socket.socket, answer: Callable[[str, str], Answer]) -> None:
        self._listening = listening
        self._answer = answer
        self._connections: dict[socket.socket, _Connection] = {}  # the oldest first
        self._selector = selectors.DefaultSelector()
        self._ends, self._end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        listening.setblocking(False)
        self._selector.register(listening, selectors.EVENT_READ)
        self._selector.register(self._ends, selectors.EVENT_READ)
        self._thread = Thread(target=self._run, name="mf-monitor", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """May be called twice."""
        if self._end < 0:
            return
        os.close(self._end)  # which wakes the thread
        self._end = -1
        self._thread.join()

    def _run(self) -> None:
        try:
            while self._turn():
                pass
        finally:
            for connection in list(self._connections.values()):
                self._drop(connection)
            self._selector.close()
            self._listening.close()
            os.close(self._ends)

    def _turn(self) -> bool:
        """False: close() was called."""
        waits = [each.until for each in self._connections.values()]
        for key, _ in self._selector.select(max(min(waits) - monotonic(), 0.0) if waits else None):
            if key.fileobj is self._listening:
                self._accept()
            elif key.fileobj == self._ends:
                return False
            elif (connection := self._connections.get(key.fileobj)) is not None:  # type: ignore[call-overload]
                self._go_on(connection)
        now = monotonic()
        for connection in [each for each in self._connections.values() if each.until <= now]:
            self._drop(connection)
        return True

    def _accept(self) -> None:
        with suppress(OSError):  # it has gone, or there is no descriptor
            accepted, _ = self._listening.accept()
            accepted.setblocking(False)
            if len(self._connections) >= _MOST_CONNECTIONS:
                self._drop(next(iter(self._connections.values())))
            self._connections[accepted] = _Connection(accepted)
            self._selector.register(accepted, selectors.EVENT_READ)

    def _drop(self, connection: _Connection) -> None:
        del self._connections[connection.socket]
        self._selector.unregister(connection.socket)
        connection.socket.close()

    def _go_on(self, connection: _Connection) -> None:
        try:
            if connection.answer is None:
                self._read(connection)
            if connection.answer is not None:
                self._write(connection)
        except BlockingIOError:
            pass
        except OSError:
            self._drop(connection)

    def _read(self, connection: _Connection) -> None:
        received = connection.socket.recv(_LARGEST_REQUEST)
        if not received:
            raise ConnectionResetError
        connection.received += received
        head, end, _ = connection.received.partition(b"\r\n\r\n")
        if len(connection.received) > _LARGEST_REQUEST:
            connection.answer = _packed(Answer(431, "the request is too large\n"))
        elif end:
            connection.answer = self._answer_to(head)

    def _write(self, connection: _Connection) -> None:
        assert connection.answer is not None
        connection.answer = connection.answer[connection.socket.send(connection.answer) :]
        if connection.answer:
            self._selector.modify(connection.socket, selectors.EVENT_WRITE)
            return
        connection.socket.shutdown(socket.SHUT_WR)
        self._drop(connection)

    def _answer_to(self, head: bytes) -> bytes:
        first, *lines = head.decode("latin-1").split("\r\n")
        words = first.split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            return _packed(Answer(400, "this is no request of HTTP/1\n"))
        method, target, _ = words
        if method not in ("GET", "HEAD"):
            return _packed(Answer(405, "there is only GET and HEAD\n"))
        try:
            answer = self._answer(target.partition("?")[0], _host_in(lines))
        except Exception as raised:
            error("a request to the monitor failed", exc_info=raised)
            answer = Answer(500, "it failed; the log says why\n")
        return _packed(answer, with_body=method == "GET")


def _host_in(lines: list[str]) -> str:
    for each in lines:
        name, _, value = each.partition(":")
        if name.lower() == "host":
            host = value.strip().lower()
            return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    return ""


def _packed(answer: Answer, *, with_body: bool = True) -> bytes:
    body = answer.text.encode()
    head = (
        f"HTTP/1.1 {answer.status} {_REASONS[answer.status]}\r\n"
        f"Content-Type: {answer.content_type}\r\nContent-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + (body if with_body else b"")
