"""R5. Calls to the servants of a Light, for callers that block. See light.py for what holds, async_target.py
for those of asyncio.
"""

from abc import ABC, abstractmethod
from collections.abc import Coroutine, Generator, Iterable, Sequence
from copy import copy
from time import monotonic
from typing import Any, Self, TypeVar, cast

from mf.core.cached import Caches
from mf.core.current import enter, leave
from mf.core.error import Code, DeclaredError, Error
from mf.core.immediate import immediate
from mf.core.options import DEFAULT_DEADLINE, BatchOptions, CallOptions
from mf.core.outcome import Outcome, each_async, each_in_order, failure_in
from mf.core.service import Method, ServiceInfo, is_async
from mf.core.stream import DuplexStream, StreamReader
from mf.core.target import BatchCall, Scattered, ScatterTarget, Target
from mf.light.call import LightCall, run_to_end
from mf.light.checks import check_arguments
from mf.light.offers import LightOffers
from mf.light.opening import Opening

T = TypeVar("T")
R = TypeVar("R")


class LightPlace(ABC):
    """One service at one agent, or at the first that is offered. `keys`: see LightCall."""

    __slots__ = ("_agent", "_caches", "_keys", "_offers", "_service")

    def __init__(
        self,
        offers: LightOffers,
        service: ServiceInfo,
        agent: str | None,
        keys: tuple[str, ...],
        caches: Caches,
    ) -> None:
        self._offers = offers
        self._service = service
        self._agent = agent
        self._keys = keys
        self._caches = caches

    def for_agent(self, agent: str | None) -> Self:
        return type(self)(self._offers, self._service, agent, self._keys, self._caches)

    def each_of(self, agents: list[str] | None) -> list[tuple[str, Self]]:
        """The targets of these agents, or of all that are offered."""
        known = self._offers.agents(self._service) if agents is None else agents
        return [(agent, self.for_agent(agent)) for agent in known]

    @property
    def caches(self) -> Caches:
        return self._caches

    @property
    def agent_key(self) -> str:
        return "*" if self._agent is None else f"={self._agent}"

    @property
    def forwarded(self) -> tuple[str, ...]:
        return self._keys

    def _begin_many(
        self, method: Method[R, Any], requests: Sequence[R], options: CallOptions | None
    ) -> tuple[LightCall, BaseException | None, Any]:
        """The call, and what its batch function raised, or gave: outcomes, or a coroutine."""
        agent, servant = self._offers.find(self._service, self._agent)
        call = LightCall(self._service, agent, method, options, self._keys)
        method.encode_requests(requests)  # raises what a connection's client would
        one = getattr(servant, method.attribute)
        many = getattr(servant, method.batch_attribute)
        token = enter(call)
        try:
            if is_async(one) and not is_async(many):
                in_turn = each_in_order if method.ordered else each_async
                return call, None, in_turn(one, map(_fields, requests))
            return call, None, many(requests)
        except Exception as raised:
            return call, raised, None
        finally:
            leave(token)

    @abstractmethod
    async def _to_end(
        self, call: LightCall, coroutine: Coroutine[Any, Any, T]
    ) -> tuple[BaseException | None, T | None]:
        """See to_end. That of callers that block does not suspend (mf.core.immediate)."""

    async def _batch(
        self, method: Method[R, T], requests: Sequence[R], options: BatchOptions | None
    ) -> list[Outcome[T]]:
        outcomes: list[Outcome[T]] = []
        for message, left in _messages(method, requests, options):
            outcomes += await self._message(method, message, left)
        return outcomes

    async def _message(
        self, method: Method[R, T], message: Sequence[R], left: CallOptions
    ) -> list[Outcome[T]]:
        try:
            return await self._bulk(method, message, left)
        except Error as refused:
            if (parts := _halves(message, refused)) is None:
                return [Outcome(error=refused) for _ in message]
        return [outcome for half in parts for outcome in await self._message(method, half, left)]

    async def _bulk(
        self, method: Method[R, T], requests: Sequence[R], options: CallOptions | None
    ) -> list[Outcome[T]]:
        if not requests:
            return []
        call, raised, given = self._begin_many(method, requests, options)
        try:
            if isinstance(given, Coroutine):
                raised, given = await self._to_end(call, given)
        finally:
            call.give_metadata()
        return _outcomes(call, method, requests, raised, given)

    def _opening(
        self, method: Method[Any, Any], options: CallOptions | None, arguments: tuple[Any, ...]
    ) -> Opening:
        return Opening(self._offers, (self._service, self._agent, self._keys), method, options, arguments)


class LightTarget(LightPlace, Target):
    """For callers that block."""

    __slots__ = ()

    def several(self, agents: list[str] | None) -> ScatterTarget:
        return LightScatter(self, agents)

    def call(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> T:
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
                raised, result = run_to_end(call, result)
                if raised is not None:
                    call.ended(raised)
            return cast(T, result)
        finally:
            if options is not None:
                call.give_metadata()

    # Batches

    async def _to_end(
        self, call: LightCall, coroutine: Coroutine[Any, Any, T]
    ) -> tuple[BaseException | None, T | None]:
        return run_to_end(call, coroutine)

    def batch(
        self, method: Method[R, T], requests: Sequence[R], options: BatchOptions | None = None
    ) -> BatchCall[T]:
        return FinishedBatch(immediate(self._batch(method, requests, options)))

    def bulk(
        self, method: Method[R, T], requests: Sequence[R], options: CallOptions | None = None
    ) -> list[Outcome[T]]:
        return immediate(self._bulk(method, requests, options))

    # Streams. Their module brings asyncio, which calls do not need.

    def read_stream(
        self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any
    ) -> StreamReader[Any]:
        from mf.light.streams import LightReader

        return LightReader(self._opening(method, options, arguments))

    def write_stream(
        self, method: Method[Any, T], options: CallOptions | None, values: Iterable[Any], *arguments: Any
    ) -> T:
        from mf.light.feed import write

        return cast(T, immediate(write(self._opening(method, options, arguments), values, awaits=False)))

    def duplex_stream(
        self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any
    ) -> DuplexStream[Any, Any]:
        from mf.light.streams import LightDuplex

        return LightDuplex(self._opening(method, options, arguments))


def _end(method: Method[Any, Any], options: CallOptions | BatchOptions | None) -> float:
    """Of several calls that have one deadline."""
    given = options.deadline if options else None
    return monotonic() + (given if given is not None else method.deadline or DEFAULT_DEADLINE)


def _messages(
    method: Method[R, Any], requests: Sequence[R], options: BatchOptions | None
) -> Generator[tuple[Sequence[R], CallOptions], None, None]:
    """The messages of a batch, each with what is left of its deadline."""
    size = (options.size if options else None) or method.batch_max
    end = _end(method, options)
    for start in range(0, len(requests), size):
        left = CallOptions(
            deadline=end - monotonic(),
            metadata=options.metadata if options else None,
            reply_metadata=options.reply_metadata if options else None,
        )
        yield requests[start : start + size], left


def _halves(message: Sequence[R], refused: Error) -> tuple[Sequence[R], Sequence[R]] | None:
    """What a message goes in that was refused because of one of its requests; None: of all of them."""
    if refused.code is not Code.INVALID_ARGUMENT or len(message) == 1:
        return None
    middle = len(message) // 2
    return message[:middle], message[middle:]


def _outcomes(
    call: LightCall,
    method: Method[Any, T],
    requests: Sequence[Any],
    raised: BaseException | None,
    given: list[Outcome[T]] | None,
) -> list[Outcome[T]]:
    if raised is not None:
        failure = call.failure(raised)
        return [Outcome(error=failure) for _ in requests]
    if method.oneway or given is None:
        return [Outcome() for _ in requests]
    return [_declared(method, outcome) for outcome in given]


def _declared(method: Method[Any, T], outcome: Outcome[T]) -> Outcome[T]:
    error = outcome.error
    return outcome if error is None else Outcome(error=failure_in(error, method.error_types))


def _fields(request: Any) -> tuple[Any, ...]:
    """The parameters in a request object: its fields in order."""
    return tuple(getattr(request, name) for name in type(request).__match_args__)


class FinishedBatch(BatchCall[T]):
    """A batch that was over when it was made."""

    __slots__ = ("_outcomes",)

    def __init__(self, outcomes: list[Outcome[T]]) -> None:
        self._outcomes = outcomes

    def ready(self) -> bool:
        return True

    def wait(self, timeout: float | None = None) -> bool:  # noqa: ARG002
        return True

    def results(self) -> list[Outcome[T]]:
        return self._outcomes

    def partial(self) -> list[Outcome[T] | None]:
        return list(self._outcomes)


class LightScatter(ScatterTarget):
    """Several agents of this process, one after the other."""

    __slots__ = ("_agents", "_any")

    def __init__(self, any_: LightTarget, agents: list[str] | None) -> None:
        self._any = any_
        self._agents = agents

    def call(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> Scattered[str, T]:
        scattered: Scattered[str, T] = Scattered()
        options = copy(options) if options is not None else CallOptions()
        end = _end(method, options)
        for agent, target in self._any.each_of(self._agents):
            options.deadline = end - monotonic()
            try:
                scattered[agent] = Outcome(target.call(method, options, *arguments))
            except (Error, DeclaredError) as failure:
                scattered[agent] = Outcome(error=failure)
        return scattered
