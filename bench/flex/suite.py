"""What `make bench-flex` runs: Table 2 of the paper, and what matching costs by the length of the queue."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from harness.child import BenchError
from harness.interleaved import SAME, Interleaved, Work
from harness.pair import System
from harness.rows import Samples

NAME = "flex"

_WORKS = (
    Work("pingpong_128", 5_000, ("one_way_us", "mb_per_s"), (SAME,)),
    Work("pingpong_16k", 2_000, ("one_way_us", "mb_per_s"), (SAME,)),
    Work("pingpong_64k", 1_000, ("one_way_us", "mb_per_s"), (SAME,)),
)
_WAYS = {
    "raw": "raw",
    "pickle": "pickle",
    "codec": "mf/python/codec",
    "queue": "mf/python",
    "node": "mf/python/node",
}
_WAITING = {"match_0": 0, "match_100": 100, "match_1k": 1_000, "match_10k": 10_000, "match_100k": 100_000}
CHART = {**{work.name: "one_way_us" for work in _WORKS}, **dict.fromkeys(_WAITING, "median_us")}
_HERE = Path(__file__).parent
_LIMIT_SECONDS = 120


def run(build: Path, quick: bool, samples: Samples, failures: list[str]) -> None:
    path = os.pathsep.join([str(_HERE.parent), str(_HERE.parent.parent / "runtime" / "python")])
    env = {"PYTHONPATH": path}
    program = [sys.executable, str(_HERE / "program.py")]
    systems = [
        System(name, [*program, way, "server"], [*program, way, "client"], env=env)
        for way, name in _WAYS.items()
    ]
    Interleaved(systems, SAME, samples, failures).run(_WORKS, 3 if quick else 11)
    for _ in range(3 if quick else 11):
        for work, waiting in _WAITING.items():
            for each in ([*program, "match"], [str(build / "bench" / "bench-flex-match")]):
                for name, spent in _matching(each, env, waiting).items():
                    samples.add(work, SAME, name, {"median_us": spent})


def _matching(program: list[str], env: dict[str, str], waiting: int) -> dict[str, float]:
    done = subprocess.run(
        [*program, str(waiting), "2000"],
        env=os.environ | env,
        capture_output=True,
        text=True,
        check=False,
        timeout=_LIMIT_SECONDS,
    )
    if done.returncode != 0:
        raise BenchError(f"matching among {waiting} messages failed: {done.stderr}")
    found: dict[str, float] = json.loads(done.stdout)
    return found
