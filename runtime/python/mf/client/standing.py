"""R5. A standing call: a streamed call that comes back. Subscriptions, links of replicas, ways to mailboxes,
watches and registrations are such calls.

    standing = StandingCall(longest=1.0)
    await standing.keep(session, goes_on)

`session` opens one stream, calls `answered()` once the peer has answered, and returns or raises when the
stream has ended; `goes_on` hears how, says whether it is opened again, and must not wait. Between two
sessions is a pause that grows, and starts anew after an answer: a peer that ends each stream at once is not
asked faster than one that is not there.

One loop of asyncio. Cancelling the task ends it.
"""

from asyncio import FIRST_COMPLETED, get_running_loop, sleep, wait
from collections.abc import Awaitable, Callable, Coroutine
from time import monotonic
from typing import Any

from mf.core.backoff import LONGEST, Backoff


class StandingCall:
    """`longest`: seconds of the longest pause. `steady`: an answer counts only if its stream lasts so
    long."""

    __slots__ = ("_answered", "_backoff", "_steady")

    def __init__(self, longest: float = LONGEST, steady: float = 0.0) -> None:
        self._backoff = Backoff(longest=longest)
        self._steady = steady
        self._answered = 0.0

    def answered(self) -> None:
        """The peer has answered."""
        if not self._steady:
            self._backoff.reset()
        elif not self._answered:
            self._answered = monotonic()

    async def keep(
        self, session: Callable[[], Awaitable[None]], goes_on: Callable[[Exception | None], bool]
    ) -> None:
        """Returns when `goes_on` says so."""
        while True:
            ended: Exception | None = None
            self._answered = 0.0
            try:
                await session()
            except Exception as failed:  # any exception: the call would otherwise never come back
                ended = failed
            if not goes_on(ended):
                return
            if self._answered and monotonic() - self._answered >= self._steady:
                self._backoff.reset()
            await sleep(self._backoff.next())


async def side_by_side(*ways: Coroutine[Any, Any, None]) -> None:
    """Runs both directions of a stream, for example, until one has ended, then ends the other. Raises the
    failure of the first that has one."""
    loop = get_running_loop()
    tasks = [loop.create_task(each) for each in ways]
    try:
        await wait(tasks, return_when=FIRST_COMPLETED)
    finally:
        for each in tasks:
            each.cancel()
        await wait(tasks)  # a cancellation of this task interrupts this wait, and is not lost in it
    for each in tasks:
        if not each.cancelled() and (failed := each.exception()) is not None:
            raise failed
