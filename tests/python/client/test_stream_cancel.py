"""A thread cancels a stream while another one blocks in it, which only this wakes: the server is silent and
the deadline is infinite.
"""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import mf
from mf.protocol.events import CancelRequested
from tests.python.client.test_stream_peers import Peer
from tests.python.conftest import eventually

FOREVER = mf.CallOptions(deadline=mf.INFINITE)
LONGEST = 10.0  # so that a thread that is not woken does not block the tests


class Blocked(threading.Thread):
    """Runs a blocking function, and records its exception."""

    def __init__(self, do: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self._do = do
        self.raised: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            self._do()
        except BaseException as raised:
            self.raised = raised

    def ended(self) -> BaseException | None:
        self.join(LONGEST)
        assert not self.is_alive()
        return self.raised


@pytest.fixture
def peer() -> Iterator[Peer]:
    one = Peer()
    yield one
    one.close()


def sleeps(wait: Any) -> bool:
    """Whether a thread sleeps in a poll for this wait of a call."""
    return wait is not None and wait.alarm is not None


def follows(wait: Any) -> bool:
    """Whether a thread sleeps until another one, which reads the socket, wakes it."""
    return wait is not None and wait.waiter is not None


def call_of(stream: Any) -> Any:
    return stream._stream.call


def was_cancelled(raised: BaseException | None) -> bool:
    return isinstance(raised, mf.Error) and raised.code is mf.Code.CANCELLED


def test_a_thread_that_waits_for_a_value_is_woken(peer: Peer) -> None:
    reader = peer.flow.count(3, options=FOREVER)
    blocked = Blocked(lambda: next(reader))
    assert eventually(lambda: sleeps(call_of(reader).reader))

    reader.cancel()

    assert was_cancelled(blocked.ended())
    assert eventually(lambda: peer.cancels == [call_of(reader).id])


def test_a_thread_that_waits_for_room_is_woken(peer: Peer) -> None:
    stream = peer.flow.shout(options=FOREVER)
    blocked = Blocked(lambda: stream.write("x" * 10_000))
    assert eventually(lambda: sleeps(call_of(stream).writer))

    stream.cancel()

    assert was_cancelled(blocked.ended())


def test_a_reader_and_a_writer_are_woken_together(peer: Peer) -> None:
    stream = peer.flow.shout(options=FOREVER)
    reading = Blocked(lambda: next(stream))
    assert eventually(lambda: sleeps(call_of(stream).reader))
    writing = Blocked(lambda: stream.write("x" * 10_000))
    assert eventually(lambda: follows(call_of(stream).writer))

    stream.cancel()

    assert was_cancelled(reading.ended())
    assert was_cancelled(writing.ended())


def test_a_thread_that_waits_for_a_server_that_reads_nothing_is_woken() -> None:
    peer = Peer(window=1 << 30)
    reads_on = threading.Event()
    peer.act = lambda event: reads_on.wait(LONGEST)  # noqa: ARG005
    try:
        stream = peer.flow.shout(options=FOREVER)
        blocked = Blocked(lambda: [stream.write("x" * 4_000_000) for _ in range(10)])
        assert eventually(lambda: sleeps(call_of(stream).writer))

        stream.cancel()

        assert was_cancelled(blocked.ended())
    finally:
        reads_on.set()
        peer.close()


def test_a_waiting_call_reads_on_when_the_reader_of_the_socket_was_cancelled(peer: Peer) -> None:
    first = peer.flow.count(3, options=FOREVER)
    leads = Blocked(lambda: next(first))
    assert eventually(lambda: sleeps(call_of(first).reader))
    second = peer.flow.count(4, options=FOREVER)
    got: list[int] = []
    waits = Blocked(lambda: got.append(next(second)))
    assert eventually(lambda: follows(call_of(second).reader))
    peer.act = lambda event: (
        isinstance(event, CancelRequested) and peer.data(call_of(second).id, event.id.to_bytes(4, "little"))
    )

    first.cancel()

    assert was_cancelled(leads.ended())
    assert waits.ended() is None
    assert got == [call_of(first).id]


def test_values_that_have_come_are_dropped_by_a_cancel(peer: Peer) -> None:
    peer.act = lambda event: isinstance(event, tuple) and peer.data(event[1], bytes(12), 3)
    reader = peer.flow.count(3, options=FOREVER)
    assert next(reader) == 0

    reader.cancel()

    with pytest.raises(mf.Error) as raised:
        next(reader)
    assert was_cancelled(raised.value)
