"""The HTTP side of the dashboard: five paths, GET alone, on an asyncio loop.

    /              the page            /dash.css, /model.js, /dash.js    its style and its program
    /events        server-sent events: `all` with everything, then `change` with what has changed
    /?key=KEY      takes the key into a cookie, and goes on to /

Which requests are answered: those with the key, for a Host under which this door is known, that no page of
another origin has made. The key is drawn for each run. Connections, the bytes of a request and its time are
bounded; a reader of events that is slow gets everything anew once it has read what waits for it, instead of
a queue.
"""

import asyncio
import hmac
import json
import re
import ssl
from collections.abc import Iterable
from contextlib import suppress
from http import HTTPStatus
from importlib.resources import files
from time import monotonic
from typing import Any
from urllib.parse import parse_qs, urlsplit

from mf_tools.dash.board import Board

MOST_CONNECTIONS = 64
MOST_READERS = 16
_MOST_HEAD = 16 << 10
_HEAD_WITHIN = 5.0
_WRITE_WITHIN = 30.0
_TICK = 0.5
"""Changes of so many seconds are one event."""
_STILL_EVERY = 15.0
"""Seconds after which a comment is sent if there was no event, so that both sides notice a dead
connection."""
_MOST_WAITING = 1 << 20
"""Bytes that may wait for a reader before it gets no further events."""

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
"""No field has them: others read a line feed alone as the end of one."""

_PAGE = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/dash.css": ("dash.css", "text/css; charset=utf-8"),
    "/model.js": ("model.js", "text/javascript; charset=utf-8"),
    "/dash.js": ("dash.js", "text/javascript; charset=utf-8"),
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_OWN_SITES = ("same-origin", "none")


class Request:
    """The head of one request. Raises ValueError for what is none."""

    def __init__(self, head: bytes) -> None:
        lines = head.decode("ascii").split("\r\n")
        if any(map(_CONTROL.search, lines)):
            raise ValueError("a control character")
        self.method, target, version = lines[0].split(" ")
        if version not in ("HTTP/1.0", "HTTP/1.1") or not target.startswith("/"):
            raise ValueError(lines[0])
        parts = urlsplit(target)
        self.path = parts.path
        self.key = parse_qs(parts.query).get("key", [""])[0]
        self.headers: dict[str, str] = {}
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon or not name or name != name.strip() or name.lower() in self.headers:
                raise ValueError(line)
            self.headers[name.lower()] = value.strip()

    def cookie(self, name: str) -> str:
        pairs = (each.strip().partition("=") for each in self.headers.get("cookie", "").split(";"))
        return next((value for key, _, value in pairs if key == name), "")


class Door:
    """`names`: the values of Host, without a port, that are answered; of a door at a loopback address those
    of loopback are, too. `tls`: None for a door in clear."""

    def __init__(self, board: Board, key: str, names: Iterable[str], tls: ssl.SSLContext | None) -> None:
        self._board = board
        self._key = key
        self._names = frozenset(names)
        self._tls = tls
        self._port = 0
        self._open: set[asyncio.StreamWriter] = set()
        self._silent: dict[asyncio.StreamWriter, None] = {}
        """Connections without a request yet, the oldest first."""
        self._readers: set[_Reader] = set()
        self._files = {path: _read(name) for path, (name, _) in _PAGE.items()}

    async def listen(self, host: str, port: int) -> asyncio.Server:
        """Raises OSError. The address of its first socket is where it listens."""
        server = await asyncio.start_server(
            self._served,
            host,
            port,
            ssl=self._tls,
            ssl_handshake_timeout=_HEAD_WITHIN if self._tls else None,
            limit=_MOST_HEAD,
            backlog=MOST_CONNECTIONS,
        )
        self._port = server.sockets[0].getsockname()[1]
        return server

    async def run(self) -> None:
        """Sends what changes to all readers, until it is cancelled."""
        quiet = 0.0
        while True:
            await asyncio.sleep(_TICK)
            changed = self._board.taken()
            quiet = 0.0 if changed else quiet + _TICK
            if changed is None and quiet < _STILL_EVERY and not any(each.is_behind for each in self._readers):
                continue
            event = b": still here\n\n" if changed is None else _event("change", changed)
            quiet = 0.0
            everything: bytes | None = None
            for reader in list(self._readers):
                if reader.is_behind and reader.has_room:
                    everything = everything or _event("all", self._board.whole())
                    reader.send(everything)
                elif reader.is_behind:
                    reader.end_if_stuck()
                else:
                    reader.send(event)

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, with one request. One too many ends the oldest that has not asked yet, so that
        silent ones do not keep pages out."""
        if len(self._open) >= MOST_CONNECTIONS:
            ended = next(iter(self._silent), writer)
            ended.transport.abort()
            if ended is writer:
                return
            self._forget(ended)
        self._open.add(writer)
        self._silent[writer] = None
        try:
            await self._answer(reader, writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass  # its peer has left, or is too slow
        finally:
            self._forget(writer)
            writer.transport.abort() if writer.transport.get_write_buffer_size() else writer.close()

    def _forget(self, writer: asyncio.StreamWriter) -> None:
        self._open.discard(writer)
        self._silent.pop(writer, None)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_HEAD_WITHIN):
                head = await reader.readuntil(b"\r\n\r\n")
            self._silent.pop(writer, None)
            request = Request(head[:-4])
        except (ValueError, asyncio.LimitOverrunError):
            await self._reply(writer, HTTPStatus.BAD_REQUEST, "this is no request\n")
            return
        refused = self._refusal(request)
        if refused is not None:
            await self._reply(writer, *refused)
        elif request.path == "/" and request.key:
            cookie = f"{self._cookie}={self._key}; Path=/; HttpOnly; SameSite=Strict" + (
                "; Secure" * bool(self._tls)
            )
            await self._reply(writer, HTTPStatus.SEE_OTHER, "", {"Location": "/", "Set-Cookie": cookie})
        elif request.path == "/events":
            await self._events(reader, writer)
        elif request.path in self._files:
            kind = _PAGE[request.path][1]
            await self._reply(writer, HTTPStatus.OK, self._files[request.path], {"Content-Type": kind})
        else:
            await self._reply(writer, HTTPStatus.NOT_FOUND, "there is no such page\n")

    @property
    def _cookie(self) -> str:
        """Cookies of a host are shared by its ports."""
        return f"mf-dash-{self._port}"

    def _refusal(self, request: Request) -> tuple[HTTPStatus, str] | None:
        host = request.headers.get("host", "")
        name, colon, port = host.rpartition(":")
        if not colon or host.endswith("]") or not (port.isdecimal() or port == ""):
            name = host  # without a port, or with one that is none
        if name.lower() not in self._names:
            return HTTPStatus.MISDIRECTED_REQUEST, "this dashboard is not known under this name: see --name\n"
        origin = request.headers.get("origin")
        scheme = "https" if self._tls else "http"
        is_other = origin is not None and origin.lower() != f"{scheme}://{host}".lower()
        if is_other or (
            request.headers.get("sec-fetch-site", "none") not in _OWN_SITES and request.path != "/"
        ):
            return HTTPStatus.FORBIDDEN, "a page of another origin has made this request\n"
        if request.method != "GET":
            return HTTPStatus.METHOD_NOT_ALLOWED, "GET alone\n"
        if "content-length" in request.headers or "transfer-encoding" in request.headers:
            return HTTPStatus.BAD_REQUEST, "a request here has no body\n"
        shown = request.key or request.cookie(self._cookie)
        if not hmac.compare_digest(shown.encode(), self._key.encode()):
            return (
                HTTPStatus.UNAUTHORIZED,
                "open the address that mf dash has printed: it has the key of this run\n",
            )
        return None

    async def _reply(
        self,
        writer: asyncio.StreamWriter,
        status: HTTPStatus,
        body: str | bytes,
        own: dict[str, str] | None = None,
    ) -> None:
        data = body.encode() if isinstance(body, str) else body
        headers = {
            "Content-Type": "text/plain; charset=utf-8",
            "Content-Length": str(len(data)),
            **(own or {}),
        }
        writer.write(_head(status, headers) + data)
        async with asyncio.timeout(_WRITE_WITHIN):
            await writer.drain()

    async def _events(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._readers) >= MOST_READERS:
            text = f"{MOST_READERS} pages are open already\n"
            await self._reply(writer, HTTPStatus.SERVICE_UNAVAILABLE, text)
            return
        writer.write(_head(HTTPStatus.OK, {"Content-Type": "text/event-stream"}))
        follows = _Reader(writer)
        self._readers.add(follows)
        follows.send(_event("all", self._board.whole()))
        try:
            await reader.read(1)  # it says nothing more; this returns when it leaves
        finally:
            self._readers.discard(follows)


class _Reader:
    """A page that follows. One that does not read gets no event until it has, and then everything."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._since = 0.0
        self.is_behind = False

    @property
    def has_room(self) -> bool:
        return self._writer.transport.get_write_buffer_size() == 0

    def end_if_stuck(self) -> None:
        """A reader that takes nothing would keep the place of another one."""
        if self.is_behind and monotonic() - self._since > _WRITE_WITHIN:
            self._writer.transport.abort()

    def send(self, event: bytes) -> None:
        if self._writer.transport.get_write_buffer_size() > _MOST_WAITING:
            self.is_behind, self._since = True, monotonic()
            return
        self.is_behind = False
        with suppress(OSError):
            self._writer.write(event)


def _event(name: str, value: dict[str, Any]) -> bytes:
    """JSON has no line ends, so that it is one line of data."""
    return f"event: {name}\ndata: {json.dumps(value, separators=(',', ':'))}\n\n".encode()


def _head(status: HTTPStatus, own: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status.value} {status.phrase}"]
    lines += [f"{name}: {value}" for name, value in {**_HEADERS, **own, "Connection": "close"}.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


def _read(name: str) -> bytes:
    return files("mf_tools.dash").joinpath("page", name).read_bytes()
