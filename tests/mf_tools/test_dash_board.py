"""What `mf dash` keeps for its pages: changes become one message, however many there are, and nothing grows
without end. What the page makes of it is in test_dash_model.py."""

from uuid import UUID

import pytest

from mf.controller import Change, Instance, Key, KeyKind, Offer
from mf.controller._generated.mf.controller import Gone
from mf_tools.dash import board as boards
from mf_tools.dash.board import MOST_STEPS, POINTS, Board
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


def keys(rows: list[dict[str, object]]) -> list[tuple[object, ...]]:
    return [(each["id"], each["kind"], each["name"], each["agent"]) for each in rows]


def test_each_offer_of_a_process_is_a_row() -> None:
    board, _ = board_of(instance(1), instance(1, agent="b"))
    board.snapshot("topic", [instance(1, "shop.News", topic=True)], again=False)
    rows = board.whole()["rows"]
    assert keys(rows) == [
        (nonce(1), "service", "shop.Shop", ""),
        (nonce(1), "service", "shop.Shop", "b"),
        (nonce(1), "topic", "shop.News", ""),
    ]
    assert rows[0] == {
        "id": nonce(1),
        "kind": "service",
        "name": "shop.Shop",
        "agent": "",
        "process": "process 1",
        "identity": "dns:a.example",
        "verified": True,
        "addresses": ["tcp://127.0.0.1:1"],
        "schema": SCHEMA.hex,
        "weight": 1,
        "labels": {"version": "1"},
        "alone": False,
    }


def test_many_changes_are_one_message_with_the_last_state() -> None:
    board, _ = board_of(*(instance(each) for each in range(10)))
    for _ in range(50):
        board.changed(change([instance(3, agent="b")], []))
        board.changed(change([], [instance(3, agent="b")]))
    board.changed(change([instance(20)], [instance(4)]))
    taken = board.taken()
    assert taken is not None
    assert keys(taken["put"]) == [(nonce(20), "service", "shop.Shop", "")]
    assert keys(taken["gone"]) == [
        (nonce(3), "service", "shop.Shop", "b"),
        (nonce(4), "service", "shop.Shop", ""),
    ]
    assert board.taken() is None


def test_the_first_snapshot_makes_no_steps_and_a_later_one_does() -> None:
    board, _ = board_of(instance(1), instance(2))
    assert board.whole()["steps"] == []
    board.snapshot("service", [instance(2), instance(3)], again=False)
    steps = board.whole()["steps"]
    assert [(each["number"], each["what"], each["process"]) for each in steps] == [
        (1, "left", "process 1"),
        (2, "came", "process 3"),
    ]


def test_what_another_run_of_a_controller_does_not_list_is_doubted() -> None:
    board, _ = board_of(instance(1), instance(2))
    board.snapshot("service", [instance(2)], again=True)
    taken = board.taken()
    assert taken is not None
    assert keys(taken["doubted"]) == [(nonce(1), "service", "shop.Shop", "")]
    assert "gone" not in taken
    assert "steps" not in taken
    board.changed(change([instance(1)], []))
    taken = board.taken()
    assert taken is not None
    assert keys(taken["put"]) == [(nonce(1), "service", "shop.Shop", "")]


def test_nothing_grows_without_end() -> None:
    board, clock = board_of()
    for each in range(MOST_STEPS * 2):
        clock.now += 10
        board.changed(change([instance(each)], []))
        board.measured({"number": each}, [], [], [])
    assert len(board.whole()["steps"]) == MOST_STEPS
    assert len(board.whole()["points"]) == POINTS
    taken = board.taken()
    assert taken is not None
    assert len(taken["steps"]) == MOST_STEPS
    assert len(taken["points"]) == POINTS


def test_rows_beyond_the_most_are_counted() -> None:
    most = boards.MOST_ROWS
    board, _ = board_of(*(instance(each) for each in range(most + 2)))
    assert len(board.whole()["rows"]) == most
    assert board.whole()["left_out"] == 2
    board.changed(change([], [instance(most)]))
    assert board.whole()["left_out"] == 1


def test_a_process_that_falls_silent_is_a_step_and_one_that_is_asked_first_is_none() -> None:
    board, _ = board_of(instance(1))
    board.answered(nonce(1), state="serving", why=[])
    board.answered(nonce(1), state="serving", why=[])
    assert board.whole()["steps"] == []
    board.answered(nonce(1), state="silent", why=["nothing listens"])
    board.answered(nonce(1), state="serving", why=[])
    assert [each["what"] for each in board.whole()["steps"]] == ["silent", "serving"]
    board.answered(nonce(9), state="silent", why=[])  # which has left meanwhile
    assert len(board.whole()["steps"]) == 2


def test_a_controller_that_is_lost_and_found_is_a_step() -> None:
    board, _ = board_of()
    board.controller(answers=True, trouble="")
    board.controller(answers=False, trouble="nothing listens")
    board.controller(answers=False, trouble="nothing listens")
    board.controller(answers=True, trouble="")
    assert [each["what"] for each in board.whole()["steps"]] == ["silent", "answers"]


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
