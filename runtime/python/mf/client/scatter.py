"""R5. One call to several agents: each request leaves as soon as its agent can be reached, before any reply
is awaited; each agent has its own outcome.

All agents are looked for at once: connections and bindings that are missing are asked for together, and an
agent that nobody has heard of holds up no other.
"""

from time import monotonic
from typing import Any, TypeVar

from mf.client.begin import begin, deadline_of, give_metadata
from mf.client.blocking import given_up, sent_off
from mf.client.routes import Route, Router, Search
from mf.core.error import DeclaredError, Error
from mf.core.options import CallOptions
from mf.core.outcome import Outcome
from mf.core.service import Method, ServiceInfo
from mf.core.target import Scattered, ScatterTarget
from mf.protocol.call import Call
from mf.protocol.call_table import CallEvent, CallStep
from mf.protocol.frame import ONEWAY, pack_deadline

T = TypeVar("T")


class AgentsTarget(ScatterTarget):
    """`agents` None: those known when a call is made."""

    __slots__ = ("_agents", "_router", "_service")

    def __init__(self, router: Router, service: ServiceInfo, agents: list[str] | None) -> None:
        self._router = router
        self._service = service
        self._agents = agents

    def call(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> Scattered[str, T]:
        now = monotonic()
        agents = self._agents
        if agents is None:
            agents = self._router.agents(self._service, deadline_of(method, options, now))
        calls = {agent: begin(self._router, method, options, arguments, now) for agent in agents}
        _Scatter(self._router, self._service, calls).run()
        return Scattered((agent, _outcome(call, options)) for agent, call in calls.items())

    async def call_async(
        self, method: Method[Any, T], options: CallOptions | None, *arguments: Any
    ) -> Scattered[str, T]:
        from asyncio import gather

        from mf.client.aio import run_async
        from mf.client.destination import Destination
        from mf.client.lookup import on_own_thread

        now = monotonic()
        router, service = self._router, self._service
        agents = self._agents
        if agents is None:
            deadline = deadline_of(method, options, now)
            known = router.resolver.view(service.name)
            if known.agents and not known.whole:
                agents = router.agents(service, deadline)  # does not wait
            else:
                agents = await on_own_thread(router.agents, service, deadline)
        calls = {agent: begin(router, method, options, arguments, now) for agent in agents}
        await gather(*(run_async(call, Destination(router, service, agent)) for agent, call in calls.items()))
        return Scattered((agent, _outcome(call, options)) for agent, call in calls.items())


class _Scatter:
    """The calls of one scatter, driven as their machines say."""

    __slots__ = ("_calls", "_router", "_routes", "_service")

    def __init__(self, router: Router, service: ServiceInfo, calls: dict[str, Call[Any]]) -> None:
        self._router = router
        self._service = service
        self._calls = calls
        self._routes: dict[str, Route] = {}

    def run(self) -> None:
        try:
            self._run()
        except BaseException:  # of a signal handler, say
            for agent, route in self._routes.items():
                route.link.abandon(self._calls[agent], CallEvent.CANCELLED, given_up())
            raise

    def _run(self) -> None:
        again = list(self._calls)
        steps = {agent: self._calls[agent].begin() for agent in again}
        while again:
            self._send(again)
            for agent, route in self._routes.items():
                call = self._calls[agent]
                route.link.wait(call, monotonic())
                steps[agent] = call.settle(monotonic())
            again = [agent for agent in self._routes if steps[agent] is CallStep.RESOLVE]
            self._routes = {}

    def _send(self, agents: list[str]) -> None:
        """Finds a route for each, and sends as soon as there is one. Those in `_routes` then wait for their
        replies; all others have ended."""
        searches = {
            agent: Search(self._router, self._service, agent, self._calls[agent].deadline) for agent in agents
        }
        if len(searches) > 1:
            self._router.prepare(self._service, searches.values(), self._calls[agents[0]].deadline)
        while searches:
            for agent, search in list(searches.items()):
                if self._attempt(agent, search):
                    del searches[agent]
            if searches:
                for link in {route.link for route in self._routes.values()}:
                    link.catch_up()  # bindings whose calls have ended make room for others
                first = min(searches.values(), key=_pause)
                assert first.view is not None
                self._router.resolver.wait(self._service.name, first.view, first.pause)

    def _attempt(self, agent: str, search: Search) -> bool:
        """Whether the agent's search is over."""
        call = self._calls[agent]
        while True:
            try:
                route = search.attempt()
            except Error as failure:
                call.fail(CallEvent.UNREACHABLE, failure, monotonic())
                return True
            if route is None:
                return False
            now = monotonic()
            call.bound_to(route.binding, now)
            if call.flags & ONEWAY:
                step = sent_off(call, route, now)
            elif route.link.start(call, pack_deadline(max(call.deadline - now, 0.0)), now):
                self._routes[agent] = route
                return True
            else:
                step = call.settle(now)
            if step is not CallStep.RESOLVE:
                return True


def _pause(search: Search) -> float:
    return search.pause


def _outcome(call: Call[T], options: CallOptions | None) -> Outcome[T]:
    """A value, or a failure; what is neither Error nor declared error is a bug, and goes up."""
    give_metadata(options, call.reply_metadata)
    if call.flags & ONEWAY and call.failure is None:
        return Outcome()
    try:
        return Outcome(call.value())
    except (Error, DeclaredError) as failure:
        return Outcome(error=failure)
