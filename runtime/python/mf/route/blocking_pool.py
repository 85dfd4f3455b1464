"""R5. The pool of a blocking client: a thread that needs a connection makes it itself."""

from collections.abc import Callable
from threading import Lock, Timer
from time import monotonic
from weakref import ref

from mf.core.client_options import DEFAULTS, ClientOptions
from mf.core.error import Code, Error, not_executed
from mf.link import fork
from mf.link.link import Link
from mf.link.watch import FOREVER, Watched, Watches
from mf.route.pool import A_MOMENT, CONNECT_TIMEOUT, NOT_TRUSTED, UNTRUSTED_FOR, Place, Pool, connect_failed
from mf.route.resolver import Instance
from mf.transport import tcp
from mf.transport.address import Address
from mf.transport.stream import Stream

_HEARD_WITHIN = 1.0
"""Seconds. A server gives up a connection on which it hears nothing for 2 s."""

Connect = Callable[[str, float], Stream]
"""Opens a stream to an address within a time in seconds; raises OSError."""


class _Place(Place[Link]):
    __slots__ = ("connecting", "lock")

    def __init__(self, place: str) -> None:
        super().__init__(place)
        self.lock = Lock()
        self.connecting: tcp.Connecting | None = None

    def begun(self) -> tcp.Connecting | None:
        """With the lock: the connection that is being made. One that was left alone for long is dropped."""
        begun = self.connecting
        if begun is not None and begun.begun + _HEARD_WITHIN < monotonic():
            begun.close()
            self.connecting = None
        return self.connecting

    def finish(self, until: float) -> Stream | None:
        """With the lock: the stream that was begun. None if it is still being made at that time. Raises
        OSError."""
        begun = self.connecting
        if begun is None:
            return None
        self.connecting = None
        stream = begun.finish(until)
        if stream is None:
            self.connecting = begun
        return stream


class _FileWatch(Watched):
    """Has the watch of a client look at files of TLS. It does not keep the pool."""

    __slots__ = ("_interval", "_pool")

    def __init__(self, pool: "BlockingPool", interval: float) -> None:
        self._pool = ref(pool)
        self._interval = interval

    def fileno(self) -> int:
        return -1

    def on_ready(self, mask: int) -> None:
        """It is never armed."""

    def expire(self, now: float) -> float:
        pool = self._pool()
        return now + self._interval if pool is not None and pool.look_at_files() else FOREVER

    def broken(self, reason: str) -> None:
        """Nothing ends with it."""


class BlockingPool(Pool[_Place, Link]):
    """Links by address. Thread-safe."""

    __slots__ = ("__weakref__", "_connect", "_file_watch", "_lock", "watches")

    def __init__(self, options: ClientOptions = DEFAULTS, given_id: Callable[[], int] | None = None) -> None:
        super().__init__(options, given_id)
        self._connect: Connect | None = options.connect
        self._lock = Lock()
        self.watches = Watches()
        self._file_watch: _FileWatch | None = None
        fork.register(self)

    async def begin_all(self, instances: list[Instance], deadline: float) -> None:
        """Waits until all are connected, or for a moment: `open` waits for the rest. Servers are greeted,
        even those that are not needed now: a connection on which they hear nothing ends."""
        begun: list[tuple[_Place, tcp.Connecting]] = []
        if self._connect is not None or len(instances) < 2:
            return
        until = min(deadline, monotonic() + A_MOMENT)
        for instance in instances:
            if self.closed or self.usable(instance) or await self.nearest(instance, until):
                continue
            place = self._place(instance.place)
            if not place.lock.acquire(blocking=False):
                continue
            try:
                if place.begun() is None and monotonic() >= place.not_before:
                    place.connecting = self._dialer.begin(Address.parse(instance.address))
                    if place.connecting is not None:
                        begun.append((place, place.connecting))
            except (OSError, ValueError):
                pass  # `open` gets the same failure, and reports it
            finally:
                place.lock.release()
        tcp.wait_for([each for _, each in begun], until - monotonic())
        for place, each in begun:
            if place.lock.acquire(blocking=False):
                try:
                    if place.connecting is each and (stream := place.finish(0.0)) is not None:
                        place.check_certificate(stream)
                        self._connected(place, stream).flush()
                except (OSError, Error):
                    pass
                finally:
                    place.lock.release()

    def _place(self, address: str) -> _Place:
        place = self._places.get(address)
        if place is None:
            with self._lock:
                place = self._places.setdefault(address, _Place(address))
        return place

    async def get(self, place: str, deadline: float, *, by_instance: bool = False) -> Link:
        at = self._places.get(place) or self._place(place)
        link = at.link
        if link is not None and link.usable:
            return link
        if not at.lock.acquire(timeout=min(max(deadline - monotonic(), 0.0), CONNECT_TIMEOUT)):
            raise not_executed(Code.UNAVAILABLE, f"no connection to {at.address} within the deadline")
        try:
            return self._open(at, deadline, by_instance)
        finally:
            at.lock.release()

    def _open(self, place: _Place, deadline: float, by_instance: bool) -> Link:
        address, link = place.address, place.link
        if link is not None and link.usable:
            return link
        if self.closed:
            raise not_executed(Code.UNAVAILABLE, "the client was closed")
        now = monotonic()
        place.check(now)
        try:
            timeout = min(max(deadline - now, 0.001), CONNECT_TIMEOUT)
            begun = place.begun()
            stream = place.finish(now + timeout) if begun is not None else self._dial(address, timeout)
            if stream is not None:
                place.check_certificate(stream)
        except OSError as failed:
            raise place.failed(failed) from None
        except ValueError as failed:  # an address that cannot be used
            raise place.failed(OSError(str(failed))) from None
        if stream is None:  # the next caller continues with it
            assert begun is not None
            raise connect_failed(address, begun.too_late())
        if by_instance:
            self._check_peer(address, stream)
        link = self._connected(place, stream)
        if self._closed_meanwhile():
            link.close()
            raise not_executed(Code.CANCELLED, "the client was closed")
        return link

    def _connected(self, place: _Place, stream: Stream) -> Link:
        """With the lock of the place. Raises Error, as _hello_to does."""
        hello = self._hello_to(place.address, stream)
        link = Link(stream, hello, self.watches, place.standing, self._options.dead_after)
        place.connected(link)
        if link.peer.startswith("tls:") and self._file_watch is None:
            self._file_watch = _FileWatch(self, self._options.reload_interval)
            self.watches.thread().expire_at(self._file_watch, monotonic() + self._options.reload_interval)
        return link

    def look_at_files(self) -> bool:
        """For _FileWatch. False: there is nothing to watch for now."""
        if self._look_at_files():
            return True
        self._file_watch = None
        return False

    def _end_untrusted(self, link: Link) -> None:
        timer = Timer(UNTRUSTED_FOR, link.broken, (NOT_TRUSTED,))
        timer.daemon = True
        timer.start()

    def _closed_meanwhile(self) -> bool:
        return self.closed

    def _dial(self, address: str, timeout: float) -> Stream:
        if self._connect is not None:
            return self._connect(address, timeout)
        return self._dialer.connect(Address.parse(address), timeout)

    def close(self) -> None:
        self.closed = True
        for place in list(self._places.values()):
            for link in place.links():
                link.close()
            if place.connecting is not None:
                place.connecting.close()
        self.watches.stop()

    def after_fork(self) -> None:
        self._lock = Lock()
        self._places = {}
        self._file_watch = None
        self.watches.after_fork()
        self._draw()
