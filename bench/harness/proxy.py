"""A TCP proxy that counts the bytes in each direction."""

from __future__ import annotations

import contextlib
import socket
import threading


class CountingProxy:
    def __init__(self, port: int) -> None:
        self.requests = 0  # bytes from clients
        self.replies = 0
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._open: list[socket.socket] = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._to))
            except OSError:
                return
            self._open += [client, server]
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._pass, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, False), daemon=True).start()

    def _pass(self, source: socket.socket, to: socket.socket, requests: bool) -> None:
        with contextlib.suppress(OSError):
            while got := source.recv(65536):
                if requests:
                    self.requests += len(got)
                else:
                    self.replies += len(got)
                to.sendall(got)
            to.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        for end in self._open:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
