"""R7. The resolver over controllers for blocking clients (watcher.py). One daemon thread watches all services
that a client uses; it starts with the first of them.
"""

import threading
from time import monotonic
from typing import TYPE_CHECKING

from mf.controller.connection import asked_addresses, unanswered
from mf.controller.watcher import Watcher
from mf.link import fork
from mf.link.background import Background
from mf.route.resolver import Resolver, View

if TYPE_CHECKING:
    from mf.core.secret import Secret
    from mf.core.tls import Tls

_END_WITHIN = 2.0


class ControllerResolver(Resolver):
    """Thread-safe. `where`: controllers, or relays, which have the same interface; `tls`: how those at
    mf+tls:// or relay+tls:// are verified. Raises ValueError for an invalid address.
    """

    __slots__ = (
        "__weakref__",
        "_changed",
        "_closed",
        "_controllers",
        "_credential",
        "_tls",
        "_unanswered",
        "_views",
        "_watching",
        "generation",
    )

    def __init__(
        self, where: str, tls: "Tls | None" = None, credential: "Secret | str | None" = None
    ) -> None:
        self.generation = 0
        self._controllers = asked_addresses(where)
        self._tls = tls
        self._credential = credential
        self._unanswered = unanswered(self._controllers)
        self._changed = threading.Condition()
        self._views: dict[str, View] = {}
        self._watching: tuple[Background, Watcher] | None = None
        self._closed = False
        fork.register(self)

    def view(self, service: str) -> View:
        view = self._views.get(service)
        if view is None:
            with self._changed:
                view = self._views.get(service)
                if view is None:
                    view = self._views[service] = self._unanswered
                    if not self._closed:
                        self._watch(service)
        return view

    def wait(self, service: str, old: View, timeout: float) -> View:
        until = monotonic() + timeout
        with self._changed:
            while (view := self._views[service]) is old and not self._closed:
                left = until - monotonic()
                if left <= 0:
                    break
                self._changed.wait(min(left, threading.TIMEOUT_MAX))
        return view

    def client_id(self) -> int:
        watching = self._watching
        return watching[1].client_id if watching is not None else 0

    def reload(self) -> bool:
        with self._changed:
            watching = self._watching
        if watching is None:
            return True
        thread, watcher = watching
        return thread.reload(watcher)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            watching, self._watching = self._watching, None
        if watching is not None:
            thread, watcher = watching
            thread.stop(watcher.end(), _END_WITHIN)

    def after_fork(self) -> None:
        if self._watching is not None:
            for each in self._watching:
                each.after_fork()
            self._watching = None
        self._changed = threading.Condition()
        self._views = {}
        self.generation += 1

    def _watch(self, service: str) -> None:
        if self._watching is None:
            thread = Background("mf-watch")
            self._watching = (
                thread,
                thread.call(Watcher, self._controllers, self._take, self._tls, self._credential),
            )
        thread, watcher = self._watching
        thread.soon(watcher.watch, service)

    # On the thread

    def _take(self, service: str, view: View) -> None:
        with self._changed:
            if view.agents is not self._views[service].agents:
                self.generation += 1
            self._views[service] = view
            self._changed.notify_all()
