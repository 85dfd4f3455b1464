"""What `make bench-controller` runs: registrations and look-ups a second at a controller on one core, and how
long a change takes to a thousand watchers. main.cpp says what is done."""

from __future__ import annotations

import contextlib
import os
import signal
import statistics
from collections.abc import Iterator
from pathlib import Path

from harness.child import BenchError, Child
from harness.rows import Samples

NAME = "controller"
CHART = {"register": "requests_per_s", "look_up": "requests_per_s", "push_1000": "ms"}

_LIMIT_SECONDS = 120.0
_END_SECONDS = 20.0
_TICKS = os.sysconf("SC_CLK_TCK")
_PLACEMENT = "controller on one core"


def run(build: Path, quick: bool, samples: Samples, _failures: list[str]) -> None:
    for binary in (build / "mf-controller", build / "bench/bench-controller"):
        if not binary.exists():
            raise BenchError(f"{binary} is not there; `make bench-controller` builds it")
    for _ in range(1 if quick else 5):
        for work, count in (("register", 10_000), ("look_up", 20_000 if quick else 100_000)):
            seconds, used = _measured(build, work, count)
            of_one = {"server_cpu_us_per_request": used / count * 1e6} if work == "register" else {}
            samples.add(work, _PLACEMENT, "mf", {"requests_per_s": count / seconds[0], **of_one})
        times, _used = _measured(build, "push", 20)
        samples.add("push_1000", _PLACEMENT, "mf", {"ms": statistics.median(times), "p99_ms": max(times)})


def _measured(build: Path, work: str, count: int) -> tuple[list[float], float]:
    """What the program says, and the seconds of processor that the controller used."""
    cores = sorted(os.sched_getaffinity(0))
    rest = set(cores[1:]) or set(cores)
    with (
        _controller(build, {cores[0]}) as (url, pid),
        Child([str(build / "bench/bench-controller"), url, work, str(count)], rest) as client,
    ):
        before = _processor_seconds(pid)
        answer = [float(word) for word in client.hear(_LIMIT_SECONDS).split()]
        return answer, _processor_seconds(pid) - before


@contextlib.contextmanager
def _controller(build: Path, cores: set[int]) -> Iterator[tuple[str, int]]:
    command = [str(build / "mf-controller"), "--listen", "tcp://127.0.0.1:0", "--log-level", "off"]
    with Child(command, cores) as child:
        yield "tcp" + child.hear(_END_SECONDS).removeprefix("mf"), child.pid
        child.signal(signal.SIGTERM)
        child.wait(_END_SECONDS)


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
