"""A link over a scripted stream that fails at every operation, and over a socket with many callers."""

import random
import socket
import threading
import time
from contextlib import closing, suppress
from itertools import pairwise

import pytest

import mf
from mf.client import Client
from mf.core.backoff import LONGEST, Backoff
from mf.core.error import Code, Error, Execution
from mf.core.immediate import immediate
from mf.core.service import ServiceInfo
from mf.link.link import Link
from mf.link.watch import Watches
from mf.protocol import frame
from mf.protocol.call import Call, RetryBudget
from mf.protocol.call_table import CallEvent
from mf.protocol.calls import Binding, Pending
from mf.protocol.events import BindRequested
from mf.protocol.handshake import Hello
from mf.protocol.server_session import ServerSession
from mf.route import adaptation
from mf.route.blocking_pool import BlockingPool
from mf.route.resolver import Instance, StaticResolver
from mf.transport import tcp
from mf.transport.address import Address
from mf.transport.inproc import pair
from mf.transport.memory import MemoryStream
from mf.transport.sockets import Dialer
from mf.transport.stream import Buffer, Stream
from tests.python.echo import ECHO_SERVICE, NOTE, TWICE, Number

HELLO = frame.pack(frame.HELLO, Hello(nonce=bytes(16), max_in_flight=9).pack())
BOUND = frame.pack(frame.BOUND, route=0)


def reply(id_: int, route: int = 0, payload: bytes = b"\x2a\0\0\0") -> bytes:
    return frame.pack(frame.REPLY, payload, flags=1, route=route, id_=id_, count=1)


def link_over(stream: Stream) -> Link:
    return Link(stream, Hello(nonce=bytes(16)), Watches())


def bind(link: Link, service: ServiceInfo, agent: str, deadline: float) -> Binding:
    return immediate(adaptation.bind(link, service, agent, deadline))


def call_of(body: bytes, seconds: float) -> Call[int]:
    call = Call(TWICE, time.monotonic() + seconds, RetryBudget(), 1, body)
    call.begin()
    call.on(CallEvent.BOUND)
    return call


def one_call(link: Link) -> Call[int]:
    binding = bind(link, ECHO_SERVICE, "a", time.monotonic() + 20)
    call = call_of(b"\x15\0\0\0", 20)
    call.route = binding.first
    link.call(call, 0, time.monotonic())
    return call


def test_a_call_gets_its_reply() -> None:
    call = one_call(link_over(MemoryStream([HELLO + BOUND, reply(1)])))

    assert (call.failure, call.status, bytes(call.payload)) == (None, 0, b"\x2a\0\0\0")


@pytest.mark.parametrize("operations", range(4))
def test_a_stream_that_fails_after_n_operations_ends_every_call_once(operations: int) -> None:
    link = link_over(MemoryStream([HELLO + BOUND, reply(1)], fail_after=operations))

    try:
        failure = one_call(link).failure
    except Error as error:
        failure = error

    assert failure is not None
    ran = operations == 3  # the request was written, the reply was not read
    assert failure.code == (Code.CONNECTION_LOST if ran else Code.UNAVAILABLE)
    assert failure.execution == (Execution.UNKNOWN if ran else Execution.NOT_EXECUTED)
    assert not link.usable


def test_the_end_of_the_stream_loses_the_call_in_flight() -> None:
    call = one_call(link_over(MemoryStream([HELLO + BOUND])))

    assert call.failure is not None
    assert (call.failure.code, call.failure.execution) == (Code.CONNECTION_LOST, Execution.UNKNOWN)


@pytest.mark.parametrize("latest", [0, 1])
def test_a_call_behind_the_latest_that_a_stopping_server_took_surely_was_not_executed(latest: int) -> None:
    goaway = frame.pack(frame.GOAWAY, bytes(2), word=Code.SHUTTING_DOWN, id_=latest)

    failure = one_call(link_over(MemoryStream([HELLO + BOUND, goaway]))).failure

    assert failure is not None
    taken = latest == 1
    assert failure.code == (Code.CONNECTION_LOST if taken else Code.SHUTTING_DOWN)
    assert failure.execution == (Execution.UNKNOWN if taken else Execution.NOT_EXECUTED)


def test_a_good_bye_is_read_also_when_the_write_behind_it_fails() -> None:
    goaway = frame.pack(frame.GOAWAY, bytes(2), word=Code.SHUTTING_DOWN)
    stream = FailingWrites([HELLO + BOUND, goaway])
    link = link_over(stream)
    binding = bind(link, ECHO_SERVICE, "a", time.monotonic() + 1)
    stream.fail = True
    call = call_of(b"\x15\0\0\0", 1)
    call.route = binding.first

    link.call(call, 0, time.monotonic())

    assert call.failure is not None
    assert (call.failure.code, call.failure.execution) == (Code.SHUTTING_DOWN, Execution.NOT_EXECUTED)
    assert stream.script == []
    assert not link.usable


class FailingWrites(MemoryStream):
    """Every write fails once `fail` is set, after a part of it may have left."""

    fail = False

    def write_now(self, buffers: list[Buffer]) -> int:
        if not self.fail:
            return super().write_now(buffers)
        raise ConnectionResetError("scripted failure")


def test_a_server_that_breaks_the_protocol_gets_refuse_and_loses_the_connection(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stream = MemoryStream([HELLO + BOUND, b"\xff" * 16])

    call = one_call(link_over(stream))

    assert call.failure is not None
    assert call.failure.code == Code.CONNECTION_LOST
    assert frame.pack(frame.REFUSE, b"", word=Code.PROTOCOL_ERROR)[4:5] in bytes(stream.written)
    assert "broke the protocol" in caplog.text
    assert stream.closed


def test_a_silent_server_is_found_by_many_calls_that_each_wait_less_than_a_turn() -> None:
    stream, theirs = pair()
    link = Link(stream, Hello(nonce=bytes(16)), Watches(), dead_after=0.5)  # ten turns
    theirs.sendall(HELLO + BOUND)
    binding = bind(link, ECHO_SERVICE, "a", time.monotonic() + 5)

    ended: list[Code] = []
    while link.failure is None and len(ended) < 300:
        call = call_of(bytes(4), 0.01)
        call.route = binding.first
        link.call(call, 0, time.monotonic())
        assert call.failure is not None
        ended.append(call.failure.code)

    assert link.failure is not None
    assert "nothing has come for 0.4 s, not even the answer to a ping" in link.failure.message
    assert set(ended) == {Code.DEADLINE_EXCEEDED}
    link.close()
    assert kinds_of(theirs).count(frame.PING) == 1


def kinds_of(theirs: socket.socket) -> list[int]:
    """Of all frames that have come."""
    got = b""
    while piece := theirs.recv(1 << 16):
        got += piece
    theirs.close()
    kinds = []
    while got:
        size, kind, *_ = frame.HEADER.unpack_from(got)
        kinds.append(kind)
        got = got[(size + 7) & ~7 :]
    return kinds


def test_a_binding_whose_answer_was_too_late_for_one_is_there_for_the_next() -> None:
    stream, theirs = pair()
    link = link_over(stream)
    theirs.sendall(HELLO)
    for _ in range(3):
        with pytest.raises(Error, match="within the deadline") as late:
            bind(link, ECHO_SERVICE, "a", time.monotonic())
        assert (late.value.code, late.value.execution) == (Code.UNAVAILABLE, Execution.NOT_EXECUTED)
    theirs.sendall(BOUND)

    assert bind(link, ECHO_SERVICE, "a", time.monotonic() + 20).first == 0
    link.close()
    assert kinds_of(theirs).count(frame.BIND) == 1


def test_many_callers_share_one_connection_and_get_their_own_replies() -> None:
    stream, theirs = pair()
    link = Link(stream, Hello(nonce=bytes(16)), Watches())
    server = threading.Thread(target=_echo_back, args=(theirs,), daemon=True)
    server.start()
    bind(link, ECHO_SERVICE, "a", time.monotonic() + 5)
    wrong: list[object] = []

    def work(number: int) -> None:
        for round_ in range(200):
            payload = (number * 1000 + round_).to_bytes(4, "little")
            call = call_of(payload, 10)
            link.call(call, 0, time.monotonic())
            if call.failure is not None or call.payload != payload:
                wrong.append((number, round_, call.failure))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    link.close()
    server.join()

    assert wrong == []


def _echo_back(connected: socket.socket) -> None:
    """A server that answers BIND, and each REQUEST with its own payload, in reverse order of each read."""
    from mf.protocol.events import BindRequested
    from mf.protocol.server_session import ServerSession

    session = ServerSession(Hello(nonce=bytes(16), max_in_flight=1000), bytearray(65536))
    while True:
        count = connected.recv_into(session.window())
        if not count:
            connected.close()
            return
        for event in reversed(session.received(count)):
            if isinstance(event, BindRequested):
                session.accept(event, ["x"] * len(event.methods))
            elif isinstance(event, tuple):
                session.reply(event[1], event[2], 0, 1, 1, event[6])
        connected.sendall(b"".join(session.take_output()))


def test_back_off_grows_to_its_cap_and_is_drawn_below_it() -> None:
    class Always(random.Random):
        def random(self) -> float:
            return 0.999

    backoff = Backoff(Always())
    waits = [backoff.next() for _ in range(10)]

    assert waits[0] < 0.05
    assert all(a <= b for a, b in pairwise(waits))
    assert waits[-1] < LONGEST
    backoff.reset()
    assert backoff.next() < 0.05


def test_a_static_resolver_knows_agents_only_if_told() -> None:
    whole = StaticResolver(["tcp://h:1"]).view("s")
    by_agent = StaticResolver({"a": ["tcp://h:1"], "b": ["tcp://h:2"]}).view("s")

    assert [agent for agent, _ in whole.find("x")] == ["x"]
    assert by_agent.find("x") == []
    assert {agent for agent, _ in by_agent.find(None)} == {"a", "b"}


def test_a_follower_who_is_done_when_it_wakes_as_the_leader_passes_that_on() -> None:
    """Otherwise no thread would read the connection again."""
    link = link_over(MemoryStream([HELLO + BOUND]))
    pending = Pending(time.monotonic() + 10)
    link._leading = True
    link._enqueue(pending)

    link._pass_on()
    link.finish(pending)  # as by another thread, which cancels it
    link._follow(pending)

    assert not link._leading


class CountingDialer(Dialer):
    def __init__(self) -> None:
        super().__init__()
        self.begun: list[str] = []

    def begin(self, address: Address) -> tcp.Connecting | None:
        self.begun.append(str(address))
        return super().begin(address)


def test_instances_that_were_not_reached_a_moment_ago_are_not_tried_with_the_others() -> None:
    with (
        closing(socket.create_server(("127.0.0.1", 0))) as one,
        closing(socket.create_server(("127.0.0.1", 0))) as other,
    ):
        addresses = [f"tcp://127.0.0.1:{each.getsockname()[1]}" for each in (one, other)]
        instances = [Instance(address) for address in addresses]
        pool = BlockingPool()
        pool._dialer = dialer = CountingDialer()
        pool._place(addresses[0]).not_before = time.monotonic() + 60

        immediate(pool.begin_all(instances, time.monotonic() + 1))
        pool._place(addresses[0]).not_before = 0.0
        immediate(pool.begin_all(instances, time.monotonic() + 1))
        pool.close()

    assert dialer.begun == [addresses[1], addresses[0]]


@pytest.mark.parametrize("address", ["tcp://a..example:1", "tcp://127.0.0.1\n.example:1", "no address"])
def test_an_address_that_cannot_be_read_is_one_that_is_not_reached(address: str) -> None:
    pool = BlockingPool()
    immediate(pool.begin_all([Instance(address), Instance(address + "1")], time.monotonic() + 1))
    with pytest.raises(mf.Error, match="address '") as refused:
        immediate(pool.get(address, time.monotonic() + 1))
    pool.close()

    assert (refused.value.code, refused.value.execution) == (mf.Code.UNAVAILABLE, mf.Execution.NOT_EXECUTED)


def test_who_writes_takes_the_late_replies_that_keep_the_server_from_reading() -> None:
    """No call waits for them any more, and the server reads nothing before it has sent them."""
    given_up, arrived = threading.Event(), threading.Event()

    def serve(theirs: socket.socket) -> None:
        session = ServerSession(Hello(nonce=bytes(16), max_in_flight=9), bytearray(65536))
        late = True
        with theirs, suppress(ConnectionError):  # the client may leave before it has read all
            while count := theirs.recv_into(session.window()):
                for event in session.received(count):
                    if isinstance(event, BindRequested):
                        session.accept(event, ["x"] * len(event.methods))
                    elif isinstance(event, tuple) and late:
                        late = not given_up.wait(20)
                        session.reply(event[1], event[2], 0, 1, 1, bytes(4 << 20))
                    elif isinstance(event, tuple):
                        arrived.set()
                theirs.sendall(b"".join(session.take_output()))

    stream, theirs = pair()
    thread = threading.Thread(target=serve, args=(theirs,), daemon=True)
    thread.start()
    with Client("tcp://127.0.0.1:9", mf.ClientOptions(connect=lambda address, timeout: stream)) as client:  # noqa: ARG005
        target = client.target(ECHO_SERVICE).at("a")
        with pytest.raises(mf.Error) as late:
            target.call(TWICE, mf.CallOptions(deadline=0.2), 1)
        assert late.value.code is Code.DEADLINE_EXCEEDED
        given_up.set()
        target.bulk(NOTE, [Number(1)] * 500_000, mf.CallOptions(deadline=20))

        assert arrived.wait(20)
    thread.join()
