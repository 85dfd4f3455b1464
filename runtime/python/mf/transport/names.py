"""R3. Looks up the addresses of a host. Numbers need no look-up. A name is looked up on a daemon thread, one
for each name, since a look-up cannot be interrupted: calls, cancelled tasks, loops and programs can end at
any time, however long the name server is silent.
"""

import os
import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # blocking programs do not load asyncio
    from asyncio import Future

Found = list[tuple[Any, ...]]
"""The result of socket.getaddrinfo."""
_Answer = Callable[[Found | OSError], None]

_lock = Lock()
_waiting: dict[tuple[str, int, int], list[_Answer]] = {}


def cannot_resolve(why: str) -> OSError:
    return OSError(f"cannot resolve the name: {why}")


def found_within(host: str, port: int, timeout: float, flags: int = 0) -> Found:
    """Waits at most `timeout` seconds. Raises OSError for an unknown or invalid host, and without an answer
    in time."""
    numeric = _numeric(host, port, flags)
    if numeric is not None:
        return numeric
    answered = Event()
    answer: list[Found | OSError] = []

    def take(found: Found | OSError) -> None:
        answer.append(found)
        answered.set()

    _ask(host, port, flags, take)
    if not answered.wait(max(timeout, 0.0)):
        raise cannot_resolve("no answer in time")
    if isinstance(answer[0], OSError):
        raise answer[0]
    return answer[0]


async def addresses(host: str, port: int, flags: int = 0) -> Found:
    """The same for asyncio, without a time limit."""
    from asyncio import get_running_loop

    numeric = _numeric(host, port, flags)
    if numeric is not None:
        return numeric
    loop = get_running_loop()
    future: Future[Found] = loop.create_future()

    def take(found: Found | OSError) -> None:
        with suppress(RuntimeError):  # the loop was closed: no task waits any more
            loop.call_soon_threadsafe(_give, future, found)

    _ask(host, port, flags, take)
    return await future


def _numeric(host: str, port: int, flags: int) -> Found | None:
    with suppress(socket.gaierror, UnicodeError):  # for an invalid name; the thread reports it
        return socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=flags | socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
        )
    return None


def _ask(host: str, port: int, flags: int, take: _Answer) -> None:
    """`take` is called once, on any thread."""
    key = (host, port, flags)
    with _lock:
        begin = key not in _waiting
        _waiting.setdefault(key, []).append(take)
    if begin:
        try:
            Thread(target=_look_up, args=key, name="mf-lookup", daemon=True).start()
        except RuntimeError as failed:  # no more threads are available
            _answer(key, cannot_resolve(f"no thread for it: {failed}"))


def _look_up(host: str, port: int, flags: int) -> None:
    found: Found | OSError
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    except OSError as failed:
        found = cannot_resolve(failed.strerror or str(failed))
    except UnicodeError as failed:
        found = cannot_resolve(f"no host can have this name: {failed}")
    _answer((host, port, flags), found)


def _answer(key: tuple[str, int, int], found: Found | OSError) -> None:
    with _lock:
        waiting = _waiting.pop(key, [])
    for take in waiting:
        take(found)


def _give(future: "Future[Found]", found: Found | OSError) -> None:
    if future.done():
        return
    if isinstance(found, OSError):
        future.set_exception(found)
    else:
        future.set_result(found)


def _after_fork() -> None:
    """In a child, which has neither its parent's threads nor the one that held the lock."""
    global _lock
    _lock = Lock()
    _waiting.clear()


if hasattr(os, "register_at_fork"):  # not on all systems where a client may be imported
    os.register_at_fork(after_in_child=_after_fork)
