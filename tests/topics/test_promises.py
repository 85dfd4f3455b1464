"""What topics promise, between processes, for every pair of languages: order, counts, replay, and that no
process holds up others, whatever is stopped, killed or slow.
"""

from pathlib import Path

import pytest

from tests.conftest import TypeCheck
from tests.interop.peers import free_port
from tests.topics.conftest import HERE, ROOT, Programs

LANGUAGES = ("python", "cpp")
PAIRS = [(one, other) for one in LANGUAGES for other in LANGUAGES]

pairs = pytest.mark.parametrize(("publishes", "subscribes"), PAIRS)


@pairs
def test_messages_come_in_order_and_are_encoded_once(
    programs: Programs, publishes: str, subscribes: str
) -> None:
    publisher = programs.publisher(publishes)
    several = [
        programs.subscriber(subscribes, publisher.address, "Additions", agents, "block", 100)
        for agents in ("*", "eu.*", "eu.books")
    ]
    assert publisher.ask("await Additions 3")
    publisher.begin("publish eu.books 0 300 20")
    publisher.begin("publish us.books 300 5 20")
    assert [each.ask(f"account {305 if each is several[0] else 300}") for each in several] == [
        {"received": 305, "missed": 0, "in_order": True},
        {"received": 300, "missed": 0, "in_order": True},
        {"received": 300, "missed": 0, "in_order": True},
    ]
    assert (publisher.end(), publisher.end()) == (300, 5)
    additions, _ = publisher.ask("stats")
    assert additions["published"] == {"eu.books": 300, "us.books": 5}
    assert additions["encoded"] == 305


@pairs
def test_late_joiners_get_the_last_ten(programs: Programs, publishes: str, subscribes: str) -> None:
    publisher = programs.publisher(publishes)
    publisher.ask("publish books 0 25 10")
    late = programs.subscriber(subscribes, publisher.address, "Additions", "books", "drop_oldest", 100)
    assert late.ask("take 10") == [["books", doc + 1, doc, 0] for doc in range(15, 25)]


@pairs
@pytest.mark.parametrize("overflow", ["drop_oldest", "drop_newest"])
def test_a_stopped_subscriber_holds_up_nobody_and_what_it_missed_adds_up(
    programs: Programs, publishes: str, subscribes: str, overflow: str
) -> None:
    publisher = programs.publisher(publishes)
    stopped = programs.subscriber(subscribes, publisher.address, "Additions", "*", overflow, 10)
    assert publisher.ask("await Additions 1")
    quick = programs.subscriber(subscribes, publisher.address, "Additions", "*", "block", 100)
    assert publisher.ask("await Additions 2")
    stopped.process.freeze()
    for turn in range(10):
        publisher.begin(f"publish books {turn * 200} 200 20000")
        assert quick.ask(f"account {(turn + 1) * 200}")["missed"] == 0
        assert publisher.end() == 200
    (additions, _) = publisher.ask("stats")
    (of_stopped, of_quick) = additions["subscriptions"]
    assert of_quick[:2] == [2000, 0]
    assert of_stopped[1] > 0
    assert of_stopped[2] <= 10
    assert sum(of_stopped) == 2000
    stopped.process.thaw()
    # The last drops of the newest are reported with the next message at the latest.
    publisher.ask("publish books 2000 1 0")
    told = stopped.ask("account 2001")
    assert told["in_order"]
    assert told["received"] + told["missed"] == 2001
    assert told["missed"] > 0
    stats = stopped.ask("stats")
    assert (stats["dropped"], stats["not_kept"], stats["duplicates"]) == (told["missed"], 0, 0)


@pairs
def test_a_killed_subscriber_leaves_nothing_behind(
    programs: Programs, publishes: str, subscribes: str
) -> None:
    publisher = programs.publisher(publishes)
    killed = programs.subscriber(subscribes, publisher.address, "Orders", "-", "block", 5)
    assert publisher.ask("await Orders 1")
    left = programs.subscriber(subscribes, publisher.address, "Orders", "-", "block", 5)
    assert publisher.ask("await Orders 2")
    publisher.begin("order 0 2000 5000")
    killed.ask("take 10")
    killed.process.kill()
    assert left.ask("account 2000") == {"received": 2000, "missed": 0, "in_order": True}
    assert publisher.end() == 2000
    _, orders = publisher.ask("stats")
    assert [each[:2] for each in orders["subscriptions"]] == [[2000, 0]]


@pairs
def test_a_stopped_subscriber_that_blocks_is_cut_and_later_told_what_it_missed(
    programs: Programs, publishes: str, subscribes: str
) -> None:
    publisher = programs.publisher(publishes)
    stopped = programs.subscriber(subscribes, publisher.address, "Orders", "-", "block", 5)
    assert publisher.ask("await Orders 1")
    stopped.process.freeze()
    assert publisher.ask("order 0 2000 20000") == 2000
    stopped.process.thaw()
    assert publisher.ask("await Orders 1")
    publisher.ask("order 2000 1 0")
    told = stopped.ask("account 2001")
    assert told["in_order"]
    assert told["missed"] > 0
    _, orders = publisher.ask("stats")
    assert orders["cut"] == 1


@pairs
def test_a_publisher_that_is_killed_and_comes_back_elsewhere_is_found_again(
    programs: Programs, publishes: str, subscribes: str
) -> None:
    controller = programs.controller()
    first = programs.publisher(publishes, controller.address)
    first.ask("publish books 0 5 10")
    subscriber = programs.subscriber(subscribes, controller.address, "Additions", "*", "drop_oldest", 100)
    assert subscriber.ask("take 5") == [["books", doc + 1, doc, 0] for doc in range(5)]
    first.process.kill()
    second = programs.publisher(publishes, controller.address)
    second.ask("publish books 5 5 10")
    assert subscriber.ask("take 5") == [["books", doc - 4, doc, 0] for doc in range(5, 10)]
    assert subscriber.ask("account 10") == {"received": 10, "missed": 0, "in_order": True}


@pairs
def test_messages_go_on_while_the_controller_is_away(
    programs: Programs, publishes: str, subscribes: str
) -> None:
    port = free_port()
    controller = programs.controller(port)
    publisher = programs.publisher(publishes, controller.address)
    publisher.ask("publish books 0 1 10")
    subscriber = programs.subscriber(subscribes, controller.address, "Additions", "*", "block", 100)
    assert subscriber.ask("take 1") == [["books", 1, 0, 0]]
    controller.kill()
    publisher.begin("publish books 1 500 100")
    assert subscriber.ask("account 501") == {"received": 501, "missed": 0, "in_order": True}
    assert publisher.end() == 500
    programs.controller(port)
    other = programs.publisher(publishes, controller.address)
    other.ask("publish maps 0 3 10")
    publisher.ask("publish books 501 3 10")
    assert subscriber.ask("account 507") == {"received": 507, "missed": 0, "in_order": True}
    stats = subscriber.ask("stats")
    assert (stats["publishers"], stats["dropped"], stats["not_kept"]) == (2, 0, 0)


@pairs
@pytest.mark.parametrize("away", ["killed", "stopped"])
def test_who_comes_while_the_controller_is_away_is_found_once_it_is_back(
    programs: Programs, publishes: str, subscribes: str, away: str
) -> None:
    port = free_port()
    controller = programs.controller(port)
    publisher = programs.publisher(publishes, controller.address)
    publisher.ask("publish books 0 1 10")
    subscriber = programs.subscriber(subscribes, controller.address, "Additions", "*", "block", 100)
    assert subscriber.ask("take 1") == [["books", 1, 0, 0]]
    controller.kill() if away == "killed" else controller.freeze()
    other = programs.publisher(publishes, controller.address)
    other.ask("publish maps 0 8 10")
    late = programs.subscriber(subscribes, controller.address, "Additions", "*", "block", 100)
    publisher.begin("publish books 1 500 100")
    assert subscriber.ask("account 501") == {"received": 501, "missed": 0, "in_order": True}
    assert publisher.end() == 500
    programs.controller(port) if away == "killed" else controller.thaw()
    assert publisher.ask("await Additions 2")
    assert other.ask("await Additions 2")
    publisher.ask("publish books 501 3 10")
    other.ask("publish maps 8 3 10")
    assert subscriber.ask("account 515") == {"received": 515, "missed": 0, "in_order": True}
    # The last ten books and eight maps were kept for it.
    assert late.ask("account 24") == {"received": 24, "missed": 0, "in_order": True}
    for each, delivered in ((publisher, [13, 504]), (other, [11, 11])):
        additions, _ = each.ask("stats")
        assert sorted(additions["subscriptions"]) == [[count, 0, 0] for count in delivered]
    for each in (subscriber, late):
        stats = each.ask("stats")
        assert (stats["publishers"], stats["dropped"], stats["not_kept"], stats["duplicates"]) == (2, 0, 0, 0)


@pairs
def test_a_process_that_is_reached_at_two_addresses_delivers_each_message_once(
    programs: Programs, publishes: str, subscribes: str
) -> None:
    publisher = programs.publisher(publishes)
    both = f"{publisher.address},{publisher.address.replace('127.0.0.1', 'localhost')}"
    subscriber = programs.subscriber(subscribes, both, "Additions", "*", "block", 100)
    assert publisher.ask("await Additions 2")
    publisher.begin("publish books 0 2000 100")
    assert subscriber.ask("account 2000") == {"received": 2000, "missed": 0, "in_order": True}
    assert publisher.end() == 2000
    publisher.begin("publish books 2000 500 100")
    assert subscriber.ask("account 2500") == {"received": 2500, "missed": 0, "in_order": True}
    assert publisher.end() == 500
    assert subscriber.ask("stats")["duplicates"] > 0


def test_the_programs_are_strictly_typed(stubs: Path, passes_mypy_strict: TypeCheck) -> None:
    passes_mypy_strict(sorted((HERE / "programs").glob("*.py")), [stubs, ROOT / "runtime" / "python"])
