"""R3. TCP: connect and listen, with the options that calls need.

The kernel detects vanished peers: idle ones by keep-alive probes, and others when bytes are not acknowledged,
each after 8 s.
"""

import errno
import os
import select
import socket
from time import monotonic
from typing import Any

from mf.transport.address import Address
from mf.transport.names import found_within
from mf.transport.stream import SocketStream, Stream

BACKLOG = 4096
# The same as in C++ (socket_stream.cpp).
_PROBE_IDLE_S = 5
_PROBE_EVERY_S = 1
_PROBES = 3
_DEAD_AFTER_MS = 8_000
NO_ANSWER = "no answer within the deadline"
_LOOK_UP_WITHIN = 0.25
"""Seconds for looking up the name of one of several instances; a single one is given longer."""


def tune(connected: socket.socket) -> None:
    """No delay, and keep-alive."""
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _PROBE_IDLE_S)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, _PROBE_EVERY_S)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _PROBES)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _DEAD_AFTER_MS)


def connect(address: Address, timeout: float) -> SocketStream:
    """Raises OSError if no server can be reached within `timeout` seconds."""
    until = monotonic() + timeout
    failed: OSError | None = None
    for family, kind, protocol, _, where in found_within(address.host, address.port, timeout):
        connecting = socket.socket(family, kind, protocol)
        try:
            connecting.settimeout(max(until - monotonic(), 0.001))
            connecting.connect(where)
            return stream_over(connecting, address)
        except TimeoutError as error:  # by the socket's own limit, or by the kernel, with an error number
            connecting.close()
            failed = failed or (error if error.errno else TimeoutError(errno.ETIMEDOUT, NO_ANSWER))
        except OSError as error:
            connecting.close()
            failed = failed or error
    raise failed or OSError("the host has no address")


def stream_over(connected: socket.socket, address: Address) -> SocketStream:
    """The stream of a connected socket. Raises OSError."""
    # A port of the ephemeral range on which no process listens can connect to itself.
    if connected.getsockname() == connected.getpeername():
        connected.close()
        raise ConnectionRefusedError(errno.ECONNREFUSED, "no process listens there")
    tune(connected)
    return SocketStream(connected, str(address))


class Connecting:
    """A connection that is made in parallel with other work. It uses the first address of a name only: if
    that one does not answer, the others are tried one by one. Raises OSError if it cannot be started.
    """

    __slots__ = ("_address", "_socket", "begun")

    def __init__(self, address: Address) -> None:
        self._address = address
        self.begun = monotonic()
        family, kind, protocol, _, where = found_within(address.host, address.port, _LOOK_UP_WITHIN)[0]
        self._socket = socket.socket(family, kind, protocol)
        self._socket.setblocking(False)
        error = self._socket.connect_ex(where)
        if error not in (0, errno.EINPROGRESS):
            self._socket.close()
            raise OSError(error, os.strerror(error))

    def fileno(self) -> int:
        return self._socket.fileno()

    def finish(self, until: float) -> Stream | None:
        """The stream. None if it is still being made at that time: it may be asked again. Raises OSError."""
        return self._connected(until)

    def too_late(self) -> OSError:
        """Why it was given up."""
        return TimeoutError(errno.ETIMEDOUT, NO_ANSWER)

    def _connected(self, until: float) -> SocketStream | None:
        wait_for([self], until - monotonic())
        error = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        try:
            self._socket.getpeername()
        except OSError:
            if not error:
                return None
            self.close()
            return connect(self._address, max(until - monotonic(), 0.001))
        return stream_over(self._socket, self._address)

    def close(self) -> None:
        self._socket.close()


def wait_for(connecting: list[Connecting], timeout: float) -> None:
    """Waits until all have been made or refused, at most `timeout` seconds."""
    until = monotonic() + timeout
    poll = select.poll()
    left = 0
    for each in connecting:
        if each.fileno() >= 0:
            poll.register(each, select.POLLOUT)
            left += 1
    while left and (seconds := until - monotonic()) > 0:
        for descriptor, _ in poll.poll(seconds * 1000):
            poll.unregister(descriptor)
            left -= 1


def listen(address: Address, found: tuple[Any, ...] | None = None) -> socket.socket:
    """A non-blocking listening socket. Port 0: the system chooses. `found`: the result of getaddrinfo for the
    address, if it was called already. Raises OSError with one clear sentence."""
    try:
        family, kind, protocol, _, where = (
            found
            or socket.getaddrinfo(
                address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
        )
    except socket.gaierror as failed:
        raise OSError(f"cannot listen on {address}: {failed.strerror}") from None
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(BACKLOG)
    except OSError as failed:
        listener.close()
        if failed.errno == errno.EADDRINUSE:
            text = f"{address} is taken by another program: stop that one, or listen on another port (0: any)"
        else:
            text = f"cannot listen on {address}: {failed.strerror}"
        raise OSError(failed.errno, text) from None
    listener.setblocking(False)
    return listener
