"""R5. Light: the same stubs, called directly. A plain handler runs on the caller's thread, an `async def` as
a task of the caller's loop, and objects are passed by reference: what a servant changes in its arguments, or
a caller in a result, the other side sees.

Constraints of parameters are checked as a client of a connection would. What differs from a connection, and
is meant to: those of results and errors are not, a plain handler is not left behind at the deadline, because
it has its caller's thread, and declared errors arrive as the very object that was raised.
"""

from collections.abc import Coroutine, Generator, Iterable, Sequence
from typing import Any, TypeVar, cast

from mf.core.agent import Agent, called_agent
from mf.core.agent_names import shown_agent, text_of_agent
from mf.core.current import enter, leave
from mf.core.error import Code, DeclaredError, Error, not_executed, shortened, some_of
from mf.core.offered import offered_agent
from mf.core.options import BatchOptions, CallOptions
from mf.core.outcome import Outcome, each_async, failure_in
from mf.core.service import Method, Servant, ServiceInfo, generated_base, is_async
from mf.core.target import BatchCall, Scattered, ScatterTarget, Target, TargetSource
from mf.light.call import LightCall, run_to_end, to_end

T = TypeVar("T")
R = TypeVar("R")


class Light(TargetSource):
    """Offers servants to clients of the same process: `mf.Client(light)`. Any number of threads may call."""

    __slots__ = ("_offers",)

    def __init__(self) -> None:
        self._offers: dict[str, dict[str, Servant]] = {}

    def offer(self, servant: Servant, agent: Agent | None = None) -> None:
        """Offers a servant, for one agent if its service is `per` agent. A later offer for the same
        replaces it.

        Raises ValueError if the offer does not fit the service, TypeError for what is no agent.
        """
        service = generated_base(servant).mf_service
        text = offered_agent(service, agent)
        self._offers.setdefault(service.name, {})[text] = servant

    def withdraw(self, service: ServiceInfo, agent: Agent = "") -> None:
        """Takes an offer back; calls under way go on."""
        self._offers.get(service.name, {}).pop(text_of_agent(service, agent), None)

    def target(self, service: ServiceInfo) -> Target:
        return LightTarget(self, service, None)

    def agents(self, service: ServiceInfo) -> list[str]:
        """The agents for which a service is offered."""
        return list(self._offers.get(service.name, ()))

    def find(self, service: ServiceInfo, agent: str | None) -> tuple[str, Servant]:
        """The agent, and its servant. Raises Error(UNKNOWN_SERVICE) or Error(UNKNOWN_AGENT), NOT_EXECUTED,
        as a server does.
        """
        agents = self._offers.get(service.name)
        if not agents:
            offered = some_of([name for name, offers in self._offers.items() if offers]) or "nothing"
            text = f"nobody in this process offers {service.name}; offered are: {offered}"
            raise not_executed(Code.UNKNOWN_SERVICE, text)
        if not agent:
            return next(iter(agents.items()))
        servant = agents.get(agent)
        if servant is None:
            asked = shortened(shown_agent(service, agent))
            text = f'nobody in this process offers {service.name} for agent "{asked}"'
            known = [shown_agent(service, each) for each in agents]
            raise not_executed(Code.UNKNOWN_AGENT, f"{text}; known agents: " + some_of(known, mark='"'))
        return agent, servant


class LightTarget(Target):
    """One service at one agent, or at the first that is offered."""

    __slots__ = ("_agent", "_light", "_service")

    def __init__(self, light: Light, service: ServiceInfo, agent: str | None) -> None:
        self._light = light
        self._service = service
        self._agent = agent

    def at(self, agent: Agent) -> Target:
        return LightTarget(self._light, self._service, called_agent(agent))

    def any(self) -> Target:
        return LightTarget(self._light, self._service, None)

    def on(self, agents: Iterable[Agent]) -> ScatterTarget:
        return LightScatter(self._light, self._service, list(dict.fromkeys(map(called_agent, agents))))

    def everywhere(self) -> ScatterTarget:
        return LightScatter(self._light, self._service, None)

    @property
    def servant(self) -> Servant | None:
        try:
            return self._light.find(self._service, self._agent)[1]
        except Error:
            return None

    def call(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> T:
        agent, servant = self._light.find(self._service, self._agent)
        call = LightCall(self._service, agent, method, options)
        if method.constrained:
            method.encode_request(*arguments)  # raises what a connection's client would
        token = enter(call)
        try:
            result = getattr(servant, method.attribute)(*arguments)
        except Exception as failed:
            call.ended(failed)
            result = None
        finally:
            leave(token)
        if isinstance(result, Coroutine):
            raised, result = run_to_end(call, result)
            if raised is not None:
                call.ended(raised)
        return cast(T, result)

    async def call_async(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> T:
        agent, servant = self._light.find(self._service, self._agent)
        call = LightCall(self._service, agent, method, options)
        if method.constrained:
            method.encode_request(*arguments)
        token = enter(call)
        try:
            result = getattr(servant, method.attribute)(*arguments)
        except Exception as failed:
            call.ended(failed)
            result = None
        finally:
            leave(token)
        if isinstance(result, Coroutine):
            raised, result = await to_end(call, result)
            if raised is not None:
                call.ended(raised)
        return cast(T, result)

    def batch(
        self, method: Method[R, T], requests: Sequence[R], options: BatchOptions | None = None
    ) -> BatchCall[T]:
        size = (options.size if options else None) or method.batch_max
        outcomes: list[Outcome[T]] = []
        for start in range(0, len(requests), size):
            outcomes += self.bulk(method, requests[start : start + size], options)
        return FinishedBatch(outcomes)

    async def batch_async(
        self, method: Method[R, T], requests: Sequence[R], options: BatchOptions | None = None
    ) -> list[Outcome[T]]:
        size = (options.size if options else None) or method.batch_max
        outcomes: list[Outcome[T]] = []
        for start in range(0, len(requests), size):
            outcomes += await self.bulk_async(method, requests[start : start + size], options)
        return outcomes

    def bulk(
        self, method: Method[R, T], requests: Sequence[R], options: CallOptions | None = None
    ) -> list[Outcome[T]]:
        if not requests:
            return []
        call, raised, given = self._begin_many(method, requests, options)
        if isinstance(given, Coroutine):
            raised, given = run_to_end(call, given)
        return _outcomes(call, method, requests, raised, given)

    async def bulk_async(
        self, method: Method[R, T], requests: Sequence[R], options: CallOptions | None = None
    ) -> list[Outcome[T]]:
        if not requests:
            return []
        call, raised, given = self._begin_many(method, requests, options)
        if isinstance(given, Coroutine):
            raised, given = await to_end(call, given)
        return _outcomes(call, method, requests, raised, given)

    def _begin_many(
        self, method: Method[R, Any], requests: Sequence[R], options: CallOptions | None
    ) -> tuple[LightCall, BaseException | None, Any]:
        """The call, and what its batch function raised, or gave: outcomes, or a coroutine."""
        agent, servant = self._light.find(self._service, self._agent)
        call = LightCall(self._service, agent, method, options)
        if method.constrained:
            method.encode_requests(requests)
        one = getattr(servant, method.attribute)
        many = getattr(servant, method.batch_attribute)
        token = enter(call)
        try:
            if is_async(one) and not is_async(many):
                return call, None, each_async(one, map(_fields, requests))
            return call, None, many(requests)
        except Exception as raised:
            return call, raised, None
        finally:
            leave(token)


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

    def __await__(self) -> Generator[Any, None, list[Outcome[T]]]:
        yield from ()  # it never waits
        return self._outcomes

    def partial(self) -> list[Outcome[T] | None]:
        return list(self._outcomes)


class LightScatter(ScatterTarget):
    """Several agents of this process: one after the other, but `async def` handlers concurrently."""

    __slots__ = ("_agents", "_light", "_service")

    def __init__(self, light: Light, service: ServiceInfo, agents: list[str] | None) -> None:
        self._light = light
        self._service = service
        self._agents = agents

    def _targets(self) -> list[tuple[str, LightTarget]]:
        agents = self._light.agents(self._service) if self._agents is None else self._agents
        return [(agent, LightTarget(self._light, self._service, agent)) for agent in agents]

    def call(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> Scattered[str, T]:
        scattered: Scattered[str, T] = Scattered()
        for agent, target in self._targets():
            try:
                scattered[agent] = Outcome(target.call(method, options, *arguments))
            except (Error, DeclaredError) as failure:
                scattered[agent] = Outcome(error=failure)
        return scattered

    async def call_async(
        self, method: Method[Any, T], options: CallOptions | None, *arguments: Any
    ) -> Scattered[str, T]:
        from asyncio import gather

        targets = self._targets()
        outcomes = await gather(*[_outcome_of(target, method, options, arguments) for _, target in targets])
        return Scattered(zip((agent for agent, _ in targets), outcomes, strict=True))


async def _outcome_of(
    target: LightTarget, method: Method[Any, T], options: CallOptions | None, arguments: tuple[Any, ...]
) -> Outcome[T]:
    try:
        value: T = await target.call_async(method, options, *arguments)
        return Outcome(value)
    except (Error, DeclaredError) as failure:
        return Outcome(error=failure)
