"""R5. The drivers of calls: execute the steps of the call's state machine, which decides about repetitions
(mf.protocol.call). They are written once, for calls that block and calls that are awaited
(mf.core.immediate). Cancelling the task, also by a timeout, ends its call at once, also at the server.
"""

from collections.abc import Sequence
from time import monotonic
from typing import Any, Generic, TypeVar

from mf.client.begin import begin_bulk, give_metadata
from mf.client.destination import Destination
from mf.core.error import Code, DeclaredError, Error, cancelled_by_caller, not_executed
from mf.core.options import CallOptions
from mf.core.outcome import Outcome
from mf.core.service import Method, ServiceInfo
from mf.protocol.call import Call, too_late
from mf.protocol.call_table import CallEvent, CallState, CallStep
from mf.protocol.frame import ONEWAY, pack_deadline
from mf.protocol.other_schema import LostItemsError
from mf.route.finder import Route
from mf.route.routing import Routing

T = TypeVar("T")


def replicated_agent(service: ServiceInfo, agent: str | None) -> str:
    """The agent whose replicas get a replicated call. Raises Error if the caller has not named one."""
    if agent is None and service.agent is not None:
        text = f"a replicated call of {service.short_name} is for one {service.agent}: name it by at()"
        raise not_executed(Code.INVALID_ARGUMENT, text)
    return agent or ""


async def run(call: Call[Any], to: Destination[Any], step: CallStep | None = None) -> None:
    """Drives the call to its end; `step` is the next step if the call has already begun."""
    if step is None:
        step = call.begin()
    if call.flags & ONEWAY:
        await _run_oneway(call, to)
        return
    while step < CallStep.END:
        route = await find(call, to)
        if route is None:
            return
        now = monotonic()
        await route.link.perform(call, pack_deadline(max(call.deadline - now, 0.0)), now)
        done = monotonic()
        if route.chosen:
            to.router.learn(route, call, now, done)
        step = call.settle(done)
        if step is CallStep.RESOLVE:
            step = await _again(call, to, route)


async def go_on(call: Call[Any], to: Destination[Any], route: Route[Any]) -> None:
    """Drives a call to its end whose attempt on this route has failed."""
    await run(call, to, await _again(call, to, route))


async def _again(call: Call[Any], to: Destination[Any], route: Route[Any]) -> CallStep:
    """The next step after an attempt on this route, once the call has rested."""
    step, until = to.again(call, route)
    try:
        await to.router.rest(to.service, until)
    except BaseException:  # its task is cancelled, or its thread interrupted
        call.fail(CallEvent.CANCELLED, cancelled_by_caller(), monotonic())
        raise
    return step


async def _run_oneway(call: Call[Any], to: Destination[Any]) -> None:
    """Tasks send one-way calls to this agent in the order in which they were made, also while no server is
    found yet."""
    try:
        async with to.router.in_turn(to.service, to.agent, call.deadline):
            route = await _send_oneway(call, to)
    except BaseException as raised:
        if isinstance(raised, TimeoutError) and not isinstance(raised, Error):  # waiting for its turn
            call.fail(CallEvent.EXPIRED, too_late(), monotonic())
            return
        if call.state is not CallState.ENDED:
            call.fail(CallEvent.CANCELLED, cancelled_by_caller(), monotonic())
        raise
    if route is not None:
        await route.link.room(call.deadline)


async def _send_oneway(call: Call[Any], to: Destination[Any]) -> Route[Any] | None:
    while True:
        route = await find(call, to)
        if route is None:
            return None
        if sent_off(call, route, monotonic()) is not CallStep.RESOLVE:
            return route
        to.forget(route)


def sent_off(call: Call[Any], route: Route[Any], now: float) -> CallStep:
    """Sends a one-way call, which ends when it is sent."""
    if route.link.start(call, pack_deadline(max(call.deadline - now, 0.0)), now):
        return call.on(CallEvent.REPLIED)
    return call.settle(now)


async def find(call: Call[Any], to: Destination[Any]) -> Route[Any] | None:
    """Executes RESOLVE and the following BIND, so that the call has a route. None: the call has ended."""
    if (now := monotonic()) >= call.deadline:
        call.fail(CallEvent.EXPIRED, to.late(), now)
        return None
    try:
        route = await to.find(call.method, call.deadline)
    except Error as failure:
        if call.state is not CallState.ENDED:
            call.fail(CallEvent.UNREACHABLE, failure, monotonic())
        return None
    except BaseException:
        if call.state is not CallState.ENDED:
            call.fail(CallEvent.CANCELLED, cancelled_by_caller(), monotonic())
        raise
    if call.state is CallState.ENDED:  # a stream that was cancelled in the meantime
        return None
    now = monotonic()
    if call.bound_to(route.binding, now) is CallStep.END:
        return None
    if now >= call.deadline:
        call.fail(CallEvent.EXPIRED, too_late(), now)
        return None
    return route


async def open_stream(
    call: Call[Any], to: Destination[Any], step: CallStep | None = None
) -> Route[Any] | None:
    """Drives the call until the request is sent; `step` is the next step if the call has already begun. None:
    the call has ended."""
    if step is None:
        step = call.begin()
    while step < CallStep.END:
        route = await find(call, to)
        if route is None:
            return None
        now = monotonic()
        if route.link.start(call, pack_deadline(max(call.deadline - now, 0.0)), now):
            return route
        step = call.settle(monotonic())
        to.forget(route)
    return None


class Bulk(Generic[T]):
    """All requests in one message. Those that have no equal in the server's schema end alone: the message is
    sent without them."""

    __slots__ = ("_begun", "_left", "_lost", "_method", "_options", "_requests", "_router")

    def __init__(
        self,
        router: Routing[Any, Any],
        method: Method[Any, T],
        options: CallOptions | None,
        requests: Sequence[Any],
    ) -> None:
        self._router = router
        self._method = method
        self._options = options
        self._requests = requests
        self._begun = monotonic()
        self._left: Sequence[int] = range(len(requests))
        self._lost: dict[int, Error] = {}

    def begin(self) -> Call[T]:
        requests = [self._requests[at] for at in self._left] if self._lost else self._requests
        return begin_bulk(self._router, self._method, self._options, requests, self._begun)

    def ended(self, call: Call[T]) -> list[Outcome[T]] | None:
        """None: another call is to be begun. Raises what the message as a whole failed with."""
        give_metadata(self._options, call.reply_metadata)
        outcomes: list[Outcome[T]] = []
        if isinstance(call.failure, LostItemsError) and call.failure.items:
            self._lost.update({self._left[at]: error for at, error in call.failure.items.items()})
            self._left = [at for at in self._left if at not in self._lost]
            if self._left:
                return None
        elif call.failure is not None:
            raise call.failure
        elif call.flags & ONEWAY:
            outcomes = [Outcome() for _ in range(call.items)]
        else:
            outcomes = call.outcomes()
        for at in sorted(self._lost):
            outcomes.insert(at, Outcome(error=self._lost[at]))
        return outcomes


def scattered_outcome(call: Call[T], options: CallOptions | None) -> Outcome[T]:
    """The outcome of one agent; any exception other than Error and declared errors is a bug, and is
    raised."""
    give_metadata(options, call.reply_metadata)
    if call.flags & ONEWAY and call.failure is None:
        return Outcome()
    try:
        return Outcome(call.value())
    except (Error, DeclaredError) as failure:
        return Outcome(error=failure)
