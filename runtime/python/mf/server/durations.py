"""R5. How long the calls of a method took, in the buckets of gRPC (A66), by how they ended."""

from bisect import bisect_left
from threading import Lock
from typing import Final, NamedTuple

# fmt: off
BOUNDS: Final = (
    0.00001, 0.00005, 0.0001, 0.0003, 0.0006, 0.0008, 0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.008, 0.01,
    0.013, 0.016, 0.02, 0.025, 0.03, 0.04, 0.05, 0.065, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.4, 0.5, 0.65,
    0.8, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0,
)
# fmt: on


class Histogram(NamedTuple):
    """`counts`: how many calls took at most each of BOUNDS and more than the one before; the last one of all
    that took longer."""

    counts: list[int]
    total: float

    def plus(self, other: "Histogram") -> "Histogram":
        counts = [one + two for one, two in zip(self.counts, other.counts, strict=True)]
        return Histogram(counts, self.total + other.total)


class Durations:
    """Those of one method of one offer. Thread-safe."""

    __slots__ = ("_counts", "_lock", "_totals")

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: dict[str, list[int]] = {}
        self._totals: dict[str, float] = {}

    def add(self, code: str, seconds: float) -> None:
        """A call has ended. `code`: the name of a Code."""
        with self._lock:
            counts = self._counts.get(code)
            if counts is None:
                counts = self._counts[code] = [0] * (len(BOUNDS) + 1)
                self._totals[code] = 0.0
            counts[bisect_left(BOUNDS, seconds)] += 1
            self._totals[code] += seconds

    def by_code(self) -> dict[str, Histogram]:
        with self._lock:
            return {
                code: Histogram(counts.copy(), self._totals[code]) for code, counts in self._counts.items()
            }
