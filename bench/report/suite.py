"""What `make bench-report` runs: the experiments of the technical report, and dCache's way to a file.

- `wait_1`, `wait_16` (section 4.1): 1 or 16 threads call, each one call at a time. A caller checks every
  millisecond whether its reply has come (`polling`), sleeps on a semaphore that a map finds
  (`semaphores`), or calls as usual.
- `light_100k` (4.2): four managers of one process each send a batch to a fifth: as in figure 6
  (`global-queues`), as in figure 7 (`queues`), with replies merged (`queues-merged`), and as light does it.
- `index_60kb` (5): documents of the tier archive are read by the thread that reads the socket
  (`0-threads`), or by 1, 2 or 4 others; both processes may use every core.
- `dcache_open`: a door, a metadata server, a pool manager and a pool, a process each: the time of a
  request, also while the pool sends 2,000 heartbeats per second; and how long its eight messages, and one
  heartbeat, take to write and read.
"""

from __future__ import annotations

from pathlib import Path

from harness.child import BenchError
from harness.interleaved import CPU, CROSS, SAME, UNPINNED, Interleaved, Work
from harness.pair import System
from harness.rows import Samples

NAME = "report"

_WAITS = ("median_us", "p99_us", "requests_per_s", "cpu_us_per_request")
_WORKS = (
    Work("wait_1", 1_000, _WAITS),
    Work("wait_16", 8_000, _WAITS),
    Work("light_100k", 100_000, ("ms", "requests_per_s", "cpu_us_per_request")),
    Work("dcache_open", 2_000, ("median_us", "p99_us", "heartbeats_per_s", *CPU)),
    Work("dcache_messages", 20_000, ("median_us",), placements=(SAME,)),
    Work("dcache_heartbeat", 20_000, ("median_us",), placements=(SAME,)),
)
_INDEX = (Work("index_60kb", 400, ("ms", "requests_per_s", *CPU), placements=(UNPINNED,)),)
_VARIANTS = {
    "wait_1": ("", "semaphores", "polling"),
    "wait_16": ("", "semaphores", "polling"),
    "light_100k": ("", "queues-merged", "queues", "global-queues"),
    "dcache_open": ("", "heartbeats"),
}

CHART = {
    "wait_1": "median_us",
    "wait_16": "requests_per_s",
    "light_100k": "ms",
    "index_60kb": "requests_per_s",
    "dcache_open": "median_us",
    "dcache_messages": "median_us",
    "dcache_heartbeat": "median_us",
}


def run(build: Path, quick: bool, samples: Samples, failures: list[str]) -> None:
    server, client = (build / "bench" / f"bench-report-{end}" for end in ("server", "client"))
    for program in (server, client):
        if not program.exists():
            raise BenchError(f"{program} is not there; `make bench-report` builds it")
    ours = [System("mf", [str(server), "4"], [str(client)], _VARIANTS)]
    indexers = [
        System(f"mf/{threads}-threads", [str(server), str(threads)], [str(client)])
        for threads in (0, 1, 2, 4)
    ]
    rounds = 3 if quick else 7
    for placement in (SAME, CROSS):
        Interleaved(ours, placement, samples, failures).run(_WORKS, rounds)
    Interleaved(indexers, UNPINNED, samples, failures).run(_INDEX, rounds)
