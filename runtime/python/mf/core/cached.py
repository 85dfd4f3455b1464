"""R0. Cached calls of one client: uses the caches of its methods (mf.core.cache) for blocking and for awaited
calls, over any target. The target makes requests, and repeats them.

A call with metadata, or that asks for the reply's metadata, goes to a server, since the answer may depend on
them; so does a call whose surrounding call forwards keys. Each call has its own deadline, also while it waits
for an equal one. Thread-safe, also across loops.
"""

from _thread import get_ident
from contextlib import suppress
from copy import copy
from threading import Lock
from time import monotonic
from typing import Any, Protocol

from mf.core.cache import Cache, CacheStats, Flight, Kept, Key
from mf.core.clock import Clock
from mf.core.current import current
from mf.core.error import Code, DeclaredError, Error, not_executed
from mf.core.gate import Gate, LoopGate, ThreadGate
from mf.core.immediate import immediate
from mf.core.options import DEFAULT_DEADLINE, INFINITE, CallOptions, check_options
from mf.core.service import Method


class Callee(Protocol):
    """The target that is called if no answer is kept; one of asyncio returns a coroutine."""

    def call(self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any) -> Any: ...


class _Waiter:
    """A call that waits. The leader may be on another loop, or on none: clients of one Light share its
    cache."""

    __slots__ = ("gate", "kept", "method", "to")

    def __init__(self, to: Callee, method: Method[Any, Any], gate: Gate) -> None:
        self.to = to
        self.method = method
        self.gate = gate
        self.kept: Kept | None = None

    def wake(self, kept: Kept | None) -> bool:
        """False: its loop was closed."""
        self.kept = kept
        self.gate.open()
        return not self.gate.gone

    async def call(self, options: CallOptions | None, arguments: tuple[Any, ...]) -> Any:
        """Calls the target, since no answer is kept."""
        called = self.to.call(self.method, options, *arguments)
        return called if self.gate.blocks else await called


class MethodCache:
    """The cached answers of one method of a client."""

    __slots__ = ("_cache", "_clock", "_lock", "_method")

    def __init__(self, method: Method[Any, Any], clock: Clock) -> None:
        assert method.cached is not None
        self._method = method
        self._cache = Cache(method.cached)
        self._clock = clock
        self._lock = Lock()

    def find(self, key: Key) -> Kept | None:
        with self._lock:
            return self._cache.find(key, self._clock())

    def value(self, kept: Kept) -> Any:
        """The result; raises the declared error if that is kept instead."""
        if kept.error < 0:
            return self._method.decode_result(kept.payload)
        raise self._method.errors[kept.error].decode(kept.payload)

    def call(self, to: Callee, key: Key, options: CallOptions | None, arguments: tuple[Any, ...]) -> Any:
        """A call without a cached answer."""
        return immediate(self._call(_Waiter(to, self._method, ThreadGate()), key, options, arguments))

    async def call_async(
        self, to: Callee, key: Key, options: CallOptions | None, arguments: tuple[Any, ...]
    ) -> Any:
        """The same, awaited."""
        return await self._call(_Waiter(to, self._method, LoopGate()), key, options, arguments)

    async def _call(
        self, waiter: _Waiter, key: Key, options: CallOptions | None, arguments: tuple[Any, ...]
    ) -> Any:
        end = self._end(options)
        place = get_ident()
        joined = self._join(key, waiter, place)
        if isinstance(joined, Kept):
            return self.value(joined)
        flight, leads = joined
        if not leads:
            if waiter.gate.blocks and flight.place == place:  # the leader needs this thread
                return await waiter.call(options, arguments)
            try:
                woken = await waiter.gate.wait(end - monotonic())
            except BaseException:
                self._leave(flight, waiter)
                raise
            if not woken:
                self._leave(flight, waiter)
                raise _waited_too_long()
            if (kept := waiter.kept) is not None:
                return self.value(kept)
            options = self._left(flight, options, end)
        try:
            result = await waiter.call(options, arguments)
        except BaseException as raised:
            self._raised(flight, raised)
            raise
        self._answered(flight, result)
        return result

    def _join(self, key: Key, waiter: _Waiter, place: int) -> Kept | tuple[Flight, bool]:
        """The answer that has arrived in the meantime; or the flight of the call, and whether the call leads
        it. A blocking call does not wait for a leader on its own thread."""
        with self._lock:
            if (kept := self._cache.find(key, self._clock())) is not None:
                return kept
            flight = self._cache.under_way(key)
            if flight is None:
                return self._cache.lead(key, place), True
            if flight.place != place or not waiter.gate.blocks:
                flight.waiters.append(waiter)
            return flight, False

    def _end(self, options: CallOptions | None) -> float:
        given = options.deadline if options is not None else None
        seconds = given if given is not None else self._method.deadline or DEFAULT_DEADLINE
        outer = current.get()
        return min(monotonic() + seconds, INFINITE if outer is None else outer.deadline)

    def _left(self, flight: Flight, options: CallOptions | None, end: float) -> CallOptions:
        """The options of a call that leads after it has waited."""
        left = end - monotonic()
        if left <= 0:
            self._failed(flight)
            raise _waited_too_long()
        with self._lock:
            flight.place = get_ident()
        options = CallOptions() if options is None else copy(options)
        options.deadline = left
        return options

    def _raised(self, flight: Flight, raised: BaseException) -> None:
        if isinstance(raised, DeclaredError) and (kept := self._kept_error(raised)) is not None:
            assert self._method.cached is not None
            self._landed(flight, kept, keep=self._method.cached.errors)
        else:
            self._failed(flight)

    def _answered(self, flight: Flight, result: Any) -> None:
        try:
            payload = bytes(self._method.encode_result(result))
        except Error:  # from a servant in this process: no reply could contain it
            self._failed(flight)
        except BaseException:
            self._failed(flight)
            raise
        else:
            self._landed(flight, Kept(payload), keep=True)

    def _kept_error(self, error: DeclaredError) -> Kept | None:
        for place, codec in enumerate(self._method.errors):
            if isinstance(error, codec.type):
                with suppress(Error):
                    return Kept(bytes(codec.encode(error)), place)
        return None

    def _landed(self, flight: Flight, kept: Kept, *, keep: bool) -> None:
        with self._lock:
            waiters = self._cache.land(flight, kept, self._clock(), keep=keep)
        for waiter in waiters:
            waiter.wake(kept)

    def _failed(self, flight: Flight) -> None:
        while True:
            with self._lock:
                waiter = self._cache.fail(flight)
            if waiter is None or waiter.wake(None):
                return

    def _leave(self, flight: Flight, waiter: _Waiter) -> None:
        with self._lock:
            leads = self._cache.leave(flight, waiter)
        if leads:
            self._failed(flight)

    # Forgetting, and statistics

    def forget(self, key: Key) -> None:
        with self._lock:
            self._cache.forget(key)

    def forget_agent(self, agent: str) -> None:
        with self._lock:
            self._cache.forget_agent(agent)

    def forget_all(self) -> None:
        with self._lock:
            self._cache.forget_all()

    def stats(self) -> CacheStats:
        with self._lock:
            return self._cache.stats()

    def seen_by(self, agent: str) -> "CallCache":
        return CallCache(self, agent)


class CallCache:
    """The user's view of the `cache` of one method, and of one `agent` of it: `client.name_cache()`."""

    __slots__ = ("_agent", "_cache")

    def __init__(self, cache: MethodCache, agent: str) -> None:
        self._cache = cache
        self._agent = agent

    def forget_agent(self) -> None:
        """Forgets the answers of the agent of the generated client only."""
        self._cache.forget_agent(self._agent)

    def forget_all(self) -> None:
        """Forgets the answers of all agents."""
        self._cache.forget_all()

    def stats(self) -> CacheStats:
        """Counts of the answers of all agents."""
        return self._cache.stats()


class Caches:
    """The caches of one client, by method. `clock` determines the age of answers."""

    __slots__ = ("_by_method", "_clock", "_closed", "_lock")

    def __init__(self, clock: Clock = monotonic) -> None:
        self._clock = clock
        self._by_method: dict[Method[Any, Any], MethodCache] = {}
        self._lock = Lock()
        self._closed = False

    def of(self, method: Method[Any, Any]) -> MethodCache:
        found = self._by_method.get(method)
        if found is None:
            with self._lock:
                found = self._by_method.setdefault(method, MethodCache(method, self._clock))
        return found

    def answers(self, options: CallOptions | None, forwarded: tuple[str, ...]) -> bool:
        """Whether a call with these options may be answered from the cache. `forwarded`: keys of metadata
        that its target forwards."""
        check_options(options)
        if self._closed:
            return False
        if options is not None and (options.metadata or options.reply_metadata is not None or options.arrays):
            return False
        if not forwarded:
            return True
        outer = current.get()
        return outer is None or not any(key in outer.metadata for key in forwarded)

    def after_fork(self) -> None:
        """In a child: answers that a call of the parent waits for are not waited for here."""
        self._lock = Lock()
        self._by_method = {}

    def close(self) -> None:
        """The client was closed: its calls end as those of a closed client, also those with cached
        answers."""
        self._closed = True
        for each in list(self._by_method.values()):
            each.forget_all()


def _waited_too_long() -> Error:
    return not_executed(
        Code.DEADLINE_EXCEEDED,
        "the deadline passed while the call waited for an equal one, which is under way",
    )
