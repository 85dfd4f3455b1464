"""R5. Streams in light: values are handed over one by one, by reference.

No thread stands behind them. A generator runs where its values are asked for: a plain one on the thread of
its reader, an async one in its task. What a caller gives as an iterable, the handler iterates over itself.
Only the values that a caller writes to a duplex stream wait in between, 64 at most.

Callers and handlers of different kinds meet so: a blocking caller of an async handler runs a loop of its own
while it waits; an awaiting caller of a plain handler runs it on its loop, as it does with calls, and on a
thread where the handler would wait for what only the loop can give.
"""

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
)
from time import monotonic
from typing import Any, Generic, TypeVar

from mf.core.current import enter, leave
from mf.core.error import Code, Error, MfError
from mf.core.service import ElementCodec
from mf.core.stream import AsyncDuplexStream, AsyncStreamReader, DuplexStream, StreamReader
from mf.light.call import LightCall, run_to_end, to_end
from mf.light.opening import Opening
from mf.light.pipe import AsyncPipe, Pipe, ThreadedPipe

T = TypeVar("T")
T_in = TypeVar("T_in")
T_out = TypeVar("T_out")

_FOREVER = 1e6
_END: Any = object()


def _constraints(opening: Opening) -> ElementCodec[Any] | None:
    """What to check the values of a caller by; None if the schema does not constrain them."""
    return opening.method.param_element if opening.method.constrained else None


class Feed(Iterator[T], Generic[T]):
    """A caller's values, as a plain handler gets them. What is wrong with them is the caller's own affair: it
    is kept in `raised` for him, and the handler is told that the call is over.
    """

    __slots__ = ("_call", "_element", "_values", "raised")

    def __init__(self, opening: Opening, values: Iterable[T]) -> None:
        self._call = opening.call
        self._values = iter(values)
        self._element = _constraints(opening)
        self.raised: BaseException | None = None

    def __next__(self) -> T:
        call = self._call
        if call.deadline <= monotonic():
            raise call.late()
        try:
            value = next(self._values)
            if self._element is not None:
                self._element.encode(value)
            return value
        except StopIteration:
            raise
        except BaseException as raised:
            self.raised = raised
            call.given_up = True
            raise Error(Code.CANCELLED, "the values of the caller have ended with a failure") from raised


class AsyncFeed(AsyncIterator[T], Generic[T]):
    """The same for an async handler."""

    __slots__ = ("_call", "_element", "_values", "raised")

    def __init__(self, opening: Opening, values: AsyncIterable[T] | Iterable[T]) -> None:
        self._call = opening.call
        self._values = aiter(values if isinstance(values, AsyncIterable) else _Awaitable(iter(values)))
        self._element = _constraints(opening)
        self.raised: BaseException | None = None

    async def __anext__(self) -> T:
        if self._call.deadline <= monotonic():
            raise self._call.late()
        try:
            value = await anext(self._values)
            if self._element is not None:
                self._element.encode(value)
            return value
        except (StopAsyncIteration, asyncio.CancelledError):
            raise
        except BaseException as raised:
            self.raised = raised
            self._call.given_up = True
            raise Error(Code.CANCELLED, "the values of the caller have ended with a failure") from raised


class _ThreadFeed(Iterator[T], Generic[T]):
    """An awaiting caller's values for a plain handler, which runs on a thread."""

    __slots__ = ("_call", "_feed", "_loop")

    def __init__(self, call: LightCall, feed: AsyncFeed[T]) -> None:
        self._call = call
        self._feed = feed
        self._loop = asyncio.get_running_loop()

    def __next__(self) -> T:
        left = self._call.deadline - monotonic()
        if left <= 0:
            raise self._call.late()
        future = asyncio.run_coroutine_threadsafe(anext(self._feed, _END), self._loop)
        try:
            value = future.result(left if left < _FOREVER else None)
        except TimeoutError:
            if future.done():
                raise
            future.cancel()
            raise self._call.late() from None
        if value is _END:
            raise StopIteration
        return value


class _OnThread(AsyncIterator[T], Generic[T]):
    """A plain handler's values for an awaiting caller, where the handler may wait for what only the loop can
    give.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Iterator[T]) -> None:
        self._values = values

    async def __anext__(self) -> T:
        value = await asyncio.to_thread(next, self._values, _END)
        if value is _END:
            raise StopAsyncIteration
        return value


class _Awaitable(AsyncIterator[T], Generic[T]):
    """An iterator for those who await."""

    __slots__ = ("_values",)

    def __init__(self, values: Iterator[T]) -> None:
        self._values = values

    async def __anext__(self) -> T:
        for value in self._values:
            return value
        raise StopAsyncIteration

    async def aclose(self) -> None:
        if isinstance(self._values, Generator):
            self._values.close()


class _Blocking(Iterator[T], Generic[T]):
    """An async handler's values for a blocking caller: on a loop that runs while he waits."""

    __slots__ = ("_call", "_runner", "_values")

    def __init__(self, call: LightCall, open_: Callable[[], Any]) -> None:
        self._call = call
        self._runner = asyncio.Runner()
        self._values: AsyncIterator[T] = self._runner.run(_opened(call, open_))

    def __next__(self) -> T:
        try:
            return self._runner.run(_next_of(self._call, self._values))
        except StopAsyncIteration:
            raise StopIteration from None

    def close(self) -> None:
        self._runner.run(_close(self._call, self._values))
        self._runner.close()


async def _opened(call: LightCall, open_: Callable[[], Any]) -> AsyncIterator[Any]:
    token = enter(call)
    try:
        given = open_()
        if hasattr(given, "__await__"):
            given = await given
    finally:
        leave(token)
    return aiter(given if isinstance(given, AsyncIterable) else _Awaitable(iter(given)))


async def _next_of(call: LightCall, values: AsyncIterator[T], idle: float = _FOREVER) -> T:
    """The next value, awaited at most until the deadline; in the task of who asks for it."""
    left = call.deadline - monotonic()
    if left <= 0:
        raise call.late()
    token = enter(call)
    try:
        async with asyncio.timeout(min(left, idle) if min(left, idle) < _FOREVER else None) as timer:
            return await anext(values)
    except TimeoutError:
        if not timer.expired():
            raise
        raise call.late() from None
    finally:
        leave(token)


async def _close(call: LightCall, values: AsyncIterator[Any]) -> None:
    if isinstance(values, (AsyncGenerator, _Awaitable)):
        token = enter(call)
        try:
            await values.aclose()
        finally:
            leave(token)


def blocking_values(call: LightCall, open_: Callable[[], Any], *, is_async: bool) -> Iterator[Any]:
    """What a handler gives, for a blocking caller. `open_` calls the handler."""
    if is_async:
        return _Blocking(call, open_)
    token = enter(call)
    try:
        return iter(open_())
    finally:
        leave(token)


class LightReader(StreamReader[T_out], Generic[T_out]):
    """The result stream of a call, for a blocking caller."""

    __slots__ = ("_call", "_failure", "_open", "_values")

    def __init__(self, opening: Opening, *streams: Any) -> None:
        call = self._call = opening.call
        self._open: Callable[[], Iterator[T_out]] | None = lambda: blocking_values(
            call, lambda: opening.handler(*streams), is_async=opening.is_async
        )
        self._values: Iterator[T_out] | None = None
        self._failure: BaseException | None = None

    def __next__(self) -> T_out:
        call = self._call
        values = self._values
        if values is None:
            values = self._begin()
        if call.deadline <= monotonic():
            self._over(call.late())
        token = enter(call)
        try:
            return next(values)
        except StopIteration:
            if call.deadline <= monotonic():  # what ends well after the deadline is too late
                self._over(call.late())
            self._ended(None)
            raise
        except Exception as raised:
            self._over(raised)
            raise  # never: that raises
        finally:
            leave(token)

    def _begin(self) -> Iterator[T_out]:
        if self._failure is not None:
            raise self._failure
        if self._open is None:
            raise StopIteration
        open_, self._open = self._open, None
        try:
            self._values = open_()
        except Exception as raised:
            self._over(raised)
        assert self._values is not None
        return self._values

    def _over(self, raised: Exception) -> None:
        """Raises what the caller is told."""
        failure = self._call.failure_with(raised)
        self._ended(failure)
        if failure is raised:
            raise failure
        raise failure from raised

    def _ended(self, failure: MfError | None) -> None:
        self._failure = failure
        values, self._values, self._open = self._values, None, None
        self._call.give_metadata()
        if isinstance(values, (Generator, _Blocking)):
            token = enter(self._call)
            try:
                values.close()
            finally:
                leave(token)

    def cancel(self) -> None:
        if self._values is None and self._open is None:
            return
        self._call.given_up = True
        try:
            self._ended(None)
        except ValueError:
            pass  # another thread is in the generator: it sees that the call is cancelled
        except Exception as raised:
            self._call.failure(raised)  # of the handler's clean-up, which nobody waits for: it is logged

    def __del__(self) -> None:
        if self._values is not None:
            self._call.given_up = True


class LightDuplex(LightReader[T_out], DuplexStream[T_in, T_out], Generic[T_in, T_out]):
    """Both directions, for a blocking caller."""

    __slots__ = ("_pipe",)

    def __init__(self, opening: Opening) -> None:
        self._pipe: Pipe[T_in] = Pipe(opening.call)
        super().__init__(opening, ThreadedPipe(self._pipe) if opening.is_async else self._pipe)

    def write(self, value: T_in) -> bool:
        if self._failure is not None:
            raise self._failure
        self._pipe.put(value)
        return True

    def flush(self) -> None:
        """Nothing is gathered here."""

    def done_writing(self) -> None:
        self._pipe.end()

    def _ended(self, failure: MfError | None) -> None:
        self._pipe.close()
        super()._ended(failure)


class AsyncLightReader(AsyncStreamReader[T_out], Generic[T_out]):
    """The result stream of a call, for who awaits. The call begins with the first value that is asked for."""

    __slots__ = ("_call", "_failure", "_idle", "_opening", "_values")

    def __init__(self, opening: Opening) -> None:
        self._opening: Opening | None = opening
        self._call: LightCall | None = None
        self._values: AsyncIterator[T_out] | None = None
        self._failure: BaseException | None = None
        self._idle = opening.idle

    async def __anext__(self) -> T_out:
        values = self._values
        if values is None:
            values = await self._begin()
        call = self._call
        assert call is not None
        try:
            return await _next_of(call, values, self._idle)
        except StopAsyncIteration:
            if call.deadline <= monotonic():
                self._over(call, call.late())
            self._ended(None)
            raise
        except asyncio.CancelledError:
            call.given_up = True
            self._ended(None)
            await _close(call, values)
            raise
        except Exception as raised:
            await _close(call, values)
            self._over(call, raised)
            raise  # never: that raises

    async def _begin(self) -> AsyncIterator[T_out]:
        if self._failure is not None:
            raise self._failure
        opening, self._opening = self._opening, None
        if opening is None:
            raise StopAsyncIteration
        call = self._call = opening.begin()
        try:
            self._values = await self._open(opening, call)
        except Exception as raised:
            self._over(call, raised)
        assert self._values is not None
        return self._values

    async def _open(self, opening: Opening, call: LightCall) -> AsyncIterator[T_out]:
        return await _opened(call, opening.handler)

    async def __aenter__(self) -> Any:
        if self._opening is not None:
            await self._begin()
        return self

    async def __aexit__(self, *_: object) -> None:
        call, values = self._call, self._values
        self.cancel()
        if call is not None and values is not None:
            await _close(call, values)

    def _over(self, call: LightCall, raised: Exception) -> None:
        failure = call.failure_with(raised)
        self._ended(failure)
        if failure is raised:
            raise failure
        raise failure from raised

    def _ended(self, failure: BaseException | None) -> None:
        self._failure = failure
        self._values = None
        self._opening = None
        if self._call is not None:
            self._call.give_metadata()

    def cancel(self) -> None:
        call, values = self._call, self._values
        self._ended(self._failure)
        if call is None or values is None:
            return
        call.given_up = True
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return  # its loop has ended, and has closed the generator
        task = loop.create_task(_close(call, values))
        _closing.add(task)
        task.add_done_callback(_closing.discard)


_closing: set[asyncio.Task[None]] = set()
"""A loop keeps only weak references to its tasks."""


class AsyncLightDuplex(AsyncLightReader[T_out], AsyncDuplexStream[T_in, T_out], Generic[T_in, T_out]):
    """Both directions, for who awaits. The call begins with the first value that is written or asked for."""

    __slots__ = ("_pipe",)

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening)
        self._pipe: AsyncPipe[T_in] | Pipe[T_in] | None = None

    async def _open(self, opening: Opening, call: LightCall) -> AsyncIterator[T_out]:
        if opening.is_async:
            self._pipe = AsyncPipe(call)
            return await _opened(call, lambda: opening.handler(self._pipe))
        self._pipe = Pipe(call)
        return _OnThread(blocking_values(call, lambda: opening.handler(self._pipe), is_async=False))

    async def write(self, value: T_in) -> bool:
        pipe = await self._writing()
        if isinstance(pipe, AsyncPipe):
            await pipe.put(value)
        elif not pipe.put_now(value):
            await asyncio.to_thread(pipe.put, value)
        return True

    async def flush(self) -> None:
        """Nothing is gathered here."""

    async def done_writing(self) -> None:
        (await self._writing()).end()

    async def _writing(self) -> "AsyncPipe[T_in] | Pipe[T_in]":
        if self._opening is not None:
            await self._begin()
        if self._failure is not None:
            raise self._failure
        assert self._pipe is not None
        return self._pipe

    def _ended(self, failure: BaseException | None) -> None:
        if self._pipe is not None:
            self._pipe.close()
        super()._ended(failure)


# What a target calls


def read(opening: Opening) -> StreamReader[Any]:
    opening.begin()
    return LightReader(opening)


def read_async(opening: Opening) -> AsyncStreamReader[Any]:
    return AsyncLightReader(opening)


def duplex(opening: Opening) -> DuplexStream[Any, Any]:
    opening.begin()
    return LightDuplex(opening)


def duplex_async(opening: Opening) -> AsyncDuplexStream[Any, Any]:
    return AsyncLightDuplex(opening)


def write(opening: Opening, values: Iterable[Any]) -> Any:
    call = opening.begin()
    feed: Feed[Any] | AsyncFeed[Any]
    result: Any = None
    raised: BaseException | None = None
    try:
        if opening.is_async:
            feed = AsyncFeed(opening, values)
            raised, result = run_to_end(call, opening.handler(feed))
        else:
            feed = Feed(opening, values)
            raised, result = _run(call, opening, feed)
    finally:
        call.give_metadata()
    return _result(call, feed, raised, result)


async def write_async(opening: Opening, values: AsyncIterable[Any] | Iterable[Any]) -> Any:
    call = opening.begin()
    feed: Feed[Any] | AsyncFeed[Any]
    result: Any = None
    raised: BaseException | None = None
    try:
        if opening.is_async:
            feed = AsyncFeed(opening, values)
            raised, result = await to_end(call, opening.handler(feed))
        elif isinstance(values, AsyncIterable):
            feed = AsyncFeed(opening, values)
            on_thread = asyncio.to_thread(_run, call, opening, _ThreadFeed(call, feed))
            raised, ended = await to_end(call, on_thread)
            if ended is not None:
                raised, result = ended
        else:
            feed = Feed(opening, values)
            raised, result = _run(call, opening, feed)
    finally:
        call.give_metadata()
    return _result(call, feed, raised, result)


def _run(call: LightCall, opening: Opening, feed: Iterator[Any]) -> tuple[BaseException | None, Any]:
    """Runs a plain handler; what it raised, or its result."""
    token = enter(call)
    try:
        return None, opening.handler(feed)
    except Exception as raised:
        return raised, None
    finally:
        leave(token)


def _result(
    call: LightCall, feed: "Feed[Any] | AsyncFeed[Any]", raised: BaseException | None, result: Any
) -> Any:
    if feed.raised is not None:
        raise feed.raised
    if raised is not None:
        failure = call.failure_with(raised)
        raise failure from None if failure is raised else raised
    return result
