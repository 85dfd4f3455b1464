"""R3. Connecting, listening and accepting, for every scheme of an address: nothing above this asks which one
it is.
"""

import os
from contextlib import suppress

from mf.transport import tcp, unix
from mf.transport.address import Address
from mf.transport.stream import SocketStream, Stream

SCHEMES = ("tcp", "unix")


def connect(address: Address, timeout: float) -> Stream:
    """Raises OSError when nobody can be reached within `timeout` seconds."""
    return unix.connect(address, timeout) if address.local else tcp.connect(address, timeout)


def begin(address: Address) -> tcp.Connecting | None:
    """Begins to connect. None: that takes no time, so there is nothing to begin. Raises OSError if it cannot
    be begun."""
    return None if address.local else tcp.Connecting(address)


def exists_here(address: Address) -> bool:
    """Whether there is a file at the path of a unix socket."""
    return unix.inode(address.host) != 0


class Listening:
    """A listening socket, which does not block. `address` has the port that the system chose. Raises OSError,
    in one sentence, if the address cannot be had."""

    __slots__ = ("_inode", "address", "socket")

    def __init__(self, address: Address) -> None:
        if address.local:
            self.socket = unix.listen(address)
            self.address = address
            self._inode = unix.inode(address.host)
        else:
            self.socket = tcp.listen(address)
            self.address = Address(address.scheme, address.host, self.socket.getsockname()[1])
            self._inode = 0

    def accept(self) -> Stream:
        """The next connection, which does not block either. Raises OSError; BlockingIOError if there is
        none."""
        accepted, where = self.socket.accept()
        if self.address.local:
            return SocketStream(accepted, unix.peer_name(accepted, self.address), blocking=False)
        with suppress(OSError):  # the client may be gone already; reading will tell
            tcp.tune(accepted)
        return SocketStream(accepted, f"{where[0]}:{where[1]}", blocking=False)

    def turn_away(self) -> None:
        """Accepts one connection and ends it. Raises OSError."""
        self.socket.accept()[0].close()

    def close(self) -> None:
        """The path of a unix socket is removed, if it is still this one's."""
        if self._inode and unix.inode(self.address.host) == self._inode:
            with suppress(OSError):
                os.unlink(self.address.host)  # noqa: PTH108 - one call where pathlib makes objects
        self._inode = 0
        self.socket.close()
