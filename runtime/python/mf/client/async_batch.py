"""R5. Message-level batches that are awaited. Cancelling the task gives up all items that have not ended."""

from asyncio import CancelledError
from collections.abc import Sequence
from time import monotonic
from typing import Any, TypeVar, cast

from mf.client.destination import Destination
from mf.client.message_batch import Message, MessageBatch
from mf.core.gate import LoopGate
from mf.core.options import INFINITE, BatchOptions
from mf.core.outcome import Outcome
from mf.core.service import Method
from mf.link.async_link import AsyncLink
from mf.protocol.call import too_late
from mf.protocol.call_table import CallEvent
from mf.protocol.frame import pack_deadline

T = TypeVar("T")


class _AwaitedBatch(MessageBatch[T, AsyncLink]):
    __slots__ = ()

    async def results(self) -> list[Outcome[T]]:
        try:
            while self._left:
                if self._flying:  # the link ends them, at the deadline too
                    await self._some()
                elif monotonic() >= self._deadline:
                    self._fail_queue(CallEvent.EXPIRED, too_late())
                else:
                    if self._rests():
                        await self._target.router.rest(self._target.service, self._rest(self._deadline))
                    await self._connect()
        except CancelledError:
            self._give_up()
            raise
        return cast("list[Outcome[T]]", self.partial())

    async def _some(self) -> None:
        """Waits until all items have ended, some need another connection, or a message has rested."""
        gate = LoopGate()
        self._wakers.append(gate.open_here)
        if not self._resting:
            await gate.wait(INFINITE)
            return
        try:
            await gate.wait(self._rest(self._deadline) - monotonic())
        finally:
            self._forget_waker(gate.open_here)
        if self._flying and self._route is not None:
            self._pump(self._route)

    def _submit_to(self, link: AsyncLink, message: Message[T], now: float) -> bool:
        return link.start(message, pack_deadline(max(self._deadline - now, 0.0)), now)


async def batch(
    to: Destination[Any], method: Method[Any, T], requests: Sequence[Any], options: BatchOptions
) -> list[Outcome[T]]:
    return await _AwaitedBatch(to, method, requests, options).results()
