"""Topics within a process: sharing, order, replay, policies, waiting, counters, mistakes."""

import asyncio
import gc
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import mf
from mf.core.error import Code, Execution
from mf.core.peers import own_identity
from mf.topics.pattern import pattern_matches
from tests.python.conftest import eventually
from tests.python.topics.made import PATIENCE, docs, events, indexed, left, taken


def test_subscribers_share_one_value_that_nobody_has_serialized() -> None:
    with mf.Topics() as topics:
        publisher = events.AdditionsPublisher(topics)
        one, two = (events.AdditionsSubscriber(topics, "books") for _ in range(2))
        value = indexed(7, "seven")
        publisher.at("books").publish(value)
        first, second = one.next(PATIENCE), two.next(PATIENCE)
        assert first.value is value
        assert second.value is value
        assert (first.topic, first.agent, first.sequence, first.missed) == ("events.Additions", "books", 1, 0)
        assert first.publisher == topics.publisher
        assert abs(mf.Timestamp.now() - first.time) < 3600 * 10**9
        assert publisher.stats().encoded == 0


def test_a_message_is_changed_in_a_copy_of_ones_own_which_is_counted() -> None:
    with mf.Topics() as topics:
        publisher = events.AdditionsPublisher(topics)
        one, two = (events.AdditionsSubscriber(topics, "books") for _ in range(2))
        publisher.at("books").publish(indexed(7, "seven"))
        changed = one.next(PATIENCE).mutate()
        changed.title = "eight"
        assert two.next(PATIENCE).value.title == "seven"
        assert publisher.stats().copied == 1


def test_a_value_is_copied_where_it_is_published_if_that_is_asked_for() -> None:
    with mf.Topics() as topics:
        subscriber = events.AdditionsSubscriber(topics, "books")
        value = indexed(7, "seven")
        events.AdditionsPublisher(topics).at("books").publish(value, copy=True)
        value.title = "eight"
        assert subscriber.next(PATIENCE).value.title == "seven"


def test_agents_have_numbers_of_their_own_and_patterns_match_them() -> None:
    with mf.Topics() as topics:
        publisher = events.AdditionsPublisher(topics)
        subscribers = {
            each: events.AdditionsSubscriber(topics, each)
            for each in ("eu.fr.books", "eu.*.books", "eu.*", "*")
        }
        for doc, agent in enumerate(("eu.fr.books", "eu.de.books", "eu.de", "us.books", "eu.fr.books")):
            publisher.at(agent).publish(indexed(doc))
        got = {pattern: left(each) for pattern, each in subscribers.items()}
        assert {pattern: docs(each) for pattern, each in got.items()} == {
            "eu.fr.books": [0, 4],
            "eu.*.books": [0, 1, 4],
            "eu.*": [0, 1, 2, 4],
            "*": [0, 1, 2, 3, 4],
        }
        assert [each.sequence for each in got["eu.fr.books"]] == [1, 2]


@pytest.mark.parametrize(
    ("pattern", "agent", "matches"),
    [
        ("a.b", "a.b", True),
        ("a.*", "a.b", True),
        ("a.*", "a.b.c", True),
        ("a.*", "a", False),
        ("*.b", "a.b", True),
        ("*.b", "a.c.b", False),
        ("*.*", "a", False),
        ("a.*.c", "a.b.c", True),
        ("a.*.c", "a.b.d", False),
        ("*", "a.b.c", True),
        ("", "", True),
        ("*", "", False),
        ("a..b", "a..b", True),
        ("a.*.b", "a..b", True),
    ],
)
def test_segments_of_a_pattern_stand_for_whole_segments(pattern: str, agent: str, matches: bool) -> None:
    assert pattern_matches(pattern, agent) is matches


def test_agents_of_other_types_go_by_their_text() -> None:
    with mf.Topics() as topics:
        subscriber = events.PointsSubscriber(topics, events.Shelf.high)
        publisher = events.PointsPublisher(topics)
        publisher.at(events.Shelf.low).publish(events.Point(1, 2))
        publisher.at(events.Shelf.high).publish(events.Point(3, 4))
        (message,) = left(subscriber)
        assert (message.agent, message.value) == ("high", events.Point(3, 4))


def test_a_member_of_an_enum_is_named_or_given_and_shown_by_its_name() -> None:
    with mf.Topics() as topics:
        publisher = events.PointsPublisher(topics)
        by_name = events.PointsSubscriber(topics, "high", mf.SubscribeOptions(max_messages=1))
        by_number = events.PointsSubscriber(topics, "2")
        gaps: list[mf.Gap] = []
        by_name.on_gap(gaps.append)
        publisher.at("high").publish(events.Point(1, 2))
        publisher.at(events.Shelf.high).publish(events.Point(3, 4))
        assert [each.agent for each in left(by_name) + left(by_number)] == ["high", "high", "high"]
        assert [(each.agent, each.count) for each in gaps] == [("high", 1)]
        stats = publisher.stats()
        assert [each.agent for each in stats.agents] == ["high"]
        assert [each.agents for each in stats.subscriptions] == ["high", "high"]


@pytest.mark.parametrize("agent", ["hihg", 9, -1, "eu.*", "02"])
def test_what_no_agent_of_the_topic_can_be_is_refused(agent: Any) -> None:
    refusal = f'topic events.Points has agents of type events.Shelf, and "{agent}" is none'
    with mf.Topics() as topics:
        with pytest.raises(mf.Error) as raised:
            events.PointsSubscriber(topics, agent)
        assert (raised.value.code, raised.value.message) == (Code.INVALID_ARGUMENT, refusal)
        with pytest.raises(mf.Error) as raised:
            events.PointsPublisher(topics).at(agent)
        assert raised.value.code is Code.INVALID_ARGUMENT
        assert "*" in str(agent) or raised.value.message == refusal


def test_late_joiners_get_what_the_topic_keeps_and_no_more_than_they_ask_for() -> None:
    with mf.Topics() as topics:
        books = events.AdditionsPublisher(topics).at("books")
        books.publish_all(indexed(doc) for doc in range(25))
        late = events.AdditionsSubscriber(topics, "books")
        few = events.AdditionsSubscriber(topics, "books", mf.SubscribeOptions(replay=2))
        none = events.AdditionsSubscriber(topics, "books", mf.SubscribeOptions(replay=0))
        books.publish(indexed(25))
        assert docs(left(late)) == list(range(15, 26))
        assert docs(left(few)) == [23, 24, 25]
        (message,) = left(none)
        assert (message.sequence, message.missed) == (26, 0)


def test_what_does_not_fit_is_dropped_and_both_sides_count_it() -> None:
    with mf.Topics() as topics:
        publisher = events.EventsPublisher(topics)
        options = [
            mf.SubscribeOptions(max_messages=4, overflow=each)
            for each in (mf.Overflow.drop_oldest, mf.Overflow.drop_newest)
        ]
        oldest, newest = (events.EventsSubscriber(topics, each) for each in options)
        gaps: list[tuple[int, int, mf.Why]] = []
        oldest.on_gap(lambda gap: gaps.append((gap.first, gap.count, gap.why)))
        for doc in range(10):
            publisher.publish(events.EventRemoved(doc))
        assert [(each.value.value, each.missed) for each in left(oldest)] == [(6, 6), (7, 0), (8, 0), (9, 0)]
        assert gaps == [(1, 6, mf.Why.dropped)]
        assert [each.value.value for each in left(newest)] == [0, 1, 2, 3]
        publisher.publish(events.EventRemoved(10))
        assert [(each.value.value, each.missed) for each in left(newest)] == [(10, 6)]
        for subscriber, seen in zip((oldest, newest), publisher.stats().subscriptions, strict=True):
            figures = subscriber.stats()
            assert (figures.received + figures.queued, figures.dropped) == (5, 6)
            assert (seen.delivered + seen.queued, seen.dropped) == (5, 6)


def test_who_blocks_has_its_publisher_wait_until_there_is_room_and_loses_nothing() -> None:
    with mf.Topics() as topics:
        publisher = events.OrdersPublisher(topics)
        subscriber = events.OrdersSubscriber(topics, mf.SubscribeOptions(max_messages=2))
        thread = threading.Thread(target=lambda: publisher.publish_all(map(indexed, range(100))))
        thread.start()
        assert docs(taken(subscriber, 100)) == list(range(100))
        thread.join(PATIENCE)
        assert not thread.is_alive()
        (seen,) = publisher.stats().subscriptions
        assert (seen.delivered, seen.dropped, seen.overflow) == (100, 0, mf.Overflow.block)


def test_a_message_waits_for_room_until_its_deadline_and_nobody_gets_it_then() -> None:
    with mf.Topics() as topics:
        publisher = events.OrdersPublisher(topics)
        one = events.OrdersSubscriber(topics, mf.SubscribeOptions(max_messages=1))
        two = events.OrdersSubscriber(topics)
        publisher.publish(indexed(1))
        with pytest.raises(mf.Error) as raised:
            publisher.publish(indexed(2), mf.PublishOptions(deadline=0.01))
        assert (raised.value.code, raised.value.execution) == (
            Code.DEADLINE_EXCEEDED,
            Execution.NOT_EXECUTED,
        )
        assert docs(left(two)) == [1]
        assert docs(left(one)) == [1]
        publisher.publish(indexed(3))
        (message,) = left(one)
        assert (message.value.doc, message.sequence, message.missed) == (3, 2, 0)


def test_who_asked_to_be_disconnected_gets_what_there_was_and_then_is_told() -> None:
    with mf.Topics() as topics:
        publisher = events.OrdersPublisher(topics)
        options = mf.SubscribeOptions(max_messages=1, overflow=mf.Overflow.disconnect)
        subscriber = events.OrdersSubscriber(topics, options)
        publisher.publish_all(map(indexed, range(3)))
        assert subscriber.next(PATIENCE).value.doc == 0
        with pytest.raises(mf.Error, match="asked to be disconnected") as raised:
            subscriber.next(PATIENCE)
        assert raised.value.code is Code.OVERLOADED
        (seen,) = publisher.stats().subscriptions
        assert (seen.delivered, seen.dropped, subscriber.stats().dropped) == (1, 0, 0)
        subscriber.close()
        assert publisher.stats().cut == 1


def test_what_waits_when_a_subscription_ends_is_dropped_and_the_publisher_keeps_the_sums() -> None:
    with mf.Topics() as topics:
        publisher = events.EventsPublisher(topics)
        last: list[mf.SubscriptionStats] = []
        publisher.on_unmatched(last.append)
        for count in (5, 3):
            subscriber = events.EventsSubscriber(topics)
            publisher.publish_all(map(events.EventRemoved, range(count)))
            taken(subscriber, 2)
            subscriber.close()
        assert eventually(lambda: len(last) == 2, PATIENCE)
        assert [(each.delivered, each.dropped, each.queued) for each in last] == [(2, 3, 0), (2, 1, 0)]
        ended = publisher.stats().ended
        assert (ended.subscriptions, ended.delivered, ended.dropped, ended.not_kept) == (2, 4, 4, 0)


def test_a_publisher_is_not_made_of_a_client() -> None:
    with (
        mf.Client("tcp://127.0.0.1:1") as client,
        pytest.raises(
            mf.Error, match="publishes in topics, which a server offers: not in a Client"
        ) as raised,
    ):
        events.EventsPublisher(client)
    assert raised.value.code is Code.INVALID_ARGUMENT


@pytest.mark.parametrize(
    ("make", "code", "words"),
    [
        (
            lambda t: events.AdditionsSubscriber(t, ""),
            Code.INVALID_ARGUMENT,
            'has agents: say which, "*" for',
        ),
        (lambda t: events.AdditionsSubscriber(t, "a.b*"), Code.INVALID_ARGUMENT, "'*' matches a whole"),
        (
            lambda t: events.OrdersSubscriber(t, mf.SubscribeOptions(overflow=mf.Overflow.drop_oldest)),
            Code.INVALID_ARGUMENT,
            "topic events.Orders does not allow overflow drop_oldest, but block, disconnect",
        ),
        (lambda t: events.AdditionsPublisher(t).at(""), Code.INVALID_ARGUMENT, "say of which a message is"),
        (lambda t: events.AdditionsPublisher(t).at("a.*"), Code.INVALID_ARGUMENT, "has no '*'"),
        (
            lambda t: events.AdditionsPublisher(t).at("x" * 2000),
            Code.INVALID_ARGUMENT,
            "at most 1024 bytes, not 2000",
        ),
        (lambda t: events.OrdersPublisher(t).publish(None), Code.INVALID_ARGUMENT, "Indexed"),
        (
            lambda t: events.OrdersPublisher(t).publish(events.Point(1, 2)),
            Code.INVALID_ARGUMENT,
            "Indexed",
        ),
        (
            lambda t: events.OrdersPublisher(t).publish(indexed(1, "x" * 1_000_001)),
            Code.INVALID_ARGUMENT,
            "title",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_words(make: Any, code: Code, words: str) -> None:
    with mf.Topics() as topics:
        with pytest.raises(mf.Error) as raised:
            make(topics)
        assert raised.value.code is code
        assert words in raised.value.message


def test_there_are_only_so_many_subscriptions_and_not_everybody_may_have_one() -> None:
    asked: list[mf.TopicAccess] = []

    def authorize(access: mf.TopicAccess) -> bool:
        asked.append(access)
        return access.agents != "secret"

    with mf.Topics(mf.TopicsOptions(max_subscriptions=2, authorize=authorize)) as topics:
        publisher = events.AdditionsPublisher(topics)
        kept = [events.AdditionsSubscriber(topics, "*") for _ in range(2)]
        with pytest.raises(mf.Error, match="has 2 subscriptions, the most") as raised:
            events.AdditionsSubscriber(topics, "*")
        assert raised.value.code is Code.OVERLOADED
        with pytest.raises(mf.Error, match=r'may not subscribe to events.Additions for "secret"') as raised:
            events.AdditionsSubscriber(topics, "secret")
        assert raised.value.code is Code.PERMISSION_DENIED
        assert asked[0] == mf.TopicAccess("events.Additions", "*", "", identity=own_identity())
        assert publisher.stats().refused == 2
        kept[0].close()
        events.AdditionsSubscriber(topics, "*").close()


def test_the_end_of_the_topics_ends_iteration_behind_what_was_there() -> None:
    topics = mf.Topics()
    subscriber = events.EventsSubscriber(topics)
    events.EventsPublisher(topics).publish(events.EventRemoved(1))
    topics.close()
    assert [each.value.value for each in subscriber] == [1]
    with pytest.raises(mf.Error) as raised:
        subscriber.next()
    assert raised.value.code is Code.SHUTTING_DOWN
    subscriber.close()
    with pytest.raises(mf.Error, match="was closed") as raised:
        subscriber.next()
    assert raised.value.code is Code.CANCELLED


def test_a_loop_ends_where_its_subscriber_is_closed() -> None:
    with mf.Topics() as topics:
        publisher, subscriber = events.EventsPublisher(topics), events.EventsSubscriber(topics)
        publisher.publish_all(map(events.EventRemoved, range(3)))
        seen = []
        for message in subscriber:
            seen.append(message.value.value)
            subscriber.close()
        assert seen == [0]
        assert list(subscriber) == []

        async def program() -> list[int]:
            awaited = events.EventsAsyncSubscriber(topics)
            publisher.publish_all(map(events.EventRemoved, range(3)))
            seen = []
            async for message in awaited:
                seen.append(message.value.value)
                awaited.close()
            return seen

        assert asyncio.run(asyncio.wait_for(program(), 60)) == [0]


def test_publishers_hear_of_subscriptions_and_can_wait_for_them() -> None:
    with mf.Topics() as topics:
        publisher = events.EventsPublisher(topics)
        heard: list[tuple[str, str, int]] = []
        publisher.on_matched(lambda each: heard.append(("matched", each.agents, each.delivered)))
        publisher.on_unmatched(lambda each: heard.append(("unmatched", each.agents, each.delivered)))
        assert not publisher.await_subscribers(1, 0.001)
        thread = threading.Thread(
            target=lambda: heard.append(("awaited", "", publisher.await_subscribers(1, PATIENCE)))
        )
        thread.start()
        subscriber = events.EventsSubscriber(topics)
        thread.join(PATIENCE)
        publisher.publish(events.EventRemoved(1))
        subscriber.next(PATIENCE)
        subscriber.close()
        assert eventually(lambda: len(heard) == 3)
        assert sorted(heard) == [("awaited", "", True), ("matched", "", 0), ("unmatched", "", 1)]


def test_callbacks_get_the_messages_in_order_until_close() -> None:
    with mf.Topics() as topics:
        publisher = events.EventsPublisher(topics)
        subscriber = events.EventsSubscriber(topics)
        got: list[int] = []
        subscriber.on_message(lambda message: got.append(message.value.value))
        with pytest.raises(mf.Error, match="called before"):
            subscriber.on_message(print)
        for number in range(500):
            publisher.publish(events.EventRemoved(number))
        assert eventually(lambda: len(got) == 500, PATIENCE)
        subscriber.close()
        publisher.publish(events.EventRemoved(500))
        assert got == list(range(500))


def test_messages_of_several_threads_are_in_one_order_for_all() -> None:
    with mf.Topics() as topics:
        publisher = events.EventsPublisher(topics)
        one, two = (events.EventsSubscriber(topics, mf.SubscribeOptions(max_messages=0)) for _ in range(2))

        def publish(start: int) -> None:
            for number in range(start, start + 500):
                publisher.publish(events.EventRemoved(number))

        threads = [threading.Thread(target=publish, args=(each * 1000,)) for each in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        first, second = left(one), left(two)
        assert [each.sequence for each in first] == list(range(1, 2001))
        assert [each.value.value for each in first] == [each.value.value for each in second]
        for start in range(0, 4000, 1000):
            of_one = [each.value.value for each in first if start <= each.value.value < start + 500]
            assert of_one == list(range(start, start + 500))


def test_tasks_publish_and_subscribe_as_threads_do() -> None:
    async def program() -> list[int]:
        with mf.Topics() as topics:
            publisher = events.OrdersAsyncPublisher(topics)
            async with events.OrdersAsyncSubscriber(
                topics, mf.SubscribeOptions(max_messages=2)
            ) as subscriber:
                assert await publisher.await_subscribers(1, PATIENCE)
                assert await subscriber.poll(0.001) is None
                with pytest.raises(mf.Error) as raised:
                    await subscriber.next(0.001)
                assert raised.value.code is Code.DEADLINE_EXCEEDED
                feeding = asyncio.ensure_future(publisher.publish_all(map(indexed, range(50))))
                got = [(await subscriber.next(PATIENCE)).value.doc for _ in range(50)]
                await feeding
                await publisher.publish_all(map(indexed, range(2)))
                with pytest.raises(mf.Error) as late:
                    await publisher.publish(indexed(9), mf.PublishOptions(deadline=0.001))
                assert late.value.code is Code.DEADLINE_EXCEEDED
                assert late.value.message == (
                    "the subscriber of events.Orders in this process, which blocks, has had no room until "
                    "the deadline: its queue holds 2 of 2 messages and 0 of 8388608 bytes"
                )
                topics.close()
                assert [message.value.doc async for message in subscriber] == [0, 1]
                return got

    assert asyncio.run(asyncio.wait_for(program(), 60)) == list(range(50))


def test_a_subscriber_that_is_dropped_holds_up_nobody() -> None:
    with mf.Topics() as topics:
        publisher = events.OrdersPublisher(topics)
        subscriber = events.OrdersSubscriber(topics, mf.SubscribeOptions(max_messages=1))
        publisher.publish(indexed(1))
        del subscriber
        publisher.publish(indexed(2), mf.PublishOptions(deadline=PATIENCE))
        assert eventually(lambda: publisher.stats().subscriptions == [], PATIENCE)


def test_one_process_has_a_topic_of_one_schema() -> None:
    other = mf.TopicInfo(
        name="events.Events",
        agent=None,
        codec=events.POINT_CODEC,
        descriptor="topic events.Events\n",
        fingerprint=b"x" * 16,
    )

    class Other(events.EventsPublisher):  # type: ignore[misc]
        mf_topic = other

    with mf.Topics() as topics:
        events.EventsPublisher(topics)
        with pytest.raises(mf.Error, match="from two different schemas") as raised:
            Other(topics)
        assert raised.value.code is Code.SCHEMA_MISMATCH


def test_who_only_keeps_values_of_a_schema_with_topics_imports_neither_sockets_nor_asyncio() -> None:
    program = (
        "import sys, events; events.Indexed(1, 'x'); "
        "print([each for each in ('asyncio', 'socket', 'ssl') if each in sys.modules])"
    )
    folder = str(Path(events.__file__).parents[1])
    path = os.pathsep.join((folder, str(Path(mf.__file__).parents[1])))
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "[]\n"


def test_a_child_of_a_fork_has_its_own_callbacks() -> None:
    with mf.Topics() as topics:
        publisher = events.AdditionsPublisher(topics).at("books")
        before = events.AdditionsSubscriber(topics, "books")
        came = threading.Event()
        before.on_message(lambda _: came.set())
        publisher.publish(indexed(1))
        assert came.wait(PATIENCE)
        child = os.fork()
        if child == 0:  # it leaves by _exit(), whatever happens
            try:
                called = threading.Event()
                within = events.AdditionsSubscriber(topics, "books")  # for as long as it is held
                within.on_message(lambda _: called.set())
                publisher.publish(indexed(2))
                os._exit(0 if called.wait(PATIENCE) else 1)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_topics_that_are_dropped_leave_no_thread() -> None:
    threads = set(threading.enumerate())

    def used() -> None:
        topics = mf.Topics()
        publisher = events.OrdersPublisher(topics)
        matched = threading.Event()
        publisher.on_matched(lambda _: matched.set())
        events.OrdersSubscriber(topics).close()
        assert matched.wait(PATIENCE)

    used()

    def ended() -> bool:
        gc.collect()
        return not any(each.name == "mf-topics" for each in set(threading.enumerate()) - threads)

    assert eventually(ended)


def test_nothing_is_published_after_the_topics_were_closed() -> None:
    topics = mf.Topics()
    orders, additions = events.OrdersPublisher(topics), events.AdditionsPublisher(topics)
    topics.close()
    with pytest.raises(mf.Error, match="have been closed") as raised:
        orders.publish(indexed(1))
    assert raised.value.code is Code.SHUTTING_DOWN
    with pytest.raises(mf.Error, match="have been closed"):
        additions.at("books")


def test_who_may_publish_is_asked_once_for_each_agent() -> None:
    asked: list[mf.TopicAccess] = []

    def authorize(access: mf.TopicAccess) -> bool:
        asked.append(access)
        return access.agents != "secret"

    with mf.Topics(mf.TopicsOptions(authorize=authorize)) as topics:
        additions = events.AdditionsPublisher(topics)
        additions.at("books").publish(indexed(1))
        additions.at("books").publish(indexed(2))
        with pytest.raises(mf.Error, match="may not publish") as raised:
            additions.at("secret")
    assert raised.value.code is Code.PERMISSION_DENIED
    assert [(each.agents, each.action) for each in asked] == [
        ("books", mf.TopicAction.PUBLISH),
        ("secret", mf.TopicAction.PUBLISH),
    ]


def test_a_policy_that_is_none_is_refused_in_words() -> None:
    with pytest.raises(TypeError, match="overflow is 'block': give one of"):
        mf.SubscribeOptions(overflow="block")  # type: ignore[arg-type]
