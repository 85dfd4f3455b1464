"""R5. The asynchronous side of a blocking client, for work while no call runs: an asyncio client with the
same options and its own connections, on one thread with a loop. It starts when it is first needed, and ends
when neither the client nor another user holds it.
"""

from collections.abc import Callable
from functools import partial
from threading import Lock
from weakref import finalize

from mf.client.async_client import AsyncClient
from mf.core import abandoned
from mf.core.error import Code, not_executed
from mf.link import fork
from mf.link.background import Background

_END_WITHIN = 2.0


class AsyncSide:
    """Thread-safe. `make` creates the client, on the loop."""

    __slots__ = ("__weakref__", "_closed", "_dropped", "_lock", "_make", "_running")

    def __init__(self, make: Callable[[], AsyncClient]) -> None:
        self._make = make
        self._lock = Lock()
        self._running: tuple[Background, AsyncClient] | None = None
        self._closed = False
        self._dropped: finalize[..., AsyncSide] | None = None
        fork.register(self)

    def running(self) -> tuple[Background, AsyncClient]:
        """Raises CANCELLED after it was closed."""
        with self._lock:
            if self._closed:
                raise not_executed(Code.CANCELLED, "the client was closed")
            if self._running is None:
                thread = Background("mf-client")
                self._running = thread, thread.call(self._make)
                abandoned.begin()
                self._dropped = finalize(self, abandoned.close_soon, partial(_end, *self._running))
                self._dropped.atexit = False
            return self._running

    def close(self) -> None:
        with self._lock:
            self._closed = True
            running = self._forget()
        if running is not None:
            _end(*running)

    def _forget(self) -> tuple[Background, AsyncClient] | None:
        if self._dropped is not None:
            self._dropped.detach()
        running, self._running = self._running, None
        return running

    def after_fork(self) -> None:
        """In a child it starts again when it is needed."""
        self._lock = Lock()
        running = self._forget()
        if running is not None:
            thread, client = running
            client.after_fork()
            thread.after_fork()


def _end(thread: Background, client: AsyncClient) -> None:
    thread.stop(client.close(), _END_WITHIN)
