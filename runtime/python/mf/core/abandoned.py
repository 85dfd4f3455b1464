"""R0. Closes objects that were dropped without being closed: a finalizer may run on any thread, also within a
lock that closing needs, so a separate thread closes them. It starts with the first object that may need it.
"""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, Thread

from mf.core.log import log_escaped_exception

_left: "SimpleQueue[Callable[[], None]]" = SimpleQueue()
_lock = Lock()
_closer: Thread | None = None


def close_soon(close: Callable[[], None]) -> None:
    """To be called by a finalizer: takes no lock."""
    _left.put(close)


def begin() -> None:
    """Starts the thread, since there is an object that may be dropped. Also called in a child after a
    fork."""
    global _closer
    with _lock:
        if _closer is None or not _closer.is_alive():
            _closer = Thread(target=_run, name="mf-abandoned", daemon=True)
            _closer.start()


def _run() -> None:
    while True:
        close = _left.get()
        try:
            close()
        except Exception as raised:
            log_escaped_exception("closing what was dropped", raised)
        del close
