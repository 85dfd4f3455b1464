"""R5. Where handlers run that are not inline: a few worker threads, and one loop for servants with `async
def`.

Threads are started when first needed. Both take calls in the order in which they arrive.
"""

from collections.abc import Callable, Coroutine
from queue import SimpleQueue
from threading import Lock, Semaphore, Thread
from typing import TYPE_CHECKING, Any

from mf.core.log import log_handler_failure

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop


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


class AsyncRunner:
    """The loop on which `async def` handlers run, on a thread of its own."""

    __slots__ = ("_lock", "_loop", "_thread")

    def __init__(self) -> None:
        self._lock = Lock()
        self._loop: AbstractEventLoop | None = None
        self._thread: Thread | None = None

    def submit(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Runs it soon. May be called from any thread."""
        import asyncio

        with self._lock:
            loop = self._loop
            if loop is None:
                loop = self._loop = asyncio.new_event_loop()
                self._thread = Thread(target=loop.run_forever, name="mf-async", daemon=True)
                self._thread.start()
        asyncio.run_coroutine_threadsafe(coroutine, loop)

    def stop(self, timeout: float) -> None:
        """Stops the loop; what still runs on it is cancelled."""
        with self._lock:
            loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        loop.call_soon_threadsafe(_stop_loop, loop)
        thread.join(timeout)
        if not thread.is_alive():
            loop.close()


def _stop_loop(loop: "AbstractEventLoop") -> None:
    import asyncio

    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.call_soon(loop.stop)
