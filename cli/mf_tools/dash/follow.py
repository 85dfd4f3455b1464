"""Follows a controller, and asks the processes that it lists, on one asyncio loop. The board (board.py) is
what comes of it.

Watches resume where they were interrupted, so that a controller that was away and is back costs no snapshot
unless it has forgotten what was seen. Processes are asked one after another, a few at a time, and never
faster than a rate.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from mf_tools.dash.board import MOST_ROWS, Board, Json, Process
from mf_tools.scrape import Meters, fetched, shown

if TYPE_CHECKING:
    import mf
    from mf.controller import ControllerAsyncClient, Instance

_AGAIN = 0.5
"""Seconds until a lost controller is asked again."""
_STATUS_EVERY = 2.0
_MEASURE_EVERY = 2.0
_ASK_WITHIN = 2.0
_ROUND = 10.0
"""All processes are asked once in so many seconds, if `_A_SECOND` allows."""
_A_SECOND = 50
_AT_ONCE = 32
_LOOK_AGAIN = 600.0
_MOST_REASONS = 8

Connect = Callable[[str], "mf.AsyncClient"]
"""Makes a client of an address. Raises ValueError for one that this side must not call, as one in clear
with a token."""


class Follower:
    """`servers`: what the address of the controller names, as `mf.controller.servers_of` returns it. `ask`:
    how to connect to processes, which have registered themselves; None: they are not asked, which is not
    possible behind a relay. `monitors`: host and port of each."""

    def __init__(
        self,
        board: Board,
        servers: str,
        connect: Connect,
        monitors: list[tuple[str, int]],
        *,
        ask: Connect | None,
    ) -> None:
        self._board = board
        self._servers = servers
        self._connect = connect
        self._monitors = monitors
        self._ask = ask

    async def run(self) -> None:
        """Until it is cancelled. Raises what `connect` raises for the address of the controller."""
        from mf.controller import ControllerAsyncClient, KeyKind

        async with self._connect(self._servers) as client, asyncio.TaskGroup() as tasks:
            controller = ControllerAsyncClient(client)
            tasks.create_task(self._again(lambda: self._status(controller)))
            for kind in (KeyKind.service, KeyKind.topic):
                tasks.create_task(_Watch(self._board, controller, kind).run())
            if self._ask is not None:
                tasks.create_task(self._ask_all(self._ask))
            if self._monitors:
                tasks.create_task(self._measure())

    async def _again(self, once: Callable[[], Coroutine[Any, Any, None]]) -> None:
        while True:
            await once()
            await asyncio.sleep(_STATUS_EVERY)

    async def _status(self, controller: "ControllerAsyncClient") -> None:
        import mf

        try:
            status = await controller.status(options=mf.CallOptions(deadline=_ASK_WITHIN))
        except mf.Error as failed:
            if failed.code is mf.Code.PERMISSION_DENIED:  # it answers, and may say no more
                self._board.controller(answers=True, trouble="", denied=failed.message)
            else:
                self._board.controller(answers=False, trouble=failed.message)
            return
        self._board.controller(
            answers=True,
            trouble="",
            cluster=status.cluster.hex[:8],
            processes=status.processes,
            offers=status.offers,
            watches=status.watches,
            store=status.store.name,
            store_ok=status.store.ok,
            store_reason=status.store.reason,
        )

    # Monitors

    async def _measure(self) -> None:
        meters = Meters()

        async def read(host: str, port: int) -> None:
            name = f"{host}:{port}"
            try:
                text = await asyncio.to_thread(fetched, host, port)
                meters.take(name, text, monotonic())
            except OSError as failed:
                meters.failed(name, str(failed))

        number = 0
        while True:
            await asyncio.gather(*(read(*each) for each in self._monitors))
            number += 1
            self._board.measured(
                {"number": number, **shown(meters.total())},
                _services(meters),
                _topics(meters),
                meters.monitors(),
            )
            await asyncio.sleep(_MEASURE_EVERY)

    # Processes

    async def _ask_all(self, connect: Connect) -> None:
        slots, asked = asyncio.Semaphore(_AT_ONCE), Asked(connect)

        async def one(process: Process) -> None:
            async with slots:
                self._board.answered(process.nonce, **await asked.health(process))

        while True:
            processes = list(self._board.processes.values())
            async with asyncio.TaskGroup() as tasks:
                for process in processes:
                    tasks.create_task(one(process))
                    await asyncio.sleep(max(1.0 / _A_SECOND, _ROUND / len(processes) * 0.5))
            await asyncio.sleep(_ROUND / 5 if processes else _AGAIN)


def _services(meters: Meters) -> list[Json]:
    return [{"service": name, **shown(of)} for name, of in sorted(meters.by_service().items())]


def _topics(meters: Meters) -> list[Json]:
    return [
        {"topic": name, **{key: int(value) for key, value in of.items()}}
        for name, of in sorted(meters.by_topic().items())
    ]


class _Watch:
    """The watch of one kind."""

    def __init__(self, board: Board, controller: "ControllerAsyncClient", kind: Any) -> None:
        self._board = board
        self._controller = controller
        self._kind = kind
        self._run = self._revision = 0
        self._coming: list[Instance] | None = None

    async def run(self) -> None:
        import mf

        while True:
            with suppress(mf.Error):  # the status says why
                await self._follow()
            await asyncio.sleep(_AGAIN)

    async def _follow(self) -> None:
        import mf
        from mf.controller import Filter, KeyKind

        self._coming = None
        options = mf.CallOptions(deadline=mf.INFINITE)
        stream = self._controller.watch(
            Filter(self._kind, "*", None), self._run, self._revision, options=options
        )
        kind = "topic" if self._kind == KeyKind.topic else "service"
        async with stream:
            async for change in stream:
                if change.snapshot:
                    self._coming = []
                if self._coming is not None:
                    self._coming += change.put
                    if change.more:
                        continue
                    again = self._run not in (0, change.run)
                    self._board.snapshot(kind, self._coming, again=again)
                    self._coming = None
                else:
                    self._board.changed(change)
                self._run, self._revision = change.run, change.revision


class Asked:
    """Asks processes how they are. Certificates are looked at again after `_LOOK_AGAIN` seconds."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._days: dict[str, tuple[float, float | None]] = {}

    async def health(self, process: Process) -> dict[str, Any]:
        """What a process says of itself, as Board.answered takes it."""
        import mf
        from mf.health import HealthAsyncClient

        address = next((each for each in process.addresses if "://" in each), "")
        if not address:
            return {"state": "unasked", "why": ["it listens at no address of a network"]}
        days = await self._certificate(address) if address.startswith("tls://") else {}
        try:
            async with self._connect(address) as client:
                health = HealthAsyncClient(client)
                report = await health.check("", options=mf.CallOptions(deadline=_ASK_WITHIN))
                return {"state": report.state.name, "why": report.reasons[:_MOST_REASONS], **days}
        except ValueError as refused:
            return {"state": "unasked", "why": [str(refused)], **days}
        except mf.Error as failed:
            if failed.code is mf.Code.UNKNOWN_SERVICE:
                return {"state": "answers", "why": [], **days}
            denied = failed.code in (mf.Code.PERMISSION_DENIED, mf.Code.UNAUTHENTICATED)
            return {"state": "denied" if denied else "silent", "why": [failed.message], **days}

    async def _certificate(self, address: str) -> dict[str, float]:
        from mf_tools.doctor.tls import days_left

        looked, days = self._days.get(address, (-_LOOK_AGAIN, None))
        if (now := monotonic()) - looked >= _LOOK_AGAIN:
            days = await asyncio.to_thread(days_left, address)
            if len(self._days) >= MOST_ROWS:
                self._days.clear()
            self._days[address] = now, days
        return {} if days is None else {"days": round(days, 1)}
