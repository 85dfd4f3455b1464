"""R0. Time is monotonic seconds, as float. Tests pass their own clock, or decide what time it is for all of
the process (mf.testing.FakeClock); then those who wait look at it every millisecond of real time.
"""

import time
from collections.abc import Callable

Clock = Callable[[], float]

monotonic: Clock = time.monotonic

_LOOK_EVERY = 0.001
_test_time = False


def on_test_time() -> bool:
    """Whether a test decides what time it is."""
    return _test_time


def set_test_time(on: bool) -> None:
    """Of the test's clock, when it is installed and when it goes."""
    global _test_time
    _test_time = on


def moment(seconds: float) -> float:
    """How long to wait in one go: so long, or until a test's clock is to be looked at. 0 is for ever in the
    reads of streams, so it becomes a moment, too."""
    return min(seconds or _LOOK_EVERY, _LOOK_EVERY) if _test_time else seconds
