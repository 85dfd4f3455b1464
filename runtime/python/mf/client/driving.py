"""R5. Functions that the blocking and the awaited drivers of calls share."""

from typing import Any, TypeVar

from mf.client.begin import give_metadata
from mf.client.routes import Route
from mf.core.error import Code, DeclaredError, Error, Execution, not_executed
from mf.core.options import CallOptions
from mf.core.outcome import Outcome
from mf.core.service import ServiceInfo
from mf.protocol.call import Call
from mf.protocol.call_table import CallEvent, CallStep
from mf.protocol.frame import ONEWAY, pack_deadline

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


def bulk_outcomes(call: Call[T], options: CallOptions | None) -> list[Outcome[T]]:
    """The outcomes of a bulk call that has ended. Raises the failure of the whole message."""
    give_metadata(options, call.reply_metadata)
    if call.failure is not None:
        raise call.failure
    if call.flags & ONEWAY:
        return [Outcome() for _ in range(call.items)]
    return call.outcomes()


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
