"""R0. Time is monotonic seconds, as float. Tests pass their own clock."""

import time
from collections.abc import Callable

Clock = Callable[[], float]

monotonic: Clock = time.monotonic
