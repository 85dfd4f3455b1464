"""R5. Taps: interceptors that are put around handlers while a server runs, and taken off again (mf.admin).

A handler without a tap has its own functions: nothing is asked for a call. A tap that covers a method
replaces the functions of its handlers, also for clients that have bound them; a call that it does not want
goes on to the functions below. What a tap sees ends when the handler does: the answer may still wait to be
sent.
"""

from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any

from mf.core.current import current
from mf.core.error import Code, not_executed
from mf.core.intercepted_servant import InterceptedFunctions
from mf.core.intercepting import Interceptors
from mf.core.service import AsyncServant, is_async
from mf.core.tap import Tap
from mf.server.offer import Handler

MOST_TAPS = 8
Functions = tuple[Callable[..., Any], Callable[..., Any] | None]


class Taps:
    """Those of one server. Thread-safe."""

    __slots__ = ("_handlers", "_lock", "_taps", "_untapped")

    def __init__(self, handlers: Callable[[], Iterable[Handler]]) -> None:
        """`handlers`: all that the server offers now."""
        self._handlers = handlers
        self._lock = Lock()
        self._taps: tuple[Tap, ...] = ()
        self._untapped: dict[Handler, Functions] = {}
        """The functions of handlers that are tapped, without the taps."""

    def add(self, tap: Tap) -> None:
        """Raises OVERLOADED if there are as many as there may be."""
        with self._lock:
            if len(self._taps) >= MOST_TAPS:
                raise not_executed(Code.OVERLOADED, f"this server has {MOST_TAPS} taps already")
            self._taps = (*self._taps, tap)
            self._apply({*self._untapped, *self._handlers()})

    def remove(self, tap: Tap) -> None:
        with self._lock:
            self._taps = tuple(each for each in self._taps if each is not tap)
            self._apply(list(self._untapped))

    def cover(self, handlers: Iterable[Handler]) -> None:
        """These are offered from now on."""
        if self._taps:
            with self._lock:
                self._apply(handlers)

    def after_fork(self) -> None:
        """In a child, which serves nothing."""
        self._lock = Lock()
        self._taps = ()
        self._apply(list(self._untapped))

    def _apply(self, handlers: Iterable[Handler]) -> None:
        for handler in handlers:
            service, method = handler.offer.service.name, handler.method
            if handler.pushed or method.replicated is not None or not method.attribute:
                continue
            functions = self._untapped.pop(handler, (handler.function, handler.batch))
            covering = [tap for tap in self._taps if tap.covers(service, method.name)]
            if covering:
                self._untapped[handler] = functions
            for tap in covering:
                functions = _tapped(tap, handler, functions)
            handler.function, handler.batch = functions


def _tapped(tap: Tap, handler: Handler, below: Functions) -> Functions:
    one, many = below
    awaits = isinstance(handler.offer.servant, AsyncServant) or is_async(one)
    interceptors = Interceptors((tap,), blocks=not awaits, awaits=awaits)
    around = InterceptedFunctions(interceptors, handler.method, one, many, awaits=awaits, late=True)
    return _choice(tap, around.function, one), None if many is None else _choice(tap, around.batch, many)


def _choice(tap: Tap, tapped: Any, plain: Callable[..., Any]) -> Callable[..., Any]:
    def function(*arguments: Any) -> Any:
        call = current.get()
        return (tapped if call is not None and tap.wants(call) else plain)(*arguments)

    return function
