"""R5. Calls that are awaited: the link is watched by the running loop, so that no other thread is needed.

Requests of many tasks of one turn of the loop leave together. Only finding a route may block (connecting,
waiting for a server): that is done on a thread of the loop's executor.
"""

from _thread import get_ident
from asyncio import AbstractEventLoop, CancelledError, Future, get_running_loop
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any

from mf.client.blocking import given_up, sent_off
from mf.client.destination import Destination
from mf.client.routes import Route
from mf.core.error import Error
from mf.protocol.call import Call, too_late
from mf.protocol.call_table import CallEvent, CallStep
from mf.protocol.frame import ONEWAY, pack_deadline


async def run_async(call: Call[Any], to: Destination) -> None:
    """Until the call has ended. A cancelled task cancels it, and the server is told."""
    loop = get_running_loop()
    step = call.begin()
    while step < CallStep.END:
        route = await find_async(call, to, loop)
        if route is None:
            return
        now = monotonic()
        if call.flags & ONEWAY:
            step = sent_off(call, route, now)
        else:
            await _reply(loop, route, call, now)
            step = call.settle(monotonic())
        if step is CallStep.RESOLVE:
            to.forget(route)


async def find_async(call: Call[Any], to: Destination, loop: AbstractEventLoop) -> Route | None:
    """What blocking.find does."""
    route = to.ready()
    if route is None:
        try:
            route = await loop.run_in_executor(None, to.find, call.deadline)
        except Error as failure:
            call.fail(CallEvent.UNREACHABLE, failure, monotonic())
            return None
        except CancelledError:
            call.fail(CallEvent.CANCELLED, given_up(), monotonic())
            raise
    now = monotonic()
    call.bound_to(route.binding, now)
    if now >= call.deadline:
        call.fail(CallEvent.EXPIRED, too_late(), now)
        return None
    return route


async def _reply(loop: AbstractEventLoop, route: Route, call: Call[Any], now: float) -> None:
    """Sends, and waits until the link is done with the request."""
    future: Future[None] = loop.create_future()
    call.on_done = waker(loop, lambda: resolve(future))
    link = route.link
    watch = link.watches.loop(loop)
    alone = not link.in_flight
    if not link.submit(call, pack_deadline(max(call.deadline - now, 0.0)), watch, flush=alone):
        return
    if not alone:
        loop.call_soon(link.flush)
    try:
        await future
    except CancelledError:
        link.abandon(call, CallEvent.CANCELLED, given_up())
        call.settle(monotonic())
        raise


def waker(loop: AbstractEventLoop, wake: Callable[[], None]) -> Callable[[Any], None]:
    """A callback for a link, which may call it on any thread: calls `wake` on the loop's."""
    thread = get_ident()

    def done(_: Any) -> None:
        if get_ident() == thread:
            wake()
        else:
            with suppress(RuntimeError):  # the loop was closed: nobody waits any more
                loop.call_soon_threadsafe(wake)

    return done


def resolve(future: "Future[None]") -> None:
    """Wakes who awaits it, once."""
    if not future.done():
        future.set_result(None)
