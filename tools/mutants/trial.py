"""Runs the tests of a floor in a copy of the tree, changed or not, each time within a limit of time."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from tools.mutants import python_source
from tools.mutants.floors import Floor

_LONGEST_BUILD = 300  # seconds
_LONGEST_TEST = 30  # seconds; a test of a mutant that takes longer hangs


class Verdict(StrEnum):
    KILLED = "killed"
    HUNG = "hung"  # as good as killed
    SURVIVED = "survived"
    NO_PROGRAM = "no program"  # it does not compile, so it says nothing about the tests


_RUNNING: set[int] = set()


def end_all() -> None:
    """Ends what is being run, for who is told to end: it has process groups of its own."""
    for group in list(_RUNNING):
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


def run(command: Sequence[str], cwd: Path, env: Mapping[str, str], limit: float) -> tuple[int | None, str]:
    """The exit status, None where the time was over, and the last of what was said. No process stays."""
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        _RUNNING.add(process.pid)
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


class PythonTrial:
    """The floors' pytest folders. C++ programs that they start are those of the real tree's build."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        self._env = os.environ | {
            "PYTHONPATH": os.pathsep.join((str(tree), str(tree / "runtime/python"))),
            "PYTHONDONTWRITEBYTECODE": "1",  # a mutant may have the size and the second of what it came from
        }

    def prepare(self, floor: Floor) -> str | None:  # noqa: ARG002
        """There is nothing to build."""
        return None

    def compiles(self, path: Path) -> bool:
        return python_source.compiles(path.read_bytes())

    def run(self, stage: Sequence[str], limit: float) -> tuple[Verdict, str]:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        command += ["--timeout", str(_LONGEST_TEST), *stage]
        return _judged(*run(command, self._tree, self._env, limit))


class CppTrial:
    """One test binary a floor, unoptimized, so that a change costs one file and a link."""

    def __init__(self, tree: Path, build: Path, jobs: int) -> None:
        self._tree = tree
        self._build = build
        self._jobs = jobs
        self._binaries: dict[str, Path] = {}

    def prepare(self, floor: Floor) -> str | None:
        """Configures and builds all; what the compiler said where that fails."""
        configure = ["cmake", "-S", str(self._tree), "-B", str(self._build), "-G", "Ninja"]
        configure += ["-DCMAKE_CXX_COMPILER=clang++-19", "-DCMAKE_BUILD_TYPE=Debug", "-DMF_PCH=ON"]
        configure += ["-DCMAKE_CXX_FLAGS_DEBUG=-O0 -D_GLIBCXX_ASSERTIONS -w"]
        configure += ["-DCMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE=PRE_TEST"]
        status, said = run(configure, self._tree, os.environ, 300)
        if status == 0:
            names = [name for stage in floor.stages for name in stage]
            status, said = self._make(names, os.environ, 3600)
        return None if status == 0 else said

    def compiles(self, path: Path) -> bool:  # noqa: ARG002
        """The build says so."""
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

    def run(self, stage: Sequence[str], limit: float) -> tuple[Verdict, str]:
        env = os.environ | {"CCACHE_READONLY": "1"}  # it gives back what was, and keeps no mutant
        status, said = self._make(stage, env, _LONGEST_BUILD)
        if status != 0:
            return Verdict.NO_PROGRAM, said
        until = time.monotonic() + limit
        for name in stage:
            command = [str(self._binary(name)), "--gtest_fail_fast", "--gtest_brief=1"]
            verdict, said = _judged(*run(command, self._build, os.environ, max(until - time.monotonic(), 1)))
            if verdict != Verdict.SURVIVED:
                break
        return verdict, said


def _judged(status: int | None, said: str) -> tuple[Verdict, str]:
    return (Verdict.HUNG if status is None else Verdict.KILLED if status else Verdict.SURVIVED), said
