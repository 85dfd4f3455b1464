"""The rows that all benches report (docs/performance.md says how to read them)."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

_UNITS_OF_WORDS = {
    "us": "us",
    "ms": "ms",
    "ns": "ns",
    "kb": "KB",
    "mb": "MB",
    "bytes": "bytes",
    "percent": "%",
    "seconds": "s",
}
_SIZES = ("request", "reply")


def unit_of(metric: str) -> str:
    """The unit that a metric's name says: `us` for `quiet_p99_us` and for `cpu_us_per_message`, and none for
    counts (`failed_calls`)."""
    if metric in _SIZES:
        return "bytes"
    words = metric.split("_")
    if words[-2:] == ["per", "s"]:
        return "MB/s" if "mb" in words else "1/s"
    return next((_UNITS_OF_WORDS[word] for word in words if word in _UNITS_OF_WORDS), "")


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
            unit=unit_of(key.metric),
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
