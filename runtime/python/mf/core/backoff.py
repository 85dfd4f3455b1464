"""R0. The time to wait before the next attempt: uniformly random below a limit that doubles from 50 ms to 2
s, or to another maximum ("full jitter"), so that a thousand clients do not reconnect at the same moment.
"""

import os
import random

FIRST = 0.05
LONGEST = 2.0
_LEAST = 0.010

JITTER = random.Random()
"""Random numbers that do not change the state of the random module, which belongs to the program. A forked
child seeds them anew, so that it does not retry at the same moments as its parent."""

if hasattr(os, "register_at_fork"):  # only on systems where processes fork
    os.register_at_fork(after_in_child=JITTER.seed)


class Backoff:
    """A series of attempts. `random_source` returns numbers in [0, 1); tests pass their own."""

    __slots__ = ("_cap", "_longest", "_random")

    def __init__(self, random_source: random.Random | None = None, longest: float = LONGEST) -> None:
        self._cap = FIRST
        self._longest = longest
        self._random = random_source or JITTER

    def next(self) -> float:
        """The seconds to wait now."""
        wait = max(self._random.random() * self._cap, _LEAST)
        self._cap = min(self._cap * 2, self._longest)
        return wait

    def reset(self) -> None:
        """To be called after a success."""
        self._cap = FIRST
