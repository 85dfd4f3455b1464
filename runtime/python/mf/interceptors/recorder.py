"""R1. Records calls, for tests."""

from collections import deque
from threading import Condition
from typing import NamedTuple

from mf.core.interceptor import CallEnd, InterceptedCall, Interceptor


class Recorded(NamedTuple):
    """A call that has ended, and how."""

    call: InterceptedCall
    end: CallEnd


class Recorder(Interceptor):
    """Keeps the latest calls that have ended, at most `most`. Any thread may ask."""

    def __init__(self, most: int = 10_000) -> None:
        self._changed = Condition()
        self._ended: deque[Recorded] = deque(maxlen=most)
        self._open = 0

    def begin(self, call: InterceptedCall) -> None:
        del call
        with self._changed:
            self._open += 1

    def end(self, call: InterceptedCall, end: CallEnd) -> None:
        with self._changed:
            self._open -= 1
            self._ended.append(Recorded(call, end))
            self._changed.notify_all()

    @property
    def open(self) -> int:
        """How many calls have begun and not ended."""
        return self._open

    def calls(self, method: str | None = None) -> list[Recorded]:
        """Those that have ended, in the order of their ends; those of one method."""
        with self._changed:
            return [each for each in self._ended if method is None or each.call.method == method]

    def wait_for(self, count: int, timeout: float = 10.0) -> list[Recorded]:
        """Waits until so many have ended: at a server a call ends beside its reply. Raises TimeoutError."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._ended) >= count, timeout):
                raise TimeoutError(f"{len(self._ended)} of {count} calls have ended within {timeout} s")
            return list(self._ended)

    def clear(self) -> None:
        with self._changed:
            self._ended.clear()
