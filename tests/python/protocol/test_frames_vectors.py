"""This runtime's handling of the byte streams that both runtimes share (tests/vectors/README.md)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mf.core.error import Code, Error
from mf.core.identity import Identity, IdentityKind
from mf.protocol import events as ev
from mf.protocol import frame
from mf.protocol.calls import Binding, Description, Request
from mf.protocol.client_session import ClientSession
from mf.protocol.handshake import Hello
from mf.protocol.metadata import pack_metadata
from mf.protocol.server_session import ServerSession

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "vectors" / "frames.json").read_text("utf-8")
)
BY_NAME = {vector["name"]: vector for vector in VECTORS}
NONCE = bytes(16)


OF_A_STREAM = ("data", "credit", "end")

HELLO_DEFAULTS = {
    "max_bindings": 4096,
    "max_streams": 256,
    "stream_window": 16384,
    "name": "",
    "calls_open": 0,
    "calls_at_once": 0,
    "features": 0,
}


KINDS = {kind.value: kind for kind in IdentityKind}


def passed_of(event: dict[str, Any]) -> Identity | None:
    if "passed" not in event:
        return None
    passed = event["passed"]
    return Identity(KINDS[passed["kind"]], passed["name"], passed["issuer"], tuple(passed["via"]))


def bytes_of(vector: dict[str, Any]) -> bytes:
    return bytes.fromhex(vector["hex"])


def server(awaited: list[dict[str, Any]]) -> ServerSession:
    """A server with the calls and bindings that the events name."""
    session = ServerSession(Hello(nonce=NONCE, max_in_flight=1000), bytearray(4096))
    for event in awaited:
        if event["type"] == "request":
            session._routes[event["route"]] = ("route", event["route"])
        if event["type"] in OF_A_STREAM:
            session.in_flight.add(event["id"])
        elif event["type"] == "unbind":
            session._ranges[event["route"]] = 1
    return session


def client(awaited: list[dict[str, Any]]) -> ClientSession:
    """A client that waits for exactly the events' replies."""
    session = ClientSession(Hello(nonce=NONCE), bytearray(4096))
    session.take_output()
    for event in awaited:
        if event["type"] == "reply":
            call = Request(1.0)
            call.id, call.route, call.count = event["id"], event["route"], event["count"]
            session.calls.by_id[call.id] = call
        elif event["type"] in (*OF_A_STREAM, "cancel"):
            session.calls.by_id[event["id"]] = Request(1.0)
        elif event["type"] == "bound":
            binding = Binding("s", "", 1, 1.0)
            binding.first = event["route"]
            session._bindings[binding.first] = binding
        elif event["type"] == "descriptor":
            description = Description(event["service"], 1.0, bytes.fromhex(event.get("fingerprint", "")))
            session._descriptions.setdefault((description.service, description.asked), []).append(description)
    return session


def feed(session: Any, pieces: Iterator[bytes]) -> list[Any]:
    events = []
    for piece in pieces:
        while piece:
            window = session.window()
            taken = min(len(window), len(piece))
            window[:taken] = piece[:taken]
            events += session.received(taken)
            piece = piece[taken:]
    return events


def with_metadata(words: dict[str, Any], metadata: Any) -> dict[str, Any]:
    if isinstance(metadata, Error):
        assert metadata.code == Code.DECODE_ERROR
        return {**words, "metadata_fault": True}
    return words if metadata is None else {**words, "metadata": [list(entry) for entry in metadata.items()]}


def _asked(fingerprint: bytes) -> dict[str, str]:
    return {"fingerprint": fingerprint.hex()} if fingerprint else {}


def described(event: Any) -> dict[str, Any]:  # noqa: C901 - one case an event
    """An event in the form of the vectors."""
    match event:
        case (Request() as call, status, encoding, payload):
            words = {
                "type": "reply",
                "route": call.route,
                "id": call.id,
                "encoding": encoding,
                "status": status,
                "count": call.count,
                "payload": payload.hex(),
            }
            return with_metadata(words, call.reply_metadata)
        case (("route", _), id_, route, flags, word, count, payload, metadata):
            words = {
                "type": "request",
                "route": route,
                "id": id_,
                "encoding": flags & frame.ENCODING_MASK,
                "bulk": bool(flags & frame.BULK),
                "oneway": bool(flags & frame.ONEWAY),
                "deadline_us": round(frame.unpack_deadline(word) * 1e6) if word else 0,
                "count": count,
                "payload": payload.hex(),
            }
            if flags & frame.STREAM:
                words["stream"] = True
            return with_metadata(words, metadata)
        case ev.HelloReceived(hello=hello):
            words = {
                "type": "hello",
                "lowest_version": hello.lowest,
                "highest_version": hello.highest,
                "max_payload": hello.max_payload,
                "max_in_flight": hello.max_in_flight,
                "client_id": hello.client_id,
                "nonce": hello.nonce.hex(),
                "authentication": hello.auth.hex(),
            }
            optional = {key: getattr(hello, key) for key in HELLO_DEFAULTS}
            words |= {key: value for key, value in optional.items() if value != HELLO_DEFAULTS[key]}
            if hello.passed is not None:
                of = hello.passed
                words["passed"] = {
                    "kind": of.kind.value,
                    "name": of.name,
                    "issuer": of.issuer,
                    "via": list(of.via),
                }
            return words
        case ev.BindRequested():
            return {
                "type": "bind",
                "route": event.first,
                "fingerprint": event.fingerprint.hex(),
                "service": event.service,
                "agent": event.agent,
                "methods": event.methods,
            }
        case ev.BindingAnswered(binding=binding):
            code = Code(binding.status).name
            return {"type": "bound", "route": binding.first, "code": code, "text": binding.text}
        case ev.UnbindRequested():
            return {"type": "unbind", "route": event.first}
        case ev.DataReceived():
            words = {
                "type": "data",
                "id": event.id,
                "encoding": event.encoding,
                "count": event.count,
                "payload": event.payload.hex(),
            }
            return with_metadata(words, event.metadata)
        case ev.CreditReceived():
            return {"type": "credit", "id": event.id, "bytes": event.bytes}
        case ev.EndReceived():
            return {"type": "end", "id": event.id}
        case ev.CancelRequested() | ev.StreamStopped():
            return {"type": "cancel", "id": event.id}
        case ev.PongReceived():
            return {"type": "pong", "payload": event.data.hex()}
        case ev.GoawayReceived():
            latest = {"id": event.latest} if event.latest else {}
            return {"type": "goaway", "code": event.code.name, "text": event.reason, **latest}
        case ev.DescribeRequested():
            return {"type": "describe", "text": event.service, **_asked(event.asked)}
        case ev.DescriptionReceived(description=description):
            return {
                "type": "descriptor",
                "service": description.service,
                "text": description.text,
                "annex": description.annex,
                **_asked(description.asked),
            }
        case ev.Refused():
            return {"type": "refused", "code": event.code.name, "text": event.reason}
        case ev.Broken():
            return {"type": "broken", "code": "PROTOCOL_ERROR"}
    raise AssertionError(f"unknown event {event!r}")


def prepared(vector: dict[str, Any]) -> Any:
    """A session that has handled the vectors before this one."""
    before = [BY_NAME[name] for name in vector.get("after", [])]
    awaited = [event for one in [*before, vector] for event in one["events"]]
    session: Any = server(awaited) if vector["role"] == "server" else client(awaited)
    for one in before:
        feed(session, iter([bytes_of(one)]))
    session.take_output()
    return session


def cuts(data: bytes) -> Iterator[list[bytes]]:
    yield [data]
    yield [data[i : i + 1] for i in range(len(data))]
    for at in range(1, len(data)):
        yield [data[:at], data[at:]]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_bytes_become_the_same_events_however_they_are_cut(vector: dict[str, Any]) -> None:
    for pieces in cuts(bytes_of(vector)):
        session = prepared(vector)

        events = [described(event) for event in feed(session, iter(pieces))]

        assert events == vector["events"]
        if "answers" in vector:
            assert b"".join(session.take_output()) == bytes.fromhex(vector["answers"])


WRITTEN = [vector for vector in VECTORS if vector.get("write", True)]


@pytest.mark.parametrize("vector", WRITTEN, ids=lambda vector: vector["name"])
def test_the_other_role_writes_exactly_these_bytes(vector: dict[str, Any]) -> None:
    hello = Hello(nonce=NONCE, max_in_flight=0)
    from_client = ClientSession(hello, bytearray(4096))
    from_server = ServerSession(hello, bytearray(4096))
    from_client.take_output()
    from_server.peer_max_payload = 1 << 24
    for event in vector["events"]:
        write(from_client, from_server, event, vector["role"])
    written = from_client.take_output() if vector["role"] == "server" else from_server.take_output()

    assert b"".join(written).hex() == bytes_of(vector).hex()


def block_of(event: dict[str, Any]) -> bytes:
    return pack_metadata(dict(event["metadata"])) if "metadata" in event else b""


def write(  # noqa: C901 - one case an event
    client: ClientSession, server: ServerSession, event: dict[str, Any], role: str
) -> None:
    sender: Any = client if role == "server" else server
    match event["type"]:
        case "hello":
            sender._control(
                frame.HELLO,
                Hello(
                    nonce=bytes.fromhex(event["nonce"]),
                    max_payload=event["max_payload"],
                    max_in_flight=event["max_in_flight"],
                    client_id=event["client_id"],
                    auth=bytes.fromhex(event["authentication"]),
                    passed=passed_of(event),
                    **{key: event[key] for key in HELLO_DEFAULTS if key in event},
                ).pack(),
            )
        case "request":
            call = Request(1.0)
            call.route = event["route"]
            client.calls.last = event["id"] - 1
            flags = event["encoding"] | event["bulk"] * frame.BULK | event["oneway"] * frame.ONEWAY
            flags |= event.get("stream", False) * frame.STREAM
            block = block_of(event)
            flags |= frame.METADATA if block else 0
            word = frame.pack_deadline(event["deadline_us"] / 1e6) if event["deadline_us"] else 0
            client.request(call, flags, word, event["count"], block + bytes.fromhex(event["payload"]))
        case "reply":
            payload = bytes.fromhex(event["payload"])
            server.reply(
                event["id"],
                event["route"],
                event["status"],
                event["encoding"],
                event["count"],
                payload,
                block_of(event),
            )
        case "bind":
            binding = Binding(event["service"], event["agent"], len(event["methods"]), 1.0)
            client._free = [(event["route"], 65_536 - event["route"])]
            client.bind(binding, bytes.fromhex(event["fingerprint"]), tuple(event["methods"]))
        case "bound":
            bind = ev.BindRequested(event["route"], NONCE, "s", "", ["m"])
            if event["code"] == "OK":
                server.accept(bind, [object()])
            else:
                server.reject(bind, Code[event["code"]], event["text"])
        case "unbind":
            binding = Binding("s", "", 1, 1.0)
            binding.first = event["route"]
            client.unbind(binding)
        case "data":
            block = block_of(event)
            flags = event["encoding"] | (frame.METADATA if block else 0)
            sender.send_data(event["id"], flags, event["count"], block + bytes.fromhex(event["payload"]))
        case "credit":
            sender.send_credit(event["id"], event["bytes"])
        case "end":
            call = Request(1.0)
            call.id = event["id"]
            client.end_stream(call)
        case "cancel" if role == "client":
            server.stop_stream(event["id"])
        case "cancel":
            call = Request(1.0)
            call.id = event["id"]
            client.calls.by_id[call.id] = call
            client.cancel(call)
        case "goaway":
            from mf.protocol.state import State

            server._enter(State.OPEN)
            server._latest_id = event.get("id", 0)
            server.goaway(Code[event["code"]], event["text"])
        case "describe":
            asked = bytes.fromhex(event.get("fingerprint", ""))
            client.describe(Description(event["text"], 1.0, asked))
        case "descriptor":
            asked = bytes.fromhex(event.get("fingerprint", ""))
            server.describe(event["service"], event["text"], event["annex"], asked)
        case "refused":
            sender.refuse(Code[event["code"]], event["text"])
        case other:
            raise AssertionError(f"unknown event {other}")
