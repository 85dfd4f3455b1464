"""A clock that stops until it is moved, for programs and tests whose deadlines must not depend on how
busy the machine is.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from mf.core.clock import on_test_time, set_test_time


class FakeClock:
    """Monotonic seconds. It can be given wherever mf takes a clock, and it can be all of mf's time."""

    __slots__ = ("_lock", "now")

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now
        self._lock = Lock()

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        """From any thread, also in a handler. Raises ValueError for a step backwards: monotonic time has
        none."""
        if seconds < 0:
            raise ValueError(f"monotonic time does not go back {-seconds} s")
        with self._lock:
            self.now += seconds

    @contextmanager
    def installed(self) -> Iterator["FakeClock"]:
        """While it lasts, all of mf in this process reads this clock in place of time.monotonic(), and so
        do all callers that name its module. It is installed before clients and servers are made, and until
        they are gone. Waits on connections in memory (mf.testing.Channel) check it each millisecond;
        what waits for a network goes on waiting in real time. Raises RuntimeError while another one is.
        """
        if on_test_time():
            raise RuntimeError("there is a FakeClock already: one decides the time of the whole process")
        real = time.monotonic
        time.monotonic = self  # also for modules that are imported meanwhile
        _exchange(real, self)
        set_test_time(True)
        try:
            yield self
        finally:
            set_test_time(False)
            time.monotonic = real
            _exchange(self, real)


def installed_clock() -> FakeClock:
    """Raises RuntimeError if none is."""
    clock = time.monotonic
    if not isinstance(clock, FakeClock):
        raise RuntimeError("that time passes needs a mf.testing.FakeClock that is installed")
    return clock


def _exchange(old: object, new: object) -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith("mf."):
            for attribute, value in list(vars(module).items()):
                if value is old:
                    setattr(module, attribute, new)
