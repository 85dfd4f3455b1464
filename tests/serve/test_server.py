"""Requests that the playground answers, and those that it refuses."""

import json
import re
import socket
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import pytest

from mfidl.serve.server import LARGEST, Playground
from mfidl.serve.worker import Busy, Worker

SCHEMA = "module a;\nstruct B { c: u8; }\n"


@pytest.fixture(scope="module")
def server() -> Iterator[Playground]:
    with Playground() as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        try:
            yield made
        finally:
            made.shutdown()
            thread.join()


def _request(
    server: Playground, method: str, path: str, body: bytes | None = None, **changed: str | None
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body; `changed` replaces headers, or leaves them out."""
    host = f"127.0.0.1:{server.server_port}"
    headers: dict[str, str | None] = {"Host": host}
    if method == "POST":
        headers |= {"Origin": f"http://{host}", "X-Key": server.key, "Content-Type": "application/json"}
        headers["Content-Length"] = str(len(body or b""))
    headers |= {name.replace("_", "-"): value for name, value in changed.items()}
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers.items():
        if value is not None:
            connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return found


def _asked(server: Playground, question: Any, **changed: str | None) -> tuple[int, Any]:
    status, _, body = _request(server, "POST", "/answer", json.dumps(question).encode(), **changed)
    return status, json.loads(body)


def test_a_question_is_answered(server: Playground) -> None:
    status, found = _asked(server, {"ask": "schema", "schema": SCHEMA})
    assert (status, found["types"]) == (200, ["B"])
    status, found = _asked(
        server, {"ask": "schema", "schema": SCHEMA}, Host=f"localhost:{server.server_port}"
    )
    assert status == 200


def test_it_listens_on_this_machine_only(server: Playground) -> None:
    assert server.socket.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize("path", ["/", "/page.css", "/picture.css", "/page.js", "/editor.js", "/icon.svg"])
def test_the_files_of_the_page_are_sent_with_a_strict_policy(server: Playground, path: str) -> None:
    status, headers, body = _request(server, "GET", path)
    assert status == 200
    assert len(body) > 100
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert server.key.encode() not in body


def test_the_page_has_no_script_of_its_own(server: Playground) -> None:
    _, _, body = _request(server, "GET", "/")
    text = body.decode()
    assert text.count("<script") == 1
    assert "<style" not in text
    assert " style=" not in text
    assert not re.search(r"\son\w+\s*=", text)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", None])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_name_is_refused(server: Playground, method: str, host: str | None) -> None:
    path = "/" if method == "GET" else "/answer"
    status, _, body = _request(server, method, path, b"{}" if method == "POST" else None, Host=host)
    assert status == 403
    assert json.loads(body) == {"failure": "this server is 127.0.0.1 and localhost only"}


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", None])
def test_another_origin_is_refused(server: Playground, origin: str | None) -> None:
    status, found = _asked(server, {"ask": "schema", "schema": SCHEMA}, Origin=origin)
    assert status == 403
    assert "rigin" in found["failure"]


@pytest.mark.parametrize("key", ["", "wrong", None])
def test_a_question_without_the_key_is_refused(server: Playground, key: str | None) -> None:
    status, found = _asked(server, {"ask": "schema", "schema": SCHEMA}, X_Key=key)
    assert (status, found["failure"].partition(":")[0]) == (403, "the key is wrong")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_a_form_of_another_page_is_refused(server: Playground, kind: str | None) -> None:
    assert _asked(server, {"ask": "schema", "schema": SCHEMA}, Content_Type=kind)[0] == 415


def test_a_question_that_is_too_large_is_refused_before_it_is_read(server: Playground) -> None:
    status, found = _asked(server, {}, Content_Length=str(LARGEST + 1))
    assert (status, found) == (413, {"failure": f"a question has at most {LARGEST} bytes"})


@pytest.mark.parametrize("size", [None, "-1", "x", "9" * 5000])
def test_a_question_says_its_length(server: Playground, size: str | None) -> None:
    assert _asked(server, {}, Content_Length=size)[0] == 411


@pytest.mark.parametrize("body", [b"[]", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_object_is_refused(server: Playground, body: bytes) -> None:
    assert _request(server, "POST", "/answer", body)[0] == 400


@pytest.mark.parametrize(
    "path", ["/../pyproject.toml", "/%2e%2e/etc/passwd", "//etc/passwd", "/page.html", "/answer"]
)
def test_other_files_are_not_there(server: Playground, path: str) -> None:
    assert _request(server, "GET", path)[0] == 404


def test_other_methods_are_refused(server: Playground) -> None:
    status, headers, body = _request(server, "DELETE", "/")
    assert status == 501
    assert "Content-Security-Policy" in headers
    assert json.loads(body)["failure"]


def test_a_connection_that_says_nothing_is_closed(server: Playground) -> None:
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=60) as silent:
        assert silent.recv(1) == b""


def test_connections_are_bounded() -> None:
    with Playground() as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        address = ("127.0.0.1", made.server_port)
        opened = [socket.create_connection(address, timeout=60) for _ in range(17)]
        try:
            assert opened[16].recv(1) == b""
        finally:
            for each in opened:
                each.close()
            made.shutdown()
            thread.join()


class _Full(Worker):
    def ask(self, question: dict[str, Any]) -> bytes:
        raise Busy(question)


def test_a_busy_compiler_says_so() -> None:
    with Playground(worker=_Full()) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        try:
            status, found = _asked(made, {"ask": "schema", "schema": SCHEMA})
        finally:
            made.shutdown()
            thread.join()
    assert (status, found) == (503, {"failure": "other questions are being answered: ask again"})
