"""A client may be closed in each of its own callbacks, and topics and servers in theirs."""

import threading
from collections.abc import Iterator

import pytest

import mf
from tests.python.topics.made import PATIENCE, events, indexed


class Served:
    def __init__(self) -> None:
        self.topics = mf.Topics()
        self.server = mf.Server("tcp://127.0.0.1:0", options=mf.ServerOptions(drain_timeout=2.0))
        self.server.offer(self.topics)
        self.server.start()
        self.client = mf.Client(self.server.address)
        self.publisher = events.AdditionsPublisher(self.topics)
        self.raised: list[BaseException] = []
        self.closed = threading.Event()

    def close(self, *_: object) -> None:
        try:
            self.client.close()
        except BaseException as raised:
            self.raised.append(raised)
        self.closed.set()


@pytest.fixture
def served() -> Iterator[Served]:
    one = Served()
    yield one
    one.client.close()
    one.topics.close()
    one.server.stop()


@pytest.mark.parametrize("callback", ["on_message", "on_matched", "on_gap"])
def test_a_client_is_closed_in_a_callback_of_its_subscriber(served: Served, callback: str) -> None:
    options = mf.SubscribeOptions(max_messages=2, overflow=mf.Overflow.drop_oldest)
    subscriber = events.AdditionsSubscriber(served.client, "*", options)
    books = served.publisher.at("books")
    if callback == "on_matched":
        subscriber.on_matched(served.close)
    else:
        assert served.publisher.await_subscribers(1, PATIENCE)
        getattr(subscriber, callback)(served.close)
        for doc in range(20):
            books.publish(indexed(doc))
        if callback == "on_gap":
            subscriber.on_message(lambda _: None)
            for doc in range(2000):
                books.publish(indexed(doc))
    assert served.closed.wait(PATIENCE)
    assert served.raised == []
    with pytest.raises(mf.Error) as raised:
        served.client.async_side().running()
    assert raised.value.code is mf.Code.CANCELLED
    with pytest.raises(mf.Error):
        list(iter(subscriber.next, None))
