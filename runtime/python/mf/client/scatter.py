"""R5. One call to several agents: each request is sent as soon as its agent can be reached, before any reply
is awaited; each agent has its own outcome.

All agents are searched at the same time: missing connections and bindings are requested together, and an
unknown agent delays no other.
"""

from time import monotonic
from typing import Any, TypeVar

from mf.client.begin import begin, deadline_of
from mf.client.driving import scattered_outcome, sent_off
from mf.core.error import Error, cancelled_by_caller
from mf.core.handler_wait import here
from mf.core.immediate import immediate
from mf.core.options import CallOptions
from mf.core.service import Method, ServiceInfo
from mf.core.target import Scattered, ScatterTarget
from mf.link.link import Link
from mf.protocol.call import Call, too_late
from mf.protocol.call_table import CallEvent, CallStep
from mf.protocol.frame import ONEWAY, pack_deadline
from mf.route.blocking_routing import BlockingRouting
from mf.route.finder import Route, Search

T = TypeVar("T")


class AgentsTarget(ScatterTarget):
    """`agents` None: those that are known when a call is made."""

    __slots__ = ("_agents", "_router", "_service")

    def __init__(self, router: BlockingRouting, service: ServiceInfo, agents: list[str] | None) -> None:
        self._router = router
        self._service = service
        self._agents = agents

    def call(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> Scattered[str, T]:
        if (wait := here.wait) is not None:
            with wait:
                return self.call(method, options, *arguments)
        now = monotonic()
        agents = self._agents
        if agents is None:
            agents = immediate(self._router.agents(self._service, deadline_of(method, options, now)))
        calls = {agent: begin(self._router, method, options, arguments, now) for agent in agents}
        _Scatter(self._router, self._service, calls).run()
        return Scattered((agent, scattered_outcome(call, options)) for agent, call in calls.items())


class _Scatter:
    """The calls of one scattered call, driven by their state machines."""

    __slots__ = ("_calls", "_router", "_routes", "_service")

    def __init__(self, router: BlockingRouting, service: ServiceInfo, calls: dict[str, Call[Any]]) -> None:
        self._router = router
        self._service = service
        self._calls = calls
        self._routes: dict[str, Route[Link]] = {}

    def run(self) -> None:
        try:
            self._run()
        except BaseException:  # for example of a signal handler
            for agent, route in self._routes.items():
                route.link.abandon(self._calls[agent], CallEvent.CANCELLED, cancelled_by_caller())
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
            routes, self._routes = self._routes, {}
            again = self._rested(again, routes)

    def _rested(self, agents: list[str], routes: dict[str, Route[Link]]) -> list[str]:
        """The agents that are asked again: all at the same time, after the longest rest that one of them
        needs. The others have no time for it, and end with their servers' failures."""
        now = longest = monotonic()
        asked = []
        for agent in agents:
            call = self._calls[agent]
            until = now
            if call.refusal is not None:
                until += self._router.rest_of(call, routes[agent].link, self._service, agent, now)
                if until >= call.deadline:
                    call.fail(CallEvent.UNREACHABLE, call.refusal, now)
                    continue
            longest = max(longest, until)
            asked.append(agent)
        immediate(self._router.rest(self._service, longest))
        return asked

    def _send(self, agents: list[str]) -> None:
        """Finds a route for each agent, and sends as soon as there is one. The calls in `_routes` then wait
        for replies; all others have ended."""
        if (now := monotonic()) >= self._calls[agents[0]].deadline:  # all have the same
            for agent in agents:
                self._calls[agent].fail(CallEvent.EXPIRED, too_late(), now)
            return
        searches = {agent: self._search(self._calls[agent], agent) for agent in agents}
        if len(searches) > 1:
            deadline = self._calls[agents[0]].deadline
            immediate(self._router.prepare(searches.values(), self._service, deadline))
        while searches:
            for agent, search in list(searches.items()):
                if self._attempt(agent, search):
                    del searches[agent]
            if searches:
                for link in {route.link for route in self._routes.values()}:
                    link.catch_up()  # bindings whose calls have ended make room for others
                first = min(searches.values(), key=_pause)
                self._router.resolver.wait(self._service.name, first.view, first.pause)

    def _search(self, call: Call[Any], agent: str) -> Search:
        return self._router.finder(self._service, agent).search(call.method, call.deadline)

    def _attempt(self, agent: str, search: Search) -> bool:
        """Whether the agent's search is over."""
        call = self._calls[agent]
        while True:
            try:
                route = immediate(self._router.attempt(search, self._service, call.deadline))
            except Error as failure:
                call.fail(CallEvent.UNREACHABLE, failure, monotonic())
                return True
            if route is None:
                return False
            now = monotonic()
            if call.bound_to(route.binding, now) is CallStep.END:
                return True
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
