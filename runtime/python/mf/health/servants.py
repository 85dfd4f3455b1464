"""R6. The servants of the health service, for servers of both kinds. A watch asks again every second, or when
the server stops, and ends then, so that it does not hold the server up.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Protocol

from mf.core.current import current_call
from mf.core.gate import Gate, LoopGate, ThreadGate
from mf.core.immediate import immediate
from mf.health._generated.mf.health import HealthAsyncServant, HealthServant, Report, State

_ASK_EVERY = 1.0


class Board(Protocol):
    """What a server says of itself. Thread-safe."""

    @property
    def stops(self) -> bool: ...

    def why_not(self, service: str) -> list[str] | None:
        """Why no work may be given, a line for each; None: the service is not offered."""

    def add_watcher(self, gate: Gate) -> None:
        """Opens it when the server stops."""

    def remove_watcher(self, gate: Gate) -> None: ...


def _report(board: Board, service: str) -> Report:
    why = board.why_not(service)
    if why is None:
        return Report(State.unknown_service, [])
    return Report(State.not_serving if why else State.serving, why)


class _Watch:
    """One watch; `changed` gives what is new."""

    def __init__(self, board: Board, service: str, gate: Gate) -> None:
        self._board = board
        self._service = service
        self._last: Report | None = None
        self.gate = gate
        self.is_over = False
        board.add_watcher(gate)

    def changed(self) -> Report | None:
        self.is_over = self._board.stops  # before it is asked, so that the last value says so
        report = _report(self._board, self._service)
        if report == self._last:
            return None
        self._last = report
        return report

    def end(self) -> None:
        self._board.remove_watcher(self.gate)


class PlainHealth(HealthServant):
    __slots__ = ("_board",)

    def __init__(self, board: Board) -> None:
        self._board = board

    def check(self, service: str) -> Report:
        return _report(self._board, service)

    def watch(self, service: str) -> Iterator[Report]:
        call = current_call()
        watch = _Watch(self._board, service, ThreadGate())
        try:
            while not call.cancelled:
                if (report := watch.changed()) is not None:
                    yield report
                if watch.is_over:
                    return
                immediate(watch.gate.wait(_ASK_EVERY))
        finally:
            watch.end()


class AwaitedHealth(HealthAsyncServant):
    __slots__ = ("_board",)

    def __init__(self, board: Board) -> None:
        self._board = board

    async def check(self, service: str) -> Report:
        return _report(self._board, service)

    async def watch(self, service: str) -> AsyncIterator[Report]:
        watch = _Watch(self._board, service, LoopGate())
        try:
            while True:
                if (report := watch.changed()) is not None:
                    yield report
                if watch.is_over:
                    return
                await watch.gate.wait(_ASK_EVERY)
        finally:
            watch.end()
