"""examples/8_events: a stopped subscriber holds up no other, and what it has missed is counted."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mfidl.compiler import Exit, Targets, compile_files
from tests.conftest import TypeCheck

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples/8_events"
EACH = 10_000


@pytest.fixture(scope="module")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("events")
    assert compile_files([str(FOLDER / "events.mfidl")], [], Targets(python=str(folder))).exit is Exit.OK
    return folder


@pytest.mark.parametrize("way", ["", "relay"], ids=["direct", "relay"])
def test_one_counter_has_all_of_them_and_the_other_the_latest(stubs: Path, way: str) -> None:
    path = os.pathsep.join(map(str, (stubs, ROOT / "runtime/python")))
    done = subprocess.run(
        [sys.executable, str(FOLDER / "demo.py"), *(["--through", way] if way else []), str(3 * EACH)],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    rows = [re.fullmatch(r"  (\w+) +(\d+) +(\d+) +(\d+)", line) for line in lines]
    first, whole, last, all_ = ([int(row[at]) for at in (2, 3, 4)] for row in rows if row)
    assert sum(first) == sum(whole) == 3 * EACH
    assert way or first[1] > 0
    assert whole[1] == 0
    assert (sum(last), last[2]) == (3 * EACH + 3, 0)
    assert all_ == [3 * EACH + 3, 0, 0]
    counts = [re.fullmatch(r"  (\w+): (\d+) counted, (\d+) missed", line) for line in lines]
    every, latest = counts[-7:-4], counts[-3:]
    assert [each and each.groups() for each in every] == [
        (name, str(EACH + 1), "0") for name in ("books", "maps", "news")
    ]
    told = [(int(each[2]), int(each[3])) for each in latest if each]
    assert [sum(each) for each in told] == [EACH + 1] * 3
    missed = sum(each for _, each in told)
    assert missed > 0
    assert way or missed == last[1], "both sides count the same, and a relay has queues of its own"


def test_the_programs_pass_mypy_strict(stubs: Path, passes_mypy_strict: TypeCheck) -> None:
    passes_mypy_strict(sorted(FOLDER.glob("*.py")), [stubs, ROOT / "runtime/python"])
