"""What `make bench-patterns` runs: the seed's table, how long a million messages to three servers take by
each flow and payload, with 1 and with 64 under way; between processes on loopback, in C++ and in Python, and
on a modelled link (model.py), whose delay and bandwidth are MF_PATTERNS_DELAY_US and MF_PATTERNS_GBITS,
200 us and 1 Gb/s unless set. The model runs the machines of Python; those of C++ send the same messages
(tests/vectors/replicated/flows.json), so that its figures are those of both.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from harness.child import BenchError, Child
from harness.counters import cpu_seconds
from harness.rows import Row, Samples
from harness.table import figure
from mf.replicated.messages import Pattern
from patterns.model import MEMBERS, Link, Model

NAME = "patterns"
CHART: dict[str, str] = {}
_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
_SIZES = (10, 100, 1_000, 3_000, 10_000)
_WINDOWS = (1, 64)
_PATTERNS = [each.name for each in Pattern]
_COLOURS = ("#9a9a9a", "#c44e52", "#d08a3c", "#8172b3", "#2f6db3", "#55a868", "#000000")
_SECONDS = 60.0
_MILLION = 1e6
_LANGUAGES = {"mf": "C++", "mf/python": "Python"}
_SHOWN = {
    "seconds for a million messages": "seconds_per_million",
    "us of all processors for a message": "cpu_us_per_request",
    "context switches for a message": "switches_per_request",
}


def run(build: Path, quick: bool, samples: Samples, _failures: list[str]) -> None:
    _modelled(quick, samples)
    with tempfile.TemporaryDirectory() as folder:
        groups = _groups(build, Path(folder))
        for _ in range(1 if quick else 3):
            for group in groups:
                _loopback(build, group, quick, samples)


def _work(where: str, window: int, size: int) -> str:
    return f"{where}, {window} under way, {size} bytes"


def _modelled(quick: bool, samples: Samples) -> None:
    link = Link(
        float(os.environ.get("MF_PATTERNS_DELAY_US", "200")) / 1e6,
        float(os.environ.get("MF_PATTERNS_GBITS", "1")) * 1e9,
    )
    count = 500 if quick else 3_000
    for window in _WINDOWS:
        for size in _SIZES:
            for pattern in Pattern:
                spent = Model(link).seconds(pattern, size, window, count)
                row: dict[str, float | None] = {"seconds_per_million": spent / count * _MILLION}
                samples.add(_work("modelled", window, size), "modelled", f"mf/python/{pattern.name}", row)


@dataclass(frozen=True)
class _Group:
    """The programs of one language; how many calls of one cell are measured with 1 and with 64 under way."""

    system: str
    replica: list[str]
    client: list[str]
    counts: dict[int, int]
    env: dict[str, str]


def _groups(build: Path, folder: Path) -> list[_Group]:
    from mfidl.compiler import Exit, Targets, compile_files

    schema = folder / "sink.mfidl"
    schema.write_text((_HERE / "patterns.mfidl").read_text().replace("module patterns;", "module sink;"))
    if compile_files([str(schema)], [], Targets(python=str(folder))).exit is not Exit.OK:
        raise BenchError("patterns.mfidl does not compile")
    env = {"PYTHONPATH": os.pathsep.join([str(folder), str(_ROOT / "runtime/python")])}
    program = [sys.executable, str(_HERE / "program.py")]
    native = str(build / "bench" / "bench-patterns-")
    return [
        _Group("mf", [native + "replica"], [native + "client"], {1: 3_000, 64: 30_000}, {}),
        _Group("mf/python", [*program, "replica"], [*program, "client"], {1: 500, 64: 2_000}, env),
    ]


def _loopback(build: Path, group: _Group, quick: bool, samples: Samples) -> None:
    cores = os.sched_getaffinity(0)
    with ExitStack() as stack:
        listening = ["--listen", "tcp://127.0.0.1:0", "--store", "memory:", "--log-level", "warning"]
        controller = stack.enter_context(Child([str(build / "mf-controller"), *listening], cores))
        where = controller.hear(_SECONDS)
        replicas = [
            stack.enter_context(Child([*group.replica, where, member, ",".join(MEMBERS)], cores, group.env))
            for member in MEMBERS
        ]
        for each in replicas:
            if each.hear(_SECONDS) != "true":
                raise BenchError("a replica does not serve")
        client = stack.enter_context(Child([*group.client, where], cores, group.env))
        client.hear(_SECONDS)
        for window in _WINDOWS:
            for size in _SIZES:
                for pattern in _PATTERNS:
                    count = group.counts[window] // (2 if quick else 1)
                    row = _one(client, replicas, (pattern, size, window), count)
                    samples.add(_work("loopback", window, size), "unpinned", f"{group.system}/{pattern}", row)


def _one(
    client: Child, replicas: list[Child], cell: tuple[str, int, int], count: int
) -> dict[str, float | None]:
    """A tenth more to warm up; then `count`."""
    pattern, size, window = cell
    client.say(f"{pattern} {size} {window} {max(count // 10, window)}")
    client.hear(_SECONDS)
    pids = [each.pid for each in (client, *replicas)]
    before = [_used(pid) for pid in pids]
    client.say(f"{pattern} {size} {window} {count}")
    spent = float(json.loads(client.hear(_SECONDS)))
    after = [_used(pid) for pid in pids]
    cpu = sum(late[0] - early[0] for early, late in zip(before, after, strict=True))
    switches = sum(late[1] - early[1] for early, late in zip(before, after, strict=True))
    return {
        "seconds_per_million": spent / count * _MILLION,
        "cpu_us_per_request": cpu / count * 1e6,
        "switches_per_request": switches / count,
    }


def _used(pid: int) -> tuple[float, int]:
    """Processor time, and context switches of all threads."""
    switches = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        for line in status.read_text().splitlines():
            if "ctxt_switches" in line:
                switches += int(line.split()[1])
    return cpu_seconds(pid), switches


# How it is shown


def _panels(rows: list[Row], metric: str) -> dict[str, dict[str, dict[int, float]]]:
    """By panel, pattern and payload."""
    found: dict[str, dict[str, dict[int, float]]] = {}
    for row in rows:
        if row.metric == metric and row.value is not None:
            panel, _, size = row.work.rpartition(", ")
            system, _, pattern = row.system.rpartition("/")
            if panel.startswith("loopback"):
                panel = f"{panel}, {_LANGUAGES[system]}"
            found.setdefault(panel, {}).setdefault(pattern, {})[int(size.split()[0])] = row.value
    return found


def show(rows: list[Row]) -> str:
    """The seed's table for each panel, and in brackets how much faster than without versions; then what a
    message takes of all four processes on loopback."""
    lines: list[str] = []
    for title, metric in _SHOWN.items():
        for panel, by_pattern in _panels(rows, metric).items():
            lines.append(f"{title}: {panel}")
            lines.append("payload  " + "".join(name.rjust(26) for name in _PATTERNS))
            for size in _SIZES:
                cells = []
                for name in _PATTERNS:
                    value, base = by_pattern[name][size], by_pattern["no_versioning"][size]
                    cells.append(f"{figure(value)} ({base / value:.2f})".rjust(26))
                lines.append(f"{size:>7}  " + "".join(cells))
            lines.append("")
    return "\n".join(lines)


def draw(rows: list[Row], out: Path) -> None:
    """Lines of seconds by payload, as in the seed, a panel for each link, window and language."""
    width, height, left, top = 330, 210, 60, 40
    parts = []
    panels = _panels(rows, "seconds_per_million")
    for at, (panel, by_pattern) in enumerate(panels.items()):
        x0, y0 = left + at % 2 * (width + 80), top + at // 2 * (height + 70)
        most = max(value for sizes in by_pattern.values() for value in sizes.values())
        parts.append(f'<text x="{x0}" y="{y0 - 10}" font-weight="bold">{panel}: s per million</text>')
        parts.append(f'<rect x="{x0}" y="{y0}" width="{width}" height="{height}" fill="none" stroke="#ccc"/>')
        parts.append(f'<text x="{x0 - 6}" y="{y0 + 10}" text-anchor="end">{figure(most)}</text>')
        for i, size in enumerate(_SIZES):
            x = x0 + width * i / (len(_SIZES) - 1)
            parts.append(f'<text x="{x:.0f}" y="{y0 + height + 16}" text-anchor="middle">{size}</text>')
        for name, colour in zip(_PATTERNS, _COLOURS, strict=True):
            sizes = by_pattern[name]
            points = " ".join(
                f"{x0 + width * i / (len(_SIZES) - 1):.1f},{y0 + height * (1 - sizes[size] / most):.1f}"
                for i, size in enumerate(_SIZES)
            )
            parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
    bottom = top + (len(panels) + 1) // 2 * (height + 70)
    for i, (name, colour) in enumerate(zip(_PATTERNS, _COLOURS, strict=True)):
        x, y = left + i % 4 * 190, bottom + i // 4 * 20
        parts.append(f'<text x="{x}" y="{y}" fill="{colour}">{name}</text>')
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="860" height="{bottom + 40}" '
        f'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>'
    )
    (out / "patterns.svg").write_text("\n".join([head, *parts, "</svg>", ""]))
