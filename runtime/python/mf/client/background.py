"""R5. The asynchronous side of a blocking client, for subscriptions and replicated calls: an AsyncClient with
the same options and its own connections, on one thread with a loop. It starts when it is first needed, and
ends when neither the client nor another user holds it. Nothing of asyncio is imported before.
"""

from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import finalize

from mf.core import abandoned
from mf.core.client_options import ClientOptions
from mf.core.error import Code, not_executed
from mf.core.replicated import Replicated, ReplicatedOptions
from mf.core.service import Method, ServiceInfo
from mf.link import fork

if TYPE_CHECKING:
    from mf.client.async_client import AsyncClient
    from mf.link.background import Background

T = TypeVar("T")

_END_WITHIN = 2.0


class AsyncSide:
    """Thread-safe."""

    __slots__ = ("__weakref__", "_closed", "_dropped", "_lock", "_options", "_running", "_where")

    def __init__(self, where: str, options: ClientOptions) -> None:
        self._where = where
        self._options = options
        self._lock = Lock()
        self._running: tuple[Background, AsyncClient] | None = None
        self._closed = False
        self._dropped: finalize[..., AsyncSide] | None = None
        fork.register(self)

    def running(self) -> "tuple[Background, AsyncClient]":
        """Raises CANCELLED after it was closed."""
        with self._lock:
            if self._closed:
                raise not_executed(Code.CANCELLED, "the client was closed")
            if self._running is None:
                from mf.client.async_client import AsyncClient
                from mf.link.background import Background

                thread = Background("mf-client")
                self._running = thread, thread.call(AsyncClient, self._where, self._options)
                abandoned.begin()
                self._dropped = finalize(self, abandoned.close_soon, partial(_end, *self._running))
                self._dropped.atexit = False
            return self._running

    def replicate(
        self,
        service: ServiceInfo,
        agent: str,
        method: Method[Any, T],
        options: ReplicatedOptions | None,
        arguments: tuple[Any, ...],
    ) -> Replicated[T]:
        """A replicated call."""
        from concurrent.futures import CancelledError

        thread, client = self.running()
        target = client.async_target(service)
        if agent:
            target = target.at(agent)
        try:
            return thread.run(target.replicate(method, options, *arguments))
        except CancelledError:
            raise not_executed(Code.CANCELLED, "the client was closed") from None

    def reload(self) -> bool:
        """See Client.reload."""
        with self._lock:
            running = self._running
        if running is None:
            return True
        thread, client = running
        return thread.reload(client)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            running = self._forget()
        if running is not None:
            _end(*running)

    def _forget(self) -> "tuple[Background, AsyncClient] | None":
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


def _end(thread: "Background", client: "AsyncClient") -> None:
    thread.stop(client.close(), _END_WITHIN)
