"""The rows that all benches report (docs/performance.md says how to read them)."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

UNITS = {
    "median_us": "us",
    "p99_us": "us",
    "one_way_us": "us",
    "requests_per_s": "1/s",
    "values_per_s": "1/s",
    "heartbeats_per_s": "1/s",
    "delivered_per_s": "1/s",
    "cpu_us_per_message": "us",
    "publisher_cpu_us_per_message": "us",
    "subscriber_cpu_us_per_message": "us",
    "syscalls_per_message": "",
    "cpu_us_per_request": "us",
    "client_cpu_us_per_request": "us",
    "server_cpu_us_per_request": "us",
    "client_program_us": "us",
    "client_kernel_us": "us",
    "server_program_us": "us",
    "server_kernel_us": "us",
    "instructions": "",
    "syscalls_per_request": "",
    "client_syscalls_per_request": "",
    "server_syscalls_per_request": "",
    "ms": "ms",
    "p99_ms": "ms",
    "longest_gap_ms": "ms",
    "calls": "",
    "failed_calls": "",
    "peak_per_s": "1/s",
    "goodput_percent": "%",
    "refused": "",
    "refused_p99_ms": "ms",
    "seconds_per_million": "s",
    "switches_per_request": "",
    "mb_per_s": "MB/s",
    "ns": "ns",
    "kb": "KB",
    "cpu_ms": "ms",
    "peak_mb": "MB",
    "generated_kb": "KB",
    "request": "bytes",
    "reply": "bytes",
    "serialize_ns": "ns",
    "serialize_fresh_ns": "ns",
    "deserialize_ns": "ns",
    "deserialize_into_ns": "ns",
    "bytes": "bytes",
    "instance_bytes": "bytes",
    "watcher_bytes": "bytes",
    "told": "",
    "cpu_us_per_change": "us",
}


@dataclass(frozen=True, slots=True)
class Row:
    work: str
    system: str
    metric: str
    unit: str
    value: float | None
    min: float | None
    max: float | None
    runs: int
    raw_ratio: float | None
    placement: str


class Key(NamedTuple):
    work: str
    placement: str
    metric: str
    system: str


@dataclass(slots=True)
class Samples:
    """The results of each run, in their order: runs are interleaved, so equal indices are neighbours in
    time."""

    _of: dict[Key, list[float | None]] = field(default_factory=dict)

    def add(self, work: str, placement: str, system: str, metrics: dict[str, float | None]) -> None:
        for metric, value in metrics.items():
            self._of.setdefault(Key(work, placement, metric, system), []).append(value)

    def rows(self) -> list[Row]:
        return [self._row(key, values) for key, values in self._of.items()]

    def _limits(self, key: Key) -> Sequence[float | None]:
        """The limits of the same variant (`raw/clang` for `mf/febird/clang`), if there is one."""
        variant = key.system.rsplit("/", maxsplit=1)[-1]
        own = self._of.get(key._replace(system=f"raw/{variant}"))
        return own or self._of.get(key._replace(system="raw"), [])

    def _row(self, key: Key, values: Sequence[float | None]) -> Row:
        known = [value for value in values if value is not None]
        ratios: list[float] = []
        if key.system.split("/")[0] != "raw":
            limits = self._limits(key)
            ratios = [
                value / raw for value, raw in zip(values, limits, strict=False) if value is not None and raw
            ]
        return Row(
            work=key.work,
            system=key.system,
            metric=key.metric,
            unit=UNITS[key.metric],
            value=_rounded(statistics.median(known)) if known else None,
            min=_rounded(min(known)) if known else None,
            max=_rounded(max(known)) if known else None,
            runs=len(known),
            raw_ratio=_rounded(statistics.median(ratios)) if ratios else None,
            placement=key.placement,
        )


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")


def write_json(rows: Sequence[Row], path: Path) -> None:
    lines = ",\n  ".join(json.dumps(asdict(row)) for row in rows)
    path.write_text(f"[\n  {lines}\n]\n")
