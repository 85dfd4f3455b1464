"""R5. Accepting connections, also when file descriptors run out: a reserved one is then used to refuse
cleanly, and accepting pauses for 10 ms, doubling to 1 s.
"""

import errno
import os
from contextlib import suppress

from mf.core.error import Code
from mf.core.log import warning
from mf.protocol.frame import REFUSE, pack
from mf.protocol.wire import pack_text
from mf.transport.sockets import Listening
from mf.transport.stream import Stream

_FIRST_PAUSE = 0.01
_LONGEST_PAUSE = 1.0
_MOST_TURNED_AWAY = 256
_EXHAUSTED = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))


def refusal(reason: str) -> bytes:
    """The bytes that end a connection before its first frame."""
    return pack(REFUSE, pack_text(reason), word=Code.OVERLOADED)


_FAREWELL = refusal("the server has no file descriptors left; use another instance")


class Listener:
    """A listening socket, for the IO thread."""

    __slots__ = ("_listening", "_pause", "_reserve", "fileno", "resume_at", "turned_away")

    def __init__(self, listening: Listening) -> None:
        self._listening = listening
        self.fileno = listening.fileno()
        self.resume_at: float | None = None
        """When to accept again after descriptors ran out, else None."""
        self._pause = 0.0
        self.turned_away = 0
        self._reserve = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def accept(self, now: float) -> Stream | None:
        """The next connection; None if there is none or accepting pauses now."""
        try:
            accepted = self._listening.accept()
        except BlockingIOError:
            return None
        except OSError as failed:
            if failed.errno in _EXHAUSTED:
                self._exhausted(now, failed)
            return None  # or the client has given up in the meantime
        self._pause = 0.0
        return accepted

    def _exhausted(self, now: float, failed: OSError) -> None:
        if not self._pause:  # once, until a connection is accepted again
            warning("cannot accept connections: %s; refusing until that changes", failed.strerror)
        self._pause = min(max(self._pause * 2, _FIRST_PAUSE), _LONGEST_PAUSE)
        self.resume_at = now + self._pause
        os.close(self._reserve)
        self.turned_away += self._listening.turn_away(_FAREWELL, _MOST_TURNED_AWAY)
        with suppress(OSError):
            self._reserve = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def after_fork(self) -> None:
        """In a child, which must not hold the port after its parent has closed it."""
        self._listening.socket.close()
        os.close(self._reserve)

    def close(self) -> None:
        self._listening.close()
        with suppress(OSError):
            os.close(self._reserve)
