"""R5. The asynchronous side of a client that blocks, for what it does while nobody calls it: a client of
asyncio like it, with connections of its own, on one thread with a loop. It begins when it is first needed.
"""

from collections.abc import Callable
from threading import Lock

from mf.client.async_client import AsyncClient
from mf.core.error import Code, not_executed
from mf.link import fork
from mf.link.background import Background

_END_WITHIN = 2.0


class AsyncSide:
    """Any thread may ask. `make` makes the client, on the loop."""

    __slots__ = ("__weakref__", "_closed", "_lock", "_make", "_running")

    def __init__(self, make: Callable[[], AsyncClient]) -> None:
        self._make = make
        self._lock = Lock()
        self._running: tuple[Background, AsyncClient] | None = None
        self._closed = False
        fork.register(self)

    def running(self) -> tuple[Background, AsyncClient]:
        """Raises CANCELLED when it was closed."""
        with self._lock:
            if self._closed:
                raise not_executed(Code.CANCELLED, "the client was closed")
            if self._running is None:
                thread = Background("mf-client")
                self._running = thread, thread.call(self._make)
            return self._running

    def close(self) -> None:
        with self._lock:
            self._closed = True
            running, self._running = self._running, None
        if running is not None:
            thread, client = running
            thread.stop(client.close(), _END_WITHIN)

    def after_fork(self) -> None:
        """In a child it begins anew when it is needed."""
        self._lock = Lock()
        if self._running is not None:
            thread, client = self._running
            client.after_fork()
            thread.after_fork()
            self._running = None
