"""R5. What the drivers of calls have in common, those that block and those that are awaited."""

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
    """Whose replicas a replicated call is for. Raises Error where the caller has not said it."""
    if agent is None and service.agent is not None:
        text = f"a replicated call of {service.short_name} is for one {service.agent}: name it by at()"
        raise not_executed(Code.INVALID_ARGUMENT, text)
    return agent or ""


def given_up() -> Error:
    return Error(Code.CANCELLED, "cancelled by the caller", Execution.UNKNOWN)


def sent_off(call: Call[Any], route: Route[Any], now: float) -> CallStep:
    """Sends a one-way call: that it has left is all the reply that it gets."""
    if route.link.start(call, pack_deadline(max(call.deadline - now, 0.0)), now):
        return call.on(CallEvent.REPLIED)
    return call.settle(now)


def bulk_outcomes(call: Call[T], options: CallOptions | None) -> list[Outcome[T]]:
    """Of a bulk that has ended. Raises what the message as a whole failed with."""
    give_metadata(options, call.reply_metadata)
    if call.failure is not None:
        raise call.failure
    if call.flags & ONEWAY:
        return [Outcome() for _ in range(call.items)]
    return call.outcomes()


def scattered_outcome(call: Call[T], options: CallOptions | None) -> Outcome[T]:
    """A value, or a failure; what is neither Error nor declared error is a bug, and goes up."""
    give_metadata(options, call.reply_metadata)
    if call.flags & ONEWAY and call.failure is None:
        return Outcome()
    try:
        return Outcome(call.value())
    except (Error, DeclaredError) as failure:
        return Outcome(error=failure)
