"""The HTTP door as a part of its relay: its document, its page, its metrics, its end."""

import json
import signal
import socket
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.request import urlopen

import pytest

from tests.http.asking import Door, all_of
from tests.http.conftest import door_of
from tests.http.late import serve_methods
from tests.interop.peers import Server
from tests.mf_tools.conftest import Peers
from tests.python.conftest import eventually


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def document(door: Door) -> Any:
    answer = door.ask("GET", "/openapi.json?service=shop.Shop,shop.Clock,shop.Nothing")
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    return answer.json


def resolved(document: Any, schema: Any) -> Any:
    """What a reference refers to."""
    while "$ref" in schema:
        at = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            at = at[part]
        schema = at
    return schema


def schema_of(document: Any, method: str, key: str) -> Any:
    content = document["paths"][f"/v1/shop.Shop/{method}"]["post"]
    body = content["requestBody"] if key == "requestBody" else content["responses"]["200"]
    return body["content"]["application/json"]["schema"]


def test_every_method_is_a_path_of_the_document(document: Any) -> None:
    assert document["openapi"] == "3.1.0"
    methods = ["find", "item", "area", "order", "answer", "note", "notes", "slow", "count", "total", "shout"]
    wanted = {f"/v1/shop.Shop/{method}" for method in methods} | {"/v1/shop.Clock/now"}
    assert wanted <= set(document["paths"])


def test_arguments_and_results_have_json_schemas(document: Any) -> None:
    either = schema_of(document, "order", "requestBody")["anyOf"]
    order = resolved(document, either[0]["properties"]["order"])
    assert order["required"] == ["number", "items", "placed"]
    assert order["properties"]["number"] == {"type": "string", "format": "uint64", "pattern": "^[0-9]+$"}
    assert order["properties"]["placed"]["format"] == "date-time"
    item = resolved(document, order["properties"]["items"]["items"])
    assert "note" not in item["required"]
    assert resolved(document, item["properties"]["size"])["properties"]["kind"] == {
        "$ref": "#/components/schemas/shop.Shop-shop.Kind"
    }
    assert resolved(document, item["properties"]["tongue"])["anyOf"][0] == {"enum": ["en", "ko"]}
    assert resolved(document, item["properties"]["marks"])["uniqueItems"] is True
    answer = resolved(document, schema_of(document, "answer", "responses"))
    assert (answer["minProperties"], answer["maxProperties"], set(answer["properties"])) == (
        1,
        1,
        {"text", "item"},
    )
    assert set(document["paths"]["/v1/shop.Shop/item"]["post"]["x-mf-errors"]) == {"shop.NotFound"}


def test_every_reference_of_the_document_leads_somewhere(document: Any) -> None:
    text = json.dumps(document)
    references = {part.split('"')[0] for part in text.split('"$ref": "')[1:]}
    assert references
    for reference in references:
        resolved(document, {"$ref": reference})


def test_the_document_has_all_that_the_controller_knows(
    peers: Peers, controller: Server, shop: Server
) -> None:
    """Also what no client has used."""
    del shop
    door = door_of(peers.relay(controller.address, "--http", "http://127.0.0.1:0"))
    paths = set(door.ask("GET", "/openapi.json").json["paths"])
    wanted = {"/v1/shop.Shop/find", "/v1/shop.Clock/now", "/v1/topics/shop.Sales", "/v1/topics/shop.News"}
    assert wanted <= paths
    assert not [path for path in paths if "mf." in path]


def test_the_document_of_a_relay_without_its_controller_is_empty(peers: Peers) -> None:
    door = door_of(peers.relay("mf://127.0.0.1:1", "--http", "http://127.0.0.1:0"))
    assert door.ask("GET", "/openapi.json").json["paths"] == {}


def test_a_list_of_services_that_is_none_is_refused(door: Door) -> None:
    for asked in ("a/b", "a,,b", ",".join(["a.B"] * 17)):
        assert door.ask("GET", f"/openapi.json?service={asked}").status == 400, asked


def test_the_page_loads_nothing_of_others_and_is_in_no_frame(door: Door) -> None:
    for path, kind in {"/": "text/html", "/page.js": "text/javascript", "/page.css": "text/css"}.items():
        answer = door.ask("GET", path)
        assert answer.status == 200
        assert answer.headers["Content-Type"] == f"{kind}; charset=utf-8"
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert b"http:" not in answer.body
    assert b"innerHTML" not in door.ask("GET", "/page.js").body


def test_metrics_of_the_relay_count_what_the_door_does(
    peers: Peers, controller: Server, shop: Server
) -> None:
    del shop
    port = free_port()
    watched = ("--monitor", f"127.0.0.1:{port}")
    door = door_of(peers.relay(controller.address, "--http", "http://127.0.0.1:0", *watched))
    door.result("shop.Shop.item", [{"title": "The sea"}, {"title": "?"}])
    assert door.call("shop.Shop.nothing").status == 404
    assert len(door.call("shop.Shop.count", {"to": 5}).lines) == 6
    with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    assert 'mf_http_requests_total{status="2xx"} 2' in lines
    assert 'mf_http_requests_total{status="4xx"} 1' in lines
    assert "mf_http_calls_total 3" in lines
    assert "mf_http_messages_total 5" in lines


def started_calls(port: int) -> int:
    with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("mf_http_calls_total "))


def test_of_a_batch_64_calls_run_at_once(peers: Peers, controller: Server, tmp_path: Path) -> None:
    free = tmp_path / "free"
    methods = f"""
    def hold(self, number):
        import os, time
        while not os.path.exists({str(free)!r}):
            time.sleep(0.01)
        return number
"""
    schema = "module late; service Late { hold(number: u32) -> u32; }"
    server = serve_methods(peers, tmp_path / "late", schema, methods, controller)
    port = free_port()
    watched = ("--monitor", f"127.0.0.1:{port}")
    door = door_of(peers.relay(controller.address, "--http", "http://127.0.0.1:0", *watched))
    answers: list[Any] = []
    assert eventually(lambda: b"UNKNOWN_METHOD" in door.call("late.Late.nothing").body)  # it is known there

    def ask() -> None:
        batch = [{"number": number} for number in range(200)] + [{"number": -1}]
        answers.extend(door.result("late.Late.hold", batch))

    asking = Thread(target=ask)
    asking.start()
    while started_calls(port) < 64:
        assert asking.is_alive()
    assert door.call("late.Late.nothing").status == 404  # nothing more was started meanwhile
    assert started_calls(port) == 64
    free.touch()
    asking.join()
    assert [each["result"] for each in answers[:-1]] == list(range(200))
    assert answers[-1]["problem"]["code"] == "INVALID_ARGUMENT"
    assert started_calls(port) == 201
    server.close()


def test_a_relay_that_stops_answers_what_is_in_progress(
    peers: Peers, controller: Server, shop: Server
) -> None:
    del shop
    relay = peers.relay(controller.address, "--http", "http://127.0.0.1:0")
    door = door_of(relay)
    body = b'{"seconds": 0.5}'
    head = "POST /v1/shop.Shop/slow HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    assert door.result("shop.Shop.slow", {"seconds": 0}) == 0.0
    with door.socket() as idle, door.socket() as busy:
        busy.sendall(head.encode() + b"Content-Length: %d\r\n\r\n" % len(body))
        busy.sendall(body)
        while door.call("shop.Shop.nothing").status != 404:
            pass
        relay.signal(signal.SIGTERM)
        assert all_of(idle) == b""
        answered = all_of(busy)
        assert answered.startswith(b"HTTP/1.1 200 OK\r\n")
        assert answered.endswith(b"0.5")
    assert relay.wait() == 0
