"""R5. Calls to the servants of a Light, awaited. See light.py for what holds."""

from asyncio import gather
from collections.abc import AsyncIterable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar, cast

from mf.core.current import enter, leave
from mf.core.error import DeclaredError, Error
from mf.core.options import BatchOptions, CallOptions
from mf.core.outcome import Outcome
from mf.core.service import Method
from mf.core.stream import AsyncDuplexStream, AsyncStreamReader
from mf.core.target import AsyncScatterTarget, AsyncTarget, Scattered
from mf.light.call import LightCall, to_end
from mf.light.checks import check_arguments
from mf.light.feed import write
from mf.light.streams import AsyncLightDuplex, AsyncLightReader
from mf.light.target import LightPlace

T = TypeVar("T")
R = TypeVar("R")


class AsyncLightTarget(LightPlace, AsyncTarget):
    """For tasks of asyncio."""

    __slots__ = ()

    def several(self, agents: list[str] | None) -> AsyncScatterTarget:
        return AsyncLightScatter(self, agents)

    async def call(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> T:
        agent, servant = self._offers.find(self._service, self._agent)
        call = LightCall(self._service, agent, method, options, self._keys)
        check_arguments(method, arguments)
        try:
            token = enter(call)
            try:
                result = getattr(servant, method.attribute)(*arguments)
            except Exception as failed:
                return cast(T, call.ended(failed))
            finally:
                leave(token)
            if isinstance(result, Coroutine):
                raised, result = await to_end(call, result)
                if raised is not None:
                    call.ended(raised)
            return cast(T, result)
        finally:
            if options is not None:
                call.give_metadata()

    async def _to_end(
        self, call: LightCall, coroutine: Coroutine[Any, Any, T]
    ) -> tuple[BaseException | None, T | None]:
        return await to_end(call, coroutine)

    async def batch(
        self, method: Method[R, T], requests: Sequence[R], options: BatchOptions | None = None
    ) -> list[Outcome[T]]:
        return await self._batch(method, requests, options)

    async def bulk(
        self, method: Method[R, T], requests: Sequence[R], options: CallOptions | None = None
    ) -> list[Outcome[T]]:
        return await self._bulk(method, requests, options)

    # Streams

    def read_stream(
        self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any
    ) -> AsyncStreamReader[Any]:
        return AsyncLightReader(self._opening(method, options, arguments))

    async def write_stream(
        self,
        method: Method[Any, T],
        options: CallOptions | None,
        values: AsyncIterable[Any] | Iterable[Any],
        *arguments: Any,
    ) -> T:
        return cast(T, await write(self._opening(method, options, arguments), values, awaits=True))

    def duplex_stream(
        self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any
    ) -> AsyncDuplexStream[Any, Any]:
        return AsyncLightDuplex(self._opening(method, options, arguments))


class AsyncLightScatter(AsyncScatterTarget):
    """Several agents of this process: `async def` handlers run concurrently."""

    __slots__ = ("_agents", "_any")

    def __init__(self, any_: AsyncLightTarget, agents: list[str] | None) -> None:
        self._any = any_
        self._agents = agents

    async def call(
        self, method: Method[Any, T], options: CallOptions | None, *arguments: Any
    ) -> Scattered[str, T]:
        targets = self._any.each_of(self._agents)
        outcomes = await gather(*[_outcome_of(target, method, options, arguments) for _, target in targets])
        return Scattered(zip((agent for agent, _ in targets), outcomes, strict=True))


async def _outcome_of(
    target: AsyncLightTarget, method: Method[Any, T], options: CallOptions | None, arguments: tuple[Any, ...]
) -> Outcome[T]:
    try:
        value: T = await target.call(method, options, *arguments)
        return Outcome(value)
    except (Error, DeclaredError) as failure:
        return Outcome(error=failure)
