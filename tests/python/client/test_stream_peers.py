"""A client's streams against a server that the test controls frame by frame: invalid frames end the call and
not the connection; valid calls have exactly these frames.
"""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

import mf
from mf.client import streams
from mf.client.client import Client
from mf.core.service import FEBIRD, MEMCPY
from mf.protocol import events as ev
from mf.protocol.frame import METADATA, STREAM, pack
from mf.protocol.handshake import Hello
from mf.protocol.metadata import pack_metadata
from mf.protocol.server_session import ServerSession
from mf.route.blocking_pool import Connect
from mf.transport.inproc import pair
from mf.transport.stream import Stream
from tests.python.conftest import eventually
from tests.python.flow import FlowAsyncClient, FlowClient

WINDOW = 1024


class Peer:
    """Answers BINDs by itself, and records all other events. `act` is called for each."""

    def __init__(self, window: int = WINDOW) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.where = f"tcp://127.0.0.1:{self._listening.getsockname()[1]}"
        self._window = window
        self.seen: list[Any] = []
        self.act: Callable[[Any], object] = lambda event: None  # noqa: ARG005
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self.client = Client(self.where)
        self.flow = FlowClient(self.client)

    def _run(self) -> None:
        with suppress(OSError):  # closed
            while True:
                self._theirs, _ = self._listening.accept()
                with suppress(OSError), self._theirs:  # the client may be gone already
                    self._serve()

    def _serve(self) -> None:
        hello = Hello(nonce=bytes(16), max_in_flight=100, stream_window=self._window)
        session = self.session = ServerSession(hello, bytearray(1 << 16))
        while count := self._theirs.recv_into(session.window()):
            for event in session.received(count):
                if isinstance(event, ev.BindRequested):
                    session.accept(event, list(range(len(event.methods))))
                elif not isinstance(event, ev.HelloReceived):
                    self.seen.append(event)
                    self.act(event)
            self._theirs.sendall(b"".join(session.take_output()))

    # What it sends. Each gives True, so that several may stand in one expression.

    def data(self, id_: int, payload: bytes, count: int = 1, encoding: int = MEMCPY) -> bool:
        self.session.send_data(id_, encoding, count, payload)
        return True

    def credit(self, id_: int, count: int) -> bool:
        self.session.send_credit(id_, count)
        return True

    def stop(self, id_: int) -> bool:
        self.session.stop_stream(id_)
        return True

    def reply(self, request: Any, payload: bytes = b"") -> bool:
        self.session.reply(request[1], request[2], 0, MEMCPY, 1, payload)
        return True

    @property
    def cancels(self) -> list[int]:
        return [event.id for event in self.seen if isinstance(event, ev.CancelRequested)]

    def close(self) -> None:
        self.client.close()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)
        self._listening.close()


@pytest.fixture
def peer() -> Iterator[Peer]:
    one = Peer()
    yield one
    one.close()


def on_request(peer: Peer, act: Callable[[Any], object]) -> None:
    peer.act = lambda event: act(event) if isinstance(event, tuple) else None


U32 = (7).to_bytes(4, "little")
TEXT = b"\1x"

WRONG: dict[str, tuple[Callable[[Peer, int], object], mf.Code]] = {
    "more than the credit": (
        lambda peer, id_: [peer.data(id_, bytes(8192), 2048) for _ in range(3)],
        mf.Code.PROTOCOL_ERROR,
    ),
    "a piece without bytes": (lambda peer, id_: peer.data(id_, b"", 0), mf.Code.PROTOCOL_ERROR),
    "two values at the end of one": (
        lambda peer, id_: [peer.data(id_, b"a", 0), peer.data(id_, b"bcd", 2)],
        mf.Code.PROTOCOL_ERROR,
    ),
    "stopping what is not sent": (lambda peer, id_: peer.stop(id_), mf.Code.PROTOCOL_ERROR),
    "another encoding": (lambda peer, id_: peer.data(id_, U32, 1, FEBIRD), mf.Code.DECODE_ERROR),
    "a value that is cut off": (lambda peer, id_: peer.data(id_, b"abc", 1), mf.Code.DECODE_ERROR),
    "metadata that are cut off": (
        lambda peer, id_: peer.data(id_, b"\x40\0\0\0\0\0\0\0" + U32, 1, MEMCPY | METADATA),
        mf.Code.DECODE_ERROR,
    ),
    "metadata that come late": (
        lambda peer, id_: [
            peer.data(id_, U32),
            peer.data(id_, pack_metadata({"a": "b"}) + U32, 1, MEMCPY | METADATA),
        ],
        mf.Code.PROTOCOL_ERROR,
    ),
}


@pytest.mark.parametrize("way", ["blocking", "awaited"])
@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_ends_the_call_and_not_the_connection(peer: Peer, what: str, way: str) -> None:
    do, code = WRONG[what]
    on_request(peer, lambda request: do(peer, request[1]))

    async def read() -> None:
        async with mf.AsyncClient(peer.where) as client:
            flow = FlowAsyncClient(client)
            with pytest.raises(mf.Error) as failed:
                _ = [value async for value in flow.count(3)]
            await asyncio.to_thread(ended, failed.value)
            assert [value async for value in flow.count(3)] == []

    def ended(error: mf.Error) -> None:
        assert (error.code, error.execution) == (code, mf.Execution.UNKNOWN)
        assert eventually(lambda: peer.cancels == [1])
        on_request(peer, lambda request: peer.reply(request))

    if way == "awaited":
        asyncio.run(read())
        return
    with pytest.raises(mf.Error) as failed:
        list(peer.flow.count(3))
    ended(failed.value)
    assert list(peer.flow.count(3)) == []


def test_credit_where_nothing_is_sent_is_ignored(peer: Peer) -> None:
    most = (1 << 31) - 1

    def act(request: Any) -> None:
        peer.credit(request[1], most)
        peer.credit(request[1], most)
        peer.data(request[1], U32)
        peer.reply(request)

    on_request(peer, act)

    assert list(peer.flow.count(3)) == [7]
    assert peer.cancels == []


def test_credit_above_2_31_ends_a_call(peer: Peer) -> None:
    most = (1 << 31) - 1
    on_request(peer, lambda request: [peer.credit(request[1], most) for _ in range(2)])

    with pytest.raises(mf.Error) as failed:
        peer.flow.total(1, [1] * 10_000)

    assert failed.value.code == mf.Code.PROTOCOL_ERROR
    assert eventually(lambda: peer.cancels == [1])


def test_data_of_a_unary_call_ends_it(peer: Peer) -> None:
    from tests.python.echo import ECHO_SERVICE, TWICE

    on_request(peer, lambda request: peer.data(request[1], U32))
    target = peer.client.target(ECHO_SERVICE).at("a")

    with pytest.raises(mf.Error) as failed:
        target.call(TWICE, None, 1)

    assert failed.value.code == mf.Code.PROTOCOL_ERROR


def test_a_stream_that_ends_within_a_value_is_a_decode_error(peer: Peer) -> None:
    on_request(peer, lambda request: (peer.data(request[1], b"ab", 0), peer.reply(request)))

    with pytest.raises(mf.Error, match="within a value"):
        list(peer.flow.count(3))


def test_late_data_of_a_call_that_was_cancelled_are_dropped(peer: Peer) -> None:
    reader = peer.flow.count(3)
    reader.cancel()
    assert eventually(lambda: peer.cancels == [1])
    request = next(event for event in peer.seen if isinstance(event, tuple))
    on_request(peer, lambda later: (peer.data(request[1], U32), peer.reply(request), peer.reply(later)))

    assert list(peer.flow.count(3)) == []


def test_an_id_that_was_never_used_ends_the_connection(peer: Peer) -> None:
    on_request(peer, lambda request: peer.data(request[1] + 1, U32))

    with pytest.raises(mf.Error) as failed:
        list(peer.flow.count(3))

    assert failed.value.code == mf.Code.CONNECTION_LOST


def test_values_wait_for_credit_and_are_cut_to_it(peer: Peer) -> None:
    frames: list[ev.DataReceived] = []

    def act(event: Any) -> None:
        if isinstance(event, ev.DataReceived):
            frames.append(event)
            if sum(each.cost for each in frames) % WINDOW == 0:
                peer.credit(event.id, WINDOW)
        elif isinstance(event, ev.EndReceived):
            request = next(each for each in peer.seen if isinstance(each, tuple))
            peer.reply(request, (3).to_bytes(8, "little"))

    peer.act = act
    total = peer.flow.total(1, list(range(2000)))
    flags = next(event for event in peer.seen if isinstance(event, tuple))[3]

    assert total == 3
    assert flags & STREAM
    assert b"".join(each.payload for each in frames) == b"".join(n.to_bytes(4, "little") for n in range(2000))
    assert sum(each.count for each in frames) == 2000
    assert max(each.cost for each in frames) <= WINDOW


class Clock:
    """The clock of a writer, as far as it determines gathering."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now

    def passes(self, milliseconds: float) -> None:
        self.now += milliseconds / 1000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(streams, "monotonic", clock)
    return clock


def counts(peer: Peer) -> list[int]:
    """How many values each received DATA had."""
    return [event.count for event in peer.seen if isinstance(event, ev.DataReceived)]


def answers_end(peer: Peer, payload: bytes = b"") -> None:
    def act(event: Any) -> None:
        if isinstance(event, ev.EndReceived):
            peer.reply(next(each for each in peer.seen if isinstance(each, tuple)), payload)

    peer.act = act


def test_values_of_a_generator_are_gathered_until_one_takes_time(peer: Peer, clock: Clock) -> None:
    def values() -> Iterator[int]:
        yield from range(50)  # the first one is sent at once
        clock.passes(2)
        yield 50  # sent together with the other 49
        for number in range(51, 60):
            clock.passes(0.9)
            yield number  # the sixth one is more than 5 ms later
        yield from range(60, 70)

    answers_end(peer, bytes(8))
    peer.flow.total(0, values())

    assert counts(peer) == [1, 50, 6, 13]


def test_a_generator_that_is_slow_has_its_values_sent_one_by_one(peer: Peer, clock: Clock) -> None:
    def values() -> Iterator[int]:
        for number in range(4):
            clock.passes(2)
            yield number
            assert eventually(lambda: len(counts(peer)) == number + 1)  # noqa: B023

    answers_end(peer, bytes(8))
    peer.flow.total(0, values())


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("way", ["flush", "end", "next"])
def test_what_a_duplex_stream_gathers_leaves_when_it_is_flushed_ended_or_read(peer: Peer, way: str) -> None:
    both = peer.flow.shout()
    for word in ("a", "b", "c"):
        both.write(word)
    assert eventually(lambda: counts(peer) == [1])
    request = next(event for event in peer.seen if isinstance(event, tuple))

    def act(event: Any) -> None:
        peer.data(event.id, TEXT, 1, FEBIRD)
        peer.reply(request)

    peer.act = act
    if way == "next":
        assert next(both) == "x"
    else:
        both.flush() if way == "flush" else both.done_writing()
    assert eventually(lambda: counts(peer) == [1, 2])


@pytest.mark.usefixtures("clock")
def test_what_was_gathered_and_has_no_credit_leaves_while_its_writer_reads(peer: Peer) -> None:
    both = peer.flow.shout(options=mf.CallOptions(deadline=10.0))
    for _ in range(5):
        both.write("a" * 600)

    def act(event: Any) -> None:
        if isinstance(event, ev.DataReceived):
            peer.credit(event.id, event.cost)
            if sum(counts(peer)) == 5:
                peer.data(event.id, TEXT, 1, FEBIRD)

    assert eventually(lambda: counts(peer) == [1])
    peer.act = act
    peer.act(peer.seen[-1])
    assert next(both) == "x"
    both.cancel()


@pytest.mark.usefixtures("clock")
def test_nothing_is_gathered_while_another_thread_waits_for_a_value(peer: Peer) -> None:
    both: Any = peer.flow.shout()
    both.write("a")
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.extend(both))
    reader.start()
    assert eventually(lambda: both._stream.call.is_read)

    both.write("b")
    both.write("c")

    assert eventually(lambda: counts(peer) == [1, 1, 1])
    answers_end(peer)
    both.done_writing()
    reader.join(10)
    assert got == []


def test_a_writer_stops_when_the_server_reads_no_more_and_sends_no_end(peer: Peer) -> None:
    def act(event: Any) -> None:
        if isinstance(event, tuple):
            peer.stop(event[1])
            peer.reply(event, (9).to_bytes(8, "little"))

    peer.act = act
    assert peer.flow.total(1, iter(range(100_000_000))) == 9
    assert not any(isinstance(event, ev.EndReceived) for event in peer.seen)


def test_a_reader_gives_credit_back_when_half_of_its_window_was_taken(peer: Peer) -> None:
    values = bytes(4) * 2044  # 8 KiB with its header and padding
    sent: list[Any] = []

    def act(event: Any) -> None:
        if isinstance(event, tuple):
            sent.append(event)
            peer.data(event[1], values, 2044)
        elif isinstance(event, ev.CreditReceived):
            if len(sent) < 20:
                sent.append(event)
                peer.data(event.id, values, 2044)
            else:
                peer.reply(sent[0])

    peer.act = act
    assert len(list(peer.flow.count(3))) == 20 * 2044
    assert sum(event.bytes for event in peer.seen if isinstance(event, ev.CreditReceived)) >= 20 * 8192


def test_a_stream_that_was_not_taken_is_repeated_if_nothing_had_to_be_written(peer: Peer) -> None:
    requests: list[int] = []

    def act(request: Any) -> None:
        requests.append(request[1])
        peer.session.fail(
            request[1], request[2], 1, mf.Error(mf.Code.SHUTTING_DOWN, "bye", mf.Execution.NOT_EXECUTED)
        )

    on_request(peer, act)
    with pytest.raises(mf.Error) as read:
        list(peer.flow.count(3))
    attempts = len(requests)
    with pytest.raises(mf.Error) as written:
        peer.flow.total(1, [2])

    assert read.value.code == written.value.code == mf.Code.SHUTTING_DOWN
    assert attempts == 3
    assert len(requests) == 3 + 1


def _giving(stream: Stream) -> Connect:
    return lambda address, timeout: stream  # noqa: ARG005


@pytest.mark.parametrize("type_", range(1, 17))
def test_a_hostile_server_gives_an_error_of_ours(type_: int) -> None:
    """Whatever it sends, before and after closing: the only exception is mf.Error."""
    for garbage in (pack(type_, b"x" * 30, id_=1, count=1, flags=1), pack(type_), b"\xff" * 40, b""):
        stream, theirs = pair()
        hello = pack(1, Hello(nonce=bytes(16), max_in_flight=9).pack())
        theirs.sendall(hello + pack(4, route=0) + garbage)
        theirs.shutdown(socket.SHUT_WR)
        with Client("tcp://127.0.0.1:9", mf.ClientOptions(connect=_giving(stream))) as client:
            flow = FlowClient(client)
            options = mf.CallOptions(deadline=0.5)
            for _ in range(2):
                with pytest.raises(mf.Error):
                    list(flow.count(1, options=options))
                with pytest.raises(mf.Error):
                    flow.total(1, [1] * 100_000, options=options)
        theirs.close()
