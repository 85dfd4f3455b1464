"""R5. The threads of plain handlers that are not inline: a few workers, and threads for streams.

Threads are started when first needed. Both take calls in the order in which they arrive.
"""

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Lock, Semaphore, Thread
from typing import Any

from mf.core.log import log_handler_failure

_IDLE = 5.0
"""Seconds after which an unused thread for streams ends."""


class Workers:
    """At most `most` threads that run calls with `run`."""

    __slots__ = ("_idle", "_most", "_queue", "_run", "_threads")

    def __init__(self, most: int, run: Callable[[Any], None]) -> None:
        self._most = most
        self._run = run
        self._queue: SimpleQueue[Any] = SimpleQueue()
        self._idle = Semaphore(0)
        self._threads: list[Thread] = []

    def submit(self, call: Any) -> None:
        """May be called from any thread."""
        self._queue.put(call)
        if len(self._threads) < self._most and not self._idle.acquire(blocking=False):
            thread = Thread(target=self._work, name=f"mf-worker-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self, timeout: float) -> None:
        """Lets running calls finish, for at most `timeout` seconds each. Queued calls are dropped."""
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join(timeout)

    def _work(self) -> None:
        get = self._queue.get
        run = self._run
        while True:
            call = get()
            if call is None:
                return
            try:
                run(call)
            except Exception as raised:  # a bug of the runtime, or memory ran out: only this call is lost
                log_handler_failure("mf worker", raised)
            del call
            if len(self._threads) < self._most:
                self._idle.release()


class StreamThreads:
    """Threads for plain handlers of streams, one for each while it runs: they wait for their clients, and
    would block workers. Their number is bounded by the streams that connections may have open. A thread that
    was idle for a while ends.
    """

    __slots__ = ("_idle", "_lock", "_queue", "_run")

    def __init__(self, run: Callable[[Any], None]) -> None:
        self._run = run
        self._lock = Lock()
        self._idle = 0
        self._queue: SimpleQueue[Any] = SimpleQueue()

    def submit(self, call: Any) -> None:
        """May be called from any thread."""
        with self._lock:
            is_taken = self._idle > 0
            if is_taken:
                self._idle -= 1
        if is_taken:
            self._queue.put(call)
        else:
            Thread(target=self._work, args=(call,), name="mf-stream", daemon=True).start()

    def _work(self, call: Any) -> None:
        while True:
            try:
                self._run(call)
            except Exception as raised:  # a bug of the runtime, as above
                log_handler_failure("mf stream", raised)
            del call
            with self._lock:
                self._idle += 1
            try:
                call = self._queue.get(timeout=_IDLE)
            except Empty:
                with self._lock:
                    if self._idle:
                        self._idle -= 1
                        return
                call = self._queue.get()  # another call counts on this thread
