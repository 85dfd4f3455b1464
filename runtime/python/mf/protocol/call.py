"""R2. The client's state machine of one call (docs/decisions/0019): drivers report events, and it returns the
next step. It alone decides whether a call is sent again, and it ends a call once. No socket, clock, thread or
lock; time is an argument.

    step = call.begin()
    while True:
        if step is CallStep.RESOLVE: ... step = call.on(RESOLVED), or call.fail(UNREACHABLE, why, now)
        elif step is CallStep.BIND:  ... step = call.on(BOUND)
        elif step is CallStep.SEND:  ... step = call.on(WRITTEN), and at the reply call.settle(now)
        else: break                  # END or CANCEL: call.value() or call.outcomes() say how it ended

One object is a call and, for the link, the request in progress (calls.Pending): a single call needs no other.
"""

from typing import Any, Generic, TypeVar, cast

from mf.core.code_class import ELSEWHERE, LOST
from mf.core.error import Code, DeclaredError, Error, Execution, not_executed
from mf.core.outcome import Outcome
from mf.core.service import Method
from mf.protocol.call_table import (
    END,
    ENDED,
    SENDING,
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
NOT_OVER: Any = object()

_S, _E, _T = CallState, CallEvent, CallStep

_MOST = 5_000
_REPEAT = 5


class RetryBudget:
    """Limits the repetitions of all calls of a client, so that a broken network does not multiply their load:
    it starts with 1,000; a repetition takes 1, and each started call returns 0.2, up to 1,000.
    """

    __slots__ = ("fifths",)

    def __init__(self) -> None:
        self.fifths = _MOST

    def on_begin(self) -> None:
        """A call starts."""
        if self.fifths < _MOST:
            self.fifths += 1

    def take(self) -> bool:
        if self.fifths < _REPEAT:
            return False
        self.fifths -= _REPEAT
        return True


class Call(Request, Generic[T]):
    """See above. `failure` is the failure of the latest attempt, and finally of the call; None: a reply has
    arrived.

    The REQUEST contains `body`, with a metadata block in front if `flags` say so, and `items` calls; `word`
    is its deadline if it is sent at once. Fields that keep their defaults in most calls are class attributes.
    """

    state = CallState.START
    attempts = 1
    items = 1
    in_order = False
    """Whether it belongs to a batch whose calls run in order: then later calls follow, and an attempt that
    may still run must not be repeated, even if the method is idempotent."""
    may_have_run: Error | None = None
    """The failure of an attempt that may have run. After it the call never ends as certainly not executed."""
    refusal: Error | None = None
    """The failure of the server that refused the latest attempt as OVERLOADED: the driver sends the call to
    another instance, or waits before it sends it again."""
    adapted: Adapted | None = None
    """The adaptation to the server of the latest attempt, if that has another schema."""
    own: tuple[int, Buffer] | None = None
    """Flags and body in this side's schema, once an attempt went to a server with another one."""

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
        """Starts a call with an available binding of this side's schema: it may be sent."""
        budget = self.budget
        if budget.fifths < _MOST:
            budget.fifths += 1
        self.state = SENDING
        self.binding = binding
        self.route = binding.first + self.method.index
        binding.used = now

    def written(self) -> None:
        """The connection has accepted the request."""
        if self.state is SENDING:
            self.state = SENT
        else:
            self.on(_E.WRITTEN)

    def bound_to(self, binding: Binding, now: float) -> CallStep:
        """The same, for a call that has started, and for servers of any schema. END: a value of the request
        does not exist in the server's schema."""
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
        """The step after an event that is no failure; `settle` handles a REPLY. Raises ValueError for an
        event that is invalid now."""
        cell = TABLE[self.state].get(event)
        if cell is None:
            raise self._mistake(event)
        self.state, step = cell
        return _T.END if step is _T.AGAIN else step

    def fail(self, event: CallEvent, failure: Error, now: float) -> CallStep:
        """The step after an attempt failed. If the call ends, `failure` becomes its failure."""
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
        """The step after the link has finished the request: a REPLY has arrived, or `failure` is set."""
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
            self.state = ENDED
            return END
        if type(self.reply_metadata) is Error:
            return self.fail(_E.REPLIED, Error(Code.DECODE_ERROR, self.reply_metadata.message), now)
        if self.status > MIXED:
            return self.fail(_E.REPLIED, read_whole_failure(self.status, self.payload), now)
        return self.on(_E.REPLIED)

    def begin_with(self, flags: int, body: Buffer) -> None:
        """Sets the next attempt's REQUEST, in this side's schema."""
        self.flags, self.body = flags, body
        self.own = self.adapted = None

    def goes_on_from(self, other: "Call[T]") -> None:
        """This call has some of the items of another one, which was not sent: it inherits that call's
        state."""
        self.state = CallState.RESOLVING
        self.attempts = other.attempts
        self.may_have_run = other.may_have_run

    def _may_repeat(self, before: CallState, event: CallEvent, failure: Error, now: float) -> bool:
        code = failure.code
        surely_not = failure.execution is Execution.NOT_EXECUTED
        if surely_not:
            # OVERLOADED only if the server says so: limits of this side do not change by waiting.
            may = code in ELSEWHERE and (code is not Code.OVERLOADED or event is _E.REPLIED)
        else:
            may = self.method.idempotent and not self.in_order and code in LOST
        if not may or self.attempts >= MOST_ATTEMPTS or now >= self.deadline:
            return False
        anew = surely_not and code is not Code.OVERLOADED and self.may_begin_anew()
        if self.stream and before is _S.SENT and not anew:
            return False
        return code is Code.SHUTTING_DOWN or self.budget.take()

    def may_begin_anew(self) -> bool:
        """Whether nothing of its streams has arrived or was sent, if it has any."""
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
        """The result of an ended call of one item. Raises its failure instead."""
        if self.failure is None and self.status == OK:
            method = self.method
            if self.encoding == method.result_encoding:
                return method.decode_result(self.payload)
            raise wrong_encoding(method, self.encoding)
        outcome = self.outcomes()[0]
        if outcome.error is None:
            raise Error(Code.DECODE_ERROR, "reply: MIXED without a failure")
        raise outcome.error

    def take_result(self) -> T:
        """As `settle` and `value` together, for a call whose OK reply has nothing beside the result. Any
        other one is left as it is, and NOT_OVER returned."""
        if self.failure is not None or self.status != OK or self.reply_metadata is not None:
            return cast(T, NOT_OVER)
        self.state = ENDED
        method = self.method
        if self.encoding == method.result_encoding:
            return method.decode_result(self.payload)
        raise wrong_encoding(method, self.encoding)

    def outcomes(self) -> list[Outcome[T]]:
        """One outcome for each item of an ended call. None of them says that the item was certainly not
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


def wrong_encoding(method: Method[Any, Any], encoding: int) -> Error:
    text = f"result of {method.name} came in encoding {encoding}, planned is {method.result_encoding}"
    return Error(Code.DECODE_ERROR, text)


def too_late() -> Error:
    """The failure of a call whose deadline passed before anything was sent."""
    return not_executed(Code.DEADLINE_EXCEEDED, "the deadline passed before the request was sent")
