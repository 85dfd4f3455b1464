"""Clients of the HTTP door: whole requests, bytes as they are, and WebSockets frame by frame."""

import base64
import json
import os
import socket
import ssl
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

PATIENCE = 30.0
JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.body.splitlines()]

    @property
    def code(self) -> str:
        """Of a problem."""
        assert self.headers["Content-Type"] == "application/problem+json", (self.status, self.body)
        assert self.json["status"] == self.status
        assert self.json["type"] == f"urn:mfidl:{self.json['code']}"
        return str(self.json["code"])

    @property
    def detail(self) -> str:
        return str(self.json["detail"])


class Door:
    """At an address like http://127.0.0.1:8080."""

    def __init__(self, address: str, tls: ssl.SSLContext | None = None) -> None:
        self.address = address
        where = urlsplit(address)
        assert where.hostname is not None
        assert where.port is not None
        self.host, self.port = where.hostname, where.port
        self._tls = tls

    def _connection(self) -> HTTPConnection:
        if self._tls is None:
            return HTTPConnection(self.host, self.port, timeout=PATIENCE)
        return HTTPSConnection(self.host, self.port, timeout=PATIENCE, context=self._tls)

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        connection = self._connection()
        try:
            data = body.encode() if isinstance(body, str) else body
            connection.request(method, path, data, dict(headers or {}))
            return answer_of(connection.getresponse())
        finally:
            connection.close()

    def call(self, name: str, arguments: Any = None, **headers: str) -> Answer:
        """A call of SERVICE.METHOD. `arguments`: JSON as text, or what becomes JSON."""
        service, _, method = name.rpartition(".")
        body = arguments if isinstance(arguments, str | bytes) else json.dumps(arguments or {})
        given = JSON | {each.replace("_", "-"): value for each, value in headers.items()}
        return self.ask("POST", f"/v1/{service}/{method}", body, given)

    def result(self, name: str, arguments: Any = None, **headers: str) -> Any:
        answer = self.call(name, arguments, **headers)
        assert answer.status == 200, (answer.status, answer.body)
        return answer.json

    def socket(self) -> socket.socket:
        plain = socket.create_connection((self.host, self.port), timeout=PATIENCE)
        return plain if self._tls is None else self._tls.wrap_socket(plain, server_hostname=self.host)

    def raw(self, sent: bytes) -> bytes:
        """All that the door answers until it ends the connection."""
        with self.socket() as opened:
            opened.sendall(sent)
            return all_of(opened)

    def websocket(self, path: str, headers: Mapping[str, str] | None = None) -> "WebSocket":
        return WebSocket(self.socket(), f"{self.host}:{self.port}", path, dict(headers or {}))


def answer_of(response: HTTPResponse) -> Answer:
    return Answer(response.status, dict(response.getheaders()), response.read())


def all_of(opened: socket.socket) -> bytes:
    parts = []
    try:
        while part := opened.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


class WebSocket:
    """`refused`: the answer in the place of a WebSocket, if there was one."""

    def __init__(self, opened: socket.socket, host: str, path: str, headers: dict[str, str]) -> None:
        self._socket = opened
        key = base64.b64encode(os.urandom(16)).decode()
        fields = {
            "Host": host,
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": key,
            "Sec-WebSocket-Version": "13",
        } | headers
        lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
        opened.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self._input = opened.makefile("rb")
        status = int(self._input.readline().split()[1])
        answered: dict[str, str] = {}
        while line := self._input.readline().decode().strip():
            name, _, value = line.partition(": ")
            answered[name] = value
        self.refused: Answer | None = None
        if status != 101:
            body = self._input.read(int(answered.get("Content-Length", "0")))
            self.refused = Answer(status, answered, body)

    def send(self, value: Any) -> None:
        self.frame(TEXT, json.dumps(value).encode())

    def frame(self, opcode: int, data: bytes, *, masked: bool = True, first: int | None = None) -> None:
        head = bytes([0x80 | opcode if first is None else first])
        mask = 0x80 if masked else 0
        if len(data) < 126:
            head += bytes([mask | len(data)])
        elif len(data) < 65536:
            head += bytes([mask | 126]) + struct.pack(">H", len(data))
        else:
            head += bytes([mask | 127]) + struct.pack(">Q", len(data))
        if masked:
            key = b"\x01\x02\x03\x04"
            head += key
            data = bytes(byte ^ key[i % 4] for i, byte in enumerate(data))
        self.send_bytes(head + data)

    def send_bytes(self, sent: bytes) -> None:
        self._socket.sendall(sent)

    def receive(self) -> tuple[int, bytes]:
        """The next frame; (CLOSE, b"") at the end of the connection."""
        head = self._input.read(2)
        if len(head) < 2:
            return CLOSE, b""
        size = head[1]
        if size == 126:
            (size,) = struct.unpack(">H", self._input.read(2))
        elif size == 127:
            (size,) = struct.unpack(">Q", self._input.read(8))
        return head[0] & 0x0F, self._input.read(size)

    def next(self) -> Any:
        opcode, data = self.receive()
        assert opcode == TEXT, (opcode, data)
        return json.loads(data)

    def rest(self) -> Iterator[Any]:
        """What comes until it is closed as it should be."""
        while True:
            opcode, data = self.receive()
            if opcode == CLOSE:
                assert struct.unpack(">H", data[:2]) == (1000,), data
                self.frame(CLOSE, data[:2])
                return
            yield json.loads(data)

    def close_code(self) -> int | None:
        """Why it was closed; None: the connection has ended without a word."""
        while True:
            opcode, data = self.receive()
            if opcode == CLOSE:
                return struct.unpack(">H", data[:2])[0] if data else None

    def close(self) -> None:
        self._input.close()
        self._socket.close()

    def __enter__(self) -> "WebSocket":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
