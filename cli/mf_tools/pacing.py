"""Calls in an open loop: each begins when it is due, whether or not others have ended, and at most so many
are open at once.
"""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterable
from time import perf_counter
from typing import Any, TypeVar

T = TypeVar("T")


async def paced(
    what: Iterable[tuple[float | None, T]],
    one: Callable[[float, T], Coroutine[Any, Any, None]],
    begun: float,
    most_open: int,
    count: int,
) -> float:
    """Awaits `one`, with the moment and the value, for each pair of a moment in seconds since `begun` (of
    perf_counter; None: at once) and a value, of which there are `count`. Gives how late the latest one
    began, which is this side's fault, and not the server's. Raises what `what` or `one` has raised. All have
    ended when it returns or raises."""
    running: set[asyncio.Task[None]] = set()
    failures: list[BaseException] = []
    places = asyncio.Semaphore(most_open)

    def ended(task: "asyncio.Task[None]") -> None:
        running.discard(task)
        places.release()
        if not task.cancelled() and (failure := task.exception()) is not None:
            failures.append(failure)

    late = 0.0
    progress = Progress(count)
    try:
        for number, (moment, value) in enumerate(what):
            wait = 0.0 if moment is None else begun + moment - perf_counter()
            if wait > 0 or number % 64 == 0:
                await asyncio.sleep(max(0.0, wait))
            if moment is not None:
                late = max(late, perf_counter() - begun - moment)
            await places.acquire()
            due = perf_counter() if moment is None else begun + moment
            task = asyncio.ensure_future(one(due, value))
            running.add(task)
            task.add_done_callback(ended)
            progress.at(number + 1)
            if failures:
                break
        if running and not failures:
            await asyncio.wait(running, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        progress.end()
    if failures:
        raise failures[0]
    return late


class Progress:
    """A bar on the terminal that standard error is, if it is one."""

    def __init__(self, count: int) -> None:
        self._bar: Any = None
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("calls", total=count)
            self._bar.start()

    def at(self, number: int) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=number)

    def end(self) -> None:
        if self._bar is not None:
            self._bar.stop()
