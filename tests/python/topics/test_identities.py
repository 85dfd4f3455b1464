"""Whose messages are whose: publishers that are found twice, that come back, and that claim to be another.
The same as tests/cpp/topics/identities_test.cpp."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Event
from typing import Any
from uuid import UUID

import pytest

import mf
from mf.core.error import Error
from mf.core.service import Encoded
from mf.core.source import OfferSource, Pushing, PushServant, PushSource
from mf.topics._generated.mf.topics._methods import ANY_TOPIC_SUBSCRIBE
from mf.topics._generated.mf.topics._types import (
    DeliveryMessage,
    DeliveryMissed,
    DeliverySource,
    Message,
    Missed,
    Source,
    Why,
)
from tests.python.conftest import eventually
from tests.python.topics.made import PATIENCE, events, indexed, taken
from tests.python.topics.test_remote import Publishing

LAST = 1 << 48
SELF = UUID(int=7)
assert ANY_TOPIC_SUBSCRIBE.result_element is not None
ENCODE: Callable[[Any], Encoded] = ANY_TOPIC_SUBSCRIBE.result_element.encode


def source(publisher: UUID = SELF, next_: int = 1) -> Any:
    return DeliverySource(Source(0, publisher, "here", next_, next_, 10))


def message(sequence: int, doc: int = 0) -> Any:
    payload = bytes(events.INDEXED_CODEC.encode(indexed(doc)))
    return DeliveryMessage(Message(0, sequence, mf.Timestamp.now(), payload))


def missed(first: int, count: int) -> Any:
    return DeliveryMissed(Missed(first, count, 0, Why.dropped))


class _Lies(PushSource):
    def __init__(self, lies: Iterable[Any], begin: Event, ends: Event) -> None:
        self._lies = iter(lies)
        self._begin = begin
        self._ends = ends

    def take(self) -> Encoded | Error | None:
        lie = next(self._lies, None) if self._begin.is_set() else None
        if lie is None and self._ends.is_set():
            return Error(mf.Code.SHUTTING_DOWN, "it is enough", mf.Execution.UNKNOWN)
        return None if lie is None else ENCODE(lie)

    def instead(self) -> Encoded | None:
        return None

    def held_bytes(self) -> int:
        return 0

    def failure(self) -> Error | None:
        return None

    def gone(self) -> None:
        pass


class Liar(OfferSource, PushServant):
    """Sends what it is given to each of its subscribers once the test lets it begin; the first subscription
    ends when the test ends it."""

    def __init__(self, *lies: Any, waits: bool = False) -> None:
        self.mf_service = events.AdditionsPublisher.mf_topic.service
        self.times = 0
        self._lies = lies
        self._begin, self._first_ends = Event(), Event()
        self._pushes: list[Pushing] = []
        if not waits:
            self._begin.set()

    def begin(self) -> None:
        self._begin.set()
        self._kick()

    def end_first(self) -> None:
        self._first_ends.set()
        self._kick()

    def _kick(self) -> None:
        for push in self._pushes:
            push.kick()

    def servant(self, name: str) -> PushServant | None:
        return self if name == self.mf_service.name else None

    def published(self) -> Iterable[tuple[str, str]]:
        return [(self.mf_service.name, "here")]

    def listen(self, changed: Callable[[], None]) -> None:
        pass

    def subscribe(self, push: Pushing, *arguments: Any) -> PushSource:  # noqa: ARG002
        self.times += 1
        self._pushes.append(push)
        return _Lies(self._lies, self._begin, self._first_ends if self.times == 1 else Event())


@contextmanager
def served(offer: Any) -> Iterator[str]:
    server = mf.Server("tcp://127.0.0.1:0", options=mf.ServerOptions(drain_timeout=0.5))
    server.offer(offer)
    server.start()
    try:
        yield server.address
    finally:
        server.stop()


def test_a_process_that_is_found_twice_delivers_once_and_goes_on_wherever_it_is_left() -> None:
    one = Publishing("plain")
    two = Publishing("async")
    two.stop()
    two.topics = one.topics
    two.start()
    number = 0
    additions = events.AdditionsPublisher(one.topics)
    here = additions.at("here")

    def publish() -> list[int]:
        nonlocal number
        here.publish_all(indexed(each) for each in range(3))
        number += 3
        return [number - 2, number - 1, number]

    try:
        with mf.Client(f"{one.address},{two.address}") as client:
            subscriber = events.AdditionsSubscriber(client, "*")
            assert additions.await_subscribers(2, PATIENCE)
            expected = publish()
            assert [each.sequence for each in taken(subscriber, 3)] == expected
            assert eventually(lambda: subscriber.stats().duplicates == 3, PATIENCE)
            for each in (one, two):  # whichever of them was listened to: each is away once
                each.stop()
                expected = publish()
                assert [each.sequence for each in taken(subscriber, 3)] == expected
                each.start()
                assert additions.await_subscribers(2, PATIENCE)
                assert subscriber.stats().publishers == 1, "they are one process"
            stats = subscriber.stats()
            assert (stats.received, stats.not_kept, stats.upstream, stats.dropped) == (9, 0, 0, 0)
    finally:
        one.close()
        two.close()


def test_who_names_anothers_identity_neither_speaks_for_it_nor_silences_it() -> None:
    true_one = Publishing("plain")
    here = events.AdditionsPublisher(true_one.topics).at("here")
    liar = Liar(source(true_one.topics.publisher), message(2, 666), message(1_000_000, 666), waits=True)
    try:
        with served(liar) as lies, mf.Client(f"{true_one.address},{lies}") as client:
            subscriber = events.AdditionsSubscriber(client, "*")
            assert subscriber.await_publishers(1, PATIENCE)
            liar.begin()
            assert eventually(lambda: subscriber.stats().duplicates == 2, PATIENCE)
            here.publish_all(indexed(doc) for doc in (1, 2, 3))
            came = [(each.sequence, each.value.doc, each.missed) for each in taken(subscriber, 3)]
            assert came == [(1, 1, 0), (2, 2, 0), (3, 3, 0)]
            assert liar.times == 1
            true_one.stop()  # no other connection has that publisher any more
            assert eventually(lambda: liar.times == 2, PATIENCE)
    finally:
        true_one.close()


def test_nobody_stands_in_for_one_whose_subscription_is_lost_and_is_back_at_once() -> None:
    true_one = Liar(source(), message(1), message(2), message(3))
    liar = Liar(source(), message(1_000_000), waits=True)
    with ExitStack() as stack:
        truths, lies = (stack.enter_context(served(each)) for each in (true_one, liar))
        client = stack.enter_context(mf.Client(f"{truths},{lies}"))
        subscriber = events.AdditionsSubscriber(client, "*")
        assert [each.sequence for each in taken(subscriber, 3)] == [1, 2, 3]
        liar.begin()
        assert eventually(lambda: subscriber.stats().duplicates == 1, PATIENCE)
        true_one.end_first()
        assert eventually(lambda: subscriber.stats().duplicates == 4, PATIENCE)  # it says the same again
        assert (true_one.times, liar.times, subscriber.stats().received) == (2, 1, 3)


@pytest.mark.parametrize(
    "attack",
    [
        (source(), message(1 << 63)),
        (source(), message(LAST + 1)),
        (source(), message(0)),
        (source(next_=0),),
        (source(next_=(1 << 64) - 1),),
        (source(), missed(1, (1 << 64) - 1)),
        (source(), missed(LAST, 2)),
        (source(), missed(0, 2)),
    ],
)
def test_what_no_publisher_counts_to_cuts_who_says_it(attack: tuple[Any, ...]) -> None:
    innocent = Publishing("plain")
    publisher = events.AdditionsPublisher(innocent.topics)
    liar = Liar(*attack)
    try:
        with served(liar) as lies, mf.Client(f"{lies},{innocent.address}") as client:
            subscriber = events.AdditionsSubscriber(client, "*")
            assert eventually(lambda: subscriber.stats().cut >= 2, PATIENCE)
            assert liar.times >= 2
            assert publisher.await_subscribers(1, PATIENCE)
            publisher.at("here").publish(indexed(1))
            assert subscriber.next(PATIENCE).publisher == innocent.topics.publisher
            stats = subscriber.stats()
            assert (stats.upstream, stats.dropped) == (0, 0)
    finally:
        innocent.close()


def test_a_skip_to_the_last_number_is_a_gap_that_is_counted() -> None:
    liar = Liar(source(), message(1), message(LAST))
    with served(liar) as lies, mf.Client(lies) as client:
        subscriber = events.AdditionsSubscriber(client, "*")
        assert [each.sequence for each in taken(subscriber, 2)] == [1, LAST]
        assert subscriber.stats().upstream == LAST - 2
