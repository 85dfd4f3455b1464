"""R5. The first step of an `async def` handler is taken where its request was read: most handlers wait for
nothing, and need no task of their own.

A handler must not notice that. While its first step runs, `asyncio.current_task()` is a real task, the spare
one, which waits behind. A handler that waits keeps it: the task goes on with the handler, and a new spare one
is made for the next call. A handler that has ended leaves the spare task to the next call, unless something
of the task was changed, or is still referred to: then the task ends as that of this call, too. Each handler
has a context of its own.

`begin` is the reference; where mf-runtime-native is in use, its function of the same name takes its place
(runtime/python-native/src/serving.hpp).
"""

from asyncio import AbstractEventLoop, CancelledError, Task, current_task
from asyncio.tasks import _enter_task, _leave_task
from collections.abc import Callable, Coroutine
from contextvars import Context, copy_context
from functools import cache
from types import CoroutineType
from typing import Any, NamedTuple

from mf.codec.native import native
from mf.core.clock import on_test_time
from mf.core.current import current, enter
from mf.core.task_traces import traces_of
from mf.protocol.server_call import ServerCallState
from mf.protocol.state import State
from mf.server.answers import answer_one, decode, may_run
from mf.server.awaited_stream import ended_by, maybe_await
from mf.server.current import ServedCall
from mf.server.offer import Handler

_NOTHING: Any = object()


class Suspended(NamedTuple):
    """A handler that waits."""

    context: Context
    coroutine: Coroutine[Any, Any, Any]
    waited: Any
    """What it has given to its task: a future, or None."""


Begin = Callable[[ServedCall, AbstractEventLoop, "Task[None]"], Suspended | tuple[Any, ...] | None]


def begin(call: ServedCall, loop: AbstractEventLoop, task: "Task[None]") -> Suspended | None:
    """Takes the first step of a handler as `task` of the loop, on which no task may be running. None: the
    call was answered."""
    handler = call.handler
    call.state = (
        ServerCallState.RECEIVED
    )  # what is refused here has not run, and is answered even if it is late
    if not may_run(call, handler):
        return None
    decoded = decode(call, handler)
    if decoded is None:
        return None
    call.state = ServerCallState.RUNNING
    handler.counters.on_executed(1)
    context = copy_context()
    _enter_task(loop, task)
    try:
        coroutine, got = context.run(_step, call, handler, decoded[0])
    finally:
        _leave_task(loop, task)
    if coroutine is not None:
        return Suspended(context, coroutine, got)
    if got is not _NOTHING:
        answer_one(call, handler, got)
    return None


def _step(
    call: ServedCall, handler: Handler, arguments: tuple[Any, ...]
) -> tuple[Coroutine[Any, Any, Any] | None, Any]:
    """The coroutine that waits, and for what; or None, and the result, or _NOTHING if the call was answered
    for what the handler has raised."""
    enter(call)
    try:
        given = handler.function(*arguments)
        if type(given) is not CoroutineType:
            if not hasattr(given, "__await__"):
                return None, given
            given = maybe_await(given)
        try:
            return given, given.send(None)
        except StopIteration as ended:
            return None, ended.value
    except BaseException as raised:
        ended_by(call, handler, raised)
        return None, _NOTHING


def beginner() -> Begin:
    """C++ reads the clock of the system, so a server that is made while a test has set another one uses the
    reference."""
    return begin if on_test_time() else _beginner()


@cache
def _beginner() -> Begin:
    """Found once in a process."""
    module = native().module
    return begin if module is None else beginner_of(module)


def beginner_of(module: Any) -> Begin:
    """The native module goes the straight way of a call of one item, and calls `begin` for all others."""
    native_begin = module.begin
    of_python = (
        begin,
        ended_by,
        answer_one,
        current,
        ServerCallState.RUNNING,
        ServerCallState.ENDED,
        State.CLOSED,
        _enter_task,
        _leave_task,
        maybe_await,
    )
    return lambda call, loop, task: native_begin(call, of_python, loop, task)


class SpareTask(Coroutine[Any, Any, None]):
    """The coroutine of a spare task, and also the future for which that waits while it is spare. Used on its
    loop alone. `when_ended` is called with a call whose handler has waited, once it is answered; `when_lost`
    with this object, if its task was cancelled while it was spare."""

    __slots__ = (
        "_asyncio_future_blocking",
        "_call",
        "_cancelled",
        "_context",
        "_coroutine",
        "_is_blocking",
        "_is_lost",
        "_is_over",
        "_is_touched",
        "_loop",
        "_message",
        "_traces",
        "_waited",
        "_wake",
        "_when_ended",
        "_when_lost",
        "task",
    )

    def __init__(
        self,
        loop: AbstractEventLoop,
        when_ended: Callable[[ServedCall], object],
        when_lost: Callable[["SpareTask"], object],
    ) -> None:
        self._asyncio_future_blocking = False  # what a task asks of a future (asyncio.isfuture)
        self._loop = loop
        self._when_ended = when_ended
        self._when_lost = when_lost
        self._call: ServedCall | None = None
        self._context: Context | None = None
        self._coroutine: Coroutine[Any, Any, Any] | None = None
        self._waited = _NOTHING
        self._cancelled: BaseException | None = None
        """What the handler is to get at its next step."""
        self._wake: Callable[[SpareTask], object] | None = None
        """Has the task take its next step, at once."""
        self._message: Any = None
        """Of the cancellation of a task that is spare."""
        self._is_over = self._is_lost = self._is_touched = self._is_blocking = False
        self.task: Task[None] = loop.create_task(self)
        self._warns(False)
        self._traces = self._traces_now()

    # Spare

    def is_spare(self) -> bool:
        """Whether it may serve another call: the handler whose first step it was for has left no trace."""
        return not self._is_touched and self._traces_now() == self._traces

    def _warns(self, whether: bool) -> None:
        """Of a loop that is closed while the task waits: nothing is lost while it is spare."""
        task: Any = self.task
        task._log_destroy_pending = whether

    def _traces_now(self) -> tuple[Any, ...]:
        return traces_of(self.task)

    def end(self) -> None:
        """The task ends as that of a call that was answered. No task may be running."""
        self._is_over = True
        self._awake()

    def go_on(self, call: ServedCall, suspended: Any) -> None:
        """The task belongs to this handler from now on, which waits. No task may be running."""
        self._call = call
        self._warns(True)
        self._context, self._coroutine, self._waited = suspended
        # Until the task has taken the future from here, nothing waits for it: others may await it.
        self._is_blocking = getattr(self._waited, "_asyncio_future_blocking", None) is True
        if self._is_blocking:
            self._waited._asyncio_future_blocking = False
        self._awake()

    def _awake(self) -> None:
        """A task that has not begun finds out by itself."""
        wake, self._wake = self._wake, None
        if wake is not None:
            wake(self)

    # As a coroutine

    @property
    def __name__(self) -> str:
        """That of the handler, for the text of its task."""
        return getattr(self._coroutine, "__qualname__", "spare task")

    @property
    def cr_frame(self) -> Any:
        """That of the handler, for the stack of its task."""
        return getattr(self._coroutine, "cr_frame", None)

    def __await__(self) -> Any:
        return self

    def send(self, value: Any) -> Any:
        if self._waited is not _NOTHING:
            return self._given()
        if self._coroutine is not None:
            cancelled, self._cancelled = self._cancelled, None
            if cancelled is not None:
                return self._step(self._coroutine.throw, cancelled)
            return self._step(self._coroutine.send, value)
        if self._is_over:
            raise StopIteration
        self._asyncio_future_blocking = True
        return self

    def throw(self, raised: Any, *_: Any) -> Any:
        if self._coroutine is None:
            if not self._is_over:
                self._lose()
            raise raised
        if self._waited is not _NOTHING:  # cancelled before the task knew what its handler waits for
            waited = self._given()
            if waited is None or not waited.cancel(*raised.args):
                self._cancelled = raised
            return waited
        return self._step(self._coroutine.throw, raised)

    def _given(self) -> Any:
        """What the handler waits for, as its coroutine gave it."""
        waited, self._waited = self._waited, _NOTHING
        if self._is_blocking:
            waited._asyncio_future_blocking = True
        return waited

    def close(self) -> None:
        if self._coroutine is not None:
            self._coroutine.close()

    def _step(self, function: Callable[[Any], Any], given: Any) -> Any:
        call, context = self._call, self._context
        assert call is not None
        assert context is not None
        try:
            return context.run(function, given)
        except StopIteration as ended:
            answer_one(call, call.handler, ended.value)
        except BaseException as raised:
            context.run(ended_by, call, call.handler, raised)
        self._call = self._context = self._coroutine = None
        self._is_over = True
        self._when_ended(call)
        raise StopIteration

    # As a future

    def get_loop(self) -> AbstractEventLoop:
        return self._loop

    def add_done_callback(
        self,
        wake: Callable[["SpareTask"], object],
        *,
        context: Context | None = None,  # noqa: ARG002 - of futures
    ) -> None:
        self._wake = wake

    def result(self) -> None:
        if self._is_lost:
            raise CancelledError if self._message is None else CancelledError(self._message)

    def cancel(self, msg: Any = None) -> bool:
        """The task was cancelled while it waits for this. By the handler in its first step: it gets that at
        its next one, if there is one. Otherwise by a program that cancels all tasks of its loop."""
        self._is_touched = True
        if self._is_over or current_task(self._loop) is self.task:
            return False
        if not self._is_lost:
            self._message = msg
            self._lose()
            self._loop.call_soon(self._awake)
        return True

    def _lose(self) -> None:
        self._is_lost = True
        self._when_lost(self)
