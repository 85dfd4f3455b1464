"""R5. One service at one agent or at any, over connections: where generated clients arrive.

A call that runs into a dead or closing connection is sent again, at most twice: always if it surely was not
executed, else only if its method is idempotent. The route of the last call is kept and used again until its
connection ends or the resolver reports a change; with several instances each call chooses.
"""

from collections.abc import Iterable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar, cast

from mf.client.batch import MessageBatch
from mf.client.call import Attempts, check_encoding, failure_of_reply, seconds_of
from mf.client.routes import Route, Router
from mf.client.scatter import AgentsTarget
from mf.core.agent import Agent, called_agent
from mf.core.error import Error
from mf.core.options import BatchOptions, CallOptions
from mf.core.outcome import Outcome
from mf.core.service import Method, Payload, Servant, ServiceInfo
from mf.core.target import ScatterTarget, Target
from mf.protocol.calls import Call
from mf.protocol.frame import BULK, ONEWAY, pack_deadline
from mf.protocol.reply import MIXED, OK, read_outcomes

if TYPE_CHECKING:
    from mf.core.target import BatchCall

T = TypeVar("T")
R = TypeVar("R")


class RemoteTarget(Target):
    """See above. Any number of threads and loops may share one."""

    __slots__ = ("_agent", "_generation", "_resolver", "_route", "_router", "_service")

    def __init__(self, router: Router, service: ServiceInfo, agent: str | None) -> None:
        self._router = router
        self._resolver = router.resolver
        self._service = service
        self._agent = agent
        self._route: Route | None = None
        self._generation = -1

    # Which agents

    def at(self, agent: Agent) -> "RemoteTarget":
        return RemoteTarget(self._router, self._service, called_agent(agent))

    def any(self) -> "RemoteTarget":
        return RemoteTarget(self._router, self._service, None)

    def on(self, agents: Iterable[Agent]) -> ScatterTarget:
        return AgentsTarget(self, self._router, self._service, list(dict.fromkeys(map(called_agent, agents))))

    def everywhere(self) -> ScatterTarget:
        return AgentsTarget(self, self._router, self._service, None)

    @property
    def servant(self) -> Servant | None:
        return None

    # One call

    def call(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> T:
        payload = method.encode_request(*arguments)
        seconds = seconds_of(method, options)
        now = monotonic()
        deadline = now + seconds
        attempts: Attempts | None = None
        while True:
            route = self._route
            if route is None or not route.link.usable or self._resolver.generation != self._generation:
                route = self.find(deadline, attempts)
                now = monotonic()
                seconds = deadline - now
            call = Call(deadline)
            call.route = route.first + method.index
            if method.oneway:
                flags = method.request_encoding | ONEWAY
                route.link.start(call, flags, pack_deadline(seconds), 1, payload, now)
                if call.failure is None:
                    return cast(T, None)
            else:
                route.link.call(call, method.request_encoding, pack_deadline(seconds), 1, payload, now)
                if call.failure is None and call.status == OK:
                    check_encoding(method, call)
                    return method.decode_result(call.payload)
            attempts = attempts or Attempts(method, deadline)
            attempts.failed(failure_of_reply(method, call))
            self.forget(route)

    async def call_async(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> T:
        from mf.client.aio import call_async

        return await call_async(self, method, options, arguments)

    # Several calls

    def batch(
        self, method: Method[R, T], requests: Sequence[R], options: BatchOptions | None = None
    ) -> "BatchCall[T]":
        deadline = monotonic() + seconds_of(method, options)
        return MessageBatch(self, method, requests, options or BatchOptions(), deadline)

    def bulk(
        self, method: Method[R, T], requests: Sequence[R], options: CallOptions | None = None
    ) -> list[Outcome[T]]:
        if not requests:
            return []
        payload = method.encode_requests(requests)
        deadline = monotonic() + seconds_of(method, options)
        attempts = Attempts(method, deadline)
        while True:
            route = self.find(deadline, attempts)
            call = self.bulk_call(route, method, payload, len(requests), deadline)
            if call.failure is None and call.status in (OK, MIXED):
                return read_outcomes(method, call.status, call.encoding, len(requests), call.payload)
            if method.oneway and call.failure is None:
                return [Outcome() for _ in requests]
            attempts.failed(failure_of_reply(method, call))
            self.forget(route)

    def bulk_call(
        self, route: Route, method: Method[Any, Any], payload: Payload, count: int, deadline: float
    ) -> Call:
        """One attempt at an application-level batch."""
        now = monotonic()
        call = Call(deadline)
        call.route = route.first + method.index
        word = pack_deadline(max(deadline - now, 0.0))
        flags = method.request_encoding | BULK
        if method.oneway:
            call.status = -1
            route.link.start(call, flags | ONEWAY, word, count, payload, now)
        else:
            route.link.call(call, flags, word, count, payload, now)
        return call

    # Routes

    def find(self, deadline: float, attempts: Attempts | None = None) -> Route:
        """A usable route, waiting as the router's rules say. `attempts` are those made before."""
        route = self.ready_route()
        if route is None:
            generation = self._resolver.generation
            try:
                route, only = self._router.find(self._service, self._agent, deadline)
            except Error as failure:
                raise failure if attempts is None else attempts.final(failure) from None
            self._route = route if only else None
            self._generation = generation
        return route

    def forget(self, route: Route) -> None:
        """A call on this route failed: look for another one next time."""
        if self._route is route:
            self._route = None

    def ready_route(self) -> Route | None:
        """The route that can be used at once, if there is one."""
        route = self._route
        if route is None or not route.link.usable or self._resolver.generation != self._generation:
            return None
        return route
