"""Properties of a session beyond the shared vectors: deadlines, ids, large payloads, limits, and arbitrary
bytes.
"""

import tracemalloc
from struct import Struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mf.core.error import Code, Error, Execution, not_executed
from mf.core.outcome import Outcome
from mf.protocol import frame
from mf.protocol.calls import Request
from mf.protocol.client_session import ClientSession
from mf.protocol.events import BindRequested, Broken, HelloReceived
from mf.protocol.handshake import Hello, pack_bind
from mf.protocol.reply import MIXED, pack_mixed, read_outcomes
from mf.protocol.server_session import ServerSession
from mf.protocol.state import State
from mf.protocol.wire import Violation, pack_failure, read_failure
from tests.python.echo import TWICE, Negative

NONCE = bytes(range(16))


def feed(session: Any, data: bytes) -> list[Any]:
    events = []
    while data:
        window = session.window()
        taken = min(len(window), len(data))
        window[:taken] = data[:taken]
        events += session.received(taken)
        data = data[taken:]
    return events


def server(max_in_flight: int = 4) -> ServerSession:
    return ServerSession(Hello(nonce=NONCE, max_in_flight=max_in_flight), bytearray(1000))


def open_server(max_in_flight: int = 4) -> ServerSession:
    session = server(max_in_flight)
    feed(session, frame.pack(frame.HELLO, Hello(nonce=NONCE, client_id=7).pack()))
    bind = pack_bind(bytes(16), "s", "", ("m",))
    (requested,) = feed(session, frame.pack(frame.BIND, bind, route=0))
    assert isinstance(requested, BindRequested)
    session.accept(requested, ["target"])
    session.take_output()
    return session


@pytest.mark.parametrize("relays", [0, 1, 8])
def test_a_bind_says_whether_its_client_is_a_relay(relays: int) -> None:
    session = server()
    feed(session, frame.pack(frame.HELLO, Hello(nonce=NONCE, client_id=7).pack()))
    via = Struct("<HH").pack(1, 16 * relays) + NONCE * relays
    bind = pack_bind(bytes(16), "s", "", ("m",)) + via
    (requested,) = feed(session, frame.pack(frame.BIND, bind, route=0))
    assert requested.relayed is (relays > 0)


def request(id_: int, payload: bytes = b"", **fields: int) -> bytes:
    return frame.pack(frame.REQUEST, payload, **{"flags": 1, "id_": id_, "count": 1, **fields})


@given(st.floats(min_value=1e-9, max_value=4e6))
def test_deadlines_are_rounded_up_and_by_less_than_a_thousandth(seconds: float) -> None:
    back = frame.unpack_deadline(frame.pack_deadline(seconds))

    assert back >= seconds * (1 - 1e-9)
    assert back <= max(seconds * 1.001, 1e-6) + 1e-6


@pytest.mark.parametrize(
    ("seconds", "word"), [(30.0, 0x7728), (1e-9, 1), (float("inf"), 0), (1e12, 0xFFFF), (2e-3, 2000)]
)
def test_deadlines_have_these_words(seconds: float, word: int) -> None:
    assert frame.pack_deadline(seconds) == word


def test_ids_wrap_and_skip_those_in_flight() -> None:
    session = ClientSession(Hello(nonce=NONCE), bytearray(1000))
    session.calls.last = 0xFFFFFFFE
    session.calls.by_id = {1: Request(1.0), 2: Request(1.0)}
    later = [Request(1.0) for _ in range(3)]

    for call in later:
        session.request(call, 1, 0, 1, b"")

    assert [call.id for call in later] == [0xFFFFFFFF, 3, 4]
    assert session.calls.wrapped


@given(st.binary(max_size=300))
def test_any_bytes_before_hello_end_in_silence_or_a_reason(data: bytes) -> None:
    session = server()

    for event in feed(session, data):
        assert isinstance(event, Broken | HelloReceived)


@given(st.binary(max_size=400), st.integers(0, 255))
def test_any_frame_after_hello_ends_in_an_event_or_a_reason(payload: bytes, type_: int) -> None:
    session = open_server()

    feed(session, frame.pack(type_, payload, flags=1, id_=1, count=1))
    feed(session, payload)

    assert session.state in (State.OPEN, State.CLOSED)


def test_a_length_of_4_gib_allocates_nothing() -> None:
    session = open_server()
    header = frame.HEADER.pack(0xFFFFFFFF, frame.REQUEST, 1, 0, 1, 0, 1)
    tracemalloc.start()

    (event,) = feed(session, header)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(event, Broken)
    assert "4294967279 bytes" in event.reason
    assert peak < 100_000


@pytest.mark.parametrize("size", [64 * 1024 - 1, 64 * 1024, 64 * 1024 + 3, 300_000])
@pytest.mark.parametrize("count", [1, 70_000])
def test_large_payloads_arrive_whole_and_the_next_frame_too(size: int, count: int) -> None:
    payload = bytes(i % 251 for i in range(size))
    data = request(1, payload, count=count) + request(2, b"next")
    for cut in (16, 24, size + 16, size + 17, size + 24, len(data) - 20, len(data)):
        session = open_server()

        events = feed(session, data[:cut]) + feed(session, data[cut:])

        assert [event[6] for event in events] == [payload, b"next"]
        assert [event[5] for event in events] == [count, 1]


def test_the_rest_of_a_large_payload_is_read_once_its_first_mebibyte_has_arrived() -> None:
    payload = bytes(range(251)) * 20_000
    session = open_server()
    windows = []
    data = request(1, payload)
    for cut in (100, 1 << 19, 1 << 20, (1 << 20) + 100, len(data)):
        events = feed(session, data[:cut])
        data = data[cut:]
        windows.append(len(session.window()))
    (event,) = events

    assert event[6] == payload
    assert windows[:2] == [(1 << 20) - 100 + 16, (1 << 19) - 100 + 16]
    assert windows[-1] == 1000  # that of small frames again


def test_a_frame_that_ends_is_known_as_ended_whether_it_makes_an_event_or_not() -> None:
    session = open_server()
    ping = frame.pack(frame.PING, bytes(8))
    for data, ended in (
        (ping[:5], False),
        (ping[5:9], False),
        (ping[9:] + ping[:5], True),
        (ping[5:] + ping, True),
        (request(1, bytes(100_000))[:70_000], False),
        (request(1, bytes(100_000))[70_000:], True),
    ):
        feed(session, data)
        assert session.has_ended_frame == ended


def test_padding_of_a_large_payload_must_be_zero() -> None:
    session = open_server()
    data = bytearray(request(1, bytes(100_001)))
    data[-1] = 1

    events = feed(session, bytes(data))

    assert isinstance(events[-1], Broken)


def test_requests_beyond_the_limit_are_refused_as_not_executed() -> None:
    session = open_server(max_in_flight=1)

    events = feed(session, request(1) + request(2))

    assert len(events) == 1
    reply = b"".join(session.take_output())
    _, type_, _, _, id_, status, _ = frame.HEADER.unpack_from(reply)
    assert (type_, id_, status, reply[16]) == (frame.REPLY, 2, Code.OVERLOADED, 0)


def test_an_id_still_in_flight_is_a_protocol_error() -> None:
    session = open_server()

    events = feed(session, request(1) + request(1))

    assert isinstance(events[-1], Broken)


def test_after_goaway_requests_are_answered_and_not_reported() -> None:
    session = open_server()
    session.goaway(Code.SHUTTING_DOWN, "bye")
    session.take_output()

    events = feed(session, request(1))

    assert events == []
    _, _, _, _, id_, status, _ = frame.HEADER.unpack_from(b"".join(session.take_output()))
    assert (id_, status) == (1, Code.SHUTTING_DOWN)


def test_a_reply_that_the_client_does_not_take_says_both_sizes() -> None:
    session = server()
    feed(session, frame.pack(frame.HELLO, Hello(nonce=NONCE, max_payload=4096).pack()))
    session.take_output()

    session.reply(1, 0, 0, 1, 1, bytes(5000))

    reply = b"".join(session.take_output())
    assert frame.HEADER.unpack_from(reply)[5] == Code.MESSAGE_TOO_LARGE
    assert b"5000" in reply
    assert b"4096" in reply


def test_a_reply_to_a_call_given_up_is_dropped_and_counted() -> None:
    session = ClientSession(Hello(nonce=NONCE), bytearray(1000))
    feed(session, frame.pack(frame.HELLO, Hello(nonce=NONCE, max_in_flight=9).pack()))
    call = Request(1.0)
    session.request(call, 1, 0, 1, b"")
    session.cancel(call)

    events = feed(session, frame.pack(frame.REPLY, b"", flags=1, id_=call.id, count=1))

    assert events == []
    assert session.dropped == 1


def test_the_version_is_the_highest_that_both_speak_once_both_have_said_so() -> None:
    session = server()
    assert session.version == 0

    feed(session, frame.pack(frame.HELLO, Hello(nonce=NONCE, lowest=1, highest=9).pack()))

    assert session.version == 1


@pytest.mark.parametrize("others", [0, 1])
def test_a_small_reply_of_another_count_is_a_protocol_error(others: int) -> None:
    session = ClientSession(Hello(nonce=NONCE), bytearray(1000))
    feed(session, frame.pack(frame.HELLO, Hello(nonce=NONCE, max_in_flight=9).pack()))
    calls = [Request(1.0) for _ in range(others + 1)]
    for call in calls:
        session.request(call, 1, 0, 1, b"")
    replies = [frame.pack(frame.REPLY, b"", flags=1, id_=call.id, count=1) for call in calls[1:]]

    events = feed(
        session, b"".join(replies) + frame.pack(frame.REPLY, b"", flags=1, id_=calls[0].id, count=2)
    )

    assert len(events) == others + 1
    assert isinstance(events[-1], Broken)
    assert "2 items for a request of 1" in events[-1].reason


@pytest.mark.parametrize("others", [0, 1])
def test_a_small_reply_of_another_route_is_dropped_and_counted(others: int) -> None:
    session = ClientSession(Hello(nonce=NONCE), bytearray(1000))
    feed(session, frame.pack(frame.HELLO, Hello(nonce=NONCE, max_in_flight=9).pack()))
    calls = [Request(1.0) for _ in range(others + 1)]
    for call in calls:
        session.request(call, 1, 0, 1, b"")
    replies = [frame.pack(frame.REPLY, b"", flags=1, id_=call.id, count=1) for call in calls[1:]]

    events = feed(
        session, b"".join(replies) + frame.pack(frame.REPLY, b"", flags=1, route=7, id_=calls[0].id, count=1)
    )

    assert (len(events), session.dropped) == (others, 1)


@pytest.mark.parametrize("others", [0, 1])
@pytest.mark.parametrize(("id_", "count"), [(1, 0), (0, 1)])
def test_a_reply_without_id_or_items_is_a_protocol_error(id_: int, count: int, others: int) -> None:
    session = ClientSession(Hello(nonce=NONCE), bytearray(1000))
    feed(session, frame.pack(frame.HELLO, Hello(nonce=NONCE, max_in_flight=9).pack()))
    calls = [Request(1.0) for _ in range(others + 1)]
    for call in calls:
        session.request(call, 1, 0, 1, b"")
    replies = [frame.pack(frame.REPLY, b"", flags=1, id_=call.id, count=1) for call in calls[1:]]

    events = feed(session, b"".join(replies) + frame.pack(frame.REPLY, b"", flags=1, id_=id_, count=count))

    assert len(events) == others + 1
    assert isinstance(events[-1], Broken)


@pytest.mark.parametrize("others", [0, 1])
@pytest.mark.parametrize("count", [65_534, 65_535, 65_536])
def test_a_small_reply_may_have_many_items(count: int, others: int) -> None:
    """From 65,535 items on their number follows the header."""
    session = ClientSession(Hello(nonce=NONCE), bytearray(1000))
    feed(session, frame.pack(frame.HELLO, Hello(nonce=NONCE, max_in_flight=9).pack()))
    calls = [Request(1.0) for _ in range(others + 1)]
    for call in calls:
        session.request(call, 1, 0, count, b"")
    replies = [frame.pack(frame.REPLY, b"ab", flags=1, id_=call.id, count=count) for call in calls]

    events = feed(session, b"".join(replies))

    assert events == [(call, 0, 1, b"ab") for call in calls]


def test_what_a_handler_has_met_in_a_file_says_that_the_call_may_have_run() -> None:
    record = pack_failure(Error(Code.UNAVAILABLE, "full", Execution.NO_CALL))
    assert read_failure(Code.UNAVAILABLE, record, 0)[0].execution is Execution.UNKNOWN


def test_a_failure_record_has_at_least_four_bytes_of_which_one_is_zero() -> None:
    record = bytes((1, 0, 0, 0))

    error, end = read_failure(Code.INTERNAL, record, 0)
    assert (error.code, error.message, error.execution, end) == (Code.INTERNAL, "", Execution.UNKNOWN, 4)
    for bad in (record[:3], bytes((2, 0, 0, 0)), bytes((0, 1, 0, 0)), bytes((0, 0, 1, 0))):
        with pytest.raises(Violation):
            read_failure(Code.INTERNAL, bad, 0)


@pytest.mark.parametrize("reason", ["é" * 40_000, "\udcff" * 40_000])
def test_reasons_that_do_not_fit_are_cut(reason: str) -> None:
    session = open_server()
    bind = pack_bind(bytes(16), "s", "", ("m",))
    (requested,) = feed(session, frame.pack(frame.BIND, bind, route=1))

    session.reject(requested, Code.UNKNOWN_AGENT, reason)
    session.goaway(Code.SHUTTING_DOWN, reason)
    session.refuse(Code.PROTOCOL_ERROR, reason)

    for sent in session.take_output():
        payload = bytes(sent)[frame.HEADER_SIZE :]
        assert payload[:2] == (1024).to_bytes(2, "little")
        assert payload[2:] == reason.encode("utf-8", "replace")[:1024] + bytes(6)


def test_mixed_replies_come_back_item_by_item() -> None:
    outcomes: list[Outcome[int]] = [
        Outcome(1),
        Outcome(error=Negative(-2)),
        Outcome(error=not_executed(Code.OVERLOADED, "busy")),
        Outcome(4),
    ]

    payload = pack_mixed(TWICE, outcomes)

    assert read_outcomes(TWICE, MIXED, 1, 4, payload) == outcomes


@given(st.integers(0, 200))
def test_a_mixed_reply_cut_anywhere_is_a_decode_error(cut: int) -> None:
    outcomes: list[Outcome[int]] = [
        Outcome(1),
        Outcome(error=Negative(-2)),
        Outcome(error=Error(Code.INTERNAL, "x")),
    ]
    payload = pack_mixed(TWICE, outcomes)

    with pytest.raises(Error) as failed:
        read_outcomes(TWICE, MIXED, 1, 3, payload[: cut % len(payload)])

    assert failed.value.code == Code.DECODE_ERROR


@pytest.mark.parametrize(
    ("at", "byte"), [(0, 1), (0, 255), (1, 1), (2, 1), (3, 1), (4, 5), (5, 1), (6, 1), (7, 1)]
)
def test_a_declared_error_that_the_method_has_not_or_that_is_cut_off_is_a_decode_error(
    at: int, byte: int
) -> None:
    """It begins with its index, two bytes that are zero, and its length."""
    payload = bytearray(pack_mixed(TWICE, [Outcome(error=Negative(-2))]))
    assert read_outcomes(TWICE, MIXED, 1, 1, bytes(payload)) == [Outcome(error=Negative(-2))]
    payload[8 + at] = byte

    with pytest.raises(Error, match="malformed") as failed:
        read_outcomes(TWICE, MIXED, 1, 1, bytes(payload))

    assert failed.value.code == Code.DECODE_ERROR
