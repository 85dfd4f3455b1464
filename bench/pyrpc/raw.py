"""The limit for Python: `raw.py server` and `raw.py client PORT`.

Blocking sockets, a 4-byte length before each message; many messages are packed and unpacked by one call of
struct, and read with one recv. The first byte of a connection says what the server does on it: 's' answers
small messages, 'b' one message of many items, 'e' echoes, 'p' sends as many messages of 100 bytes as the
client asks for, 'l' receives and counts as many as the client announces.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
import threading
from collections.abc import Callable

from pyrpc.commands import (
    VALUE_SIZE,
    Metrics,
    Run,
    all_at_once,
    check,
    echoes,
    name_of,
    obey,
    one_by_one,
    serve_until_stdin_ends,
    streamed,
)

_PAIR = struct.Struct("<Ii")
_LENGTH = struct.Struct("<I")
_NAME = 16
_ITEM = struct.Struct("<i16s")
_FRAMED = struct.Struct("<Ii16s")
_VALUE = struct.Struct(f"<I{VALUE_SIZE}s")
_CHUNK = 2048


def _receive(connection: socket.socket, size: int) -> bytearray:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        got = connection.recv_into(view)
        check(got > 0, "the peer went away")
        view = view[got:]
    return data


def _serve_numbers(connection: socket.socket) -> None:
    while data := connection.recv(8):
        length, x = _PAIR.unpack(data)
        connection.sendall(_PAIR.pack(length, x + 1))


def _serve_small(connection: socket.socket) -> None:
    left = b""
    while got := connection.recv(65536):
        data = left + got
        whole = len(data) - len(data) % _FRAMED.size
        left = data[whole:]
        connection.sendall(
            b"".join([_PAIR.pack(4, id_ + len(name)) for _, id_, name in _FRAMED.iter_unpack(data[:whole])])
        )


def _serve_batch(connection: socket.socket) -> None:
    while head := connection.recv(4, socket.MSG_WAITALL):
        data = _receive(connection, *_LENGTH.unpack(head))
        answers = [id_ + len(name) for id_, name in _ITEM.iter_unpack(data)]
        connection.sendall(struct.pack(f"<I{len(answers)}i", 4 * len(answers), *answers))


def _serve_echo(connection: socket.socket) -> None:
    while head := connection.recv(4, socket.MSG_WAITALL):
        data = _receive(connection, *_LENGTH.unpack(head))
        connection.sendall(head)
        connection.sendall(data)


def _send_values(connection: socket.socket, count: int) -> None:
    value = bytes(VALUE_SIZE)
    for first in range(0, count, _CHUNK):
        n = min(_CHUNK, count - first)
        connection.sendall(b"".join([_VALUE.pack(VALUE_SIZE, value) for _ in range(n)]))


def _receive_values(connection: socket.socket, count: int) -> int:
    """Returns how many of the right length came."""
    left = b""
    come = 0
    while count > 0 and (got := connection.recv(65536)):
        data = left + got
        whole = len(data) - len(data) % _VALUE.size
        left = data[whole:]
        come += sum(len(value) == VALUE_SIZE for _, value in _VALUE.iter_unpack(data[:whole]))
        count -= whole // _VALUE.size
    return come


def _serve_push(connection: socket.socket) -> None:
    while asked := connection.recv(4, socket.MSG_WAITALL):
        _send_values(connection, *_LENGTH.unpack(asked))


def _serve_load(connection: socket.socket) -> None:
    while said := connection.recv(4, socket.MSG_WAITALL):
        connection.sendall(_LENGTH.pack(_receive_values(connection, *_LENGTH.unpack(said))))


_MODES: dict[bytes, Callable[[socket.socket], None]] = {
    b"n": _serve_numbers,
    b"s": _serve_small,
    b"b": _serve_batch,
    b"e": _serve_echo,
    b"p": _serve_push,
    b"l": _serve_load,
}


def _serve() -> None:
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        while True:
            connection, _ = listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            serve = _MODES[connection.recv(1)]
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    serve_until_stdin_ends(listener.getsockname()[1])
    os._exit(0)  # the threads block in reads that never end


class _Client:
    def __init__(self, port: int) -> None:
        self._connections: dict[bytes, socket.socket] = {}
        for mode in _MODES:
            connection = socket.create_connection(("127.0.0.1", port))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(mode)
            self._connections[mode] = connection

    def unary(self, count: int) -> Run:
        connection = self._connections[b"n"]

        def call(i: int) -> None:
            connection.sendall(_PAIR.pack(4, i))
            check(_PAIR.unpack(connection.recv(8))[1] == i + 1)

        return lambda: one_by_one(count, call)

    def independent(self, count: int) -> Run:
        """At most two chunks are under way, so neither side ever waits for the other to read."""
        connection = self._connections[b"s"]
        names = [name_of(i).encode() for i in range(count)]

        def read(first: int, after: int) -> None:
            answers = _PAIR.iter_unpack(_receive(connection, _PAIR.size * (after - first)))
            for i, (_, answer) in enumerate(answers, first):
                check(answer == i + _NAME)

        def calls() -> None:
            before = 0
            for first in range(0, count, _CHUNK):
                after = min(first + _CHUNK, count)
                connection.sendall(
                    b"".join([_FRAMED.pack(4 + _NAME, i, names[i]) for i in range(first, after)])
                )
                read(before, first)
                before = first
            read(before, count)

        return lambda: all_at_once(count, calls)

    def batch(self, count: int) -> Run:
        connection = self._connections[b"b"]
        names = [name_of(i).encode() for i in range(count)]

        def calls() -> None:
            body = b"".join([_ITEM.pack(i, name) for i, name in enumerate(names)])
            connection.sendall(_LENGTH.pack(len(body)) + body)
            answers = struct.unpack(f"<I{count}i", _receive(connection, 4 + 4 * count))
            for i in range(count):
                check(answers[i + 1] == i + _NAME)

        return lambda: all_at_once(count, calls)

    def echo(self, count: int, size: int) -> Run:
        connection = self._connections[b"e"]
        data = bytes(size)

        def echo() -> None:
            connection.sendall(_LENGTH.pack(size))
            connection.sendall(data)
            (length,) = _LENGTH.unpack(_receive(connection, 4))
            check(len(_receive(connection, length)) == size)

        def run() -> Metrics:
            return echoes(count, size, echo)

        return run

    def server_stream(self, count: int) -> Run:
        connection = self._connections[b"p"]

        def read() -> None:
            connection.sendall(_LENGTH.pack(count))
            check(_receive_values(connection, count) == count)

        return lambda: streamed(count, read)

    def client_stream(self, count: int) -> Run:
        connection = self._connections[b"l"]

        def write() -> None:
            connection.sendall(_LENGTH.pack(count))
            _send_values(connection, count)
            check(_LENGTH.unpack(_receive(connection, 4)) == (count,))

        return lambda: streamed(count, write)


def main(arguments: list[str]) -> None:
    if arguments == ["server"]:
        _serve()
        return
    client = _Client(int(arguments[1]))
    obey(
        {
            "unary_int": client.unary,
            "independent_100k": client.independent,
            "batch_100k": client.batch,
            "server_stream_100b": client.server_stream,
            "client_stream_100b": client.client_stream,
            "echo_16mib": lambda count: client.echo(count, 1 << 24),
            "array_1m_f64": lambda count: client.echo(count, 8_000_000),
        }
    )


if __name__ == "__main__":
    main(sys.argv[1:])
