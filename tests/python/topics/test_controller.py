"""Publishers that subscribers find through a controller."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

import mf
from mf.topics import hub
from tests.python.conftest import eventually
from tests.python.controller.test_controller import Running
from tests.python.serving import LoopServer
from tests.python.topics.made import PATIENCE, docs, events, indexed, taken


@pytest.fixture
def controller() -> Iterator[Running]:
    running = Running()
    yield running
    running.stop()


class Publishing:
    """Topics of a process, registered."""

    def __init__(self, controller: str, kind: str) -> None:
        make: Any = mf.Server if kind == "plain" else LoopServer
        self.topics = mf.Topics()
        self.additions = events.AdditionsPublisher(self.topics)
        self.server = make("tcp://127.0.0.1:0", controller, mf.ServerOptions(drain_timeout=2.0))
        self.server.offer(self.topics)
        self.server.start()

    def close(self) -> None:
        self.server.stop()
        self.topics.close()


@pytest.fixture(params=["plain", "async"])
def start(request: pytest.FixtureRequest, controller: Running) -> Iterator[Any]:
    with ExitStack() as stack:

        def one() -> Publishing:
            made = Publishing(controller.address, request.param)
            stack.callback(made.close)
            return made

        yield one


def test_subscribers_follow_the_publishers_of_what_they_want(controller: Running, start: Any) -> None:
    one, other = start(), start()
    one.additions.at("eu.books")
    other.additions.at("us.books")
    with mf.Client(controller.address) as client:
        europe = events.AdditionsSubscriber(client, "eu.*")
        whole = events.AdditionsSubscriber(client, "*")
        assert europe.await_publishers(1, PATIENCE)
        assert whole.await_publishers(2, PATIENCE)
        assert one.additions.await_subscribers(2, PATIENCE)
        assert other.additions.await_subscribers(1, PATIENCE)
        third = start()
        third.additions.at("eu.maps").publish(indexed(3))
        one.additions.at("eu.books").publish(indexed(1))
        other.additions.at("us.books").publish(indexed(2))
        assert sorted(docs(taken(europe, 2))) == [1, 3]
        assert sorted(docs(taken(whole, 3))) == [1, 2, 3]
        assert europe.stats().publishers == 2


def test_a_publisher_that_comes_back_elsewhere_is_found_again(controller: Running, start: Any) -> None:
    first = start()
    first.additions.at("books").publish(indexed(1))
    with mf.Client(controller.address) as client:
        subscriber = events.AdditionsSubscriber(client, "books")
        assert docs(taken(subscriber, 1)) == [1]
        first.close()
        second = start()
        second.additions.at("books").publish(indexed(2))
        assert docs(taken(subscriber, 1)) == [2]


def test_the_controller_may_be_away_while_messages_go_on(controller: Running, start: Any) -> None:
    one = start()
    books = one.additions.at("books")
    with mf.Client(controller.address) as client:
        subscriber = events.AdditionsSubscriber(client, "*")
        assert one.additions.await_subscribers(1, PATIENCE)
        controller.stop()
        books.publish_all(map(indexed, range(10)))
        assert docs(taken(subscriber, 10)) == list(range(10))
        controller.start()
        other = start()
        other.additions.at("maps").publish(indexed(10))
        assert docs(taken(subscriber, 1)) == [10]
        books.publish(indexed(11))
        assert docs(taken(subscriber, 1)) == [11]
        assert subscriber.stats().dropped == subscriber.stats().not_kept == 0


def test_a_topic_of_too_many_agents_is_one_offer_that_matches_all(
    controller: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "_MOST_LISTED", 20)
    one = Publishing(controller.address, "plain")
    try:
        for number in range(21):
            one.additions.at(f"c{number}")
        assert one.topics.published() == [("events.Additions", "*")]
        with mf.Client(controller.address) as client:
            subscriber = events.AdditionsSubscriber(client, "c20")
            assert one.additions.await_subscribers(1, PATIENCE)
            one.additions.at("c20").publish(indexed(7))
            assert docs(taken(subscriber, 1)) == [7]
    finally:
        one.close()


def test_a_client_of_asyncio_finds_them_too(controller: Running, start: Any) -> None:
    one = start()
    one.additions.at("books")

    async def program() -> int:
        async with mf.AsyncClient(controller.address) as client:
            subscriber = events.AdditionsAsyncSubscriber(client, "*")
            assert await asyncio.to_thread(one.additions.await_subscribers, 1, PATIENCE)
            one.additions.at("books").publish(indexed(5))
            message = await subscriber.next(PATIENCE)
            doc: int = message.value.doc
            return doc

    assert asyncio.run(asyncio.wait_for(program(), 60)) == 5
    assert eventually(lambda: one.additions.stats().subscriptions == [], PATIENCE)
