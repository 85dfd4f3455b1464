"""R3. A connection within one process, over a pair of local sockets: the whole protocol without a network."""

import socket

from mf.transport.stream import SocketStream


def pair() -> tuple[SocketStream, socket.socket]:
    """The client's end as a stream, the server's end as a connected socket, as from accept()."""
    ours, theirs = socket.socketpair()
    return SocketStream(ours, "in-process"), theirs
