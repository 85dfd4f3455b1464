"""The simulation of the C++ runtime (docs/simulation.md): each seed keeps all rules, and gives the same run
twice.
"""

import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.simulation.python_side import ROOT

SIMULATE = Path(os.environ.get("MF_BUILD_DIR", str(ROOT / "build" / "release"))) / "tests/simulation/simulate"
SEEDS = 200
AT_ONCE = 50
SOAK = 100_000
TOPICS_SEEDS = 100
TOPICS_SOAK = 1000
TOPICS_AT_ONCE = 10


def simulate(arguments: Sequence[str], timeout: float | None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [SIMULATE, *arguments], capture_output=True, text=True, timeout=timeout, check=False
    )


@pytest.mark.parametrize("first", range(0, SEEDS, AT_ONCE))
def test_each_seed_keeps_all_rules(first: int) -> None:
    done = simulate(["--first", str(first), "--count", str(AT_ONCE)], 110)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("first", range(0, TOPICS_SEEDS, TOPICS_AT_ONCE))
def test_each_seed_of_topics_keeps_all_rules(first: int) -> None:
    done = simulate(["--topics", "--first", str(first), "--count", str(TOPICS_AT_ONCE)], 110)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "of", [["--seed", "3"], ["--seed", "17"], ["--seed", "42"], ["--topics", "--seed", "5"]], ids=" ".join
)
def test_a_seed_gives_the_same_run_twice(of: list[str]) -> None:
    one, other = (simulate([*of, "--log"], 100) for _ in range(2))
    assert one.returncode == 0, one.stdout + one.stderr
    assert one.stdout.count("\n") > 20
    assert one.stdout == other.stdout


def test_who_waits_does_nothing_and_is_woken_at_once() -> None:
    done = simulate(["--waits"], 60)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.soak
@pytest.mark.parametrize(
    ("kind", "first", "until", "at_once"),
    [([], SEEDS, SOAK, 1000), (["--topics"], TOPICS_SEEDS, TOPICS_SOAK, 50)],
    ids=["calls", "topics"],
)
def test_many_more_seeds_keep_all_rules(kind: list[str], first: int, until: int, at_once: int) -> None:
    def run(start: int) -> "subprocess.CompletedProcess[str]":
        return simulate([*kind, "--first", str(start), "--count", str(at_once)], None)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in pool.map(run, range(first, until, at_once)):
            assert done.returncode == 0, done.stdout + done.stderr
