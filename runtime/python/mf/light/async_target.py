"""R5. Calls to the servants of a Light, awaited. See light.py for what holds."""

from asyncio import gather
from collections.abc import AsyncIterable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar, cast

from mf.core.agent import Agent, called_agent
from mf.core.current import enter, leave
from mf.core.error import DeclaredError, Error
from mf.core.options import BatchOptions, CallOptions
from mf.core.outcome import Outcome
from mf.core.service import Method
from mf.core.stream import AsyncDuplexStream, AsyncStreamReader
from mf.core.target import AsyncScatterTarget, AsyncTarget, Scattered
from mf.light.call import LightCall, to_end
from mf.light.checks import check_arguments
from mf.light.feed import write_async
from mf.light.streams import AsyncLightDuplex, AsyncLightReader
from mf.light.target import LightPlace, halves, messages, outcomes

T = TypeVar("T")
R = TypeVar("R")


class AsyncLightTarget(LightPlace, AsyncTarget):
    """For tasks of asyncio."""

    __slots__ = ()

    def at(self, agent: Agent) -> AsyncTarget:
        return self.for_agent(called_agent(agent))

    def any(self) -> AsyncTarget:
        return self.for_agent(None)

    def on(self, agents: Iterable[Agent]) -> AsyncScatterTarget:
        return AsyncLightScatter(self, list(dict.fromkeys(map(called_agent, agents))))

    def everywhere(self) -> AsyncScatterTarget:
        return AsyncLightScatter(self, None)

    def for_agent(self, agent: str | None) -> "AsyncLightTarget":
        return AsyncLightTarget(self._offers, self._service, agent, self._keys, self._caches)

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

    async def batch(
        self, method: Method[R, T], requests: Sequence[R], options: BatchOptions | None = None
    ) -> list[Outcome[T]]:
        outcomes: list[Outcome[T]] = []
        for message, left in messages(method, requests, options):
            outcomes += await self._message_async(method, message, left)
        return outcomes

    async def _message_async(
        self, method: Method[R, T], message: Sequence[R], left: CallOptions
    ) -> list[Outcome[T]]:
        try:
            return await self.bulk(method, message, left)
        except Error as refused:
            if (parts := halves(message, refused)) is None:
                return [Outcome(error=refused) for _ in message]
        return [outcome for half in parts for outcome in await self._message_async(method, half, left)]

    async def bulk(
        self, method: Method[R, T], requests: Sequence[R], options: CallOptions | None = None
    ) -> list[Outcome[T]]:
        if not requests:
            return []
        call, raised, given = self._begin_many(method, requests, options)
        try:
            if isinstance(given, Coroutine):
                raised, given = await to_end(call, given)
        finally:
            call.give_metadata()
        return outcomes(call, method, requests, raised, given)

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
        return cast(T, await write_async(self._opening(method, options, arguments), values))

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
        targets = [
            (agent, self._any.for_agent(agent))
            for agent in (self._any.agents() if self._agents is None else self._agents)
        ]
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
