"""R5. Light: the same stubs, called directly. A handler runs on the caller's thread, and objects are passed
by reference: what a servant changes in its arguments, or a caller in a result, the other side sees.

Constraints of parameters are checked as a client of a connection would. What differs from a connection, and
is meant to: those of results and errors are not, the deadline is looked at once, before the handler starts,
and declared errors arrive as the very object that was raised.
"""

from collections.abc import Coroutine, Iterable, Sequence
from typing import Any, TypeVar, cast

from mf.core.agent import Agent, agent_text, called_agent
from mf.core.error import Code, DeclaredError, Error, not_executed, shortened, some_of
from mf.core.log import log_handler_failure
from mf.core.offered import offered_agent
from mf.core.options import BatchOptions, CallOptions
from mf.core.outcome import Failure, Outcome, failure_in, failure_of
from mf.core.service import Method, Servant, ServiceInfo, generated_base, is_async
from mf.core.target import BatchCall, Scattered, ScatterTarget, Target, TargetSource

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
        self._offers.get(service.name, {}).pop(agent_text(agent), None)

    def target(self, service: ServiceInfo) -> Target:
        return LightTarget(self, service, None)

    def agents(self, service: ServiceInfo) -> list[str]:
        """The agents for which a service is offered."""
        return list(self._offers.get(service.name, ()))

    def find(self, service: ServiceInfo, agent: str | None) -> Servant:
        """Raises Error(UNKNOWN_SERVICE) or Error(UNKNOWN_AGENT), NOT_EXECUTED, as a server does."""
        agents = self._offers.get(service.name)
        if not agents:
            offered = some_of([name for name, offers in self._offers.items() if offers]) or "nothing"
            text = f"nobody in this process offers {service.name}; offered are: {offered}"
            raise not_executed(Code.UNKNOWN_SERVICE, text)
        if not agent:
            return next(iter(agents.values()))
        servant = agents.get(agent)
        if servant is None:
            text = f'nobody in this process offers {service.name} for agent "{shortened(agent)}"'
            raise not_executed(Code.UNKNOWN_AGENT, f"{text}; known agents: " + some_of(agents, mark='"'))
        return servant


def _told_of(method: Method[Any, Any], raised: BaseException) -> Failure:
    failure = failure_of(raised, method.error_types)
    if isinstance(failure, Error) and failure.code == Code.HANDLER_FAILED:
        log_handler_failure(method.name, raised)
    return failure


def _check_deadline(options: CallOptions | None) -> None:
    # A deadline is more than 0 when it is made; nothing has passed since, so there is nothing to miss.
    if options is not None and options.deadline is not None and options.deadline <= 0:
        raise not_executed(Code.DEADLINE_EXCEEDED, "the deadline passed before the handler started")


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
            return self._light.find(self._service, self._agent)
        except Error:
            return None

    def call(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> T:
        servant = self._light.find(self._service, self._agent)
        if options is not None:
            _check_deadline(options)
        if method.constrained:
            method.encode_request(*arguments)  # raises what a connection's client would
        try:
            result = getattr(servant, method.attribute)(*arguments)
            if isinstance(result, Coroutine):
                result = _run_to_end(result)
        except Exception as raised:
            failure = _told_of(method, raised)
            if method.oneway:  # nobody waits for it, nobody is told
                return cast(T, None)
            if failure is raised:
                raise
            raise failure from raised
        return cast(T, result)

    async def call_async(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> T:
        servant = self._light.find(self._service, self._agent)
        _check_deadline(options)
        if method.constrained:
            method.encode_request(*arguments)
        try:
            result = getattr(servant, method.attribute)(*arguments)
            if isinstance(result, Coroutine):
                result = await result
        except Exception as raised:
            failure = _told_of(method, raised)
            if method.oneway:
                return cast(T, None)
            if failure is raised:
                raise
            raise failure from raised
        return cast(T, result)

    def batch(
        self, method: Method[R, T], requests: Sequence[R], options: BatchOptions | None = None
    ) -> BatchCall[T]:
        size = (options.size if options else None) or method.batch_max
        outcomes: list[Outcome[T]] = []
        for start in range(0, len(requests), size):
            outcomes += self.bulk(method, requests[start : start + size], options)
        return FinishedBatch(outcomes)

    def bulk(
        self, method: Method[R, T], requests: Sequence[R], options: CallOptions | None = None
    ) -> list[Outcome[T]]:
        if not requests:
            return []
        servant = self._light.find(self._service, self._agent)
        _check_deadline(options)
        if method.constrained:
            method.encode_requests(requests)
        function = getattr(servant, method.batch_attribute)
        try:
            if is_async(getattr(servant, method.attribute)) and not is_async(function):
                outcomes = _run_to_end(_each_async(servant, method, requests))
            else:
                outcomes = function(requests)
            if isinstance(outcomes, Coroutine):
                outcomes = _run_to_end(outcomes)
        except Exception as raised:
            failure = _told_of(method, raised)
            return [Outcome(error=failure) for _ in requests]
        if method.oneway or outcomes is None:
            return [Outcome() for _ in requests]
        return [_told(method, outcome) for outcome in outcomes]


def _told(method: Method[Any, Any], outcome: Outcome[Any]) -> Outcome[Any]:
    error = outcome.error
    return outcome if error is None else Outcome(error=failure_in(error, method.error_types))


def _run_to_end(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """A blocking call of a servant with `async def`: on a loop of its own, for this call."""
    import asyncio

    try:
        return asyncio.run(coroutine)
    except asyncio.CancelledError as cancelled:  # of what the handler awaited: nobody cancels this call
        raise RuntimeError("what the handler awaited was cancelled") from cancelled


async def _each_async(
    servant: Servant, method: Method[Any, Any], requests: Sequence[Any]
) -> list[Outcome[Any]]:
    """What a generated batch function does for plain handlers."""
    from asyncio import CancelledError

    outcomes: list[Outcome[Any]] = []
    for request in requests:
        try:
            outcomes.append(Outcome(await getattr(servant, method.attribute)(*_fields(request))))
        except (Exception, CancelledError) as raised:
            outcomes.append(Outcome(error=_told_of(method, raised)))
    return outcomes


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

    __slots__ = ("_agents", "_light", "_service")

    def __init__(self, light: Light, service: ServiceInfo, agents: list[str] | None) -> None:
        self._light = light
        self._service = service
        self._agents = agents

    def _targets(self) -> list[tuple[str, LightTarget]]:
        agents = self._light.agents(self._service) if self._agents is None else self._agents
        return [(agent, LightTarget(self._light, self._service, agent)) for agent in agents]

    def call(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> Scattered[T]:
        scattered: Scattered[T] = Scattered()
        for agent, target in self._targets():
            try:
                scattered[agent] = Outcome(target.call(method, options, *arguments))
            except (Error, DeclaredError) as failure:
                scattered[agent] = Outcome(error=failure)
        return scattered

    async def call_async(
        self, method: Method[Any, T], options: CallOptions | None, *arguments: Any
    ) -> Scattered[T]:
        scattered: Scattered[T] = Scattered()
        for agent, target in self._targets():
            try:
                value: T = await target.call_async(method, options, *arguments)
                scattered[agent] = Outcome(value)
            except (Error, DeclaredError) as failure:
                scattered[agent] = Outcome(error=failure)
        return scattered
