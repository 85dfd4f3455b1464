"""Attacks by a publisher on a relay, which innocent publishers and subscribers share with it: what it sends
is reported, counted or cut at the relay, costs the relay a bounded amount, and what an innocent publisher
sends comes all the same, to subscribers of both languages.

What is cut is seen by the attacker being asked again; no test waits for a time.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.topics.conftest import Program, Programs, programs, stubs
from tests.topics.test_hostile_publishers import ILLEGAL, numbers_of_good

__all__ = ["programs", "stubs"]

MIB = 1 << 20
PATIENCE = 60.0
COUNT = 100


class Field:
    """A relay, an innocent publisher of it, and subscribers of all agents, which hear the attacker, too, and
    of the innocent one's agent alone. They block: none may lose anything."""

    def __init__(self, programs: Programs, relays: int = 1) -> None:
        self._programs = programs
        self._controller = programs.controller().address
        self.relays = [programs.relay(self._controller)]
        while len(self.relays) < relays:
            self.relays.append(programs.relay(self.relays[-1].address))
        self.innocent = programs.publisher("python", self._controller)
        self.innocent.ask("publish good 0 1 10")
        self.subscribers = [
            programs.subscriber(language, self.relays[-1].address, "Additions", agents, "block", 200)
            for language, agents in (("cpp", "*"), ("python", "*"), ("cpp", "good"))
        ]
        for each in self.subscribers:
            assert numbers_of_good(each, 1) == [1]
        self.attacker: Program
        self._memory = 0

    def attack(self, name: str) -> None:
        self._memory = self.relays[0].memory_peak()
        self.attacker = self._programs.hostile(self._controller, name)

    def times(self, least: int) -> int:
        """How often the attacker was subscribed to, once it is so often."""
        until = time.monotonic() + PATIENCE
        while (times := int(self.attacker.ask(""))) < least and time.monotonic() < until:
            time.sleep(0.02)
        return times

    def goes_on(self, attacks: int = 0) -> None:
        """Asserts that each message of the innocent publisher comes once and in order, after that many
        attacks. The subscribers also take messages during the attacks: the relay would cut a subscriber that
        takes nothing for stall_timeout, and it would then miss what the publisher does not keep."""
        with ThreadPoolExecutor() as pool:
            heard = [pool.submit(numbers_of_good, each, COUNT) for each in self.subscribers]
            assert self.times(attacks) >= attacks
            assert self.innocent.ask("await Additions 2")  # one for all agents, and one for its own
            self.innocent.begin(f"publish good 1 {COUNT} 100")
            for each in heard:
                assert each.result() == list(range(2, COUNT + 2))
        assert self.innocent.end() == COUNT

    def all_at_once(self, ask: Callable[[Program], Any], of: slice = slice(None)) -> list[Any]:
        """Asks in parallel, since a subscriber that blocks and takes nothing holds up the others until it is
        cut."""
        with ThreadPoolExecutor() as pool:
            return list(pool.map(ask, self.subscribers[of]))

    def grown(self) -> int:
        return self.relays[0].memory_peak() - self._memory


@pytest.fixture
def field(programs: Programs) -> Field:
    return Field(programs)


@pytest.mark.parametrize("attack", ILLEGAL)
def test_who_breaks_the_protocol_is_cut_by_the_relay_and_nobody_else_feels_it(
    field: Field, attack: str
) -> None:
    field.attack(attack)
    field.goes_on(attacks=3)
    assert field.grown() < 64 * MIB


def test_a_flood_that_keeps_to_its_credit_waits_for_those_who_hear_it(field: Field) -> None:
    field.attack("floods_by_credit")
    for heard in field.all_at_once(lambda each: each.ask("values 500"), slice(2)):
        assert [agent for agent, *_ in heard].count("bad") == 500
    field.goes_on()
    assert field.grown() < 64 * MIB


@pytest.mark.parametrize("relays", [1, 2])
def test_who_names_anothers_identity_is_not_handed_on(programs: Programs, relays: int) -> None:
    field = Field(programs, relays)
    field.attack("impersonates")
    assert field.times(1) == 1
    field.goes_on()
    for each in field.subscribers:
        stats = each.ask("stats")
        assert (stats["received"], stats["undecodable"]) == (COUNT + 1, 0)
        assert (stats["dropped"], stats["not_kept"], stats["upstream"]) == (0, 0, 0)


def test_values_of_another_type_pass_the_relay_unread_and_are_told_where_they_are_looked_at(
    field: Field,
) -> None:
    field.attack("other_type")
    for each in field.subscribers[:2]:
        assert [value for *_, value in each.ask("values 4")] == [7, "DECODE_ERROR", "DECODE_ERROR", 7]
        assert each.ask("stats")["undecodable"] == 2
    field.goes_on()


def test_numbers_that_come_again_end_at_the_relay_and_those_that_are_skipped_are_told(
    field: Field,
) -> None:
    field.attack("repeats")
    for each in field.subscribers[:2]:
        assert [number for _, number, _ in each.ask("values 4")] == [1, 2, 3, 4]
        assert each.ask("stats")["duplicates"] == 0
    field.attack("skips")
    for each in field.subscribers[:2]:
        assert each.ask("take 3") == [["bad", 1, 7, 0], ["bad", 5, 7, 3], ["bad", 11, 7, 5]]
    field.goes_on()
