"""examples/11_upgrade: three servers and two clients go to a newer schema and back, one by one, and no call
fails.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mfidl.compiler import Exit, Targets, compile_files
from tests.conftest import TypeCheck

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples/11_upgrade"
VERSIONS = ("v1", "v2")


@pytest.fixture(scope="module")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("orders")
    for version in VERSIONS:
        targets = Targets(python=str(folder / version))
        assert compile_files([str(FOLDER / version / "orders.mfidl")], [], targets).exit is Exit.OK
    return folder


def test_no_call_fails_while_peers_are_upgraded_one_by_one_and_taken_back(stubs: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(FOLDER / "demo.py"), str(stubs), "--rounds", "20"],
        env=os.environ | {"PYTHONPATH": str(ROOT / "runtime/python")},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    *steps, last = done.stdout.splitlines()
    assert [step.partition(" s  ")[2] for step in steps] == [
        "three servers and two clients have schema v1",
        *(f"server {name} has schema v2" for name in "abc"),
        *(f"client {name} has schema v2" for name in "xy"),
        *(f"client {name} has schema v1" for name in "xy"),
        *(f"server {name} has schema v1" for name in "abc"),
    ]
    assert last.endswith(" calls, 0 failed")


@pytest.mark.parametrize("version", VERSIONS)
def test_the_programs_pass_mypy_strict_with_either_schema(
    stubs: Path, passes_mypy_strict: TypeCheck, version: str
) -> None:
    programs = [FOLDER / name for name in ("client.py", "demo.py", "server.py")]
    passes_mypy_strict(programs, [stubs / version, FOLDER, ROOT / "runtime/python"])
