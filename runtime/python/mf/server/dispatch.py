"""R5. Runs the plain handler of a request on this thread: the IO thread, a worker, or a stream's own thread.

Every request is a batch; a single item takes a shorter path.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from mf.codec.native import native
from mf.core.clock import on_test_time
from mf.core.current import current, enter, leave
from mf.core.immediate import immediate
from mf.core.outcome import Outcome
from mf.protocol.server_call import ServerCallState
from mf.protocol.state import State
from mf.server.answers import (
    answer_all,
    answer_one,
    answer_outcomes,
    answer_raised,
    checked,
    decode,
    failure_for,
    may_run,
)
from mf.server.blocking_stream import ThreadWaits
from mf.server.current import ServedCall
from mf.server.offer import Handler
from mf.server.stream import StreamCall
from mf.server.stream_ends import serve_stream

_RUNNING = ServerCallState.RUNNING


def run(call: ServedCall) -> None:
    """Runs a plain handler on this thread and answers."""
    handler = call.handler
    if call.state is not _RUNNING and call.connection.hold(call):
        return
    if not may_run(call, handler):
        return
    decoded = decode(call, handler)
    if decoded is None:
        return
    arguments, many = decoded
    if call.state is not _RUNNING and not call.connection.started(call):
        return
    handler.counters.on_executed(call.count)
    token = enter(call)
    try:
        if call.count == 1:
            result = handler.function(*arguments)
        elif handler.batch is None:
            answer_all(call, handler, *_run_each(call, handler, many))
            return
        else:
            outcomes = handler.batch([handler.method.request(*item) for item in many])
            answer_outcomes(call, handler, checked(call, handler, outcomes))
            return
    except BaseException as raised:
        answer_raised(call, handler, raised)
        return
    finally:
        leave(token)
    answer_one(call, handler, result)


def runner() -> Callable[[ServedCall], None]:
    """`run` for calls that run where they were read. C++ reads the clock of the system, so all calls of a
    server that is made while a test has set another one go through Python."""
    return run if on_test_time() else _runner()


@cache
def _runner() -> Callable[[ServedCall], None]:
    """Found once in a process."""
    module = native().module
    return run if module is None else runner_of(module)


def runner_of(module: Any) -> Callable[[ServedCall], None]:
    """The native module goes the straight way of a call of one item (runtime/python-native/src/serving.hpp),
    and calls `run` for all others."""
    native_run = module.run
    of_python = (run, answer_raised, answer_one, current, _RUNNING, ServerCallState.ENDED, State.CLOSED)
    return lambda call: native_run(call, of_python)


def _run_each(
    call: ServedCall, handler: Handler, many: Iterable[Any]
) -> tuple[list[Any], list[Outcome[Any]]]:
    """Calls the handler for each item. Returns the values if all succeeded; otherwise outcomes, too, which
    then count."""
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
            outcomes.append(Outcome(error=failure_for(call, handler, raised)))
            values.clear()
        else:
            if outcomes:
                outcomes += map(Outcome, values)
            return values, outcomes


def run_stream(call: StreamCall) -> None:
    """Runs a plain handler of a stream, which may wait, and answers."""
    immediate(serve_stream(call, ThreadWaits(call)))
