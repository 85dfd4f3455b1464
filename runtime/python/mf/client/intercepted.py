"""R5. Calls that block, with the interceptors of their client around them. It depends on targets alone: over
connections, in light, and those of another client. async_intercepted.py is the counterpart for asyncio.

A stream and a batch are called on when they are open; they end when their caller learns that they have, or
drops them.
"""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from time import monotonic
from typing import Any, Generic, TypeVar, cast

from mf.core.cached import Caches
from mf.core.current import current
from mf.core.error import Code, cancelled_by_caller
from mf.core.intercepting import Intercepting, Interceptors, inside
from mf.core.interceptor import CallKind, InterceptedCall
from mf.core.options import DEFAULT_DEADLINE, INFINITE, BatchOptions, CallOptions
from mf.core.outcome import Outcome
from mf.core.replicated import Replicated, ReplicatedOptions
from mf.core.service import Method, ServiceInfo
from mf.core.stream import DuplexStream, StreamReader
from mf.core.target import AnyTarget, BatchCall, Scattered, ScatterTarget, Target
from mf.protocol.call import Call

T = TypeVar("T")
R = TypeVar("R")
O = TypeVar("O", bound=CallOptions)  # noqa: E741 - the kind of options
A = TypeVar("A", bound=AnyTarget[Any])


class ClientWay(Intercepting, Generic[O]):
    """One call of a client. `options` are those to call on with."""

    __slots__ = ("_calls", "_options")

    def __init__(
        self,
        interceptors: Interceptors,
        service: ServiceInfo,
        agent: str | None,
        method: Method[Any, Any],
        kind: CallKind,
        options: O,
        arguments: Sequence[Any],
    ) -> None:
        call = InterceptedCall()
        call.service = service.name
        call.agent = agent or ""
        call.info = method
        call.kind = kind
        call.items = len(arguments) if kind in (CallKind.BATCH, CallKind.BULK) else 1
        call.arguments = arguments
        call.metadata = dict(options.metadata or ())
        given = options.deadline
        seconds = given if given is not None else method.deadline or DEFAULT_DEADLINE
        call.deadline = monotonic() + seconds
        if (outer := current.get()) is not None:
            call.deadline = min(call.deadline, outer.deadline)
        call.notes = {}
        call.request_bytes = 0
        call.served = None
        super().__init__(interceptors, call, once=False)
        self._options = options
        self._calls: list[Call[Any]] = []

    def options(self) -> O:
        """For the next request, as interceptors have left them."""
        options = copy(self._options)
        options.calls = self._calls
        options.deadline = INFINITE
        if self.call.deadline != INFINITE:
            options.deadline = self.call.deadline - monotonic()
        options.metadata = self.call.metadata or None
        return options

    def ends(self, error: BaseException | None, outcomes: Sequence[Outcome[Any]] | None = None) -> None:
        facts = self._facts()
        if error is not None:
            self.failed(error, outcomes=outcomes, **facts)
        else:
            self.end(Code.OK, value=self.result, outcomes=outcomes, **facts)
        self.result = None

    def _facts(self) -> dict[str, Any]:
        calls = self._calls
        if not calls:  # refused, answered without a request, or in light
            return {}
        latest = calls[-1].binding
        return {
            "attempts": sum(call.attempts for call in calls),
            "peer": "" if latest is None else latest.peer,
            "request_bytes": sum(len(call.body) for call in calls),
            "reply_bytes": sum(len(call.payload) for call in calls),
        }


class InterceptedPlace(Generic[A]):
    """What blocking and awaited targets have in common: `inner` is what is called on."""

    __slots__ = ("agent", "inner", "interceptors", "service")

    def __init__(
        self, interceptors: Interceptors, service: ServiceInfo, inner: A, agent: str | None = None
    ) -> None:
        self.interceptors = interceptors
        self.service = service
        self.inner = inner
        self.agent = agent

    def for_agent(self, agent: str | None) -> Any:
        return type(self)(self.interceptors, self.service, self.inner.for_agent(agent), agent)

    @property
    def caches(self) -> Caches:
        return self.inner.caches

    @property
    def agent_key(self) -> str:
        return self.inner.agent_key

    @property
    def forwarded(self) -> tuple[str, ...]:
        return self.inner.forwarded

    def is_own(self) -> bool:
        """Whether an interceptor of this client makes the call itself."""
        return inside.get() is self.interceptors

    def way(
        self, method: Method[Any, Any], kind: CallKind, options: O, arguments: Sequence[Any]
    ) -> ClientWay[O]:
        """The call, which all have begun."""
        way = ClientWay(self.interceptors, self.service, self.agent, method, kind, options, arguments)
        way.begin()
        return way


class InterceptedTarget(InterceptedPlace[Target], Target):
    """See above. Thread-safe."""

    __slots__ = ()

    def several(self, agents: list[str] | None) -> ScatterTarget:
        return _InterceptedScatter(self, self.inner.several(agents))

    def call(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> T:
        if self.is_own():
            return self.inner.call(method, options, *arguments)
        way = self.way(method, CallKind.CALL, options or CallOptions(), arguments)
        return cast(T, _run(way, lambda: self.inner.call(method, way.options(), *arguments)))

    def batch(
        self, method: Method[R, T], requests: Sequence[R], options: BatchOptions | None = None
    ) -> BatchCall[T]:
        if self.is_own():
            return self.inner.batch(method, requests, options)
        way = self.way(method, CallKind.BATCH, options or BatchOptions(), requests)
        return _Batch(way, _open(way, lambda: self.inner.batch(method, requests, way.options())))

    def bulk(
        self, method: Method[R, T], requests: Sequence[R], options: CallOptions | None = None
    ) -> list[Outcome[T]]:
        if self.is_own():
            return self.inner.bulk(method, requests, options)
        way = self.way(method, CallKind.BULK, options or CallOptions(), requests)
        outcomes: list[Outcome[T]] = _open(way, lambda: self.inner.bulk(method, requests, way.options()))
        way.ends(None, outcomes)
        return outcomes

    def replicate(
        self, method: Method[Any, T], options: ReplicatedOptions | None, *arguments: Any
    ) -> Replicated[T]:
        if self.is_own():
            return self.inner.replicate(method, options, *arguments)
        way = self.way(method, CallKind.REPLICATED, options or ReplicatedOptions(), arguments)
        replicated = _run(way, lambda: self.inner.replicate(method, way.options(), *arguments))
        return cast("Replicated[T]", replicated)

    # Streams

    def read_stream(
        self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any
    ) -> StreamReader[Any]:
        if self.is_own():
            return self.inner.read_stream(method, options, *arguments)
        way = self.way(method, CallKind.STREAM, options or CallOptions(), arguments)
        return _Reader(way, _open(way, lambda: self.inner.read_stream(method, way.options(), *arguments)))

    def write_stream(
        self, method: Method[Any, T], options: CallOptions | None, values: Iterable[Any], *arguments: Any
    ) -> T:
        if self.is_own():
            return self.inner.write_stream(method, options, values, *arguments)
        way = self.way(method, CallKind.STREAM, options or CallOptions(), arguments)
        return cast(T, _run(way, lambda: self.inner.write_stream(method, way.options(), values, *arguments)))

    def duplex_stream(
        self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any
    ) -> DuplexStream[Any, Any]:
        if self.is_own():
            return self.inner.duplex_stream(method, options, *arguments)
        way = self.way(method, CallKind.STREAM, options or CallOptions(), arguments)
        return _Duplex(way, _open(way, lambda: self.inner.duplex_stream(method, way.options(), *arguments)))


def _run(way: ClientWay[Any], core: Callable[[], Any]) -> Any:
    """A call that has ended when it returns."""
    result = _open(way, core)
    way.ends(None)
    return result


def _open(way: ClientWay[Any], core: Callable[[], Any]) -> Any:
    try:
        return way.run(core)
    except BaseException as raised:
        way.ends(raised)
        raise


class _InterceptedScatter(ScatterTarget):
    __slots__ = ("_inner", "_target")

    def __init__(self, target: InterceptedTarget, inner: ScatterTarget) -> None:
        self._target = target
        self._inner = inner

    def call(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> Scattered[str, T]:
        if self._target.is_own():
            return self._inner.call(method, options, *arguments)
        way = self._target.way(method, CallKind.SCATTERED, options or CallOptions(), arguments)
        scattered: Scattered[str, T] = _open(way, lambda: self._inner.call(method, way.options(), *arguments))
        way.ends(None, list(scattered.values()))
        return scattered


class _Batch(BatchCall[T]):
    """A batch that ends for interceptors when its caller learns that it has."""

    __slots__ = ("_inner", "_way")

    def __init__(self, way: ClientWay[Any], inner: BatchCall[T]) -> None:
        self._way = way
        self._inner = inner
        way.result = None
        if not len(inner):
            way.ends(None, [])

    def ready(self) -> bool:
        return self._inner.ready() and self._ended()

    def wait(self, timeout: float | None = None) -> bool:
        return self._inner.wait(timeout) and self._ended()

    def results(self) -> list[Outcome[T]]:
        outcomes = self._inner.results()
        self._way.ends(None, outcomes)
        return outcomes

    def partial(self) -> list[Outcome[T] | None]:
        return self._inner.partial()

    def _ended(self) -> bool:
        self._way.ends(None, self._inner.results())
        return True

    def __len__(self) -> int:
        return len(self._inner)

    def __del__(self) -> None:
        outcomes = [outcome for outcome in self._inner.partial() if outcome is not None]
        if len(outcomes) == len(self._inner):
            self._way.ends(None, outcomes)
        else:
            self._way.ends(cancelled_by_caller())


class _Reader(StreamReader[T]):
    """A stream that ends for interceptors when its reader learns that it has, or gives it up."""

    __slots__ = ("_failure", "_inner", "_way")

    def __init__(self, way: ClientWay[Any], inner: Any) -> None:
        self._way = way
        self._inner = inner
        self._failure: BaseException | None = None
        """What writing has failed with: the call may be over, which reading would say."""
        way.result = None

    def __next__(self) -> T:
        try:
            value: T = next(self._inner)
        except StopIteration:
            self._way.ends(None)
            raise
        except BaseException as raised:
            self._way.ends(raised)
            raise
        return value

    def cancel(self) -> None:
        self._inner.cancel()
        self._way.ends(self._failure or cancelled_by_caller())

    def __del__(self) -> None:
        self._way.ends(self._failure or cancelled_by_caller())


class _Duplex(_Reader[T], DuplexStream[Any, T]):
    __slots__ = ()

    def write(self, value: Any) -> bool:
        return cast(bool, self._try(self._inner.write, value))

    def flush(self) -> None:
        self._try(self._inner.flush)

    def done_writing(self) -> None:
        self._try(self._inner.done_writing)

    def _try(self, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except BaseException as raised:
            self._failure = raised
            raise
