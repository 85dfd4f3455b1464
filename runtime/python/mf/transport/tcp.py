"""R3. TCP: connect and listen, with the options that calls need.

Dead peers are found by the kernel, not by threads of ours: unacknowledged data or keep-alive probes end a
connection after about 10 s.
"""

import errno
import socket

from mf.transport.address import Address
from mf.transport.stream import SocketStream

BACKLOG = 4096
_DEAD_AFTER_MS = 10_000
_PROBE_IDLE_S = 5
_PROBE_EVERY_S = 1
_PROBES = 5


def tune(connected: socket.socket) -> None:
    """No delay, and keep-alive."""
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _PROBE_IDLE_S)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, _PROBE_EVERY_S)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _PROBES)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _DEAD_AFTER_MS)


def connect(address: Address, timeout: float) -> SocketStream:
    """Raises OSError when nobody can be reached within `timeout` seconds."""
    connected = socket.create_connection((address.host, address.port), timeout)
    # A port of the ephemeral range that nobody listens on can connect to itself.
    if connected.getsockname() == connected.getpeername():
        connected.close()
        raise ConnectionRefusedError(errno.ECONNREFUSED, "nobody listens there")
    tune(connected)
    return SocketStream(connected, f"{address.host}:{address.port}")


def listen(address: Address) -> socket.socket:
    """A non-blocking listening socket. Port 0 lets the system choose. Raises OSError with one clear
    sentence."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
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
