"""R3. An HTTP door for operators: metrics and health, to read alone.

One thread accepts, and each connection has one for a few seconds; few are open at once. It listens at
loopback unless it is opened, and answers there only requests for a loopback host, so that no page of a
browser can read it by a name of its own.
"""

import ipaddress
import socket
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import inf
from threading import Lock, Thread
from time import monotonic
from typing import Any, NamedTuple

from mf.core.exposition import CONTENT_TYPES, Exposition
from mf.core.log import log_escaped_exception
from mf.monitor.process import expose_process

_MOST_CONNECTIONS = 32
"""One more is closed at once."""
_REQUEST_WITHIN = 5.0
"""Seconds for which a connection may be open."""
_LOOK_EVERY = 0.5
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


class Source(NamedTuple):
    """`expose(out)` writes the metrics. `not_ready()`: why no work may be given, a line for each reason;
    empty: it is ready. Both are called on threads of the door."""

    expose: Callable[[Exposition], None]
    not_ready: Callable[[], str]


class Door:
    """`where`: HOST:PORT; port 0 takes any free one. Raises ValueError for what is no such address, or for
    one beyond loopback unless it is `opened`, and OSError, in one sentence, if it cannot listen there."""

    def __init__(self, where: str, *, opened: bool, source: Source) -> None:
        host, port = endpoint_of(where, opened=opened)
        try:
            self._server = _Server(host, port, source)
        except OSError as failed:
            raise OSError(f"monitor '{where}': cannot listen there: {failed.strerror or failed}") from None
        self._thread = Thread(
            target=self._server.serve_forever, args=(_LOOK_EVERY,), name="mf-monitor", daemon=True
        )
        self._thread.start()

    @property
    def address(self) -> str:
        """HOST:PORT."""
        host, port = self._server.server_address[:2]
        shown = host.decode() if isinstance(host, bytes | bytearray) else str(host)
        return f"[{shown}]:{port}" if ":" in shown else f"{shown}:{port}"

    def close(self) -> None:
        """The source is not asked about new requests any more when it returns."""
        self._server.shutdown()
        self._server.end(inf)
        self._server.server_close()

    def after_fork(self) -> None:
        """In a child, where its threads do not run."""
        self._server.socket.close()


def endpoint_of(where: str, *, opened: bool) -> tuple[str, int]:
    """Raises ValueError, as Door does."""
    host, colon, port = where.rpartition(":")
    if not colon:
        raise ValueError(f"monitor '{where}' is no HOST:PORT")
    if not port.isdecimal() or not port.isascii() or int(port) > 0xFFFF:
        raise ValueError(f"monitor '{where}' has no port from 0 to 65535")
    host = "127.0.0.1" if host == "localhost" else host.removeprefix("[").removesuffix("]")
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise ValueError(f"monitor '{where}' has no IP address as its host") from None
    if not address.is_loopback and not opened:
        text = (
            "is beyond this host: every program that reaches it may read it; listen at 127.0.0.1, or open it"
        )
        raise ValueError(f"monitor '{where}' {text}")
    return str(address), int(port)


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # each ends in time, and server_close() waits for them
    request_queue_size = _MOST_CONNECTIONS

    def __init__(self, host: str, port: int, source: Source) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.is_loopback = ipaddress.ip_address(host).is_loopback
        self.source = source
        self._lock = Lock()
        self._open: dict[Any, float] = {}  # by connection: when it must have ended
        super().__init__((host, port), _Visit)

    def server_bind(self) -> None:
        """Without looking up a name of the host, as HTTPServer would."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ARG002
        with self._lock:
            if len(self._open) >= _MOST_CONNECTIONS:
                return False
            self._open[request] = monotonic() + _REQUEST_WITHIN
            return True

    def close_request(self, request: Any) -> None:
        with self._lock:
            self._open.pop(request, None)
        super().close_request(request)

    def service_actions(self) -> None:
        """Called every _LOOK_EVERY seconds: ends the connections that are open for too long."""
        self.end(monotonic())

    def end(self, now: float) -> None:
        """Ends the connections that must have ended by then; their threads close them."""
        with self._lock:
            late = [request for request, until in self._open.items() if until <= now]
        for request in late:
            with suppress(OSError):  # its peer was quicker
                request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection has failed, which only its peer cares about."""


class _Visit(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """For what is no request, or no method that is known here."""
        self.close_connection = True
        if code in (HTTPStatus.NOT_IMPLEMENTED, HTTPStatus.METHOD_NOT_ALLOWED):
            self._reply(HTTPStatus.METHOD_NOT_ALLOWED, "GET alone\n", {"Allow": "GET, HEAD"})
        elif self.command:
            self._reply(code, "")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Requests are not logged."""

    def version_string(self) -> str:
        return "mf"

    def _answer(self) -> None:
        host = self.headers.get("Host", "")
        name = host if host.endswith("]") or ":" not in host else host.rpartition(":")[0]
        if self.server.is_loopback and name not in _LOOPBACK:
            self._reply(HTTPStatus.MISDIRECTED_REQUEST, "this door answers requests for localhost alone\n")
            return
        if self.headers.get("Content-Length", "0") != "0" or "Transfer-Encoding" in self.headers:
            self.close_connection = True  # a body would be taken for the next request
        path = self.path.partition("?")[0]
        source = self.server.source
        try:
            if path == "/livez":
                self._reply(HTTPStatus.OK, "ok\n")
            elif path == "/readyz":
                why = source.not_ready()
                self._reply(HTTPStatus.SERVICE_UNAVAILABLE if why else HTTPStatus.OK, why or "ok\n")
            elif path == "/metrics":
                is_open = "application/openmetrics-text" in self.headers.get("Accept", "")
                out = Exposition(open_metrics=is_open)
                source.expose(out)
                expose_process(out)
                self._reply(HTTPStatus.OK, out.text(), {"Content-Type": CONTENT_TYPES[is_open]})
            else:
                self._reply(HTTPStatus.NOT_FOUND, "/metrics, /livez and /readyz are here\n")
        except OSError:
            raise
        except Exception as raised:
            log_escaped_exception("the monitor's door", raised)
            self._reply(HTTPStatus.INTERNAL_SERVER_ERROR, "")

    def _reply(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        body = text.encode()
        own = {"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"}
        own |= {"Cache-Control": "no-store", "Content-Length": str(len(body))} | (headers or {})
        if self.close_connection:
            own["Connection"] = "close"
        self.send_response(status)
        for name, value in own.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
