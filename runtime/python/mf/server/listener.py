"""R5. Accepting connections, also when file descriptors run out: then one kept in reserve serves to refuse
cleanly, and accepting pauses for 10 ms, doubling to 1 s.
"""

import errno
import os
import socket
from contextlib import suppress

from mf.core.log import warning
from mf.transport import tcp

_FIRST_PAUSE = 0.01
_LONGEST_PAUSE = 1.0
_EXHAUSTED = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))


class Listener:
    """A listening socket, for the IO thread."""

    __slots__ = ("_pause", "_reserve", "fileno", "resume_at", "socket")

    def __init__(self, listening: socket.socket) -> None:
        self.socket = listening
        self.fileno = listening.fileno()
        self.resume_at: float | None = None
        """When to accept again after descriptors ran out, else None."""
        self._pause = 0.0
        self._reserve = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def accept(self, now: float) -> tuple[socket.socket, str] | None:
        """The next connection, non-blocking, and its peer; None if there is none or accepting pauses now."""
        try:
            accepted, where = self.socket.accept()
        except BlockingIOError:
            return None
        except OSError as failed:
            if failed.errno in _EXHAUSTED:
                self._exhausted(now, failed)
            return None  # or the client gave up in between
        self._pause = 0.0
        accepted.setblocking(False)
        if accepted.family == socket.AF_UNIX:
            return accepted, "local"
        with suppress(OSError):  # the client may be gone already; reading will tell
            tcp.tune(accepted)
        return accepted, f"{where[0]}:{where[1]}"

    def _exhausted(self, now: float, failed: OSError) -> None:
        if not self._pause:
            warning("cannot accept connections: %s; refusing until that changes", failed.strerror)
        self._pause = min(max(self._pause * 2, _FIRST_PAUSE), _LONGEST_PAUSE)
        self.resume_at = now + self._pause
        os.close(self._reserve)
        with suppress(OSError):
            self.socket.accept()[0].close()
        with suppress(OSError):
            self._reserve = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def close(self) -> None:
        self.socket.close()
        with suppress(OSError):
            os.close(self._reserve)
