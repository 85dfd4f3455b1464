"""R3. A connection inside one process, over a pair of local sockets: all of the protocol, none of the
network."""

import socket

from mf.transport.stream import SocketStream


def pair() -> tuple[SocketStream, socket.socket]:
    """The client's end as a stream, the server's end as a connected socket, as an accept would give it."""
    ours, theirs = socket.socketpair()
    return SocketStream(ours, "in-process"), theirs
