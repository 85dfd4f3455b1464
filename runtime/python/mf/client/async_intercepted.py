"""R5. Calls that are awaited, with the interceptors of their client around them. See intercepted.py. A stream
begins when it is opened, as without interceptors.
"""

from asyncio import Lock
from collections.abc import AsyncIterable, Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any, Self, TypeVar, cast

from mf.client.intercepted import ClientWay, InterceptedPlace
from mf.core.error import cancelled_by_caller
from mf.core.interceptor import CallKind
from mf.core.options import BatchOptions, CallOptions
from mf.core.outcome import Outcome
from mf.core.replicated import Replicated, ReplicatedOptions
from mf.core.service import Method
from mf.core.stream import AsyncDuplexStream, AsyncStreamReader
from mf.core.target import AsyncScatterTarget, AsyncTarget, Scattered

T = TypeVar("T")
R = TypeVar("R")


class AsyncInterceptedTarget(InterceptedPlace[AsyncTarget], AsyncTarget):
    """See above. For one loop."""

    __slots__ = ()

    def several(self, agents: list[str] | None) -> AsyncScatterTarget:
        return _InterceptedScatter(self, self.inner.several(agents))

    async def call(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> T:
        if self.is_own():
            return await self.inner.call(method, options, *arguments)
        way = self.way(method, CallKind.CALL, options or CallOptions(), arguments)
        return cast(T, await _run(way, lambda: self.inner.call(method, way.options(), *arguments)))

    async def batch(
        self, method: Method[R, T], requests: Sequence[R], options: BatchOptions | None = None
    ) -> list[Outcome[T]]:
        if self.is_own():
            return await self.inner.batch(method, requests, options)
        way = self.way(method, CallKind.BATCH, options or BatchOptions(), requests)
        return await _items(way, lambda: self.inner.batch(method, requests, way.options()))

    async def bulk(
        self, method: Method[R, T], requests: Sequence[R], options: CallOptions | None = None
    ) -> list[Outcome[T]]:
        if self.is_own():
            return await self.inner.bulk(method, requests, options)
        way = self.way(method, CallKind.BULK, options or CallOptions(), requests)
        return await _items(way, lambda: self.inner.bulk(method, requests, way.options()))

    async def replicate(
        self, method: Method[Any, T], options: ReplicatedOptions | None, *arguments: Any
    ) -> Replicated[T]:
        if self.is_own():
            return await self.inner.replicate(method, options, *arguments)
        way = self.way(method, CallKind.REPLICATED, options or ReplicatedOptions(), arguments)
        replicated = await _run(way, lambda: self.inner.replicate(method, way.options(), *arguments))
        return cast("Replicated[T]", replicated)

    # Streams

    def read_stream(
        self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any
    ) -> AsyncStreamReader[Any]:
        if self.is_own():
            return self.inner.read_stream(method, options, *arguments)
        return _Reader(self, method, options, arguments, self.inner.read_stream)

    async def write_stream(
        self,
        method: Method[Any, T],
        options: CallOptions | None,
        values: AsyncIterable[Any] | Iterable[Any],
        *arguments: Any,
    ) -> T:
        if self.is_own():
            return await self.inner.write_stream(method, options, values, *arguments)
        way = self.way(method, CallKind.STREAM, options or CallOptions(), arguments)
        return cast(
            T,
            await _run(way, lambda: self.inner.write_stream(method, way.options(), values, *arguments)),
        )

    def duplex_stream(
        self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any
    ) -> AsyncDuplexStream[Any, Any]:
        if self.is_own():
            return self.inner.duplex_stream(method, options, *arguments)
        return _Duplex(self, method, options, arguments, self.inner.duplex_stream)


async def _run(way: ClientWay[Any], core: Callable[[], Awaitable[Any]]) -> Any:
    result = await _open(way, core)
    way.ends(None)
    return result


async def _items(way: ClientWay[Any], core: Callable[[], Awaitable[Any]]) -> list[Outcome[Any]]:
    outcomes: list[Outcome[Any]] = await _open(way, core)
    way.ends(None, outcomes)
    return outcomes


async def _open(way: ClientWay[Any], core: Callable[[], Awaitable[Any]]) -> Any:
    try:
        return await way.run_async(core)
    except BaseException as raised:
        way.ends(raised)
        raise


class _InterceptedScatter(AsyncScatterTarget):
    __slots__ = ("_inner", "_target")

    def __init__(self, target: AsyncInterceptedTarget, inner: AsyncScatterTarget) -> None:
        self._target = target
        self._inner = inner

    async def call(
        self, method: Method[Any, T], options: CallOptions | None, *arguments: Any
    ) -> Scattered[str, T]:
        if self._target.is_own():
            return await self._inner.call(method, options, *arguments)
        way = self._target.way(method, CallKind.SCATTERED, options or CallOptions(), arguments)
        scattered: Scattered[str, T] = await _open(
            way, lambda: self._inner.call(method, way.options(), *arguments)
        )
        way.ends(None, list(scattered.values()))
        return scattered


class _Reader(AsyncStreamReader[T]):
    """A stream that begins when it is opened, and ends when its reader learns that it has, or gives it up."""

    __slots__ = (
        "_arguments",
        "_call",
        "_failure",
        "_inner",
        "_method",
        "_opening",
        "_options",
        "_target",
        "_way",
    )

    def __init__(
        self,
        target: AsyncInterceptedTarget,
        method: Method[Any, Any],
        options: CallOptions | None,
        arguments: tuple[Any, ...],
        call: Callable[..., Any],
    ) -> None:
        self._target = target
        self._method = method
        self._options = options
        self._arguments = arguments
        self._call = call
        self._opening = Lock()
        self._inner: Any = None
        self._way: ClientWay[CallOptions] | None = None
        self._failure: BaseException | None = None
        """What opening or writing has failed with."""

    async def _opened(self) -> Any:
        if self._inner is not None:
            return self._inner
        async with self._opening:
            if self._inner is None:
                if self._failure is not None:
                    raise self._failure
                self._inner = await self._open()
        return self._inner

    async def _open(self) -> Any:
        try:
            options = self._options or CallOptions()
            way = self._target.way(self._method, CallKind.STREAM, options, self._arguments)
            self._way = way
            inner = await _open(way, self._core)
        except BaseException as raised:
            self._failure = raised
            raise
        way.result = None
        return inner

    async def _core(self) -> Any:
        assert self._way is not None
        inner = self._call(self._method, self._way.options(), *self._arguments)
        return await inner.__aenter__()

    def _ends(self, error: BaseException | None) -> None:
        if self._way is not None:
            self._way.ends(error)

    async def __aenter__(self) -> Self:
        await self._opened()
        return self

    async def __anext__(self) -> T:
        inner = await self._opened()
        try:
            value: T = await anext(inner)
        except StopAsyncIteration:
            self._ends(None)
            raise
        except BaseException as raised:
            self._ends(raised)
            raise
        return value

    def cancel(self) -> None:
        if self._inner is not None:
            self._inner.cancel()
        elif self._failure is None:
            self._failure = cancelled_by_caller()
        self._ends(self._failure or cancelled_by_caller())

    def __del__(self) -> None:
        self._ends(self._failure or cancelled_by_caller())


class _Duplex(_Reader[T], AsyncDuplexStream[Any, T]):
    __slots__ = ()

    async def write(self, value: Any) -> bool:
        inner = await self._opened()
        return cast(bool, await self._try(inner.write(value)))

    async def flush(self) -> None:
        inner = await self._opened()
        await self._try(inner.flush())

    async def done_writing(self) -> None:
        inner = await self._opened()
        await self._try(inner.done_writing())

    async def _try(self, coroutine: Coroutine[Any, Any, T]) -> T:
        try:
            return await coroutine
        except BaseException as raised:
            self._failure = raised
            raise
