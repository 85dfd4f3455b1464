"""R5. Calls with a parameter stream only: the handler iterates over the caller's values itself, as nothing is
between the two. A blocking caller of an async handler runs a loop of its own for the call; an awaiting caller
of a plain handler runs it on his loop or, where the handler would wait for what only the loop can give, on a
thread.
"""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from threading import TIMEOUT_MAX
from time import monotonic
from typing import Any

from mf.core.current import enter, leave
from mf.core.error import Code, Error
from mf.light.call import LightCall, run_to_end, to_end
from mf.light.checks import check_value
from mf.light.opening import Opening

_END: Any = object()


class _Given:
    """What is wrong with a caller's values is the caller's own affair: it is kept in `raised` for him, and
    the handler gets an Error, since the call is over."""

    __slots__ = ("call", "raised")

    def __init__(self, call: LightCall) -> None:
        self.call = call
        self.raised: BaseException | None = None

    def begin(self) -> None:
        if self.call.deadline <= monotonic():
            raise self.call.late()

    def checked(self, value: Any) -> Any:
        check_value(self.call.called, value)
        return value

    def spoiled(self, raised: BaseException) -> Error:
        self.raised = raised
        self.call.given_up = True
        return Error(Code.CANCELLED, "the values of the caller have ended with a failure")


class Feed(_Given, Iterator[Any]):
    """As a plain handler gets them."""

    __slots__ = ("_values",)

    def __init__(self, call: LightCall, values: Iterable[Any]) -> None:
        super().__init__(call)
        self._values = iter(values)

    def __next__(self) -> Any:
        self.begin()
        try:
            return self.checked(next(self._values))
        except StopIteration:
            raise
        except BaseException as raised:
            raise self.spoiled(raised) from raised


class AsyncFeed(_Given, AsyncIterator[Any]):
    """As an async handler gets them."""

    __slots__ = ("_values",)

    def __init__(self, call: LightCall, values: AsyncIterable[Any] | Iterable[Any]) -> None:
        super().__init__(call)
        self._values = aiter(values if isinstance(values, AsyncIterable) else _awaited(values))

    async def __anext__(self) -> Any:
        self.begin()
        try:
            return self.checked(await anext(self._values))
        except (StopAsyncIteration, asyncio.CancelledError):
            raise
        except BaseException as raised:
            raise self.spoiled(raised) from raised


async def _awaited(values: Iterable[Any]) -> AsyncIterator[Any]:
    for value in values:
        yield value


class _ThreadFeed(Iterator[Any]):
    """An awaiting caller's values for a plain handler, which runs on a thread."""

    __slots__ = ("_feed", "_loop")

    def __init__(self, feed: AsyncFeed) -> None:
        self._feed = feed
        self._loop = asyncio.get_running_loop()

    def __next__(self) -> Any:
        call = self._feed.call
        left = call.deadline - monotonic()
        if left <= 0:
            raise call.late()
        future = asyncio.run_coroutine_threadsafe(anext(self._feed, _END), self._loop)
        try:
            value = future.result(left if left < TIMEOUT_MAX else None)
        except TimeoutError:
            if future.done():
                raise
            future.cancel()
            raise call.late() from None
        if value is _END:
            raise StopIteration
        return value


async def write(opening: Opening, values: AsyncIterable[Any] | Iterable[Any], *, awaits: bool) -> Any:
    """`awaits`: whether the caller does, and its loop runs. Otherwise nothing here suspends
    (mf.core.immediate)."""
    call = opening.begin()
    feed: Feed | AsyncFeed
    result: Any
    try:
        if opening.is_async:
            feed = AsyncFeed(call, values)
            handled = opening.handler(feed)
            raised, result = await to_end(call, handled) if awaits else run_to_end(call, handled)
        elif awaits and isinstance(values, AsyncIterable):
            feed = AsyncFeed(call, values)
            on_thread = asyncio.to_thread(_run, call, opening, _ThreadFeed(feed))
            raised, ended = await to_end(call, on_thread)
            if ended is not None:
                raised, result = ended
        else:
            assert isinstance(values, Iterable)
            feed = Feed(call, values)
            raised, result = _run(call, opening, feed)
    finally:
        call.give_metadata()
    return _result(feed, raised, result)


def _run(call: LightCall, opening: Opening, feed: Iterator[Any]) -> tuple[BaseException | None, Any]:
    """Runs a plain handler; what it raised, or its result."""
    token = enter(call)
    try:
        return None, opening.handler(feed)
    except Exception as raised:
        return raised, None
    finally:
        leave(token)


def _result(feed: Feed | AsyncFeed, raised: BaseException | None, result: Any) -> Any:
    if feed.raised is not None:
        raise feed.raised
    if raised is not None:
        failure = feed.call.failure_with(raised)
        raise failure from None if failure is raised else raised
    return result
