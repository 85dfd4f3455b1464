"""Calls through the HTTP door: every shape of arguments and results, and what becomes of those that fail."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.http.asking import JSON, Door
from tests.http.late import serve
from tests.interop.peers import Server
from tests.mf_tools.conftest import Peers

SEA = {
    "id": "1",
    "title": "The sea",
    "price": 12.5,
    "size": {"width": 10.0, "height": 20.0, "kind": "book"},
    "marks": ["sale"],
    "tongue": "en",
}
NOT_FOUND = {"title": "?", "nearest": ["The sea", "Sea charts"]}


def test_arguments_and_results_of_every_tier_are_json(door: Door) -> None:
    assert door.result("shop.Shop.find", {"most": 1}) == [SEA]
    assert door.result("shop.Shop.find", {"word": "CHART"})[0]["note"] == "rare"
    assert door.result("shop.Shop.area", {"size": {"width": 2, "height": "4", "kind": "map"}}) == 8.0
    order = {"number": 2**64 - 1, "items": [SEA], "placed": "2026-11-29T01:02:03+09:00"}
    assert door.result("shop.Shop.order", {"order": order}) == {"number": str(2**64 - 1), "sum": 12.5}
    assert door.result("shop.Shop.answer", {"question": "which?"}) == {"item": SEA}
    assert door.result("shop.Clock.now") == "2023-11-14T22:13:20Z"


def test_an_agent_is_named_by_a_header(door: Door) -> None:
    for agent in ("books", "maps"):
        answer = door.result("shop.Shop.answer", {"question": "?"}, MF_Agent=agent)
        assert answer == {"text": f"{agent}: ?"}
    assert door.result("shop.Shop.answer", {"question": "?"}, MF_Agent="%62ooks") == {"text": "books: ?"}


@pytest.mark.parametrize("agent", ["%6", "%zz", "%ff"])
def test_an_agent_that_is_no_text_is_refused(door: Door, agent: str) -> None:
    refused = door.call("shop.Shop.answer", {"question": "?"}, MF_Agent=agent)
    assert (refused.status, refused.code) == (400, "INVALID_ARGUMENT")
    assert "MF-Agent" in refused.detail


def test_an_agent_that_a_service_does_not_have_is_refused(door: Door) -> None:
    refused = door.call("shop.Clock.now", {}, MF_Agent="books")
    assert (refused.status, refused.code) == (400, "INVALID_ARGUMENT")
    assert "has no agents" in refused.detail


def test_a_declared_error_has_its_name_and_its_fields(door: Door) -> None:
    refused = door.call("shop.Shop.item", {"title": "?"})
    assert (refused.status, refused.code) == (422, "DECLARED")
    assert (refused.json["error"], refused.json["fields"]) == ("shop.NotFound", NOT_FOUND)


def test_a_batch_has_a_result_or_a_problem_for_each_item(door: Door) -> None:
    given = [{"title": "The sea"}, {"title": "?"}, {"titel": "?"}, 7]
    first, second, third, fourth = door.result("shop.Shop.item", given)
    assert first == {"result": SEA}
    assert second["problem"]["fields"] == NOT_FOUND
    assert (third["problem"]["code"], third["problem"]["status"]) == ("INVALID_ARGUMENT", 400)
    assert "titel" in third["problem"]["detail"]
    assert fourth["problem"]["execution"] == "NOT_EXECUTED"
    assert door.result("shop.Shop.item", " [ ] ") == []


@pytest.mark.parametrize("batch", ["[", "[{}", "[{}}]", "[{}] []", '["]', "[" + "{}," * 1000 + "{}]"])
def test_a_batch_that_is_no_array_of_objects_is_refused(door: Door, batch: str) -> None:
    refused = door.call("shop.Shop.item", batch)
    assert (refused.status, refused.code) == (400, "INVALID_ARGUMENT")


def test_a_oneway_call_has_no_result(door: Door) -> None:
    assert door.call("shop.Shop.note", {"text": "by the door"}, MF_Agent="maps").body == b"null"
    while "by the door" not in door.result("shop.Shop.notes", {}, MF_Agent="maps"):
        pass


WRONG: dict[str, tuple[str, str]] = {
    "no JSON": ("{", "at byte 1"),
    "no object": ("7", "an object"),
    "an unknown name": ('{"mots": 1}', "most"),
    "a name twice": ('{"most": 1, "most": 2}', "twice"),
    "another kind": ('{"most": "sea"}', "most"),
    "a fraction": ('{"most": 1.5}', "most"),
    "too large a number": ('{"most": 4294967296}', "most"),
    "no f64": ('{"most": 1e999}', "most"),
    "no UTF-8": ('{"word": "\xff"}', "UTF-8"),
    "text behind the end": ("{} {}", "end"),
    "half a character": ('{"word": "\\ud800"}', "surrogate"),
}


@pytest.mark.parametrize("name", WRONG)
def test_arguments_that_cannot_be_read_are_a_problem_in_words(door: Door, name: str) -> None:
    text, word = WRONG[name]
    refused = door.call("shop.Shop.find", text.encode("latin-1"))
    assert (refused.status, refused.code) == (400, "INVALID_ARGUMENT")
    assert refused.json["execution"] == "NOT_EXECUTED"
    assert word.lower() in refused.detail.lower()


@pytest.mark.parametrize("open_", ["[", '{"question":'])
def test_a_thousand_levels_of_nesting_are_refused(door: Door, open_: str) -> None:
    refused = door.call("shop.Shop.answer", '{"question": ' + open_ * 1000)
    assert (refused.status, refused.code) == (400, "INVALID_ARGUMENT")


def test_a_constraint_of_the_schema_is_checked_by_the_server(door: Door) -> None:
    refused = door.call("shop.Shop.find", {"most": 101})
    assert (refused.status, refused.code, refused.json["execution"]) == (
        400,
        "INVALID_ARGUMENT",
        "NOT_EXECUTED",
    )
    assert "100" in refused.detail


def test_a_call_that_takes_longer_than_its_deadline_ends(door: Door) -> None:
    late = door.call("shop.Shop.slow", {"seconds": 30}, MF_Deadline="50ms")
    assert (late.status, late.code, late.json["execution"]) == (504, "DEADLINE_EXCEEDED", "UNKNOWN")
    assert door.result("shop.Shop.slow", {"seconds": 0}, MF_Deadline="10.5s") == 0.0


@pytest.mark.parametrize("deadline", ["", "5", "0s", "-1s", "1h", "inf s", "infs", "1e3s", "86401s", "s"])
def test_a_deadline_that_is_no_time_is_refused(door: Door, deadline: str) -> None:
    answer = door.call("shop.Clock.now", {}, MF_Deadline=deadline)
    if not deadline:
        assert answer.status == 200
        return
    assert (answer.status, answer.code) == (400, "INVALID_ARGUMENT")
    assert "1.5s" in answer.detail


def test_what_is_not_there_is_not_found(door: Door) -> None:
    for name, code in {
        "shop.Shop.nothing": "UNKNOWN_METHOD",
        "shop.Nothing.find": "UNKNOWN_SERVICE",
        "shop.News.find": "UNKNOWN_SERVICE",
        "mf.controller.Controller.status": "UNKNOWN_SERVICE",
    }.items():
        refused = door.call(name)
        assert (refused.status, refused.code) == (404, code), name
    for path in (
        "/v1/shop.Shop",
        "/v1/shop.Shop/",
        "/v1/a%2Fb/c",
        "/v2/shop.Shop/find",
        "/favicon.ico",
        "/v1/" + "a" * 300 + "/b",
    ):
        assert door.ask("POST", path, "{}", JSON).status == 404, path


def test_another_method_or_type_of_body_is_refused_in_words(door: Door) -> None:
    assert door.ask("GET", "/v1/shop.Shop/find").status == 405
    assert door.ask("POST", "/", "{}", JSON).status == 405
    assert door.ask("PUT", "/v1/shop.Shop/find", "{}", JSON).status == 405
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        refused = door.ask("POST", "/v1/shop.Shop/find", "{}", {"Content-Type": kind})
        assert (refused.status, refused.code) == (415, "INVALID_ARGUMENT")
    assert (
        door.ask(
            "POST", "/v1/shop.Shop/find", "{}", {"Content-Type": "Application/JSON; charset=utf-8"}
        ).status
        == 200
    )


def test_many_requests_go_one_after_another_over_one_connection(door: Door) -> None:
    request = (
        b"POST /v1/shop.Clock/now HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 2\r\n"
    )
    with door.socket() as opened:
        opened.sendall(3 * (request + b"\r\n{}") + request + b"Connection: close\r\n\r\n{}")
        answered = b""
        while part := opened.recv(65536):
            answered += part
    assert answered.count(b"HTTP/1.1 200 OK\r\n") == 4
    assert answered.count(b'"2023-11-14T22:13:20Z"') == 4


def test_a_body_may_come_in_chunks_and_after_a_word_that_it_may(door: Door) -> None:
    head = b"POST /v1/shop.Shop/area HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    body = json.dumps({"size": {"width": 3, "height": 4, "kind": "map"}}).encode()
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:5], body[5:])) + b"0\r\n\r\n"
    answered = door.raw(head + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
    assert answered.endswith(b"12.0")
    with door.socket() as opened:
        opened.sendall(
            head + b"Connection: close\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body)
        )
        assert opened.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
        opened.sendall(body)
        assert opened.recv(4096).startswith(b"HTTP/1.1 200 OK\r\n")


# ---- services that come and go


def eventually(door: Door, name: str, arguments: Any, wanted: Any) -> None:
    """Until the relay has heard of it."""
    for _ in range(1000):
        answer = door.call(name, arguments)
        if answer.status == 200 and answer.json == wanted:
            return
    raise AssertionError((answer.status, answer.body))


def test_a_service_that_comes_later_is_called_and_one_that_comes_back_with_another_schema_too(
    door: Door, peers: Peers, controller: Server, tmp_path: Path
) -> None:
    assert door.call("late.Late.twice", {"x": 4}).status == 404
    one = serve(
        peers,
        tmp_path / "one",
        "module late; service Late { twice(x: u32) -> u32; }",
        "twice",
        "2 * given[0]",
        controller,
    )
    eventually(door, "late.Late.twice", {"x": 4}, 8)
    assert door.call("late.Late.said", {}).code == "UNKNOWN_METHOD"
    one.close()
    two = serve(
        peers,
        tmp_path / "two",
        "module late; service Late { said(word: string, times: u64) -> string; }",
        "said",
        "given[0] * given[1]",
        controller,
    )
    eventually(door, "late.Late.said", {"word": "ha", "times": "3"}, "hahaha")
    assert door.call("late.Late.twice", {"x": 4}).code == "UNKNOWN_METHOD"
    two.close()


def test_bytes_and_uuids_go_through_in_both_directions(
    door: Door, peers: Peers, controller: Server, tmp_path: Path
) -> None:
    values = "(id: uuid, data: bytes, wait: duration)"
    schema = f"module late; service Late {{ same{values} -> {values}; }}"
    late = serve(peers, tmp_path / "one", schema, "same", "late.LateSameResult(*given)", controller)
    given = {
        "id": "00112233-4455-6677-8899-aabbccddeeff",
        "data": base64.b64encode(bytes(range(256))).decode(),
        "wait": "-1.500s",
    }
    eventually(door, "late.Late.same", given, given)
    late.close()
