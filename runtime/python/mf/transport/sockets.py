"""R3. Connects, listens and accepts for all schemes of addresses; upper layers do not distinguish them."""

import os
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from mf.transport import memory_port, tcp, unix
from mf.transport.address import Address
from mf.transport.stream import SocketStream, Stream

if TYPE_CHECKING:  # programs without tls:// do not load OpenSSL
    from mf.core.tls import Tls
    from mf.transport.tls_context import TlsContext

SCHEMES = ("tcp", "tls", "unix", "memory")


class Dialer:
    """Connects to servers. `tls`: how it verifies servers at tls:// and identifies itself to them; raises
    ValueError for unusable files. Without it the system's authorities are used."""

    __slots__ = ("_tls",)

    def __init__(self, tls: "Tls | None" = None) -> None:
        self._tls: TlsContext | None = _context(tls, server=False) if tls is not None else None

    def connect(self, address: Address, timeout: float) -> Stream:
        """Raises OSError if no server can be reached within `timeout` seconds."""
        if address.local:
            return unix.connect(address, timeout)
        if address.in_memory:
            return memory_port.connect(address)
        if address.scheme != "tls":
            return tcp.connect(address, timeout)
        from mf.transport.tls_stream import connected

        until = monotonic() + timeout
        socket = tcp.connect(address, timeout)
        return connected(socket, self.tls_context(), address, max(until - monotonic(), 0.001))

    def begin(self, address: Address) -> tcp.Connecting | None:
        """Starts to connect. None: connecting takes no time, so nothing was started. Raises OSError if it
        cannot start."""
        if address.local or address.in_memory:
            return None
        if address.scheme != "tls":
            return tcp.Connecting(address)
        from mf.transport.tls_stream import TlsConnecting

        return TlsConnecting(address, self.tls_context())

    def tls_context(self) -> "TlsContext":
        """The shared state of connections to tls://."""
        if self._tls is None:
            self._tls = _context(None, server=False)
        return self._tls

    def refresh(self, *, always: bool = False) -> bool:
        """Reads files of TLS again that were replaced, or all of them. False: one cannot be used."""
        return self._tls is None or self._tls.refresh(always=always)


def _context(tls: "Tls | None", *, server: bool) -> "TlsContext":
    from mf.core.tls import Tls
    from mf.transport.tls_context import TlsContext

    return TlsContext(tls or Tls(), server=server)


def server_context(addresses: list[Address], tls: "Tls | None") -> "TlsContext | None":
    """The TLS context for listening at these addresses, if one needs it. Raises ValueError if `tls` is
    missing, unusable, or given without a tls:// address, since the user believes that the server is
    protected."""
    if any(address.scheme == "tls" for address in addresses):
        return _context(tls, server=True)
    if tls is not None:
        raise ValueError("tls is given, but no address of `listen` begins with tls://")
    return None


def exists_here(address: Address) -> bool:
    """Whether there is a file at the path of a unix socket."""
    return unix.inode(address.host) != 0


class Listening:
    """A non-blocking listening socket. `address` has the port that the system chose. At tls:// it needs a
    server's context. Raises OSError, in one sentence, if it cannot listen at the address."""

    __slots__ = ("_inode", "_tls", "address", "socket")

    def __init__(
        self, address: Address, tls: "TlsContext | None" = None, found: tuple[Any, ...] | None = None
    ) -> None:
        """`found`: the result of getaddrinfo for its host, if it was called already."""
        self._tls = tls if address.scheme == "tls" else None
        self.socket: Any
        if address.in_memory:
            self.socket = memory_port.MemoryPort(address)
            self.address = address
            self._inode = 0
        elif address.local:
            self.socket = unix.listen(address)
            self.address = address
            self._inode = unix.inode(address.host)
        else:
            self.socket = tcp.listen(address, found)
            self.address = Address(address.scheme, address.host, self.socket.getsockname()[1])
            self._inode = 0

    def fileno(self) -> int:
        number: int = self.socket.fileno()
        return number

    def accept(self) -> Stream:
        """The next connection, also non-blocking. Raises OSError; BlockingIOError if there is none."""
        if self.address.in_memory:
            stream: Stream = self.socket.take()
            return stream
        accepted, where = self.socket.accept()
        if self.address.local:
            return SocketStream(accepted, unix.peer_name(accepted, self.address), blocking=False)
        with suppress(OSError):  # the client may be gone already; reading will report it
            tcp.tune(accepted)
        host = f"[{where[0]}]" if ":" in where[0] else where[0]
        stream = SocketStream(accepted, f"{self.address.scheme}://{host}:{where[1]}", blocking=False)
        if self._tls is None:
            return stream
        from mf.transport.tls_stream import TlsStream

        return TlsStream(stream, self._tls, self.address)

    def turn_away(self, farewell: bytes, most: int) -> int:
        """Accepts at most `most` pending connections, sends them `farewell` unless they use TLS, and ends
        them. Returns their number."""
        if self.address.in_memory:
            return 0
        for count in range(most):
            try:
                refused = self.socket.accept()[0]
            except OSError:
                return count
            with refused, suppress(OSError):
                refused.setblocking(False)
                if self._tls is None:
                    refused.send(farewell)
                    refused.recv(4096)  # closed with unread bytes, the connection would be reset
        return most

    def close(self) -> None:
        """Removes the path of a unix socket if it still belongs to this listener."""
        if self._inode and unix.inode(self.address.host) == self._inode:
            with suppress(OSError):
                os.unlink(self.address.host)  # noqa: PTH108 - one call where pathlib makes objects
        self._inode = 0
        self.socket.close()
