"""R6. Lets a task wait for a call that any thread may make."""

from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import Future


async def until_called(
    begin: Callable[[Callable[[], None]], None], forget: Callable[[Callable[[], None]], None], until: float
) -> bool:
    """Passes a function to `begin`, which any thread may call, and waits for that call. False: it was not
    called before `until` (time.monotonic()). `forget` is always called with the function at the end."""
    from asyncio import get_running_loop  # slow to import, and blocking programs do not need it

    loop = get_running_loop()
    future: Future[bool] = loop.create_future()

    def called() -> None:
        with suppress(RuntimeError):  # the loop was closed
            loop.call_soon_threadsafe(_finish, future, True)

    timer = None
    if until < float("inf"):
        timer = loop.call_later(max(until - monotonic(), 0.0), _finish, future, False)
    try:
        begin(called)
        return await future
    finally:
        forget(called)
        if timer is not None:
            timer.cancel()


def _finish(future: "Future[bool]", value: bool) -> None:
    if not future.done():
        future.set_result(value)
