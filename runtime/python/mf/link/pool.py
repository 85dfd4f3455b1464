"""R4. The connections of one blocking client, one for each address, opened when needed and shared by all its
callers.
"""

from collections.abc import Callable
from threading import Lock
from time import monotonic

from mf.core.client_options import DEFAULTS, ClientOptions
from mf.core.error import Code, Error, not_executed
from mf.link import fork
from mf.link.link import Link
from mf.link.local_paths import another_process
from mf.link.places import A_MOMENT, CONNECT_TIMEOUT, Place, Places, connect_failed
from mf.link.resolver import Instance
from mf.link.watch import Watches
from mf.transport import tcp
from mf.transport.address import Address
from mf.transport.sockets import Dialer
from mf.transport.stream import Stream

_HEARD_WITHIN = 1.0
"""Seconds. A server gives up a connection on which it hears nothing for 2 s."""

Connect = Callable[[str, float], Stream]
"""Opens a stream to an address within a time in seconds; raises OSError."""


class _Place(Place[Link]):
    __slots__ = ("connecting", "lock")

    def __init__(self) -> None:
        super().__init__()
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


class Pool(Places[_Place, Link]):
    """Links by address. Thread-safe."""

    __slots__ = ("__weakref__", "_connect", "_dialer", "_lock", "watches")

    def __init__(self, options: ClientOptions = DEFAULTS, given_id: Callable[[], int] | None = None) -> None:
        super().__init__(options, given_id)
        self._connect: Connect | None = options.connect
        self._dialer = Dialer(options.tls)
        self._lock = Lock()
        self.watches = Watches()
        fork.register(self)

    def connect_all(self, instances: list[Instance], deadline: float) -> None:
        """Starts to connect to several instances at once, and waits until all are connected, or for a moment:
        `open` waits for the rest. Failures are ignored here. Servers are greeted, even those that are not
        needed now: a connection on which they hear nothing ends."""
        begun: list[tuple[_Place, tcp.Connecting]] = []
        if self._connect is not None or len(instances) < 2:
            return
        until = min(deadline, monotonic() + A_MOMENT)
        for instance in instances:
            if self.closed or self.usable(instance) or self._nearest(instance, until):
                continue
            place = self._place(instance.address)
            if not place.lock.acquire(blocking=False):
                continue
            try:
                if place.begun() is None and monotonic() >= place.not_before:
                    place.connecting = self._dialer.begin(Address.parse(instance.address))
                    if place.connecting is not None:
                        begun.append((place, place.connecting))
            except OSError:
                pass  # `open` gets the same failure, and reports it
            finally:
                place.lock.release()
        tcp.wait_for([each for _, each in begun], until - monotonic())
        for place, each in begun:
            if place.lock.acquire(blocking=False):
                try:
                    if place.connecting is each and (stream := place.finish(0.0)) is not None:
                        self._connected(place, stream).flush()
                except OSError:
                    pass
                finally:
                    place.lock.release()

    def _place(self, address: str) -> _Place:
        place = self._places.get(address)
        if place is None:
            with self._lock:
                place = self._places.setdefault(address, _Place())
        return place

    def open(self, instance: Instance, deadline: float) -> Link:
        """The link to an instance, over a socket of this host if the instance is found there and LocalPaths
        allows it. Raises Error(UNAVAILABLE), NOT_EXECUTED."""
        if instance.is_path:
            link = self._at_path(instance, deadline)
            if link is None:
                raise another_process(instance)
            return link
        return self._nearest(instance, deadline) or self.get(instance.address, deadline)

    def _nearest(self, instance: Instance, deadline: float) -> Link | None:
        """None: the instance is not at its path on this host, or does not answer before the deadline."""
        if not instance.local or instance.is_path or self._is_late(instance.local, monotonic()):
            return None
        until = self.patience(deadline)
        try:
            link = self._at_path(instance, until)
        except Error:
            return None
        if link is None and monotonic() >= until:
            self.note_late(instance.local)
        return link

    def _at_path(self, instance: Instance, deadline: float) -> Link | None:
        """None: another process answers there. Raises Error(UNAVAILABLE), NOT_EXECUTED."""
        self._paths.check(instance)
        link = self.get(instance.local, deadline, by_instance=True)
        link.await_greeting(deadline)
        return link if link.is_to(instance.nonce) else None

    def get(self, address: str, deadline: float, *, by_instance: bool = False) -> Link:
        """The link to an address, connected if necessary. `by_instance`: it is a path that an instance has
        registered. Raises Error(UNAVAILABLE), NOT_EXECUTED."""
        place = self._places.get(address) or self._place(address)
        link = place.link
        if link is not None and link.usable:
            return link
        if not place.lock.acquire(timeout=min(max(deadline - monotonic(), 0.0), CONNECT_TIMEOUT)):
            raise not_executed(Code.UNAVAILABLE, f"no connection to {address} within the deadline")
        try:
            return self._open(place, address, deadline, by_instance)
        finally:
            place.lock.release()

    def _open(self, place: _Place, address: str, deadline: float, by_instance: bool) -> Link:
        link = place.link
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
        except OSError as failed:
            raise place.failed(address, failed) from None
        if stream is None:  # whoever comes next goes on with it
            assert begun is not None
            raise connect_failed(address, begun.too_late())
        if by_instance:  # before HELLO is sent, which has what this client is authenticated by
            try:
                self._paths.check_peer(Address.parse(address), stream)
            except Error:
                stream.close()
                raise
        link = self._connected(place, stream)
        if self._closed_meanwhile():
            link.close()
            raise not_executed(Code.CANCELLED, "the client was closed")
        return link

    def _connected(self, place: _Place, stream: Stream) -> Link:
        """With the lock of the place."""
        link = Link(stream, self._hello(), self.watches, place.standing, self._options.dead_after)
        place.connected(link)
        return link

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
        self.watches.after_fork()
        self._draw()
