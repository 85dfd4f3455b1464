"""Attacks by a publisher on subscribers of both languages: what it sends is reported, counted or cut, and
what an innocent publisher sends comes all the same. Those on relays are in tests/hostile.
"""

import time

import pytest

from tests.interop.peers import PATIENCE
from tests.topics.conftest import Program, Programs

MIB = 1 << 20


class Field:
    """What is attacked, and the innocent publisher beside the attacker."""

    def __init__(self, programs: Programs, language: str) -> None:
        self._programs = programs
        self._language = language
        self._controller = programs.controller().address
        self.innocent = programs.publisher("python", self._controller)
        self.innocent.ask("publish good 0 1 10")
        self.attacker: Program

    def attacked(self, attack: str, agents: str, messages: int = 100) -> Program:
        """A subscriber, with the attacker there."""
        self.attacker = self._programs.hostile(self._controller, attack)
        return self._programs.subscriber(
            self._language, self._controller, "Additions", agents, "drop_oldest", messages
        )


@pytest.fixture(params=("python", "cpp"))
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def field(programs: Programs, language: str) -> Field:
    return Field(programs, language)


def test_numbers_that_come_again_are_counted_and_nobody_gets_them_twice(field: Field) -> None:
    subscriber = field.attacked("repeats", "bad")
    assert subscriber.ask("take 4") == [["bad", sequence, 7, 0] for sequence in (1, 2, 3, 4)]
    stats = subscriber.ask("stats")
    assert (stats["received"], stats["upstream"], stats["cut"], stats["duplicates"]) == (4, 0, 0, 3)


def test_numbers_that_are_skipped_are_a_gap_that_is_told(field: Field) -> None:
    subscriber = field.attacked("skips", "bad")
    assert subscriber.ask("take 3") == [["bad", 1, 7, 0], ["bad", 5, 7, 3], ["bad", 11, 7, 5]]
    stats = subscriber.ask("stats")
    assert stats["received"] + stats["dropped"] + stats["upstream"] == 11


def test_a_value_of_another_type_is_one_message_that_cannot_be_read(field: Field) -> None:
    subscriber = field.attacked("other_type", "bad")
    assert subscriber.ask("values 4") == [
        ["bad", 1, 7],
        ["bad", 2, "DECODE_ERROR"],
        ["bad", 3, "DECODE_ERROR"],
        ["bad", 4, 7],
    ]
    assert subscriber.ask("stats")["undecodable"] == 2


ILLEGAL = (
    "many_sources",
    "long_names",
    "long_name",
    "same_number",
    "unknown_number",
    "ended_number",
    "replays_backwards",
    "misses_nothing",
    "skips_far",
    "misses_too_much",
    "floods",
)


@pytest.mark.parametrize("attack", ILLEGAL)
def test_who_breaks_the_protocol_is_cut_counted_and_asked_again_and_others_go_on(
    field: Field, attack: str
) -> None:
    subscriber = field.attacked(attack, "*")
    assert subscriber.ask("cut 2")
    assert int(field.attacker.ask("")) >= 2
    field.innocent.ask("publish good 1 50 100")
    assert numbers_of_good(subscriber, 51) == list(range(1, 52))


def test_more_agents_than_anybody_takes_cost_a_bounded_amount_however_often_they_come(field: Field) -> None:
    subscriber = field.attacked("long_names", "*")
    assert subscriber.ask("cut 3")
    before = subscriber.ask("memory")
    assert subscriber.ask("cut 9")
    full = subscriber.ask("memory")
    assert full - before < 160 * MIB
    assert subscriber.ask("cut 18")
    assert subscriber.ask("memory") - full < 8 * MIB


def numbers_of_good(subscriber: Program, count: int) -> list[int]:
    """The numbers of the next `count` messages of the innocent publisher, without those of the attacker that
    come between them. Fails after PATIENCE, also if the attacker's messages never end."""
    numbers: list[int] = []
    until = time.monotonic() + PATIENCE
    while len(numbers) < count:
        assert time.monotonic() < until, f"{len(numbers)} of {count} messages have come: {numbers}"
        numbers += [number for agent, number, _ in subscriber.ask("values 1") if agent == "good"]
    return numbers
