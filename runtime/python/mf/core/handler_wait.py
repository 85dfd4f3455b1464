"""R0. Handlers that wait. A server runs a bounded number of plain handlers at once; one that waits for a call
of its own gives its place to another call meanwhile. Otherwise servers that call each other, or a server that
calls itself, would wait for each other until their deadlines as soon as all places are taken.

Code that blocks its thread enters `here.wait` around the wait, if it is set:

    if (wait := here.wait) is not None:
        with wait:
            return self.call(...)
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from mf.core.error import Code, Error, Execution

P = ParamSpec("P")
T = TypeVar("T")


class Place(ABC):
    """Places for handlers, of which the handler on a worker's thread has one. Both functions are called by
    that thread."""

    __slots__ = ()

    threads: int
    """How many threads there are at most."""

    @abstractmethod
    def leave(self) -> bool:
        """Gives the place to another call. False: no thread would be left for other calls, so that the
        handler must not wait."""

    @abstractmethod
    def come_back(self) -> None:
        """The handler has waited and goes on, whether or not its place is taken."""


class HandlerWait:
    """The waits of one worker's thread. Waits within others count once."""

    __slots__ = ("_place",)

    def __init__(self, place: Place) -> None:
        self._place = place

    def __enter__(self) -> None:
        """Raises OVERLOADED if all threads wait."""
        if not self._place.leave():
            text = f"all {self._place.threads} workers wait for calls that their handlers made"
            raise Error(Code.OVERLOADED, text, Execution.NOT_EXECUTED)
        here.wait = None

    def __exit__(self, *_: object) -> None:
        here.wait = self
        self._place.come_back()


class _Here(threading.local):
    wait: HandlerWait | None = None
    """The wait of the calling thread: None outside of handlers on workers, and while the place is given
    away."""


here = _Here()


def waiting(function: Callable[P, T], /, *arguments: P.args, **options: P.kwargs) -> T:
    """Calls a function that may block its thread."""
    if (wait := here.wait) is None:
        return function(*arguments, **options)
    with wait:
        return function(*arguments, **options)
