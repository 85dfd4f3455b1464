"""R0. The end of one call of several: a value, a declared error or an Error, exactly one of them."""

from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, Generic, TypeVar

from mf.core.code_class import BY_HANDLER
from mf.core.current import current
from mf.core.error import Code, DeclaredError, Error, Execution, HandlerFailed, RefusedError

T = TypeVar("T")

_AT_ONCE = 1024
Failure = Error | DeclaredError


class Outcome(Generic[T]):
    """A value or a failure. `Outcome(5)` is a result; `Outcome(error=NoSuchCollection("x"))` a failure."""

    __slots__ = ("_value", "error")

    _value: Any
    error: Failure | None
    """The failure, or None if there is a value."""

    def __init__(self, value: T | None = None, error: Failure | None = None) -> None:
        self._value = value
        self.error = error

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return self.error is None

    def value(self) -> T:
        """The value. Raises the failure if there is none."""
        if self.error is not None:
            raise self.error
        value: T = self._value
        return value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Outcome):
            return NotImplemented
        return self._value == other._value and _comparable(self.error) == _comparable(other.error)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Outcome({self._value!r})" if self.error is None else f"Outcome(error={self.error!r})"


def _comparable(error: Failure | None) -> object:
    return (error.code, error.execution, error.message) if isinstance(error, Error) else error


def failure_of(raised: BaseException, declared: tuple[type[DeclaredError], ...]) -> Failure:
    """The caller's failure for an exception that a handler raised.

    It never says that the call was not executed, whatever the exception claims: the handler has started, and
    it is unknown what it did before it raised. An Error with another code comes from the handler's own
    actions (for example a nested call), and would be wrong for this call. What an interceptor refuses a call
    with is meant for the caller.
    """
    if isinstance(raised, RefusedError):
        if isinstance(raised.failure, Error):
            return raised.failure
        raised = raised.failure
    if isinstance(raised, declared):
        return raised
    if isinstance(raised, Error) and raised.code in BY_HANDLER:
        return raised if raised.execution == Execution.UNKNOWN else Error(raised.code, raised.message)
    failed = HandlerFailed(Code.HANDLER_FAILED, words_of(raised), Execution.UNKNOWN)
    failed.raised = raised
    return failed


def failure_in(given: Failure, declared: tuple[type[DeclaredError], ...]) -> Failure:
    """The caller's failure for a failure that a servant's batch function returned for an item, if that is a
    valid one.
    """
    if isinstance(given, DeclaredError) or given.code in (Code.OK, Code.DECLARED):
        return failure_of(given, declared)
    return given


def words_of(raised: BaseException) -> str:
    """What a handler raised, as the message of its call's failure. The part of an Error's text about the
    execution of another call is left out: the failure states the execution of its own call.
    """
    if isinstance(raised, Error):
        return f"{raised.code.name}: {raised.message}" if raised.message else raised.code.name
    text = _text_of(raised)
    name = type(raised).__qualname__
    return f"{name}: {text}" if text else name


def words_for(reference: str) -> str:
    """The message for a caller that is not to get the text of an exception: the reference of the line in the
    log that has it; empty: there is no such line."""
    if reference:
        return f"the handler has failed: the log of its server has the reason, with the reference {reference}"
    return "the handler has failed: the log of its server counts it"


def _text_of(raised: BaseException) -> str:
    try:
        return str(raised)
    except Exception:  # raised by its `__str__`: the caller still gets an answer
        return ""


def each(function: Callable[..., T], arguments: Iterable[tuple[Any, ...]]) -> list[Outcome[T]]:
    """Calls `function(*a)` for each a of `arguments`; an exception becomes the outcome of its item. Generated
    batch functions use it."""
    outcomes: list[Outcome[T]] = []
    for item in arguments:
        try:
            outcomes.append(Outcome(function(*item)))
        except Exception as raised:
            outcomes.append(_raised(function, raised))
    return outcomes


async def each_async(
    function: Callable[..., Awaitable[T]], arguments: Iterable[tuple[Any, ...]]
) -> list[Outcome[T]]:
    """The same for a `function` that is an `async def`. The items of `arguments` run concurrently, at most
    1,024 at once; the outcomes are in the order of the items."""
    from mf.core.many_at_once import some_at_once  # which imports asyncio

    return await some_at_once(_one_async(function, item) for item in arguments)


async def each_in_order(
    function: Callable[..., Awaitable[T]], arguments: Iterable[tuple[Any, ...]]
) -> list[Outcome[T]]:
    """The same of `function`, one item of `arguments` after another: for methods that are @ordered."""
    return await one_by_one(_one_async(function, item) for item in arguments)


async def one_by_one(runs: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results, each started when the previous one has ended. Raises CancelledError once the running task
    is cancelled, even if an item handled that as its own failure: no further one starts then.
    """
    from asyncio import CancelledError, current_task, sleep

    task = current_task()
    results: list[T] = []
    for run in runs:
        results.append(await run)
        if task is not None and task.cancelling():
            raise CancelledError
        if len(results) % _AT_ONCE == 0:
            await sleep(0)  # lets other calls of the loop run
    return results


async def _one_async(function: Callable[..., Awaitable[T]], item: tuple[Any, ...]) -> Outcome[T]:
    try:
        return Outcome(await function(*item))
    except BaseException as raised:  # a task that ended with SystemExit would end the loop of all handlers
        return _raised(function, raised)


def _raised(function: Callable[..., Any], raised: BaseException) -> Outcome[Any]:
    if isinstance(raised, DeclaredError):
        return Outcome(error=raised)
    from mf.core.log import log_escaped_exception, log_failure

    failure = failure_of(raised, ())
    call = current.get()
    if call is None:
        log_escaped_exception(getattr(function, "__qualname__", "handler"), raised)
    elif isinstance(failure, HandlerFailed):
        log_failure(failure, call)
    return Outcome(error=failure)
