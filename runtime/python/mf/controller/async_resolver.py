"""R7. The resolver over controllers for asyncio clients (watcher.py). It uses tasks and no thread."""

from time import monotonic
from typing import TYPE_CHECKING

from mf.controller.connection import asked_addresses
from mf.controller.watcher import Watcher
from mf.route.async_resolver import AsyncResolver, News
from mf.route.resolver import View

if TYPE_CHECKING:
    from mf.core.secret import Secret
    from mf.core.tls import Tls


class AsyncControllerResolver(AsyncResolver):
    """On the running loop. The arguments are those of ControllerResolver."""

    __slots__ = ("_closed", "_news", "_views", "_watcher")

    def __init__(
        self, where: str, tls: "Tls | None" = None, credential: "Secret | str | None" = None
    ) -> None:
        self.generation = 0
        self._watcher = Watcher(asked_addresses(where), self._take, tls, credential)
        self._news = News()
        self._views: dict[str, View] = {}
        self._closed = False

    def view(self, service: str) -> View:
        view = self._views.get(service)
        if view is None:
            view = self._views[service] = self._watcher.unanswered
            if not self._closed:
                self._watcher.watch(service)
                view = self._views[service]
        return view

    async def wait(self, service: str, old: View, timeout: float) -> View:
        until = monotonic() + timeout
        while (view := self._views[service]) is old and not self._closed:
            left = until - monotonic()
            if left <= 0:
                break
            await self._news.wait(left)
        return view

    def client_id(self) -> int:
        return self._watcher.client_id

    def reload(self) -> bool:
        return self._watcher.reload()

    def close(self) -> None:
        self._closed = True
        self._watcher.close()
        self._news.tell()

    async def closed(self) -> None:
        await self._watcher.closed()

    def _take(self, service: str, view: View) -> None:
        if view.agents is not self._views[service].agents:
            self.generation += 1
        self._views[service] = view
        self._news.tell()
