"""R5. Functions that the blocking and the awaited drivers of calls share."""

from collections.abc import Sequence
from time import monotonic
from typing import Any, Generic, TypeVar

from mf.client.begin import begin_bulk, give_metadata
from mf.client.routes import Route, Routing
from mf.core.error import Code, DeclaredError, Error, Execution, not_executed
from mf.core.options import CallOptions
from mf.core.outcome import Outcome
from mf.core.service import Method, ServiceInfo
from mf.protocol.call import Call
from mf.protocol.call_table import CallEvent, CallStep
from mf.protocol.frame import ONEWAY, pack_deadline
from mf.protocol.other_schema import LostItemsError

T = TypeVar("T")


def replicated_agent(service: ServiceInfo, agent: str | None) -> str:
    """The agent whose replicas get a replicated call. Raises Error if the caller has not named one."""
    if agent is None and service.agent is not None:
        text = f"a replicated call of {service.short_name} is for one {service.agent}: name it by at()"
        raise not_executed(Code.INVALID_ARGUMENT, text)
    return agent or ""


def given_up() -> Error:
    return Error(Code.CANCELLED, "cancelled by the caller", Execution.UNKNOWN)


def sent_off(call: Call[Any], route: Route[Any], now: float) -> CallStep:
    """Sends a one-way call, which ends when it is sent."""
    if route.link.start(call, pack_deadline(max(call.deadline - now, 0.0)), now):
        return call.on(CallEvent.REPLIED)
    return call.settle(now)


class Bulk(Generic[T]):
    """All requests in one message. Those that have no equal in the server's schema end alone: the message is
    sent without them."""

    __slots__ = ("_begun", "_left", "_lost", "_method", "_options", "_requests", "_router")

    def __init__(
        self,
        router: Routing[Any, Any],
        method: Method[Any, T],
        options: CallOptions | None,
        requests: Sequence[Any],
    ) -> None:
        self._router = router
        self._method = method
        self._options = options
        self._requests = requests
        self._begun = monotonic()
        self._left: Sequence[int] = range(len(requests))
        self._lost: dict[int, Error] = {}

    def begin(self) -> Call[T]:
        requests = [self._requests[at] for at in self._left] if self._lost else self._requests
        return begin_bulk(self._router, self._method, self._options, requests, self._begun)

    def ended(self, call: Call[T]) -> list[Outcome[T]] | None:
        """None: another call is to be begun. Raises what the message as a whole failed with."""
        give_metadata(self._options, call.reply_metadata)
        outcomes: list[Outcome[T]] = []
        if isinstance(call.failure, LostItemsError) and call.failure.items:
            self._lost.update({self._left[at]: error for at, error in call.failure.items.items()})
            self._left = [at for at in self._left if at not in self._lost]
            if self._left:
                return None
        elif call.failure is not None:
            raise call.failure
        elif call.flags & ONEWAY:
            outcomes = [Outcome() for _ in range(call.items)]
        else:
            outcomes = call.outcomes()
        for at in sorted(self._lost):
            outcomes.insert(at, Outcome(error=self._lost[at]))
        return outcomes


def scattered_outcome(call: Call[T], options: CallOptions | None) -> Outcome[T]:
    """The outcome of one agent; any exception other than Error and declared errors is a bug, and is
    raised."""
    give_metadata(options, call.reply_metadata)
    if call.flags & ONEWAY and call.failure is None:
        return Outcome()
    try:
        return Outcome(call.value())
    except (Error, DeclaredError) as failure:
        return Outcome(error=failure)
