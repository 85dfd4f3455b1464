"""Servers with limits. Their capacity is a semaphore that the test controls; the client is simulated frame by
frame, so that nothing is repeated automatically.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import mf
from mf.core.error import Code, Execution
from mf.protocol import frame
from tests.python.conftest import Recorder, eventually
from tests.python.echo import EchoClient, Number
from tests.python.serving import AnyServer, server_of
from tests.python.streams import PLAIN, SCAN, AsyncWithoutStreams, Peer, WithoutStreams


class Plain(WithoutStreams):
    """`plain` and `scan` each take a permit, which the test gives."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.permits = threading.Semaphore(0)

    def plain(self, x: int) -> int:
        self.begun.append(x)
        self.permits.acquire(timeout=20)
        return 2 * x

    def scan(self, to: int) -> Iterator[int]:
        self.begun.append(to)
        self.permits.acquire(timeout=20)
        return iter(())


class Awaiting(AsyncWithoutStreams):
    def __init__(self) -> None:
        self.begun: list[int] = []
        self.permits = threading.Semaphore(0)

    async def _permit(self, x: int) -> None:
        self.begun.append(x)
        while not self.permits.acquire(blocking=False):
            await asyncio.sleep(0.001)

    async def plain(self, x: int) -> int:
        await self._permit(x)
        return 2 * x

    async def scan(self, to: int) -> Any:
        await self._permit(to)
        for _ in ():
            yield _


Servant = Plain | Awaiting


class Limited:
    """A server with limits, and its clients."""

    def __init__(self, servant: Servant, **options: Any) -> None:
        self.servant = servant
        if isinstance(servant, Plain):
            options.setdefault("workers", 8)
        self.server: AnyServer = server_of(servant, agent="a", drain_timeout=2.0, **options)
        self.server.start()
        self.peers: list[Peer] = []

    def peer(self) -> Peer:
        self.peers.append(Peer(self.server))
        return self.peers[-1]

    def of(self, method: str) -> mf.MethodStats:
        return next(each for each in self.server.stats().methods if each.method == method)

    def busy(self, running: int, waiting: int) -> bool:
        def is_so() -> bool:
            now = self.server.stats()
            return (now.running, now.waiting) == (running, waiting) and len(self.servant.begun) >= running

        return eventually(is_so)

    def close(self) -> None:
        self.servant.permits.release(1000)
        for peer in self.peers:
            peer.close()
        self.server.stop()


@pytest.fixture(params=[Plain, Awaiting], ids=["plain", "async"])
def start(request: pytest.FixtureRequest) -> Iterator[Callable[..., Limited]]:
    open_: list[Limited] = []

    def started(**options: Any) -> Limited:
        open_.append(Limited(request.param(), **options))
        return open_[-1]

    yield started
    for each in open_:
        each.close()


Start = Callable[..., Limited]


def replies(peer: Peer, count: int) -> dict[int, int]:
    """This many replies, in any order: the status of each by its id."""
    found: dict[int, int] = {}
    while len(found) < count:
        seen = peer.next()
        if seen.type == frame.REPLY:
            assert seen.id not in found
            found[seen.id] = seen.word
    return found


def test_so_many_run_so_many_wait_and_the_others_are_refused_and_never_run(start: Start) -> None:
    test = start(limits={"plain": mf.Limit(3, queued=2)})
    peer = test.peer()

    for x in range(1, 9):
        peer.call(PLAIN, x, x)
    refused = [peer.reply(x).failure for x in (6, 7, 8)]

    assert {(each.code, each.execution) for each in refused} == {(Code.OVERLOADED, Execution.NOT_EXECUTED)}
    text = 'at most 3 calls of demo.Flow.plain for agent "a" run at once on this server, and 2 wait'
    assert refused[0].message == text
    assert test.busy(3, 2)
    assert sorted(test.servant.begun) == [1, 2, 3]
    test.servant.permits.release(5)
    assert replies(peer, 5) == dict.fromkeys(range(1, 6), 0)
    stats = test.of("plain")
    assert (stats.executed, stats.refused, stats.expired) == (5, 3, 0)
    assert sorted(test.servant.begun) == [1, 2, 3, 4, 5]
    assert test.busy(0, 0)


def test_one_way_calls_are_dropped_counted_and_logged_once_and_the_others_keep_their_order(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    test = start(limits={"plain": mf.Limit(1, queued=4)})
    peer = test.peer()

    for x in range(1, 9):
        peer.call(PLAIN, x, x, flags=frame.ONEWAY)
    assert eventually(lambda: test.of("plain").dropped == 3)
    assert test.busy(1, 4)
    test.servant.permits.release(5)
    assert test.busy(0, 0)

    assert test.servant.begun == [1, 2, 3, 4, 5]
    stats = test.of("plain")
    assert (stats.executed, stats.refused, stats.dropped) == (5, 0, 3)
    assert sum("one-way calls of Flow.plain dropped" in line for line in caplog.messages) == 1
    test.servant.permits.release(1)
    peer.call(PLAIN, 9, 9, flags=frame.ONEWAY)
    assert eventually(lambda: test.of("plain").executed == 6)


def test_the_limit_of_the_server_counts_all_methods_and_one_way_calls(start: Start) -> None:
    test = start(limit=mf.Limit(2, queued=1))
    peer, other = test.peer(), test.peer()

    peer.call(SCAN, 1, 1)
    assert test.busy(1, 0)
    peer.call(PLAIN, 2, 2, flags=frame.ONEWAY)
    assert test.busy(2, 0)
    peer.call(PLAIN, 3, 3, flags=frame.ONEWAY)  # waits for the previous one
    assert test.busy(2, 1)
    other.call(PLAIN, 1, 4)
    refused = other.reply(1).failure
    test.servant.permits.release(3)

    assert refused.message == "at most 2 calls run at once on this server, and 1 wait"
    assert peer.reply(1).word == 0
    assert test.busy(0, 0)
    assert test.servant.begun == [1, 2, 3]


def test_the_earliest_deadline_runs_first(start: Start) -> None:
    test = start(limits={"plain": mf.Limit(1, queued=9)})
    peer = test.peer()

    peer.call(PLAIN, 1, 1)
    assert test.busy(1, 0)
    for x, deadline in ((2, mf.INFINITE), (3, 3000.0), (4, 1000.0), (5, 2000.0)):
        peer.call(PLAIN, x, x, deadline=deadline)
    assert test.busy(1, 4)
    test.servant.permits.release(5)

    assert replies(peer, 5) == dict.fromkeys(range(1, 6), 0)
    assert test.servant.begun == [1, 4, 5, 3, 2]


def test_a_late_call_is_never_run_also_if_its_client_does_not_cancel_it(start: Start) -> None:
    test = start(workers=1)
    peer = test.peer()

    peer.call(PLAIN, 1, 1)
    assert eventually(lambda: test.servant.begun == [1])
    peer.call(PLAIN, 2, 2, deadline=1e-6)
    test.servant.permits.release(1)

    assert replies(peer, 2) == {1: Code.OK, 2: Code.DEADLINE_EXCEEDED}
    assert test.servant.begun == [1]
    assert test.of("plain").expired == 1


def test_a_call_whose_deadline_passes_in_the_queue_is_never_run(start: Start) -> None:
    test = start(limits={"plain": mf.Limit(1, queued=2)})
    peer = test.peer()

    peer.call(PLAIN, 1, 1)
    assert test.busy(1, 0)
    peer.call(PLAIN, 2, 2, deadline=0.001)
    peer.call(PLAIN, 3, 3, deadline=1000.0)
    assert test.busy(1, 2)
    time.sleep(0.02)
    peer.call(PLAIN, 4, 4, deadline=2000.0)  # the expired one makes room for it
    expired = peer.reply(2).failure
    test.servant.permits.release(3)

    assert (expired.code, expired.execution) == (Code.DEADLINE_EXCEEDED, Execution.NOT_EXECUTED)
    assert replies(peer, 3) == {1: 0, 3: 0, 4: 0}
    assert test.servant.begun == [1, 3, 4]
    assert (test.of("plain").expired, test.of("plain").executed) == (1, 3)


def test_an_expired_one_way_call_does_not_hold_up_those_behind_it(start: Start) -> None:
    test = start(limits={"plain": mf.Limit(1, queued=3)})
    peer = test.peer()

    peer.call(PLAIN, 1, 1, flags=frame.ONEWAY)
    peer.call(PLAIN, 2, 2, flags=frame.ONEWAY, deadline=0.001)
    peer.call(PLAIN, 3, 3, flags=frame.ONEWAY)
    assert test.busy(1, 2)
    time.sleep(0.02)
    test.servant.permits.release(2)

    assert test.busy(0, 0)
    assert test.servant.begun == [1, 3]
    assert test.of("plain").expired == 1


def test_a_cancelled_call_gives_its_place_away_at_once(start: Start) -> None:
    test = start(limits={"plain": mf.Limit(1, queued=1)})
    peer = test.peer()

    peer.call(PLAIN, 1, 1)
    assert test.busy(1, 0)
    peer.call(PLAIN, 2, 2)
    assert test.busy(1, 1)
    peer.cancel(2)
    cancelled = peer.reply(2).failure
    peer.call(PLAIN, 3, 3)
    assert test.busy(1, 1)
    test.servant.permits.release(2)

    assert cancelled.code is Code.CANCELLED
    assert replies(peer, 2) == {1: 0, 3: 0}
    assert test.servant.begun == [1, 3]


def test_a_call_that_is_cancelled_while_it_runs_keeps_its_slot_until_its_handler_returns() -> None:
    test = Limited(Plain(), limits={"plain": mf.Limit(1, queued=0)})
    peer = test.peer()
    try:
        peer.call(PLAIN, 1, 1)
        assert test.busy(1, 0)
        peer.cancel(1)
        peer.call(PLAIN, 2, 2)
        refused = peer.reply(2).failure
        test.servant.permits.release(2)
        assert test.busy(0, 0)
        peer.call(PLAIN, 3, 3)
        assert peer.reply(3).word == 0
        assert refused.code is Code.OVERLOADED
    finally:
        test.close()


def test_calls_of_a_client_that_has_left_give_their_places_away(start: Start) -> None:
    test = start(limits={"plain": mf.Limit(1, queued=3)})
    peer, gone = test.peer(), test.peer()

    peer.call(PLAIN, 1, 1)
    assert test.busy(1, 0)
    gone.call(PLAIN, 1, 2)
    gone.call(PLAIN, 2, 3)
    assert test.busy(1, 2)
    gone.close()
    assert test.busy(1, 0)
    test.servant.permits.release(1)

    assert peer.reply(1).word == 0
    assert test.servant.begun == [1]


def test_a_stream_counts_while_its_handler_runs(start: Start) -> None:
    test = start(limits={"scan": mf.Limit(1, queued=1)}, max_streams=3)
    peer = test.peer()

    peer.call(SCAN, 1, 1)
    assert test.busy(1, 0)
    for id_ in (2, 3, 4):
        peer.call(SCAN, id_, id_)
    refused = [peer.reply(id_).failure for id_ in (3, 4)]
    test.servant.permits.release(2)

    assert [each.code for each in refused] == [Code.OVERLOADED] * 2  # and none by max_streams
    assert {"demo.Flow.scan" in each.message for each in refused} == {True}
    assert replies(peer, 2) == {1: 0, 2: 0}
    assert test.servant.begun == [1, 2]
    assert test.busy(0, 0)


def test_one_caller_that_waits_for_each_answer_is_never_refused(start: Start) -> None:
    test = start(limits={"plain": mf.Limit(1, queued=0)})
    test.servant.permits.release(200)
    peer = test.peer()

    for id_ in range(1, 200):
        peer.call(PLAIN, id_, id_)
        assert peer.reply(id_).word == 0


def test_handlers_where_requests_are_read_have_limits_too() -> None:
    recorder = Recorder()
    server = mf.Server()
    server.offer(recorder, "a", inline=True, limits={"twice": mf.Limit(1, queued=0)})
    with server, mf.Client(server.address) as client:
        assert [EchoClient(client).at("a").twice(x) for x in range(50)] == [2 * x for x in range(50)]
        stats = server.stats()
    assert (stats.executed, stats.refused, stats.running, stats.waiting) == (50, 0, 0, 0)


def test_calls_are_counted_without_any_limit_by_items() -> None:
    server = mf.Server()
    server.offer(Recorder(), "a")
    with server, mf.Client(server.address) as client:
        stub = EchoClient(client).at("a")
        stub.twice(1)
        assert len(stub.twice_bulk([Number(1), Number(2), Number(3)])) == 3
        stats = server.stats()
    counted = {(each.service, each.agent, each.method): each.executed for each in stats.methods}
    assert counted["demo.Echo", "a", "twice"] == 4
    assert stats.executed == 4


def test_a_limit_for_a_method_that_the_service_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match=r"a limit for demo\.Echo\.twcie, which is no method of it"):
        mf.Server().offer(Recorder(), "a", limits={"twcie": mf.Limit(1)})
