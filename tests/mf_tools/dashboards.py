"""The dashboards that tests ask: that of `mf dash`, and that of a controller itself. Both serve one page, and
events of one form."""

import http.client
import json
import re
import signal
import socket
import subprocess
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import pytest

from tests.http.asking import all_of
from tests.interop.peers import Server
from tests.mf_tools.conftest import Tool

SERVED_BY = ("mf dash", "controller")
OWN = ("--dashboard", "127.0.0.1:0")
"""The options of a controller that serves one, too. It says where in its second line."""


class Dashboard:
    """At `address`, which a browser opens. `cookie`: what its requests show."""

    def __init__(self, address: str) -> None:
        self.address = address
        where = urlsplit(address)
        assert where.hostname is not None
        assert where.port is not None
        self.host, self.port = where.hostname, where.port
        self.key = where.query.removeprefix("key=")

    @property
    def cookie(self) -> dict[str, str]:
        return {"Cookie": f"mf-dash-{self.port}={self.key}"} if self.key else {}

    def get(
        self, path: str = "/", headers: dict[str, str] | None = None, method: str = "GET"
    ) -> tuple[int, dict[str, str], bytes]:
        """With the cookie, unless `headers` have another one."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, headers={**self.cookie, **(headers or {})})
            answer = connection.getresponse()
            return answer.status, {name.lower(): of for name, of in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def status(self, path: str = "/", headers: dict[str, str] | None = None, method: str = "GET") -> int:
        return self.get(path, headers, method)[0]

    def raw(self, data: bytes) -> bytes:
        """All that is answered to these bytes."""
        with socket.create_connection(("127.0.0.1", self.port), 30) as connection:
            connection.sendall(data)
            return all_of(connection)

    def events(self, headers: dict[str, str] | None = None) -> "Events":
        return Events(self, headers or {})

    def end(self) -> int:
        return 0


class Dash(Dashboard):
    """A running `mf dash`."""

    def __init__(self, tool: Tool, where: str, *options: str, listen: str = "127.0.0.1:0") -> None:
        arguments = ("dash", "--where", where, "--listen", listen, "--json", *options)
        self.process: subprocess.Popen[bytes] = tool.process(*arguments)
        assert self.process.stdout is not None
        super().__init__(json.loads(self.process.stdout.readline())["address"])
        assert re.fullmatch(r"https?://(.*):(\d+)/\?key=(.*)", self.address)

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=30)
        return self.process.returncode


class Events:
    """A reader of /events."""

    def __init__(self, dash: Dashboard, headers: dict[str, str]) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", dash.port, timeout=30)
        self._connection.request("GET", "/events", headers={**dash.cookie, **headers})
        self._answer = self._connection.getresponse()
        self.status = self._answer.status

    def next(self) -> tuple[str, Any]:
        while (line := self._answer.readline()).startswith(b":"):  # a comment
            assert self._answer.readline() == b"\n"
        name = line.removeprefix(b"event: ").strip().decode()
        data = json.loads(self._answer.readline().removeprefix(b"data: "))
        assert self._answer.readline() == b"\n"
        return name, data

    def text(self) -> str:
        return self._answer.read().decode()

    def close(self) -> None:
        self._answer.close()
        self._connection.close()


Serve = Callable[..., Dashboard]
"""A dashboard of a controller that was started with OWN. The second argument and further ones are options of
`mf dash`."""

_own: WeakKeyDictionary[Server, str] = WeakKeyDictionary()


def own_of(controller: Server) -> Dashboard:
    """The one that the controller serves."""
    if controller not in _own:
        _own[controller] = controller.line()
    return Dashboard(_own[controller])


def serve_by(kind: str, tool: Tool) -> Serve:
    def serve(controller: Server, *options: str) -> Dashboard:
        return Dash(tool, controller.address, *options) if kind == "mf dash" else own_of(controller)

    return serve


@pytest.fixture(params=SERVED_BY)
def served_by(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def serve(served_by: str, tool: Tool) -> Serve:
    return serve_by(served_by, tool)
