"""A call at its server, from the REQUEST to the end of its handler: what may end it, and the handler's
information about it.
"""

# ruff: noqa: ARG002 - handlers have the parameters that the schema says
import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

import mf
from mf.core.error import Code, Execution
from mf.protocol import frame
from mf.protocol.handshake import Hello, pack_bind
from mf.protocol.server_call import TABLE, ServerCallEvent, ServerCallState, ServerCallStep
from tests.python.conftest import Recorder, eventually
from tests.python.echo import ECHO_SERVICE, EchoClient
from tests.python.serving import server_of
from tests.python.streams import (
    ANNEX,
    DESCRIPTOR,
    PLAIN,
    AsyncWithoutStreams,
    Peer,
    WithoutStreams,
)


class Plain(WithoutStreams):
    """`plain` waits until the test releases it, or until it notices that its call was cancelled."""

    def __init__(self) -> None:
        self.began: list[int] = []
        self.seen: list[Any] = []
        self.go = threading.Event()
        self.calls: list[mf.CurrentCall] = []

    def plain(self, x: int) -> int:
        call = mf.current_call()
        self.calls.append(call)
        if x == 21:  # used by Peer.is_served
            return 42
        self.began.append(x)
        while not self.go.is_set() and not call.cancelled:
            self.go.wait(0.001)
        self.seen.append((x, call.cancelled))
        call.set_reply_metadata("seen", str(x))
        return 2 * x


class Awaiting(AsyncWithoutStreams):
    def __init__(self) -> None:
        self.began: list[int] = []
        self.seen: list[Any] = []
        self.go = threading.Event()
        self.calls: list[mf.CurrentCall] = []

    async def plain(self, x: int) -> int:
        call = mf.current_call()
        self.calls.append(call)
        if x == 21:
            return 42
        self.began.append(x)
        try:
            while not self.go.is_set():
                await asyncio.sleep(0.001)
        except asyncio.CancelledError:
            self.seen.append((x, call.cancelled))
            raise
        self.seen.append((x, call.cancelled))
        call.set_reply_metadata("seen", str(x))
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

    def started(**options: Any) -> Peer:
        server = server_of(servant, agent="a", drain_timeout=2.0, **options)
        server.start()
        peer = Peer(server)
        open_.extend((peer.close, server.stop))
        return peer

    yield started
    servant.go.set()
    for close in open_:
        close()


def test_a_cancelled_call_tells_its_handler_and_is_not_answered(start: Start, servant: Servant) -> None:
    peer = start()

    peer.call(PLAIN, 1, 5)
    assert eventually(lambda: servant.began == [5])
    peer.cancel(1)
    assert eventually(lambda: servant.seen == [(5, True)])

    peer.call(PLAIN, 2, 21)
    assert [each.id for each in peer.until_reply(2)] == [2]


def test_a_lost_connection_tells_the_handlers(start: Start, servant: Servant) -> None:
    peer = start()

    peer.call(PLAIN, 1, 5)
    peer.call(PLAIN, 2, 6)
    assert eventually(lambda: sorted(servant.began) == [5, 6])
    peer.close()

    assert eventually(lambda: sorted(servant.seen) == [(5, True), (6, True)])


def test_a_deadline_that_passes_tells_the_handler(start: Start, servant: Servant) -> None:
    peer = start()

    peer.call(PLAIN, 1, 5, deadline=0.05)
    assert eventually(lambda: servant.seen == [(5, True)])

    assert peer.is_served()


def test_whoever_is_connected_is_told_that_the_server_stops_also_who_says_hello_later(
    servant: Servant,
) -> None:
    server = server_of(servant, agent="a", drain_timeout=20.0)
    server.start()
    peer = Peer(server)
    peer.call(PLAIN, 1, 5)
    assert eventually(lambda: servant.began == [5])
    late, theirs = socket.socketpair()
    late.settimeout(10)
    server.adopt(theirs)
    stopping = threading.Thread(target=server.stop)
    stopping.start()
    try:
        told = peer.next()
        assert (told.type, told.word, told.id) == (frame.GOAWAY, Code.SHUTTING_DOWN, 1)
        late.sendall(frame.pack(frame.HELLO, Hello(nonce=bytes(16), client_id=8).pack()))
        peer.socket, ours = late, peer.socket
        assert [peer.next().type, peer.next().type] == [frame.HELLO, frame.GOAWAY]
        peer.socket = ours
        servant.go.set()
        assert peer.reply(1).split()[1].numbers == [10]
    finally:
        servant.go.set()
        stopping.join()
        peer.close()
        late.close()


def test_a_call_counts_until_its_handler_returns_whoever_cancelled_it() -> None:
    class Stubborn(Plain):
        def plain(self, x: int) -> int:
            self.began.append(x)
            self.go.wait(10)
            return 2 * x

    servant = Stubborn()
    with server_of(servant, agent="a", drain_timeout=2.0, max_in_flight=1) as server:
        peer = Peer(server)
        peer.call(PLAIN, 1, 5)
        assert eventually(lambda: servant.began == [5])
        peer.cancel(1)
        peer.call(PLAIN, 2, 6)
        refused = peer.reply(2).failure
        servant.go.set()

        def is_free() -> bool:
            peer.call(PLAIN, 3, 21)
            return peer.reply(3).word == 0

        assert eventually(is_free)
        peer.close()

    assert (refused.code, refused.execution) == (Code.OVERLOADED, Execution.NOT_EXECUTED)


def test_a_call_that_waits_for_a_worker_is_answered_as_not_run_when_it_is_cancelled() -> None:
    servant = Plain()
    with server_of(servant, agent="a", drain_timeout=2.0, workers=1) as server:
        peer = Peer(server)
        peer.call(PLAIN, 1, 5)
        assert eventually(lambda: servant.began == [5])
        peer.call(PLAIN, 2, 6)
        peer.cancel(2)
        refused = peer.reply(2).failure
        servant.go.set()
        assert peer.reply(1).word == 0
        assert peer.is_served()
        peer.close()

    assert (refused.code, refused.execution) == (Code.CANCELLED, Execution.NOT_EXECUTED)
    assert servant.began == [5]


def test_a_request_that_is_late_when_its_turn_comes_never_runs() -> None:
    """There is no CANCEL here: the server's own clock decides."""
    servant = Plain()
    with server_of(servant, agent="a", drain_timeout=2.0, workers=1) as server:
        peer = Peer(server)
        peer.call(PLAIN, 1, 5)
        assert eventually(lambda: servant.began == [5])
        peer.call(PLAIN, 2, 6, deadline=0.001)
        threading.Event().wait(0.01)
        servant.go.set()
        late = peer.reply(2).failure
        peer.close()

    assert (late.code, late.execution) == (Code.DEADLINE_EXCEEDED, Execution.NOT_EXECUTED)
    assert servant.began == [5]


# Metadata


def test_a_handler_gets_metadata_and_sends_some_back(start: Start, servant: Servant) -> None:
    servant.go.set()
    peer = start()

    peer.call(PLAIN, 1, 5, metadata={"tenant": "x", "traceparent": "00-1"})
    entries, reply = peer.reply(1).split()
    peer.call(PLAIN, 2, 21)

    assert (entries, reply.numbers) == ({"seen": "5"}, [10])
    assert not peer.reply(2).flags & frame.METADATA
    assert [dict(call.metadata) for call in servant.calls] == [{"tenant": "x", "traceparent": "00-1"}, {}]
    assert [call.peer for call in servant.calls] == ["local", "local"]
    assert servant.calls[0].request_id == 7 << 32 | 1


def block(entries: bytes, size: int | None = None) -> bytes:
    length = 4 + len(entries)
    return (length if size is None else size).to_bytes(4, "little") + entries + bytes(-length % 8)


MALFORMED = {
    "too large": block(bytes(20_000)),
    "more than there is": block(b"", size=16_000),
    "less than its own size": block(b"", size=3),
    "a key twice": block(b"\1a\0\0\1a\0\0"),
    "a key in capitals": block(b"\1A\0\0"),
    "an empty key": block(b"\0\0\0"),
    "an entry that is cut off": block(b"\5a"),
    "no text": block(b"\1a\1\0\xff"),
    "padding that is not zero": block(b"\1a\0\0")[:-1] + b"\1"
    if len(block(b"\1a\0\0")) % 8
    else block(b"\1"),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_malformed_metadata_end_their_call_and_not_the_connection(
    start: Start, servant: Servant, what: str
) -> None:
    peer = start()

    peer.call(PLAIN, 1, 5, metadata=MALFORMED[what])
    failure = peer.reply(1).failure

    assert (failure.code, failure.execution) == (Code.DECODE_ERROR, Execution.NOT_EXECUTED)
    assert failure.message.startswith("metadata: ")
    assert servant.began == []
    assert peer.is_served()


@pytest.mark.parametrize(("key", "value"), [("Tenant", "x"), ("", "x"), ("a", "\udcff"), ("a", "x" * 17_000)])
def test_what_may_not_go_back_is_refused_where_it_is_set(key: str, value: str) -> None:
    refused: list[mf.Error] = []

    class Setting(Plain):
        def plain(self, x: int) -> int:
            try:
                mf.current_call().set_reply_metadata(key, value)
            except mf.Error as error:
                refused.append(error)
            return x

    server = mf.Server(options=mf.ServerOptions(drain_timeout=1.0))
    server.offer(Setting(), agent="a", inline=True)
    with server:
        peer = Peer(server)
        peer.call(PLAIN, 1, 4)
        assert peer.reply(1).numbers == [4]
        peer.close()

    assert refused[0].code in (Code.INVALID_ARGUMENT, Code.MESSAGE_TOO_LARGE)


# Bindings


def test_a_range_that_is_given_back_may_be_bound_again(start: Start) -> None:
    peer = start(max_bindings=2)

    assert peer.hello.max_bindings == 2
    peer.bind(10, ("plain",))
    peer.bind(20, ("plain",))
    bound, refused = peer.next(), peer.next()
    peer.send(frame.UNBIND, route=10)
    peer.bind(10, ("load", "scan"))
    again = peer.next()

    assert (bound.word, refused.word, again.word) == (0, Code.OVERLOADED, 0)
    assert b"2 bindings" in refused.payload
    assert peer.is_served()


def test_a_request_before_an_unbind_is_finished_and_one_behind_it_is_not_bound(
    start: Start, servant: Servant
) -> None:
    peer = start()

    peer.call(PLAIN, 1, 5)
    assert eventually(lambda: servant.began == [5])
    peer.send(frame.UNBIND, route=0)
    peer.call(PLAIN, 2, 6)
    unknown = peer.reply(2).failure
    servant.go.set()

    assert unknown.code is Code.UNKNOWN_METHOD
    assert peer.reply(1).split()[1].numbers == [10]


def test_an_unbind_of_what_is_not_bound_breaks_the_connection(start: Start) -> None:
    peer = start()

    peer.send(frame.UNBIND, route=1)  # within the range that begins at 0

    assert peer.next().type == frame.REFUSE
    with pytest.raises(EOFError):
        peer.next()


def test_a_descriptor_comes_with_its_annex(start: Start) -> None:
    peer = start()

    name = b"demo.Flow"
    peer.send(frame.DESCRIBE, len(name).to_bytes(2, "little") + name)
    answer = peer.next()

    texts = b"".join(len(text).to_bytes(4, "little") + text.encode() for text in (DESCRIPTOR, ANNEX))
    assert answer.type == frame.DESCRIPTOR
    assert answer.payload == len(name).to_bytes(2, "little") + name + texts


# Limits and turns


def test_a_connection_with_too_many_bytes_of_requests_is_not_read_until_some_were_run() -> None:
    """64 MiB in total: requests of 8 MiB, of which the first occupies the only worker."""
    release = threading.Event()
    server = mf.Server(options=mf.ServerOptions(drain_timeout=2.0, workers=1))

    class Holding(Recorder):
        def echo(self, data: bytes) -> bytes:
            release.wait(20)
            return b""

    server.offer(Holding(), agent="a")
    with server, socket.create_connection(("127.0.0.1", int(server.address.rpartition(":")[2]))) as greedy:
        greedy.settimeout(1)
        names = ("twice", "echo", "sleep", "note", "flaky")
        greedy.sendall(
            frame.pack(frame.HELLO, Hello(nonce=bytes(16), client_id=1).pack())
            + frame.pack(frame.BIND, pack_bind(ECHO_SERVICE.fingerprint, "demo.Echo", "a", names))
        )
        size = 8 << 20
        body = size.to_bytes(4, "little") + bytes(size)
        with suppress(TimeoutError):
            for id_ in range(1, 30):
                greedy.sendall(frame.pack(frame.REQUEST, body, flags=2, route=1, id_=id_, count=1))
        io = server._io
        assert io is not None
        (connection,) = io._connections.values()
        was_read = len(connection.calls)
        release.set()
        greedy.settimeout(20)
        assert greedy.recv(65536)

    assert was_read == 8  # more is in the sockets, as much as the system buffers


def test_a_descriptor_that_was_closed_in_the_same_turn_is_no_listener() -> None:
    """The IO thread is held; meanwhile the server stops listening, and a connection breaks: both in one
    turn."""
    held, worked, reply, free = (threading.Event() for _ in range(4))

    class Turns(Plain):
        def plain(self, x: int) -> int:
            if x == 1:
                worked.set()
                reply.wait(10)
            return x

    class Holds(Recorder):
        def flaky(self, x: int) -> int:
            held.set()
            free.wait(10)
            return x

    server = mf.Server(options=mf.ServerOptions(drain_timeout=5.0))
    server.offer(Turns(), agent="a")
    server.offer(Holds(), agent="a", inline=True)
    server.start()
    peer = Peer(server)
    peer.call(PLAIN, 1, 1)
    worked.wait(10)
    with mf.Client(server.address) as client:
        caller = threading.Thread(target=EchoClient(client).at("a").flaky, args=(1,))
        caller.start()
        held.wait(10)
        stopper = threading.Thread(target=server.stop)
        stopper.start()
        io = server._io
        assert io is not None
        assert eventually(lambda: io._drain_until is not None)
        peer.close()
        reply.set()
        assert eventually(lambda: any(each.broken for each in list(io._connections.values())))
        free.set()
        caller.join(10)
        stopper.join(10)

    assert not io.thread.is_alive()
    assert io._event == -1  # it ended normally, and closed its descriptors


def test_what_is_written_out_of_the_table_is_what_the_table_says() -> None:
    """For undisturbed calls: connection.py and io.py set these states without a look-up."""
    received, waiting, running = (
        TABLE[state] for state in (ServerCallState.RECEIVED, ServerCallState.WAITING, ServerCallState.RUNNING)
    )

    assert received[ServerCallEvent.STARTED] == (ServerCallState.RUNNING, ServerCallStep.RUN)
    assert received[ServerCallEvent.QUEUED] == (ServerCallState.WAITING, ServerCallStep.WAIT)
    assert waiting[ServerCallEvent.STARTED] == (ServerCallState.RUNNING, ServerCallStep.RUN)
    assert running[ServerCallEvent.ANSWERED] == (ServerCallState.ENDED, ServerCallStep.ANSWER)
