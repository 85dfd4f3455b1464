"""Measures Python's libraries for bench/pycodecs/measure.py, by the commands of bench/codecs/main.cpp.

The clock is the thread's processor time; as in `timeit`, the garbage collector is off meanwhile.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable

import mf.native
from pycodecs.libraries import LIBRARIES, Case
from pycodecs.values import WORKS

_BATCH_NS = 1_000_000
_RUN_NS = 10_000_000  # no further batch starts after this time
_BATCHES = 7


class _Program:
    def __init__(self) -> None:
        self._cases: dict[str, tuple[Case, bytes]] = {}
        self._times: dict[tuple[str, str], int] = {}

    def work(self, name: str) -> dict[str, int]:
        value = WORKS[name]()
        self._cases.clear()
        self._times.clear()
        for library, make in LIBRARIES.items():
            case = make(value)
            if case is None:
                continue
            data = bytes(case.write()) if case.write else case.data
            if case.wanted != case.read(data):
                sys.exit(f"{library} at {name}: another value came back")
            self._cases[library] = (case, data)
        gc.collect()
        gc.freeze()
        return {library: len(data) for library, (_, data) in self._cases.items()}

    def run(self, library: str, step: str) -> float | None:
        case, data = self._cases[library]
        if step == "serialize" and case.write:
            return self._ns((library, step), case.write)
        if step == "deserialize":
            read = case.read
            return self._ns((library, step), lambda: read(data))
        return None

    def _ns(self, key: tuple[str, str], once: Callable[[], object]) -> float:
        times = self._times.get(key) or self._enough(once)
        self._times[key] = times
        best = spent = _batch(once, times)
        for _ in range(1, _BATCHES):
            if spent > _RUN_NS:
                break
            ns = _batch(once, times)
            best, spent = min(best, ns), spent + ns
        return best / times

    @staticmethod
    def _enough(once: Callable[[], object]) -> int:
        """Returns how many repetitions make a batch long enough; the search also warms up."""
        times = 1
        while _batch(once, times) < _BATCH_NS / 2:
            times *= 2
        return times


def _batch(once: Callable[[], object], times: int) -> int:
    count = range(times)
    start = time.thread_time_ns()
    for _ in count:
        once()
    return time.thread_time_ns() - start


def main() -> None:
    print(mf.native.why(), file=sys.stderr)
    gc.disable()
    program = _Program()
    for line in sys.stdin:
        command, *words = line.split()
        if command == "works":
            answer = " ".join(WORKS)
        elif command == "work":
            answer = json.dumps(program.work(*words))
        else:
            ns = program.run(*words)
            answer = "none" if ns is None else f"{ns:.3f}"
        print(answer, flush=True)


if __name__ == "__main__":
    main()
