"""R5. What is common to all ways of calling: the deadline, the failure of a reply, and whether to try
again.
"""

from time import monotonic
from typing import Any

from mf.core.error import Code, Error, Execution
from mf.core.options import DEFAULT_DEADLINE, CallOptions
from mf.core.service import Method
from mf.protocol.calls import Call
from mf.protocol.reply import MIXED, read_outcomes, read_whole_failure

MOST_RETRIES = 2


def seconds_of(method: Method[Any, Any], options: CallOptions | None) -> float:
    """The deadline of a call: what the caller says, else what the schema says, else 30 s."""
    if options is not None and options.deadline is not None:
        return options.deadline
    return method.deadline or DEFAULT_DEADLINE


def repeatable(method: Method[Any, Any], failure: Error) -> bool:
    """Whether a failed attempt may be repeated on another connection: if it surely was not executed, or if
    the method is idempotent.
    """
    if failure.execution == Execution.NOT_EXECUTED:
        return failure.code in (Code.UNAVAILABLE, Code.SHUTTING_DOWN)
    return method.idempotent and failure.code == Code.CONNECTION_LOST


def failure_of_reply(method: Method[Any, Any], call: Call) -> Exception:
    """What a single call that did not end with OK raises."""
    if call.failure is not None:
        return call.failure
    if call.status != MIXED:
        return read_whole_failure(call.status, call.payload)
    try:
        outcome = read_outcomes(method, MIXED, call.encoding, 1, call.payload)[0]
    except Error as malformed:
        return malformed
    return outcome.error or Error(Code.DECODE_ERROR, "reply: MIXED without a failure")


def check_encoding(method: Method[Any, Any], call: Call) -> None:
    if call.encoding != method.result_encoding:
        text = (
            f"result of {method.name} came in encoding {call.encoding}, planned is {method.result_encoding}"
        )
        raise Error(Code.DECODE_ERROR, text)


class Attempts:
    """The attempts of one call so far. An attempt that may have run is not forgotten: if a later one surely
    did not run, the call as a whole still may have.
    """

    __slots__ = ("_deadline", "_failures", "_method", "_unknown")

    def __init__(self, method: Method[Any, Any], deadline: float) -> None:
        self._method = method
        self._deadline = deadline
        self._failures = 0
        self._unknown: Error | None = None

    def failed(self, failure: Exception) -> None:
        """Returns if there may be another attempt; else raises what the call ends with."""
        if isinstance(failure, Error):
            self._failures += 1
            allowed = self._failures <= MOST_RETRIES and repeatable(self._method, failure)
            if allowed and monotonic() < self._deadline:
                if failure.execution != Execution.NOT_EXECUTED:
                    self._unknown = failure
                return
            raise self.final(failure)
        raise failure

    def final(self, failure: Error) -> Error:
        """What a call ends with whose last attempt failed so."""
        if self._unknown is not None and failure.execution == Execution.NOT_EXECUTED:
            return self._unknown
        return failure
