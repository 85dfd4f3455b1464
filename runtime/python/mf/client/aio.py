"""R5. Calls that are awaited: the link is watched by the running loop, so that no other thread is needed.

Requests of many tasks of one turn of the loop leave together. Only finding a route may block (connecting,
waiting for a server): see lookup.py.
"""

from _thread import get_ident
from asyncio import AbstractEventLoop, CancelledError, Future, get_running_loop
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any, TypeVar, cast

from mf.client.begin import begin, give_metadata
from mf.client.blocking import given_up, sent_off
from mf.client.destination import Destination
from mf.client.routes import Route
from mf.core.error import Error
from mf.core.options import CallOptions
from mf.core.service import Method
from mf.link.link import Link
from mf.protocol.call import Call, too_late
from mf.protocol.call_table import RESOLVE, CallEvent, CallState, CallStep
from mf.protocol.frame import ONEWAY, pack_deadline
from mf.protocol.reply import OK

T = TypeVar("T")


async def call_async(
    to: Destination, method: Method[Any, T], options: CallOptions | None, arguments: tuple[Any, ...]
) -> T:
    """What RemoteTarget.call does, awaited."""
    now = monotonic()
    call = begin(to.router, method, options, arguments, now)
    route = to.ready()
    if route is None or method.oneway or call.deadline <= now:
        await run_async(call, to)
    else:  # what `run_async` does, for a route that is at hand
        call.begin_at(route.binding, now)
        future = _submit(get_running_loop(), route.link, call, call.word)
        if future is not None:
            try:
                await future
            except CancelledError:
                _cancel(route.link, call)
                raise
        if call.failure is None and call.status == OK and call.reply_metadata is None:
            return call.value_at_once()
        if call.settle(monotonic()) is RESOLVE:
            to.forget(route)
            await run_async(call, to, RESOLVE)
    give_metadata(options, call.reply_metadata)
    if method.oneway and call.failure is None:
        return cast(T, None)
    return call.value()


async def run_async(call: Call[Any], to: Destination, step: CallStep | None = None) -> None:
    """Until the call has ended; from `step` on, if it has begun. A cancelled task cancels it, and the server
    is told."""
    loop = get_running_loop()
    if step is None:
        step = call.begin()
    while step < CallStep.END:
        route = await find_async(call, to)
        if route is None:
            return
        now = monotonic()
        if call.flags & ONEWAY:
            step = sent_off(call, route, now)
        else:
            future = _submit(loop, route.link, call, pack_deadline(max(call.deadline - now, 0.0)))
            if future is not None:
                try:
                    await future
                except CancelledError:
                    _cancel(route.link, call)
                    raise
            step = call.settle(monotonic())
        if step is CallStep.RESOLVE:
            to.forget(route)


async def find_async(call: Call[Any], to: Destination) -> Route | None:
    """What blocking.find does."""
    route = to.ready()
    if route is None:
        try:
            route = await to.find_async(call.deadline)
        except Error as failure:
            if call.state is not CallState.ENDED:
                call.fail(CallEvent.UNREACHABLE, failure, monotonic())
            return None
        except CancelledError:
            if call.state is not CallState.ENDED:
                call.fail(CallEvent.CANCELLED, given_up(), monotonic())
            raise
        if call.state is CallState.ENDED:  # cancelled meanwhile
            return None
    now = monotonic()
    call.bound_to(route.binding, now)
    if now >= call.deadline:
        call.fail(CallEvent.EXPIRED, too_late(), now)
        return None
    return route


def _submit(loop: AbstractEventLoop, link: Link, call: Call[Any], word: int) -> "Future[None] | None":
    """Sends a request within this turn of the loop. What is given ends when the link is done with it; None:
    it is."""
    thread = get_ident()
    future: Future[None] = loop.create_future()

    def done(_: Any) -> None:
        if get_ident() == thread:
            if not future.done():
                future.set_result(None)
        else:
            with suppress(RuntimeError):  # the loop was closed: nobody waits any more
                loop.call_soon_threadsafe(resolve, future)

    call.on_done = done
    alone = not link.in_flight
    if not link.submit(call, word, link.watches.loop(loop), flush=alone):
        return None
    if not alone:
        link.flush_soon(loop)
    return future


def _cancel(link: Link, call: Call[Any]) -> None:
    link.abandon(call, CallEvent.CANCELLED, given_up())
    call.settle(monotonic())


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
