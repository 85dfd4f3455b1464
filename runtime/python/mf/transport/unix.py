"""R3. Unix sockets: a path is the address, and permissions decide which users may open it."""

import errno
import os
import socket
import stat
import struct
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from time import monotonic, sleep

from mf.transport.address import Address
from mf.transport.stream import SocketStream

BACKLOG = 4096
_STARTS_WITHIN = 2.0
"""Seconds. A server that starts holds its path's lock for two system calls."""
_CREDENTIALS = struct.Struct("iII")  # ucred: process, user, group


def connect(address: Address, timeout: float) -> SocketStream:
    """Raises OSError if no server can be reached within `timeout` seconds."""
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # A connect blocks while the listener's queue is full, and no poll reports when that is over.
    whole = int(timeout)
    longest = struct.pack("ll", whole, max(int((timeout - whole) * 1e6), 0 if whole else 1))
    try:
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, longest)
        connected.connect(address.host)
    except OSError as failed:
        connected.close()
        if isinstance(failed, BlockingIOError):
            raise TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT)) from None
        raise
    return SocketStream(connected, str(address))


def listen(address: Address) -> socket.socket:
    """A non-blocking listening socket. Replaces a path that a dead server has left. Raises OSError with one
    clear sentence."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _Starting(address.host):
            _bind(listener, address.host)
            listener.listen(BACKLOG)
    except OSError as failed:
        listener.close()
        why = failed.strerror or str(failed)
        why = why[:1].lower() + why[1:]
        if failed.errno == errno.EADDRINUSE:
            why = "the path is taken, by a server that listens there or a file that is no socket"
        raise OSError(failed.errno, f"cannot listen on {address}: {why}") from None
    listener.setblocking(False)
    return listener


class _Starting:
    """Held from bind() to listen(): a path whose server does not listen yet looks like one that a dead server
    has left. It is a file beside the path, which its holder removes at the end; a process that waited for a
    file that is removed takes a new one. A file of another user, in a folder that several may write to, is
    ignored, since that user could hold it for ever.
    """

    def __init__(self, path: str) -> None:
        self._path = path + ".lock"
        self._file = -1

    def __enter__(self) -> None:
        until = monotonic() + _STARTS_WITHIN
        while not self._hold():
            if monotonic() >= until:
                raise OSError(errno.EBUSY, "another server is starting there")
            sleep(0.001)

    def __exit__(self, *_: object) -> None:
        if self._file >= 0:
            with suppress(OSError):
                os.unlink(self._path)  # noqa: PTH108
            os.close(self._file)

    def _hold(self) -> bool:
        """True also if the file cannot be created: bind() reports the reason then."""
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError:
            return True
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_uid not in (0, os.geteuid()):
            os.close(file)
            return True
        try:
            flock(file, LOCK_EX | LOCK_NB)
            if found.st_ino == inode(self._path):
                self._file = file
                return True
        except BlockingIOError:
            pass
        os.close(file)
        return False


def _bind(listener: socket.socket, path: str) -> None:
    try:
        listener.bind(path)
    except OSError as failed:
        if failed.errno != errno.EADDRINUSE or not _left_behind(path):
            raise
        os.unlink(path)  # noqa: PTH108 - one call where pathlib makes objects
        listener.bind(path)


def _left_behind(path: str) -> bool:
    """Whether a dead server has left the path: no process listens there."""
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        if stat.S_ISSOCK(os.lstat(path).st_mode):
            probe.setblocking(False)
            return probe.connect_ex(path) == errno.ECONNREFUSED
    return False


def inode(path: str) -> int:
    """The inode of the file at a path; 0 if there is none."""
    with suppress(OSError):
        return os.lstat(path).st_ino
    return 0


def peer_name(accepted: socket.socket, address: Address) -> str:
    """The connected peer, for users."""
    peer = _peer(accepted)
    return str(address) if peer is None else f"{address} (process {peer[0]}, user {peer[1]})"


def peer_user(descriptor: int) -> int | None:
    """The user of the process at the other end of a connected socket; None if the system does not say."""
    connected = socket.socket(fileno=os.dup(descriptor))
    with connected:
        peer = _peer(connected)
    return None if peer is None else peer[1]


def _peer(connected: socket.socket) -> tuple[int, int] | None:
    """Process and user."""
    try:
        raw = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    except OSError:
        return None
    process, user, _ = _CREDENTIALS.unpack(raw)
    return process, user
