"""A servant that answers from a script, without a class of its own, and a recorder of what it was called
with.

    recorder = Recorder()
    shop = script(ShopServant, recorder, price=lambda item: 3, buy=NotInStock("tea"))
    with Channel(shop) as channel: ...
    assert recorder.calls[0].arguments == {"item": "tea"}

`recorder.around(servant)` is a servant of one's own whose calls are recorded.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from threading import Lock
from typing import Any, TypeVar, cast

from mf.core.current import current_call
from mf.core.error import Code, RefusedError, not_executed
from mf.core.immediate import immediate
from mf.core.service import AsyncServant, Method, Servant, ServiceInfo, generated_base

S = TypeVar("S", bound=Servant | AsyncServant)


@dataclass
class Call:
    """One call of one item; each item of a batch is one."""

    service: str
    agent: str
    method: str
    arguments: dict[str, Any]
    deadline: float
    """Seconds that were left when it began; infinite if there was no deadline."""
    metadata: dict[str, str]
    result: Any = None
    error: BaseException | None = None


class Recorder:
    """Keeps calls in the order in which they began."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._lock = Lock()

    @property
    def names(self) -> list[str]:
        """Of the methods: "shop.Shop.price"."""
        return [f"{call.service}.{call.method}" for call in self.calls]

    def clear(self) -> None:
        self.calls.clear()

    def around(self, servant: S) -> S:
        """Another servant that is answered by this one, and records. Batches come one by one."""
        service = servant.mf_service
        base = generated_base(servant)
        answers = {method.attribute: getattr(servant, method.attribute) for method in service.methods}
        return script(cast(type[S], base), self, **answers)

    def begin(self, method: Method[Any, Any], arguments: tuple[Any, ...]) -> Call:
        now = current_call()
        names = [field.name for field in fields(cast(Any, method.request))]
        call = Call(
            service=now.service,
            agent=now.agent,
            method=now.method,
            arguments=dict(zip(names, arguments, strict=False)),
            deadline=now.deadline_left,
            metadata=dict(now.metadata),
        )
        with self._lock:
            self.calls.append(call)
        return call


def script(servant: Callable[..., S], recorder: Recorder | None = None, **answers: Any) -> S:
    """A servant of a generated class. An answer is a function of the arguments (of an async servant also a
    coroutine function), an exception, or else the result itself. A method without an answer fails as
    HANDLER_FAILED. Raises TypeError for an answer of a method that the service does not have.
    """
    base = cast(type[S], servant)  # a type checker takes no abstract class for a type[S]
    service: ServiceInfo = base.mf_service
    functions = {}
    for method in service.methods:
        has = method.attribute in answers
        answer = answers.pop(method.attribute, None) if has else _missing(method)
        make = _awaited if issubclass(base, AsyncServant) and not method.result_element else _plain
        functions[method.attribute] = make(method, answer, recorder if has else None)
    if answers:
        raise TypeError(f"{service.name} has no method {', '.join(answers)}")
    made = type(f"Scripted{base.__name__}", (base,), functions)
    return cast(S, made())


def _missing(method: Method[Any, Any]) -> Callable[..., Any]:
    def fail(*_: Any) -> Any:
        text = f"the script has no answer for {method.name.rpartition('.')[2]}"
        raise RefusedError(not_executed(Code.HANDLER_FAILED, text))

    return fail


def _answered(answer: Any, arguments: tuple[Any, ...]) -> Any:
    if isinstance(answer, BaseException):
        raise answer
    return answer(*arguments) if callable(answer) else answer


def _plain(method: Method[Any, Any], answer: Any, recorder: Recorder | None) -> Callable[..., Any]:
    handle = _recorded(method, answer, recorder, awaits=False)
    return lambda *given: immediate(handle(*given))


def _awaited(method: Method[Any, Any], answer: Any, recorder: Recorder | None) -> Callable[..., Any]:
    return _recorded(method, answer, recorder, awaits=True)


def _recorded(
    method: Method[Any, Any], answer: Any, recorder: Recorder | None, *, awaits: bool
) -> Callable[..., Any]:
    async def handle(_: object, *arguments: Any) -> Any:
        call = recorder.begin(method, arguments) if recorder is not None else None
        try:
            result = _answered(answer, arguments)
            if awaits and inspect.isawaitable(result):
                result = await result
        except BaseException as raised:
            if call is not None:
                call.error = raised
            raise
        if call is not None:
            call.result = result
        return result

    return handle
