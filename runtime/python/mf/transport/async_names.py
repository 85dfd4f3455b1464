"""R3. The addresses of a host, for asyncio. Of a number they are known at once. A name is looked up on a
daemon thread, one a name at a time, which nobody waits for: a task that is cancelled, a loop and a program
end when they like, however long the name server is silent.
"""

import socket
from asyncio import AbstractEventLoop, Future, get_running_loop
from contextlib import suppress
from os import register_at_fork
from threading import Lock, Thread
from typing import Any

Found = list[tuple[Any, ...]]
"""What socket.getaddrinfo gives."""

_lock = Lock()
_waiting: dict[tuple[str, int, int], list[tuple[AbstractEventLoop, "Future[Found]"]]] = {}


async def addresses(host: str, port: int, flags: int = 0) -> Found:
    """Raises OSError for a host that nobody knows, or that cannot be."""
    with suppress(socket.gaierror, UnicodeError):  # of a name that is none; the thread says so
        return socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=flags | socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
        )
    loop = get_running_loop()
    future: Future[Found] = loop.create_future()
    key = (host, port, flags)
    with _lock:
        begin = key not in _waiting
        _waiting.setdefault(key, []).append((loop, future))
    if begin:
        try:
            Thread(target=_look_up, args=key, name="mf-lookup", daemon=True).start()
        except RuntimeError as failed:  # no more threads to be had
            _answer(key, OSError(f"no thread for the look-up: {failed}"))
    return await future


def _look_up(host: str, port: int, flags: int) -> None:
    found: Found | OSError | UnicodeError
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    except (OSError, UnicodeError) as failed:  # the latter of a name that none can be
        found = failed
    _answer((host, port, flags), found)


def _answer(key: tuple[str, int, int], found: "Found | OSError | UnicodeError") -> None:
    with _lock:
        waiting = _waiting.pop(key, [])
    for loop, future in waiting:
        with suppress(RuntimeError):  # the loop was closed: nobody waits any more
            loop.call_soon_threadsafe(_give, future, found)


def _give(future: "Future[Found]", found: "Found | OSError | UnicodeError") -> None:
    if future.done():
        return
    if isinstance(found, list):
        future.set_result(found)
    elif isinstance(found, OSError):
        future.set_exception(found)
    else:
        future.set_exception(OSError(f"no host can have this name: {found}"))


def _after_fork() -> None:
    """In a child: its parent's threads, and whoever held the lock there, are not here."""
    global _lock
    _lock = Lock()
    _waiting.clear()


register_at_fork(after_in_child=_after_fork)
