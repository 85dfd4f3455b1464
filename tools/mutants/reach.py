"""Records which tests call which functions of a floor, while all of them run once on the unchanged tree.

It is a plugin of pytest (`-p tools.mutants.reach`) that two environment variables enable: SOURCES names the
folder, TO the file for the result. Only the entry into each function is traced, in all threads. What a
fixture calls counts for all tests of the file. A test that starts Python programs may reach anything that
these call, which is not traced: it is taken to call everything. A line outside of all functions counts for
every test.
"""

import _thread
import ast
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from tools.mutants.mutant import Mutant

SOURCES, TO = "MF_MUTANTS_REACH_SOURCES", "MF_MUTANTS_REACH_TO"


@dataclass
class Reach:
    """`calls`: for each test, or file of tests, the functions as (file, line); `seconds`: of each test;
    `programs`: the tests and files that start Python programs; `functions`: the first and last lines of those
    of each file, the outer ones first."""

    calls: dict[str, set[tuple[str, int]]]
    seconds: dict[str, float]
    programs: set[str]
    functions: dict[str, list[tuple[int, int]]]

    @classmethod
    def read(cls, path: Path, tree: Path, sources: Path) -> "Reach":
        said = json.loads(path.read_text())
        calls = {test: {(file, line) for file, line in some} for test, some in said["calls"].items()}
        functions = {
            str(file.relative_to(tree)): functions_of(file.read_bytes()) for file in sources.rglob("*.py")
        }
        return cls(calls, said["seconds"], set(said["programs"]), functions)

    def tests_of(self, mutant: Mutant) -> list[str]:
        """The tests that may reach the mutant, in the order in which they ran; those that start programs come
        last."""
        around = [first for first, last in self.functions[mutant.path] if first <= mutant.line <= last]
        if not around:
            return list(self.seconds)
        called = {who for who, some in self.calls.items() if (mutant.path, around[-1]) in some}
        programs = self.programs
        here = [test for test in self.seconds if {test, file_of(test)} & called]
        return here + [test for test in self.seconds if {test, file_of(test)} & programs and test not in here]

    def time_of(self, tests: list[str]) -> float:
        return sum(self.seconds[test] for test in tests)


def file_of(test: str) -> str:
    return test.split("::")[0]


def functions_of(source: bytes) -> list[tuple[int, int]]:
    """The first line, as the function's code says it, and the last one; outer functions before inner ones."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            found.append((first, node.end_lineno or first))
    return sorted(found)


class _Recorder:
    def __init__(self, root: Path, sources: Path, to: Path) -> None:
        self._root = root
        self._sources = str(sources) + os.sep
        self._to = to
        self._calls: dict[str, set[CodeType]] = {}
        self._seconds: dict[str, float] = {}
        self._programs: set[str] = set()
        self._who = ""
        self._seen: set[CodeType] = set()  # called by the test that is running now
        self._popen, self._fork = subprocess.Popen.__init__, os.fork
        self._start_thread = _thread.start_new_thread

    def begin(self) -> None:
        recorder, popen, fork = self, self._popen, self._fork

        def started(process: Any, args: Any, *others: Any, **named: Any) -> None:
            first = args if isinstance(args, str | Path) else args[0]
            if "python" in Path(first).name:
                recorder._programs.add(recorder._who)
            popen(process, args, *others, **named)

        def forked() -> int:
            recorder._programs.add(recorder._who)
            return fork()

        def start_thread(function: Any, *arguments: Any) -> int:
            def traced(*arguments: Any, **named: Any) -> None:
                sys.settrace(recorder._called)
                function(*arguments, **named)

            return recorder._start_thread(traced, *arguments)

        _thread.start_new_thread = start_thread
        subprocess.Popen.__init__ = started  # type: ignore[assignment,method-assign]
        os.fork = forked
        sys.settrace(self._called)
        threading.settrace(self._called)

    def _called(self, frame: FrameType, event: str, _: object) -> None:  # noqa: ARG002
        code = frame.f_code
        if code not in self._seen:
            self._seen.add(code)

    @contextmanager
    def of(self, who: str) -> Iterator[None]:
        self._who = who
        self._seen = self._calls.setdefault(who, set())
        if sys.gettrace() is None:  # a test has removed it
            sys.settrace(self._called)
        yield

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        with self.of(file_of(item.nodeid)):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        with self.of(item.nodeid):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        with self.of(file_of(item.nodeid)):
            return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        sys.settrace(None)
        threading.settrace(None)
        calls = {
            who: [
                (str(Path(code.co_filename).relative_to(self._root)), code.co_firstlineno)
                for code in codes
                if code.co_filename.startswith(self._sources)
            ]
            for who, codes in self._calls.items()
        }
        said = {"calls": calls, "seconds": self._seconds, "programs": sorted(self._programs)}
        self._to.write_text(json.dumps(said))


def pytest_configure(config: pytest.Config) -> None:
    if SOURCES in os.environ:
        recorder = _Recorder(config.rootpath, config.rootpath / os.environ[SOURCES], Path(os.environ[TO]))
        config.pluginmanager.register(recorder)
        recorder.begin()
