"""`program.py WAY server` and `program.py WAY client PORT`: the ping-pong of Table 2, and `program.py match`.

A message of one attribute of so many bytes goes there and back. The ways: `raw`, a blocking socket and a
length; `pickle`, a pickled dict on it; `codec`, a flexible message on it; `queue`, the same through a
mailbox at both ends, as the paper's own; `node`, processes of two nodes.
"""

from __future__ import annotations

import json
import os
import pickle
import socket
import struct
import sys
import threading
from collections.abc import Callable
from time import perf_counter
from typing import Any

from mf import flex
from mf.codec.flex.attributes import decode_attributes, encode_attributes
from mf.flex.mailbox import OVERHEAD
from mf.flex.message import Message
from mf.flex.queue import Parcel
from pyrpc.commands import Metrics, Run, check, obey, one_by_one, serve_until_stdin_ends

_LENGTH = struct.Struct("<I")
_SIZES = {"python_pingpong_128": 128, "python_pingpong_16k": 16 << 10, "python_pingpong_64k": 64 << 10}
_LIMIT = 60.0
Ends = tuple[Callable[[bytes], None], Callable[[], Any]]


def _send(connection: socket.socket, data: bytes) -> None:
    connection.sendall(_LENGTH.pack(len(data)) + data)


def _receive(connection: socket.socket) -> bytes:
    head = connection.recv(4, socket.MSG_WAITALL)
    if not head:
        sys.exit(0)
    size: int = _LENGTH.unpack(head)[0]
    return connection.recv(size, socket.MSG_WAITALL)


def _raw(connection: socket.socket) -> Ends:
    return lambda data: _send(connection, data), lambda: _receive(connection)


def _pickled(connection: socket.socket) -> Ends:
    def send(data: bytes) -> None:
        _send(connection, pickle.dumps({"src": "A", "dest": "B", "tag": "data", "data": data}))

    return send, lambda: pickle.loads(_receive(connection))["data"]


def _codec(connection: socket.socket) -> Ends:
    def send(data: bytes) -> None:
        _send(connection, encode_attributes({"tag": "data", "data": data}))

    return send, lambda: decode_attributes(_receive(connection))["data"]


def _queue(connection: socket.socket) -> Ends:
    send, _ = _codec(connection)
    box = flex.Mailbox("B")

    def receive() -> Any:
        data = _receive(connection)
        message = Message("A", "B", decode_attributes(data))
        check(box.put(Parcel(message, len(data) + OVERHEAD, "A", None)))
        return box.poll(src="A", tag="data").data

    return send, receive


_WAYS = {"raw": _raw, "pickle": _pickled, "codec": _codec, "queue": _queue}


def _connected(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _serve(way: str) -> None:
    if way == "node":
        _serve_node()
        return
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    send, receive = _WAYS[way](connection)
    while True:
        send(receive())


def _serve_node() -> None:
    """The answers go by a node of their own, which gets the address of the client's node with the first
    message."""
    node = flex.Node("")
    me = node.process("server")

    def answer() -> None:
        there = flex.Node(me.recv(10 * _LIMIT, address=str).address).process("back")
        while True:
            m = me.recv(10 * _LIMIT, tag="data")
            there.send(dest="A", tag="data", data=m.data)

    threading.Thread(target=answer, daemon=True).start()
    serve_until_stdin_ends(int(node.address.rpartition(":")[2]))
    os._exit(0)  # the thread waits for what does not come


def _node(port: int) -> Ends:
    node = flex.Node(f"tcp://127.0.0.1:{port}")
    me = node.process("A")
    me.send(dest="server", address=node.address)

    def send(data: bytes) -> None:
        me.send(dest="server", tag="data", data=data)

    return send, lambda: me.recv(_LIMIT, src="back", tag="data").data


def play(
    send: Callable[[bytes], object], receive: Callable[[], Any], finish: Callable[[], object] = lambda: None
) -> None:
    """The client of a ping-pong, which does what the bench says until that ends."""

    def pingpong(size: int) -> Callable[[int], Run]:
        data = bytes(size)

        def there_and_back(_: int) -> None:
            send(data)
            check(len(receive()) == size)

        def run(count: int) -> Metrics:
            round_trip = one_by_one(count, there_and_back)["median_us"]
            return {"one_way_us": round_trip / 2, "mb_per_s": 2 * size / round_trip}

        return lambda count: lambda: run(count)

    obey({work: pingpong(size) for work, size in _SIZES.items()})
    finish()
    os._exit(0)


def _filled(waiting: int) -> list[Message]:
    """Of four senders, none with the tag that is asked for, all with one that is wanted of another sender."""
    return [Message("ABCD"[n % 4], "me", {"tag": "y" if n % 4 == 0 else "x", "n": n}) for n in range(waiting)]


def _match(waiting: int, times: int) -> dict[str, float]:
    """us for each `poll` of one message among so many that do not match."""
    box = flex.Mailbox("me", max_messages=1 << 20, max_bytes=1 << 30)
    for message in _filled(waiting):
        check(box.put(Parcel(message, OVERHEAD, message.src, None)))
    wanted = Message("A", "me", {"tag": "x", "n": -1})
    found: dict[str, float] = {}
    for name, criteria in (
        ("mf/python", {"tag": "x"}),
        ("mf/python/function", {"tag": lambda tag: tag == "x"}),
    ):
        box.peek(src="A", **criteria)
        spent = 0.0
        for _ in range(times):
            check(box.put(Parcel(wanted, OVERHEAD, "A", None)))
            before = perf_counter()
            message = box.poll(src="A", **criteria)
            spent += perf_counter() - before
            check(message.n == -1)
        found[name] = spent / times * 1e6
    return found


def _walk(waiting: int, times: int) -> float:
    """The same as the paper does it: from the first message on, until one fits."""
    queue = [{"src": each.src, "tag": each.tag, "n": each.n} for each in _filled(waiting)]
    wanted = {"src": "A", "tag": "x"}
    spent = 0.0
    for _ in range(times):
        queue.append({"src": "A", "tag": "x", "n": -1})
        before = perf_counter()
        index = next(
            index
            for index, message in enumerate(queue)
            if all(name in message and message[name] == value for name, value in wanted.items())
        )
        check(queue.pop(index)["n"] == -1)
        spent += perf_counter() - before
    return spent / times * 1e6


def main(arguments: list[str]) -> None:
    if arguments[0] == "match":
        waiting, times = map(int, arguments[1:])
        walked = _walk(waiting, max(3, min(times, 1_000_000 // (waiting + 1))))
        print(json.dumps({"raw": walked, **_match(waiting, times)}))
    elif arguments[1] == "server":
        _serve(arguments[0])
    else:
        way, port = arguments[0], int(arguments[2])
        play(*(_node(port) if way == "node" else _WAYS[way](_connected(port))))


if __name__ == "__main__":
    main(sys.argv[1:])
