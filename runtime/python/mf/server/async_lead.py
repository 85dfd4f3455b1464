"""R5. The counterpart of lead.py for programs of asyncio."""

from asyncio import Event, Task, wait
from collections.abc import Callable, Coroutine
from typing import Any, Self

from mf.link.background import spawn

Hold = Callable[[Callable[[int], None]], Coroutine[Any, Any, None]]
"""Asks for the lead, calls its argument with the epoch once this process leads, and returns when it no longer
does. Raises Error if it can never lead. Cancelling it gives the lead up."""


class AsyncLead:
    """The lead, on one loop.

        async with server.lead(IndexAsyncServant, agent="books") as lead:
            ...
            await lead.lost()

    See Lead. `server.lead` makes it; `hold`: what asks the controller.
    """

    __slots__ = ("_ended", "_got", "_hold", "_task", "epoch")

    def __init__(self, hold: Hold) -> None:
        self.epoch = 0
        """Larger than the epochs of all previous leaders; 0 before this process leads."""
        self._hold = hold
        self._got = Event()
        self._ended = Event()
        self._task: Task[None] | None = None

    @property
    def held(self) -> bool:
        """Whether this process leads, by what the controller has said last."""
        return self.epoch != 0 and not self._ended.is_set()

    async def lost(self) -> None:
        """Returns when this process no longer leads."""
        await self._ended.wait()

    async def __aenter__(self) -> Self:
        """Waits until this process leads. Raises Error if the server is stopped before."""
        self._task = spawn(self._run())
        try:
            await self._got.wait()
        except BaseException:
            await self.__aexit__()
            raise
        if not self.epoch:
            self._task.result()
        return self

    async def __aexit__(self, *_: Any) -> None:
        if self._task is not None:
            self._task.cancel()
            await wait((self._task,))

    async def _run(self) -> None:
        try:
            await self._hold(self._has)
        finally:
            self._ended.set()
            self._got.set()

    def _has(self, epoch: int) -> None:
        self.epoch = epoch
        self._got.set()
