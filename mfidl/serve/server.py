"""HTTP for one person on this machine: the files of the page, and answers from the worker.

The user that was shown the printed address may ask. A question needs the key of that address, JSON as its
type, and the name and origin of this server, so that neither another page in the same browser nor another
user of the machine can ask. Each connection has one request, a largest size, and a time after which it ends.
"""

import hmac
import json
import secrets
import socket
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from mfidl.places import TEMPLATES
from mfidl.serve.worker import Busy, Worker

LARGEST = 256 << 10  # bytes of a question
_DIGITS = 10  # of a length that is read as a number
_CONNECTIONS = 16
_SECONDS = 20.0  # of a connection, its answer included
_IDLE = 5.0  # seconds between two pieces of a request
_FOLDER = Path(TEMPLATES) / "serve"
_PICTURE = Path(TEMPLATES) / "picture" / "picture.css"
_HTML, _CSS, _JS = "text/html; charset=utf-8", "text/css; charset=utf-8", "text/javascript; charset=utf-8"
_FILES = {
    "/": (_FOLDER / "page.html", _HTML),
    "/page.css": (_FOLDER / "page.css", _CSS),
    "/picture.css": (_PICTURE, _CSS),
    "/page.js": (_FOLDER / "page.js", _JS),
    "/editor.js": (_FOLDER / "editor.js", _JS),
    "/icon.svg": (_FOLDER / "icon.svg", "image/svg+xml"),
    "/example.mfidl": (_FOLDER / "example.mfidl", "text/plain; charset=utf-8"),
    "/older.mfidl": (_FOLDER / "older.mfidl", "text/plain; charset=utf-8"),
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Playground(ThreadingHTTPServer):
    """Listens on the loopback interface only. `port` 0: any that is free."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, port: int = 0, worker: Worker | None = None) -> None:
        self.key = secrets.token_urlsafe(16)
        self.worker = Worker() if worker is None else worker
        self._places = threading.Semaphore(_CONNECTIONS)
        super().__init__(("127.0.0.1", port), _Request)  # closes itself where it cannot listen

    @property
    def address(self) -> str:
        """For the browser, with the key; what is behind `#` is not sent, and so in no log."""
        return f"http://127.0.0.1:{self.server_port}/#{self.key}"

    @property
    def names(self) -> tuple[str, str]:
        return f"127.0.0.1:{self.server_port}", f"localhost:{self.server_port}"

    def server_close(self) -> None:
        super().server_close()
        self.worker.close()

    def process_request(self, request: Any, client_address: Any) -> None:
        """One connection too many is closed at once."""
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        end = threading.Timer(_SECONDS, _cut, (request,))
        end.daemon = True
        end.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            end.cancel()
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that went away is no error; of others one line is printed, with nothing of a question."""
        error = sys.exception()
        if not isinstance(error, OSError):
            print(f"mfidlc: the playground failed: {type(error).__name__}", file=sys.stderr)


def _cut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it has ended


class _Request(BaseHTTPRequestHandler):
    server: Playground
    server_version = "mfidlc"
    sys_version = ""
    timeout = _IDLE

    def do_GET(self) -> None:
        if not self._is_for_us():
            return
        found = _FILES.get(self.path)
        if found is None:
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such page")
            return
        path, kind = found
        self._send(HTTPStatus.OK, kind, path.read_bytes())

    def do_POST(self) -> None:
        if not self._is_for_us() or not self._may_ask():
            return
        question = self._question()
        if question is None:
            return
        try:
            answer = self.server.worker.ask(question)
        except Busy:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "other questions are being answered: ask again")
            return
        self._send(HTTPStatus.OK, "application/json", answer)

    def _is_for_us(self) -> bool:
        """A page of another origin whose name leads to this address has a Host of its own."""
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or hosts[0] not in self.server.names:
            self._refuse(HTTPStatus.FORBIDDEN, "this server is 127.0.0.1 and localhost only")
            return False
        origins = self.headers.get_all("Origin") or []
        if any(each not in self._origins() for each in origins):
            self._refuse(HTTPStatus.FORBIDDEN, "pages of other origins may not ask")
            return False
        return True

    def _origins(self) -> tuple[str, ...]:
        return tuple(f"http://{name}" for name in self.server.names)

    def _may_ask(self) -> bool:
        if self.path != "/answer":
            self._refuse(HTTPStatus.NOT_FOUND, "questions go to /answer")
        elif not self.headers.get_all("Origin"):
            self._refuse(HTTPStatus.FORBIDDEN, "a question needs its Origin")
        elif not hmac.compare_digest((self.headers.get("X-Key") or "").encode(), self.server.key.encode()):
            self._refuse(HTTPStatus.FORBIDDEN, "the key is wrong: open the address that mfidlc has printed")
        elif self.headers.get_content_type() != "application/json":
            self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a question is JSON")
        else:
            return True
        return False

    def _question(self) -> dict[str, Any] | None:
        size = self.headers.get("Content-Length", "")
        if (
            not (size.isascii() and size.isdigit() and len(size) < _DIGITS)
            or "Transfer-Encoding" in self.headers
        ):
            self._refuse(HTTPStatus.LENGTH_REQUIRED, "a question says its length")
            return None
        if int(size) > LARGEST:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a question has at most {LARGEST} bytes")
            return None
        try:
            found = json.loads(self.rfile.read(int(size)))
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            self._refuse(HTTPStatus.BAD_REQUEST, "a question is a JSON object")
            return None
        return found

    def _refuse(self, status: HTTPStatus, reason: str) -> None:
        self._send(status, "application/json", json.dumps({"failure": reason}).encode())

    def _send(self, status: HTTPStatus, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What http.server refuses itself: requests that are no HTTP, and other methods."""
        self._send(HTTPStatus(code), "application/json", json.dumps({"failure": message or explain}).encode())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that http.server gives it
        """Nothing: requests are one person's typing."""
