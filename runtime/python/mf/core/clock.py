"""R0. Time is monotonic seconds, as float. Tests pass their own clock, or set the time of the whole process
(mf.testing.FakeClock); then waits check it every millisecond of real time.
"""

import time
from collections.abc import Callable

Clock = Callable[[], float]

monotonic: Clock = time.monotonic

_LOOK_EVERY = 0.001
_test_time = False


def on_test_time() -> bool:
    """Whether a test clock is installed."""
    return _test_time


def set_test_time(on: bool) -> None:
    """Called by the test clock, when it is installed and removed."""
    global _test_time
    _test_time = on


def moment(seconds: float) -> float:
    """How long to wait in one step: `seconds`, or until a test clock must be checked. 0 means for ever when
    reading streams, so it becomes a moment, too."""
    return min(seconds or _LOOK_EVERY, _LOOK_EVERY) if _test_time else seconds
