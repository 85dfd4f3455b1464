"""R2. One call as its client sees it, as a machine (docs/decisions/0019): drivers say what happened, and it
says what to do next. It alone decides whether a call is sent again, and it ends a call once. No socket,
clock, thread or lock; time is an argument.

    step = call.begin()
    while True:
        if step is CallStep.RESOLVE: ... step = call.on(RESOLVED), or call.fail(UNREACHABLE, why, now)
        elif step is CallStep.BIND:  ... step = call.on(BOUND)
        elif step is CallStep.SEND:  ... step = call.on(WRITTEN), and at the reply call.settle(now)
        else: break                  # END or CANCEL: call.value() or call.outcomes() say how it ended

One object is a call and, as the link sees it, the request that is under way (calls.Pending): a lone call
needs no other.
"""

from typing import Any, Generic, TypeVar

from mf.core.error import Code, DeclaredError, Error, Execution, not_executed
from mf.core.outcome import Outcome
from mf.core.service import Method
from mf.protocol.call_table import (
    BOUND_AT_ONCE,
    END,
    REPLIED_AT_ONCE,
    SENT,
    TABLE,
    CallEvent,
    CallState,
    CallStep,
)
from mf.protocol.calls import Binding, Request
from mf.protocol.frame import Buffer
from mf.protocol.other_schema import Adapted
from mf.protocol.reply import MIXED, OK, read_outcomes, read_whole_failure

T = TypeVar("T")

MOST_ATTEMPTS = 3

_S, _E, _T = CallState, CallEvent, CallStep

_MOST = 5_000
_REPEAT = 5


class RetryBudget:
    """What all calls of a client may repeat together, so that a broken network does not multiply their load:
    begins with 1,000; a repeat takes 1, each call that is begun gives back 0.2, up to 1,000.
    """

    __slots__ = ("fifths",)

    def __init__(self) -> None:
        self.fifths = _MOST

    def on_begin(self) -> None:
        """A call is begun."""
        if self.fifths < _MOST:
            self.fifths += 1

    def take(self) -> bool:
        if self.fifths < _REPEAT:
            return False
        self.fifths -= _REPEAT
        return True


class Call(Request, Generic[T]):
    """See above. `failure` is what an attempt, and at last the call, ended with; None: a reply has come.

    What goes into the REQUEST is `body`, with a block of metadata in front of it if `flags` say so, and
    `items` calls in it; `word` is its deadline if it is sent at once. Fields that keep their defaults in most
    calls stand in the class.
    """

    state = CallState.START
    attempts = 1
    items = 1
    in_order = False
    """Whether it is of a batch whose calls run in order: then others follow, and an attempt that may still
    run must not be repeated beside them, though the method is idempotent."""
    may_have_run: Error | None = None
    """The failure of an attempt that may have run. The call never ends as surely not executed after it."""
    refusal: Error | None = None
    """What the server said that refused the latest attempt as OVERLOADED: the driver sends the call to
    another instance, or rests before it sends it again."""
    adapted: Adapted | None = None
    """How the latest attempt's server, which has another schema, is called."""
    own: tuple[int, Buffer] | None = None
    """Flags and body in this side's schema, once an attempt went to a server that has another one."""

    def __init__(
        self,
        method: Method[Any, T],
        deadline: float,
        budget: RetryBudget,
        flags: int = 0,
        body: Buffer = b"",
        word: int = 0,
    ) -> None:
        self.deadline = deadline
        self.method = method
        self.budget = budget
        self.flags = flags
        self.body = body
        self.word = word

    def begin(self) -> CallStep:
        self.budget.on_begin()
        return self.on(CallEvent.BEGIN)

    def begin_at(self, binding: Binding, now: float) -> None:
        """Begins a call whose binding is at hand, of this side's schema: it may be sent."""
        budget = self.budget
        if budget.fifths < _MOST:
            budget.fifths += 1
        self.state = BOUND_AT_ONCE
        self.binding = binding
        self.route = binding.first + self.method.index
        binding.used = now

    def bound_to(self, binding: Binding, now: float) -> CallStep:
        """The same, for a call that has begun, and for servers of any schema. END: a value of the request is
        none of the server's schema."""
        step = self.on(_E.BOUND)
        self.binding = binding
        self.route = binding.first + self.method.index
        binding.used = now
        if binding.adaptation is not None or self.own is not None:
            return self._adapt(binding, step, now)
        return step

    def _adapt(self, binding: Binding, step: CallStep, now: float) -> CallStep:
        if self.own is not None:
            self.flags, self.body = self.own
        self.own = self.adapted = None
        if binding.adaptation is None:
            return step
        try:
            adapted = binding.adaptation.method(self.method)
            if adapted is not None:
                self.own = self.flags, self.body
                self.flags, self.body = adapted.request(self.flags, self.items, self.body)
                self.route = binding.first + adapted.index
        except Error as refused:
            return self.fail(_E.REFUSED, refused, now)
        self.adapted = adapted
        return step

    def on(self, event: CallEvent) -> CallStep:
        """What to do after an event that is no failure; a REPLY goes to `settle`. Raises ValueError for an
        event that may not be now."""
        cell = TABLE[self.state].get(event)
        if cell is None:
            raise self._mistake(event)
        self.state, step = cell
        return _T.END if step is _T.AGAIN else step

    def fail(self, event: CallEvent, failure: Error, now: float) -> CallStep:
        """What to do after an attempt ended so. Where the call ends, `failure` is what it ends with."""
        before = self.state
        cell = TABLE[before].get(event)
        if cell is None:
            raise self._mistake(event)
        state, step = cell
        if step is _T.NONE:
            return step
        self.failure = None
        if step is _T.AGAIN:
            if self._may_repeat(before, event, failure, now):
                self.refusal = failure if failure.code is Code.OVERLOADED else None
                if failure.execution is not Execution.NOT_EXECUTED:
                    self.may_have_run = failure
                self._begin_again()
                return _T.RESOLVE
            step = _T.END
        self.state = state
        self.failure = self._final(failure)
        return step

    def settle(self, now: float) -> CallStep:
        """What to do after the link was done with the request: a REPLY has come, or `failure` is set."""
        if self.failure is not None:
            return self.fail(self.ended_by, self.failure, now)
        if self.adapted is not None and self.status <= MIXED:
            try:
                self.status, self.encoding, self.payload = self.adapted.reply(
                    self.status, self.encoding, self.items, self.payload
                )
            except Error as malformed:
                return self.fail(_E.REPLIED, malformed, now)
        if self.status == OK and self.reply_metadata is None and self.state is SENT:
            self.state = REPLIED_AT_ONCE
            return END
        if type(self.reply_metadata) is Error:
            return self.fail(_E.REPLIED, Error(Code.DECODE_ERROR, self.reply_metadata.message), now)
        if self.status > MIXED:
            return self.fail(_E.REPLIED, read_whole_failure(self.status, self.payload), now)
        return self.on(_E.REPLIED)

    def begin_with(self, flags: int, body: Buffer) -> None:
        """What goes into the next attempt's REQUEST, in this side's schema."""
        self.flags, self.body = flags, body
        self.own = self.adapted = None

    def goes_on_from(self, other: "Call[T]") -> None:
        """This call is of some of the items of another one, which was not sent after all: it begins with what
        is known of that one."""
        self.state = CallState.RESOLVING
        self.attempts = other.attempts
        self.may_have_run = other.may_have_run

    def _may_repeat(self, before: CallState, event: CallEvent, failure: Error, now: float) -> bool:
        code = failure.code
        surely_not = failure.execution is Execution.NOT_EXECUTED
        if surely_not:
            # OVERLOADED, where the server says so: our own limits do not pass by waiting.
            may = code in _REPEATED_IF_NOT_EXECUTED and (code is not Code.OVERLOADED or event is _E.REPLIED)
        else:
            may = self.method.idempotent and not self.in_order and code in _BUDGETED
        if not may or self.attempts >= MOST_ATTEMPTS or now >= self.deadline:
            return False
        anew = surely_not and code is not Code.OVERLOADED and self.may_begin_anew()
        if self.stream and before is _S.SENT and not anew:
            return False
        return code is Code.SHUTTING_DOWN or self.budget.take()

    def may_begin_anew(self) -> bool:
        """Whether nothing of its streams has come or was sent, if it has any."""
        return True

    def _begin_again(self) -> None:
        self.attempts += 1
        self.state = _S.RESOLVING
        self.done = False
        self.waiter = None
        self.reply_metadata = None
        self.ended_by = _E.REPLIED
        self.id = self.end = self.status = 0

    def _final(self, failure: Error) -> Error:
        if self.may_have_run is not None and failure.execution is Execution.NOT_EXECUTED:
            return self.may_have_run
        return failure

    def _mistake(self, event: CallEvent) -> ValueError:
        return ValueError(f"a call that is {self.state.name} cannot be {event.name}")

    # How it ended

    def value(self) -> T:
        """The result of a call of one item that has ended. Raises what it ended with instead."""
        if self.failure is None and self.status == OK:
            method = self.method
            if self.encoding == method.result_encoding:
                return method.decode_result(self.payload)
            raise wrong_encoding(method, self.encoding)
        outcome = self.outcomes()[0]
        if outcome.error is None:
            raise Error(Code.DECODE_ERROR, "reply: MIXED without a failure")
        raise outcome.error

    def value_at_once(self) -> T:
        """What `settle` and `value` do, for a call whose REPLY is OK and nothing else."""
        self.state = REPLIED_AT_ONCE
        method = self.method
        if self.encoding == method.result_encoding:
            return method.decode_result(self.payload)
        raise wrong_encoding(method, self.encoding)

    def outcomes(self) -> list[Outcome[T]]:
        """One outcome per item of a call that has ended. None of them says that the item surely was not
        executed if an attempt may have run."""
        failure: Error | DeclaredError | None = self.failure
        if failure is None:
            try:
                outcomes = read_outcomes(self.method, self.status, self.encoding, self.items, self.payload)
            except Error as malformed:
                failure = malformed
        if failure is not None:
            return [Outcome(error=failure) for _ in range(self.items)]
        if self.may_have_run is not None:
            for outcome in outcomes:
                if isinstance(outcome.error, Error):
                    outcome.error = self._final(outcome.error)
        return outcomes


_BUDGETED = (Code.UNAVAILABLE, Code.CONNECTION_LOST)
_REPEATED_IF_NOT_EXECUTED = (*_BUDGETED, Code.SHUTTING_DOWN, Code.OVERLOADED)


def wrong_encoding(method: Method[Any, Any], encoding: int) -> Error:
    text = f"result of {method.name} came in encoding {encoding}, planned is {method.result_encoding}"
    return Error(Code.DECODE_ERROR, text)


def too_late() -> Error:
    """Of a call whose deadline passed before anything was sent."""
    return not_executed(Code.DEADLINE_EXCEEDED, "the deadline passed before the request was sent")
