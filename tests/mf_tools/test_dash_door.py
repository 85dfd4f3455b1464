"""`mf dash`: which requests its HTTP side answers, and which it refuses."""

import http.client
import json
import re
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mf
from mf_tools.dash.door import MOST_CONNECTIONS, MOST_READERS
from tests.interop.peers import Server
from tests.mf_tools.conftest import Peers, Tool
from tests.mf_tools.test_doctor import signed
from tests.python.certificates import Authority
from tests.python.flowing import Plain

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


class Dash:
    """A running `mf dash`."""

    def __init__(self, tool: Tool, where: str, *options: str, listen: str = "127.0.0.1:0") -> None:
        arguments = ("dash", "--where", where, "--listen", listen, "--json", *options)
        self.process: subprocess.Popen[bytes] = tool.process(*arguments)
        assert self.process.stdout is not None
        self.address: str = json.loads(self.process.stdout.readline())["address"]
        found = re.fullmatch(r"https?://(.*):(\d+)/\?key=(.*)", self.address)
        assert found is not None
        self.host, self.port, self.key = found[1], int(found[2]), found[3]

    @property
    def cookie(self) -> dict[str, str]:
        return {"Cookie": f"mf-dash-{self.port}={self.key}"}

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
            return b"".join(iter(lambda: connection.recv(1 << 16), b""))

    def events(self) -> "Events":
        return Events(self)

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=30)
        return self.process.returncode


class Events:
    """A reader of /events."""

    def __init__(self, dash: Dash) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", dash.port, timeout=30)
        self._connection.request("GET", "/events", headers=dash.cookie)
        self._answer = self._connection.getresponse()
        self.status = self._answer.status

    def next(self) -> tuple[str, Any]:
        name = self._answer.readline().removeprefix(b"event: ").strip().decode()
        data = json.loads(self._answer.readline().removeprefix(b"data: "))
        assert self._answer.readline() == b"\n"
        return name, data

    def close(self) -> None:
        self._answer.close()
        self._connection.close()


@pytest.fixture
def dash(tool: Tool, controller: Server, registered: Server) -> Iterator[Dash]:
    del registered
    started = Dash(tool, controller.address)
    yield started
    started.end()


def test_the_page_its_style_and_its_program_come_with_a_strict_policy(dash: Dash) -> None:
    for path, kind in (("/", "text/html"), ("/dash.css", "text/css"), ("/dash.js", "text/javascript")):
        status, headers, body = dash.get(path)
        assert (status, headers["content-type"]) == (200, f"{kind}; charset=utf-8")
        assert {name: headers[name] for name in HEADERS} == HEADERS
        assert len(body) > 1000
    assert dash.status("/other") == 404


def test_the_page_has_no_script_and_no_style_within_it(dash: Dash) -> None:
    page, program = dash.get("/")[2].decode(), dash.get("/dash.js")[2].decode()
    assert re.findall(r"<script(?! src=)|<style|\son\w+=|\sstyle=", page) == []
    assert re.findall(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b", program) == []


def test_the_key_becomes_a_cookie_that_no_program_of_a_page_reads(dash: Dash) -> None:
    status, headers, _ = dash.get(f"/?key={dash.key}", {"Cookie": ""})
    assert (status, headers["location"]) == (303, "/")
    wanted = f"mf-dash-{dash.port}={dash.key}; Path=/; HttpOnly; SameSite=Strict"
    assert headers["set-cookie"] == wanted


@pytest.mark.parametrize("path", ["/", "/events", "/dash.js", "/?key=", "/?key=wrong", "/?key=%C3%A9"])
def test_a_request_without_the_key_is_refused(dash: Dash, path: str) -> None:
    assert dash.status(path, {"Cookie": ""}) == 401
    assert dash.status(path, {"Cookie": f"mf-dash-{dash.port}=wrong; other={dash.key}"}) == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.1", ""]
)
@pytest.mark.parametrize("path", ["/", "/events"])
def test_a_request_for_another_host_is_refused(dash: Dash, host: str, path: str) -> None:
    status, headers, body = dash.get(path, {"Host": host})
    assert status == 421
    assert b"not known under this name" in body
    assert headers["content-security-policy"] == HEADERS["content-security-policy"]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "[::1]"])
def test_the_names_of_loopback_are_answered(dash: Dash, host: str) -> None:
    assert dash.status("/", {"Host": f"{host}:{dash.port}"}) == 200


def test_a_request_of_another_origin_is_refused(dash: Dash) -> None:
    own = f"http://127.0.0.1:{dash.port}"
    assert dash.status("/dash.js", {"Origin": own}) == 200
    for origin in ("https://evil.example", "null", own + "0", f"https://127.0.0.1:{dash.port}"):
        assert dash.status("/dash.js", {"Origin": origin}) == 403, origin
    for site, wanted in (("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)):
        assert dash.status("/dash.js", {"Sec-Fetch-Site": site}) == wanted
    assert dash.status("/", {"Sec-Fetch-Site": "cross-site"}) == 200  # a link to it may be followed


def test_what_is_no_request_is_refused(dash: Dash) -> None:
    cookie = f"Cookie: mf-dash-{dash.port}={dash.key}\r\n".encode()
    ask = b"GET / HTTP/1.1\r\nHost: localhost\r\n" + cookie
    assert dash.raw(ask + b"\r\n").startswith(b"HTTP/1.1 200 ")
    for wrong in (
        b"nonsense\r\n\r\n",
        b"\xff\xfe\r\n\r\n",
        b"GET / HTTP/3\r\nHost: localhost\r\n\r\n",
        b"GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\n\r\n",
        ask + b"no colon\r\n\r\n",
        ask + b" folded: line\r\n\r\n",
        ask + b"Host: localhost\r\n\r\n",
        ask + b"Content-Length: 5\r\n\r\n12345",
        ask + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ):
        assert dash.raw(wrong).startswith(b"HTTP/1.1 400 "), wrong
    assert dash.status(method="POST") == 405
    assert dash.status(method="DELETE") == 405
    two = dash.raw(ask + b"\r\n" + ask + b"\r\n")
    assert two.count(b"HTTP/1.1 ") == 1  # one request a connection


def test_readers_of_events_are_bounded(dash: Dash) -> None:
    readers = [dash.events() for _ in range(MOST_READERS)]
    assert [each.status for each in readers] == [200] * MOST_READERS
    assert dash.events().status == 503
    name, everything = readers[0].next()
    assert name == "all"
    assert set(everything) >= {"put", "changes", "controller"}
    for each in readers:
        each.close()


def test_silent_connections_do_not_keep_pages_out(dash: Dash) -> None:
    """The oldest of them is ended for a connection too many."""
    page = dash.events()
    assert page.next()[0] == "all"
    silent = [socket.create_connection(("127.0.0.1", dash.port), 30) for _ in range(MOST_CONNECTIONS - 1)]
    assert [dash.status() for _ in range(2)] == [200, 200]
    assert silent[0].recv(1) == b""
    silent[-1].sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert silent[-1].recv(12) == b"HTTP/1.1 401"
    for each in silent:
        each.close()
    page.close()


def test_it_ends_on_ctrl_c(tool: Tool, controller: Server) -> None:
    dash = Dash(tool, controller.address)
    reader = dash.events()
    assert reader.next()[0] == "all"
    assert dash.end() == 130


def test_beyond_this_host_it_needs_to_be_opened_and_tls(tool: Tool, controller: Server) -> None:
    at = ("dash", "--where", controller.address, "--listen")
    assert "is beyond this host" in tool.fails(2, *at, "0.0.0.0:0")
    assert "its key would pass in clear" in tool.fails(2, *at, "0.0.0.0:0", "--open")
    assert "go together" in tool.fails(2, *at, "0.0.0.0:0", "--open", "--tls-key", "a.key")
    assert "is no HOST:PORT" in tool.fails(2, *at, "7480")
    assert "has no IP address" in tool.fails(2, *at, "host.example:7480")
    assert "is no HOST:PORT" in tool.fails(2, *at, "127.0.0.1:0", "--monitor", "x")


def test_a_controller_in_clear_is_not_asked_with_certificates(
    tool: Tool, controller: Server, tmp_path: Path
) -> None:
    authority = Authority(tmp_path)
    for command in (("dash", "--listen", "127.0.0.1:0"), ("top",)):
        said = tool.fails(2, *command, "--where", controller.address, "--ca", authority.file)
        assert "nothing is encrypted there" in said


def test_a_server_is_no_controller(tool: Tool, shop: Server) -> None:
    said = tool.fails(2, "dash", "--where", shop.address, "--listen", "127.0.0.1:0")
    assert said == f"{shop.address} is a server: this needs a controller (mf://) or a relay (relay://)"


def test_an_opened_one_is_served_over_tls_under_its_name(
    tool: Tool, controller: Server, tmp_path: Path
) -> None:
    authority = Authority(tmp_path)
    own = authority.issue("DNS:dash.example")
    options = ("--open", "--name", "dash.example", "--tls-certificate", own.certificate, "--tls-key", own.key)
    dash = Dash(tool, controller.address, *options, listen="0.0.0.0:0")
    try:
        assert dash.host == "dash.example"
        context = ssl.create_default_context(cafile=authority.file)
        answers: list[tuple[int, str]] = []
        for host in ("dash.example", "localhost"):
            with (
                socket.create_connection(("127.0.0.1", dash.port), 30) as plain,
                context.wrap_socket(plain, server_hostname="dash.example") as wrapped,
            ):
                connection = http.client.HTTPConnection("dash.example", dash.port)
                connection.sock = wrapped
                connection.request("GET", f"/?key={dash.key}", headers={"Host": host})
                answer = connection.getresponse()
                answers.append((answer.status, answer.headers.get("Set-Cookie", "")))
        assert answers[0] == (
            303,
            f"mf-dash-{dash.port}={dash.key}; Path=/; HttpOnly; SameSite=Strict; Secure",
        )
        assert answers[1][0] == 421
    finally:
        dash.end()


@pytest.mark.parametrize("shows", [False, True])
def test_processes_that_registered_themselves_are_not_shown_the_token(
    tool: Tool, peers: Peers, tmp_path: Path, shows: bool
) -> None:
    """Unless it is asked for. One that denies because of that is shown as one that does."""
    authority = Authority(tmp_path)
    own, signer = authority.issue(), mf.TokenSigner.generate()
    signed(signer, "token", time.time(), 3600)
    Path("keys.pub").write_text(signer.public_pem())
    secured = ("--certificate", own.certificate, "--key", own.key)
    controller = peers.controller(*secured, listen="tls://127.0.0.1:0")
    asked: list[mf.Identity] = []

    def is_known(_: mf.PeerHello, identity: mf.Identity) -> bool:
        asked.append(identity)
        return identity.known

    options = ("--ca", authority.file, "--token-file", "token", *["--show-token-to-processes"] * shows)
    keys = str(tool.folder / "keys.pub")
    with mf.Server(
        "tls://127.0.0.1:0",
        controller.address,
        tls=authority.issue(),
        controller_tls=authority.accepted,
        authenticate=is_known,
        token_keys=keys,
        token_audience="desk",
    ) as server:
        server.offer(Plain())
        dash = Dash(tool, controller.address, *options)
        try:
            states = [each["health"]["state"] for each in asked_of(dash)]
        finally:
            dash.end()
        names = {each.name for each in asked}
        asked.clear()
        listed = tool.well("ls", "--health", "--where", controller.address, *options[:4])
    assert states == ["serving" if shows else "denied"]
    assert names == {"token:web" if shows else ""}
    assert "UNAUTHENTICATED" in listed
    assert {each.name for each in asked} == {""}  # `mf ls` never shows it


def asked_of(dash: Dash) -> list[Any]:
    """All processes, once the state of each is known."""
    reader = dash.events()
    found: dict[str, Any] = {}
    while not found or not all(each["health"] for each in found.values()):
        _, event = reader.next()
        found.update({each["id"]: each for each in event.get("put", [])})
    reader.close()
    return list(found.values())
