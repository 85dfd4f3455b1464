"""R6. The resolver over a controller for clients of asyncio: watches each service that the client uses
(views.py), and outlives the controller.

One task a watched service waits in `watch`, which the controller answers when something changed.
"""

from asyncio import AbstractEventLoop, Task, sleep, wait
from contextvars import Context
from time import monotonic

from mf.client.async_client import AsyncClient
from mf.controller._generated.mf.controller import ControllerAsyncClient
from mf.controller.connection import controller_addresses, over_tcp, trouble_with
from mf.controller.views import Watched
from mf.core.log import quote, warning
from mf.link.async_resolver import AsyncResolver, News
from mf.link.reconnect import Backoff
from mf.link.resolver import View


class AsyncControllerResolver(AsyncResolver):
    """On the running loop. Raises ValueError for an address that is none."""

    __slots__ = ("_addresses", "_client", "_loop", "_news", "_stub", "_tasks", "_watched")

    def __init__(self, where: str, loop: AbstractEventLoop) -> None:
        self.generation = 0
        self._addresses = controller_addresses(where)
        self._client = AsyncClient(over_tcp(self._addresses), dead_after=0)  # the kernel looks after it
        self._stub = ControllerAsyncClient(self._client)
        self._loop = loop
        self._news = News(loop)
        self._tasks: list[Task[None]] = []
        self._watched: dict[str, Watched] = {}

    def view(self, service: str) -> View:
        watched = self._watched.get(service)
        if watched is None:
            watched = self._watched[service] = Watched()
            # In a context of its own: it belongs to no call.
            self._tasks.append(self._loop.create_task(self._watch(service, watched), context=Context()))
        return watched.view

    async def wait(self, service: str, old: View, timeout: float) -> View:
        until = monotonic() + timeout
        while (view := self._watched[service].view) is old and self._tasks:
            left = until - monotonic()
            if left <= 0:
                break
            await self._news.wait(left)
        return view

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._news.tell()

    async def closed(self) -> None:
        if self._tasks:
            await wait(self._tasks)
        self._tasks.clear()
        await self._client.close()

    async def _watch(self, service: str, watched: Watched) -> None:
        backoff = Backoff()
        while True:
            wait_ms, options = watched.question(monotonic())
            known = watched.answer
            try:
                answer = await self._stub.watch(
                    service, known.epoch, known.revision, wait_ms, options=options
                )
                new = watched.takes(answer, monotonic())
            except Exception as error:  # whatever it was: a watch that gave up would see nothing any more
                trouble = trouble_with(self._addresses, error)
                if watched.lost(trouble):
                    warning("%s; trying on", quote(trouble))
                    self._news.tell()
                await sleep(backoff.next())
                continue
            backoff.reset()
            if new:
                self.generation += 1
                self._news.tell()
