"""R6. Waits until a number has grown to a count: of subscriptions, or of publishers. Threads: any."""

from collections.abc import Callable
from threading import Lock

_Wake = Callable[[], None]


class CountWaits:
    __slots__ = ("_lock", "_waits", "count")

    def __init__(self) -> None:
        self.count = 0
        self._lock = Lock()
        self._waits: dict[_Wake, int] = {}

    def wait(self, least: int, wake: _Wake) -> None:
        """Calls `wake` once the number is `least` or more, possibly before it returns."""
        with self._lock:
            if self.count < least:
                self._waits[wake] = least
                return
        wake()

    def forget(self, wake: _Wake) -> None:
        with self._lock:
            self._waits.pop(wake, None)

    def change(self, by: int) -> int:
        """Returns the number after it."""
        with self._lock:
            self.count = count = self.count + by
            ready = [wake for wake, least in self._waits.items() if least <= count]
            for wake in ready:
                del self._waits[wake]
        for wake in ready:
            wake()
        return count
