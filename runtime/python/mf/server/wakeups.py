"""R5. What the thread of run() waits for: a byte in a pipe.

Python writes it for each signal, in the thread that the system gives the signal to (signal.set_wakeup_fd). A
wait for a lock would miss a signal that comes just before it, or to another thread: the handler runs on the
main thread, and only once that goes on.
"""

import os
import select
import signal
import threading
from contextlib import suppress


class Wakeups:
    """`signals`: those of this process wake it, too; on the main thread alone."""

    def __init__(self, *, signals: bool) -> None:
        self._reader, self._writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._lock = threading.RLock()  # a handler of a signal may wake it within close()
        self._closed = False
        self._before: int | None = None
        if signals:
            self._before = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)

    def wait(self) -> None:
        """Until wake() or a signal, since the previous wait. The handlers of signals have run then."""
        readable = select.poll()
        readable.register(self._reader, select.POLLIN)
        readable.poll()
        with suppress(BlockingIOError):
            os.read(self._reader, select.PIPE_BUF)

    def wake(self) -> None:
        """From any thread."""
        with self._lock, suppress(BlockingIOError):
            if not self._closed:
                os.write(self._writer, b"\0")

    def close(self) -> None:
        """On the thread that made it."""
        if self._before is not None:
            signal.set_wakeup_fd(self._before)
        with self._lock:
            self._closed = True
            os.close(self._reader)
            os.close(self._writer)

    def after_fork(self) -> None:
        """Instead of close(), in the child: another thread may have held the lock."""
        self._lock = threading.RLock()
        self.close()
