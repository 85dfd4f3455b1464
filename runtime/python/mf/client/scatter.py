"""R5. One call to several agents: all requests leave before any reply is awaited; each agent has its own
outcome.
"""

from time import monotonic
from typing import Any, TypeVar

from mf.client.call import Attempts, check_encoding, failure_of_reply, seconds_of
from mf.client.routes import Route, Router
from mf.core.error import DeclaredError, Error
from mf.core.options import CallOptions
from mf.core.outcome import Outcome
from mf.core.service import Method, Payload, ServiceInfo
from mf.core.target import Scattered, ScatterTarget, Target
from mf.protocol.calls import Call
from mf.protocol.frame import ONEWAY, pack_deadline
from mf.protocol.reply import OK

T = TypeVar("T")


class AgentsTarget(ScatterTarget):
    """`agents` None: those known when a call is made."""

    __slots__ = ("_agents", "_router", "_service", "_target")

    def __init__(
        self, target: Target, router: Router, service: ServiceInfo, agents: list[str] | None
    ) -> None:
        self._target = target
        self._router = router
        self._service = service
        self._agents = agents

    def call(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> Scattered[T]:
        payload = method.encode_request(*arguments)
        deadline = monotonic() + seconds_of(method, options)
        agents = self._agents
        if agents is None:
            agents = self._router.agents(self._service, deadline)
        started = [(agent, self._start(agent, method, payload, deadline)) for agent in agents]
        return Scattered(
            (agent, self._finish(agent, one, method, payload, deadline)) for agent, one in started
        )

    async def call_async(
        self, method: Method[Any, T], options: CallOptions | None, *arguments: Any
    ) -> Scattered[T]:
        from asyncio import gather, get_running_loop

        agents = self._agents
        if agents is None:
            deadline = monotonic() + seconds_of(method, options)
            loop = get_running_loop()
            agents = await loop.run_in_executor(None, self._router.agents, self._service, deadline)
        calls = (self._target.at(agent).call_async(method, options, *arguments) for agent in agents)
        ended = await gather(*calls, return_exceptions=True)
        return Scattered((agent, _outcome(end)) for agent, end in zip(agents, ended, strict=True))

    def _start(
        self, agent: str, method: Method[Any, Any], payload: Payload, deadline: float
    ) -> tuple[Route, Call] | Error:
        try:
            route, _ = self._router.find(self._service, agent, deadline)
        except Error as error:
            return error
        now = monotonic()
        call = Call(deadline)
        call.route = route.first + method.index
        flags = method.request_encoding | (ONEWAY if method.oneway else 0)
        route.link.start(call, flags, pack_deadline(max(deadline - now, 0.0)), 1, payload, now)
        return route, call

    def _finish(
        self,
        agent: str,
        started: tuple[Route, Call] | Error,
        method: Method[Any, T],
        payload: Payload,
        deadline: float,
    ) -> Outcome[T]:
        attempts = Attempts(method, deadline)
        while True:
            if isinstance(started, Error):
                return Outcome(error=attempts.final(started))
            route, call = started
            if method.oneway and call.failure is None:
                return Outcome()
            route.link.wait(call, monotonic())
            try:
                if call.failure is None and call.status == OK:
                    check_encoding(method, call)
                    return Outcome(method.decode_result(call.payload))
                attempts.failed(failure_of_reply(method, call))
            except (Error, DeclaredError) as failure:
                return Outcome(error=failure)
            started = self._start(agent, method, payload, deadline)


def _outcome(end: Any) -> Outcome[Any]:
    """A value, or a failure as an outcome; what is neither Error nor declared error is a bug, and goes up."""
    if isinstance(end, (Error, DeclaredError)):
        return Outcome(error=end)
    if isinstance(end, BaseException):
        raise end
    return Outcome(end)
