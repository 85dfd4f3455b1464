"""R6. The resolver over a controller for clients that block: watches each service that the client uses
(views.py), and outlives the controller.

One daemon thread a watched service waits in `watch`, which the controller answers when something changed.
"""

import threading
from time import monotonic

from mf.controller._generated.mf.controller import View as Answer
from mf.controller.connection import ControllerConnection
from mf.controller.views import Watched
from mf.core.log import quote, warning
from mf.link import fork
from mf.link.reconnect import Backoff
from mf.link.resolver import Resolver, View


class ControllerResolver(Resolver):
    """Any number of threads may ask. Raises ValueError for an address that is none."""

    __slots__ = ("__weakref__", "_changed", "_closed", "_connection", "_watched", "_where", "generation")

    def __init__(self, where: str) -> None:
        self.generation = 0
        self._where = where
        self._connection = ControllerConnection(where)
        self._changed = threading.Condition()
        self._watched: dict[str, Watched] = {}
        self._closed = False
        fork.register(self)

    def view(self, service: str) -> View:
        watched = self._watched.get(service)
        if watched is None:
            with self._changed:
                watched = self._watched.get(service)
                if watched is None:
                    watched = self._watched[service] = Watched()
                    name = f"mf-watch-{service}"
                    threading.Thread(
                        target=self._watch, args=(service, watched), name=name, daemon=True
                    ).start()
        return watched.view

    def wait(self, service: str, old: View, timeout: float) -> View:
        until = monotonic() + timeout
        with self._changed:
            while (view := self._watched[service].view) is old and not self._closed:
                left = until - monotonic()
                if left <= 0:
                    break
                self._changed.wait(min(left, threading.TIMEOUT_MAX))
        return view

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._connection.close()

    def after_fork(self) -> None:
        self._changed = threading.Condition()
        self._watched = {}
        self._connection = ControllerConnection(self._where)
        self.generation += 1

    # The thread of one service

    def _watch(self, service: str, watched: Watched) -> None:
        connection = self._connection
        backoff = Backoff()
        while not self._closed and connection is self._connection:
            wait_ms, options = watched.question(monotonic())
            known = watched.answer
            try:
                answer = connection.stub.watch(service, known.epoch, known.revision, wait_ms, options=options)
                self._take(watched, answer)
            except Exception as error:  # whatever it was: a watch that gave up would see nothing any more
                self._lost(watched, connection.trouble(error))
                self._pause(backoff.next())
                continue
            backoff.reset()

    def _take(self, watched: Watched, answer: Answer) -> None:
        with self._changed:
            if watched.takes(answer, monotonic()):
                self.generation += 1
                self._changed.notify_all()

    def _lost(self, watched: Watched, trouble: str) -> None:
        with self._changed:
            if self._closed or not watched.lost(trouble):
                return
            self._changed.notify_all()
        warning("%s; trying on", quote(trouble))

    def _pause(self, seconds: float) -> None:
        """Sleeps, but no longer than the resolver lives."""
        until = monotonic() + seconds
        with self._changed:
            while not self._closed and (left := until - monotonic()) > 0:
                self._changed.wait(left)
