"""examples/9_replicated: a replica is killed while a client writes, and catches up with the others."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mfidl.compiler import Exit, Targets, compile_files
from tests.conftest import TypeCheck

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples/9_replicated"
PROGRAMS = ("client.py", "demo.py", "replica.py")


@pytest.fixture(scope="module")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kv")
    assert compile_files([str(FOLDER / "kv.mfidl")], [], Targets(python=str(folder))).exit is Exit.OK
    return folder


def demo(stubs: Path, flow: str, replicas: str) -> list[str]:
    path = os.pathsep.join(map(str, (stubs, FOLDER, ROOT / "runtime/python")))
    done = subprocess.run(
        [sys.executable, str(FOLDER / "demo.py"), "--flow", flow, "--replicas", replicas],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("flow", "replicas"),
    [
        ("chain", "python,python,python"),
        ("one_hop_ack_client", "cpp,cpp,cpp"),
        ("version_request", "python,cpp,python"),
        ("chain", "cpp,python,cpp"),
    ],
)
def test_all_replicas_have_the_same_although_one_was_killed(stubs: Path, flow: str, replicas: str) -> None:
    first, killed, back, *states = demo(stubs, flow, replicas)

    assert first == f"all replicas serve; writes go by {flow}"
    assert (killed, back) == ("b was killed, and is started again", "b serves again")
    assert [each[0] for each in states] == ["a", "b", "c"]
    assert len({each[1:] for each in states}) == 1, states
    assert int(states[0].split()[2]) > 400


def test_the_programs_pass_mypy_strict(stubs: Path, passes_mypy_strict: TypeCheck) -> None:
    passes_mypy_strict([FOLDER / name for name in PROGRAMS], [stubs, FOLDER, ROOT / "runtime/python"])
