"""R1. Bounds how many calls run at once."""

from collections import deque
from collections.abc import Awaitable, Callable
from threading import Lock
from typing import Any

from mf.core.error import Code, not_executed
from mf.core.gate import Gate, LoopGate, ThreadGate
from mf.core.handler_wait import waiting
from mf.core.immediate import immediate
from mf.core.interceptor import CallEnd, InterceptedCall, Interceptor


class Limiter(Interceptor):
    """At most `concurrent` calls at once, of all methods together or of those in `methods`. So many as
    `queued` wait for their turn, first come, first served, until their deadlines; all others are refused at
    once as OVERLOADED, not executed. A batch counts as one call, a stream until it has ended.

    It protects what a client calls, or what handlers of several servers use, as one object may be given to
    several of them. For the handlers of one server `mf.Limit` is better: it holds before a thread is taken.
    """

    def __init__(self, concurrent: int, queued: int = 0, *, methods: tuple[str, ...] = ()) -> None:
        if concurrent < 1:
            raise ValueError(f"concurrent is {concurrent}: at least one call must be able to run")
        if queued < 0:
            raise ValueError(f"queued is {queued}: it cannot be negative")
        self._concurrent = concurrent
        self._queued = queued
        self._methods = frozenset(methods)
        self._lock = Lock()
        self._running = 0
        self._waiting: deque[_Place] = deque()

    @property
    def running(self) -> int:
        return self._running

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def call(self, call: InterceptedCall, proceed: Callable[[], Any]) -> Any:
        if self._applies(call):
            waiting(immediate, self._enter(call, ThreadGate))
        return proceed()

    async def call_async(self, call: InterceptedCall, proceed: Callable[[], Awaitable[Any]]) -> Any:
        if self._applies(call):
            await self._enter(call, LoopGate)
        return await proceed()

    def end(self, call: InterceptedCall, end: CallEnd) -> None:
        del end
        with self._lock:
            turns = call.notes.get(self, 0)
            call.notes[self] = None  # requests that still wait for their turn do not get one
        for _ in range(turns or 0):
            self._leave()

    def _applies(self, call: InterceptedCall) -> bool:
        return not self._methods or call.method in self._methods

    async def _enter(self, call: InterceptedCall, kind: type[Gate]) -> None:
        place = self._take(call, kind)
        if place is not None:
            await self._wait(call, place)
        with self._lock:
            turns = call.notes.get(self, 0)
            if turns is not None:
                call.notes[self] = turns + 1
                return
        self._leave()
        text = "another request of the call was answered before this one had its turn"
        raise not_executed(Code.CANCELLED, f"{call.service}.{call.method}: {text}")

    def _take(self, call: InterceptedCall, kind: type[Gate]) -> "_Place | None":
        """None: the call may run."""
        with self._lock:
            if self._running < self._concurrent and not self._waiting:
                self._running += 1
                return None
            if len(self._waiting) >= self._queued:
                text = f"at most {self._concurrent} calls run at once, and {self._queued} wait"
                raise not_executed(Code.OVERLOADED, f"{call.service}.{call.method}: {text}")
            place = _Place(kind())
            self._waiting.append(place)
            return place

    async def _wait(self, call: InterceptedCall, place: "_Place") -> None:
        try:
            await place.gate.wait(max(call.deadline_left, 0.0))
        except BaseException:
            self._give_up(place)
            raise
        if self._give_up(place, runs=True):
            text = "the deadline passed while the call waited for its turn"
            raise not_executed(Code.DEADLINE_EXCEEDED, f"{call.service}.{call.method}: {text}")

    def _give_up(self, place: "_Place", *, runs: bool = False) -> bool:
        """Whether it still waited. One that has its turn, and does not run, gives it to the next."""
        with self._lock:
            if not place.has_turn:
                self._waiting.remove(place)
                return True
        if not runs and not place.is_lost:
            self._leave()
        return False

    def _leave(self) -> None:
        """Gives the turn to the next that waits, unless its loop was closed."""
        while True:
            with self._lock:
                if not self._waiting:
                    self._running -= 1
                    return
                place = self._waiting.popleft()
                place.has_turn = True
            place.gate.open()
            if not place.gate.gone:
                return
            place.is_lost = True


class _Place:
    """That of a call which waits."""

    __slots__ = ("gate", "has_turn", "is_lost")

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.has_turn = False
        self.is_lost = False
        """Its turn has gone to the next, as its loop was closed."""
