"""R5. The threads of plain handlers that are not inline: a few workers, and threads for streams.

Threads are started when first needed. Both take calls in the order in which they arrive.
"""

from _thread import allocate_lock
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock, Thread, current_thread
from time import monotonic
from typing import Any

from mf.core.handler_wait import HandlerWait, Place, here
from mf.core.log import log_escaped_exception, warning
from mf.server.shares import Shares
from mf.server.stream import StreamCall

_IDLE = 5.0
"""Seconds after which an unused thread for streams, or one without a place, ends."""
_MOST_WAITING = 256
"""Threads in addition to those that have places, one for each handler that waits. As in C++."""
MOST_STREAM_THREADS = 1024
"""Handlers of streams that run at once in a server with threads. As in C++."""
_LOG_EVERY = 10.0
_FOREVER = float("inf")
_LOOK: Any = object()
"""An entry of the queue of calls, which makes an idle thread check whether it has a place."""


class Workers(Place):
    """Threads that run calls with `run`, at most `most` of them at once. A handler that waits for a call of
    its own gives its place to another thread (mf.core.handler_wait); there are at most `threads` of these.

    A thread that takes calls has a place. Threads beyond the places are parked, and end after a while.
    """

    __slots__ = (
        "_debt",
        "_free",
        "_idle",
        "_lock",
        "_parked",
        "_queue",
        "_refused_at",
        "_run",
        "_stopping",
        "_threads",
        "_waiting",
        "threads",
    )

    def __init__(self, most: int, run: Callable[[Any], None]) -> None:
        self.threads = most + _MOST_WAITING
        self._run = run
        self._queue: SimpleQueue[Any] = SimpleQueue()
        self._lock = Lock()
        self._free = most  # places without a thread
        self._idle: list[None] = []  # an entry for each thread that waits for a call
        self._debt = 0  # places that handlers have taken again although all were taken
        self._waiting = 0
        self._parked: list[Any] = []
        self._threads: set[Thread] = set()
        self._refused_at = -_FOREVER
        self._stopping = False

    def submit(self, call: Any) -> None:
        """May be called from any thread."""
        self._queue.put(call)
        if self._free and self._are_too_few():
            self._fill()

    def _are_too_few(self) -> bool:
        """Whether a call is queued for which no thread is idle. A thread that has just taken a call may still
        be listed as idle; so each thread asks this again after that."""
        return self._queue.qsize() > len(self._idle)

    def leave(self) -> bool:
        with self._lock:
            refused = self._waiting + 1 >= self.threads
            if not refused:
                self._waiting += 1
                self._free += 1
        if refused:
            self._log_refusal()
        elif not self._queue.empty():
            self._fill()
        return not refused

    def _log_refusal(self) -> None:
        now = monotonic()
        if now - self._refused_at >= _LOG_EVERY:
            self._refused_at = now
            text = "all %d workers wait for calls that their handlers made; such calls are refused"
            warning(text, self.threads)

    def come_back(self) -> None:
        with self._lock:
            self._waiting -= 1
            if self._free:
                self._free -= 1
                return
            self._debt += 1
        self._queue.put(_LOOK)

    def stop(self, timeout: float) -> None:
        """Lets running calls finish, for at most `timeout` seconds each. Queued calls are dropped. Not to be
        called by a handler."""
        with self._lock:
            self._stopping = True
            threads = list(self._threads)
            parked, self._parked = self._parked, []
        for each in parked:
            each.release()
        for _ in threads:
            self._queue.put(None)
        until = monotonic() + timeout
        for thread in threads:
            thread.join(max(until - monotonic(), 0.0))

    def _fill(self) -> None:
        """Gives a free place to a parked thread, or to a new one. That is started under the lock, so that
        `stop` finds none that it cannot join yet."""
        with self._lock:
            if not self._free or self._stopping:
                return
            self._free -= 1
            if self._parked:
                self._parked.pop().release()
                return
            thread = Thread(target=self._work, name=f"mf-worker-{len(self._threads)}", daemon=True)
            self._threads.add(thread)
            try:
                thread.start()
            except BaseException:  # no more threads can be had: running ones take the call when they can
                self._free += 1
                self._threads.discard(thread)
                raise

    def _park(self) -> bool:
        """Waits for a place. False: there was none for some time, or the server stops."""
        parked = allocate_lock()
        parked.acquire()
        with self._lock:
            if self._stopping:
                return False
            self._parked.append(parked)
        if parked.acquire(timeout=_IDLE):
            return not self._stopping
        with self._lock:
            if parked in self._parked:
                self._parked.remove(parked)
                return False
        return not self._stopping  # it was given a place at the last moment

    def _gives_up_its_place(self) -> bool:
        with self._lock:
            if not self._debt:
                return False
            self._debt -= 1
            return True

    def _work(self) -> None:
        here.wait = HandlerWait(self)
        get = self._queue.get
        run = self._run
        idle = self._idle
        while True:
            idle.append(None)
            call = get()
            idle.pop()
            if call is None:
                break
            if self._free and self._are_too_few():
                with suppress(RuntimeError):  # no more threads can be had: running ones take what is queued
                    self._fill()
            if call is not _LOOK:
                try:
                    run(call)
                except Exception as raised:  # a bug of the runtime, or memory ran out: only this call is lost
                    log_escaped_exception("mf worker", raised)
            del call
            if self._debt and self._gives_up_its_place() and not self._park():
                break
        with self._lock:
            self._threads.discard(current_thread())


class StreamThreads:
    """Threads for plain handlers of streams, one for each while it runs: they wait for their clients, and
    would block workers. All peers share MOST_STREAM_THREADS of them (shares.py). A thread that was idle for a
    while ends.
    """

    __slots__ = ("_idle", "_lock", "_queue", "_run", "shares")

    def __init__(self, run: Callable[[Any], None]) -> None:
        self._run = run
        self.shares = Shares(MOST_STREAM_THREADS)
        self._lock = Lock()
        self._idle = 0
        self._queue: SimpleQueue[Any] = SimpleQueue()

    def submit(self, call: StreamCall) -> bool:
        """May be called from any thread. False: the client of the call may have no more threads."""
        if not self.shares.take(call.connection.account):
            return False
        with self._lock:
            is_taken = self._idle > 0
            if is_taken:
                self._idle -= 1
        if is_taken:
            self._queue.put(call)
        else:
            try:
                Thread(target=self._work, args=(call,), name="mf-stream", daemon=True).start()
            except RuntimeError:  # no more threads can be had
                self.shares.give_back(call.connection.account)
                return False
        return True

    def _work(self, call: StreamCall) -> None:
        while True:
            account = call.connection.account
            try:
                self._run(call)
            except Exception as raised:  # a bug of the runtime, as above
                log_escaped_exception("mf stream", raised)
            del call
            self.shares.give_back(account)
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
