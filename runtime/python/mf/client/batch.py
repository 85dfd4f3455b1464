"""R5. Message-level batches of blocking clients. A thread of the client reads replies while no thread waits
for them.
"""

from collections.abc import Sequence
from functools import partial
from time import monotonic
from typing import Any, TypeVar, cast

from mf.client.destination import Destination
from mf.client.message_batch import Message, MessageBatch
from mf.core.handler_wait import waiting
from mf.core.immediate import immediate
from mf.core.options import BatchOptions
from mf.core.outcome import Outcome
from mf.core.service import Method
from mf.core.target import BatchCall
from mf.link import fork
from mf.link.link import Link
from mf.protocol.call import too_late
from mf.protocol.call_table import CallEvent
from mf.protocol.calls import Pending
from mf.protocol.frame import pack_deadline

T = TypeVar("T")


class BlockingBatch(MessageBatch[T, Link], BatchCall[T]):
    """See above. Thread-safe."""

    __slots__ = ("__weakref__",)

    def __init__(
        self, to: Destination[Any], method: Method[Any, T], requests: Sequence[Any], options: BatchOptions
    ) -> None:
        super().__init__(to, method, requests, options)
        fork.register(self)
        if requests:
            waiting(immediate, self._connect())

    def ready(self) -> bool:
        if self._left and not self._flying:
            return self.wait(0.001)  # the connection was lost and no thread waits: continue here
        return not self._left

    def wait(self, timeout: float | None = None) -> bool:
        return waiting(self._wait, timeout) if self._left else True

    def _wait(self, timeout: float | None) -> bool:
        limit = self._deadline if timeout is None else min(self._deadline, monotonic() + timeout)
        while self._left:
            until = min(limit, self._rest(limit))
            waiter = Pending(until)
            route = self._route
            with self._lock:
                stuck = not self._flying
                if not stuck:
                    assert route is not None
                    wake = partial(route.link.finish, waiter)
                    self._wakers.append(wake)
            now = monotonic()
            if now >= limit:
                if not stuck:
                    self._forget_waker(wake)
                self._late(now)
                break
            if stuck:
                if self._rests():
                    immediate(self._target.router.rest(self._target.service, until))
                immediate(self._connect())
            else:
                assert route is not None
                try:
                    if until > now:
                        route.link.wait(waiter, now)
                finally:
                    self._forget_waker(wake)
                if until < limit and until <= monotonic():
                    self._pump(route)
                    route.link.flush()
        return not self._left

    def results(self) -> list[Outcome[T]]:
        self.wait()
        return cast("list[Outcome[T]]", self.partial())

    def _submit_to(self, link: Link, message: Message[T], now: float) -> bool:
        word = pack_deadline(max(self._deadline - now, 0.0))
        return link.submit(message, word)

    def _late(self, now: float) -> None:
        """The wait has timed out; if the batch's deadline has passed, too, the remaining items end now."""
        if now < self._deadline:
            return
        self._fail_queue(CallEvent.EXPIRED, too_late())
        if self._route is not None:
            self._route.link.expire(now)
