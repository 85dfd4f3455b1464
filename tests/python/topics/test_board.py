"""The board: what subscriptions that come and go cost it, and what slow, stopped and hostile ones cost
others.
"""

import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from time import sleep
from typing import Any

import pytest

import mf
from mf.core.error import Code
from mf.protocol import frame
from mf.protocol.handshake import pack_bind
from mf.topics._generated.mf.topics._methods import ANY_TOPIC_SUBSCRIBE
from mf.topics._generated.mf.topics._types import Subscription
from mf.topics.inbox import Inbox
from mf.topics.remote import RemoteReceiver
from mf.topics.source import Request
from mf.topics.upstream import Upstream
from tests.hostile.attacker import Attacker, Peer, request
from tests.python.conftest import eventually
from tests.python.topics.made import PATIENCE, events, indexed
from tests.python.topics.test_remote import Publishing

MANY = 10_000


def steps(action: Callable[[], object]) -> int:
    """How many instructions of Python's machine it takes."""
    count = 0

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


def memory(action: Callable[[], object]) -> int:
    """The most bytes that it needs, of a few times: a table grows now and then."""
    peaks = []
    tracemalloc.start()
    try:
        for _ in range(5):
            tracemalloc.reset_peak()
            there = tracemalloc.get_traced_memory()[0]
            action()
            peaks.append(tracemalloc.get_traced_memory()[1] - there)
    finally:
        tracemalloc.stop()
    return min(peaks)


@pytest.mark.parametrize("remote", [False, True], ids=["here", "elsewhere"])
def test_ten_thousand_subscriptions_that_left_cost_a_publisher_nothing(remote: bool) -> None:
    with mf.Topics(mf.TopicsOptions(max_subscriptions=2 * MANY)) as topics:
        channel = topics.channel(events.ADDITIONS_TOPIC)
        books = events.AdditionsPublisher(topics).at("books")
        request = Request("books", 0, "tcp://192.0.2.1:1" if remote else "", remote=remote)

        def subscribe() -> Inbox:
            inbox = channel.make_inbox(mf.SubscribeOptions())
            channel.subscribe(inbox, request)
            return inbox

        def come_and_go() -> None:
            channel.unsubscribe(subscribe())

        def publish() -> None:
            books.publish(indexed(1))

        come_and_go()
        publish()
        alone = steps(come_and_go), steps(publish)
        inboxes = [subscribe() for _ in range(MANY)]
        assert steps(come_and_go) == alone[0]
        assert memory(come_and_go) < 8 * MANY, "it copies a pointer for each subscription"
        source = channel.source("books")
        assert (len(channel.board.subscriptions), len(source.inboxes)) == (MANY, MANY)
        for inbox in inboxes:
            channel.unsubscribe(inbox)
        assert (steps(come_and_go), steps(publish)) == alone
        assert memory(publish) < 8 * MANY
        assert (channel.board.subscriptions, source.inboxes, source.remote) == ({}, {}, 0)
        assert channel.stats().subscriptions == []
        assert channel.stats().ended.subscriptions == MANY + 9
        assert channel.board.waits.count == 0


def test_ten_thousand_subscribers_of_a_client_that_left_leave_nothing() -> None:
    topic = events.ADDITIONS_TOPIC

    def wake(*_: object) -> None:
        pass

    def subscriber() -> RemoteReceiver:
        return RemoteReceiver(topic, "*", mf.SubscribeOptions(), wake)

    stays = subscriber()
    upstream = Upstream(stays.wanted, {})
    stays.share(upstream)

    def come_and_go() -> None:
        one = subscriber()
        one.share(upstream)
        upstream.leave(one)

    come_and_go()
    beside_one = steps(come_and_go)
    others = [subscriber() for _ in range(MANY)]
    for each in others:
        each.share(upstream)
    assert steps(come_and_go) <= beside_one
    assert memory(come_and_go) < 8 * MANY
    for each in others:
        upstream.leave(each)
    assert list(upstream.board.subscriptions) == [stays.inbox]
    assert steps(come_and_go) == beside_one
    upstream.leave(stays)
    assert (upstream.board.subscriptions, upstream.board.waits.count) == ({}, 0)


class Raw:
    """A subscriber that speaks by itself, and reads nothing unless it is asked to."""

    def __init__(self, attacker: Attacker) -> None:
        self.peer: Peer = attacker.greet()
        topic = events.ADDITIONS_TOPIC
        bind = pack_bind(topic.fingerprint, topic.name, "", ("topic.subscribe",))
        self.peer.send(frame.pack(frame.BIND, bind))
        assert self.peer.next(frame.BOUND)[0] == 0

    def subscribe(self, overflow: mf.Overflow, id_: int = 1) -> None:
        what = Subscription(agents="books", overflow=overflow, max_messages=5, max_bytes=1 << 20)
        payload = bytes(ANY_TOPIC_SUBSCRIBE.encode_request(what))
        self.peer.send(request(payload, id_=id_, flags=2 | frame.STREAM))

    def cancel(self, id_: int) -> None:
        self.peer.send(frame.pack(frame.CANCEL, b"", id_=id_))

    def credit(self, count: int) -> None:
        self.peer.send(frame.pack(frame.CREDIT, count.to_bytes(4, "little"), id_=1))


@pytest.fixture
def publishing() -> Iterator[Publishing]:
    one = Publishing("plain", mf.TopicsOptions(stall_timeout=0.3))
    yield one
    one.close()


@pytest.fixture
def attacker(publishing: Publishing) -> Iterator[Attacker]:
    one = Attacker(publishing.address)
    yield one
    one.close()


@pytest.mark.parametrize("overflow", mf.Overflow, ids=lambda each: each.name)
def test_a_healthy_subscriber_gets_all_beside_slow_stopped_and_hostile_ones(
    publishing: Publishing, attacker: Attacker, overflow: mf.Overflow
) -> None:
    count, title = 300, "x" * 20_000
    publisher = events.AdditionsPublisher(publishing.topics)
    books = publisher.at("books")
    with mf.Client(publishing.address) as client, mf.Client(publishing.address) as other:
        options = mf.SubscribeOptions(overflow=mf.Overflow.block, max_messages=100)
        healthy = events.AdditionsSubscriber(client, "books", options)
        slow = events.AdditionsSubscriber(
            other, "books", mf.SubscribeOptions(overflow=overflow, max_messages=5)
        )
        assert publisher.await_subscribers(2, PATIENCE)
        stopped, hostile = Raw(attacker), Raw(attacker)
        stopped.subscribe(overflow)
        assert publisher.await_subscribers(3, PATIENCE)
        for id_ in range(2, 200):
            hostile.subscribe(overflow, id_)
            hostile.cancel(id_)
        hostile.subscribe(overflow)
        hostile.peer.next(frame.DATA)
        hostile.credit(0x7FFF_FFFF)
        hostile.credit(0x7FFF_FFFF)
        while hostile.peer.next(frame.REPLY)[0] != Code.PROTOCOL_ERROR:
            pass  # the ends of what it has cancelled
        got: list[tuple[int, int]] = []
        ended: list[mf.Error] = []

        def read_slowly() -> None:
            try:
                while not got or got[-1][0] != count:
                    message = slow.next(PATIENCE)
                    got.append((message.sequence, message.missed))
                    sleep(0.001)
            except mf.Error as error:
                ended.append(error)

        thread = threading.Thread(target=read_slowly)
        thread.start()
        for number in range(1, count):
            books.publish(indexed(number, title), mf.PublishOptions(deadline=PATIENCE))
            message = healthy.next(PATIENCE)
            assert (message.sequence, message.missed, message.value.doc) == (number, 0, number)
        assert eventually(lambda: all(each.queued == 0 for each in alive(publisher, stopped)), PATIENCE)
        books.publish(indexed(count))
        assert healthy.next(PATIENCE).missed == 0
        thread.join(PATIENCE)
        assert not thread.is_alive()
        behind = 1
        for sequence, missed in got:
            assert sequence == behind + missed
            behind = sequence + 1
        figures = publisher.stats()
        if overflow in (mf.Overflow.block, mf.Overflow.disconnect):
            assert all(missed == 0 for _, missed in got), "it may lose nothing"
            assert figures.cut >= 1, "the one that has stopped is cut"
        else:
            assert behind == count + 1
            (of_stopped,) = [
                each for each in figures.subscriptions if each.peer.endswith(stopped.peer.address)
            ]
            assert of_stopped.delivered + of_stopped.dropped + of_stopped.queued == count
            assert (of_stopped.queued <= 5, figures.cut) == (True, 0)
        if overflow is mf.Overflow.disconnect:
            assert ended == [] or ended[0].code is Code.OVERLOADED
        else:
            assert ended == []
            assert behind == count + 1
    attacker.close()
    assert eventually(lambda: publisher.stats().subscriptions == [], PATIENCE)
    board = publishing.topics.channel(events.ADDITIONS_TOPIC).board
    assert all(source.inboxes == {} and source.remote == 0 for source in board.sources.values())


def alive(publisher: Any, stopped: Raw) -> list[mf.SubscriptionStats]:
    """The subscriptions that take their messages."""
    address = stopped.peer.address
    return [each for each in publisher.stats().subscriptions if not each.peer.endswith(address)]
