# ruff: noqa: ARG002 - handlers have the parameters that the schema says
"""What streams and subscriptions hold is charged to their connections, and to the peers behind them
(docs/limits.md)."""

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

import mf
from mf.core.error import Code
from mf.server import workers
from mf.server.shares import Shares
from tests.python.conftest import eventually
from tests.python.serving import server_of
from tests.python.streams import (
    FOLLOW,
    LOAD,
    SCAN,
    AsyncWithoutStreams,
    Peer,
    WithoutStreams,
)
from tests.python.topics.made import PATIENCE, events, indexed

LONG = 1 << 20


class Longs(WithoutStreams):
    """Gives strings of a MiB, and takes no value of a parameter stream before its gate opens."""

    def __init__(self) -> None:
        self.gate = threading.Event()

    def follow(self, names: Iterator[str]) -> Iterator[str]:
        while True:
            yield "x" * LONG

    def load(self, into: str, values: Iterator[bytes]) -> int:
        self.gate.wait(20)
        return sum(map(len, values))

    def plain(self, x: int) -> int:
        return 2 * x


class AsyncLongs(AsyncWithoutStreams):
    async def follow(self, names: Any) -> Any:
        while True:
            yield "x" * LONG

    async def plain(self, x: int) -> int:
        return 2 * x


@pytest.mark.parametrize("kind", [Longs, AsyncLongs])
def test_values_that_wait_for_credit_are_held_until_the_call_ends(kind: Any) -> None:
    with server_of(kind(), agent="a", drain_timeout=0.5) as server:
        peer = Peer(server, 16_384)
        for id_ in (1, 2, 3):
            peer.call(FOLLOW, id_)
        assert eventually(lambda: 2 * LONG < held(server) < 4 * LONG)
        (own,) = server.stats().connections.peers
        assert (own.peer, own.connections, own.streams) == (f"uid:{os.geteuid()}", 1, 3)
        assert own.held_bytes == held(server)
        for id_ in (1, 2, 3):
            peer.cancel(id_)
        assert eventually(lambda: held(server) == 0)
        peer.close()


def test_values_that_a_handler_has_not_taken_are_held_until_it_takes_them() -> None:
    servant = Longs()
    with server_of(servant, agent="a", drain_timeout=0.5) as server:
        peer = Peer(server)
        peer.call(LOAD, 1, "here")
        for _ in range(4):
            peer.data(1, bytes(4_000), count=0)
        assert eventually(lambda: held(server) >= 16_000)
        peer.cancel(1)
        servant.gate.set()
        assert eventually(lambda: held(server) == 0)
        peer.close()


def test_the_connection_whose_streams_hold_the_most_is_ended_and_others_go_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with server_of(Longs(), agent="a", drain_timeout=0.5, max_held_bytes=8 * LONG) as server:
        greedy, modest = Peer(server, 16_384), Peer(server, 16_384)
        modest.call(FOLLOW, 1)
        with suppress(OSError):  # it is cut meanwhile
            for id_ in range(1, 21):
                greedy.call(FOLLOW, id_)
        assert eventually(lambda: server.stats().connections.cut_memory == 1)
        assert modest.is_served()
        assert eventually(lambda: held(server) < 4 * LONG)
        greedy.close()
        modest.close()
    assert "this one holds the most of it" in caplog.text


def test_when_memory_is_scarce_only_connections_that_hold_little_begin_calls() -> None:
    with server_of(Longs(), agent="a", drain_timeout=0.5, max_held_bytes=4 * LONG) as server:
        greedy, modest = Peer(server, 16_384), Peer(server, 16_384)
        for id_ in (1, 2, 3, 4):  # the fourth is sent in part before it waits: nearly 4 MiB
            greedy.call(FOLLOW, id_)
        assert eventually(lambda: held(server) > 3.5 * LONG)
        greedy.call(SCAN, 5, 1)
        assert greedy.reply(5).failure.code is Code.OVERLOADED
        assert modest.is_served()
        assert server.stats().connections.cut_memory == 0
        greedy.close()
        modest.close()


def test_one_peer_cannot_have_all_threads_of_streams(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(workers, "MOST_STREAM_THREADS", 16)
    with server_of(Longs(), agent="a", drain_timeout=0.5) as server:
        peer = Peer(server, 16_384)
        for id_ in range(1, 21):
            peer.call(FOLLOW, id_)
        assert {peer.reply(id_).failure.code for id_ in range(15, 21)} == {Code.OVERLOADED}
        assert server.stats().connections.peers[0].streams == 14, "an eighth is left for others"
        peer.cancel(1)
        assert eventually(lambda: server.stats().connections.peers[0].streams == 13)
        peer.close()
    assert "stream_refused" in caplog.text
    text = f"14 of at most 16 handlers of streams run on this server, 14 of them for uid:{os.geteuid()}"
    assert text in caplog.text


def test_shares_leave_an_eighth_for_peers_that_have_little() -> None:
    shares = Shares(16)
    assert [shares.take("a") for _ in range(15)] == [True] * 14 + [False]
    assert [shares.take("b") for _ in range(3)] == [True, True, False]
    shares.give_back("a")
    assert not shares.take("a")
    assert shares.take("c")
    for peer in ("a",) * 13 + ("b", "b", "c"):
        shares.give_back(peer)
    assert (shares.used, shares.of("a")) == (0, 0)


def test_queues_of_subscribers_that_take_nothing_are_held_and_the_greatest_is_cut() -> None:
    topics = mf.Topics()
    server = mf.Server(
        "tcp://127.0.0.1:0", options=mf.ServerOptions(drain_timeout=0.5, max_held_bytes=4 * LONG)
    )
    server.offer(topics)
    with server, mf.Client(server.address) as greedy, mf.Client(server.address) as healthy:
        publisher = events.AdditionsPublisher(topics)
        here = publisher.at("here")
        how = mf.SubscribeOptions(overflow=mf.Overflow.drop_oldest, max_messages=1024, max_bytes=8 << 20)
        hungry = events.AdditionsSubscriber(healthy, "*", how)
        silent = [events.AdditionsSubscriber(greedy, pattern, how) for pattern in ("here", "*")]
        assert publisher.await_subscribers(3, PATIENCE)
        for doc in range(400):
            here.publish(indexed(doc, "t" * 65_536))
            assert hungry.next(PATIENCE).value.doc == doc
        assert server.stats().connections.cut_memory >= 1
        assert held(server) < 5 * LONG
        for each in silent:
            each.close()
    topics.close()


def held(server: Any) -> int:
    return int(server.stats().connections.held_bytes)
