"""R0. The thread that writes the log. Writing a line may block, for example on a pipe that is not read, and
the caller may be a server's IO thread or an event loop.

A caller waits a moment for its line to be written, so that lines are in order with all else that the program
writes. While the writer is blocked no caller waits for it: lines are kept up to a limit, and counted beyond
it.
"""

import os
import sys
from _thread import allocate_lock
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from threading import Event, Lock, Thread, current_thread
from typing import Any, Final

MOST_KEPT: Final = 10_000
PATIENCE: Final = 0.25
"""Seconds for which a caller waits until its line is written."""


class _Line:
    __slots__ = ("arguments", "function", "is_written", "run")

    def __init__(self, function: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        self.run = copy_context().run
        self.function = function
        self.arguments = arguments
        self.is_written = Event()


class LogWriter:
    """Thread-safe. A forked child has to make a new one."""

    def __init__(self, left_out: Callable[[int], None]) -> None:
        self.pid = os.getpid()
        self._left_out = left_out
        self._lock = Lock()
        self._wake = allocate_lock()
        self._lines: deque[_Line] = deque()
        self._lost = 0
        self._is_stuck = False
        self._thread: Thread | None = None

    def write(self, function: Callable[..., None], *arguments: Any) -> None:
        """Calls a function that writes a line on the thread of the log, in the context of the caller."""
        if current_thread() is self._thread or sys.is_finalizing():
            function(*arguments)
            return
        line = _Line(function, arguments)
        with self._lock:
            if len(self._lines) >= MOST_KEPT:
                self._lost += 1
                return
            self._lines.append(line)
            waits = not self._is_stuck
            can_wait = self._thread is not None or self._started()
            if not can_wait:
                self._lines.pop()
        if not can_wait:
            function(*arguments)
            return
        self._notify()
        if waits and not line.is_written.wait(PATIENCE):
            self._is_stuck = True

    def _started(self) -> bool:
        thread = Thread(target=self._run, name="mf-log", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the interpreter ends, or there are no more threads
            return False
        self._thread = thread
        return True

    def _notify(self) -> None:
        with suppress(RuntimeError):  # it is awake already
            self._wake.release()

    def _run(self) -> None:
        while True:
            self._wake.acquire()
            while self._lines:
                line = self._lines.popleft()
                try:
                    line.run(line.function, *line.arguments)
                finally:
                    line.is_written.set()
            self._is_stuck = False
            with self._lock:
                lost, self._lost = self._lost, 0
            if lost:
                self._left_out(lost)
