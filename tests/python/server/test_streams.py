# ruff: noqa: ARG002 - handlers have the parameters that the schema says
"""Streams at the server, against a client that sends arbitrary frames: handlers are generators and iterators,
or async ones.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

import mf
from mf.core.error import Code, Execution
from mf.protocol import frame
from mf.server import connection, server_io, stream
from tests.python.conftest import eventually
from tests.python.echo import Negative
from tests.python.serving import server_of
from tests.python.streams import FOLLOW, LOAD, PLAIN, SCAN, FlowAsyncServant, FlowServant, Frame, Peer, sized


class Plain(FlowServant):
    """Records what it received, and runs the test's code."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.given = 0
        self.fail: Exception | None = None
        self.stop_after = -1
        self.pause_at = -1
        self.gate = threading.Event()

    def scan(self, to: int) -> Iterator[int]:
        mf.current_call().set_reply_metadata("first", "1")
        try:
            for number in range(1, to + 1):
                if number == self.pause_at:
                    self.gate.wait(10)
                self.given += 1
                yield number
            mf.current_call().set_reply_metadata("last", "2")
            if self.fail is not None:
                raise self.fail
        finally:
            self.seen.append(("scan ended", mf.current_call().cancelled))

    def load(self, into: str, values: Iterator[bytes]) -> int:
        total = 0
        try:
            for number, value in enumerate(values, 1):
                total += len(value)
                self.seen.append(len(value))
                if number == self.stop_after:
                    break
        except mf.Error as error:
            self.seen.append(error.code)
            raise
        return total

    def follow(self, names: Iterator[str]) -> Iterator[str]:
        for number, name in enumerate(names, 1):
            yield f"{name}!"
            if number == self.stop_after:
                break
        del names
        for number in range(3 if self.stop_after >= 0 else 0):
            self.gate.wait(10)
            yield f"rest {number}"

    def plain(self, x: int) -> int:
        return 2 * x


class Awaiting(FlowAsyncServant):
    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.given = 0
        self.fail: Exception | None = None
        self.stop_after = -1
        self.pause_at = -1
        self.gate = threading.Event()

    async def scan(self, to: int) -> AsyncIterator[int]:
        mf.current_call().set_reply_metadata("first", "1")
        try:
            for number in range(1, to + 1):
                if number == self.pause_at:
                    await asyncio.to_thread(self.gate.wait, 10)
                self.given += 1
                yield number
            mf.current_call().set_reply_metadata("last", "2")
            if self.fail is not None:
                raise self.fail
        finally:
            self.seen.append(("scan ended", mf.current_call().cancelled))

    async def load(self, into: str, values: AsyncIterator[bytes]) -> int:
        total = number = 0
        try:
            async for value in values:
                number += 1
                total += len(value)
                self.seen.append(len(value))
                if number == self.stop_after:
                    break
        except asyncio.CancelledError:
            self.seen.append(Code.CANCELLED)
            raise
        except mf.Error as error:
            self.seen.append(error.code)
            raise
        return total

    async def follow(self, names: AsyncIterator[str]) -> AsyncIterator[str]:
        number = 0
        async for name in names:
            number += 1
            yield f"{name}!"
            if number == self.stop_after:
                break
        del names
        for rest in range(3 if self.stop_after >= 0 else 0):
            while not self.gate.is_set():
                await asyncio.sleep(0.001)
            yield f"rest {rest}"

    async def plain(self, x: int) -> int:
        return 2 * x


Servant = Plain | Awaiting
Start = Callable[..., Peer]


@pytest.fixture(params=[Plain, Awaiting], ids=["plain", "async"])
def servant(request: pytest.FixtureRequest) -> Servant:
    made: Servant = request.param()
    return made


@pytest.fixture
def start(servant: Servant) -> Iterator[Start]:
    open_: list[Callable[[], object]] = []

    def started(window: int = 16_384, **options: Any) -> Peer:
        server = server_of(servant, agent="a", drain_timeout=2.0, **options)
        server.start()
        started.server = server  # type: ignore[attr-defined]
        peer = Peer(server, window)
        open_.extend((peer.close, server.stop))
        return peer

    yield started
    servant.gate.set()
    for close in open_:
        close()


def numbers(frames: list[Frame]) -> list[int]:
    """The values of a scan, whose first frame has metadata."""
    data = [each for each in frames if each.type == frame.DATA]
    return [number for each in data for number in without(each).numbers]


def without(data: Frame) -> Frame:
    return data.split()[1] if data.flags & frame.METADATA else data


def rests(servant: Servant) -> int:
    """Waits until the handler yields nothing any more; returns how much it was."""
    seen: list[int] = []

    def same() -> bool:
        seen.append(servant.given)
        return len(seen) > 20 and len(set(seen[-20:])) == 1 and seen[-1] > 0

    assert eventually(same, timeout=30)
    return seen[-1]


def sizes(frames: list[Frame]) -> list[int]:
    return [frame.frame_cost(len(each.payload)) for each in frames if each.type == frame.DATA]


# Result streams


def test_the_values_of_a_generator_come_in_order_and_many_share_a_frame(start: Start) -> None:
    peer = start(window=1 << 20)

    peer.call(SCAN, 1, 50_000)
    *data, reply = peer.until_reply(1)

    assert numbers(data) == list(range(1, 50_001))
    assert {each.flags & frame.ENCODING_MASK for each in data} == {1}
    assert (reply.word, without(reply).payload, reply.count) == (0, b"", 1)
    assert max(len(each.payload) for each in data) <= frame.DATA_LIMIT
    assert len(data) < 5000  # ten values a frame on average, however slowly the generator runs


def test_values_leave_when_their_credit_comes_though_the_handler_waits_for_other_things(
    start: Start, servant: Servant
) -> None:
    peer = start(window=16_384)
    servant.pause_at = 6001

    peer.call(SCAN, 1, 6001)
    data: list[Frame] = []
    while sum(each.count for each in data) < 6000:
        data.append(peer.next())
        peer.credit(1, 16_384)
    servant.gate.set()
    data += peer.until_reply(1)

    assert numbers(data) == list(range(1, 6002))


def test_a_stream_without_values_is_a_reply(start: Start) -> None:
    peer = start()

    peer.call(SCAN, 1, 0)

    assert [each.type for each in peer.until_reply(1)] == [frame.REPLY]


def test_metadata_go_with_the_first_value_and_later_ones_with_the_reply(start: Start) -> None:
    peer = start()

    peer.call(SCAN, 1, 40_000)
    frames = [peer.next()]
    while frames[-1].type != frame.REPLY:
        peer.credit(1, sum(sizes(frames[-1:])))
        frames.append(peer.next())

    assert frames[0].split()[0] == {"first": "1"}
    assert not any(each.flags & frame.METADATA for each in frames[1:-1])
    assert frames[-1].split()[0] == {"last": "2"}


def test_no_frame_is_sent_without_credit_and_the_handler_waits(start: Start, servant: Servant) -> None:
    peer = start(window=4096)

    peer.call(SCAN, 1, 1_000_000)
    first = [peer.next()]
    while sum(sizes(first)) + frame.HEADER_SIZE + 8 <= 4096:
        first.append(peer.next())
    rests(servant)

    assert sum(sizes(first)) <= 4096
    assert servant.given < 40_000  # a frame's capacity, and what was sent
    assert peer.is_served()
    peer.credit(1, 1000)
    assert sum(sizes([peer.next()])) <= 1000
    peer.cancel(1)
    assert eventually(lambda: servant.seen == [("scan ended", True)])


def test_a_slow_handler_does_not_keep_back_what_it_has_given(start: Start, servant: Servant) -> None:
    servant.stop_after = 1
    peer = start()

    peer.call(FOLLOW, 1)
    peer.data(1, sized("a"))
    assert peer.next().texts == ["a!"]  # though the handler waits for what this test gives it below
    assert peer.next().type == frame.CANCEL
    servant.gate.set()
    frames = peer.until_reply(1)

    assert [text for each in frames[:-1] for text in each.texts] == ["rest 0", "rest 1", "rest 2"]


def test_a_declared_error_and_a_failure_come_behind_the_values(start: Start, servant: Servant) -> None:
    peer = start()

    servant.fail = Negative(-4)
    peer.call(SCAN, 1, 3)
    *data, reply = peer.until_reply(1)
    assert numbers(data) == [1, 2, 3]
    assert (reply.word, without(reply).payload[0]) == (1, 1)

    servant.fail = KeyError("oops")
    peer.call(SCAN, 2, 2)
    *data, reply = peer.until_reply(2)
    assert numbers(data) == [1, 2]
    assert without(reply).failure.code is Code.HANDLER_FAILED
    assert "the handler has failed" in without(reply).failure.message


def test_a_value_that_the_schema_does_not_have_ends_the_stream_behind_the_others() -> None:
    class Wrong(Plain):
        def scan(self, to: int) -> Iterator[int]:
            yield 1
            yield -1
            yield 2

    server = mf.Server(options=mf.ServerOptions(drain_timeout=1.0))
    server.offer(Wrong(), agent="a")
    with server:
        peer = Peer(server)
        peer.call(SCAN, 1, 0)
        *data, reply = peer.until_reply(1)
        peer.close()

    assert numbers(data) == [1]
    assert reply.failure.code is Code.HANDLER_FAILED
    assert "not what the schema says" in reply.failure.message


def test_a_value_longer_than_the_client_takes_is_too_large() -> None:
    class Long(Plain):
        def follow(self, names: Iterator[str]) -> Iterator[str]:
            yield "short"
            yield "x" * (1 << 24)

    server = mf.Server(options=mf.ServerOptions(drain_timeout=1.0))
    server.offer(Long(), agent="a")
    with server:
        peer = Peer(server)
        peer.call(FOLLOW, 1)
        *data, reply = peer.until_reply(1)
        peer.close()

    assert data[0].texts == ["short"]
    assert (reply.failure.code, reply.failure.execution) == (Code.MESSAGE_TOO_LARGE, Execution.UNKNOWN)


# Parameter streams


def test_a_handler_gets_all_values_and_its_result_is_the_reply(start: Start, servant: Servant) -> None:
    peer = start()

    peer.call(LOAD, 1, "x")
    peer.data(1, sized(b"a", b"bb"), count=2)
    peer.data(1, sized(b"ccc"))
    peer.end(1)
    reply = peer.reply(1)

    assert servant.seen == [1, 2, 3]
    assert (reply.word, int.from_bytes(reply.payload, "little")) == (0, 6)


def test_a_value_may_span_frames(start: Start, servant: Servant) -> None:
    peer = start()
    value = sized(bytes(3000))

    peer.call(LOAD, 1, "x")
    for at in range(0, len(value), 1000):
        peer.data(1, value[at : at + 1000], count=int(at + 1000 >= len(value)))
    peer.data(1, sized(b"", b"b"), count=2)
    peer.end(1)

    assert int.from_bytes(peer.reply(1).payload, "little") == 3001
    assert servant.seen == [3000, 0, 1]


def test_credit_comes_back_when_half_of_the_window_was_taken(start: Start, servant: Servant) -> None:
    peer = start(stream_window=8192)
    value = sized(bytes(1000 - 2))

    peer.call(LOAD, 1, "x")
    for _ in range(4):
        peer.data(1, value)
    assert eventually(lambda: len(servant.seen) == 4)
    peer.data(1, value)
    credit = peer.next()

    assert (credit.type, credit.id) == (frame.CREDIT, 1)
    assert credit.credit == 5 * frame.frame_cost(1000)
    peer.end(1)
    assert int.from_bytes(peer.reply(1).payload, "little") == 5 * 998


def test_a_stream_that_goes_on_and_on_never_needs_more_than_its_credit(start: Start) -> None:
    peer = start(stream_window=4096)
    credit, sent, value = 4096, 0, sized(bytes(1100))
    cost = frame.frame_cost(len(value))

    peer.call(LOAD, 1, "x")
    while sent < 2000:
        while credit >= cost:
            peer.data(1, value)
            credit -= cost
            sent += 1
        got = peer.next()
        assert got.type == frame.CREDIT
        credit += got.credit
    peer.end(1)

    assert int.from_bytes(peer.reply(1).payload, "little") == sent * 1100
    assert credit <= 1 << 20


def test_a_handler_that_returns_early_is_answered_at_once(start: Start, servant: Servant) -> None:
    servant.stop_after = 1
    peer = start()

    peer.call(LOAD, 1, "x")
    peer.data(1, sized(b"a", b"b"), count=2)
    reply = peer.reply(1)
    peer.data(1, sized(b"late"))  # crosses the reply
    peer.end(1)

    assert int.from_bytes(reply.payload, "little") == 1
    assert peer.is_served()


def test_a_handler_that_drops_its_iterator_stops_the_client(start: Start, servant: Servant) -> None:
    servant.stop_after = 2
    peer = start()

    peer.call(FOLLOW, 1)
    peer.data(1, sized("a", "b", "c"), count=3)
    seen = [peer.next()]
    while seen[-1].type != frame.CANCEL:
        seen.append(peer.next())
    peer.data(1, sized("crossing"))
    servant.gate.set()
    rest = peer.until_reply(1)

    assert [text for each in seen if each.type == frame.DATA for text in each.texts] == ["a!", "b!"]
    assert [text for each in rest[:-1] for text in each.texts] == ["rest 0", "rest 1", "rest 2"]
    assert (seen[-1].id, rest[-1].word) == (1, 0)


def test_both_directions_go_at_once(start: Start) -> None:
    peer = start()

    peer.call(FOLLOW, 1)
    for name in ("x", "y", "z"):
        peer.data(1, sized(name))
        assert peer.next().texts == [f"{name}!"]
    peer.end(1)

    assert [each.type for each in peer.until_reply(1)] == [frame.REPLY]


# Ends


def test_a_thread_that_a_handler_leaves_behind_with_its_iterator_is_told_that_the_call_is_over() -> None:
    told: list[Code] = []

    class Leaving(Plain):
        def load(self, into: str, values: Iterator[bytes]) -> int:
            def read() -> None:
                try:
                    next(values)
                except mf.Error as error:
                    told.append(error.code)

            threading.Thread(target=read).start()
            return 7

    server = mf.Server(options=mf.ServerOptions(drain_timeout=1.0))
    server.offer(Leaving(), agent="a")
    with server:
        peer = Peer(server)
        peer.call(LOAD, 1, "x")
        assert peer.reply(1).word == 0
        assert eventually(lambda: told == [Code.CANCELLED])
        assert peer.is_served()
        peer.close()


def test_a_cancelled_stream_ends_its_handler_and_is_not_answered(start: Start, servant: Servant) -> None:
    peer = start(max_streams=1)

    peer.call(LOAD, 1, "x")
    peer.data(1, sized(b"a"))
    assert eventually(lambda: servant.seen == [1])
    peer.cancel(1)
    assert eventually(lambda: servant.seen == [1, Code.CANCELLED])

    def is_taken() -> bool:
        """The place of the cancelled one is free as soon as its handler has returned."""
        is_taken.id += 1  # type: ignore[attr-defined]
        peer.call(SCAN, is_taken.id, 0)  # type: ignore[attr-defined]
        frames = peer.until_reply(is_taken.id)  # type: ignore[attr-defined]
        assert all(each.id != 1 for each in frames)
        return frames[-1].word == 0

    is_taken.id = 1  # type: ignore[attr-defined]
    assert eventually(is_taken)


def test_a_lost_connection_ends_all_handlers(start: Start, servant: Servant) -> None:
    peer = start(window=64)

    peer.call(SCAN, 1, 1_000_000)
    peer.call(LOAD, 2, "x")
    assert eventually(lambda: servant.given > 0)
    peer.data(2, sized(b"a"))
    assert eventually(lambda: 1 in servant.seen)
    peer.close()

    assert eventually(lambda: ("scan ended", True) in servant.seen and len(servant.seen) == 3)


def test_a_stream_that_is_never_read_and_never_closed_ends_at_its_deadline(
    start: Start, servant: Servant
) -> None:
    peer = start(window=64, max_streams=1)

    peer.call(SCAN, 1, 1_000_000, deadline=0.1)
    assert eventually(lambda: servant.seen == [("scan ended", True)])
    assert servant.given < 40_000

    peer.call(LOAD, 2, "x", deadline=0.1)
    assert eventually(lambda: len(servant.seen) == 2)
    assert servant.seen[1] in (Code.DEADLINE_EXCEEDED, Code.CANCELLED)  # raised, or the task cancelled
    assert peer.is_served()


def test_streams_of_plain_handlers_do_not_keep_workers_from_calls(start: Start) -> None:
    peer = start(workers=1)

    for id_ in range(1, 21):
        peer.call(LOAD, id_, "x")

    assert peer.is_served()
    for id_ in range(1, 21):
        peer.end(id_)
    assert {peer.next().word for _ in range(20)} == {0}


def test_streams_above_the_limit_are_overloaded_and_not_executed(start: Start) -> None:
    peer = start(max_streams=2)

    for id_ in (1, 2, 3):
        peer.call(LOAD, id_, "x")
    refused = peer.reply(3)
    peer.end(1)
    assert peer.reply(1).word == 0
    peer.call(LOAD, 4, "x")
    peer.end(4)

    assert peer.hello.max_streams == 2
    assert (refused.failure.code, refused.failure.execution) == (Code.OVERLOADED, Execution.NOT_EXECUTED)
    assert "2 calls with streams" in refused.failure.message
    assert peer.reply(4).word == 0


def test_windows_that_exceed_the_bound_of_a_connection_are_refused() -> None:
    with pytest.raises(ValueError, match="together they may take"):
        mf.Server(options=mf.ServerOptions(max_streams=1024, stream_window=16_384))
    with pytest.raises(ValueError, match="carry no value"):
        mf.Server(options=mf.ServerOptions(stream_window=100))


# Violations by clients


def each(*acts: Callable[[Peer], None]) -> Callable[[Peer], None]:
    """Several frames, in order."""

    def act(peer: Peer) -> None:
        for one in acts:
            one(peer)

    return act


HOSTILE: dict[str, tuple[Callable[[Peer], None], Code, str]] = {
    "without credit": (
        lambda peer: peer.data(1, sized(bytes(16_384))),
        Code.PROTOCOL_ERROR,
        "without credit",
    ),
    "in another encoding": (
        lambda peer: peer.data(1, sized(b"a"), encoding=1),
        Code.DECODE_ERROR,
        "came in encoding 1",
    ),
    "a piece without bytes": (lambda peer: peer.data(1, b"", count=0), Code.PROTOCOL_ERROR, "without bytes"),
    "two values at the end of one": (
        each(
            lambda peer: peer.data(1, b"\x08\0\0\0", count=0), lambda peer: peer.data(1, bytes(12), count=2)
        ),
        Code.PROTOCOL_ERROR,
        "2 values in the frame that ends a value",
    ),
    "malformed values": (lambda peer: peer.data(1, b"\5a"), Code.DECODE_ERROR, "length 5, but 1 byte left"),
    "an end within a value": (
        each(lambda peer: peer.data(1, b"\x08\0\0\0", count=0), lambda peer: peer.end(1)),
        Code.DECODE_ERROR,
        "within a value",
    ),
    "values behind the end": (
        each(lambda peer: peer.end(1), lambda peer: peer.data(1, sized(b"a"))),
        Code.PROTOCOL_ERROR,
        "DATA after END",
    ),
    "two ends": (
        each(lambda peer: peer.end(1), lambda peer: peer.end(1)),
        Code.PROTOCOL_ERROR,
        "END after END",
    ),
    "metadata in DATA": (
        lambda peer: peer.data(1, b"\4\0\0\0\0\0\0\0" + sized(b"a"), encoding=2 | frame.METADATA),
        Code.PROTOCOL_ERROR,
        "metadata",
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_breaks_the_rules_of_a_stream_ends_its_call_and_not_the_connection(
    start: Start, servant: Servant, what: str
) -> None:
    act, code, reason = HOSTILE[what]
    peer = start()
    release = threading.Event()

    class Held(Plain):
        def load(self, into: str, values: Iterator[bytes]) -> int:
            release.wait(10)
            return super().load(into, values)

    if what in ("values behind the end", "two ends"):  # it must come before the answer
        server = mf.Server(options=mf.ServerOptions(drain_timeout=1.0))
        server.offer(Held(), agent="a")
        server.start()
        peer = Peer(server)
    peer.call(LOAD, 1, "x")
    act(peer)
    reply = peer.reply(1)
    release.set()

    assert reply.failure.code is code
    assert reason in reply.failure.message
    assert peer.is_served()
    peer.call(LOAD, 2, "x")
    peer.end(2)
    assert peer.reply(2).word == 0
    if "server" in locals():
        peer.close()
        server.stop()


def test_too_much_credit_ends_the_call_and_not_the_connection(start: Start) -> None:
    peer = start()

    peer.call(FOLLOW, 1)
    peer.credit(1, (1 << 31) - 1)

    assert peer.reply(1).failure.code is Code.PROTOCOL_ERROR
    assert peer.is_served()


@pytest.mark.parametrize("type_", [frame.DATA, frame.CREDIT, frame.END])
def test_a_frame_for_a_call_that_was_never_made_breaks_the_connection(
    start: Start, type_: int, caplog: pytest.LogCaptureFixture
) -> None:
    peer = start()
    payload = {frame.DATA: sized(b"a"), frame.CREDIT: b"\1\0\0\0", frame.END: b""}[type_]
    fields = {"flags": 2, "count": 1} if type_ == frame.DATA else {}

    peer.send(type_, payload, id_=99, **fields)
    refuse = peer.next()

    assert (refuse.type, refuse.word) == (frame.REFUSE, Code.PROTOCOL_ERROR)
    assert b"id 99 was never used" in refuse.payload
    with pytest.raises(EOFError):
        peer.next()
    assert eventually(lambda: "protocol error" in caplog.text)


def test_frames_for_a_call_that_has_ended_are_dropped(start: Start) -> None:
    peer = start()

    peer.call(SCAN, 1, 0)
    peer.reply(1)
    peer.data(1, sized(b"a"))
    peer.credit(1, 100)
    peer.end(1)
    peer.cancel(1)

    assert peer.is_served()
    server = start.server  # type: ignore[attr-defined]
    io = getattr(server, "server", server)._io
    assert [connection.session.dropped for connection in io._connections.values()] == [3]


@pytest.mark.parametrize("end", [False, True])
def test_data_and_end_for_a_call_without_streams_end_it_and_credit_does_not(end: bool) -> None:
    began, go = threading.Event(), threading.Event()

    class Held(Plain):
        def plain(self, x: int) -> int:
            if x != 1:
                return 2 * x
            began.set()
            go.wait(10)
            return x

    server = mf.Server(options=mf.ServerOptions(drain_timeout=1.0))
    server.offer(Held(), agent="a")
    with server:
        peer = Peer(server)
        peer.call(PLAIN, 1, 1)
        began.wait(10)
        peer.credit(1, (1 << 31) - 1)
        peer.call(PLAIN, 2, 3)
        unharmed = peer.next()
        if end:
            peer.end(1)
        else:
            peer.data(1, sized(b"a"))
        reply = peer.reply(1)
        go.set()
        assert peer.is_served()
        peer.close()

    assert (unharmed.id, unharmed.word) == (2, Code.OK)
    assert reply.failure.code is Code.PROTOCOL_ERROR


def test_end_ends_a_call_whose_method_has_only_a_result_stream(start: Start) -> None:
    peer = start(window=64)

    peer.call(SCAN, 1, 1000)
    peer.end(1)

    assert peer.reply(1).failure.code is Code.PROTOCOL_ERROR
    assert peer.is_served()


def test_credit_is_ignored_where_the_method_has_only_a_parameter_stream(start: Start) -> None:
    peer = start()

    peer.call(LOAD, 1, "a")
    peer.credit(1, (1 << 31) - 1)
    peer.credit(1, (1 << 31) - 1)
    peer.data(1, sized(b"abc"))
    peer.end(1)
    reply = peer.reply(1)

    assert (reply.word, int.from_bytes(reply.payload, "little")) == (Code.OK, 3)


def test_a_method_that_is_called_as_what_it_is_not_is_a_decode_error(start: Start) -> None:
    peer = start()

    peer.call(PLAIN, 1, 1, flags=frame.STREAM)
    plain = peer.reply(1).failure
    peer.send(frame.REQUEST, b"\1\0\0\0", flags=1, route=0, id_=2, count=1)
    stream = peer.reply(2).failure

    for failure in (plain, stream):
        assert (failure.code, failure.execution) == (Code.DECODE_ERROR, Execution.NOT_EXECUTED)
    assert "has no streams" in plain.message
    assert "has streams" in stream.message
    assert peer.is_served()


def test_a_client_that_gives_credit_and_does_not_read_costs_a_bounded_amount(
    start: Start, servant: Servant, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (stream, connection, server_io):  # 8 MiB of small values take long to make
        monkeypatch.setattr(module, "OUTPUT_LIMIT", 1 << 20)
    peer = start(window=(1 << 31) - 1)

    peer.call(SCAN, 1, 1 << 30)
    count = rests(servant)
    assert count < (17 << 20) // 4  # 1 MiB pending, the capacity of the sockets, and data in transit
    read = 0
    while read < 8 << 20 and servant.given == count:
        read += len(peer.next().payload)
    assert eventually(lambda: servant.given > count)
