"""R5. Routes for blocking clients: applies the rules of routes.py in threads that wait."""

from collections.abc import Callable, Iterable
from time import monotonic
from typing import Any

from mf.client.routes import AgentsSearch, Route, Routing, Search, Troubles, refusal_of
from mf.core.error import Error
from mf.core.service import Method, ServiceInfo
from mf.link.link import Link
from mf.link.pool import Pool
from mf.link.resolver import Instance, Resolver


class Router(Routing[Resolver, Pool]):
    """See above. Thread-safe."""

    __slots__ = ()

    def find(
        self,
        service: ServiceInfo,
        agent: str | None,
        method: Method[Any, Any],
        deadline: float,
        note: Callable[[Error], None] | None = None,
    ) -> tuple[Route[Link], bool]:
        """A route, and whether it is the only possible one. `note` is called with the reason why there is
        none yet. Raises Error, NOT_EXECUTED."""
        search = Search(self, service, agent, deadline, note)
        while (route := self.attempt(search, service, method, deadline)) is None:
            self.resolver.wait(service.name, search.view, search.pause)
        return route, search.only

    def attempt(
        self, search: Search, service: ServiceInfo, method: Method[Any, Any], deadline: float
    ) -> Route[Link] | None:
        """One attempt, which may connect and bind. None: continue. Raises Error, NOT_EXECUTED."""
        tried = self._try_all(service, method, search.candidates(), deadline)
        if isinstance(tried, Troubles):
            search.failed(tried)
            return None
        search.succeeded(tried.binding, method)
        return tried

    def prepare(self, service: ServiceInfo, searches: Iterable[Search], deadline: float) -> None:
        """Connects and binds for several searches at once, so that their attempts find connections and
        bindings. Failures are ignored here."""
        agents: dict[Instance, list[str]] = {}
        for search in searches:
            for agent, instance in search.known()[:1]:
                agents.setdefault(instance, []).append(agent)
        self.pool.connect_all(list(agents), deadline)
        for instance, some in agents.items():
            link = self.pool.usable(instance)
            if link is not None and len(some) > 1:
                link.bind_all(service, some, deadline, self.schema_of(instance))

    def _try_all(
        self,
        service: ServiceInfo,
        method: Method[Any, Any],
        candidates: list[tuple[str, Instance]],
        deadline: float,
    ) -> Route[Link] | Troubles:
        """A route to the first reachable candidate, or the reason why there is none. A candidate that does
        not answer is waited for only briefly while there are others."""
        pool = self.pool
        troubles = Troubles()
        found: Route[Link] | None = None
        begun = False
        left = self.ordered(candidates, service, method)
        while left:
            (agent, instance), *left = left
            others = bool(left) or troubles.late
            until = pool.patience(deadline) if others or found is not None else deadline
            if left and not begun and pool.usable(instance) is None:
                begun = True
                pool.connect_all([instance, *(other for _, other in left)], deadline)
            try:
                link = pool.open(instance, until)
                binding = link.bind(service, agent, until, self.schema_of(instance))
                self.note_schema(service, instance, binding)
                if (refusal := refusal_of(binding, method)) is None:
                    route = Route(link, binding, len(candidates) > 1)
                    left = self.surer(binding, method, instance, left)
                    if not left:
                        return route
                    found = found or route
                else:
                    troubles.refused(refusal)
            except Error as error:
                self.note_refusal(service, instance, error)
                if others and monotonic() >= until:
                    pool.note_silent(instance)
                    troubles.late = True
                troubles.add(error)
        return found or troubles

    def agents(self, service: ServiceInfo, deadline: float) -> list[str]:
        """See AgentsSearch."""
        search = AgentsSearch(self, service, deadline)
        while (agents := search.attempt()) is None:
            self.resolver.wait(service.name, search.view, search.pause)
        return agents
