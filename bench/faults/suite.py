"""What `make bench-faults` runs: the times of "Faults" in the project's goals, with real processes.

grpcio is measured beside us, if it is installed: its clients have no controller, so only we run the works
that need one. Each run does a work from its start to its end; the systems take turns.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from faults import works
from faults.attacked import ATTACKED
from faults.overload import overload_2x, overload_2x_no_limit
from faults.system import System
from faults.works import Found
from harness.child import BenchError
from harness.interleaved import UNPINNED
from harness.rows import Samples
from pyrpc.suite import grpc_stubs

NAME = "faults"

# Each with its number of runs, and the number when quick.
_WORKS: tuple[tuple[Callable[[System, bool], Found | None], int, int], ...] = (
    (works.controller_away, 1, 1),
    (works.replica_killed, 1, 1),
    (works.same_server_back, 9, 3),
    (works.server_stopped, 3, 1),
    (works.herd_back, 5, 2),
    (works.rolling_restart, 1, 1),
    (overload_2x, 3, 1),
    (overload_2x_no_limit, 3, 1),
    *((work, 5, 1) for work in ATTACKED),
)
CHART = {
    "controller_away": "failed_calls",
    "replica_killed": "p99_ms",
    "same_server_back": "ms",
    "server_stopped": "ms",
    "herd_back": "ms",
    "rolling_restart": "failed_calls",
    "overload_2x": "goodput_percent",
    "overload_2x_no_limit": "goodput_percent",
    **{work.__name__: "p99_us" for work in ATTACKED},
}
_HERE = Path(__file__).parent


def run(build: Path, quick: bool, samples: Samples, failures: list[str]) -> None:
    systems = _systems(build)
    for work, runs, quick_runs in _WORKS:
        for number in range(quick_runs if quick else runs):
            for system in systems:
                print(f"bench: {work.__name__}, {system.name}, {number + 1}", file=sys.stderr, flush=True)
                try:
                    found = work(system, quick)
                except (BenchError, RuntimeError) as error:
                    failures.append(f"{system.name}, {work.__name__}: {error}")
                    continue
                if found is not None:
                    samples.add(work.__name__, UNPINNED, system.name, found)


def _systems(build: Path) -> list[System]:
    programs = {end: build / "bench" / f"bench-faults-{end}" for end in ("server", "client")}
    controller = [str(build / "mf-controller"), "--store", "memory:"]
    for program in (*programs.values(), Path(controller[0])):
        if not program.exists():
            raise BenchError(f"{program} is not there; `make bench-faults` builds it")
    path = [build / "bench" / "faults" / "python", _HERE.parent, _HERE.parent.parent / "runtime" / "python"]
    env = {"PYTHONPATH": os.pathsep.join(map(str, path))}

    def python(name: str) -> list[str]:
        return [sys.executable, str(_HERE / f"{name}.py")]

    systems = [
        System("mf", [str(programs["server"])], [str(programs["client"])], controller, env),
        System("mf/python", python("mf_server"), python("mf_client"), controller, env),
    ]
    if stubs := grpc_stubs(build, sys.executable):
        env = {"PYTHONPATH": os.pathsep.join([str(stubs), env["PYTHONPATH"]])}
        systems.append(System("grpcio", python("grpc_server"), python("grpc_client"), env=env))
    else:
        print("bench: grpcio is not installed, so it is no peer", file=sys.stderr)
    return systems
