"""What every Python test shares: Hypothesis draws the same examples and never looks at the clock."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import settings

import mf.native
from mf.core import log
from tests.mypy import mypy_cache
from tests.native import module_folder

# Suites run with the pure codec, which is what the native one is held against (tests/python/native). Some run
# a second time with the native one: MF_TEST_NATIVE=1, for the programs that they start too.
if os.environ.get("MF_TEST_NATIVE") == "1":
    where = str(module_folder())
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), where)))
    sys.path.append(where)
    assert mf.native.in_use(), mf.native.why()
else:
    os.environ["MF_PURE"] = "1"

settings.register_profile("mf", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("mf")

# A run under nohup ignores SIGHUP, a background job of a script SIGINT. The programs that tests start and
# stop would inherit that.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

TypeCheck = Callable[[Iterable[Path], Iterable[Path]], None]


@pytest.fixture
def passes_mypy_strict(tmp_path: Path) -> TypeCheck:
    """Asserts that programs, found by the first argument, pass `mypy --strict` with these folders to import
    from, as they would in a project that has no settings of its own.
    """

    def check(programs: Iterable[Path], path: Iterable[Path]) -> None:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "mypy",
                "--strict",
                "--config-file=",
                "--cache-dir",
                mypy_cache(),
                *programs,
            ],
            cwd=tmp_path,
            env=os.environ | {"MYPYPATH": os.pathsep.join(map(str, path))},
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    return check


@pytest.fixture(autouse=True)
def first_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    """What handlers fail with is logged once in a process: here, once in a test."""
    monkeypatch.setattr(log, "_failures", log._Failures())


@pytest.fixture(autouse=True)
def first_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Warnings are limited for each process; here the limit begins anew in each test."""
    monkeypatch.setattr(log, "_warnings", log._Warnings())
