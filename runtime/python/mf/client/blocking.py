"""R5. Calls that block their thread: does what the call's machine says, and nothing else. What a call is, and
whether it is repeated, is decided there (mf.protocol.call).
"""

from time import monotonic, sleep
from typing import Any

from mf.client.destination import Destination
from mf.client.driving import sent_off
from mf.client.router import Router
from mf.client.routes import Route
from mf.core.error import Error
from mf.link.link import Link
from mf.protocol.call import Call, too_late
from mf.protocol.call_table import CallEvent, CallStep
from mf.protocol.frame import ONEWAY, pack_deadline

_SLICE = 0.05
"""Seconds after which a call that rests sees that its client was closed."""


def run(call: Call[Any], to: Destination, step: CallStep | None = None) -> None:
    """Until the call has ended; from `step` on, if it has begun."""
    if step is None:
        step = call.begin()
    while step < CallStep.END:
        route = find(call, to)
        if route is None:
            return
        now = monotonic()
        if call.flags & ONEWAY:
            step = sent_off(call, route, now)
        else:
            route.link.call(call, pack_deadline(max(call.deadline - now, 0.0)), now)
            done = monotonic()
            if route.chosen:
                to.router.learn(route, call, now, done)
            step = call.settle(done)
        if step is CallStep.RESOLVE:
            step = again(call, to, route)


def again(call: Call[Any], to: Destination, route: Route[Link]) -> CallStep:
    """After an attempt on this route: the next step, once the call has rested."""
    step, until = to.again(call, route)
    rest(to.router, until)
    return step


def rest(router: Router, until: float) -> None:
    """Until then, or until the client is closed."""
    while (left := until - monotonic()) > 0 and not router.pool.closed:
        sleep(min(left, _SLICE))


def find(call: Call[Any], to: Destination) -> Route[Link] | None:
    """Does a RESOLVE, and the BIND behind it: the call knows its route. None: it has ended."""
    try:
        route = to.find(call.method, call.deadline)
    except Error as failure:
        call.fail(CallEvent.UNREACHABLE, failure, monotonic())
        return None
    now = monotonic()
    if call.bound_to(route.binding, now) is CallStep.END:
        return None
    if now >= call.deadline:
        call.fail(CallEvent.EXPIRED, too_late(), now)
        return None
    return route


def open_stream(call: Call[Any], to: Destination, step: CallStep | None = None) -> Route[Link] | None:
    """Until the request was sent; from `step` on, if the call has begun. None: it has ended."""
    if step is None:
        step = call.begin()
    while step < CallStep.END:
        route = find(call, to)
        if route is None:
            return None
        now = monotonic()
        if route.link.start(call, pack_deadline(max(call.deadline - now, 0.0)), now):
            return route
        step = call.settle(now)
        to.forget(route)
    return None
