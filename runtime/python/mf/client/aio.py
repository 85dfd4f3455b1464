"""R5. `await`: the link is watched by the running loop, so that no other thread is needed.

Requests of many tasks of one turn of the loop leave together. Only finding a route may block (connecting,
waiting for a server): that is done on a thread of the loop's executor.
"""

from _thread import get_ident
from asyncio import AbstractEventLoop, Future, get_running_loop
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar, cast

from mf.client.call import Attempts, check_encoding, failure_of_reply, seconds_of
from mf.core.options import CallOptions
from mf.core.service import Method
from mf.link.link import Link
from mf.protocol.calls import Call
from mf.protocol.frame import ONEWAY, pack_deadline
from mf.protocol.reply import OK

if TYPE_CHECKING:
    from mf.client.target import RemoteTarget

T = TypeVar("T")


async def call_async(
    target: "RemoteTarget", method: Method[Any, T], options: CallOptions | None, arguments: tuple[Any, ...]
) -> T:
    """What RemoteTarget.call does, awaited."""
    payload = method.encode_request(*arguments)
    deadline = monotonic() + seconds_of(method, options)
    loop = get_running_loop()
    attempts = Attempts(method, deadline)
    while True:
        route = target.ready_route()
        if route is None:
            route = await loop.run_in_executor(None, target.find, deadline, attempts)
        now = monotonic()
        word = pack_deadline(max(deadline - now, 0.0))
        call = Call(deadline)
        call.route = route.first + method.index
        if method.oneway:
            route.link.start(call, method.request_encoding | ONEWAY, word, 1, payload, now)
            if call.failure is None:
                return cast(T, None)
        else:
            await _reply(loop, route.link, call, method.request_encoding, word, payload)
            if call.failure is None and call.status == OK:
                check_encoding(method, call)
                return method.decode_result(call.payload)
        attempts.failed(failure_of_reply(method, call))
        target.forget(route)


async def _reply(
    loop: AbstractEventLoop, link: Link, call: Call, flags: int, word: int, payload: bytes | bytearray
) -> None:
    """Sends and waits until the call is done. A cancelled task cancels the call."""
    thread = get_ident()
    future: Future[None] = loop.create_future()

    def done(_: Any) -> None:
        if get_ident() == thread:
            _wake(future)
        else:
            with suppress(RuntimeError):  # the loop was closed: nobody waits any more
                loop.call_soon_threadsafe(_wake, future)

    call.on_done = done
    watch = link.watches.loop(loop)
    alone = not link.in_flight
    link.submit(call, flags, word, 1, payload, watch, flush=alone)
    if not alone:
        loop.call_soon(link.flush)
    try:
        await future
    finally:
        if not call.done:
            link.abandon(call)


def _wake(future: "Future[None]") -> None:
    if not future.done():
        future.set_result(None)
