"""R5. Calls to the servants of a Light, for callers that block. See light.py for what holds, async_target.py
for those of asyncio.
"""

from collections.abc import Coroutine, Generator, Iterable, Sequence
from copy import copy
from time import monotonic
from typing import Any, TypeVar, cast

from mf.core.agent import Agent, called_agent
from mf.core.cached import Caches
from mf.core.current import enter, leave
from mf.core.error import Code, DeclaredError, Error
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


class LightPlace:
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

    def agents(self) -> list[str]:
        return self._offers.agents(self._service)

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

    def _opening(
        self, method: Method[Any, Any], options: CallOptions | None, arguments: tuple[Any, ...]
    ) -> Opening:
        return Opening(self._offers, (self._service, self._agent, self._keys), method, options, arguments)


class LightTarget(LightPlace, Target):
    """For callers that block."""

    __slots__ = ()

    def at(self, agent: Agent) -> Target:
        return self.for_agent(called_agent(agent))

    def any(self) -> Target:
        return self.for_agent(None)

    def on(self, agents: Iterable[Agent]) -> ScatterTarget:
        return LightScatter(self, list(dict.fromkeys(map(called_agent, agents))))

    def everywhere(self) -> ScatterTarget:
        return LightScatter(self, None)

    def for_agent(self, agent: str | None) -> "LightTarget":
        return LightTarget(self._offers, self._service, agent, self._keys, self._caches)

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

    def batch(
        self, method: Method[R, T], requests: Sequence[R], options: BatchOptions | None = None
    ) -> BatchCall[T]:
        outcomes: list[Outcome[T]] = []
        for message, left in messages(method, requests, options):
            outcomes += self._message(method, message, left)
        return FinishedBatch(outcomes)

    def _message(self, method: Method[R, T], message: Sequence[R], left: CallOptions) -> list[Outcome[T]]:
        try:
            return self.bulk(method, message, left)
        except Error as refused:
            if (parts := halves(message, refused)) is None:
                return [Outcome(error=refused) for _ in message]
        return [outcome for half in parts for outcome in self._message(method, half, left)]

    def bulk(
        self, method: Method[R, T], requests: Sequence[R], options: CallOptions | None = None
    ) -> list[Outcome[T]]:
        if not requests:
            return []
        call, raised, given = self._begin_many(method, requests, options)
        try:
            if isinstance(given, Coroutine):
                raised, given = run_to_end(call, given)
        finally:
            call.give_metadata()
        return outcomes(call, method, requests, raised, given)

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

        return cast(T, write(self._opening(method, options, arguments), values))

    def duplex_stream(
        self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any
    ) -> DuplexStream[Any, Any]:
        from mf.light.streams import LightDuplex

        return LightDuplex(self._opening(method, options, arguments))


def _end(method: Method[Any, Any], options: CallOptions | BatchOptions | None) -> float:
    """Of several calls that have one deadline."""
    given = options.deadline if options else None
    return monotonic() + (given if given is not None else method.deadline or DEFAULT_DEADLINE)


def messages(
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


def halves(message: Sequence[R], refused: Error) -> tuple[Sequence[R], Sequence[R]] | None:
    """What a message goes in that was refused because of one of its requests; None: of all of them."""
    if refused.code is not Code.INVALID_ARGUMENT or len(message) == 1:
        return None
    middle = len(message) // 2
    return message[:middle], message[middle:]


def outcomes(
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
    return [_told(method, outcome) for outcome in given]


def _told(method: Method[Any, T], outcome: Outcome[T]) -> Outcome[T]:
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

    def _targets(self) -> list[tuple[str, LightTarget]]:
        agents = self._any.agents() if self._agents is None else self._agents
        return [(agent, self._any.for_agent(agent)) for agent in agents]

    def call(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> Scattered[str, T]:
        scattered: Scattered[str, T] = Scattered()
        options = copy(options) if options is not None else CallOptions()
        end = _end(method, options)
        for agent, target in self._targets():
            options.deadline = end - monotonic()
            try:
                scattered[agent] = Outcome(target.call(method, options, *arguments))
            except (Error, DeclaredError) as failure:
                scattered[agent] = Outcome(error=failure)
        return scattered
