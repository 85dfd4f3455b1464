"""R0. Handlers with interceptors around them: what a server or a Light calls in place of a servant's own
functions.

At a server the call itself reports its end to the interceptors, since it has what was answered. In light,
and for interceptors that were put around a handler while its server runs, the end is that of the handler, or
of the values that it gives.
"""

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Generator, Iterator, Sequence
from functools import partial
from typing import Any, Self

from mf.core.current import CurrentCall, current
from mf.core.error import Code, DeclaredError, Error, RefusedError
from mf.core.intercepting import Intercepting, Interceptors
from mf.core.interceptor import CallKind, InterceptedCall
from mf.core.outcome import Outcome, each_async, each_in_order, failure_of
from mf.core.service import AsyncServant, BaseServant, Method, is_async


class InterceptedFunctions:
    """The functions of one method, made of `one` and of `many`, which takes items; `batch` is None if that
    is. `late`: they are put there while a server runs, whose calls report no end to them."""

    __slots__ = ("_interceptors", "_is_late", "_method", "_one", "batch", "function")

    def __init__(
        self,
        interceptors: Interceptors,
        method: Method[Any, Any],
        one: Callable[..., Any],
        many: Callable[..., Any] | None,
        *,
        awaits: bool,
        late: bool = False,
    ) -> None:
        self._interceptors = interceptors
        self._is_late = late
        self._method = method
        self._one = one
        self.function: Callable[..., Any] = self._blocking
        if awaits:
            self.function = self._awaited if method.result_element is None else self._awaited_values
        self.batch: Callable[..., Any] | None = None
        if many is not None and not method.stream:
            self.batch = self._awaited_batch(many) if awaits else partial(self._blocking_batch, many)

    @classmethod
    def of(cls, interceptors: Interceptors, method: Method[Any, Any], servant: BaseServant) -> Self:
        """Those of a servant's own functions."""
        one = getattr(servant, method.attribute)
        many = getattr(servant, method.batch_attribute, None)
        return cls(interceptors, method, one, many, awaits=isinstance(servant, AsyncServant) or is_async(one))

    def _begin(self, kind: CallKind, items: int, arguments: Sequence[Any]) -> "_Way":
        """Raises RefusedError for what an interceptor refuses the call with."""
        served = current.get()
        assert served is not None
        call = InterceptedCall()
        call.service = served.service
        call.agent = served.agent
        call.info = self._method
        call.kind = kind
        call.items = items
        call.arguments = arguments
        call.metadata = dict(served.metadata)
        call.deadline = served.deadline
        call.notes = {}
        call.request_bytes = served.request_bytes
        call.served = served
        way = _Way(self._interceptors, call, served, late=self._is_late)
        try:
            way.begin()
        except (Error, DeclaredError) as refused:
            raise RefusedError(refused) from refused
        return way

    def _begin_one(self, arguments: tuple[Any, ...]) -> "_Way":
        method = self._method
        kind = CallKind.STREAM if method.stream else CallKind.CALL
        return self._begin(kind, 1, arguments[:-1] if method.param_element is not None else arguments)

    # One call. Only the handler may hold the reader of a stream, so that arguments are not kept.

    def _blocking(self, *arguments: Any) -> Any:
        way = self._begin_one(arguments)
        core = partial(self._one, *arguments)
        del arguments
        try:
            result = way.run(core)
        except BaseException as raised:
            way.raises(raised)
            raise
        if self._method.result_element is not None:
            way.result = None
            return result if way.is_served else _Values(way, result)
        way.answered(result)
        return result

    async def _awaited(self, *arguments: Any) -> Any:
        way = self._begin_one(arguments)
        core = partial(_given, self._one, *arguments)
        del arguments
        try:
            result = await way.run_async(core)
        except BaseException as raised:
            way.raises(raised)
            raise
        way.answered(result)
        return result

    async def _awaited_values(self, *arguments: Any) -> Any:
        way = self._begin_one(arguments)
        core = partial(_given, self._one, *arguments)
        del arguments
        try:
            values = await way.run_async(core)
            del core
            way.result = None
            try:
                if isinstance(values, AsyncIterable):
                    async for value in values:
                        yield value
                else:
                    for value in values:
                        yield value
            finally:
                if isinstance(values, AsyncGenerator):
                    await values.aclose()
                elif isinstance(values, Generator):
                    values.close()
        except BaseException as raised:
            way.raises(raised)
            raise
        way.answered(None)

    # The items of one message

    def _blocking_batch(self, many: Callable[..., Any], requests: Sequence[Any]) -> Any:
        way = self._begin(CallKind.BULK, len(requests), requests)
        try:
            outcomes = way.run(partial(many, requests))
        except BaseException as raised:
            way.raises(raised)
            raise
        way.answered_items(outcomes)
        return outcomes

    def _awaited_batch(self, many: Callable[..., Any]) -> Callable[..., Any]:
        one, method = self._one, self._method
        if is_async(one) and not is_async(many) and not self._is_late:
            in_turn = each_in_order if method.ordered else each_async

            def many(requests: Sequence[Any]) -> Awaitable[list[Outcome[Any]]]:
                return in_turn(one, map(fields_of, requests))

        async def batch(requests: Sequence[Any]) -> Any:
            way = self._begin(CallKind.BULK, len(requests), requests)
            try:
                outcomes = await way.run_async(partial(_given, many, requests))
            except BaseException as raised:
                way.raises(raised)
                raise
            way.answered_items(outcomes)
            return outcomes

        return batch


async def _given(function: Callable[..., Any], *arguments: Any) -> Any:
    """What it gives, awaited if need be."""
    given = function(*arguments)
    return await given if hasattr(given, "__await__") else given


def fields_of(request: Any) -> tuple[Any, ...]:
    """The parameters in a request object: its fields in order."""
    return tuple(getattr(request, name) for name in type(request).__match_args__)


class _Way(Intercepting):
    """That of a handler's call."""

    __slots__ = ("_served", "is_served")

    def __init__(
        self, interceptors: Interceptors, call: InterceptedCall, served: CurrentCall, *, late: bool
    ) -> None:
        super().__init__(interceptors, call, once=True)
        self._served = served
        self.is_served = not late and served.intercepted_by(self)
        """Whether a server reports its end."""

    def raises(self, raised: BaseException) -> None:
        """The handler, or an interceptor, has raised this. Raises RefusedError if the handler has not run."""
        refused = not self.proceeded and isinstance(raised, Error | DeclaredError)
        failure = raised
        if isinstance(raised, Exception) and not refused:
            failure = failure_of(raised, self.call.info.error_types)
        self.failure = failure
        if not self.is_served:
            self.failed(self._served.stopped or failure, peer=self._served.peer)
        if isinstance(raised, Error | DeclaredError) and refused:
            raise RefusedError(raised) from raised

    def answered(self, result: Any) -> None:
        if not self.is_served:
            self._ends_light(value=result)

    def answered_items(self, outcomes: Any) -> None:
        if not self.is_served:
            self._ends_light(outcomes=outcomes if isinstance(outcomes, list) else None)

    def _ends_light(self, **facts: Any) -> None:
        if (stopped := self._served.stopped) is not None:
            self.failed(stopped, peer=self._served.peer)
        else:
            self.end(Code.OK, peer=self._served.peer, **facts)


class _Values(Generator[Any, None, None]):
    """The values of a plain handler in light, whose end is that of its call."""

    __slots__ = ("_values", "_way")

    def __init__(self, way: _Way, given: Any) -> None:
        self._way = way
        self._values: Iterator[Any] = iter(given)

    def send(self, value: Any) -> Any:
        del value
        try:
            return next(self._values)
        except StopIteration:
            self._way.answered(None)
            raise
        except BaseException as raised:
            self._way.raises(raised)
            raise

    def throw(self, *raised: Any) -> Any:
        self.close()
        raise raised[0]

    def close(self) -> None:
        try:
            if isinstance(self._values, Generator):
                self._values.close()
        except BaseException as raised:
            self._way.raises(raised)
            raise
        self._end()

    def _end(self) -> None:
        """Its reader has gone, unless it ended before."""
        self._way.raises(GeneratorExit())

    def __del__(self) -> None:
        self._end()


class InterceptedServant:
    """Has the functions of a servant under the same names, with interceptors around them."""

    def __init__(self, interceptors: Interceptors, servant: BaseServant) -> None:
        for method in servant.mf_service.methods:
            if hasattr(servant, method.attribute):
                made = InterceptedFunctions.of(interceptors, method, servant)
                setattr(self, method.attribute, made.function)
                if made.batch is not None:
                    setattr(self, method.batch_attribute, made.batch)
