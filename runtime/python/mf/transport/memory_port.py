"""R3. Connections within one process without a network: a server listens at memory:name, and clients of the
same process connect there. They carry the same bytes as any other connection.

A test can influence the connections to a name (`guards`); mf.testing.Faults does so. A reader first sees the
time of a test clock, then bytes that were written since the clock moved.
"""

import errno
import os
import socket
from collections import deque
from collections.abc import Callable
from threading import Lock
from weakref import WeakValueDictionary

from mf.core import clock
from mf.core.identity import Identity
from mf.transport.address import Address
from mf.transport.stream import Buffer, SocketStream, Stream


class MemoryEnd(Stream):
    """One end of a connection in memory, over the stream that carries it."""

    __slots__ = ("_held", "_inner", "_seen", "peer", "read")

    def __init__(self, inner: Stream) -> None:
        self._inner = inner
        self._held = b""
        self._seen = clock.monotonic()
        self.peer = inner.peer
        self.read = self._read

    @property
    def inside(self) -> bool:  # type: ignore[override]
        return bool(self._held)

    def fileno(self) -> int:
        return self._inner.fileno()

    def set_read_timeout(self, seconds: float) -> None:
        self._inner.set_read_timeout(clock.moment(seconds))

    def _read(self, into: memoryview) -> int:
        return self._at_its_time(into, self._inner.read)

    def read_now(self, into: memoryview) -> int:
        return self._at_its_time(into, self._inner.read_now)

    def _at_its_time(self, into: memoryview, read: Callable[[memoryview], int]) -> int:
        """Bytes that were written after a test clock had moved are held until the reader has seen the new
        time."""
        if self._held:
            held, self._held = self._held[: len(into)], self._held[len(into) :]
            into[: len(held)] = held
            return len(held)
        count = read(into)
        if count <= 0 or not clock.on_test_time() or clock.monotonic() == self._seen:
            return count
        self._seen = clock.monotonic()
        self._held = bytes(into[:count])
        raise BlockingIOError(errno.EAGAIN, "the clock has moved")

    def write_now(self, buffers: list[Buffer]) -> int:
        return self._inner.write_now(buffers)

    def wait(self, write: bool, timeout: float) -> bool:
        return self.inside or self._inner.wait(write, clock.moment(timeout))

    def unacknowledged(self) -> int:
        return self._inner.unacknowledged()

    def identity(self) -> Identity:
        return self._inner.identity()

    def shutdown(self) -> None:
        self._inner.shutdown()

    def close(self) -> None:
        self._inner.close()


class Guard:
    """Controls the connections to a name."""

    def refuses(self) -> bool:
        """Called when a client connects, also while no server listens. True refuses the connection."""
        return False

    def end(self, inner: Stream, *, client: bool) -> Stream:  # noqa: ARG002 - overriding classes use it
        """One end of a connection."""
        return MemoryEnd(inner)


guards: WeakValueDictionary[str, Guard] = WeakValueDictionary()
"""By name."""

_NO_GUARD = Guard()
_lock = Lock()
_listening: "dict[str, MemoryPort]" = {}


class MemoryPort:
    """A listener at memory:name. Raises OSError if another listener of this process has the name."""

    def __init__(self, address: Address) -> None:
        self._name = address.host
        self._waiting: deque[Stream] = deque()
        with _lock:
            if self._name in _listening:
                text = f"cannot listen on {address}: another server of this process listens there"
                raise OSError(errno.EADDRINUSE, text)
            _listening[self._name] = self
        self._event = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC | os.EFD_SEMAPHORE)

    def fileno(self) -> int:
        return self._event

    def take(self) -> Stream:
        """The next connection. Raises BlockingIOError if there is none."""
        os.eventfd_read(self._event)
        return self._waiting.popleft()

    def add(self, stream: Stream) -> None:
        self._waiting.append(stream)
        os.eventfd_write(self._event, 1)

    def close(self) -> None:
        with _lock:
            if _listening.get(self._name) is self:
                del _listening[self._name]
        if self._event >= 0:
            os.close(self._event)
            self._event = -1
        for stream in self._waiting:
            stream.close()
        self._waiting.clear()


def guard_of(address: Address) -> Guard:
    return guards.get(address.host, _NO_GUARD)


def connect(address: Address, *, blocking: bool = True) -> Stream:
    """Raises ConnectionRefusedError if no server listens."""
    guard = guard_of(address)
    refused = guard.refuses()
    with _lock:
        port = _listening.get(address.host)
        if port is None or refused:
            raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
        ours, theirs = socket.socketpair()
        name = str(address)
        port.add(guard.end(SocketStream(theirs, name, blocking=False), client=False))
    return guard.end(SocketStream(ours, name, blocking=blocking), client=True)
