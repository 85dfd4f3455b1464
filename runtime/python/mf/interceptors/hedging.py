"""R1. Hedged calls: a second request where the first one is slow, and the first answer counts."""

from collections.abc import Awaitable, Callable
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from mf.core.code_class import ELSEWHERE, LOST
from mf.core.error import Error
from mf.core.handler_wait import waiting
from mf.core.interceptor import CallKind, InterceptedCall, Interceptor

if TYPE_CHECKING:
    from asyncio import Task


class Hedging(Interceptor):
    """Of a client. A lone call of an `@idempotent` method that has no answer `after` so many seconds is made
    once more, and again until `most` requests are under way; the first answer counts, also a declared error.
    A request that fails otherwise makes the next one at once; when all have failed, the call fails with what
    the first one has failed with. Other methods, batches and streams are called as they are.

    Each request is a call of its own to the server, which may run all of them: use it for short reads whose
    slowest calls matter, with `after` at about their 95th percentile, so that one call in twenty is made
    twice. In asyncio requests that are not needed any more are cancelled; a blocking call has a thread for
    each request, which ends with it.
    """

    def __init__(self, after: float, most: int = 2) -> None:
        if not after >= 0:
            raise ValueError(f"after is {after}: give seconds, 0 or more")
        if most < 2:
            raise ValueError(f"most is {most}: two requests at least, or nothing is hedged")
        self._after = after
        self._most = most

    def call(self, call: InterceptedCall, proceed: Callable[[], Any]) -> Any:
        if not _is_hedged(call):
            return proceed()
        return waiting(self._race, call, proceed)

    def _may_begin(self, call: InterceptedCall, begun: int) -> bool:
        return not begun or (begun < self._most and call.deadline_left > 0)

    def _race(self, call: InterceptedCall, proceed: Callable[[], Any]) -> Any:
        ended: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        first_failure: BaseException | None = None
        begun = failed = 0
        while self._may_begin(call, begun) or failed < begun:
            if self._may_begin(call, begun):
                arguments = copy_context().run, _attempt, proceed, ended
                Thread(target=arguments[0], args=arguments[1:], name="mf-hedged", daemon=True).start()
                begun += 1
            try:
                value, raised = ended.get(timeout=self._after if self._may_begin(call, begun) else None)
            except Empty:
                continue
            if raised is None:
                return value
            if not _may_pass(raised):
                raise raised
            failed += 1
            first_failure = first_failure or raised
        assert first_failure is not None
        raise first_failure

    async def call_async(self, call: InterceptedCall, proceed: Callable[[], Awaitable[Any]]) -> Any:
        if not _is_hedged(call):
            return await proceed()
        from asyncio import FIRST_COMPLETED, create_task, wait

        under_way: set[Task[Any]] = set()
        first_failure: BaseException | None = None
        begun = 0
        try:
            while self._may_begin(call, begun) or under_way:
                if self._may_begin(call, begun):
                    under_way.add(create_task(_awaited(proceed)))
                    begun += 1
                pause = self._after if self._may_begin(call, begun) else None
                done, under_way = await wait(under_way, timeout=pause, return_when=FIRST_COMPLETED)
                for each in done:
                    raised = each.exception()
                    if raised is None:
                        return each.result()
                    if not _may_pass(raised):
                        raise raised
                    first_failure = first_failure or raised
        finally:
            for each in under_way:
                each.cancel()
                each.add_done_callback(_forget)
        assert first_failure is not None
        raise first_failure


def _is_hedged(call: InterceptedCall) -> bool:
    return call.is_client and call.kind is CallKind.CALL and call.info.idempotent and not call.info.oneway


def _may_pass(raised: BaseException) -> bool:
    """Whether another server may answer; anything else is an answer."""
    return isinstance(raised, Error) and (raised.code in ELSEWHERE or raised.code in LOST)


def _attempt(proceed: Callable[[], Any], ended: "SimpleQueue[tuple[Any, BaseException | None]]") -> None:
    try:
        value = proceed()
    except BaseException as raised:
        ended.put((None, raised))
    else:
        ended.put((value, None))


async def _awaited(proceed: Callable[[], Awaitable[Any]]) -> Any:
    return await proceed()


def _forget(task: "Task[Any]") -> None:
    """What it raises is not wanted any more."""
    if not task.cancelled():
        task.exception()
