"""R6. The servants of the service for operators, for servers of both kinds. Access is decided when a
peer binds it (mf.server.access).
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Protocol

from mf.admin._generated.mf.admin import AdminAsyncServant, AdminServant, Filter, Level, Tapped
from mf.admin.tapping import Tapping
from mf.core.current import current_call
from mf.core.error import Code, not_executed
from mf.core.gate import Gate, LoopGate, ThreadGate
from mf.core.immediate import immediate
from mf.core.log import line, warning
from mf.server.taps import Taps

_LOOK_EVERY = 1.0
"""A reader that has left is noticed within so many seconds, if no call passes."""
_LEVELS = {
    Level.debug: logging.DEBUG,
    Level.info: logging.INFO,
    Level.warning: logging.WARNING,
    Level.error: logging.ERROR,
    Level.off: logging.CRITICAL + 1,
}


def _note(what: str) -> None:
    """Each request is in the log, with its peer."""
    call = current_call()
    warning("%s", line("administered", what=what, peer=call.peer, identity=call.identity))


def _level() -> Level:
    found = logging.getLogger("mf").getEffectiveLevel()
    return max((level for level, of in _LEVELS.items() if of <= found), default=Level.debug)


def _set_level(level: Level) -> None:
    number = _LEVELS.get(level)
    if number is None:
        raise not_executed(Code.INVALID_ARGUMENT, f"{int(level)} is no level of a log")
    _note(f"log level {level.name}")
    logging.getLogger("mf").setLevel(number)


class Board(Protocol):
    """The part of a server's readiness that ends taps when it stops."""

    @property
    def stops(self) -> bool: ...

    def add_watcher(self, gate: Gate) -> None: ...

    def remove_watcher(self, gate: Gate) -> None: ...


class _Open:
    """A tap while it is open."""

    def __init__(self, taps: Taps, board: Board, tapping: Tapping) -> None:
        self._taps = taps
        self._board = board
        self._tapping = tapping
        taps.add(tapping)
        board.add_watcher(tapping.gate)

    def close(self) -> None:
        self._taps.remove(self._tapping)
        self._board.remove_watcher(self._tapping.gate)


class PlainAdmin(AdminServant):
    __slots__ = ("_board", "_stop", "_taps")

    def __init__(self, taps: Taps, board: Board, stop: Callable[[], object]) -> None:
        """`stop`: stops the server; in a handler it returns at once."""
        self._taps = taps
        self._board = board
        self._stop = stop

    def drain(self) -> None:
        _note("drain")
        self._stop()

    def log_level(self) -> Level:
        return _level()

    def set_log_level(self, level: Level) -> None:
        _set_level(level)

    def tap(self, what: Filter) -> Iterator[Tapped]:
        call = current_call()
        _note("tap")
        tapping = Tapping(what, ThreadGate())
        opened = _Open(self._taps, self._board, tapping)
        try:
            while not call.cancelled and not self._board.stops:
                immediate(tapping.gate.wait(_LOOK_EVERY))
                yield from tapping.taken()
        finally:
            opened.close()


class AwaitedAdmin(AdminAsyncServant):
    __slots__ = ("_board", "_stop", "_taps")

    def __init__(self, taps: Taps, board: Board, stop: Callable[[], Awaitable[object]]) -> None:
        self._taps = taps
        self._board = board
        self._stop = stop

    async def drain(self) -> None:
        _note("drain")
        await self._stop()

    async def log_level(self) -> Level:
        return _level()

    async def set_log_level(self, level: Level) -> None:
        _set_level(level)

    async def tap(self, what: Filter) -> AsyncIterator[Tapped]:
        _note("tap")
        tapping = Tapping(what, LoopGate())
        opened = _Open(self._taps, self._board, tapping)
        try:
            while not self._board.stops:
                await tapping.gate.wait(_LOOK_EVERY)
                for each in tapping.taken():
                    yield each
        finally:
            opened.close()
