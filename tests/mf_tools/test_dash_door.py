"""The HTTP side of the dashboard, as `mf dash` and as a controller serves it: which requests it answers, and
which it refuses."""

import http.client
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
from mf_tools.scrape import fetched, parsed
from tests.http.asking import Door
from tests.http.bad_requests import BROKEN, altered, check_altered, check_trickle_is_ended
from tests.interop.peers import BUILD, Server, free_port
from tests.mf_tools.conftest import Peers, Tool
from tests.mf_tools.dashboards import OWN, Dash, Dashboard, Events, Serve, own_of, serve, serve_by, served_by
from tests.mf_tools.test_doctor import signed
from tests.python.certificates import Authority
from tests.python.flowing import Plain

__all__ = ["serve", "served_by"]  # fixtures

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@pytest.fixture(scope="module")
def controller(peers: Peers) -> Server:
    return peers.controller(*OWN)


@pytest.fixture
def dash(serve: Serve, controller: Server, registered: Server) -> Iterator[Dashboard]:
    """Of either server."""
    del registered
    started = serve(controller)
    yield started
    started.end()


@pytest.fixture
def tool_dash(tool: Tool, controller: Server, registered: Server) -> Iterator[Dash]:
    del registered
    started = Dash(tool, controller.address)
    yield started
    started.end()


def test_the_page_its_style_and_its_program_come_with_a_strict_policy(dash: Dashboard) -> None:
    script = "text/javascript"
    parts = {"/": "text/html", "/dash.css": "text/css", "/dash.js": script, "/model.js": script}
    for path, kind in parts.items():
        status, headers, body = dash.get(path)
        assert (status, headers["content-type"]) == (200, f"{kind}; charset=utf-8")
        assert {name: headers[name] for name in HEADERS} == HEADERS
        assert len(body) > 1000
    assert dash.status("/other") == 404


def test_the_page_has_no_script_and_no_style_within_it(dash: Dashboard) -> None:
    page = dash.get("/")[2].decode()
    program = dash.get("/dash.js")[2].decode() + dash.get("/model.js")[2].decode()
    assert re.findall(r"<script(?! src=)|<style|\son\w+=|\sstyle=", page) == []
    assert re.findall(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b", program) == []


def test_the_key_becomes_a_cookie_that_no_program_of_a_page_reads(tool_dash: Dash) -> None:
    status, headers, _ = tool_dash.get(f"/?key={tool_dash.key}", {"Cookie": ""})
    assert (status, headers["location"]) == (303, "/")
    wanted = f"mf-dash-{tool_dash.port}={tool_dash.key}; Path=/; HttpOnly; SameSite=Strict"
    assert headers["set-cookie"] == wanted


@pytest.mark.parametrize("path", ["/", "/events", "/dash.js", "/?key=", "/?key=wrong", "/?key=%C3%A9"])
def test_a_request_without_the_key_is_refused(tool_dash: Dash, path: str) -> None:
    assert tool_dash.status(path, {"Cookie": ""}) == 401
    assert tool_dash.status(path, {"Cookie": f"mf-dash-{tool_dash.port}=wrong; other={tool_dash.key}"}) == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.1", ""]
)
@pytest.mark.parametrize("path", ["/", "/events"])
def test_a_request_for_another_host_is_refused(dash: Dashboard, host: str, path: str) -> None:
    status, headers, body = dash.get(path, {"Host": host})
    assert status == 421 or (host == "" and status == 400)
    assert b"name" in body or host == ""
    assert headers["content-security-policy"] == HEADERS["content-security-policy"]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "[::1]"])
def test_the_names_of_loopback_are_answered(dash: Dashboard, host: str) -> None:
    assert dash.status("/", {"Host": f"{host}:{dash.port}"}) == 200


def test_a_request_of_another_origin_is_refused(dash: Dashboard) -> None:
    own = f"http://127.0.0.1:{dash.port}"
    assert dash.status("/dash.js", {"Origin": own}) == 200
    for origin in ("https://evil.example", "null", own + "0", f"https://127.0.0.1:{dash.port}"):
        assert dash.status("/dash.js", {"Origin": origin}) == 403, origin
    for site, wanted in (("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)):
        assert dash.status("/dash.js", {"Sec-Fetch-Site": site}) == wanted
    assert dash.status("/", {"Sec-Fetch-Site": "cross-site"}) == 200  # a link to it may be followed


def test_what_is_no_request_is_refused(tool_dash: Dash) -> None:
    cookie = f"Cookie: mf-dash-{tool_dash.port}={tool_dash.key}\r\n".encode()
    ask = b"GET / HTTP/1.1\r\nHost: localhost\r\n" + cookie
    assert tool_dash.raw(ask + b"\r\n").startswith(b"HTTP/1.1 200 ")
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
        assert tool_dash.raw(wrong).startswith(b"HTTP/1.1 400 "), wrong
    assert tool_dash.status(method="POST") == 405
    assert tool_dash.status(method="DELETE") == 405
    two = tool_dash.raw(ask + b"\r\n" + ask + b"\r\n")
    assert two.count(b"HTTP/1.1 ") == 1  # one request a connection


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_request_of_another_server_is_none_here(tool_dash: Dash, name: str) -> None:
    """Each is asked for the page, with the key: it would be answered, if it were whole."""
    cookie = f"Cookie: mf-dash-{tool_dash.port}={tool_dash.key}\r\n".encode()
    line, end, rest = BROKEN[name][0].replace(b"POST /v1/shop.Clock/now", b"GET /").partition(b"\r\n")
    answered = tool_dash.raw(line + end + cookie + rest + b"\r\n" * (not end))
    assert answered.count(b"HTTP/1.1 ") == 1, answered
    status = 421 if name in ("no host", "a port that is none") else 400
    assert answered.startswith(b"HTTP/1.1 %d " % status), answered


@pytest.mark.parametrize("method", ["POST", "DELETE", "OPTIONS"])
def test_only_get_is_answered(dash: Dashboard, method: str) -> None:
    assert [dash.status(path, method=method) for path in ("/", "/events")] == [405, 405]
    assert dash.status(headers={"Content-Length": "0"}) == 400


def test_readers_of_events_are_bounded(dash: Dashboard) -> None:
    readers = [dash.events() for _ in range(MOST_READERS)]
    assert [each.status for each in readers] == [200] * MOST_READERS
    late = dash.events()
    assert late.status == 503
    late.close()
    name, everything = readers[0].next()
    assert name == "all"
    assert set(everything) >= {"rows", "steps", "controller"}
    for each in readers:
        each.close()


def test_silent_connections_do_not_keep_pages_out(tool_dash: Dash) -> None:
    """The oldest of them is ended for a connection too many."""
    page = tool_dash.events()
    assert page.next()[0] == "all"
    at = ("127.0.0.1", tool_dash.port)
    silent = [socket.create_connection(at, 30) for _ in range(MOST_CONNECTIONS - 1)]
    assert [tool_dash.status() for _ in range(2)] == [200, 200]
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


def asked_of(dash: Dashboard) -> list[Any]:
    """All processes, once the state of each is known."""
    reader = dash.events()
    found: set[str] = set()
    health: dict[str, Any] = {}
    while not found or not found <= set(health):
        _, event = reader.next()
        found.update(each["id"] for each in [*event.get("rows", []), *event.get("put", [])])
        health.update(event.get("health", {}))
    reader.close()
    return [{"health": health[each]} for each in found]


# The form of events


def test_both_servers_send_rows_of_one_form(tool: Tool, controller: Server, registered: Server) -> None:
    del registered
    forms = []
    for serves in (serve_by("mf dash", tool), serve_by("controller", tool)):
        dash = serves(controller, "--no-health")
        reader = dash.events()
        name, event = reader.next()
        while not any(each["kind"] == "topic" for each in event.get("rows", event.get("put", []))):
            name, event = reader.next()
        reader.close()
        dash.end()
        assert name in ("all", "change")
        rows = [{**row, "id": len(row["id"])} for row in event.get("rows", event.get("put"))]
        forms.append(sorted(rows, key=lambda row: (row["kind"], row["name"], row["agent"])))
    of_tool, of_controller = forms
    topics = [each for each in of_controller if each["kind"] == "topic"]
    assert [each for each in of_tool if each["kind"] == "topic"] == topics
    assert [each["name"] for each in topics] == ["shop.News", "shop.Sales"]
    for each in of_tool:
        assert each in of_controller


def test_both_servers_send_steps_of_one_form(serve: Serve, peers: Peers, served_by: str) -> None:
    controller = peers.controller(*OWN)
    dash = serve(controller, "--no-health")
    reader = dash.events()
    name, event = reader.next()
    assert (name, event["server"]) == ("all", served_by)
    assert (event["rows"], event["steps"], event["left_out"]) == ([], [], 0)
    shop = peers.shop(controller=controller.address)
    came = steps_of(reader, "came", "shop.Sales")
    names = ["shop.Clock", "shop.News", "shop.Sales", "shop.Shop", "shop.Shop"]
    assert sorted(each["name"] for each in came if not each["name"].startswith("mf.")) == names
    assert {tuple(each) for each in came} == {
        ("number", "at", "what", "id", "process", "kind", "name", "agent")
    }
    shop.close()
    left = steps_of(reader, "left", "shop.Sales")
    assert {each["id"] for each in left} == {each["id"] for each in came}
    again = dash.events()
    while not (event := again.next()[1]).get("steps"):
        pass
    assert [each["what"] for each in event["steps"][:1]] == ["came"]  # a later page has them, too
    for each in (reader, again):
        each.close()
    dash.end()


def steps_of(reader: Events, what: str, until: str) -> list[Any]:
    """Those of this kind, up to the event that has the one with this name."""
    found: list[Any] = []
    while not any(each["name"] == until for each in found):
        found += [each for each in reader.next()[1].get("steps", []) if each["what"] == what]
    return found


# Of a controller


@pytest.mark.parametrize("name", BROKEN)
def test_a_controller_refuses_what_is_no_request(controller: Server, name: str) -> None:
    sent, status = BROKEN[name]
    answered = own_of(controller).raw(sent)
    assert answered.startswith(b"HTTP/1.1 %d " % status), answered
    assert answered.count(b"HTTP/1.1 ") == 1
    assert b"Connection: close\r\n" in answered


def test_a_controller_goes_on_after_requests_that_are_altered_at_random(controller: Server) -> None:
    dash = own_of(controller)
    head = (
        b"GET /events HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nX: Content-Length: 2\r\n\r\n"
    )
    for sent in altered(head, 200):
        check_altered(Door(dash.address), sent)
    reader = dash.events()
    assert reader.next()[0] == "all"
    reader.close()


def test_bytes_that_trickle_do_not_keep_a_connection_of_a_controller(controller: Server) -> None:
    with socket.create_connection(("127.0.0.1", own_of(controller).port), 30) as opened:
        check_trickle_is_ended(opened, 0.05)


def test_a_reader_must_be_allowed_to_list(peers: Peers, tmp_path: Path) -> None:
    rules = tmp_path / "access"
    rules.write_text("allow dns:ops.example list\n")
    rules.chmod(0o600)
    controller = peers.controller(*OWN, "--access", str(rules))
    dash = own_of(controller)
    assert [dash.status(path) for path in ("/", "/dash.js", "/model.js")] == [200, 200, 200]
    status, headers, body = dash.get("/events")
    assert (status, headers["www-authenticate"]) == (401, "Bearer")
    assert body == (
        b"a client without an identity may not list what is registered, which this dashboard shows: show a "
        b"certificate or a token\n"
    )
    assert dash.status("/events", {"Authorization": "Basic YTpi"}) == 401
    assert "access_denied" in controller.said()
    assert "action=list" in controller.said()
    rules.write_text("allow anyone list\n")
    controller.signal(signal.SIGHUP)
    while (reader := dash.events()).status != 200:
        reader.close()
    reader.close()


def test_a_right_that_is_taken_ends_the_page(peers: Peers, tmp_path: Path) -> None:
    rules = tmp_path / "access"
    rules.write_text("allow anyone list\n")
    rules.chmod(0o600)
    controller = peers.controller(*OWN, "--access", str(rules))
    reader = own_of(controller).events()
    assert reader.next()[0] == "all"
    rules.write_text("deny anyone list\n")
    controller.signal(signal.SIGHUP)
    with pytest.raises(http.client.IncompleteRead):  # which is no end of a stream
        reader.text()
    reader.close()
    assert own_of(controller).status("/events") == 401


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


def asked_over_tls(dash: Dashboard, tls: ssl.SSLContext, headers: dict[str, str] | None = None) -> int:
    """The status of an answer to a request for the events."""
    connection = http.client.HTTPSConnection("127.0.0.1", dash.port, timeout=30, context=tls)
    try:
        connection.request("GET", "/events", headers=headers or {})
        return connection.getresponse().status
    finally:
        connection.close()


def test_beyond_its_host_a_controller_demands_an_identity(
    peers: Peers, tmp_path: Path, authority: Authority
) -> None:
    shown, signer = authority.issue(), mf.TokenSigner.generate()
    own = ("--certificate", shown.certificate, "--key", shown.key)
    signed(signer, str(tmp_path / "token"), time.time(), 3600)
    secret, keys = (tmp_path / "token").read_text(), str(tmp_path / "keys.pub")
    Path(keys).write_text(signer.public_pem())
    rules = tmp_path / "access"
    rules.write_text("allow anyone list\n")
    rules.chmod(0o600)
    tokens = ("--token-keys", keys, "--token-audience", "desk", "--access", str(rules))
    controller = peers.controller(*own, *tokens, "--dashboard", "0.0.0.0:0")
    dash = own_of(controller)
    assert dash.address.startswith("https://")
    context = ssl.create_default_context(cafile=authority.file)
    assert asked_over_tls(dash, context) == 401  # although anyone may list
    assert asked_over_tls(dash, context, {"Authorization": "Bearer v4.public.none"}) == 401
    assert asked_over_tls(dash, context, {"Authorization": f"Bearer {secret}"}) == 200


def test_beyond_its_host_a_controller_may_demand_certificates(peers: Peers, authority: Authority) -> None:
    shown = authority.issue()
    own = ("--certificate", shown.certificate, "--key", shown.key, "--client-ca", authority.file)
    dash = own_of(peers.controller(*own, "--dashboard", "0.0.0.0:0"))
    context = ssl.create_default_context(cafile=authority.file)
    with pytest.raises(OSError):  # noqa: PT011 - of TLS, or of a connection that TLS has ended
        asked_over_tls(dash, context)
    client = authority.issue("DNS:ops.example")
    context.load_cert_chain(client.certificate, client.key)
    assert asked_over_tls(dash, context) == 200


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("0.0.0.0:0", "shows all that is registered to every program that reaches it"),
        ("http://0.0.0.0:0", "shows all that is registered to every program that reaches it"),
        ("https://127.0.0.1:0", "needs --certificate and --key"),
        ("7480", "has no port"),
        ("host.example:7480", "has no IP address as its host"),
        ("127.0.0.1:99999", "has no port from 0 to 65535"),
    ],
)
@pytest.mark.parametrize("options", [(), ("--open",)])
def test_a_dashboard_that_nobody_could_guard_is_refused(at: str, said: str, options: tuple[str, ...]) -> None:
    command = [str(BUILD / "mf-controller"), "--store", "memory:", "--listen", "tcp://127.0.0.1:0", *options]
    for more, code in (((), 1), (("--check",), 1)):
        ended = subprocess.run(
            [*command, "--dashboard", at, *more], capture_output=True, text=True, timeout=30, check=False
        )
        assert (ended.returncode, ended.stdout) == (code, "")
        assert said in ended.stderr.splitlines()[-1]


def test_a_name_is_known_once_it_is_given(peers: Peers) -> None:
    dash = own_of(peers.controller(*OWN, "--dashboard-name", "desk.example"))
    assert dash.status("/", {"Host": f"desk.example:{dash.port}"}) == 200
    assert dash.status("/", {"Host": f"other.example:{dash.port}"}) == 421


def test_nothing_is_read_while_nobody_looks(peers: Peers, registered: Server) -> None:
    del registered
    port = free_port()
    dash = own_of(peers.controller(*OWN, "--monitor", f"127.0.0.1:{port}"))

    def figure(name: str) -> float:
        return parsed(fetched("127.0.0.1", port))[name][()]

    assert figure("mf_controller_dashboard_events_total") == 0
    reader = dash.events()
    assert reader.next()[0] == "all"
    assert figure("mf_controller_dashboard_pages") == 1
    reader.close()
    while figure("mf_controller_dashboard_pages") != 0:
        pass
    before = figure("mf_controller_dashboard_events_total")
    time.sleep(1.5)  # ticks, if there were any
    assert figure("mf_controller_dashboard_events_total") == before
