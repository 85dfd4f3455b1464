"""The choice of instances: one table of cases for both languages, in virtual time."""

import heapq
import json
import random
from pathlib import Path
from typing import Any

import pytest

from mf.route.balance import Standing, choose, usual_with

CASES = json.loads((Path(__file__).parents[2] / "vectors" / "balancing.json").read_text())
FROM = 3600.0


class Drawn:
    """The numbers that a case lists, all of which are used."""

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


@pytest.mark.parametrize("calls_per_second", [1000, 3000, 5000])
@pytest.mark.parametrize("slow", [10, 50, 200])
def test_one_slow_server_of_ten_at_most_doubles_the_99th_percentile(slow: int, calls_per_second: int) -> None:
    """Each server runs one call after another, most of them for a millisecond."""
    quick, _ = percentile_of_calls([1.0] * 10, calls_per_second)
    with_slow, to_slow = percentile_of_calls([1.0] * 9 + [float(slow)], calls_per_second)

    assert with_slow <= 2 * quick
    assert 0 < to_slow < 0.005


def percentile_of_calls(milliseconds: list[float], calls_per_second: int) -> tuple[float, float]:
    """The 99th percentile of 10,000 calls at random times, and the share of the last server."""
    source = random.Random(7)
    standings = [Standing() for _ in milliseconds]
    heard, in_flight = [0] * len(standings), [0] * len(standings)
    free_at = [FROM] * len(standings)
    running: list[tuple[float, int, float]] = []  # the end, the server, when it was sent
    lasted: list[float] = []
    usual, now, to_last = 0.0, FROM, 0
    for _ in range(10_000):
        now += source.expovariate(calls_per_second)
        while running and running[0][0] <= now:
            end, server, sent = heapq.heappop(running)
            standings[server].replied(end - sent, usual, sent, end)
            usual = usual_with(usual, end - sent)
            heard[server] += 1
            in_flight[server] -= 1
            lasted.append(end - sent)
        for standing, arrived, running_there in zip(standings, heard, in_flight, strict=True):
            standing.look(arrived, running_there, now)
        server = choose(standings, source.randrange)
        if standings[server].probe:
            standings[server].probed(now, source.random())
        in_flight[server] += 1
        to_last += server == len(standings) - 1
        takes = milliseconds[server] / 1000 * source.uniform(0.8, 1.2)
        free_at[server] = max(free_at[server], now) + takes
        heapq.heappush(running, (free_at[server], server, now))
    lasted.sort()
    return lasted[len(lasted) * 99 // 100], to_last / 10_000
