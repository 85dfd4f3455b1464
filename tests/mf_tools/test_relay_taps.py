"""`mf tap` of a relay: the calls that it hands on, with values as the servers behind it describe them."""

import json
import os
from collections.abc import Iterator
from contextlib import closing
from copy import copy
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

import mf
from mf import described
from tests.http.asking import Door
from tests.interop.peers import BUILD, PATIENCE, Server
from tests.mf_tools.conftest import Peers, Tool
from tests.mf_tools.test_steering import Tap
from tests.python.conftest import eventually

FOUND = ("call", "shop.Shop.find", '{"word": "charts"}', "--at", "maps")


class Relayed:
    """A relay in front of a shop, which the tool calls through it. `own`: where its operator reaches it."""

    def __init__(self, tool: Tool, peers: Peers, controller: str, *options: str) -> None:
        self.relay = peers.relay(controller, "--to", "127.0.0.0/8", *options)
        self.own = "tcp://" + self.relay.address.partition("://")[2]
        self.tool = tool.at(self.relay.address)

    def tap(self, *options: str) -> Tap:
        return Tap(self.tool, self.own, "--json", *options)


@pytest.fixture
def relayed(tool: Tool, peers: Peers, controller: Server, registered: Server) -> Iterator[Relayed]:
    del registered
    made = Relayed(tool, peers, controller.address)
    yield made
    made.relay.close()


def calls(lines: list[str], method: str) -> list[dict[str, Any]]:
    return [each for each in map(json.loads, lines) if each["method"] == method]


def until(tap: Tap, method: str, count: int = 1) -> list[dict[str, Any]]:
    """The first calls of this method that are shown."""
    assert eventually(lambda: len(calls(tap.seen, method)) >= count)
    return calls(tap.seen, method)[:count]


def test_a_relay_shows_the_calls_that_it_hands_on_with_their_values(
    relayed: Relayed, registered: Server
) -> None:
    tap = relayed.tap()
    tap.begun(*FOUND)
    [first] = until(tap, "find")
    named = [first[each] for each in ("server", "to", "service", "method", "agent", "code", "items")]
    assert named == [relayed.own, registered.address, "shop.Shop", "find", "maps", "OK", 1]
    assert first["peer"].startswith("tcp://127.0.0.1:")
    assert first["request"] == {"word": "charts", "most": 10}
    assert [each["title"] for each in first["result"]] == ["Sea charts"]
    assert first["request_bytes"] > 0
    assert first["result_bytes"] > first["request_bytes"]
    assert "withheld" not in first

    relayed.tool.fails(6, "call", "shop.Shop.item", '{"title": "?"}', "--at", "books")
    [declared] = until(tap, "item")
    assert (declared["code"], declared["request"]) == ("DECLARED", {"title": "?"})
    assert declared["error"].startswith('shop.NotFound {"title":"?"')
    assert "result" not in declared

    relayed.tool.well("call", "shop.Shop.count", '{"to": 2}', "--at", "maps")
    [stream] = until(tap, "count")
    assert (stream["stream"], stream["request"], stream["code"]) == (True, {"to": 2}, "OK")
    assert "result" not in stream

    relayed.tool.well("call", "shop.Shop.note", '{"text": "heard"}', "--at", "maps")
    [oneway] = until(tap, "note")
    assert (oneway["code"], oneway["request"], oneway["to"]) == ("OK", {"text": "heard"}, registered.address)
    assert tap.end()[0] == 130


def test_a_bulk_is_shown_call_by_call_as_a_server_shows_it(relayed: Relayed) -> None:
    tap = relayed.tap("--method", "item", "--outcome", "declared")
    requests = [{"title": "Sea charts"}, {"title": "?"}, {"title": "!"}]
    bulk = ("call", "shop.Shop.item", json.dumps(requests), "--bulk", "--at", "maps")
    assert eventually(lambda: bool(relayed.tool.run(*bulk)) and bool(tap.seen))
    first, second = until(tap, "item", 2)
    assert [first["request"], second["request"]] == requests[1:]
    assert [each["code"] for each in (first, second)] == ["DECLARED", "DECLARED"]
    assert second["error"].startswith('shop.NotFound {"title":"!"')
    tap.end()


def test_calls_by_the_http_door_are_shown_as_well(
    tool: Tool, peers: Peers, controller: Server, registered: Server
) -> None:
    relayed = Relayed(tool, peers, controller.address, "--http", "http://127.0.0.1:0")
    door = relayed.relay.line()
    tap = relayed.tap()

    def ask(method: str, arguments: dict[str, Any]) -> str:
        headers = {"Content-Type": "application/json", "MF-Agent": "maps"}
        with closing(HTTPConnection(door.rpartition("/")[2], timeout=PATIENCE)) as opened:
            opened.request("POST", f"/v1/shop.Shop/{method}", json.dumps(arguments), headers)
            return opened.getresponse().read().decode()

    assert eventually(lambda: bool(ask("find", {"word": "charts"})) and bool(tap.seen))
    [first] = until(tap, "find")
    named = [first[each] for each in ("to", "agent", "code", "items")]
    assert named == [registered.address, "maps", "OK", 1]
    assert first["peer"].startswith("tcp://127.0.0.1:")
    assert (first["request"], len(first["result"])) == ({"word": "charts", "most": 10}, 1)

    assert "NotFound" in ask("item", {"title": "?"})
    [declared] = until(tap, "item")
    assert (declared["code"], declared["request"]) == ("DECLARED", {"title": "?"})

    assert ask("count", {"to": 2})
    [stream] = until(tap, "count")
    assert (stream["stream"], stream["request"], stream["code"]) == (True, {"to": 2}, "OK")
    tap.end()

    unsent = relayed.tap("--outcome", "failed")
    opening = {"agent": "maps", "tracestate": "x" * 20_000}

    def refuse(method: str, arguments: dict[str, Any]) -> str:
        with Door(door).websocket(f"/v1/shop.Shop/{method}") as opened:
            opened.send(opening | {"arguments": arguments})
            return str(opened.next()["problem"]["code"])

    assert eventually(lambda: refuse("find", {"word": "sea"}) == "MESSAGE_TOO_LARGE" and bool(unsent.seen))
    assert refuse("count", {"to": 3}) == "MESSAGE_TOO_LARGE"
    for method in ("find", "count"):
        shown = until(unsent, method)[0]
        assert (shown["code"], shown.get("to", "")) == ("MESSAGE_TOO_LARGE", "")
        assert "the metadata has 1 entries" in shown["error"]
    unsent.end()
    relayed.relay.close()


def test_what_a_line_says_of_a_call_that_was_handed_on(relayed: Relayed, registered: Server) -> None:
    tap = Tap(relayed.tool, relayed.own, "--method", "now", "--count", "1")
    tap.begun("call", "shop.Clock.now")
    code, [line], _ = tap.ended()
    assert code == 0
    assert "  shop.Clock.now  OK " in line
    assert line.endswith(f" to {registered.address}\n")


def test_a_value_that_is_too_large_is_withheld_and_said_so(relayed: Relayed) -> None:
    tap = relayed.tap()
    tap.begun(*FOUND)
    relayed.tool.well("call", "shop.Shop.note", json.dumps({"text": "x" * 70_000}), "--at", "maps")
    [large] = until(tap, "note")
    assert "request" not in large
    assert large["request_bytes"] > 70_000
    assert large["withheld"].startswith("the parameters have ")
    tap.end()


def test_bytes_that_break_the_schema_are_shown_by_their_size(relayed: Relayed) -> None:
    tap = relayed.tap()
    tap.begun(*FOUND)
    with mf.Client(relayed.relay.address) as client:
        service = described.Service(client.describe("shop.Shop", deadline=PATIENCE))
        broken = copy(service.methods["find"].info)
        broken.encode_request = lambda *_: b"\xff" * 11
        with pytest.raises(mf.Error):
            service.target(client).at("maps").call(broken, None, "sea", 10)
    assert eventually(lambda: any(each["code"] != "OK" for each in calls(tap.seen, "find")))
    [shown] = [each for each in calls(tap.seen, "find") if each["code"] != "OK"]
    assert (shown["code"], shown["request_bytes"], "request" in shown) == ("DECODE_ERROR", 11, False)
    assert shown["withheld"]
    assert relayed.tool.well(*FOUND)
    tap.end()


def test_calls_that_a_relay_has_handed_on_are_recorded(relayed: Relayed) -> None:
    """As those of a server, one line each."""
    process = relayed.tool.process(
        "record", "--calls", relayed.own, "calls.rec", "--method", "find", "-n", "2"
    )

    def is_over() -> bool:
        relayed.tool.run(*FOUND)
        return process.poll() is not None

    assert eventually(is_over)
    process.communicate()
    assert process.returncode == 0
    _, of, *lines = map(json.loads, Path("calls.rec").read_text().splitlines())
    assert of["service"] == "shop.Shop"
    assert [each["arguments"] for each in lines] == [{"word": "charts", "most": 10}] * 2
    assert [each["result"][0]["title"] for each in lines] == ["Sea charts"] * 2


@pytest.mark.usefixtures("registered")
def test_a_relay_lets_tap_only_whom_its_access_file_lets_administer(
    tool: Tool, peers: Peers, controller: Server, tmp_path: Path
) -> None:
    access = tmp_path / "access.conf"
    own = f"uid:{os.geteuid()}"
    access.write_text(f"allow {own} call *\n")
    access.chmod(0o600)
    binary = str(BUILD / "mf-relay")
    where = f"unix:{tmp_path}/r"
    command = [binary, "--listen", where, "--access", str(access), "--controller", controller.address]
    relay = peers.run([*command, "--to", "127.0.0.0/8"])
    tool.at(controller.address)
    said = tool.fails(5, "tap", where, "--for", "5")
    assert f"{own} may not call this method of mf.admin.Admin" in said
    assert [line for line in relay.said().splitlines() if "call_denied" in line]
    relay.close()


@pytest.mark.usefixtures("registered")
def test_an_identity_of_the_caller_is_shown(
    tool: Tool, peers: Peers, controller: Server, tmp_path: Path
) -> None:
    where = f"unix:{tmp_path}/r"
    binary = str(BUILD / "mf-relay")
    relay = peers.run([binary, "--listen", where, "--controller", controller.address, "--to", "127.0.0.0/8"])
    tool.at(controller.address)
    tap = Tap(tool, where, "--json")

    def is_shown() -> bool:
        with mf.Client(where) as client:
            service = described.Service(client.describe("shop.Clock", deadline=PATIENCE))
            service.target(client).call(service.methods["now"].info, None)
        return bool(tap.seen)

    assert eventually(is_shown)
    [shown] = until(tap, "now")
    assert (shown["identity"], shown["server"]) == (f"uid:{os.geteuid()}", where)
    tap.end()
    relay.close()
