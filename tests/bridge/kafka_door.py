"""A door to a broker of kafka.py, which has neither TLS nor SASL: a client that connects over TLS and logs in
(SASL/PLAIN, as brokers took it before there was a request for it) reaches the broker, and gets no other
address of it.

One thread accepts, and two carry each connection; all end when the door is closed.
"""

import contextlib
import socket
import ssl
import struct
from collections.abc import Callable
from threading import Thread

_SASL_HANDSHAKE, _API_VERSIONS = 17, 18


class Door:
    """`user`, `password`: the login that is let in."""

    def __init__(self, broker: str, tls: ssl.SSLContext, user: str, password: str) -> None:
        host, port = broker.removeprefix("kafka://").rsplit(":", 1)
        self._broker = (host, int(port))
        self._tls = tls
        self._token = f"\0{user}\0{password}".encode()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.url = f"kafka://127.0.0.1:{self.port}"
        self.let_in = 0
        self._open: list[socket.socket] = []
        self._threads = [Thread(target=self._accept)]
        self._threads[0].start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._threads[0].join(60)
        for each in self._open:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()
        for each in self._open:
            each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._begin(self._serve, client)

    def _begin(self, serve: Callable[..., None], *arguments: socket.socket) -> None:
        self._threads.append(Thread(target=serve, args=arguments))
        self._threads[-1].start()

    def _serve(self, plain: socket.socket) -> None:
        self._open.append(plain)
        with contextlib.suppress(OSError):
            plain.settimeout(60)
            client = self._tls.wrap_socket(plain, server_side=True)
            self._open.append(client)
            broker = socket.create_connection(self._broker, 60)
            self._open.append(broker)
            # First it asks which requests there are, then it logs in.
            while (kind := _kind(frame := _frame(client))) == _API_VERSIONS:
                broker.sendall(frame)
                client.sendall(_with_handshake(frame, _frame(broker)))
            if kind == _SASL_HANDSHAKE:
                answer = frame[8:12] + struct.pack(">hih", 0, 1, 5) + b"PLAIN"
                client.sendall(struct.pack(">i", len(answer)) + answer)
                frame = _frame(client)
            if frame[4:] != self._token:
                client.shutdown(socket.SHUT_RDWR)
                return
            client.sendall(struct.pack(">i", 0))
            self.let_in += 1
            self._begin(self._answers, broker, client)
            while True:
                broker.sendall(_frame(client))

    def _answers(self, broker: socket.socket, client: socket.socket) -> None:
        host, port = self._broker
        there, here = (host.encode() + struct.pack(">i", each) for each in (port, self.port))
        with contextlib.suppress(OSError):
            while True:
                client.sendall(_frame(broker).replace(there, here))


def _frame(source: socket.socket) -> bytes:
    """With its length in front. OSError at the end."""
    length = _exactly(source, 4)
    return length + _exactly(source, struct.unpack(">i", length)[0])


def _kind(request: bytes) -> int:
    return int(struct.unpack(">h", request[4:6])[0])


def _with_handshake(request: bytes, answer: bytes) -> bytes:
    """The answer of which requests there are, with one more."""
    one_more = struct.pack(">hhh", _SASL_HANDSHAKE, 0, 0)
    if answer[8:10] != b"\0\0":
        return answer  # it asks again, in another version
    if struct.unpack(">h", request[6:8])[0] < 3:
        count = struct.unpack(">i", answer[10:14])[0]
        body = answer[4:10] + struct.pack(">i", count + 1) + one_more + answer[14:]
    else:
        body = answer[4:10] + bytes([answer[10] + 1]) + one_more + b"\0" + answer[11:]
    return struct.pack(">i", len(body)) + body


def _exactly(source: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = source.recv(size - len(data))
        if not more:
            raise ConnectionError
        data += more
    return data
