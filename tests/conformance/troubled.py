"""Peers in trouble: each gives an address at which calls fail in one certain way."""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mf.core.error import Code, not_executed
from mf.protocol.events import BindRequested, DescribeRequested
from mf.protocol.handshake import Hello
from mf.protocol.server_session import ServerSession

LOOPBACK = "127.0.0.1"
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: closing throws away what was not sent, and says so

# What a peer does with one that has connected; it may block, as nothing else waits for it.
Serve = Callable[[socket.socket], None]


@contextmanager
def peer(serve: Serve) -> Iterator[str]:
    """Connections are served one after the other."""
    with socket.create_server((LOOPBACK, 0)) as listening:
        thread = threading.Thread(target=_accept, args=(listening, serve), daemon=True)
        thread.start()
        yield f"tcp://{LOOPBACK}:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)
    thread.join()


def _accept(listening: socket.socket, serve: Serve) -> None:
    while True:
        try:
            connected, _ = listening.accept()
        except OSError:
            return
        with connected, contextlib.suppress(OSError):
            connected.settimeout(5)
            serve(connected)


@contextmanager
def nobody() -> Iterator[str]:
    """Its connections are refused: the port is bound, and no process listens."""
    with socket.socket() as bound:
        bound.bind((LOOPBACK, 0))
        yield f"tcp://{LOOPBACK}:{bound.getsockname()[1]}"


@contextmanager
def full() -> Iterator[str]:
    """Its queue is full: connections are neither accepted nor refused."""
    with socket.create_server((LOOPBACK, 0), backlog=0) as listening:
        address = listening.getsockname()
        queued = [socket.socket() for _ in range(4)]
        for each in queued:
            each.setblocking(False)
            each.connect_ex(address)
        yield f"tcp://{LOOPBACK}:{address[1]}"
        for each in queued:
            each.close()


def silent(connected: socket.socket) -> None:
    """Takes everything and says nothing."""
    while connected.recv(65536):
        pass


def closes_at_once(connected: socket.socket) -> None:
    connected.recv(65536)


def resets_at_once(connected: socket.socket) -> None:
    connected.recv(65536)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)


def speaks_http(connected: socket.socket) -> None:
    connected.recv(65536)
    connected.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")


def session(
    on_request: Callable[[ServerSession, socket.socket, tuple[int, ...]], bool], **hello: int
) -> Serve:
    """Binds whatever is asked for; `on_request` says whether to go on."""

    def serve(connected: socket.socket) -> None:
        ours = ServerSession(Hello(nonce=bytes(16), max_in_flight=9, **hello), bytearray(1 << 20))  # type: ignore[arg-type]
        while count := connected.recv_into(ours.window()):
            for event in ours.received(count):
                if isinstance(event, BindRequested):
                    ours.accept(event, ["x"] * len(event.methods))
                elif isinstance(event, tuple) and not on_request(ours, connected, event):
                    return
            connected.sendall(b"".join(ours.take_output()))

    return serve


def refuses(code: Code, text: str) -> Serve:
    """Answers each request so, not executed."""

    def answer(ours: ServerSession, _: socket.socket, event: tuple[int, ...]) -> bool:
        ours.fail(event[1], event[2], event[5], not_executed(code, text))
        return True

    return session(answer)


def other_schema(descriptor: str) -> Serve:
    """Has another schema of all services, and gives this descriptor of it."""

    def serve(connected: socket.socket) -> None:
        ours = ServerSession(Hello(nonce=bytes(16), max_in_flight=9), bytearray(1 << 20))
        while count := connected.recv_into(ours.window()):
            for event in ours.received(count):
                if isinstance(event, BindRequested):
                    text = f"client and server were generated from different schemas of {event.service}"
                    ours.reject(event, Code.SCHEMA_MISMATCH, text)
                elif isinstance(event, DescribeRequested):
                    ours.describe(event.service, descriptor, asked=event.asked)
            connected.sendall(b"".join(ours.take_output()))

    return serve


def closes_in_flight(_: ServerSession, connected: socket.socket, event: tuple[int, ...]) -> bool:
    del connected, event
    return False


def resets_in_flight(_: ServerSession, connected: socket.socket, event: tuple[int, ...]) -> bool:
    del event
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    return False


def keeps_quiet(_: ServerSession, connected: socket.socket, event: tuple[int, ...]) -> bool:
    del connected, event
    return True
