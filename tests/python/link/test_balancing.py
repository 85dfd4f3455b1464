"""Which instance gets the next call: one table of cases for both languages, in virtual time."""

import json
from pathlib import Path
from typing import Any

import pytest

from mf.link.balancing import Standing, choose, usual_with

CASES = json.loads((Path(__file__).parents[2] / "vectors" / "balancing.json").read_text())
FROM = 3600.0


class Drawn:
    """Numbers that a case has written down, all of which are used up."""

    def __init__(self, numbers: list[int]) -> None:
        self.left = list(numbers)

    def __call__(self, count: int) -> int:
        assert self.left, "more numbers are drawn than the case has"
        number = self.left.pop(0)
        assert number < count
        return number


def chosen(standings: list[Standing], step: dict[str, Any], now: float) -> None:
    said, drawn = step["choose"], Drawn(step["choose"]["random"])
    weights = said.get("weights", [1] * len(standings))
    for each, heard, in_flight, weight in zip(
        standings, said["heard"], said["in_flight"], weights, strict=True
    ):
        each.look(heard, in_flight, now, weight)
    index = choose(standings, drawn)
    if standings[index].probe:
        standings[index].probed(now, drawn(1000) / 1000)
    assert index == step["gives"], step
    assert [i for i, each in enumerate(standings) if not each.alive] == step.get("pings", []), step
    assert not drawn.left, step


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_table_of_cases_holds(case: dict[str, Any]) -> None:
    standings = [Standing() for _ in range(case["instances"])]
    for step in case["steps"]:
        now = FROM + step["at"] / 1000
        if "choose" in step:
            chosen(standings, step, now)
        elif "replied" in step:
            sent = FROM + step["sent"] / 1000
            standings[step["replied"]].replied(step["took"] / 1000, step["usual"] / 1000, sent, now)
        elif "missed" in step:
            standings[step["missed"]].missed(now)
        elif "failed" in step:
            standings[step["failed"]].failed(now)
        else:
            standings[step["connected"]].connected(step["again"], now)


def test_one_slow_instance_of_ten_leaves_what_a_method_takes_as_it_is() -> None:
    usual = 0.0
    for round_ in range(1000):
        usual = usual_with(usual, 0.1 if round_ % 10 == 9 else 0.001)

    assert usual < 0.002


def test_a_method_that_takes_longer_from_now_on_is_soon_known_to() -> None:
    usual = usual_with(0.0, 0.001)
    for _ in range(60):
        usual = usual_with(usual, 0.1)

    assert usual > 0.05
