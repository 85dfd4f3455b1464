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


def simulate(arguments: Sequence[str], timeout: float | None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [SIMULATE, *arguments], capture_output=True, text=True, timeout=timeout, check=False
    )


@pytest.mark.parametrize("first", range(0, SEEDS, AT_ONCE))
def test_each_seed_keeps_all_rules(first: int) -> None:
    done = simulate(["--first", str(first), "--count", str(AT_ONCE)], 110)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("seed", [3, 17, 42])
def test_a_seed_gives_the_same_run_twice(seed: int) -> None:
    one, other = (simulate(["--seed", str(seed), "--log"], 100) for _ in range(2))
    assert one.returncode == 0, one.stdout + one.stderr
    assert one.stdout.count("\n") > 20
    assert one.stdout == other.stdout


@pytest.mark.soak
def test_many_more_seeds_keep_all_rules() -> None:
    def run(first: int) -> "subprocess.CompletedProcess[str]":
        return simulate(["--first", str(first), "--count", "1000"], None)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in pool.map(run, range(SEEDS, SOAK, 1000)):
            assert done.returncode == 0, done.stdout + done.stderr
