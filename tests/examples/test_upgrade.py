"""examples/11_upgrade: three servers and two clients go to a newer schema and back, one by one, and no call
fails. test_upgrade_long.py is the same for minutes.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import TypeCheck

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples/11_upgrade"
VERSIONS = ("v1", "v2")


STUBS = Path(os.environ.get("MF_BUILD_DIR", ROOT / "build/release")) / "examples/11_upgrade"
"""Of Python, which the build makes beside the programs of C++."""


def upgraded(language: str, *options: str, patience: float = 110.0) -> list[str]:
    """What the demo says; no call fails."""
    assert (STUBS / "orders-server-v1").is_file(), "cmake --build --preset release --target upgrade"
    done = subprocess.run(
        [sys.executable, str(FOLDER / "demo.py"), str(STUBS), "--language", language, *options],
        env=os.environ | {"PYTHONPATH": str(ROOT / "runtime/python")},
        capture_output=True,
        text=True,
        timeout=patience,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    *steps, last = done.stdout.splitlines()
    assert last.endswith(" calls, 0 failed")
    return [step.partition(" s  ")[2] for step in steps]


CPP = {"python": (), "mixed": ("a", "c", "x")}


@pytest.mark.parametrize("language", CPP)
@pytest.mark.parametrize("relays", ["0", "1", "2"])
def test_no_call_fails_while_peers_are_upgraded_one_by_one_and_taken_back(language: str, relays: str) -> None:
    def who(name: str) -> str:
        return f"{name} in C++" if name in CPP[language] else name

    assert upgraded(language, "--rounds", "10", "--relays", relays) == [
        "three servers and two clients have schema v1",
        *(f"server {who(name)} has schema v2" for name in "abc"),
        *(f"client {who(name)} has schema v2" for name in "xy"),
        *(f"client {who(name)} has schema v1" for name in "xy"),
        *(f"server {who(name)} has schema v1" for name in "abc"),
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_programs_pass_mypy_strict_with_either_schema(
    passes_mypy_strict: TypeCheck, version: str
) -> None:
    programs = [FOLDER / name for name in ("client.py", "demo.py", "seal.py", "server.py")]
    passes_mypy_strict(programs, [STUBS / version, FOLDER, ROOT / "runtime/python"])
