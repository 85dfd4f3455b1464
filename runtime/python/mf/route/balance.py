"""R5. Decides which of several instances gets the next call, and which are avoided for a while: pure data and
rules (docs/decisions/0029). Time and random numbers are arguments; there is no lock, no socket and no thread.
mf/link/balancing.hpp has the same rules and constants for C++, and tests/vectors/balancing.json checks both
against one table of cases. Times are seconds.

usual_with  how long a method usually takes, across all instances
Standing    what is known about one instance. It is trusted, or suspected because either
              nothing arrived for too long while a reply was awaited: trusted again when anything arrives;
              or a call missed its deadline, a reply took ten times its usual time, or five replies in a row
              said that the call could not run: trusted again after a call, the probe, ended as usual.
choose      draws two trusted instances at random and takes the better one, by calls in flight per weight
            and by how much longer than usual replies take. An instance of twice the weight is drawn twice
            as often, and counts as equally busy with twice as many calls. Now and then it takes a probe. If
            no instance is trusted, it chooses among those that are alive.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

from mf.core.backoff import JITTER
from mf.link.core import Remembered

SLOW = 10.0
"""A reply that takes this many times the usual time is slow."""
LEAST = 0.020
"""Seconds: shorter times count neither as slow nor as silence."""
WEIGHT = 1 / 8
"""The weight of the latest reply in the moving average of an instance, and in that of a method."""
METHOD_WEIGHT = 1 / 16
MOST_RISE = 4.0
"""One reply changes a method's usual time as if it had taken at most this many times the usual time."""
NOISE = 0.001
"""Shorter times count as this one when instances are compared: they are noise of the machine."""
ALIKE = 2.0
"""Costs of instances that differ by less than this factor count as equal: calls in flight decide then."""
FADE = 1.0
"""The half-life of what is known about an instance's slowness while it sends no replies."""
MOST_FACTOR = 100.0
FIRST_PAUSE = 0.1
"""The pause between probes; it doubles."""
LONGEST_PAUSE = 10.0
RAMP = 1.0
"""How long an instance that returns gets less than its share, starting with a tenth."""
LEAST_SHARE = 0.1
MOST_WEIGHT = 65_535
"""The largest weight of an instance; larger ones count as this."""
FAILURES = 5
"""This many replies in a row that say that the call could not run make an instance suspected."""

_NEVER = float("-inf")


def below(count: int) -> int:
    """A random number below `count`, from a generator that is seeded again after a fork."""
    return int(JITTER.random() * count)


def usual_with(known: float, took: float) -> float:
    """The usual time of a method after one more reply; 0 if it was not known. A method that one slow instance
    answers now and then keeps its usual time for the others."""
    if not known:
        return took
    return known + (min(took, known * MOST_RISE) - known) * METHOD_WEIGHT


class Standing(Remembered):
    """What is known about one instance, as described above. `look` sets the attributes without an
    underscore."""

    __slots__ = (
        "_factor",
        "_factor_at",
        "_failures",
        "_heard",
        "_latency",
        "_pause",
        "_probe_at",
        "_quiet_since",
        "_ramp_from",
        "_silent",
        "_suspected_at",
        "_trusted_at",
        "alive",
        "cost",
        "load",
        "probe",
        "share",
        "trusted",
        "weight",
    )

    def __init__(self) -> None:
        super().__init__()
        self._heard = -1
        self._quiet_since = 0.0
        self._latency = 0.0  # of all its methods; 0: not known
        self._factor = 1.0  # its times divided by the usual ones
        self._factor_at = 0.0
        self._silent = False  # suspected only because of silence
        self._suspected_at = 0.0
        self._probe_at = 0.0
        self._trusted_at = _NEVER  # since when it has been trusted again
        self._ramp_from = _NEVER
        self._pause = FIRST_PAUSE
        self._failures = 0
        self.trusted = True
        self.alive = True
        """Something arrived since it became suspected."""
        self.probe = False
        self.weight = 1
        self.load = 0.0
        """Calls in flight divided by its weight."""
        self.cost = 1.0
        self.share = 1.0

    def look(self, heard: int, in_flight: int, now: float, weight: int = 1) -> "Standing":
        """`heard`: a counter of what arrives on its connection. `weight`: at least 1."""
        if heard != self._heard:
            self._heard = heard
            self._quiet_since = now
            self.alive = True
            if self._silent:
                self._recover(now)
        elif not in_flight:
            self._quiet_since = now
        elif self.trusted and now - self._quiet_since > max(LEAST, SLOW * self._latency):
            self._suspect(now)
            self._silent = True
            self.alive = False
        self.probe = not self.trusted and self.alive and now >= self._probe_at
        self.weight = min(weight, MOST_WEIGHT)
        self.load = in_flight / self.weight
        self.cost = (self.load + 1) * self._faded(now)
        if self._ramp_from is not _NEVER:
            self.share = min(1.0, LEAST_SHARE + (1 - LEAST_SHARE) * (now - self._ramp_from) / RAMP)
        return self

    def probed(self, now: float, fraction: float) -> None:
        """A call is sent to it as a probe. `fraction`: random, from 0 to 1."""
        self._pause = min(self._pause * 2, LONGEST_PAUSE)
        self._probe_at = now + self._pause * (0.5 + 0.5 * fraction)

    def replied(self, took: float, usual: float, sent: float, now: float) -> None:
        """A call sent at `sent` ended with a result or a declared error. `usual`: the usual time of its
        method."""
        latency = self._latency
        self._latency = latency + (took - latency) * WEIGHT if latency else took
        ratio = min(max(took, NOISE) / max(usual, NOISE), MOST_FACTOR) if usual else 1.0
        if usual and took > LEAST and took > SLOW * usual:
            self._factor = max(self._faded(now), ratio)
            self._factor_at = now
            self._silent = False
            if self.trusted:
                self._suspect(now)
            return
        self._failures = 0
        known = self._faded(now)
        self._factor = known + (ratio - known) * WEIGHT
        self._factor_at = now
        if not self.trusted and not self._silent and sent >= self._suspected_at:
            self._factor = min(self._factor, ratio)
            self._recover(now)

    def missed(self, now: float) -> None:
        """A call missed its deadline."""
        if self.trusted:
            self._suspect(now)
        self._silent = False
        self.alive = False

    def failed(self, now: float) -> None:
        """The instance said that it could not run a call."""
        self._failures += 1
        if self._failures >= FAILURES and self.trusted:
            self._suspect(now)
            self._silent = False

    def connected(self, again: bool, now: float) -> None:
        """A new connection was made. `again`: it replaces one that ended."""
        self._heard = -1
        self._quiet_since = now
        self._factor = 1.0
        self.trusted = True
        self._silent = False
        self.alive = True
        self._failures = 0
        if again:
            self._ramp_from = now

    def _suspect(self, now: float) -> None:
        """The pauses continue to grow if an instance returned only to be suspected again."""
        if now - self._trusted_at > LONGEST_PAUSE:
            self._pause = FIRST_PAUSE
        self.trusted = False
        self._suspected_at = now
        self._probe_at = now + self._pause

    def _recover(self, now: float) -> None:
        """An instance that was away only for a moment needs no slow start."""
        self.trusted = True
        self._silent = False
        self._failures = 0
        self._trusted_at = now
        if now - self._suspected_at >= RAMP:
            self._ramp_from = now

    def _faded(self, now: float) -> float:
        factor = self._factor
        return 1.0 if factor == 1.0 else 1.0 + (factor - 1.0) * 0.5 ** ((now - self._factor_at) / FADE)


def choose(standings: Sequence[Standing], random: Callable[[int], int] = below) -> int:
    """The index of the instance that gets the next call, after `look` was called for all; there is at least
    one. `random(n)` returns a number below n. If the call is a probe, the caller must call
    Standing.probed()."""
    among = [index for index, each in enumerate(standings) if each.trusted]
    if len(among) < len(standings):
        if among:
            for index, each in enumerate(standings):
                if each.probe:
                    return index
        else:
            among = [index for index, each in enumerate(standings) if each.alive]
            among = among or list(range(len(standings)))
    count = len(among)
    if count == 1:
        return among[0]
    a, b = _two_of(among, standings, random)
    one, other = standings[a], standings[b]
    # A returning instance is skipped as often as its share is below the full one.
    if one.share < other.share and random(100) >= one.share * 100:
        return b
    if other.share < one.share and random(100) >= other.share * 100:
        return a
    return a if _first_is_better(one, other) else b


def _two_of(
    among: Sequence[int], standings: Sequence[Standing], random: Callable[[int], int]
) -> tuple[int, int]:
    """Two different ones, each drawn in proportion to its weight."""
    count = len(among)
    weights = [standings[index].weight for index in among]
    if min(weights) == max(weights):
        first = random(count)
        return among[first], among[(first + 1 + random(count - 1)) % count]
    first = _drawn(weights, random)
    weights[first] = 0
    return among[first], among[_drawn(weights, random)]


def _drawn(weights: Sequence[int], random: Callable[[int], int]) -> int:
    """`random` gives a number below its argument."""
    sums = list(accumulate(weights))
    return bisect_right(sums, random(sums[-1]))


def _first_is_better(first: Standing, second: Standing) -> bool:
    if first.cost * ALIKE <= second.cost:
        return True
    if second.cost * ALIKE <= first.cost:
        return False
    return first.load <= second.load
