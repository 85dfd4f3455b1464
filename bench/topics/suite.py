"""What `make bench-topics` runs: the two experiments of the seed, and fan-out, latency and decoding over TCP.

Processes of a chain are started anew for each round, so that those of others do not run beside them.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.child import BenchError, output_of
from harness.interleaved import CROSS, SAME, UNPINNED
from harness.lines import Panel, write_lines
from harness.rows import Row, Samples
from harness.table import table
from topics import systems
from topics.chain import Chain, Shape, System, chain

NAME = "topics"
CHART: dict[str, str] = {}

_LIMIT_SECONDS = 60
_STREAM_SUBSCRIBERS = (1, 2, 4, 8, 16)
_STREAM_SIZES = (100, 1_024, 8_192, 65_536)
_NODES = (0, 1, 2, 3)
_CHAIN_SIZES = (10, 100, 1_000, 10_000)
_DECODERS = (0, 1, 2, 4)
# Of the seed's own machine, a computer with four cores of 2012; medians of what it lists.
SEED = {"copying": 46_000, "sharing": 67_900, "sharing, two workers": 102_000}

Failures = list[str]


def run(build: Path, quick: bool, samples: Samples, failures: Failures) -> None:
    rounds = 1 if quick else 3
    for number in range(rounds):
        _say(f"in one process: round {number + 1} of {rounds}")
        _streams(build, quick, samples, failures)
    raw, ours, others = systems.raw(build), systems.ours(build), systems.other_ways(build)
    bench = _Bench(quick, rounds, samples, failures)
    peers = systems.peers(build)
    every = [raw, ours, *others, *peers]
    for subscribers, cells in _FAN_OUT.items():
        bench.rates(every, Shape(0, subscribers), f"tcp_{subscribers}", cells)
    bench.latencies(every)
    for nodes in (0, 2) if quick else _NODES:
        cells = {size: _chain_count(size) for size in _CHAIN_SIZES}
        bench.rates([raw, ours, *peers], Shape(nodes, 1), f"chain_{nodes}", cells)
    decoders = [systems.decoding(build, threads) for threads in _DECODERS]
    bench.rates(decoders, Shape(0, 1), "decode", {1_024: 100_000})


# Messages published, by subscribers and size.
_FAN_OUT = {
    1: {100: 1_000_000, 1_024: 300_000, 65_536: 10_000},
    4: {100: 400_000, 1_024: 100_000, 65_536: 4_000},
    16: {100: 100_000, 1_024: 30_000},
}


def _chain_count(size: int) -> int:
    return 300_000 if size <= 100 else 60_000 if size <= 1_000 else 10_000


def _say(what: str) -> None:
    print(f"bench: {what}", file=sys.stderr, flush=True)


def size_name(size: int) -> str:
    return f"{size // 1_024}k" if size % 1_024 == 0 else f"{size}b"


class _Bench:
    def __init__(self, quick: bool, rounds: int, samples: Samples, failures: Failures) -> None:
        self._quick = quick
        self._rounds = rounds
        self._samples = samples
        self._failures = failures
        self._failed: set[tuple[str, str]] = set()

    def rates(self, of: Sequence[System], shape: Shape, name: str, cells: dict[int, int]) -> None:
        """`cells`: how many messages are published, by size."""
        if self._quick:
            cells = {size: max(count // 20, 100) for size, count in list(cells.items())[:2]}

        def measure(system: System, run: Chain, counting: bool) -> None:
            for size, count in cells.items():
                each = max(count // system.slower, 100)
                taken = run.syscalls(size, each) if counting else run.rate(size, each)
                self._samples.add(f"{name}_{size_name(size)}", CROSS, system.name, taken)

        for number in range(self._rounds):
            _say(f"{name}: round {number + 1} of {self._rounds}")
            self._each(of, shape, name, lambda system, run: measure(system, run, counting=False))
        if not self._quick:
            self._each(of, shape, name, lambda system, run: measure(system, run, counting=True))

    def latencies(self, of: Sequence[System]) -> None:
        count = 100 if self._quick else 2_000

        def measure(system: System, run: Chain) -> None:
            self._samples.add("latency_100b", SAME, system.name, run.latency(100, count))

        for number in range(self._rounds):
            _say(f"latency: round {number + 1} of {self._rounds}")
            self._each(of, Shape(0, 1, same_core=True), "latency", measure)

    def _each(
        self, of: Sequence[System], shape: Shape, name: str, measure: Callable[[System, Chain], None]
    ) -> None:
        """What one fails at is reported, and left out from then on."""
        for system in of:
            if (system.name, name) in self._failed:
                continue
            if name.startswith("chain") and shape.nodes < system.fewest_nodes:
                continue
            try:
                with chain(system, shape) as run:
                    measure(system, run)
            except BenchError as error:
                self._failed.add((system.name, name))
                self._failures.append(f"{system.name}, {name}: {error}")
                _say(self._failures[-1])


# ---- in one process


def _streams(build: Path, quick: bool, samples: Samples, failures: Failures) -> None:
    program = str(build / "bench" / "bench-topics-stream")
    ways = {
        f"{system}/{way}": [program, system, way]
        for way in ("share", "copy", "write")
        for system in ("raw", "mf")
    }
    for size in _STREAM_SIZES[:2] if quick else _STREAM_SIZES:
        for subscribers in (1, 4) if quick else _STREAM_SUBSCRIBERS:
            for name, command in ways.items():
                count = _stream_count(size, subscribers, quick)
                try:
                    found = _program([*command, str(subscribers), str(size), str(max(count, 100))])
                    samples.add(f"stream_{subscribers}_{size_name(size)}", UNPINNED, name, found)
                except BenchError as error:
                    failures.append(f"{name}, {subscribers} subscribers, {size} bytes: {error}")


def _stream_count(size: int, subscribers: int, quick: bool) -> int:
    """As many messages as a system that copies them passes in about a fifth of a second."""
    count = min(400_000, 80_000_000 // size) // subscribers
    return count // 10 if quick else count


def _program(command: list[str]) -> dict[str, float | None]:
    found: dict[str, float | None] = json.loads(output_of(command, _LIMIT_SECONDS))
    return found


# ---- how it is shown


def show(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    seed = ", ".join(f"{how}: {rate:,}" for how, rate in SEED.items())
    return f"{table(rows)}\n\nThe seed's own chain_2_100b, on its machine of 2012, messages/s: {seed}"


def draw(rows: Sequence[Row], out: Path) -> None:
    panels = [
        Panel("In one process, 1 KiB", "subscribers", "delivered/s", _lines(rows, r"stream_(\d+)_1k")),
        Panel("In one process, 4 subscribers", "bytes", "delivered/s", _lines(rows, r"stream_4_(\w+)")),
        Panel("TCP, 100 bytes", "subscribers", "delivered/s", _lines(rows, r"tcp_(\d+)_100b")),
        Panel("TCP, 1 KiB", "subscribers", "delivered/s", _lines(rows, r"tcp_(\d+)_1k")),
    ]
    for nodes in _NODES:
        lines = _lines(rows, rf"chain_{nodes}_(\w+)")
        if nodes == 2 and lines:
            lines |= {f"seed, {how}": [(100.0, float(rate))] for how, rate in SEED.items()}
        panels.append(Panel(f"Publisher, {nodes} nodes, subscriber", "bytes", "messages/s", lines))
    write_lines(panels, out / f"{NAME}.svg")


def _lines(rows: Sequence[Row], works: str) -> dict[str, list[tuple[float, float]]]:
    found: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        at = re.fullmatch(works, row.work)
        if at and row.metric == "delivered_per_s" and row.value:
            found.setdefault(row.system, []).append((_number(at[1]), row.value))
    return {system: sorted(points) for system, points in found.items()}


def _number(name: str) -> float:
    if name.endswith("k"):
        return float(name[:-1]) * 1_024
    return float(name.removesuffix("b"))
