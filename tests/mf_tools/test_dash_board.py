"""What the dashboard keeps: changes become one message, however many there are, and nothing grows without
end."""

from uuid import UUID

import pytest

from mf.controller import Change, Instance, Key, KeyKind, Offer
from mf.controller._generated.mf.controller import Gone
from mf_tools.dash import board as boards
from mf_tools.dash.board import KEEP_OLD, MOST_CHANGES, POINTS, Board
from mf_tools.doctor.tls import days_left
from mf_tools.scrape import Meters, parsed

SCHEMA = UUID(int=7)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def instance(number: int, name: str = "shop.Shop", agent: str = "", *, topic: bool = False) -> Instance:
    kind = KeyKind.topic if topic else KeyKind.service
    offer = Offer(Key(kind, name, agent), [f"tcp://127.0.0.1:{number}"], SCHEMA, 0, {"version": "1"}, False)
    return Instance(offer, UUID(int=number), f"process {number}", True, "dns:a.example")


def change(put: list[Instance], gone: list[Instance]) -> Change:
    return Change(1, 1, False, False, put, [Gone(each.offer.key, each.instance) for each in gone])


def board_of(*instances: Instance) -> tuple[Board, Clock]:
    clock = Clock()
    made = Board("mf://host:7400", clock)
    made.snapshot("service", list(instances), again=False)
    made.taken()
    return made, clock


def nonce(number: int) -> str:
    return UUID(int=number).hex


def test_a_process_has_all_that_it_offers() -> None:
    board, _ = board_of(instance(1), instance(1, agent="b"))
    board.snapshot("topic", [instance(1, "shop.News", topic=True)], again=False)
    [process] = board.whole()["put"]
    assert (process["id"], process["name"], process["identity"]) == (nonce(1), "process 1", "dns:a.example")
    offers = [(each["kind"], each["name"], each["agent"], each["weight"]) for each in process["offers"]]
    assert offers == [
        ("service", "shop.Shop", "", 1),
        ("service", "shop.Shop", "b", 1),
        ("topic", "shop.News", "", 1),
    ]
    assert process["offers"][0]["schema"] == SCHEMA.hex


def test_many_changes_are_one_message_with_the_last_state() -> None:
    board, _ = board_of(*(instance(each) for each in range(10)))
    for _ in range(50):
        board.changed(change([instance(3, agent="b")], []))
        board.changed(change([], [instance(3, agent="b")]))
    board.changed(change([instance(20)], [instance(4)]))
    taken = board.taken()
    assert taken is not None
    assert [each["id"] for each in taken["put"]] == [nonce(3), nonce(20)]
    assert taken["gone"] == [nonce(4)]
    assert board.taken() is None


def test_the_first_snapshot_is_no_change_and_a_later_one_is() -> None:
    board, _ = board_of(instance(1), instance(2))
    assert board.whole()["changes"] == []
    board.snapshot("service", [instance(2), instance(3)], again=False)
    changes = board.whole()["changes"]
    assert [(each["what"], each["name"]) for each in changes] == [
        ("left", "process 1"),
        ("came", "process 3"),
    ]


def test_what_a_process_offers_at_once_is_one_entry() -> None:
    board, clock = board_of()
    names = [f"shop.S{each}" for each in range(6)]
    board.changed(change([instance(1, each) for each in names], []))
    board.changed(change([instance(1, "shop.News", topic=True)], []))
    [entry] = board.whole()["changes"]
    assert (entry["offers"], entry["more"], entry["replaces"]) == (names[:4], 3, 1)
    clock.now += 10
    board.changed(change([instance(1, "shop.Late")], []))
    assert [each["offers"] for each in board.whole()["changes"]] == [names[:4], ["shop.Late"]]


def test_a_controller_that_was_away_gives_processes_time_to_come_back() -> None:
    board, clock = board_of(instance(1), instance(2))
    board.snapshot("service", [], again=True)
    clock.now += KEEP_OLD - 1
    board.forget_doubted()
    board.changed(change([instance(2)], []))
    assert board.taken() is not None
    assert set(board.processes) == {nonce(1), nonce(2)}
    clock.now += 1
    board.forget_doubted()
    assert set(board.processes) == {nonce(2)}
    assert [(each["what"], each["name"]) for each in board.whole()["changes"]] == [("left", "process 1")]


def test_nothing_grows_without_end() -> None:
    board, clock = board_of()
    for each in range(MOST_CHANGES * 2):
        clock.now += 10
        board.changed(change([instance(each)], []))
        board.measured({"number": each}, [], [], [])
    assert len(board.whole()["changes"]) == MOST_CHANGES
    assert len(board.whole()["points"]) == POINTS
    taken = board.taken()
    assert taken is not None
    assert len(taken["changes"]) == MOST_CHANGES
    assert len(taken["points"]) == POINTS


def test_processes_beyond_the_most_are_counted() -> None:
    most = boards.MOST_PROCESSES
    board, _ = board_of(*(instance(each) for each in range(most + 2)))
    assert len(board.processes) == most
    assert board.whole()["controller"]["left_out"] == 2
    board.changed(change([], [instance(most)]))
    taken = board.taken()
    assert taken is not None
    assert taken["controller"]["left_out"] == 1


def test_a_process_that_falls_silent_is_a_change_and_one_that_is_asked_first_is_none() -> None:
    board, _ = board_of(instance(1))
    board.answered(nonce(1), state="serving", why=[])
    board.answered(nonce(1), state="serving", why=[])
    assert board.whole()["changes"] == []
    board.answered(nonce(1), state="silent", why=["nothing listens"])
    board.answered(nonce(1), state="serving", why=[])
    assert [each["what"] for each in board.whole()["changes"]] == ["silent", "serving"]
    board.answered(nonce(9), state="silent", why=[])  # which has left meanwhile
    assert len(board.whole()["changes"]) == 2


def test_a_controller_that_is_lost_and_found_is_a_change() -> None:
    board, _ = board_of()
    board.controller(answers=True, trouble="")
    board.controller(answers=False, trouble="nothing listens")
    board.controller(answers=False, trouble="nothing listens")
    board.controller(answers=True, trouble="")
    assert [each["what"] for each in board.whole()["changes"]] == ["silent", "answers"]


SAID = """# HELP mf_server_calls Calls.
# TYPE mf_server_calls counter
mf_server_calls_total{service="shop.Shop",method="find",code="OK"} %d
mf_server_calls_total{service="shop.Shop",method="find",code="HANDLER_FAILED"} %d
mf_server_call_duration_seconds_bucket{service="shop.Shop",method="find",le="0.001"} %d
mf_server_call_duration_seconds_bucket{service="shop.Shop",method="find",le="0.002"} %d
mf_server_call_duration_seconds_bucket{service="shop.Shop",method="find",le="+Inf"} %d
mf_topic_subscribers{topic="shop.News"} 2
mf_topic_published_total{topic="shop.News"} 9
mf_topic_dropped_total{topic="shop.News"} 1
"""


def test_two_readings_of_a_monitor_are_rates_and_percentiles() -> None:
    meters = Meters()
    meters.take("a", SAID % (100, 0, 100, 100, 100), 10.0)
    assert meters.total().calls == 0
    meters.take("a", SAID % (190, 10, 190, 199, 200), 12.0)
    rate = meters.by_service()["shop.Shop"]
    assert (rate.calls, rate.errors) == (50.0, 5.0)
    assert (rate.percentile(50), rate.percentile(99), rate.percentile(100)) == (0.001, 0.002, 0.002)
    assert meters.by_topic() == {"shop.News": {"subscribers": 2, "published": 9, "dropped": 1}}


def test_a_server_that_was_restarted_counts_from_nothing() -> None:
    meters = Meters()
    meters.take("a", SAID % (100, 0, 100, 100, 100), 10.0)
    meters.take("a", SAID % (20, 0, 20, 20, 20), 12.0)
    assert meters.total().calls == 10.0
    meters.failed("a", "a does not answer")
    assert meters.total().calls == 0
    [monitor] = meters.monitors()
    assert (monitor["name"], monitor["trouble"], monitor["calls"]) == ("a", "a does not answer", 0)


def test_lines_that_are_no_samples_are_left_out() -> None:
    text = 'a{b="c\\"d\\n"} 1\n\nnonsense\nx{ 1\nb nan-nan\nc 2 1234\n'
    assert parsed(text) == {"a": {(("b", 'c"d\n'),): 1.0}, "c": {(): 2.0}}


@pytest.mark.parametrize(
    "address", ["tls://nonsense", "tls://[::1:7", "tls://a,tls://b", "tls://127.0.0.1:1", ""]
)
def test_an_address_that_shows_no_certificate_has_no_days(address: str) -> None:
    assert days_left(address) is None
