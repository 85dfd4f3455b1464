"""Latencies as people and scripts read them: percentiles, and a histogram of powers of two."""

from collections.abc import Sequence
from typing import Any

PERCENTILES = (50.0, 90.0, 99.0, 99.9)
_BARS = 40


def percentile(ordered: Sequence[float], percent: float) -> float:
    """The smallest value that so many percent do not exceed."""
    place = max(0, -(-len(ordered) * percent // 100) - 1)
    return ordered[min(len(ordered) - 1, int(place))]


def summary(seconds: Sequence[float]) -> dict[str, Any]:
    """In microseconds; empty of nothing."""
    if not seconds:
        return {}
    ordered = sorted(seconds)
    made: dict[str, Any] = {"count": len(ordered), "min": _micro(ordered[0])}
    for each in PERCENTILES:
        made[f"p{each:g}"] = _micro(percentile(ordered, each))
    made["max"] = _micro(ordered[-1])
    made["mean"] = _micro(sum(ordered) / len(ordered))
    return made


def _micro(seconds: float) -> float:
    return round(seconds * 1e6, 1)


def shown(micro: float) -> str:
    if micro < 1000:
        return f"{micro:.0f} us"
    return f"{micro / 1000:.2f} ms" if micro < 1e6 else f"{micro / 1e6:.2f} s"


def histogram(seconds: Sequence[float]) -> list[tuple[int, int]]:
    """Pairs of an upper bound in microseconds, a power of two, and a count; without gaps between."""
    counts: dict[int, int] = {}
    for each in seconds:
        bound = max(1, int(each * 1e6)).bit_length()
        counts[bound] = counts.get(bound, 0) + 1
    if not counts:
        return []
    return [(1 << bound, counts.get(bound, 0)) for bound in range(min(counts), max(counts) + 1)]


def bars(found: list[tuple[int, int]], width: int = _BARS) -> list[str]:
    most = max((count for _, count in found), default=0)
    return [
        f"{'< ' + shown(bound):>12} {count:>9} {'#' * (0 if not count else max(1, count * width // most))}"
        for bound, count in found
    ]
