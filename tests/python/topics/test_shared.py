"""Subscribers of one client that want the same share a stream and what comes of it."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import mf
from mf.core.error import Code
from tests.python.conftest import eventually
from tests.python.topics.made import PATIENCE, docs, events, indexed, left, taken
from tests.python.topics.test_remote import Publishing

BLOCK = mf.SubscribeOptions(overflow=mf.Overflow.block)


@pytest.fixture
def publishing() -> Iterator[Publishing]:
    one = Publishing("plain")
    yield one
    one.close()


@pytest.fixture
def client(publishing: Publishing) -> Iterator[mf.Client]:
    with mf.Client(publishing.address) as one:
        yield one


def all_of(subscriber: Any, count: int) -> int:
    """Takes until `count` messages have come or are missed; returns how many have come."""
    received = missed = 0

    def gap(each: mf.Gap) -> None:
        nonlocal missed
        missed += each.count

    subscriber.on_gap(gap)
    while received + missed < count:
        message = subscriber.poll(0.05)
        received += message is not None
        assert message is None or message.sequence == received + missed
    return received


def test_they_have_one_stream_and_one_value_that_is_decoded_once(
    publishing: Publishing, client: mf.Client
) -> None:
    publisher = events.AdditionsPublisher(publishing.topics)
    one, two = (events.AdditionsSubscriber(client, "books", BLOCK) for _ in range(2))
    assert publisher.await_subscribers(1, PATIENCE)
    publisher.at("books").publish_all(map(indexed, range(100)))
    for first, second in zip(taken(one, 100), taken(two, 100), strict=True):
        assert first.value is second.value
    for each in (one, two):
        figures = each.stats()
        assert (figures.received, figures.decoded, figures.copied, figures.dropped) == (100, 100, 0, 0)
    (stream,) = publisher.stats().subscriptions
    assert stream.delivered == 100


def test_subscribers_of_an_asyncio_client_share_too(publishing: Publishing) -> None:
    publisher = events.AdditionsPublisher(publishing.topics)

    async def run() -> None:
        async with mf.AsyncClient(publishing.address) as client:
            one, two = (events.AdditionsAsyncSubscriber(client, "books", BLOCK) for _ in range(2))
            assert await asyncio.to_thread(publisher.await_subscribers, 1, PATIENCE)
            publisher.at("books").publish_all(map(indexed, range(20)))
            for _ in range(20):
                first, second = await one.next(PATIENCE), await two.next(PATIENCE)
                assert first.value is second.value
            assert two.stats().decoded == 20
            assert len(publisher.stats().subscriptions) == 1

    asyncio.run(run())


def test_other_options_and_other_agents_are_other_streams(publishing: Publishing, client: mf.Client) -> None:
    publisher = events.AdditionsPublisher(publishing.topics)
    options = [
        mf.SubscribeOptions(),
        BLOCK,
        mf.SubscribeOptions(max_messages=3),
        mf.SubscribeOptions(replay=0),
    ]
    subscribers = [events.AdditionsSubscriber(client, "books", each) for each in options]
    subscribers.append(events.AdditionsSubscriber(client, "*"))
    assert publisher.await_subscribers(len(subscribers), PATIENCE)


def test_who_comes_later_gets_what_is_published_from_then_on(
    publishing: Publishing, client: mf.Client
) -> None:
    publisher = events.EventsPublisher(publishing.topics)
    early = events.EventsSubscriber(client)
    assert publisher.await_subscribers(1, PATIENCE)
    publisher.publish_all(events.EventRemoved(each) for each in range(5))
    assert len(taken(early, 5)) == 5
    late = events.EventsSubscriber(client)
    publisher.publish(events.EventRemoved(5))
    message = late.next(PATIENCE)
    assert (message.sequence, message.missed) == (6, 0)
    assert early.next(PATIENCE).value is message.value
    assert len(publisher.stats().subscriptions) == 1


def test_who_comes_later_gets_what_is_kept_without_asking_the_publisher_again(
    publishing: Publishing, client: mf.Client
) -> None:
    publisher = events.AdditionsPublisher(publishing.topics)
    early = events.AdditionsSubscriber(client, "books")
    assert publisher.await_subscribers(1, PATIENCE)
    publisher.at("books").publish_all(map(indexed, range(25)))
    assert docs(taken(early, 25)) == list(range(25))
    late = events.AdditionsSubscriber(client, "books")
    assert docs(taken(late, 10)) == list(range(15, 25))
    (stream,) = publisher.stats().subscriptions
    assert stream.delivered == 25


@pytest.mark.parametrize("overflow", [mf.Overflow.drop_oldest, mf.Overflow.drop_newest])
def test_who_takes_nothing_and_drops_holds_up_nobody_and_learns_what_it_missed(
    publishing: Publishing, client: mf.Client, overflow: mf.Overflow
) -> None:
    publisher = events.AdditionsPublisher(publishing.topics)
    options = mf.SubscribeOptions(overflow=overflow, max_messages=10)
    slow, quick = (events.AdditionsSubscriber(client, "books", options) for _ in range(2))
    assert publisher.await_subscribers(1, PATIENCE)
    books = publisher.at("books")
    for doc in range(200):
        books.publish(indexed(doc))
        assert quick.next(PATIENCE).value.doc == doc
    assert all_of(slow, 200) == 10
    assert (slow.stats().dropped, quick.stats().dropped) == (190, 0)
    assert publisher.stats().subscriptions[0].dropped == 0  # its stream did not drop for the other


def test_who_is_alone_and_full_is_not_waited_for_any_more_when_another_comes(
    publishing: Publishing,
) -> None:
    publisher = events.EventsPublisher(publishing.topics)
    options = mf.SubscribeOptions(max_messages=5)
    with mf.Client(publishing.address) as client:
        slow = events.EventsSubscriber(client, options)
        assert publisher.await_subscribers(1, PATIENCE)
        long = "x" * 30_000
        count = 0
        while not publisher.stats().subscriptions[0].dropped:  # its publisher drops for the only subscriber
            publisher.publish(events.EventIndexed(indexed(count, long)))
            count += 1
        quick = events.EventsSubscriber(client, options)
        publisher.publish(events.EventIndexed(indexed(count, long)))
        while quick.next(PATIENCE).sequence != count + 1:
            pass
        assert all_of(slow, count + 1) < count


def test_nothing_is_lost_to_those_who_block_however_slow_one_of_them_is(
    publishing: Publishing,
) -> None:
    publisher = events.AdditionsPublisher(publishing.topics)
    options = mf.SubscribeOptions(overflow=mf.Overflow.block, max_messages=5, stall_timeout=mf.INFINITE)
    with mf.Client(publishing.address) as client:
        one, two = (events.AdditionsSubscriber(client, "books", options) for _ in range(2))
        assert publisher.await_subscribers(1, PATIENCE)
        values = [indexed(doc, "x" * 30_000) for doc in range(500)]
        thread = threading.Thread(target=publisher.at("books").publish_all, args=(values,))
        thread.start()
        other: list[int] = []
        taking = threading.Thread(target=lambda: other.extend(docs(taken(two, 500))))
        taking.start()
        assert docs(taken(one, 500)) == list(range(500))
        taking.join()
        thread.join()
        assert other == list(range(500))


def test_who_blocks_and_takes_nothing_misses_what_comes_once_it_has_stalled_the_others(
    publishing: Publishing, client: mf.Client
) -> None:
    publisher = events.AdditionsPublisher(publishing.topics)
    options = mf.SubscribeOptions(overflow=mf.Overflow.block, max_messages=20, stall_timeout=0.02)
    stalled, other = (events.AdditionsSubscriber(client, "books", options) for _ in range(2))
    assert publisher.await_subscribers(1, PATIENCE)
    books = publisher.at("books")
    for doc in range(300):
        books.publish(indexed(doc))
        assert other.next(PATIENCE).value.doc == doc
    assert all_of(stalled, 300) == 20
    assert (stalled.stats().dropped, publisher.stats().cut) == (280, 0)
    books.publish(indexed(300))
    assert stalled.next(PATIENCE).value.doc == 300  # it is waited for again


def test_who_asks_to_be_disconnected_ends_alone_when_its_queue_is_full(
    publishing: Publishing, client: mf.Client
) -> None:
    publisher = events.AdditionsPublisher(publishing.topics)
    options = mf.SubscribeOptions(overflow=mf.Overflow.disconnect, max_messages=10)
    slow, quick = (events.AdditionsSubscriber(client, "books", options) for _ in range(2))
    assert publisher.await_subscribers(1, PATIENCE)
    books = publisher.at("books")
    for doc in range(50):
        books.publish(indexed(doc))
        assert quick.next(PATIENCE).value.doc == doc
    assert docs(taken(slow, 10)) == list(range(10))
    with pytest.raises(mf.Error, match="its queue of 10 messages") as ended:
        slow.next(PATIENCE)
    assert ended.value.code is Code.OVERLOADED


def test_a_stream_ends_with_the_last_of_its_subscribers(publishing: Publishing, client: mf.Client) -> None:
    publisher = events.EventsPublisher(publishing.topics)
    one, two = events.EventsSubscriber(client), events.EventsSubscriber(client)
    assert publisher.await_subscribers(1, PATIENCE)
    one.close()
    publisher.publish(events.EventRemoved(1))
    assert two.next(PATIENCE).value.value == 1
    two.close()
    assert eventually(lambda: publisher.stats().subscriptions == [], PATIENCE)
    again = events.EventsSubscriber(client)
    assert publisher.await_subscribers(1, PATIENCE)
    publisher.publish(events.EventRemoved(2))
    assert again.next(PATIENCE).value.value == 2
    assert left(again) == []


def test_who_leaves_while_the_others_wait_for_it_lets_them_go_on(publishing: Publishing) -> None:
    publisher = events.AdditionsPublisher(publishing.topics)
    options = mf.SubscribeOptions(overflow=mf.Overflow.block, max_messages=5, stall_timeout=mf.INFINITE)
    with mf.Client(publishing.address) as client:
        leaves, stays = (events.AdditionsSubscriber(client, "books", options) for _ in range(2))
        assert publisher.await_subscribers(1, PATIENCE)
        values = [indexed(doc, "x" * 30_000) for doc in range(300)]
        thread = threading.Thread(target=publisher.at("books").publish_all, args=(values,))
        thread.start()
        assert docs(taken(stays, 5)) == list(range(5))
        leaves.close()
        assert docs(taken(stays, 295)) == list(range(5, 300))
        thread.join()


def test_who_comes_later_is_told_of_the_publishers_that_there_are(
    publishing: Publishing, client: mf.Client
) -> None:
    events.EventsPublisher(publishing.topics)
    early = events.EventsSubscriber(client)
    assert early.await_publishers(1, PATIENCE)
    late = events.EventsSubscriber(client)
    assert late.stats().publishers == 1
    found: list[int] = []
    late.on_matched(found.append)
    assert eventually(lambda: found == [1], PATIENCE)


def test_a_failure_ends_all_and_the_next_begins_anew() -> None:
    allowed: list[str] = []
    options = mf.TopicsOptions(authorize=lambda access: not access.peer or bool(allowed))
    publishing = Publishing("plain", options)
    publisher = events.EventsPublisher(publishing.topics)
    with mf.Client(publishing.address) as client:
        for each in [events.EventsSubscriber(client) for _ in range(2)]:
            with pytest.raises(mf.Error) as refused:
                each.next(PATIENCE)
            assert refused.value.code is Code.PERMISSION_DENIED
        allowed.append("all")
        again = events.EventsSubscriber(client)
        assert publisher.await_subscribers(1, PATIENCE)
        publisher.publish(events.EventRemoved(1))
        assert again.next(PATIENCE).value.value == 1
    publishing.close()
