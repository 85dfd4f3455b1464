"""The simulation of the Python runtime (docs/simulation.md): each seed keeps all rules, and gives the same
run twice.
"""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conftest import TypeCheck
from tests.simulation.python_side import HERE, ROOT, simulate

SEEDS = 1000
AT_ONCE = 50
SOAK = 100_000
TOPICS_SEEDS = 100
TOPICS_SOAK = 1000


@pytest.mark.parametrize("first", range(0, SEEDS, AT_ONCE))
def test_each_seed_keeps_all_rules(stubs: Path, first: int) -> None:
    done = simulate(stubs, ["--first", str(first), "--count", str(AT_ONCE)], 110)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("first", range(0, TOPICS_SEEDS, AT_ONCE))
def test_each_seed_of_topics_keeps_all_rules(stubs: Path, first: int) -> None:
    done = simulate(stubs, ["--topics", "--first", str(first), "--count", str(AT_ONCE)], 110)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "of", [["--seed", "3"], ["--seed", "17"], ["--seed", "42"], ["--topics", "--seed", "5"]], ids=" ".join
)
def test_a_seed_gives_the_same_run_twice(stubs: Path, of: list[str]) -> None:
    one, other = (simulate(stubs, [*of, "--log"], 60) for _ in range(2))
    assert one.returncode == 0, one.stdout + one.stderr
    assert one.stdout.count("\n") > 20
    assert one.stdout == other.stdout


def test_the_programs_are_strictly_typed_against_the_stubs(
    stubs: Path, passes_mypy_strict: TypeCheck
) -> None:
    passes_mypy_strict((HERE / "programs").glob("*.py"), (stubs, HERE / "programs", ROOT / "runtime/python"))


@pytest.mark.soak
@pytest.mark.parametrize(
    ("kind", "first", "until", "at_once"),
    [([], SEEDS, SOAK, 1000), (["--topics"], TOPICS_SEEDS, TOPICS_SOAK, 50)],
    ids=["calls", "topics"],
)
def test_many_more_seeds_keep_all_rules(
    stubs: Path, kind: list[str], first: int, until: int, at_once: int
) -> None:
    def run(start: int) -> "subprocess.CompletedProcess[str]":
        return simulate(stubs, [*kind, "--first", str(start), "--count", str(at_once)], None)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in pool.map(run, range(first, until, at_once)):
            assert done.returncode == 0, done.stdout + done.stderr
