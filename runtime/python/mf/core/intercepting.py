"""R0. Runs interceptors around calls: at clients (client/intercepted.py), and around handlers, at servers and
in light (intercepted_servant.py).

Calls that an interceptor makes itself through a client which has this interceptor go past the interceptors
of that client: otherwise none could call without end.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextvars import ContextVar, Token
from functools import partial
from time import monotonic
from typing import Any, Protocol, TypeVar

from mf.core.error import Code, DeclaredError, Error
from mf.core.interceptor import CallEnd, InterceptedCall, Interceptor
from mf.core.log import log_escaped_exception
from mf.core.outcome import Outcome
from mf.core.service import is_async

T = TypeVar("T")


class Interceptors:
    """Those of one client or server, from the outermost to the innermost. Raises TypeError for what is none,
    and for one that is only for the other kind of calls: `blocks` and `awaits` say which there are."""

    __slots__ = ("all", "around", "around_async")

    def __init__(self, given: Iterable[Interceptor], *, blocks: bool, awaits: bool) -> None:
        self.all = tuple(given)
        for each in self.all:
            _check(each, blocks=blocks, awaits=awaits)
        self.around = [each.call for each in reversed(self.all) if _has(each, "call")]
        self.around_async = [each.call_async for each in reversed(self.all) if _has(each, "call_async")]


def _has(each: Interceptor, name: str) -> bool:
    return getattr(type(each), name) is not getattr(Interceptor, name)


def _check(each: object, *, blocks: bool, awaits: bool) -> None:
    name = type(each).__name__
    if not isinstance(each, Interceptor):
        hint = f": give an object of it, {each.__name__}()" if isinstance(each, type) else ""
        raise TypeError(f"interceptors: a {name} is no mf.Interceptor{hint}")
    for own, other, wanted, kind in (
        ("call", "call_async", awaits, "awaited"),
        ("call_async", "call", blocks, "blocking"),
    ):
        if wanted and _has(each, own) and not _has(each, other):
            raise TypeError(f"interceptors: {name} has `{own}` and no `{other}`, which {kind} calls need")
    for hook in ("begin", "call", "end"):
        if is_async(getattr(each, hook)):
            raise TypeError(f"interceptors: `{hook}` of {name} is `async def`: only `call_async` is awaited")


class _Options(Protocol):
    @property
    def interceptors(self) -> Iterable[Interceptor]: ...


def interceptors_of(options: _Options, *, blocks: bool, awaits: bool) -> Interceptors | None:
    """Those of a client or a server; None: it has none, and its calls pay nothing for them."""
    given = tuple(options.interceptors)
    return Interceptors(given, blocks=blocks, awaits=awaits) if given else None


inside: ContextVar[Interceptors | None] = ContextVar("mf_inside_interceptors", default=None)
"""Those whose code runs here."""


def _leave(token: Token[Interceptors | None]) -> None:
    try:  # noqa: SIM105 - each call comes here
        inside.reset(token)
    except ValueError:
        pass  # a coroutine that was dropped is closed in another context, where nothing is to be reset


class Intercepting:
    """One call and its way through interceptors."""

    __slots__ = (
        "_begun",
        "_once",
        "_open",
        "_since",
        "call",
        "failure",
        "interceptors",
        "proceeded",
        "result",
    )

    def __init__(self, interceptors: Interceptors, call: InterceptedCall, *, once: bool) -> None:
        """`once`: it cannot be called on twice."""
        self.interceptors = interceptors
        self.call = call
        self._once = once
        self.proceeded = False
        """Whether it was called on."""
        self.result: Any = None
        self.failure: BaseException | None = None
        """What has left all of them, if that was an exception."""
        self._begun = 0
        self._since = monotonic()
        self._open = [True]

    def begin(self) -> None:
        """Raises what one of them refuses the call with; those before have ended with it."""
        token = inside.set(self.interceptors)
        try:
            for each in self.interceptors.all:
                each.begin(self.call)
                self._begun += 1
        except BaseException as raised:
            self.failed(raised)
            raise
        finally:
            _leave(token)

    def run(self, core: Callable[[], Any]) -> Any:
        """Calls on, within those that are around it."""
        around = self.interceptors.around
        if not around:
            self.proceeded = True
            self.result = core()
            return self.result
        proceed: Callable[[], Any] = partial(self._core, core)
        for each in around:
            proceed = partial(each, self.call, proceed)
        token = inside.set(self.interceptors)
        try:
            self.result = proceed()
        finally:
            _leave(token)
        return self.result

    def _goes_on(self) -> None:
        if self._once and self.proceeded:
            raise RuntimeError("proceed() was called before: a handler runs once for a call")
        self.proceeded = True

    def _core(self, core: Callable[[], T]) -> T:
        self._goes_on()
        token = inside.set(None)
        try:
            return core()
        finally:
            _leave(token)

    async def run_async(self, core: Callable[[], Awaitable[Any]]) -> Any:
        around = self.interceptors.around_async
        if not around:
            self.proceeded = True
            self.result = await core()
            return self.result
        proceed: Callable[[], Awaitable[Any]] = partial(self._core_async, core)
        for each in around:
            proceed = partial(each, self.call, proceed)
        token = inside.set(self.interceptors)
        try:
            self.result = await proceed()
        finally:
            _leave(token)
        return self.result

    async def _core_async(self, core: Callable[[], Awaitable[T]]) -> T:
        self._goes_on()
        token = inside.set(None)
        try:
            return await core()
        finally:
            _leave(token)

    def failed(self, raised: BaseException, **facts: Any) -> None:
        self.end(code_of(raised), raised, **facts)

    def end(
        self,
        code: Code,
        error: BaseException | None = None,
        *,
        value: Any = None,
        outcomes: Sequence[Outcome[Any]] | None = None,
        attempts: int = 1,
        peer: str = "",
        request_bytes: int = 0,
        reply_bytes: int = 0,
    ) -> None:
        """Once; any thread. Later ends are ignored."""
        try:
            self._open.pop()
        except IndexError:
            return
        seconds = monotonic() - self._since
        ended = CallEnd(code, error, value, outcomes, seconds, attempts, peer, request_bytes, reply_bytes)
        token = inside.set(self.interceptors)
        try:
            for each in reversed(self.interceptors.all[: self._begun]):
                try:
                    each.end(self.call, ended)
                except Exception as raised:
                    log_escaped_exception(f"{type(each).__name__}.end", raised)
        finally:
            _leave(token)


def code_of(raised: BaseException) -> Code:
    """What a call has ended with that raised this. Other exceptions are mistakes of interceptors, or
    interrupts."""
    if isinstance(raised, Error):
        return raised.code
    if isinstance(raised, DeclaredError):
        return Code.DECLARED
    return Code.INTERNAL if isinstance(raised, Exception) else Code.CANCELLED
