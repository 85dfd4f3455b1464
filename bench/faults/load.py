"""The Python counterpart of client.cpp: makes calls while the bench causes faults, and reports how they went.
A client program gives it a function that creates a caller of its own, which is a function that makes one
call.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

_DEADLINE = 5.0
_PAUSE = 0.01
_CALLERS = 32
_HERD_PATIENCE = 120.0

Step = Callable[[float], str]
"""Makes one call with this deadline; returns why it failed, or an empty string."""


class _Caller:
    """One thread of the load, and how its calls went."""

    def __init__(self, step: Step) -> None:
        self._step = step
        self._lock = threading.Lock()
        self._last_answer = time.monotonic()
        self._forget()
        self.answered = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def _forget(self) -> None:
        self._calls = self._failed = self._back = 0
        self._first = ""
        self._gap = 0.0

    def take(self) -> tuple[int, int, str, float, int]:
        with self._lock:
            gap = max(self._gap, time.monotonic() - self._last_answer)  # a lasting one counts as well
            met = self._calls, self._failed, self._first, gap, self._back
            self._forget()
        return met

    def _run(self) -> None:
        failing = False
        while True:
            why = self._step(_DEADLINE)
            now = time.monotonic()
            with self._lock:
                self._calls += 1
                if not why:
                    if self.answered.is_set():
                        self._gap = max(self._gap, now - self._last_answer)
                    if failing:
                        self._back = time.monotonic_ns()
                    failing = False
                    self._last_answer = now
                else:
                    self._failed += 1
                    self._first = self._first or why
                    failing = True
            if failing:
                time.sleep(_PAUSE)
            else:
                self.answered.set()


def _report(callers: list[_Caller]) -> dict[str, Any]:
    met = [caller.take() for caller in callers]
    return {
        "calls": sum(each[0] for each in met),
        "failed": sum(each[1] for each in met),
        "first": next((each[2] for each in met if each[2]), ""),
        "gaps_ms": [each[3] * 1e3 for each in met],
        "back_ns": max((each[4] for each in met), default=0),
    }


def _all_back(herd: list[Step]) -> int:
    """Each client calls until it has an answer. Returns when the last one had it; 0 if not all had one."""
    left = deque(herd)
    back: list[int] = []
    until = time.monotonic() + _HERD_PATIENCE

    def run() -> None:
        while len(back) < len(herd) and time.monotonic() < until:
            try:
                step = left.popleft()
            except IndexError:
                time.sleep(0.001)
                continue
            if step(1.0):
                left.append(step)
                time.sleep(0.001)
            else:
                back.append(time.monotonic_ns())

    threads = [threading.Thread(target=run) for _ in range(_CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return max(back) if len(back) == len(herd) else 0


def _sample(step: Step, seconds: float) -> dict[str, Any]:
    us: list[float] = []
    failed = 0
    until = time.monotonic() + seconds
    while (before := time.monotonic()) < until:
        failed += bool(step(_DEADLINE))
        us.append((time.monotonic() - before) * 1e6)
    us.sort()
    return {
        "calls": len(us),
        "p50_us": us[len(us) // 2],
        "p99_us": us[len(us) - 1 - len(us) // 100],
        "failed": failed,
    }


def obey(new_client: Callable[[], Step]) -> None:
    """Obeys the lines of standard input until they end; client.cpp lists them."""
    step = new_client()
    callers: list[_Caller] = []
    herd: list[Step] = []
    for line in sys.stdin:
        command, _, count = line.strip().partition(" ")
        answer: object = "ready"
        if command == "load":
            callers += [_Caller(step) for _ in range(int(count) - len(callers))]
            for caller in callers:
                caller.answered.wait()
        elif command == "report":
            answer = _report(callers)
        elif command == "herd":
            herd += [new_client() for _ in range(int(count) - len(herd))]
            answer = "ready" if _all_back(herd) else "none"
        elif command == "back":
            answer = {"back_ns": _all_back(herd)}
        elif command == "sample":
            answer = _sample(step, float(count))
        elif command == "one":
            before = time.monotonic()
            why = step(float(count))
            answer = {"ms": (time.monotonic() - before) * 1e3, "ok": int(not why), "how": why}
        else:
            sys.exit(f"{sys.argv[0]}: {command} is no command")
        print(answer if isinstance(answer, str) else json.dumps(answer), flush=True)
