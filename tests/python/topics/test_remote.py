"""Topics between processes, here over connections within one: servers and clients of both kinds."""

import asyncio
import gc
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mf
from mf.core.error import Code
from tests.python.client.test_calls import free_port
from tests.python.conftest import eventually
from tests.python.serving import LoopServer
from tests.python.topics.made import PATIENCE, docs, events, indexed, left, taken

SMALL = 4096
"""Bytes of a stream's window, so that a subscriber that does not read is felt soon."""


class Publishing:
    """The topics of a process, and their server, which can be stopped and started again on its port."""

    def __init__(self, kind: str, options: mf.TopicsOptions | None = None) -> None:
        self._kind = kind
        self.topics = mf.Topics(options)
        self.port = free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        make: Any = mf.Server if self._kind == "plain" else LoopServer
        self.server = make(self.address, options=mf.ServerOptions(drain_timeout=2.0))
        self.server.offer(self.topics)
        self.server.start()

    def stop(self) -> None:
        self.server.stop()

    def close(self) -> None:
        self.topics.close()
        self.stop()


@pytest.fixture(params=["plain", "async"])
def publishing(request: pytest.FixtureRequest) -> Iterator[Publishing]:
    one = Publishing(request.param)
    yield one
    one.close()


@pytest.fixture
def client(publishing: Publishing) -> Iterator[mf.Client]:
    with mf.Client(publishing.address) as one:
        yield one


def test_messages_arrive_in_order_and_are_encoded_once_for_all(
    publishing: Publishing, client: mf.Client
) -> None:
    publisher = events.AdditionsPublisher(publishing.topics)
    subscribers = [events.AdditionsSubscriber(client, "*") for _ in range(3)]
    assert publisher.await_subscribers(1, PATIENCE)
    books, maps = publisher.at("books"), publisher.at("maps")
    for doc in range(200):
        (books if doc % 2 else maps).publish(indexed(doc, f"title {doc}"))
    for subscriber in subscribers:
        got = taken(subscriber, 200)
        assert docs(got) == list(range(200))
        assert [each.value.title for each in got[:2]] == ["title 0", "title 1"]
        assert [each.sequence for each in got if each.agent == "maps"] == list(range(1, 101))
        assert {each.publisher for each in got} == {publishing.topics.publisher}
        figures = subscriber.stats()
        assert (figures.received, figures.decoded, figures.dropped, figures.publishers) == (200, 200, 0, 1)
    assert publisher.stats().encoded == 200


def test_agents_that_begin_later_are_subscribed_too_and_others_are_not(
    publishing: Publishing, client: mf.Client
) -> None:
    publisher = events.AdditionsPublisher(publishing.topics)
    subscriber = events.AdditionsSubscriber(client, "eu.*")
    assert publisher.await_subscribers(1, PATIENCE)
    for doc, agent in enumerate(("eu.books", "us.books", "eu.maps")):
        publisher.at(agent).publish(indexed(doc))
    assert [(each.agent, each.value.doc) for each in taken(subscriber, 2)] == [
        ("eu.books", 0),
        ("eu.maps", 2),
    ]


def test_late_joiners_get_what_is_kept(publishing: Publishing, client: mf.Client) -> None:
    events.AdditionsPublisher(publishing.topics).at("books").publish_all(map(indexed, range(25)))
    late = events.AdditionsSubscriber(client, "books")
    few = events.AdditionsSubscriber(client, "books", mf.SubscribeOptions(replay=2))
    assert docs(taken(late, 10)) == list(range(15, 25))
    assert docs(taken(few, 2)) == [23, 24]


def test_values_of_every_tier_travel(publishing: Publishing, client: mf.Client) -> None:
    points, changes = events.PointsPublisher(publishing.topics), events.ChangesPublisher(publishing.topics)
    of_points = events.PointsSubscriber(client, "*")
    of_changes, of_events = events.ChangesSubscriber(client), events.EventsSubscriber(client)
    assert points.await_subscribers(1, PATIENCE)
    points.at(events.Shelf.low).publish(events.Point(1, 2))
    changes.publish(events.Settings("x", {"a": 1}))
    happened = events.EventsPublisher(publishing.topics)
    assert happened.await_subscribers(1, PATIENCE)
    happened.publish(events.EventIndexed(indexed(7, "seven")))
    assert of_points.next(PATIENCE).value == events.Point(1, 2)
    assert of_changes.next(PATIENCE).value == events.Settings("x", {"a": 1})
    assert of_events.next(PATIENCE).value == events.EventIndexed(indexed(7, "seven"))


def test_a_subscriber_that_reads_nothing_holds_up_nobody_and_every_drop_is_counted(
    publishing: Publishing, client: mf.Client
) -> None:
    publisher = events.AdditionsPublisher(publishing.topics)
    bounds = mf.SubscribeOptions(max_messages=5, max_bytes=1 << 20)
    slow = events.AdditionsSubscriber(client, "books", bounds)
    assert publisher.await_subscribers(1, PATIENCE)
    quick = events.AdditionsSubscriber(client, "books")
    assert publisher.await_subscribers(2, PATIENCE)
    books, title = publisher.at("books"), "x" * 30_000
    for doc in range(500):
        books.publish(indexed(doc, title))
        assert quick.next(PATIENCE).value.doc == doc
    assert publisher.stats().subscriptions[0].queued <= 5
    got = seen = 0
    while got + seen < 500:
        message = slow.next(PATIENCE)
        got, seen = got + 1, seen + message.missed
        assert message.sequence == got + seen
        assert message.value.doc == message.sequence - 1
    figures, there = slow.stats(), publisher.stats().subscriptions[0]
    assert seen > 0
    assert (figures.received, figures.dropped) == (got, seen)
    assert (there.delivered, there.dropped) == (got, seen)


def test_who_blocks_loses_nothing_over_a_connection(publishing: Publishing, client: mf.Client) -> None:
    publisher = events.OrdersPublisher(publishing.topics)
    subscriber = events.OrdersSubscriber(client, mf.SubscribeOptions(max_messages=3, max_bytes=100_000))
    assert publisher.await_subscribers(1, PATIENCE)
    title = "x" * 5000
    thread = threading.Thread(target=lambda: publisher.publish_all(indexed(doc, title) for doc in range(500)))
    thread.start()
    got = taken(subscriber, 500)
    thread.join(PATIENCE)
    assert docs(got) == list(range(500))
    assert all(each.missed == 0 for each in got)


def test_who_blocks_and_takes_nothing_is_cut_and_is_told_later_what_it_missed() -> None:
    publishing = Publishing("plain", mf.TopicsOptions(stall_timeout=0.05))
    try:
        publisher = events.OrdersPublisher(publishing.topics)
        with mf.Client(publishing.address) as client:
            subscriber = events.OrdersSubscriber(client, mf.SubscribeOptions(max_messages=2, max_bytes=1))
            assert publisher.await_subscribers(1, PATIENCE)
            title = "x" * 100_000
            for doc in range(100):
                publisher.publish(indexed(doc, title), mf.PublishOptions(deadline=PATIENCE))
            assert eventually(lambda: publisher.stats().cut == 1, PATIENCE)
            assert publisher.stats().ended.dropped > 0
            got: list[Any] = []

            def all_is_told() -> bool:
                got.extend(left(subscriber))
                figures = subscriber.stats()
                return bool(figures.received + figures.not_kept == 100)

            assert eventually(all_is_told, PATIENCE)
            assert docs(got) == list(range(len(got)))
            publisher.publish(indexed(100))
            (message,) = taken(subscriber, 1)
            assert (message.value.doc, message.sequence, message.missed) == (100, 101, 100 - len(got))
    finally:
        publishing.close()


def test_a_subscriber_goes_on_where_it_was_when_its_publisher_is_back(
    publishing: Publishing, client: mf.Client
) -> None:
    publisher = events.AdditionsPublisher(publishing.topics)
    books = publisher.at("books")
    subscriber = events.AdditionsSubscriber(client, "books")
    heard: list[int] = []
    subscriber.on_unmatched(heard.append)
    assert publisher.await_subscribers(1, PATIENCE)
    books.publish(indexed(0))
    assert docs(taken(subscriber, 1)) == [0]
    publishing.stop()
    assert eventually(lambda: heard == [0], PATIENCE)
    books.publish_all(map(indexed, range(1, 6)))
    publishing.start()
    assert docs(taken(subscriber, 5)) == [1, 2, 3, 4, 5]
    publishing.stop()
    assert eventually(lambda: heard == [0, 0], PATIENCE)
    books.publish_all(map(indexed, range(6, 31)))
    publishing.start()
    got = taken(subscriber, 10)
    assert docs(got) == list(range(21, 31))
    assert [each.missed for each in got] == [15, *[0] * 9]
    assert (subscriber.stats().not_kept, subscriber.stats().received) == (15, 16)
    stats = publisher.stats()
    (seen,) = stats.subscriptions
    assert (seen.delivered, seen.dropped, seen.not_kept) == (10, 0, 15)
    assert (stats.ended.subscriptions, stats.ended.delivered, stats.ended.dropped) == (2, 6, 0)


def test_another_process_at_the_same_place_counts_anew(publishing: Publishing, client: mf.Client) -> None:
    subscriber = events.AdditionsSubscriber(client, "books")
    first = events.AdditionsPublisher(publishing.topics)
    assert first.await_subscribers(1, PATIENCE)
    first.at("books").publish(indexed(1))
    (one,) = taken(subscriber, 1)
    publishing.close()
    publishing.topics = mf.Topics()
    publishing.start()
    second = events.AdditionsPublisher(publishing.topics)
    assert second.await_subscribers(1, PATIENCE)
    second.at("books").publish(indexed(2))
    (other,) = taken(subscriber, 1)
    assert one.publisher != other.publisher
    assert [(each.sequence, each.missed) for each in (one, other)] == [(1, 0), (1, 0)]


def test_who_asked_to_be_disconnected_is_told_so(publishing: Publishing, client: mf.Client) -> None:
    publisher = events.OrdersPublisher(publishing.topics)
    options = mf.SubscribeOptions(max_messages=2, overflow=mf.Overflow.disconnect)
    subscriber = events.OrdersSubscriber(client, options)
    assert publisher.await_subscribers(1, PATIENCE)
    title = "x" * 500_000
    for doc in range(40):
        publisher.publish(indexed(doc, title))
    with pytest.raises(mf.Error, match="asked to be disconnected then") as raised:
        taken(subscriber, 41)
    assert raised.value.code is Code.OVERLOADED
    assert eventually(lambda: publisher.stats().cut == 1, PATIENCE)


def test_a_topic_of_another_schema_is_refused_in_words(publishing: Publishing, client: mf.Client) -> None:
    class Other(events.PointsSubscriber):  # type: ignore[misc]
        mf_topic = mf.TopicInfo(
            name="events.Points",
            agent="shelf",
            codec=events.POINT_CODEC,
            descriptor=events.POINTS_TOPIC.descriptor.replace("x f64", "x f32"),
            fingerprint=b"x" * 16,
        )

    events.PointsPublisher(publishing.topics)
    with pytest.raises(mf.Error) as raised:
        Other(client, "*").next(PATIENCE)
    assert raised.value.code is Code.SCHEMA_MISMATCH
    assert "x: f32 here, f64 there" in raised.value.message


def test_what_the_publisher_does_not_take_is_refused_there(publishing: Publishing) -> None:
    events.OrdersPublisher(publishing.topics)

    class Lying(events.OrdersSubscriber):  # type: ignore[misc]
        mf_topic = mf.TopicInfo(
            name="events.Orders",
            agent=None,
            codec=events.INDEXED_CODEC,
            descriptor=events.ORDERS_TOPIC.descriptor,
            fingerprint=events.ORDERS_TOPIC.fingerprint,
        )

    with mf.Client(publishing.address) as client:
        subscriber = Lying(client, mf.SubscribeOptions(overflow=mf.Overflow.drop_newest))
        with pytest.raises(mf.Error, match="does not allow overflow drop_newest, but block, disconnect"):
            subscriber.next(PATIENCE)


def test_one_of_several_publishers_may_have_another_schema(publishing: Publishing) -> None:
    class Other(events.EventsSubscriber):  # type: ignore[misc]
        mf_topic = mf.TopicInfo(
            name="events.Events",
            agent=None,
            codec=events.EVENT_CODEC,
            descriptor=events.EVENTS_TOPIC.descriptor + " ",
            fingerprint=b"x" * 16,
        )

    events.EventsPublisher(publishing.topics)
    alike = Publishing("plain")
    alike.topics.channel(Other.mf_topic).source("")
    with mf.Client(f"{publishing.address},{alike.address}") as client:
        subscriber = Other(client)
        assert subscriber.await_publishers(1, PATIENCE)
        assert subscriber.poll(0.2) is None  # and does not raise
    alike.close()


def test_a_message_that_a_subscriber_does_not_accept_is_a_gap(publishing: Publishing) -> None:
    publisher = events.AdditionsPublisher(publishing.topics)
    with mf.Client(publishing.address, mf.ClientOptions(max_payload=65_536)) as client:
        subscriber = events.AdditionsSubscriber(client, "*")
        gaps: list[mf.Gap] = []
        subscriber.on_gap(gaps.append)
        assert publisher.await_subscribers(1, PATIENCE)
        publisher.at("books").publish_all(
            [indexed(1), indexed(2, "x" * 100_000), indexed(3), indexed(4, "x" * 100_000), indexed(5)]
        )
        got = taken(subscriber, 3)
        assert [(each.value.doc, each.missed) for each in got] == [(1, 0), (3, 1), (5, 1)]
        assert [(each.first, each.count, each.why.name) for each in gaps] == [
            (2, 1, "dropped"),
            (4, 1, "dropped"),
        ]
        (figures,) = publisher.stats().subscriptions
        assert (figures.delivered, figures.dropped) == (3, 2)


def test_what_is_kept_for_others_is_checked_when_it_is_published(
    publishing: Publishing, client: mf.Client
) -> None:
    books = events.AdditionsPublisher(publishing.topics).at("books")
    books.publish(indexed(1))
    with pytest.raises(mf.Error, match="doc") as raised:
        books.publish(indexed(-1))
    assert raised.value.code is Code.INVALID_ARGUMENT
    books.publish(indexed(2))
    got = taken(events.AdditionsSubscriber(client, "books"), 2)
    assert [(each.value.doc, each.sequence, each.missed) for each in got] == [(1, 1, 0), (2, 2, 0)]


@pytest.mark.parametrize("overflow", [mf.Overflow.block, mf.Overflow.disconnect])
def test_who_wants_all_gets_more_replayed_than_its_queue_holds(
    publishing: Publishing, client: mf.Client, overflow: mf.Overflow
) -> None:
    publisher = events.AdditionsPublisher(publishing.topics)
    for agent in ("books", "maps"):
        publisher.at(agent).publish_all(indexed(doc) for doc in range(20))
    options = mf.SubscribeOptions(max_messages=3, overflow=overflow)
    for source in (publishing.topics, client):
        subscriber = events.AdditionsSubscriber(source, "*", options)
        assert docs(taken(subscriber, 20)) == [*range(10, 20), *range(10, 20)]
        assert subscriber.stats().dropped == 0


def test_what_is_published_once_a_publisher_is_found_comes(publishing: Publishing) -> None:
    publisher = events.PointsPublisher(publishing.topics).at(1)
    for turn in range(20):
        with mf.Client(publishing.address) as client, events.PointsSubscriber(client, "*") as subscriber:
            assert subscriber.await_publishers(1, PATIENCE)
            publisher.publish(events.Point(turn, 0))
            assert subscriber.next(PATIENCE).value.x == turn


def test_a_callback_may_subscribe(publishing: Publishing, client: mf.Client) -> None:
    publisher = events.AdditionsPublisher(publishing.topics)
    outer = events.AdditionsSubscriber(client, "books")
    inner: list[Any] = []
    outer.on_message(lambda message: inner.append(events.AdditionsSubscriber(client, message.value.title)))
    publisher.at("maps").publish(indexed(5))
    publisher.at("books").publish(indexed(1, "maps"))
    assert eventually(lambda: len(inner) == 1, PATIENCE)
    assert docs(taken(inner[0], 1)) == [5]


@pytest.mark.parametrize("raised", [SystemExit(3), KeyboardInterrupt()])
def test_a_callback_that_would_end_its_thread_ends_nothing(
    publishing: Publishing, client: mf.Client, raised: BaseException
) -> None:
    publisher = events.AdditionsPublisher(publishing.topics)
    came: list[int] = []

    def leave(message: Any) -> None:
        came.append(message.value.doc)
        raise raised

    for source in (publishing.topics, client):
        with events.AdditionsSubscriber(source, "books", mf.SubscribeOptions(replay=0)) as subscriber:
            assert publisher.await_subscribers(1, PATIENCE)
            subscriber.on_message(leave)
            publisher.at("books").publish_all([indexed(1), indexed(2)])
            assert eventually(lambda: came == [1, 2], PATIENCE)
        came.clear()
        assert eventually(lambda: publisher.stats().subscriptions == [], PATIENCE)


def test_sources_of_publishers_that_have_gone_are_forgotten(
    publishing: Publishing, client: mf.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mf.topics.upstream._MOST_SOURCES", 2)
    events.AdditionsPublisher(publishing.topics).at("books").publish(indexed(0))
    subscriber = events.AdditionsSubscriber(client, "books")
    assert docs(taken(subscriber, 1)) == [0]
    for doc in range(1, 4):
        publishing.close()
        publishing.topics = mf.Topics()
        events.AdditionsPublisher(publishing.topics).at("books").publish(indexed(doc))
        publishing.start()
        assert docs(taken(subscriber, 1)) == [doc]


def test_a_publisher_that_is_not_there_yet_is_waited_for(publishing: Publishing, client: mf.Client) -> None:
    subscriber = events.EventsSubscriber(client)
    assert subscriber.poll(0.02) is None
    publisher = events.EventsPublisher(publishing.topics)
    assert publisher.await_subscribers(1, PATIENCE)
    publisher.publish(events.EventRemoved(1))
    assert subscriber.next(PATIENCE).value.value == 1


def test_several_publishers_at_several_addresses_are_one_stream() -> None:
    several = [Publishing("plain"), Publishing("async")]
    try:
        with mf.Client(",".join(each.address for each in several)) as client:
            publishers = [events.EventsPublisher(each.topics) for each in several]
            subscriber = events.EventsSubscriber(client)
            assert subscriber.await_publishers(2, PATIENCE)
            assert not subscriber.await_publishers(3, 0.001)
            for publisher in publishers:
                assert publisher.await_subscribers(1, PATIENCE)
                for number in range(10):
                    publisher.publish(events.EventRemoved(number))
            got = taken(subscriber, 20)
            for each in several:
                own = [one.sequence for one in got if one.publisher == each.topics.publisher]
                assert own == list(range(1, 11))
    finally:
        for each in several:
            each.close()


def test_a_client_that_is_closed_ends_its_subscribers(publishing: Publishing) -> None:
    client = mf.Client(publishing.address)
    subscriber = events.EventsSubscriber(client)
    publisher = events.EventsPublisher(publishing.topics)
    assert publisher.await_subscribers(1, PATIENCE)
    client.close()
    with pytest.raises(mf.Error) as raised:
        subscriber.next(PATIENCE)
    assert raised.value.code is Code.CANCELLED
    assert eventually(lambda: publisher.stats().subscriptions == [], PATIENCE)
    with pytest.raises(mf.Error, match="the client was closed") as raised:
        events.EventsSubscriber(client)
    assert raised.value.code is Code.CANCELLED


def test_what_is_no_source_of_messages_is_refused() -> None:
    with pytest.raises(mf.Error, match="messages come from topics or a client, not from a Light"):
        events.EventsSubscriber(mf.Light())


def test_a_subscriber_of_asyncio_gets_what_threads_publish(publishing: Publishing) -> None:
    publisher = events.AdditionsPublisher(publishing.topics)
    books = publisher.at("books")  # a publisher is found when it has an agent that matches

    async def program() -> list[int]:
        async with (
            mf.AsyncClient(publishing.address) as client,
            events.AdditionsAsyncSubscriber(client, "*") as subscriber,
        ):
            assert await subscriber.await_publishers(1, PATIENCE)
            assert await asyncio.to_thread(publisher.await_subscribers, 1, PATIENCE)
            books.publish_all(map(indexed, range(100)))
            got = []
            async for message in subscriber:
                got.append(message.value.doc)
                if len(got) == 100:
                    break
            return got

    assert asyncio.run(asyncio.wait_for(program(), 60)) == list(range(100))
    assert eventually(lambda: publisher.stats().subscriptions == [], PATIENCE)


def test_callbacks_run_on_the_clients_own_thread_in_order(publishing: Publishing, client: mf.Client) -> None:
    publisher = events.EventsPublisher(publishing.topics)
    subscriber = events.EventsSubscriber(client)
    got: list[tuple[int, str]] = []
    subscriber.on_message(lambda each: got.append((each.value.value, threading.current_thread().name)))
    assert publisher.await_subscribers(1, PATIENCE)
    for number in range(300):
        publisher.publish(events.EventRemoved(number))
    assert eventually(lambda: len(got) == 300, PATIENCE)
    assert got == [(number, "mf-client") for number in range(300)]
    subscriber.close()


def test_subscriptions_end_with_their_subscriber(publishing: Publishing, client: mf.Client) -> None:
    publisher = events.EventsPublisher(publishing.topics)
    subscriber = events.EventsSubscriber(client)
    assert publisher.await_subscribers(1, PATIENCE)
    publisher.publish(events.EventRemoved(1))
    subscriber.next(PATIENCE)
    assert left(subscriber) == []
    subscriber.close()
    assert eventually(lambda: publisher.stats().subscriptions == [], PATIENCE)


def test_who_may_not_subscribe_is_told_so_and_the_publisher_asks_with_the_peer() -> None:
    asked: list[mf.TopicAccess] = []

    def authorize(access: mf.TopicAccess) -> bool:
        asked.append(access)
        return access.agents != "secret"

    publishing = Publishing("plain", mf.TopicsOptions(authorize=authorize, max_subscriptions=1))
    try:
        publisher = events.AdditionsPublisher(publishing.topics)
        with mf.Client(publishing.address) as client:
            with pytest.raises(
                mf.Error, match=r'may not subscribe to events.Additions for "secret"'
            ) as raised:
                events.AdditionsSubscriber(client, "secret").next(PATIENCE)
            assert raised.value.code is Code.PERMISSION_DENIED
            assert asked[0][:2] == ("events.Additions", "secret")
            assert asked[0].peer.startswith("tcp://127.0.0.1:")
            assert not asked[0].identity.known
            first = events.AdditionsSubscriber(client, "*")
            assert publisher.await_subscribers(1, PATIENCE)
            second = events.AdditionsSubscriber(client, "*", mf.SubscribeOptions(max_messages=7))
            assert eventually(lambda: publisher.stats().refused >= 3, PATIENCE)
            first.close()
            assert eventually(lambda: len(publisher.stats().subscriptions) == 1, PATIENCE)
            publisher.at("books").publish(indexed(1))
            assert docs(taken(second, 1)) == [1]
    finally:
        publishing.close()


def test_a_subscription_that_the_server_denies_reaches_no_publisher(
    tmp_path: Path,
) -> None:
    own = f"uid:{os.geteuid()}"
    rules = tmp_path / "access.conf"
    rules.write_text(f"allow {own} subscribe events.Additions per public.*\n")
    seen: list[mf.TopicAccess] = []
    asked: list[tuple[str, ...]] = []

    def may_subscribe(access: mf.TopicAccess) -> bool:
        seen.append(access)
        return True

    def authorize(identity: mf.Identity, service: str, agent: str, method: str) -> bool:
        asked.append((str(identity), service, agent, method))
        return agent != "public.none"

    with mf.Topics(mf.TopicsOptions(authorize=may_subscribe)) as topics:
        publisher = events.AdditionsPublisher(topics)
        server = mf.Server(f"unix:{tmp_path}/s", access=str(rules), authorize=authorize)
        server.offer(topics)
        server.start()
        with mf.Client(server.address) as client:
            for agents in ("*", "secret.a", "public.none"):
                with pytest.raises(mf.Error, match=f"{own} may not subscribe to events.Additions") as denied:
                    events.AdditionsSubscriber(client, agents).next(PATIENCE)
                assert denied.value.code is Code.PERMISSION_DENIED
            assert seen == []
            subscriber = events.AdditionsSubscriber(client, "public.*")
            assert publisher.await_subscribers(1, PATIENCE)
            publisher.at("public.a").publish(indexed(1))
            assert docs(taken(subscriber, 1)) == [1]
            subscriber.close()
        server.stop()
    assert [str(each.identity) for each in seen] == [own, own]
    assert asked == [(own, "events.Additions", each, "subscribe") for each in ("public.none", "public.*")]


def test_a_flood_of_subscriptions_of_one_connection_is_refused_and_the_others_go_on(
    publishing: Publishing, client: mf.Client
) -> None:
    publisher = events.EventsPublisher(publishing.topics)
    subscriber = events.EventsSubscriber(client)
    assert publisher.await_subscribers(1, PATIENCE)
    with mf.Client(publishing.address) as flooding:
        bounds = [mf.SubscribeOptions(max_messages=100 + each) for each in range(200)]
        flood = [events.EventsSubscriber(flooding, each) for each in bounds]
        assert publisher.await_subscribers(2, PATIENCE)
        publisher.publish(events.EventRemoved(1))
        assert subscriber.next(PATIENCE).value.value == 1
        assert len(publisher.stats().subscriptions) <= 201
        for each in flood:
            each.close()
    assert eventually(lambda: len(publisher.stats().subscriptions) == 1, PATIENCE)


def test_a_client_that_is_dropped_leaves_no_thread_but_its_subscribers_go_on(publishing: Publishing) -> None:
    publisher = events.OrdersPublisher(publishing.topics)
    threads = set(threading.enumerate())

    def subscribed() -> Any:
        subscriber = events.OrdersSubscriber(mf.Client(publishing.address))
        gc.collect()
        return subscriber

    subscriber = subscribed()
    assert publisher.await_subscribers(1, PATIENCE)
    publisher.publish(indexed(1))
    assert subscriber.next(PATIENCE).value.doc == 1
    del subscriber

    def ended() -> bool:
        gc.collect()
        left = set(threading.enumerate()) - threads
        return not any(each.name == "mf-client" for each in left)

    assert eventually(ended)


def test_a_subscription_refused_while_the_topics_close_is_told_so_without_a_traceback(
    publishing: Publishing, client: mf.Client, caplog: pytest.LogCaptureFixture
) -> None:
    publisher = events.OrdersPublisher(publishing.topics)
    publishing.topics.close()
    subscriber = events.OrdersSubscriber(client)
    assert eventually(lambda: publisher.stats().refused > 0)
    subscriber.close()
    assert not [each for each in caplog.records if each.exc_info]
