"""R5. Calls that are awaited: executes the steps of the call's state machine, as blocking.py does. Cancelling
the task, also by a timeout, ends its call at once, and the server is told.
"""

from asyncio import CancelledError, timeout
from time import monotonic
from typing import Any

from mf.client.async_destination import AsyncDestination
from mf.client.async_router import AsyncRouter
from mf.client.driving import given_up, sent_off
from mf.client.routes import Route
from mf.core.error import Error
from mf.link.async_link import AsyncLink
from mf.protocol.call import Call, too_late
from mf.protocol.call_table import CallEvent, CallState, CallStep
from mf.protocol.frame import ONEWAY, pack_deadline


async def run(call: Call[Any], to: AsyncDestination, step: CallStep | None = None) -> None:
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
        future = route.link.submit(call, pack_deadline(max(call.deadline - now, 0.0)))
        if future is not None:
            try:
                await future
            except CancelledError:
                cancel(route.link, call)
                raise
        done = monotonic()
        if route.chosen:
            to.router.learn(route, call, now, done)
        step = call.settle(done)
        if step is CallStep.RESOLVE:
            step = await again(call, to, route)


async def again(call: Call[Any], to: AsyncDestination, route: Route[AsyncLink]) -> CallStep:
    """The awaited version of blocking.again."""
    step, until = to.again(call, route)
    try:
        await rest(to.router, to.service.name, until)
    except CancelledError:
        call.fail(CallEvent.CANCELLED, given_up(), monotonic())
        raise
    return step


async def rest(router: AsyncRouter, service: str, until: float) -> None:
    """Waits until the given time, or until the client is closed."""
    resolver = router.resolver
    while (left := until - monotonic()) > 0 and not router.pool.closed:
        await resolver.wait(service, resolver.view(service), left)


async def _run_oneway(call: Call[Any], to: AsyncDestination) -> None:
    """Sends one-way calls to this agent in the order in which they were made, also while no server is found
    yet."""
    turn = to.router.turn(to.service, to.agent)
    turn.calls += 1
    try:
        if turn.calls == 1:
            await turn.acquire()  # at once
        else:
            async with timeout(max(call.deadline - monotonic(), 0.0)):
                await turn.acquire()
        try:
            route = await _send_oneway(call, to)
        finally:
            turn.release()
    except TimeoutError:
        call.fail(CallEvent.EXPIRED, too_late(), monotonic())
        return
    except CancelledError:
        if call.state is not CallState.ENDED:
            call.fail(CallEvent.CANCELLED, given_up(), monotonic())
        raise
    finally:
        turn.calls -= 1
    if route is not None:
        await route.link.room(call.deadline)


async def _send_oneway(call: Call[Any], to: AsyncDestination) -> Route[AsyncLink] | None:
    while True:
        route = await find(call, to)
        if route is None:
            return None
        if sent_off(call, route, monotonic()) is not CallStep.RESOLVE:
            return route
        to.forget(route)


async def find(call: Call[Any], to: AsyncDestination) -> Route[AsyncLink] | None:
    """The awaited version of blocking.find."""
    if (now := monotonic()) >= call.deadline:
        call.fail(CallEvent.EXPIRED, too_late(), now)
        return None
    try:
        route = await to.find(call.method, call.deadline)
    except Error as failure:
        if call.state is not CallState.ENDED:
            call.fail(CallEvent.UNREACHABLE, failure, monotonic())
        return None
    except CancelledError:
        if call.state is not CallState.ENDED:
            call.fail(CallEvent.CANCELLED, given_up(), monotonic())
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


def cancel(link: AsyncLink, call: Call[Any]) -> None:
    link.abandon(call, CallEvent.CANCELLED, given_up())
    call.settle(monotonic())
