"""R4. Handles links on which no thread blocks, if calls of message batches are pending on them: one
background thread for each client, started when first needed.

It waits on a private epoll descriptor; links are in it only while armed. An idle watch makes no system call.
Times are time.monotonic().
"""

import os
import select
from _thread import start_new_thread
from contextlib import suppress
from threading import Lock
from time import monotonic
from typing import Protocol

from mf.core.clock import moment
from mf.core.log import error, quote

READ = 1  # the bits of EPOLLIN and EPOLLOUT, since `select` has these names on Linux only
WRITE = 4
FOREVER = float("inf")


class Watched(Protocol):
    """The interface of links for a watch. All functions are called on the watch's own thread."""

    def fileno(self) -> int:
        """The descriptor to wait for."""

    def on_ready(self, mask: int) -> None:
        """It is ready for READ or WRITE. Must not block."""

    def expire(self, now: float) -> float:
        """Ends overdue calls; returns the time of the next call (FOREVER: none)."""

    def broken(self, reason: str) -> None:
        """Ends the link, and the calls in flight on it."""


class Watch:
    """One epoll descriptor with armed links, and the daemon thread that waits on it. `arm`, `expire_at` and
    `stop` are thread-safe."""

    __slots__ = ("_armed", "_epoll", "_event", "_expiry", "_lock", "_stopping", "_timers")

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._armed: dict[int, Watched] = {}
        self._timers: dict[Watched, float] = {}
        self._expiry = FOREVER
        self._lock = Lock()
        self._stopping = False
        self._event = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._epoll.register(self._event, READ)
        start_new_thread(self._run, ())

    def arm(self, link: Watched, mask: int) -> None:
        """Watches for READ, WRITE, both, or (0) nothing but keeps the registration."""
        descriptor = link.fileno()
        if descriptor < 0:
            return
        with self._lock:
            if self._epoll.closed:
                return
            known = self._armed.get(descriptor)
            if known is link:
                self._epoll.modify(descriptor, mask)
            else:
                self._armed[descriptor] = link
                self._epoll.register(descriptor, mask)

    def forget(self, link: Watched) -> None:
        """Must be called before the link closes its descriptor. An interrupt may have ended `arm` halfway."""
        descriptor = link.fileno()
        with self._lock:
            self._timers.pop(link, None)
            if self._armed.get(descriptor) is link:
                del self._armed[descriptor]
                if not self._epoll.closed:
                    with suppress(FileNotFoundError):
                        self._epoll.unregister(descriptor)

    def expire_at(self, link: Watched, when: float) -> None:
        """Calls link.expire at that time or soon after."""
        with self._lock:
            self._timers[link] = when
            if when >= self._expiry:
                return
            self._expiry = when
            if not self._stopping:
                os.eventfd_write(self._event, 1)

    def _dispatch(self, ready: list[tuple[int, int]]) -> None:
        for descriptor, mask in ready:
            link = self._armed.get(descriptor)
            if link is not None:
                try:
                    link.on_ready(mask)
                except Exception as bug:
                    self._broken(link, bug)

    def _run_timers(self, now: float) -> float:
        """Expires what is due. Returns the time of the next expiry."""
        with self._lock:
            due = [link for link, when in self._timers.items() if when <= now]
            for link in due:
                del self._timers[link]
        again = [(link, self._expire(link, now)) for link in due]
        with self._lock:
            for link, when in again:
                if when < FOREVER:
                    self._timers[link] = min(when, self._timers.get(link, FOREVER))
            self._expiry = min(self._timers.values(), default=FOREVER)
            return self._expiry

    def _expire(self, link: Watched, now: float) -> float:
        try:
            return link.expire(now)
        except Exception as bug:
            self._broken(link, bug)
            return FOREVER

    def _broken(self, link: Watched, bug: Exception) -> None:
        """A bug in one link, or in a callback: the link ends, and the watch continues for the others."""
        error("while a connection was looked after: %s", quote(repr(bug)), exc_info=bug)
        try:
            link.broken(f"a bug was met on this connection: {bug!r}")
        except Exception as another:
            error("while that connection was closed: %s", quote(repr(another)))

    def stop(self) -> None:
        with self._lock:
            if not self._stopping:
                self._stopping = True
                os.eventfd_write(self._event, 1)

    def _run(self) -> None:
        while not self._stopping:
            expiry = self._expiry
            wait = -1.0 if expiry == FOREVER else moment(max(expiry - monotonic(), 0.0))
            ready = self._epoll.poll(wait)
            for index, (descriptor, _) in enumerate(ready):
                if descriptor == self._event:
                    os.eventfd_read(self._event)
                    del ready[index]
                    break
            self._dispatch(ready)
            if self._expiry < FOREVER:
                self._run_timers(monotonic())
        with self._lock:
            self._epoll.close()
            os.close(self._event)


class Watches:
    """The watch of one client, if it has needed one."""

    __slots__ = ("__weakref__", "_lock", "_thread")

    def __init__(self) -> None:
        self._lock = Lock()
        self._thread: Watch | None = None

    def thread(self) -> Watch:
        """The background thread, started on first use."""
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    self._thread = Watch()
        return self._thread

    def stop(self) -> None:
        with self._lock:
            if self._thread is not None:
                self._thread.stop()
                self._thread = None

    def after_fork(self) -> None:
        self._lock = Lock()
        self._thread = None
