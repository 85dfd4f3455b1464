"""A clock that stands still until it is moved, for programs and tests whose deadlines must not depend on how
busy the machine is.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


class FakeClock:
    """Monotonic seconds. It can be given wherever mf takes a clock, and it can be all of mf's time."""

    __slots__ = ("now",)

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        """Raises ValueError for a step backwards: monotonic time has none."""
        if seconds < 0:
            raise ValueError(f"monotonic time does not go back {-seconds} s")
        self.now += seconds

    @contextmanager
    def installed(self) -> Iterator[None]:
        """While it lasts, all of mf in this process reads this clock in place of time.monotonic(), and so
        does whoever calls that by its module. For tests whose clients and servers run on one loop or one
        thread: what waits in the kernel goes on waiting in real time.
        """
        real = time.monotonic
        time.monotonic = self  # also for modules that are imported meanwhile
        _exchange(real, self)
        try:
            yield
        finally:
            time.monotonic = real
            _exchange(self, real)


def _exchange(old: object, new: object) -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith("mf."):
            for attribute, value in list(vars(module).items()):
                if value is old:
                    setattr(module, attribute, new)
