"""What subscribers and publishers get when nothing comes, or when it is over: errors, callbacks and log
lines."""

import threading
from typing import Any

import pytest

import mf
from mf.core.error import Code
from tests.python.client.test_calls import free_port
from tests.python.conftest import eventually
from tests.python.topics.made import PATIENCE, docs, events, indexed, taken
from tests.python.topics.test_remote import Publishing


class Other(events.PointsSubscriber):  # type: ignore[misc]
    """Of a schema whose values do not go over."""

    mf_topic = mf.TopicInfo(
        name="events.Points",
        agent="shelf",
        codec=events.POINT_CODEC,
        descriptor=events.POINTS_TOPIC.descriptor.replace("x f64", "x f32"),
        fingerprint=b"x" * 16,
    )


def lines(log: pytest.LogCaptureFixture, event: str) -> list[str]:
    return [each.getMessage() for each in log.records if each.getMessage().startswith(event + " ")]


def vain_wait(subscriber: Any) -> str:
    with pytest.raises(mf.Error) as raised:
        subscriber.next(0.02)
    assert raised.value.code is Code.DEADLINE_EXCEEDED
    return str(raised.value.message)


def test_who_waits_in_vain_is_told_of_publishers_that_are_not_reached(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", logger="mf")
    publishing = Publishing("plain")
    publisher = events.OrdersPublisher(publishing.topics)
    publishing.stop()
    with mf.Client(publishing.address) as client:
        subscriber = events.OrdersSubscriber(client)
        cause = f"no message of events.Orders has come in time: connect {publishing.address}: "
        assert eventually(lambda: vain_wait(subscriber).startswith(cause))
        assert "refused" in vain_wait(subscriber)
        (lost,) = lines(caplog, "subscription_lost")
        assert f"topic=events.Orders publisher={publishing.address} code=UNAVAILABLE reason=" in lost
        assert not lines(caplog, "subscription_back")
        publishing.start()
        assert publisher.await_subscribers(1, PATIENCE)
        publisher.publish(indexed(1))
        assert docs(taken(subscriber, 1)) == [1]
        assert vain_wait(subscriber) == "no message of events.Orders has come in time"
        assert lines(caplog, "subscription_back") == [
            f"subscription_back topic=events.Orders publisher={publishing.address}"
        ]
    publishing.close()


def test_who_waits_for_a_topic_that_its_server_does_not_have_is_told_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    publishing = Publishing("plain")
    with mf.Client(publishing.address) as client:
        subscriber = events.OrdersSubscriber(client)
        assert eventually(lambda: "does not offer events.Orders" in vain_wait(subscriber))
        assert "does not offer events.Orders" in lines(caplog, "subscription_lost")[0]
    publishing.close()


def test_who_waits_while_no_controller_answers_is_told_so() -> None:
    address = f"mf://127.0.0.1:{free_port()}"
    with mf.Client(address) as client:
        subscriber = events.OrdersSubscriber(client)
        assert eventually(lambda: "no publisher of it was found (" in vain_wait(subscriber))


def cut_by_disconnect(publishing: Publishing, client: mf.Client) -> tuple[Any, Any]:
    publisher = events.OrdersPublisher(publishing.topics)
    options = mf.SubscribeOptions(max_messages=2, overflow=mf.Overflow.disconnect)
    subscriber = events.OrdersSubscriber(client, options)
    assert publisher.await_subscribers(1, PATIENCE)
    return publisher, subscriber


@pytest.mark.parametrize("asks_early", [True, False])
def test_callbacks_are_told_that_it_is_over_behind_the_last_message(asks_early: bool) -> None:
    publishing = Publishing("plain")
    with mf.Client(publishing.address) as client:
        publisher, subscriber = cut_by_disconnect(publishing, client)
        got: list[Any] = []
        over = threading.Event()

        def end(why: mf.Error) -> None:
            got.append(why.code)
            over.set()

        if asks_early:
            subscriber.on_end(end)
        title = "x" * 500_000
        for doc in range(40):
            publisher.publish(indexed(doc, title))
        subscriber.on_message(lambda message: got.append(message.value.doc))
        if not asks_early:
            assert eventually(lambda: publisher.stats().cut == 1)
            subscriber.on_end(end)
        assert over.wait(PATIENCE)
        assert got == [*range(len(got) - 1), Code.OVERLOADED]
    publishing.close()


def test_an_end_that_nobody_wants_to_be_told_of_is_logged_and_ones_own_close_is_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    options = mf.TopicsOptions(authorize=lambda access: access.agents != "secret")
    publishing = Publishing("plain", options)
    events.AdditionsPublisher(publishing.topics).at("open")
    with mf.Client(publishing.address) as client:
        for agents in ("secret", "open"):
            subscriber = events.AdditionsSubscriber(client, agents)
            subscriber.on_message(lambda _: None)
            if agents == "secret":
                assert eventually(lambda: bool(lines(caplog, "subscription_over")))
            subscriber.close()
    assert [each.split(" reason=")[0] for each in lines(caplog, "subscription_over")] == [
        "subscription_over topic=events.Additions code=PERMISSION_DENIED"
    ]
    publishing.close()


def test_a_wait_for_publishers_ends_when_the_subscription_does() -> None:
    publishing = Publishing("plain")
    events.PointsPublisher(publishing.topics).at(events.Shelf.low)
    with mf.Client(publishing.address) as client:
        with pytest.raises(mf.Error) as raised:
            Other(client, "*").await_publishers(1, PATIENCE)
        assert raised.value.code is Code.SCHEMA_MISMATCH
        closing = events.OrdersSubscriber(client)
        timer = threading.Timer(0.02, closing.close)
        timer.start()
        with pytest.raises(mf.Error) as raised:
            closing.await_publishers(1, PATIENCE)
        assert raised.value.code is Code.CANCELLED
        timer.join()
    publishing.close()


def test_the_publishers_of_ones_own_process_are_one_once_an_agent_matches() -> None:
    with mf.Topics() as topics:
        subscriber = events.AdditionsSubscriber(topics, "eu.*")
        told: list[tuple[str, int]] = []
        subscriber.on_matched(lambda count: told.append(("matched", count)))
        subscriber.on_unmatched(lambda count: told.append(("unmatched", count)))
        publisher = events.AdditionsPublisher(topics)
        publisher.at("us.books")
        assert not subscriber.await_publishers(1, 0.0)
        assert subscriber.stats().publishers == 0
        timer = threading.Timer(0.02, lambda: (publisher.at("eu.books"), publisher.at("eu.maps")))
        timer.start()
        assert subscriber.await_publishers(1, PATIENCE)
        assert subscriber.stats().publishers == 1
        timer.join()
        late = events.AdditionsSubscriber(topics, "eu.*")
        assert late.await_publishers(1, 0.0)
        late.on_matched(lambda count: told.append(("late", count)))
        late.close()
        assert eventually(lambda: len(told) == 2)
    assert eventually(lambda: len(told) == 3)
    assert told == [("matched", 1), ("late", 1), ("unmatched", 0)]


def test_who_is_cut_is_logged_and_told_to_the_publisher_with_the_reason(
    caplog: pytest.LogCaptureFixture,
) -> None:
    publishing = Publishing("plain")
    with mf.Client(publishing.address) as client:
        publisher, subscriber = cut_by_disconnect(publishing, client)
        gone: list[mf.SubscriptionStats] = []
        publisher.on_unmatched(gone.append)
        for doc in range(40):
            publisher.publish(indexed(doc, "x" * 500_000))
        assert eventually(lambda: len(gone) == 1)
        assert gone[0].why is not None
        assert gone[0].why.code is Code.OVERLOADED
        assert eventually(lambda: len(lines(caplog, "subscription_cut")) == 1)
        (cut,) = lines(caplog, "subscription_cut")
        assert f'topic=events.Orders agents="" peer={gone[0].peer} overflow=disconnect code=OVERLOADED' in cut
        assert 'reason="the subscriber does not keep up' in cut
        subscriber.close()
        other = events.OrdersSubscriber(client)
        assert publisher.await_subscribers(1, PATIENCE)
        other.close()
        assert eventually(lambda: len(gone) == 2)
        assert gone[1].why is None
    assert len(lines(caplog, "subscription_cut")) == publisher.stats().cut == 1
    publishing.close()


def test_a_publisher_logs_whose_schema_is_another(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "mf")
    publishing = Publishing("plain")
    publisher = events.PointsPublisher(publishing.topics)
    publisher.at(events.Shelf.low)
    with mf.Client(publishing.address) as client, pytest.raises(mf.Error):
        Other(client, "*").next(PATIENCE)
    (mismatch,) = lines(caplog, "schema_mismatch")
    assert mismatch.startswith("schema_mismatch service=events.Points peer=")
    assert "127.0.0.1" in mismatch
    publishing.close()
