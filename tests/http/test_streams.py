"""Streams and topics through the HTTP door: lines, server-sent events, and WebSockets in both directions."""

import json
import ssl
import struct
from pathlib import Path
from typing import Any

import pytest

from tests.http.asking import BINARY, CLOSE, PING, PONG, TEXT, Answer, Door
from tests.http.late import serve_methods
from tests.interop.peers import Server
from tests.mf_tools.conftest import Peers
from tests.mf_tools.test_call import SEA
from tests.python.certificates import Authority

COUNT = "/v1/shop.Shop/count"


def events_of(answer: Answer) -> list[tuple[str, Any]]:
    """Of server-sent events: their names and values."""
    events = []
    for block in answer.body.decode().split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        events.append((fields.get("event", "message"), json.loads(fields["data"])))
    return events


def test_a_stream_of_results_is_lines_of_json_and_says_its_end(door: Door) -> None:
    answer = door.call("shop.Shop.count", {"to": 3})
    assert answer.headers["Content-Type"] == "application/x-ndjson"
    assert answer.lines == [{"value": 1}, {"value": 2}, {"value": 3}, {"end": None}]


def test_a_stream_of_results_is_server_sent_events_if_the_client_accepts_those(door: Door) -> None:
    answer = door.call("shop.Shop.count", {"to": 2}, Accept="text/event-stream")
    assert answer.headers["Content-Type"] == "text/event-stream"
    assert events_of(answer) == [("message", 1), ("message", 2), ("end", None)]


def test_a_long_stream_comes_whole_and_in_order(door: Door) -> None:
    lines = door.call("shop.Shop.count", {"to": 20_000}).lines
    assert [line["value"] for line in lines[:-1]] == list(range(1, 20_001))
    assert lines[-1] == {"end": None}


def test_a_stream_that_fails_before_its_first_value_has_a_status_of_its_own(door: Door) -> None:
    refused = door.call("shop.Shop.count", {"to": -1})
    assert (refused.status, refused.code) == (400, "INVALID_ARGUMENT")


def test_a_stream_for_a_client_of_http_1_0_ends_with_its_connection(door: Door) -> None:
    body = b'{"to": 2}'
    head = f"POST {COUNT} HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    answered = door.raw(head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    assert b"chunked" not in answered
    assert answered.endswith(b'{"value":1}\n{"value":2}\n{"end":null}\n')


def test_a_stream_of_arguments_needs_a_websocket(door: Door) -> None:
    refused = door.call("shop.Shop.total", {"start": 1})
    assert (refused.status, refused.code) == (426, "INVALID_ARGUMENT")
    assert "WebSocket" in refused.detail


# ---- WebSockets


def test_values_go_both_ways_over_a_websocket(door: Door) -> None:
    with door.websocket("/v1/shop.Shop/shout") as socket:
        socket.send({"arguments": {}})
        for word in ("sea", "land"):
            socket.send({"value": word})
            assert socket.next() == {"value": word.upper()}
        socket.send({"end": None})
        assert list(socket.rest()) == [{"end": None}]


def test_values_that_were_sent_before_the_call_has_begun_are_kept(door: Door) -> None:
    with door.websocket("/v1/shop.Shop/total") as socket:
        socket.send({"arguments": {"start": "4"}, "agent": "maps", "deadline": "20s"})
        for number in (1, 2, 3):
            socket.send({"value": number})
        socket.send({"end": None})
        assert list(socket.rest()) == [{"end": "10"}]


def test_a_websocket_takes_calls_without_streams_too(door: Door) -> None:
    with door.websocket("/v1/shop.Shop/find") as socket:
        socket.send({"arguments": {"most": 1}})
        assert list(socket.rest()) == [{"end": [SEA]}]
    with door.websocket("/v1/shop.Shop/item") as socket:
        socket.send({"arguments": {"title": "?"}})
        (last,) = socket.rest()
        assert last["problem"]["error"] == "shop.NotFound"


@pytest.mark.parametrize(
    ("path", "messages", "word"),
    [
        ("shop.Shop/total", [[]], "first message"),
        ("shop.Shop/total", [{"arguments": {}, "agents": "*"}], "agents"),
        ("shop.Shop/total", [{"arguments": {}, "deadline": "soon"}], "deadline"),
        ("shop.Shop/total", [{"arguments": {"begin": 1}}], "begin"),
        ("shop.Shop/total", [{"arguments": {"start": 1}}, {"value": -1}], "a value of the stream"),
        ("shop.Shop/total", [{"arguments": {"start": 1}}, {"values": 1}], "a message is"),
        ("shop.Shop/total", [{"arguments": {"start": 1}}, {"end": None}, {"value": 1}], ""),
        ("shop.Shop/slow", [{"arguments": {"seconds": 30}}, {"value": 1}], "no more messages"),
        ("shop.Shop/none", [{}], "no method"),
        ("shop.None/none", [{}], "no server offers"),
        ("topics/shop.Shop", [{}], "shop.Shop"),
        ("topics/shop.Sales", [{"overflow": "never"}], "overflow"),
        ("topics/shop.Sales", [{"replay": -1}], "replay"),
        ("topics/shop.Sales", [{"arguments": {}}], "arguments"),
    ],
)
def test_messages_that_cannot_be_used_are_a_problem_in_words(
    door: Door, path: str, messages: list[Any], word: str
) -> None:
    with door.websocket(f"/v1/{path}") as socket:
        for message in messages:
            socket.send(message)
        *_, last = socket.rest()
        if word:
            assert word in last["problem"]["detail"]
        else:
            assert last.keys() & {"problem", "end"}


def test_a_message_in_pieces_and_a_ping_between_them_are_read(door: Door) -> None:
    with door.websocket("/v1/shop.Shop/find") as socket:
        text = json.dumps({"arguments": {"most": 1}}).encode()
        socket.frame(TEXT, text[:5], first=TEXT)
        socket.frame(PING, b"here?")
        assert socket.receive() == (PONG, b"here?")
        socket.frame(0, text[5:], first=0x80)
        assert list(socket.rest()) == [{"end": [SEA]}]


FAULTS: dict[str, tuple[bytes, int | None]] = {
    "a frame without mask": (b"\x81\x02{}", 1002),
    "a reserved bit": (b"\xc1\x80\x01\x02\x03\x04", 1002),
    "an unknown opcode": (b"\x83\x80\x01\x02\x03\x04", 1002),
    "a ping that is too long": (b"\x89\xfe\x00\x7e\x01\x02\x03\x04" + bytes(126), 1002),
    "a ping in pieces": (b"\x09\x80\x01\x02\x03\x04", 1002),
    "a message within another": (b"\x01\x81\x00\x00\x00\x00a\x81\x81\x00\x00\x00\x00b", 1002),
    "a rest without a beginning": (b"\x80\x80\x01\x02\x03\x04", 1002),
    "a size that is not the shortest": (b"\x81\xfe\x00\x05\x00\x00\x00\x00hello", 1002),
    "a size of 64 bits": (b"\x81\xff" + b"\x7f" * 8 + b"\x00\x00\x00\x00", 1009),
    "a message that is too large": (b"\x81\xff" + struct.pack(">Q", 2 << 20) + b"\x00\x00\x00\x00", 1009),
    "text that is not UTF-8": (b"\x81\x82\x00\x00\x00\x00\xff\xff", 1007),
    "a close of one byte": (b"\x88\x81\x00\x00\x00\x00\x03", 1002),
    "a close with a code that none has": (b"\x88\x82\x00\x00\x00\x00\x03\xed", 1002),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_frames_against_the_protocol_end_the_websocket(door: Door, fault: str) -> None:
    sent, code = FAULTS[fault]
    with door.websocket("/v1/shop.Shop/shout") as socket:
        socket.send_bytes(sent)
        assert socket.close_code() == code
    assert door.result("shop.Clock.now") == "2023-11-14T22:13:20Z"


def test_a_binary_message_is_refused(door: Door) -> None:
    with door.websocket("/v1/shop.Shop/shout") as socket:
        socket.frame(BINARY, b"{}")
        assert socket.close_code() == 1003


def test_a_websocket_of_another_version_is_refused(door: Door) -> None:
    with door.websocket("/v1/shop.Shop/shout", {"Sec-WebSocket-Version": "8"}) as socket:
        assert socket.refused is not None
        assert socket.refused.status in (400, 426)


def test_a_call_whose_client_leaves_is_cancelled(door: Door, shop: Server) -> None:
    del shop
    with door.websocket("/v1/shop.Shop/shout") as socket:
        socket.send({})
        socket.send({"value": "a"})
        assert socket.next() == {"value": "A"}
    assert door.result("shop.Clock.now") == "2023-11-14T22:13:20Z"


# ---- topics


def published(shop: Server, command: str) -> None:
    shop.tell(command)
    assert shop.line() == "done"


def test_a_topic_is_subscribed_to_over_a_websocket(door: Door, shop: Server) -> None:
    with door.websocket("/v1/topics/shop.Sales") as socket:
        socket.send({"agents": "*"})
        assert socket.next() == {"value": {"title": "The sea", "count": 3}, "agent": "books"}
        published(shop, "sell 2")
        assert [socket.next()["value"]["count"] for _ in range(2)] == [0, 1]
        socket.frame(CLOSE, struct.pack(">H", 1000))
        assert socket.close_code() == 1000


@pytest.mark.parametrize("accept", ["application/x-ndjson", "text/event-stream"])
def test_a_topic_is_lines_or_server_sent_events(door: Door, accept: str) -> None:
    path = "/v1/topics/shop.Sales?agents=boo%6bs&overflow=drop_oldest"
    with door.socket() as opened:
        opened.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}\r\n\r\n".encode())
        came = b""
        while b'"count":3' not in came:
            part = opened.recv(4096)
            assert part, came
            came += part
    assert accept.encode() in came
    assert b'{"value":{"title":"The sea","count":3},"agent":"books"}' in came


def test_a_topic_that_is_none_or_that_is_posted_to_is_refused(door: Door) -> None:
    assert door.ask("GET", "/v1/topics/shop.Nothing").code == "UNKNOWN_SERVICE"
    assert door.ask("GET", "/v1/topics/shop.Shop").status == 404
    assert door.ask("POST", "/v1/topics/shop.Sales", "{}", {"Content-Type": "application/json"}).status == 405
    assert door.ask("GET", "/v1/topics/shop.Sales?overflow=never").code == "INVALID_ARGUMENT"
    assert door.ask("GET", "/v1/topics/shop.Sales?agents=%ff").code == "INVALID_ARGUMENT"


# ---- values of every tier, one behind the other

TIERS = """
module late;
@tier(memcpy) struct Point { x: u32; y: f64; }
@tier(archive) struct Note { 1: text: string; 2: points: list<Point>; 3: id: uuid; }
union Shape { 1: point: Point; 2: name: string; }
service Late {
  points(values: stream<Point>) -> stream<Point>;
  notes(values: stream<Note>) -> stream<Note>;
  shapes(values: stream<Shape>) -> stream<Shape>;
  rows(values: stream<list<u64>>) -> stream<list<u64>>;
  times(values: stream<timestamp>) -> stream<timestamp>;
}
"""
POINT = {"x": 4294967295, "y": -0.5}
VALUES: dict[str, list[Any]] = {
    "points": [POINT, {"x": 0, "y": "NaN"}],
    "notes": [
        {"text": "", "points": [], "id": "00112233-4455-6677-8899-aabbccddeeff"},
        {"text": "sea", "points": [POINT, POINT], "id": "00000000-0000-0000-0000-000000000000"},
    ],
    "shapes": [{"point": POINT}, {"name": "x" * 70_000}],
    "rows": [[], ["18446744073709551615", "0"]],
    "times": ["1970-01-01T00:00:00Z", "2026-11-29T20:00:00.000000001Z"],
}


@pytest.fixture(scope="module")
def late(peers: Peers, controller: Server, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """A server that sends back what it gets."""
    folder = tmp_path_factory.mktemp("late")
    given = "    def {0}(self, values):\n        yield from values\n"
    methods = "".join(given.format(name) for name in VALUES)
    return serve_methods(peers, folder / "stubs", TIERS, methods, controller)


@pytest.mark.parametrize("method", VALUES)
def test_values_of_every_tier_go_both_ways(door: Door, late: Server, method: str) -> None:
    del late
    values = VALUES[method]
    for _ in range(1000):
        with door.websocket(f"/v1/late.Late/{method}") as socket:
            socket.send({})
            for value in 3 * values:
                socket.send({"value": value})
            socket.send({"end": None})
            *came, last = socket.rest()
        if last == {"end": None}:
            break
        assert last["problem"]["code"] == "UNKNOWN_SERVICE"  # the relay has not heard of it yet
    assert came == [{"value": value} for value in 3 * values]


@pytest.mark.parametrize("secured", [False, True])
def test_pings_between_the_values_of_a_long_stream_are_answered(
    door: Door, peers: Peers, controller: Server, tmp_path: Path, secured: bool
) -> None:
    """Frames of values and those of the protocol go out one after another, whichever come at once."""
    if secured:
        authority = Authority(tmp_path)
        own = authority.issue()
        options = ("--certificate", own.certificate, "--key", own.key, "--http", "https://127.0.0.1:0")
        relay = peers.relay(controller.address, *options)
        door = Door(relay.line(), ssl.create_default_context(cafile=authority.file))
    pings = [b"%d" % number for number in range(200)]
    with door.websocket(COUNT) as socket:
        socket.send({"arguments": {"to": 50_000}})
        for each in pings:
            socket.frame(PING, each)
        values: list[bytes] = []
        pongs: list[bytes] = []
        while (frame := socket.receive())[0] != CLOSE:
            assert frame[0] in (PONG, TEXT), frame
            (pongs if frame[0] == PONG else values).append(frame[1])
    assert pongs
    assert pongs == pings[: len(pongs)]  # those behind the last value have no answer
    assert [json.loads(each) for each in values[:-1]] == [{"value": each} for each in range(1, 50_001)]
    assert json.loads(values[-1]) == {"end": None}
