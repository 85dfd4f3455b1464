"""R5. Calls that block their thread: executes the steps of the call's state machine, which decides about
repetitions (mf.protocol.call).
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
"""After this many seconds a resting call notices that its client was closed."""


def run(call: Call[Any], to: Destination, step: CallStep | None = None) -> None:
    """Drives the call to its end; `step` is the next step if the call has already begun."""
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
    """The next step after an attempt on this route, once the call has rested."""
    step, until = to.again(call, route)
    rest(to.router, until)
    return step


def rest(router: Router, until: float) -> None:
    """Waits until the given time, or until the client is closed."""
    while (left := until - monotonic()) > 0 and not router.pool.closed:
        sleep(min(left, _SLICE))


def find(call: Call[Any], to: Destination) -> Route[Link] | None:
    """Executes RESOLVE and the following BIND, so that the call has a route. None: the call has ended."""
    if (now := monotonic()) >= call.deadline:
        call.fail(CallEvent.EXPIRED, too_late(), now)
        return None
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
    """Drives the call until the request is sent; `step` is the next step if the call has already begun. None:
    the call has ended."""
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
