"""R5. The pool of an asyncio client.

An attempt to connect is a task that all interested callers wait for. When the last of them is cancelled, the
attempt is, too, and its socket is closed; a caller that turns to another instance leaves it running.
"""

from asyncio import AbstractEventLoop, CancelledError, Task, wait
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context
from time import monotonic
from weakref import finalize, ref

from mf.core.client_options import DEFAULTS, ClientOptions
from mf.core.error import Code, Error, not_executed
from mf.link.async_link import AsyncLink, check_loop
from mf.protocol.session import SCRATCH_SIZE
from mf.route.pool import CONNECT_TIMEOUT, NOT_TRUSTED, UNTRUSTED_FOR, Place, Pool, connect_failed
from mf.route.resolver import Instance
from mf.transport.address import Address
from mf.transport.async_connect import Progress, connect
from mf.transport.stream import StreamError


class _Place(Place[AsyncLink]):
    __slots__ = ("attempt", "progress", "waiting")

    def __init__(self, place: str) -> None:
        super().__init__(place)
        self.attempt: Task[None] | None = None
        self.progress = Progress()
        self.waiting = 0


class AsyncPool(Pool[_Place, AsyncLink]):
    """Links by address, on one loop."""

    __slots__ = ("__weakref__", "_files_watched", "_loop", "_scratch")

    def __init__(
        self,
        loop: AbstractEventLoop,
        options: ClientOptions = DEFAULTS,
        given_id: Callable[[], int] | None = None,
    ) -> None:
        super().__init__(options, given_id)
        self._loop = loop
        self._files_watched = False
        self._scratch = bytearray(SCRATCH_SIZE)

    def _place(self, address: str) -> _Place:
        place = self._places.get(address)
        if place is None:
            place = self._places[address] = _Place(address)
        return place

    async def begin_all(self, instances: list[Instance], deadline: float) -> None:  # noqa: ARG002
        for instance in instances:
            if instance.local:  # which is checked first
                continue
            place = self._place(instance.place)
            if not self.closed and self.usable(instance) is None and monotonic() >= place.not_before:
                self._begin(place)

    async def get(self, place: str, deadline: float, *, by_instance: bool = False) -> AsyncLink:
        at = self._place(place)
        link = at.link
        if link is not None and link.usable:
            return link
        if self.closed:
            raise not_executed(Code.CANCELLED, "the client was closed")
        check_loop(self._loop)
        now = monotonic()
        if at.attempt is None or at.attempt.done():
            at.check(now)
        attempt = self._begin(at, by_instance=by_instance)
        at.waiting += 1
        try:
            await wait((attempt,), timeout=min(max(deadline - now, 0.0), CONNECT_TIMEOUT))
        except CancelledError:
            if at.waiting == 1 and at.attempt is attempt:
                attempt.cancel()
            raise
        finally:
            at.waiting -= 1
        if self.closed:
            raise not_executed(Code.CANCELLED, "the client was closed")
        link = at.link
        if link is not None and link.usable:
            return link
        if attempt.done():
            if at.error is not None:
                raise at.error
            if link is not None:  # it has connected, and the server has ended the connection at once
                raise link.gone()
        raise connect_failed(at.address, at.progress.too_late())

    def _begin(self, place: _Place, *, by_instance: bool = False) -> "Task[None]":
        attempt = place.attempt
        if attempt is None or attempt.done():
            # In a context of its own, since it belongs to no call.
            attempt = self._loop.create_task(self._connect(place, by_instance), context=Context())
            place.attempt = attempt
            timer = self._loop.call_later(CONNECT_TIMEOUT, self._give_up, place, attempt)
            attempt.add_done_callback(lambda _: timer.cancel())
        return attempt

    def _give_up(self, place: _Place, attempt: "Task[None]") -> None:
        place.failed(place.progress.too_late())
        attempt.cancel()

    async def _connect(self, place: _Place, by_instance: bool) -> None:
        place.error = None
        place.progress = Progress()
        try:
            stream = await connect(self._dialer, Address.parse(place.address), place.progress)
            place.check_certificate(stream)
            if by_instance:
                self._check_peer(place.address, stream)
            hello = self._hello_to(place.address, stream)
        except Error as refused:
            place.failed(StreamError(refused.code, refused.message))
        except OSError as failed:
            place.failed(failed)
        except ValueError as failed:  # an address that cannot be used
            place.failed(OSError(str(failed)))
        else:
            link = AsyncLink(
                self._loop, stream, hello, self._scratch, place.standing, self._options.dead_after
            )
            place.connected(link)
            if self.closed:
                link.close()
            elif link.peer.startswith("tls:"):
                self._watch_files()

    def _watch_files(self) -> None:
        if not self._files_watched:
            self._files_watched = True
            self._loop.call_later(self._options.reload_interval, _look_at_files, ref(self))

    def look_at_files(self) -> None:
        """Called once for each _watch_files."""
        self._files_watched = False
        if not self.closed and self._look_at_files():
            self._watch_files()

    def _end_untrusted(self, link: AsyncLink) -> None:
        self._loop.call_later(UNTRUSTED_FOR, link.broken, NOT_TRUSTED)

    def close(self) -> None:
        self.closed = True
        _close_all(self._places)

    def close_when_dropped(self, also: Callable[[], None] | None) -> None:
        """When a client and all that calls through it are dropped, the loop keeps none of its connections.
        `also` must not refer to the pool."""
        finalize(self, _close_dropped, self._loop, self._places, also).atexit = False

    async def end(self) -> None:
        """After `close`: returns when nothing of it runs any more."""
        attempts = [
            each.attempt for each in self._places.values() if each.attempt and not each.attempt.done()
        ]
        if attempts:
            await wait(attempts)

    def after_fork(self) -> None:
        """Closes the client in a child, where the loop does not run."""
        self.closed = True
        for place in self._places.values():
            for link in place.links():
                link.after_fork()


def _look_at_files(of: "ref[AsyncPool]") -> None:
    """A timer that does not keep the pool."""
    pool = of()
    if pool is not None:
        pool.look_at_files()


def _close_all(places: "dict[str, _Place]") -> None:
    for place in places.values():
        for link in place.links():
            link.close()
        if place.attempt is not None:
            place.attempt.cancel()


def _close_dropped(
    loop: AbstractEventLoop, places: "dict[str, _Place]", also: Callable[[], None] | None
) -> None:
    """Called by a finalizer, on any thread."""
    with suppress(RuntimeError):  # the loop was closed, and its connections with it
        loop.call_soon_threadsafe(_close_all, places)
        if also is not None:
            loop.call_soon_threadsafe(also)
