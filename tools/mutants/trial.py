"""Runs the tests of a floor in a copy of the tree, changed or not, each time within a limit of time."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tools.mutants import python_source, reach
from tools.mutants.floors import Floor
from tools.mutants.mutant import Mutant
from tools.mutants.reach import Reach

_LONGEST_BUILD = 300  # seconds
_LONGEST_TEST = 30  # seconds; a test of a mutant that takes longer hangs
_LONGEST_ALL = 1200.0  # seconds, of all tests of a floor on the unchanged tree
_PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout", str(_LONGEST_TEST)]


class Verdict(StrEnum):
    KILLED = "killed"
    HUNG = "hung"  # counts as killed
    SURVIVED = "survived"
    EXPLAINED = "explained"  # not tried: tests/mutants.toml says why no test can notice it
    NO_PROGRAM = "no program"  # it does not compile, so it says nothing about the tests


_RUNNING: set[int] = set()
# Held until what was started is recorded. Reentrant, since end_all() may run in a signal's handler.
_STARTING = threading.RLock()
_FAILED = re.compile(  # what GoogleTest and pytest print
    r"^(?:\[  FAILED  \]|FAILED|ERROR) (\S.*?)(?: - .*|, where .*| \(\d+ ms\))?$", re.MULTILINE
)


def failed_test(said: str) -> str:
    """The name of the first test that failed, or an empty string; it shows which test has noticed."""
    match = _FAILED.search(said)
    return match[1].split("::")[-1] if match else ""


def end_all() -> None:
    """Ends everything that is running in process groups of its own, when a signal ends this process."""
    with _STARTING:
        for group in list(_RUNNING):
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)


def run(command: Sequence[str], cwd: Path, env: Mapping[str, str], limit: float) -> tuple[int | None, str]:
    """Returns the exit status, None if the time was over, and the end of the output. Leaves no process
    behind."""
    with _STARTING:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        _RUNNING.add(process.pid)
    with process:
        try:
            said, _ = process.communicate(timeout=limit)
            status: int | None = process.returncode
        except subprocess.TimeoutExpired:
            status, said = None, b""
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        _RUNNING.discard(process.pid)
        if status is None:
            said, _ = process.communicate()
    lines = said.decode(errors="replace").splitlines(keepends=True)
    told = "".join(line for line in lines if line.strip() and "skipped" not in line.lower())
    return status, told[-4000:]


@dataclass(frozen=True, slots=True)
class Stage:
    """Tests that are run together: names for pytest or of C++ test binaries; `limit`: in seconds."""

    tests: Sequence[str]
    limit: float


def _limit(usual: float) -> float:
    return 3 * usual + 20


class PythonTrial:
    """Runs the tests in the floors' pytest folders that call what is changed. C++ programs that they start
    are those of the real tree's build."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        self._reach: Reach | None = None
        self._env = os.environ | {
            "PYTHONPATH": os.pathsep.join((str(tree), str(tree / "runtime/python"))),
            "PYTHONDONTWRITEBYTECODE": "1",  # a mutant may have the size and time of its original
        }

    def prepare(self, floor: Floor) -> str | None:
        """Runs all tests on the unchanged tree and records what they call; returns what went wrong, if
        anything did."""
        seen = self._tree.with_name(f"{self._tree.name}-{floor.name}.json")
        env = self._env | {reach.SOURCES: floor.sources, reach.TO: str(seen)}
        tests = list(dict.fromkeys(test for stage in floor.stages for test in stage))
        status, said = run([*_PYTEST, "-p", "tools.mutants.reach", *tests], self._tree, env, _LONGEST_ALL)
        if status == 1:  # tracing takes time, which some test may not have had
            again = list(dict.fromkeys(_FAILED.findall(said)))
            status, said = run([*_PYTEST, *again], self._tree, self._env, _LONGEST_ALL)
        if status == 0:
            self._reach = Reach.read(seen, self._tree, self._tree / floor.sources)
        return None if status == 0 else said

    def stages(self, floor: Floor, mutant: Mutant) -> Iterator[Stage]:  # noqa: ARG002
        assert self._reach is not None
        tests = self._reach.tests_of(mutant)
        if tests:
            yield Stage(tests, _limit(self._reach.time_of(tests)))

    def compiles(self, path: Path) -> bool:
        return python_source.compiles(path.read_bytes())

    def run(self, stage: Stage) -> tuple[Verdict, str]:
        return _judged(*run([*_PYTEST, "-x", *stage.tests], self._tree, self._env, stage.limit))


class CppTrial:
    """One test binary for each floor, unoptimized, so that a change costs compiling one file and a link."""

    def __init__(self, tree: Path, build: Path, jobs: int) -> None:
        self._tree = tree
        self._build = build
        self._jobs = jobs
        self._binaries: dict[str, Path] = {}
        self._limits: dict[tuple[str, ...], float] = {}

    def prepare(self, floor: Floor) -> str | None:
        """Configures, builds and runs everything; returns what went wrong, if anything did."""
        configure = ["cmake", "-S", str(self._tree), "-B", str(self._build), "-G", "Ninja"]
        configure += ["-DCMAKE_CXX_COMPILER=clang++-19", "-DCMAKE_BUILD_TYPE=Debug", "-DMF_PCH=ON"]
        configure += ["-DCMAKE_CXX_FLAGS_DEBUG=-O0 -D_GLIBCXX_ASSERTIONS -w"]
        configure += ["-DCMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE=PRE_TEST"]
        status, said = run(configure, self._tree, os.environ, 300)
        if status == 0:
            names = [name for stage in floor.stages for name in stage]
            status, said = self._make(names, os.environ, 3600)
        if status != 0:
            return said
        for stage in floor.stages:
            begun = time.monotonic()
            verdict, said = self.run(Stage(stage, _LONGEST_ALL))
            if verdict != Verdict.SURVIVED:
                return said
            self._limits[stage] = _limit(time.monotonic() - begun)
        return None

    def stages(self, floor: Floor, mutant: Mutant) -> Iterator[Stage]:  # noqa: ARG002
        """Starts with the floor's own tests."""
        for stage in floor.stages:
            yield Stage(stage, self._limits[stage])

    def compiles(self, path: Path) -> bool:  # noqa: ARG002
        """Always true here: the build decides."""
        return True

    def _make(self, names: Sequence[str], env: Mapping[str, str], limit: float) -> tuple[int | None, str]:
        command = [
            "ninja",
            "-C",
            str(self._build),
            "-j",
            str(self._jobs),
            *(f"mf_test_{name}" for name in names),
        ]
        return run(command, self._tree, env, limit)

    def _binary(self, name: str) -> Path:
        if name not in self._binaries:
            (self._binaries[name],) = self._build.rglob(f"mf_test_{name}")
        return self._binaries[name]

    def run(self, stage: Stage) -> tuple[Verdict, str]:
        env = os.environ | {"CCACHE_READONLY": "1"}  # uses the cache, but stores no mutant in it
        status, said = self._make(stage.tests, env, _LONGEST_BUILD)
        if status != 0:
            return Verdict.NO_PROGRAM, said
        until = time.monotonic() + stage.limit
        verdict, said = Verdict.SURVIVED, ""
        for name in stage.tests:
            command = [str(self._binary(name)), "--gtest_fail_fast", "--gtest_brief=1"]
            verdict, said = _judged(*run(command, self._build, os.environ, max(until - time.monotonic(), 1)))
            if verdict != Verdict.SURVIVED:
                break
        return verdict, said


def _judged(status: int | None, said: str) -> tuple[Verdict, str]:
    return (Verdict.HUNG if status is None else Verdict.KILLED if status else Verdict.SURVIVED), said
