"""Servers of both kinds with one interface, for tests with blocking clients: an AsyncServer runs on the loop
of its own thread.
"""

import asyncio
import socket
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

import mf
from mf.server.server import Server

T = TypeVar("T")
PATIENCE = 20.0


class LoopServer:
    """The interface of mf.Server for tests, with asyncio servants."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="test-loop", daemon=True)
        self.server = mf.AsyncServer(*arguments, **named)

    def offer(self, servant: mf.AsyncServant, agent: Any = None, **options: Any) -> None:
        self.server.offer(servant, agent, **options)

    def stats(self) -> mf.ServerStats:
        return self.server.stats()

    def reload(self) -> bool:
        async def reload() -> bool:
            return self.server.reload()

        return self.on_loop(reload())

    @property
    def address(self) -> str:
        return self.server.address

    @property
    def addresses(self) -> list[str]:
        return self.server.addresses

    @property
    def nonce(self) -> bytes:
        return self.server.nonce

    def start(self) -> None:
        self._thread.start()
        try:
            self.on_loop(self.server.start())
        except BaseException:
            self._end()
            raise

    def adopt(self, connected: socket.socket) -> None:
        async def adopt() -> None:
            self.server.adopt(connected)

        self.on_loop(adopt())

    def stop(self) -> None:
        if not self._loop.is_closed():
            try:
                self.on_loop(self.server.stop())
            finally:
                self._end()

    def on_loop(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(PATIENCE)

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    def __enter__(self) -> "LoopServer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


AnyServer = Server | LoopServer
AnyServant = mf.Servant | mf.AsyncServant


def server_of(
    servant: AnyServant,
    listen: str = "tcp://127.0.0.1:0",
    *,
    agent: Any = None,
    limits: dict[str, mf.Limit] | None = None,
    **options: Any,
) -> AnyServer:
    """The server is not started yet."""
    if isinstance(servant, mf.AsyncServant):
        looped = LoopServer(listen, options=mf.ServerOptions(**options))
        looped.offer(servant, agent, limits=limits)
        return looped
    server = mf.Server(listen, options=mf.ServerOptions(**options))
    server.offer(servant, agent, limits=limits)
    return server
