"""R4. How long to wait before the next attempt: 50 ms doubling to 2 s, each drawn at random below its cap
("full jitter"), so that a thousand clients of a server that returns do not come at the same moment.
"""

import random

from mf.link.fork import JITTER

FIRST = 0.05
LONGEST = 2.0
_LEAST = 0.005


class Backoff:
    """One row of attempts. `random_source` gives numbers in [0, 1); tests pass their own."""

    __slots__ = ("_cap", "_random")

    def __init__(self, random_source: random.Random | None = None) -> None:
        self._cap = FIRST
        self._random = random_source or JITTER

    def next(self) -> float:
        """Seconds to wait now."""
        wait = max(self._random.random() * self._cap, _LEAST)
        self._cap = min(self._cap * 2, LONGEST)
        return wait

    def reset(self) -> None:
        """After a success."""
        self._cap = FIRST
