"""R8. The replicated calls of a client that blocks: made by one of asyncio, on a thread with a loop of its
own, which is started by the first of them.
"""

import threading
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from mf.app.async_client import AsyncClient
from mf.core.error import Code, not_executed
from mf.core.replicated import Replicated, ReplicatedOptions
from mf.core.service import Method, ServiceInfo
from mf.link import fork
from mf.link.background import Background

T = TypeVar("T")


class BlockingReplication:
    """See above. Any number of threads may share one. `where`, `options`: those of the client."""

    def __init__(self, where: str, options: dict[str, Any]) -> None:
        self._where = where
        self._options = options
        self._lock = threading.Lock()
        self._thread: Background | None = None
        self._client: AsyncClient | None = None
        self._closed = False
        fork.register(self)

    def __call__(
        self,
        service: ServiceInfo,
        agent: str,
        method: Method[Any, T],
        options: ReplicatedOptions | None,
        arguments: tuple[Any, ...],
    ) -> Replicated[T]:
        thread, client = self._started()
        target = client.async_target(service)
        if agent:
            target = target.at(agent)
        try:
            return thread.run(target.replicate(method, options, *arguments))
        except CancelledError:
            raise not_executed(Code.CANCELLED, "the client was closed") from None

    def close(self) -> None:
        """Calls under way end as CANCELLED."""
        with self._lock:
            self._closed = True
            thread, client = self._thread, self._client
        if thread is not None and client is not None:
            thread.stop(client.close(), 2.0)

    def _started(self) -> tuple[Background, AsyncClient]:
        with self._lock:
            if self._closed:
                raise not_executed(Code.CANCELLED, "the client was closed")
            if self._thread is None or self._client is None:
                self._thread = Background("mf-replication")
                self._client = self._thread.call(lambda: AsyncClient(self._where, **self._options))
            return self._thread, self._client

    def after_fork(self) -> None:
        """In a child, where the thread does not run: it starts one of its own."""
        self._lock = threading.Lock()
        if self._thread is not None:
            self._thread.after_fork()
        if self._client is not None:
            self._client.after_fork()
        self._thread = self._client = None
