"""Sessions that cut frames natively do what pure ones do: the same events in the same order, the same output
and the same end, whatever the peer sends and however it arrives."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from mf.core.error import Code, Error, not_executed
from mf.core.plain_struct import PlainStruct
from mf.protocol import frame
from mf.protocol.calls import Request
from mf.protocol.client_session import ClientSession
from mf.protocol.cutting import LAST_CODE, PURE, SMALL, of_module
from mf.protocol.events import BindRequested
from mf.protocol.handshake import Hello, pack_bind
from mf.protocol.metadata import pack_metadata
from mf.protocol.server_session import Denied, ServerSession
from mf.protocol.wire import pack_text
from tests.python.native.plans import module, sessions_use

NONCE = bytes(range(16))
MAX_PAYLOAD = 1 << 20
ROUTES = 3
DENIED = 3
IN_FLIGHT = 8
SEEDS = range(400)


def shown(event: Any) -> Any:
    """An event without what differs between two sessions: the objects of calls."""
    if isinstance(event, Request):
        return event.id, event.route, event.reply_metadata
    if isinstance(event, Error):
        return event.code, event.execution, event.message
    if isinstance(event, tuple):
        return tuple(shown(part) for part in event)
    if isinstance(event, PlainStruct):
        names: tuple[str, ...] = type(event).__dict__["__match_args__"]
        return type(event).__name__, *(shown(getattr(event, name)) for name in names)
    return bytes(event) if isinstance(event, (bytearray, memoryview)) else event


def fed(session: Any, data: bytes, cuts: Random) -> Iterator[Any]:
    """What each read gives: events, output, and what the session says of itself."""
    while data:
        window = session.window()
        taken = min(len(window), len(data), cuts.choice((1, 7, 16, 24, 40, 100, 1000, 1 << 20)))
        window[:taken] = data[:taken]
        yield [shown(event) for event in session.received(taken)]
        yield b"".join(map(bytes, session.take_output()))
        yield session.out_bytes, session.queued, session.dropped, session.state, session.is_whole
        data = data[taken:]


def client(seed: int) -> ClientSession:
    """With calls of one to three items in flight."""
    draw = Random(seed)
    session = ClientSession(Hello(nonce=NONCE, max_payload=MAX_PAYLOAD), bytearray(4096))
    hello = frame.pack(frame.HELLO, Hello(nonce=NONCE, max_in_flight=99).pack())
    assert list(fed(session, hello, Random(0)))
    for _ in range(24):
        call = Request(1.0)
        call.route = draw.randrange(ROUTES)
        session.request(call, 1, 0, draw.choice((1, 1, 1, 3)), bytes(draw.randrange(20)))
    session.take_output()
    return session


def server(_: int) -> ServerSession:
    session = ServerSession(
        Hello(nonce=NONCE, max_in_flight=IN_FLIGHT, max_payload=MAX_PAYLOAD), bytearray(4096)
    )
    hello = frame.pack(frame.HELLO, Hello(nonce=NONCE, client_id=7, max_payload=MAX_PAYLOAD).pack())
    bind = frame.pack(frame.BIND, pack_bind(bytes(16), "s", "", tuple("abcd")))
    for event in (*_received(session, hello), *_received(session, bind)):
        if isinstance(event, BindRequested):
            session.accept(event, ["a", "b", "c", Denied(_denied)])
    session.take_output()
    return session


def _denied() -> Error:
    return not_executed(Code.PERMISSION_DENIED, "not for this peer")


def _received(session: Any, data: bytes) -> list[Any]:
    session.window()[: len(data)] = data
    return session.received(len(data))  # type: ignore[no-any-return]


def answered(draw: Random, type_: int, harm: float) -> bytes:
    """A REPLY or REQUEST, with an id that mostly is, was or will be in flight. `harm`: how often a field is
    none of a plain one."""

    def hostile(*values: int, plain: int) -> int:
        return draw.choice(values) if draw.random() < harm else plain

    size = draw.choice((0, 1, 4, 7, 8, 30, SMALL - 16, SMALL - 15))
    flags, payload = 1, draw.randbytes(hostile(70_000, plain=size))
    if draw.random() < 0.1:
        flags, payload = flags | frame.METADATA, pack_metadata({"k": "v"}) + payload
    return frame.pack(
        type_,
        payload,
        flags=hostile(0, 2, 15, 16, 0x20, 0x21, 0x80, 0x81, 0xFF, plain=flags),
        route=draw.randrange(ROUTES + 2),
        id_=hostile(0, 99, 0xFFFFFFFF, plain=draw.randrange(1, 25)),
        word=hostile(1, LAST_CODE, LAST_CODE + 1, 0xFFFF, plain=0),
        count=hostile(3, 0, frame.EXTENDED_COUNT, 70_000, plain=1),
    )


def rare(draw: Random) -> bytes:
    id_ = draw.randrange(30)
    return draw.choice(
        (
            frame.pack(frame.PING, bytes(8)),
            frame.pack(frame.PONG, bytes(8)),
            frame.pack(frame.CREDIT, b"\x10\0\0\0", id_=id_),
            frame.pack(frame.DATA, b"values", flags=1, id_=id_, count=1),
            frame.pack(frame.CANCEL, id_=id_),
            frame.pack(frame.END, id_=id_),
            frame.pack(frame.GOAWAY, pack_text("enough"), word=18, id_=id_),
            frame.pack(200, b"of a later version"),
            frame.pack(frame.REFUSE, pack_text("no"), word=15),
            frame.pack(99, b""),
        )
    )


def stream(seed: int, type_: int) -> bytes:
    """Plain frames, hostile ones, others between them; some bytes changed, and the last frame perhaps cut."""
    draw = Random(seed)
    harm = draw.choice((0.0, 0.02, 0.2))
    frames = []
    for _ in range(draw.randrange(1, 40)):
        made = rare(draw) if draw.random() < harm else answered(draw, type_, harm)
        if draw.random() < 0.1:
            frames.append(made)  # twice
        if draw.random() < harm / 2:
            damaged = bytearray(made)
            damaged[draw.randrange(min(len(made), 24))] ^= 1 << draw.randrange(8)
            made = bytes(damaged)
        elif draw.random() < harm / 4:
            made = made[:-1] + b"\x01"  # of the padding, if it has some
        frames.append(made)
    data = b"".join(frames)
    return data[: draw.randrange(len(data))] if draw.random() < 0.2 else data


@pytest.mark.parametrize(
    ("begin", "type_"), [(client, frame.REPLY), (server, frame.REQUEST)], ids=["client", "server"]
)
def test_any_bytes_have_the_same_effect(begin: Callable[[int], Any], type_: int) -> None:
    plain = 0
    for seed in SEEDS:
        data = stream(seed, type_)
        with sessions_use("pure"):
            pure = begin(seed)
        with sessions_use("native"):
            native = begin(seed)

        wanted = list(fed(pure, data, Random(seed)))
        assert list(fed(native, data, Random(seed))) == wanted, seed

        if isinstance(pure, ClientSession):
            assert list(native.calls.by_id) == list(pure.calls.by_id)
        else:
            assert native.in_flight == pure.in_flight
        plain += sum(isinstance(event, tuple) for events in wanted[::3] for event in events)
    assert plain > 500  # so that the native functions had something to do


FIELDS = {
    "type_": (0, 5, 255, 256, -1),
    "flags": (0, 1, 255, 256),
    "route": (0, 65_535, 65_536, -1),
    "id_": (0, 1, 0xFFFFFFFF, 1 << 32),
    "word": (0, 65_535, 65_536),
    "count": (0, 1, 0xFFFE, 0xFFFF, 70_000),
}
PAYLOADS = (
    b"",
    b"1",
    b"1234567",
    bytearray(b"12345678"),
    memoryview(b"123"),
    bytes(16_367),
    bytes(16_368),
    bytes(20_000),
)


def test_frames_that_are_made_natively_have_the_same_bytes() -> None:
    append = of_module(module()).append
    made = 0
    usual: dict[str, int] = {"type_": 6, "flags": 1, "route": 2, "id_": 3, "word": 4, "count": 1}
    for payload in PAYLOADS:
        for name, values in FIELDS.items():
            for value in values:
                fields: list[int] = list({**usual, name: value}.values())
                natively: list[Any] = []
                purely: list[Any] = []
                size = append(natively, *fields, payload)  # type: ignore[arg-type, call-arg]
                if not size:  # it is left to the pure function, which may refuse it
                    assert natively == []
                    continue
                assert size == frame.pack_into(purely, *fields, payload)  # type: ignore[arg-type, call-arg]
                assert natively == purely
                made += 1
    assert made >= 80


@pytest.mark.parametrize("values", [[], [1], [None, "a", [1], {}], list(range(1_000))])
def test_outcomes_are_the_same(values: list[Any]) -> None:
    assert of_module(module()).outcomes(values) == PURE.outcomes(values)


@pytest.mark.parametrize("at", [-1, 0, 4, 1 << 70])
def test_a_part_that_is_not_there_is_an_error_of_the_caller(at: int) -> None:
    with pytest.raises((ValueError, OverflowError)):
        module().replies(bytearray(3), at, 5, {}, [])


def test_received_bytes_cannot_be_resized_while_they_are_read() -> None:
    """Reading the route of a call may run anything."""
    data = bytearray(frame.pack(frame.REPLY, b"1234", flags=1, route=1, id_=1, count=1))
    refused: list[str] = []

    class Call:
        count = 1

        @property
        def route(self) -> int:
            try:
                data.clear()
            except BufferError as error:
                refused.append(str(error))
            return 1

    events: list[Any] = []
    assert module().replies(data, 0, len(data), {1: Call()}, events) == len(data)
    assert bytes(events[0][3]) == b"1234"
    assert len(refused) == 1
