"""R5. A request to its handler, and the handler's outcome to a reply. Knows codecs and servants, not
sockets.

Every request is a batch; one item takes the straight way. Whatever goes wrong becomes a failure of the call
or of the item; nothing escapes. The same code runs on the IO thread, on a worker and, in its async form, on
the servants' loop.
"""

from collections.abc import Callable, Iterable
from time import monotonic
from typing import Any

from mf.core.current import enter, leave
from mf.core.error import Code, Error, Execution, not_executed
from mf.core.log import log_handler_failure
from mf.core.outcome import Failure, Outcome, failure_in, failure_of
from mf.protocol.frame import ENCODING_MASK
from mf.protocol.reply import MIXED, OK, pack_mixed
from mf.server.current import ServedCall
from mf.server.offer import Handler

_MOST_EMPTY_ITEMS = 65_536


def run(call: ServedCall) -> None:
    """Runs a plain handler on this thread and answers."""
    handler = call.handler
    if not _may_run(call, handler):
        return
    decoded = _decode(call, handler)
    if decoded is None:
        return
    arguments, many = decoded
    token = enter(call)
    try:
        if call.count == 1:
            result = handler.function(*arguments)
        elif handler.batch is None:
            _answer_all(call, handler, *_run_each(handler, many))
            return
        else:
            outcomes = handler.batch([handler.method.request(*item) for item in many])
            _answer_outcomes(call, handler, _checked(handler, outcomes, call.count))
            return
    except BaseException as raised:
        _answer_raised(call, handler, raised)
        return
    finally:
        leave(token)
    _answer_one(call, handler, result)


async def run_async(call: ServedCall) -> None:
    """The same for a servant with `async def`, on the servants' loop. The items of a batch run
    concurrently.
    """
    handler = call.handler
    if not _may_run(call, handler):
        return
    decoded = _decode(call, handler)
    if decoded is None:
        return
    arguments, many = decoded
    token = enter(call)
    try:
        if call.count == 1:
            result = await _maybe_await(handler.function(*arguments))
        else:
            _answer_outcomes(call, handler, await _run_many_async(call, handler, many))
            return
    except BaseException as raised:
        _answer_raised(call, handler, raised)
        return
    finally:
        leave(token)
    _answer_one(call, handler, result)


async def _maybe_await(value: Any) -> Any:
    return await value if hasattr(value, "__await__") else value


async def _run_many_async(call: ServedCall, handler: Handler, many: Iterable[Any]) -> list[Outcome[Any]]:
    if handler.batch is not None:
        outcomes = await _maybe_await(handler.batch([handler.method.request(*item) for item in many]))
        return _checked(handler, outcomes, call.count)
    from asyncio import gather

    return await gather(*(_one_of_many(handler, item) for item in many))


async def _one_of_many(handler: Handler, item: Any) -> Outcome[Any]:
    try:
        return Outcome(await _maybe_await(handler.function(*item)))
    except BaseException as raised:  # a task that ended with SystemExit would end the loop of all handlers
        return Outcome(error=_failure(handler, raised))


def _may_run(call: ServedCall, handler: Handler) -> bool:
    """Before the handler starts: refuses what is late, cancelled, or not what the schema plans."""
    if call.cancelled:
        call.connection.drop(call)
        return False
    encoding = call.flags & ENCODING_MASK
    planned = handler.method.request_encoding
    if call.deadline < monotonic():
        error = not_executed(Code.DEADLINE_EXCEEDED, "the deadline passed before the handler started")
    elif encoding != planned:
        text = f"parameters of {handler} came in encoding {encoding}, planned is {planned}"
        error = not_executed(Code.DECODE_ERROR, text)
    elif call.count > _MOST_EMPTY_ITEMS and call.count > len(call.payload):
        text = f"{call.count} items announced in {len(call.payload)} bytes"
        error = not_executed(Code.DECODE_ERROR, text)
    else:
        return True
    call.connection.fail(call, error)
    return False


def _decode(call: ServedCall, handler: Handler) -> tuple[tuple[Any, ...], Iterable[Any]] | None:
    """The arguments of the only item, or those of all; None if the payload is malformed and that was
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


def _run_each(handler: Handler, many: Iterable[Any]) -> tuple[list[Any], list[Outcome[Any]]]:
    """Calls the handler for each item. The values if all went well; else outcomes too, and those count."""
    function: Callable[..., Any] = handler.function
    values: list[Any] = []
    append = values.append
    rest = iter(many)
    outcomes: list[Outcome[Any]] = []
    while True:
        try:
            for item in rest:
                append(function(*item))
        except Exception as raised:
            outcomes += map(Outcome, values)
            outcomes.append(Outcome(error=_failure(handler, raised)))
            values.clear()
        else:
            if outcomes:
                outcomes += map(Outcome, values)
            return values, outcomes


def _failure(handler: Handler, raised: BaseException) -> Failure:
    failure = failure_of(raised, handler.method.error_types)
    if isinstance(failure, Error) and failure.code == Code.HANDLER_FAILED:
        log_handler_failure(repr(handler), raised)
    return failure


def _checked(handler: Handler, outcomes: Any, count: int) -> list[Outcome[Any]]:
    """What a servant's own batch function gave, if it is one outcome per item."""
    if handler.method.oneway:
        return []
    if not isinstance(outcomes, list) or len(outcomes) != count:
        got = f"{len(outcomes)} outcomes" if isinstance(outcomes, list) else type(outcomes).__name__
        raise TypeError(f"{handler.method.batch_attribute} must return a list of {count} outcomes, not {got}")
    for index, outcome in enumerate(outcomes):
        error = outcome.error
        told = error and failure_in(error, handler.method.error_types)
        if told is not error:
            outcomes[index] = Outcome(error=told)
    return outcomes


def _answer_one(call: ServedCall, handler: Handler, result: Any) -> None:
    method = handler.method
    if method.oneway:
        call.connection.drop(call)
        return
    try:
        payload = method.encode_result(result)
    except Exception as raised:
        call.connection.fail(call, _bad_result(handler, raised))
        return
    call.connection.reply(call, OK, method.result_encoding, payload)


def _answer_all(call: ServedCall, handler: Handler, values: list[Any], outcomes: list[Outcome[Any]]) -> None:
    if outcomes:
        _answer_outcomes(call, handler, outcomes)
        return
    method = handler.method
    if method.oneway:
        call.connection.drop(call)
        return
    try:
        payload = method.encode_results(values)
    except Exception:
        _answer_outcomes(call, handler, list(map(Outcome, values)))
        return
    call.connection.reply(call, OK, method.result_encoding, payload)


def _answer_outcomes(call: ServedCall, handler: Handler, outcomes: list[Outcome[Any]]) -> None:
    method = handler.method
    if method.oneway:
        call.connection.drop(call)
        return
    failed = any(outcome.error is not None for outcome in outcomes)
    try:
        payload = _encode_outcomes(handler, outcomes, failed)
    except Exception:
        # Some result is not what the schema says: find which ones, so that the others arrive.
        outcomes = [_encodable(handler, outcome) for outcome in outcomes]
        failed = True
        payload = pack_mixed(method, outcomes)
    call.connection.reply(call, MIXED if failed else OK, method.result_encoding, payload)


def _encode_outcomes(handler: Handler, outcomes: list[Outcome[Any]], failed: bool) -> bytes | bytearray:
    if failed:
        return pack_mixed(handler.method, outcomes)
    return handler.method.encode_results([outcome._value for outcome in outcomes])


def _encodable(handler: Handler, outcome: Outcome[Any]) -> Outcome[Any]:
    try:
        pack_mixed(handler.method, [outcome])
    except Exception as raised:
        return Outcome(error=_bad_result(handler, raised))
    return outcome


def _bad_result(handler: Handler, raised: Exception) -> Error:
    log_handler_failure(f"encoding a result of {handler}", raised)
    text = raised.message if isinstance(raised, Error) else f"{type(raised).__qualname__}: {raised}"
    return Error(Code.HANDLER_FAILED, f"the result is not what the schema says: {text}", Execution.UNKNOWN)


def _answer_raised(call: ServedCall, handler: Handler, raised: BaseException) -> None:
    """The handler, or a servant's batch function as a whole, raised."""
    failure = _failure(handler, raised)
    if isinstance(failure, Error):
        call.connection.fail(call, failure)
    else:
        _answer_outcomes(call, handler, [Outcome(error=failure)] * call.count)
