"""What `make bench-flex` runs: Table 2 of the paper in C++ and in Python, beside ZeroMQ and mpi4py where they
are installed, and what matching costs by the length of the queue.

Each language has its own `raw`: blocking sockets of that language. The peers are reached from Python.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

from harness.chart import write_chart
from harness.child import output_of
from harness.interleaved import CROSS, SAME, Interleaved, Work
from harness.lines import Panel, write_lines
from harness.pair import System
from harness.rows import Row, Samples
from harness.table import table

NAME = "flex"

_METRICS = ("one_way_us", "mb_per_s")
_COUNTS = {"pingpong_128": 5_000, "pingpong_16k": 2_000, "pingpong_64k": 1_000}
_WORKS = tuple(
    Work(work, count, (*_METRICS, "cpu_us_per_request"), (SAME, CROSS), syscalls=True)
    for work, count in _COUNTS.items()
)
_OF_PYTHON = tuple(replace(work, name=f"python_{work.name}") for work in _WORKS)
# Both ends of MPI are processes of its own, so that nothing can be counted of them from here.
_OF_PEERS = tuple(replace(work, metrics=_METRICS, syscalls=False) for work in _OF_PYTHON)
_WAYS = {"raw": "raw", "codec": "mf/codec", "queue": "mf", "node": "mf/node"}
_WAYS_OF_PYTHON = {
    "raw": "raw",
    "pickle": "pickle",
    "codec": "mf/python/codec",
    "queue": "mf/python",
    "node": "mf/python/node",
}
_WAITING = {"match_0": 0, "match_100": 100, "match_1k": 1_000, "match_10k": 10_000, "match_100k": 100_000}
CHART = {work.name: "one_way_us" for work in (*_WORKS, *_OF_PYTHON)}
_HERE = Path(__file__).parent
_LIMIT_SECONDS = 120


def run(build: Path, quick: bool, samples: Samples, failures: list[str]) -> None:
    path = os.pathsep.join([str(_HERE.parent), str(_HERE.parent.parent / "runtime" / "python")])
    env = {"PYTHONPATH": path}
    native = str(build / "bench" / "bench-flex-pingpong")
    program = [sys.executable, str(_HERE / "program.py")]
    of_cpp = [System(name, [native, way, "server"], [native, way, "client"]) for way, name in _WAYS.items()]
    of_python = [
        System(name, [*program, way, "server"], [*program, way, "client"], env=env)
        for way, name in _WAYS_OF_PYTHON.items()
    ]
    rounds = 3 if quick else 11
    peers = _peers(env)
    for placement in (SAME, CROSS):
        Interleaved(of_cpp, placement, samples, failures).run(_WORKS, rounds)
        Interleaved(of_python, placement, samples, failures).run(_OF_PYTHON, rounds)
        Interleaved(peers, placement, samples, failures).run(_OF_PEERS, rounds)
    for _ in range(rounds):
        for work, waiting in _WAITING.items():
            for each in ([*program, "match"], [str(build / "bench" / "bench-flex-match")]):
                for name, spent in _matching(each, env, waiting).items():
                    samples.add(work, SAME, name, {"median_us": spent})


def _peers(env: dict[str, str]) -> list[System]:
    """Those that are installed; the others are named, with how to install them."""
    peers = []
    python = [sys.executable, str(_HERE / "peers" / "zeromq.py")]
    if importlib.util.find_spec("zmq"):
        peers.append(System("zeromq", [*python, "server"], [*python, "client"], env=env))
    else:
        print("bench: ZeroMQ is not installed, so it is no peer: pip install pyzmq", file=sys.stderr)
    python = [sys.executable, str(_HERE / "peers" / "mpi.py")]
    mpiexec = shutil.which(
        "mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    if importlib.util.find_spec("mpi4py") and mpiexec:
        both = [mpiexec, "-n", "2", *python, "client"]
        peers.append(System("mpi4py", [*python, "server"], both, env=env))
    else:
        print("bench: mpi4py is not installed, so it is no peer: pip install mpi4py mpich", file=sys.stderr)
    return peers


def _matching(program: list[str], env: dict[str, str], waiting: int) -> dict[str, float]:
    found: dict[str, float] = json.loads(output_of([*program, str(waiting), "2000"], _LIMIT_SECONDS, env))
    return found


# How it is shown


def show(rows: list[Row]) -> str:
    return table(rows) if rows else ""


def draw(rows: list[Row], out: Path) -> None:
    """Bars of the ping-pong, and lines of what matching costs."""
    write_chart(rows, CHART, out / "flex.svg")
    costs: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        if row.work in _WAITING and row.value is not None:
            costs.setdefault(row.system, []).append((_WAITING[row.work] or 1, row.value))
    for points in costs.values():
        points.sort()
    write_lines(
        [Panel("poll(src=..., tag=...)", "messages that wait and do not match", "us", costs)],
        out / "flex_matching.svg",
    )
