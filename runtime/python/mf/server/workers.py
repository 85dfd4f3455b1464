"""R5. Where plain handlers run that are not inline: a few worker threads, and threads for those of streams.

Threads are started when first needed. Both take calls in the order in which they arrive.
"""

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Lock, Semaphore, Thread
from typing import Any

from mf.core.log import log_handler_failure

_IDLE = 5.0
"""Seconds after which an unused thread of streams ends."""


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
        """Lets them finish what they run, at most `timeout` seconds each. What is still queued is dropped."""
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
            except (
                Exception
            ) as raised:  # a bug of ours, or memory ran out: this call is lost, the worker is not
                log_handler_failure("mf worker", raised)
            del call
            if len(self._threads) < self._most:
                self._idle.release()


class StreamThreads:
    """Threads for plain handlers of streams, one each while they run: these wait for their clients, and would
    keep workers from other calls. How many there are is bounded by what connections may have open. One that
    has had nothing to do for a while ends.
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
            except Exception as raised:  # a bug of ours, as above
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
                call = self._queue.get()  # somebody counts on this thread
