"""R6. How a task waits for what any thread may say."""

from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import Future


async def until_called(
    begin: Callable[[Callable[[], None]], None], forget: Callable[[Callable[[], None]], None], until: float
) -> bool:
    """`begin` is given a function that may be called from any thread. False: it was not, until then; `forget`
    is told of it."""
    from asyncio import get_running_loop  # takes long to import, and who blocks needs it not

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
