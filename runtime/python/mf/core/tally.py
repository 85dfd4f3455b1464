"""R0. How the calls of each method have ended, and after which time, for the metrics of a server or a client.

Thread-safe.
"""

from itertools import accumulate
from threading import Lock
from typing import NamedTuple

from mf.core.error import Code
from mf.core.exposition import Exposition, Kind

FIRST_BITS = 10
BOUNDS = tuple((1 << bits) / 1e9 for bits in range(FIRST_BITS, 38))
"""Seconds of the buckets: the first is 2^10 ns, each other one twice the one before; the last is 137 s."""


class Tally:
    """That of one method, of all its agents. `took`: the observations by bucket; the last one has those above
    all bounds."""

    __slots__ = ("_lock", "calls", "seconds", "took")

    def __init__(self) -> None:
        self._lock = Lock()
        self.calls: dict[Code, int] = {}
        self.took = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0

    def ended(self, how: Code, calls: int) -> None:
        with self._lock:
            self.calls[how] = self.calls.get(how, 0) + calls

    def answered(self, seconds: float) -> None:
        """A message, or a call of a client, was answered after so long."""
        bits = max(int(seconds * 1e9) - 1, 0).bit_length()
        with self._lock:
            self.took[min(max(bits - FIRST_BITS, 0), len(BOUNDS))] += 1
            self.seconds += seconds

    def copy(self) -> "Tally":
        other = Tally()
        with self._lock:
            other.calls, other.took, other.seconds = dict(self.calls), list(self.took), self.seconds
        return other


class Tallies:
    """Those of all methods of a server or a client."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._by_method: dict[tuple[str, str], Tally] = {}

    def of(self, service: str, method: str) -> Tally:
        with self._lock:
            return self._by_method.setdefault((service, method), Tally())

    def all(self) -> list[tuple[str, str, Tally]]:
        with self._lock:
            found = sorted(self._by_method.items())
        return [(service, method, tally.copy()) for (service, method), tally in found]


class CallFamilies(NamedTuple):
    """How a server or a client names its metrics of calls."""

    calls: str
    calls_help: str
    duration: str
    duration_help: str


def expose_calls(out: Exposition, tallies: Tallies, names: CallFamilies) -> None:
    """Writes how the calls of each method have ended, and how long they took."""
    all_ = tallies.all()
    out.family(names.calls, Kind.COUNTER, names.calls_help)
    for service, method, tally in all_:
        for code, calls in sorted(tally.calls.items()):
            out.sample({"service": service, "method": method, "code": code.name}, calls)
    out.family(names.duration, Kind.HISTOGRAM, names.duration_help)
    for service, method, tally in all_:
        below = list(accumulate(tally.took))
        if below[-1]:
            labels = {"service": service, "method": method}
            out.histogram(labels, zip(BOUNDS, below, strict=False), below[-1], tally.seconds)
