"""What topics promise to subscribers behind relays, in both languages: the same as without them, one
subscription at the publisher for all of them, and that no process holds up others, whatever is stopped or
killed.
"""

import socket
import time
from pathlib import Path

import pytest

import mf
from tests.interop.peers import free_port
from tests.python.certificates import Authority
from tests.python.topics.made import PATIENCE, events
from tests.topics.conftest import Program, Programs
from tests.topics.test_promises import LANGUAGES, pairs

languages = pytest.mark.parametrize("subscribes", LANGUAGES)


def _taken_by_relay(publisher: Program) -> list[list[int]]:
    """The counts (delivered, dropped, queued) of Additions' subscriptions, once none has messages queued."""
    until = time.monotonic() + 60
    while True:
        additions, _ = publisher.ask("stats")
        subscriptions: list[list[int]] = additions["subscriptions"]
        if time.monotonic() > until or all(queued == 0 for _, _, queued in subscriptions):
            return subscriptions
        time.sleep(0.01)


@pairs
def test_messages_come_in_order_by_one_subscription_at_the_publisher(
    programs: Programs, publishes: str, subscribes: str
) -> None:
    controller = programs.controller()
    publisher = programs.publisher(publishes, controller.address)
    relay = programs.relay(controller.address)
    several = [
        programs.subscriber(subscribes, relay.address, "Additions", "eu.*", "block", 100) for _ in range(3)
    ]
    publisher.ask("publish eu.books 0 5 20")
    for each in several:
        assert each.ask("account 5") == {"received": 5, "missed": 0, "in_order": True}
    publisher.begin("publish eu.books 5 300 20")
    assert [each.ask("account 305") for each in several] == 3 * [
        {"received": 305, "missed": 0, "in_order": True}
    ]
    assert publisher.end() == 300
    additions, _ = publisher.ask("stats")
    assert [each[:2] for each in additions["subscriptions"]] == [[305, 0]]
    assert several[0].ask("publishers 1")


@pytest.mark.parametrize("publishes", LANGUAGES)
def test_subscribers_of_one_client_share_one_stream_at_the_relay_and_one_value(
    programs: Programs, publishes: str
) -> None:
    controller = programs.controller()
    publisher = programs.publisher(publishes, controller.address)
    publisher.ask("publish eu.books 0 1 20")
    relay = programs.relay(controller.address)
    block = mf.SubscribeOptions(overflow=mf.Overflow.block, replay=0)
    with mf.Client(relay.address) as client:
        one, two = (events.AdditionsSubscriber(client, "eu.*", block) for _ in range(2))
        assert one.await_publishers(1, PATIENCE)
        publisher.begin("publish eu.books 1 100 20")
        for doc in range(1, 101):
            first, second = one.next(PATIENCE), two.next(PATIENCE)
            assert (first.value.doc, second.value is first.value) == (doc, True)
        assert publisher.end() == 100
        assert (one.stats().decoded, one.stats().copied) == (100, 0)


@pairs
def test_late_joiners_get_the_last_ten_from_the_relay(
    programs: Programs, publishes: str, subscribes: str
) -> None:
    controller = programs.controller()
    publisher = programs.publisher(publishes, controller.address)
    relay = programs.relay(controller.address)
    publisher.ask("publish books 0 25 10")
    first = programs.subscriber(subscribes, relay.address, "Additions", "books", "drop_oldest", 100)
    assert first.ask("take 10") == [["books", doc + 1, doc, 0] for doc in range(15, 25)]
    publisher.ask("publish books 25 25 10")
    assert first.ask("account 35")["received"] == 35
    late = programs.subscriber(subscribes, relay.address, "Additions", "books", "drop_oldest", 100)
    assert late.ask("take 10") == [["books", doc + 1, doc, 0] for doc in range(40, 50)]


@pairs
@pytest.mark.parametrize("overflow", ["drop_oldest", "drop_newest"])
def test_a_stopped_subscriber_of_a_relay_holds_up_nobody_and_what_it_missed_adds_up(
    programs: Programs, publishes: str, subscribes: str, overflow: str
) -> None:
    controller = programs.controller()
    publisher = programs.publisher(publishes, controller.address)
    publisher.ask("publish books 0 1 10")
    relay = programs.relay(controller.address)
    stopped = programs.subscriber(subscribes, relay.address, "Additions", "*", overflow, 10)
    quick = programs.subscriber(subscribes, relay.address, "Additions", "*", "block", 100)
    for each in (stopped, quick):
        assert each.ask("account 1")["received"] == 1
    stopped.process.freeze()
    for turn in range(10):
        publisher.begin(f"publish books {turn * 200 + 1} 200 20000")
        assert quick.ask(f"account {(turn + 1) * 200 + 1}")["missed"] == 0
        assert publisher.end() == 200
        # The relay has two subscriptions: one for subscribers that block, and one for those that drop.
        assert _taken_by_relay(publisher) == 2 * [[(turn + 1) * 200 + 1, 0, 0]]
    stopped.process.thaw()
    # The last drops of the newest are reported with the next message at the latest.
    publisher.ask("publish books 2001 1 0")
    told = stopped.ask("account 2002")
    assert told["in_order"]
    assert told["received"] + told["missed"] == 2002
    stats = stopped.ask("stats")
    assert stats["dropped"] == told["missed"] > 0
    assert (stats["not_kept"], stats["duplicates"]) == (0, 0)


@pairs
def test_a_stopped_subscriber_that_blocks_behind_a_relay_is_cut_and_the_others_lose_nothing(
    programs: Programs, publishes: str, subscribes: str
) -> None:
    controller = programs.controller()
    publisher = programs.publisher(publishes, controller.address)
    relay = programs.relay(controller.address, "--stall-timeout", "500")
    stopped = programs.subscriber(subscribes, relay.address, "Orders", "-", "block", 5)
    quick = programs.subscriber(subscribes, relay.address, "Orders", "-", "block", 5)
    assert stopped.ask("publishers 1")
    assert quick.ask("publishers 1")
    stopped.process.freeze()
    publisher.begin("order 0 2000 20000")
    assert quick.ask("account 2000") == {"received": 2000, "missed": 0, "in_order": True}
    assert publisher.end() == 2000
    stopped.process.thaw()
    publisher.ask("order 2000 1 0")
    assert quick.ask("account 2001")["missed"] == 0
    _, orders = publisher.ask("stats")
    assert orders["cut"] == 0, "the relay is quick"


@languages
def test_a_killed_subscriber_of_a_relay_leaves_nothing_behind(programs: Programs, subscribes: str) -> None:
    controller = programs.controller()
    publisher = programs.publisher("cpp", controller.address)
    relay = programs.relay(controller.address)
    killed = programs.subscriber(subscribes, relay.address, "Orders", "-", "block", 5)
    left = programs.subscriber(subscribes, relay.address, "Orders", "-", "block", 5)
    assert killed.ask("publishers 1")
    assert left.ask("publishers 1")
    publisher.begin("order 0 2000 5000")
    killed.ask("take 10")
    killed.process.kill()
    assert left.ask("account 2000") == {"received": 2000, "missed": 0, "in_order": True}
    assert publisher.end() == 2000


@pairs
def test_relays_in_a_row_hand_on_and_a_killed_one_is_a_gap_at_most(
    programs: Programs, publishes: str, subscribes: str
) -> None:
    controller = programs.controller()
    publisher = programs.publisher(publishes, controller.address)
    publisher.ask("publish books 0 1 10")
    port = free_port()
    first = programs.relay(controller.address, port=port)
    second = programs.relay(first.address)
    third = programs.relay(second.address)
    subscriber = programs.subscriber(subscribes, third.address, "Additions", "*", "block", 100)
    assert subscriber.ask("take 1") == [["books", 1, 0, 0]]
    publisher.begin("publish books 1 200 100")
    assert subscriber.ask("account 201") == {"received": 201, "missed": 0, "in_order": True}
    assert publisher.end() == 200
    first.kill()
    publisher.ask("publish books 201 5 100")  # of which all are kept
    programs.relay(controller.address, port=port)
    assert subscriber.ask("account 206") == {"received": 206, "missed": 0, "in_order": True}
    publisher.ask("publish books 206 5 100")
    assert subscriber.ask("account 211") == {"received": 211, "missed": 0, "in_order": True}


@pairs
def test_what_a_killed_relay_has_cost_is_told_and_adds_up(
    programs: Programs, publishes: str, subscribes: str
) -> None:
    controller = programs.controller()
    publisher = programs.publisher(publishes, controller.address)
    publisher.ask("publish books 0 1 10")
    port = free_port()
    relay = programs.relay(controller.address, port=port)
    subscriber = programs.subscriber(subscribes, relay.address, "Additions", "*", "drop_oldest", 5000)
    assert subscriber.ask("take 1") == [["books", 1, 0, 0]]
    relay.kill()
    publisher.ask("publish books 1 500 100")
    programs.relay(controller.address, port=port)
    told = subscriber.ask("account 501")
    assert told == {"received": 11, "missed": 490, "in_order": True}


@languages
def test_of_two_relays_the_other_goes_on_when_one_is_killed(programs: Programs, subscribes: str) -> None:
    controller = programs.controller()
    publisher = programs.publisher("cpp", controller.address)
    publisher.ask("publish books 0 1 10")
    relays = [programs.relay(controller.address) for _ in range(2)]
    both = ",".join(each.address for each in relays)
    subscriber = programs.subscriber(subscribes, both, "Additions", "*", "block", 100)
    assert subscriber.ask("take 1") == [["books", 1, 0, 0]]
    additions, _ = publisher.ask("stats")
    assert len(additions["subscriptions"]) == 1
    relays[0].kill()
    publisher.ask("publish books 1 5 100")  # of which all are kept
    assert subscriber.ask("account 6") == {"received": 6, "missed": 0, "in_order": True}
    publisher.begin("publish books 6 300 100")
    assert subscriber.ask("account 306") == {"received": 306, "missed": 0, "in_order": True}
    assert publisher.end() == 300
    assert subscriber.ask("stats")["duplicates"] == 0


@languages
@pytest.mark.parametrize("first", ["away", "silent"])
def test_of_two_relays_the_first_may_not_answer_from_the_beginning(
    programs: Programs, subscribes: str, first: str
) -> None:
    controller = programs.controller()
    publisher = programs.publisher("cpp", controller.address)
    publisher.ask("publish books 0 1 10")
    relay = programs.relay(controller.address)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts no connection, but the kernel does
        unanswered = f"relay://127.0.0.1:{free_port() if first == 'away' else silent.getsockname()[1]}"
        subscriber = programs.subscriber(
            subscribes, f"{unanswered},{relay.address}", "Additions", "*", "block", 100
        )
        assert subscriber.ask("take 1") == [["books", 1, 0, 0]]


@languages
def test_a_publisher_that_is_killed_and_back_elsewhere_is_found_through_the_relay(
    programs: Programs, subscribes: str
) -> None:
    controller = programs.controller()
    relay = programs.relay(controller.address)
    first = programs.publisher("python", controller.address)
    first.ask("publish books 0 5 10")
    subscriber = programs.subscriber(subscribes, relay.address, "Additions", "*", "drop_oldest", 100)
    assert subscriber.ask("take 5") == [["books", doc + 1, doc, 0] for doc in range(5)]
    first.process.kill()
    second = programs.publisher("cpp", controller.address)
    second.ask("publish books 5 5 10")
    assert subscriber.ask("take 5") == [["books", doc - 4, doc, 0] for doc in range(5, 10)]
    assert subscriber.ask("account 10") == {"received": 10, "missed": 0, "in_order": True}


@languages
def test_a_subscriber_behind_relays_knows_how_many_publishers_there_are(
    programs: Programs, subscribes: str
) -> None:
    controller = programs.controller()
    inner = programs.relay(controller.address)
    outer = programs.relay(inner.address)
    publishers = [programs.publisher(language, controller.address) for language in LANGUAGES]
    for each in publishers:
        each.ask("publish books 0 1 10")
    several = [
        programs.subscriber(subscribes, relay.address, "Additions", "*", "drop_oldest", 100)
        for relay in (inner, outer)
    ]
    for subscriber in several:
        assert subscriber.ask("publishers 2")
        assert subscriber.ask("stats")["publishers"] == 2
    publishers[0].process.kill()
    for subscriber in several:  # once the controller has forgotten it
        assert subscriber.ask("left 1")
    inner.kill()
    for subscriber in several:
        assert subscriber.ask("left 0")


@pairs
def test_topics_pass_relays_over_tls_too(
    programs: Programs, tmp_path: Path, publishes: str, subscribes: str
) -> None:
    authority = Authority(tmp_path)
    controller = programs.controller()
    publisher = programs.publisher(publishes, controller.address)
    publisher.ask("publish books 0 1 10")
    shown = authority.issue()
    inner = programs.relay(
        controller.address, "--certificate", shown.certificate, "--key", shown.key, scheme="tls"
    )
    assert inner.address.startswith("relay+tls://")
    outer = programs.relay(inner.address, "--ca", authority.file)
    direct = programs.subscriber(subscribes, inner.address, "Additions", "*", "block", 100, authority.file)
    behind = programs.subscriber(subscribes, outer.address, "Additions", "*", "block", 100)
    for each in (direct, behind):
        assert each.ask("take 1") == [["books", 1, 0, 0]]
    publisher.begin("publish books 1 200 1000")
    for each in (direct, behind):
        assert each.ask("account 201") == {"received": 201, "missed": 0, "in_order": True}
    assert publisher.end() == 200
