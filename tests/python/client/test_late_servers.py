"""Servers that take longer than a moment, as in a large network: calls reach them, and wait for them where no
other can take the call.
"""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

import pytest

import mf
from mf.core.error import Code
from mf.core.immediate import immediate
from mf.protocol.events import BindRequested
from mf.protocol.handshake import Hello
from mf.protocol.server_session import ServerSession
from mf.route.blocking_pool import BlockingPool
from mf.route.pool import Pool
from mf.route.resolver import Instance
from tests.python.conftest import Recorder
from tests.python.echo import EchoAsyncClient, EchoClient

OPTIONS = mf.CallOptions(deadline=20.0)


@contextmanager
def scripted(bind: Callable[[ServerSession, BindRequested], None]) -> Iterator[str]:
    """A server that answers each BIND in its way, and each request with 42."""

    def serve(theirs: socket.socket) -> None:
        session = ServerSession(Hello(nonce=bytes(16), max_in_flight=9), bytearray(65536))
        with theirs:
            while count := theirs.recv_into(session.window()):
                for event in session.received(count):
                    if isinstance(event, BindRequested):
                        bind(session, event)
                    elif isinstance(event, tuple):
                        session.reply(event[1], event[2], 0, 1, 1, (42).to_bytes(4, "little"))
                theirs.sendall(b"".join(session.take_output()))

    def accept() -> None:
        while True:
            try:
                theirs, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(theirs,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=accept, daemon=True).start()
        yield f"tcp://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("refuses", [True, False], ids=["refuses", "silent"])
@pytest.mark.parametrize("awaits", [False, True], ids=["blocking", "asyncio"])
def test_a_server_that_is_late_is_waited_for_when_the_other_refuses_or_is_silent(
    awaits: bool, refuses: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Pool, "ordered", lambda _, candidates: candidates)
    monkeypatch.setattr("mf.route.adaptation.HANDSHAKE_TIMEOUT", 60.0)
    other_asked = threading.Event()

    def late(session: ServerSession, event: BindRequested) -> None:
        assert other_asked.wait(20)  # it is asked once this one was waited for
        session.accept(event, ["x"] * len(event.methods))

    def refuse(session: ServerSession, event: BindRequested) -> None:
        if refuses:
            session.reject(event, Code.UNKNOWN_AGENT, "not here")
        other_asked.set()

    async def call(where: str) -> int:
        async with mf.AsyncClient(where) as client:
            return await EchoAsyncClient(client).at("a").twice(1, options=OPTIONS)

    with scripted(late) as one, scripted(refuse) as other:
        if awaits:
            assert asyncio.run(call(f"{one},{other}")) == 42
        else:
            with mf.Client(f"{one},{other}") as client:
                assert EchoClient(client).at("a").twice(1, options=OPTIONS) == 42


def test_a_server_that_was_connected_to_beside_another_is_there_when_that_one_has_gone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It was greeted, since a server gives up a connection on which it hears nothing for 2 s."""
    servers = [mf.Server(options=mf.ServerOptions(drain_timeout=1.0)) for _ in range(2)]
    for server in servers:
        server.offer(Recorder(), agent="a")
        server.start()
    with mf.Client(",".join(server.address for server in servers)) as client:
        assert EchoClient(client).at("a").twice(1, options=OPTIONS) == 2
        pool = client._pool
        assert isinstance(pool, BlockingPool)
        for server in servers:
            link = pool.usable(Instance(server.address))
            assert link is not None
            immediate(link.await_greeting(monotonic() + 20))
            assert link.peer_hello is not None
    for server in servers:
        server.stop()
    assert "no HELLO" not in caplog.text
