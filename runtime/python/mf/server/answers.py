"""R5. The steps before and after a handler: whether a request may run, its arguments, and the outcome as a
reply. It uses codecs and connections; it runs nothing. Every exception becomes a failure of the call or of
the item.
"""

from collections.abc import Iterable
from time import monotonic
from typing import Any

from mf.core.error import Code, Error, Execution, HandlerFailed, not_executed
from mf.core.log import log_failure
from mf.core.outcome import Failure, Outcome, failure_in, failure_of, words_for
from mf.protocol.frame import ENCODING_MASK, STREAM
from mf.protocol.reply import MIXED, OK, pack_mixed
from mf.server.current import ServedCall
from mf.server.offer import Handler

_KIND = ENCODING_MASK | STREAM
_MOST_EMPTY_ITEMS = 65_536


def may_run(call: ServedCall, handler: Handler) -> bool:
    """Called before the handler starts: refuses calls that are late, cancelled, or do not match the
    schema."""
    flags = call.flags
    if call.deadline < monotonic():
        handler.counters.on_expired(call.count)
        error = not_executed(Code.DEADLINE_EXCEEDED, "the deadline passed before the handler started")
    elif flags & _KIND != handler.planned:
        error = not_executed(Code.DECODE_ERROR, _other_kind(flags, handler))
    elif call.count > _MOST_EMPTY_ITEMS and call.count > len(call.payload):
        text = f"{call.count} items announced in {len(call.payload)} bytes"
        error = not_executed(Code.DECODE_ERROR, text)
    else:
        return True
    call.connection.fail(call, error)
    return False


def arguments_of(call: ServedCall) -> tuple[tuple[Any, ...], Iterable[Any]] | None:
    """What `decode` returns for a call that may run."""
    return decode(call, call.handler) if may_run(call, call.handler) else None


def _other_kind(flags: int, handler: Handler) -> str:
    if flags & STREAM != handler.planned & STREAM:
        has = "has streams" if handler.method.stream else "has no streams"
        return f"{handler} {has}, and the request says otherwise"
    planned = handler.method.request_encoding
    return f"parameters of {handler} came in encoding {flags & ENCODING_MASK}, planned is {planned}"


def decode(call: ServedCall, handler: Handler) -> tuple[tuple[Any, ...], Iterable[Any]] | None:
    """The arguments of the only item, or those of all items; None if the payload is malformed, which has been
    answered.
    """
    method = handler.method
    try:
        if call.count == 1:
            return method.decode_request(call.payload), ()
        return (), method.decode_requests(call.payload, call.count)
    except Error as malformed:
        call.connection.fail(call, not_executed(malformed.code, malformed.message))
        return None


def failure_for(call: ServedCall, handler: Handler, raised: BaseException) -> Failure:
    """The caller's failure for what a handler raised, which is logged if it has failed."""
    return _sent(call, handler, failure_of(raised, handler.method.error_types))


def _sent(call: ServedCall, handler: Handler, failure: Failure) -> Failure:
    """What the caller gets of a failure, which is logged if the handler has failed."""
    if not isinstance(failure, HandlerFailed):
        return failure
    log_failure(failure, call)
    return failure if failure.raised is None else _without_text(handler, failure)


def _without_text(handler: Handler, failure: HandlerFailed) -> HandlerFailed:
    """The text of an exception that was not meant for the caller stays in the log, unless the server sends
    texts. The caller gets the reference of the line."""
    if handler.error_texts:
        return failure
    sent = _handler_failed(words_for(failure.reference or ""))
    sent.instead_of = failure
    return sent


def _handler_failed(text: str) -> HandlerFailed:
    return HandlerFailed(Code.HANDLER_FAILED, text, Execution.UNKNOWN)


def checked(call: ServedCall, handler: Handler, outcomes: Any) -> list[Outcome[Any]]:
    """Checks that a servant's own batch function returned one outcome for each item. Interceptors keep the
    list with the texts of failures; what is returned is for the caller."""
    count = call.count
    if handler.method.oneway:
        return []
    if not isinstance(outcomes, list) or len(outcomes) != count:
        got = f"{len(outcomes)} outcomes" if isinstance(outcomes, list) else type(outcomes).__name__
        raise TypeError(f"{handler.method.batch_attribute} must return a list of {count} outcomes, not {got}")
    for index, outcome in enumerate(outcomes):
        error = outcome.error
        failure = error and failure_in(error, handler.method.error_types)
        if failure is not error:
            outcomes[index] = Outcome(error=failure)
    return [
        outcome if outcome.error is None else Outcome(error=_sent(call, handler, outcome.error))
        for outcome in outcomes
    ]


def answer_one(call: ServedCall, handler: Handler, result: Any) -> None:
    method = handler.method
    if method.oneway:
        call.connection.drop(call)
        return
    try:
        payload = method.encode_result(result)
    except Exception as raised:
        call.connection.fail(call, bad_result(call, raised))
        return
    call.connection.reply(call, OK, method.result_encoding, payload)


def answer_all(call: ServedCall, handler: Handler, values: list[Any], outcomes: list[Outcome[Any]]) -> None:
    method = handler.method
    if method.oneway:
        call.connection.drop(call)
    elif outcomes:
        answer_outcomes(call, handler, outcomes)
    else:
        try:
            payload = method.encode_results(values)
        except Exception:
            answer_outcomes(call, handler, list(map(Outcome, values)))
        else:
            call.connection.reply(call, OK, method.result_encoding, payload)


def answer_outcomes(call: ServedCall, handler: Handler, outcomes: list[Outcome[Any]]) -> None:
    method = handler.method
    if method.oneway:
        call.connection.drop(call)
        return
    failed = any(outcome.error is not None for outcome in outcomes)
    try:
        payload = _encode_outcomes(handler, outcomes, failed)
    except Exception:
        # A result violates the schema: find out which ones, so that the others are sent.
        outcomes = [_encodable(call, handler, outcome) for outcome in outcomes]
        failed = True
        payload = pack_mixed(method, outcomes)
    if failed and handler.watched:
        call.ends_mixed(outcomes)
    call.connection.reply(call, MIXED if failed else OK, method.result_encoding, payload)


def _encode_outcomes(handler: Handler, outcomes: list[Outcome[Any]], failed: bool) -> bytes | bytearray:
    if failed:
        return pack_mixed(handler.method, outcomes)
    return handler.method.encode_results([outcome._value for outcome in outcomes])


def _encodable(call: ServedCall, handler: Handler, outcome: Outcome[Any]) -> Outcome[Any]:
    try:
        pack_mixed(handler.method, [outcome])
    except Exception as raised:
        return Outcome(error=bad_result(call, raised))
    return outcome


def bad_result(call: ServedCall, raised: Exception) -> HandlerFailed:
    """The caller's failure for a result that was not encoded. What the codec says of it names fields of the
    schema, which the caller has, too; another exception is one of the handler's values, or of a codec of the
    server's own, and its text stays in the log."""
    refused = raised.__context__ if isinstance(raised, Error) else raised
    is_of_codec = isinstance(raised, Error) and (refused is None or refused.__cause__ is None)
    said = raised.message if isinstance(raised, Error) else f"{type(raised).__qualname__}: {raised}"
    failure = _handler_failed(f"the result is not what the schema says: {said}")
    failure.raised = raised
    log_failure(failure, call)
    return failure if is_of_codec else _without_text(call.handler, failure)


def answer_raised(call: ServedCall, handler: Handler, raised: BaseException) -> None:
    """The handler, or a servant's batch function as a whole, raised an exception."""
    if call.stopped is not None and raised is call.stopped:
        call.connection.drop(call)  # it stopped as requested
        return
    failure = failure_for(call, handler, raised)
    if isinstance(failure, Error):
        call.connection.fail(call, failure)
    else:
        answer_outcomes(call, handler, [Outcome(error=failure)] * call.count)


def bad_value(call: ServedCall, raised: Exception) -> Error:
    """The failure of a call whose handler gave a stream value that cannot be sent."""
    if isinstance(raised, Error) and raised.code == Code.MESSAGE_TOO_LARGE:
        return raised
    return bad_result(call, raised)
