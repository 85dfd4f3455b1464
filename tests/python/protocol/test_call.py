"""The client's call machine: every cell of its table, the decision to repeat, and any order of events."""

import random
from typing import Any

import pytest

from mf.core.error import Code, Error, Execution, not_executed
from mf.core.outcome import Outcome
from mf.protocol.call import MOST_ATTEMPTS, Call, RetryBudget
from mf.protocol.call_table import CallEvent, CallState, CallStep
from mf.protocol.reply import MIXED, pack_mixed
from mf.protocol.wire import pack_failure
from tests.python.echo import TWICE
from tests.python.protocol.decision import table

CELLS = table("The client's table")
LOST = Error(Code.CONNECTION_LOST, "lost", Execution.UNKNOWN)
UNSENT = not_executed(Code.UNAVAILABLE, "never left")
FINAL = not_executed(Code.PERMISSION_DENIED, "no")
WAYS = {
    CallState.START: (),
    CallState.RESOLVING: (CallEvent.BEGIN,),
    CallState.BINDING: (CallEvent.BEGIN, CallEvent.RESOLVED),
    CallState.SENDING: (CallEvent.BEGIN, CallEvent.BOUND),
    CallState.SENT: (CallEvent.BEGIN, CallEvent.BOUND, CallEvent.WRITTEN),
    CallState.ENDED: (CallEvent.BEGIN, CallEvent.BOUND, CallEvent.WRITTEN, CallEvent.REPLIED),
}
FAILURES = (
    CallEvent.UNREACHABLE,
    CallEvent.REFUSED,
    CallEvent.LOST,
    CallEvent.EXPIRED,
    CallEvent.CANCELLED,
)


class Idempotent:
    idempotent = True
    result_encoding = 1


class NotIdempotent(Idempotent):
    idempotent = False


def call_of(method: Any = NotIdempotent, budget: RetryBudget | None = None) -> Call[Any]:
    return Call(method, 100.0, budget or RetryBudget())


def call_in(state: CallState, **given: Any) -> Call[Any]:
    call = call_of(**given)
    for event in WAYS[state]:
        call.on(event)
    assert call.state is state
    return call


def drive(call: Call[Any], event: CallEvent, failure: Error, now: float = 0.0) -> CallStep:
    return call.fail(event, failure, now) if event in FAILURES else call.on(event)


@pytest.mark.parametrize("failure", [UNSENT, FINAL], ids=["repeatable", "final"])
@pytest.mark.parametrize(("state", "event"), [(s, e) for s in CallState for e in CallEvent])
def test_every_cell_is_that_of_the_decision(state: CallState, event: CallEvent, failure: Error) -> None:
    cell = CELLS[state.name.lower(), event.name.lower()]
    call = call_in(state)

    if not cell:
        with pytest.raises(ValueError, match=event.name):
            drive(call, event, failure)
        assert call.state is state
        return
    step = drive(call, event, failure)

    if cell == "*again*":
        again = failure is UNSENT and event is not CallEvent.REPLIED
        cell = "resolving / resolve" if again else "ended / end"
    assert f"{call.state.name} / {step.name}".lower() == cell


def failed(state: CallState, failure: Error, **given: Any) -> bool:
    """Whether a call in `state` is repeated after an attempt with this failure."""
    call = call_in(state, **given)
    event = CallEvent.LOST if state is CallState.SENT else CallEvent.REFUSED
    return call.fail(event, failure, 0.0) is CallStep.RESOLVE


@pytest.mark.parametrize("code", [code for code in Code if code > Code.DECLARED])
@pytest.mark.parametrize("execution", Execution)
@pytest.mark.parametrize("method", [Idempotent, NotIdempotent])
def test_what_is_repeated(code: Code, execution: Execution, method: type) -> None:
    surely = execution is Execution.NOT_EXECUTED
    dead = code in (Code.UNAVAILABLE, Code.CONNECTION_LOST)

    repeated = failed(CallState.SENT, Error(code, "", execution), method=method)

    assert repeated == (
        (surely and (dead or code is Code.SHUTTING_DOWN)) or (not surely and dead and method is Idempotent)
    )


def refused(code: Code, execution: Execution, **given: Any) -> Call[Any]:
    """A call after a REPLY with this failure for all its items."""
    call = call_in(CallState.SENT, **given)
    call.status, call.payload = code, pack_failure(Error(code, "full", execution))
    call.settle(0.0)
    return call


def test_what_an_overloaded_server_refuses_is_repeated_and_its_words_are_kept() -> None:
    call = refused(Code.OVERLOADED, Execution.NOT_EXECUTED)
    assert call.state is CallState.RESOLVING
    assert call.refusal is not None
    assert call.refusal.message == "full"

    assert call.fail(CallEvent.UNREACHABLE, call.refusal, 0.0) is CallStep.END
    assert call.failure is call.refusal


def test_overloaded_is_final_if_the_call_may_have_run_or_a_limit_of_this_client_says_so() -> None:
    may_have_run = refused(Code.OVERLOADED, Execution.UNKNOWN, method=Idempotent)
    assert may_have_run.state is CallState.ENDED
    assert not failed(CallState.SENDING, not_executed(Code.OVERLOADED, "too many here"))

    stream = call_in(CallState.SENT)
    stream.stream = True
    assert stream.fail(CallEvent.REPLIED, not_executed(Code.OVERLOADED, "full"), 0.0) is CallStep.END


def test_repeats_after_overloaded_take_from_the_budget() -> None:
    budget = RetryBudget()
    while budget.take():
        pass

    assert refused(Code.OVERLOADED, Execution.NOT_EXECUTED, budget=budget).state is CallState.ENDED


def test_another_failure_needs_no_rest() -> None:
    call = refused(Code.OVERLOADED, Execution.NOT_EXECUTED)
    call.on(CallEvent.BOUND)

    assert call.fail(CallEvent.REFUSED, UNSENT, 0.0) is CallStep.RESOLVE
    assert call.refusal is None


def test_three_attempts_and_no_more() -> None:
    call = call_in(CallState.SENDING)
    steps = []
    for _ in range(MOST_ATTEMPTS):
        steps.append(call.fail(CallEvent.REFUSED, UNSENT, 0.0))
        if not call.failure:
            call.on(CallEvent.BOUND)

    assert steps == [CallStep.RESOLVE, CallStep.RESOLVE, CallStep.END]


def test_nothing_is_repeated_at_the_deadline() -> None:
    call = call_in(CallState.SENDING)

    assert call.fail(CallEvent.REFUSED, UNSENT, 100.0) is CallStep.END


@pytest.mark.parametrize("failure", [UNSENT, not_executed(Code.SHUTTING_DOWN, "")])
@pytest.mark.parametrize("anew", [True, False])
def test_a_stream_is_repeated_if_its_request_never_left_or_it_may_begin_anew(
    anew: bool, failure: Error, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Call, "may_begin_anew", lambda _: anew)
    sent, sending, maybe = (call_in(state) for state in (CallState.SENT, CallState.SENDING, CallState.SENT))
    sent.stream = sending.stream = maybe.stream = True

    assert sent.fail(CallEvent.LOST, failure, 0.0) is (CallStep.RESOLVE if anew else CallStep.END)
    assert sending.fail(CallEvent.REFUSED, failure, 0.0) is CallStep.RESOLVE
    assert maybe.fail(CallEvent.LOST, LOST, 0.0) is CallStep.END


def test_the_budget_bounds_repeats_and_calls_give_it_back() -> None:
    budget = RetryBudget()
    repeated = sum(failed(CallState.SENDING, UNSENT, budget=budget) for _ in range(2000))
    shutting_down = failed(CallState.SENDING, not_executed(Code.SHUTTING_DOWN, ""), budget=budget)
    before = failed(CallState.SENDING, UNSENT, budget=budget)
    for _ in range(5):
        call_of(budget=budget).begin()

    assert repeated == 1000
    assert shutting_down
    assert not before
    assert failed(CallState.SENDING, UNSENT, budget=budget)
    for _ in range(10_000):
        call_of(budget=budget).begin()
    assert sum(failed(CallState.SENDING, UNSENT, budget=budget) for _ in range(2000)) == 1000


def test_once_an_attempt_may_have_run_its_failure_stands() -> None:
    call = call_in(CallState.SENT, method=Idempotent)
    call.fail(CallEvent.LOST, LOST, 0.0)
    call.fail(CallEvent.UNREACHABLE, UNSENT, 0.0)

    call.items = 2

    assert call.failure is LOST
    assert [outcome.error for outcome in call.outcomes()] == [LOST, LOST]


def test_no_item_of_a_mixed_reply_is_surely_not_executed_after_an_attempt_that_may_have_run() -> None:
    call = call_in(CallState.SENT, method=TWICE)
    call.may_have_run = LOST
    busy = not_executed(Code.OVERLOADED, "busy")
    call.status, call.encoding = MIXED, TWICE.result_encoding
    call.payload = pack_mixed(TWICE, [Outcome(4), Outcome(error=busy)])

    call.items = 2

    assert call.settle(0.0) is CallStep.END
    assert call.outcomes() == [Outcome(4), Outcome(error=LOST)]


def test_a_reply_that_is_a_failure_is_judged_like_any_other() -> None:
    call = call_in(CallState.SENT)
    call.status, call.payload = Code.SHUTTING_DOWN, pack_failure(not_executed(Code.SHUTTING_DOWN, "bye"))
    again = call.settle(0.0)
    call.on(CallEvent.BOUND)
    call.on(CallEvent.WRITTEN)
    call.status, call.payload = Code.INTERNAL, pack_failure(Error(Code.INTERNAL, "ouch"))

    assert again is CallStep.RESOLVE
    assert call.settle(0.0) is CallStep.END
    assert call.failure is not None
    assert call.failure.code is Code.INTERNAL


def test_metadata_that_cannot_be_read_ends_a_call_as_decode_error() -> None:
    call = call_in(CallState.SENT)
    call.reply_metadata = not_executed(Code.DECODE_ERROR, "metadata: cut off")

    assert call.settle(0.0) is CallStep.END
    assert call.failure is not None
    assert (call.failure.code, call.failure.execution) == (Code.DECODE_ERROR, Execution.UNKNOWN)


@pytest.mark.parametrize("seed", range(200))
def test_in_any_order_of_events_a_call_ends_once_and_stays_ended(seed: int) -> None:
    draw = random.Random(seed)
    call = call_of(draw.choice([Idempotent, NotIdempotent]))
    ends = attempts_that_may_have_run = 0
    for _ in range(300):
        event = draw.choice(list(CallEvent))
        failure = draw.choice([LOST, UNSENT, FINAL, not_executed(Code.SHUTTING_DOWN, "")])
        before = call.state
        if not CELLS[before.name.lower(), event.name.lower()]:
            continue
        step = drive(call, event, failure, now=draw.choice([0.0, 1.0, 200.0]) if seed % 2 else 0.0)
        if before is CallState.ENDED:
            assert step is CallStep.NONE
        if step in (CallStep.END, CallStep.CANCEL):
            ends += 1
            ended_with = call.failure
        if step is CallStep.RESOLVE and failure is LOST:
            attempts_that_may_have_run += event in FAILURES
        assert call.state is not CallState.ENDED or call.failure is ended_with

    assert ends == (call.state is CallState.ENDED)
    if ends and attempts_that_may_have_run and call.failure is not None:
        assert call.failure.execution is Execution.UNKNOWN
    assert call.attempts <= MOST_ATTEMPTS
