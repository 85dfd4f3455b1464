"""R3. The interface of a byte stream, and its implementation over any stream socket.

Reading and writing may happen at the same time on two threads, but only one may read and one write. `read`
and `read_now` return 0 at the end of the stream and raise BlockingIOError when nothing arrived (in time);
every other OSError means that the stream is broken. Any thread may call `shutdown`, which wakes a reader;
`close` only when no thread reads or writes any more.
"""

import errno
import select
import socket
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress

from mf.core.error import Code
from mf.core.identity import NO_IDENTITY, Identity, IdentityKind

Buffer = bytes | bytearray | memoryview

_DONTWAIT = int(getattr(socket, "MSG_DONTWAIT", 0))  # not on every system where this module can be imported

FEW_BUFFERS = 4
_CHEAP = 128 * 1024  # bytes to copy
_CREDENTIALS = struct.Struct("iII")  # ucred: process, user, group

MOST_BUFFERS = 512
"""Entries of one gather list that every system call accepts."""


class StreamError(OSError):
    """The failure of a stream with a known reason: in words, and the code with which calls fail."""

    def __init__(self, code: Code, why: str) -> None:
        super().__init__(why)
        self.code = code


class Stream(ABC):
    """A connected byte stream in both directions."""

    __slots__ = ("peer", "read")

    inside = False
    """Whether read_now may return buffered bytes without the descriptor being readable. A thread that polls
    must read until this is false, which is soon."""

    peer: str
    """The peer's name for users."""

    read: Callable[[memoryview], int]
    """Waits for bytes, at most as long as set by set_read_timeout. It is an attribute, so that a socket's own
    method can be used."""

    @abstractmethod
    def fileno(self) -> int:
        """A descriptor that becomes readable and writable with the stream."""

    @abstractmethod
    def set_read_timeout(self, seconds: float) -> None:
        """For `read`; coarse. 0 is for ever."""

    @abstractmethod
    def read_now(self, into: memoryview) -> int:
        """Reads what has arrived."""

    @abstractmethod
    def write_now(self, buffers: list[Buffer]) -> int:
        """Writes as much as fits from the start, without waiting. Returns the number of bytes; 0 if none
        fit."""

    @abstractmethod
    def wait(self, write: bool, timeout: float) -> bool:
        """Waits until readable, or also until writable. False if `timeout` seconds passed first."""

    def unacknowledged(self) -> int:
        """Bytes that were written and that the peer's host has not acknowledged, which a reset would
        destroy."""
        return 0

    def identity(self) -> Identity:
        """What the peer has proved of itself: the user at the other end of a unix socket, or the name in the
        certificate that TLS has verified, once its handshake is complete."""
        return NO_IDENTITY

    def trusted(self) -> bool:
        """Whether the certificate that the peer has shown, if any, would be accepted by the files that TLS
        has read latest, and has not expired."""
        return True

    @abstractmethod
    def shutdown(self) -> None:
        """Ends both directions. Never fails."""

    @abstractmethod
    def close(self) -> None:
        """Frees the descriptor. Never fails."""


class SocketStream(Stream):
    """A stream over a connected stream socket, which it owns. `blocking`: whether `read` waits; other calls
    never do."""

    __slots__ = ("_recv_into", "_send", "_socket", "read")

    def __init__(self, connected: socket.socket, peer: str, *, blocking: bool = True) -> None:
        connected.setblocking(blocking)
        self._socket = connected
        self.peer = peer
        self.read = connected.recv_into
        self._recv_into = connected.recv_into
        self._send = connected.send

    def fileno(self) -> int:
        return self._socket.fileno()

    def set_read_timeout(self, seconds: float) -> None:
        whole = int(seconds)
        value = struct.pack("ll", whole, max(int((seconds - whole) * 1e6), 0 if whole or not seconds else 1))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, value)

    def read_now(self, into: memoryview) -> int:
        return self._recv_into(into, 0, _DONTWAIT)

    def write_now(self, buffers: list[Buffer]) -> int:
        try:
            if len(buffers) == 1:
                return self._send(buffers[0], _DONTWAIT)
            return self._socket.sendmsg(buffers[:MOST_BUFFERS], [], _DONTWAIT)
        except BlockingIOError:
            return 0

    def wait(self, write: bool, timeout: float) -> bool:
        poll = select.poll()
        try:
            poll.register(self._socket, select.POLLIN | select.POLLOUT if write else select.POLLIN)
        except ValueError:  # another thread has found the stream broken, and closed it
            raise OSError(errno.EBADF, "the connection was closed") from None
        return bool(poll.poll(None if timeout == float("inf") else max(timeout, 0.0) * 1000))

    def unacknowledged(self) -> int:
        if self._socket.family not in (socket.AF_INET, socket.AF_INET6):
            return 0  # bytes written to a local socket have reached the peer already
        # Rare, and not available on every system.
        from fcntl import ioctl
        from termios import TIOCOUTQ

        waiting = bytearray(4)
        with suppress(OSError):
            ioctl(self._socket, TIOCOUTQ, waiting)
        return int.from_bytes(waiting, "little")

    def identity(self) -> Identity:
        if self._socket.family != socket.AF_UNIX:
            return NO_IDENTITY
        try:
            raw = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        except OSError:
            return NO_IDENTITY
        _, user, _ = _CREDENTIALS.unpack(raw)
        return Identity(IdentityKind.UID, f"uid:{user}")

    def shutdown(self) -> None:
        with suppress(OSError):  # the peer has closed it already
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with suppress(OSError):  # an earlier error that the kernel reports, which is irrelevant now
            self._socket.close()


def joined(buffers: list[Buffer], size: int) -> list[Buffer]:
    """The same bytes as one buffer, if copying them is cheaper than a system call with so many entries. Worth
    calling above FEW_BUFFERS."""
    return [b"".join(buffers)] if size <= _CHEAP else buffers


def drop_written(buffers: list[Buffer], written: int) -> list[Buffer]:
    """The rest of a gather list after `written` bytes of it were written."""
    for index, buffer in enumerate(buffers):
        if written < len(buffer):
            rest = buffers[index:]
            if written:
                rest[0] = memoryview(buffer)[written:]
            return rest
        written -= len(buffer)
    return []
