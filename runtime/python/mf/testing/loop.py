"""A loop of asyncio whose time is a FakeClock's: it never waits, but moves the clock to whatever is next.

    clock = FakeClock()
    with clock.installed():
        run(main(), MemoryNetwork(clock))

Clients and servers of mf on this loop are connected by its network. Turns run in one thread, in an order that
depends on the network's random source only.
"""

import asyncio
import selectors
from collections.abc import Coroutine, Mapping
from contextlib import nullcontext
from typing import Any, TypeVar

from mf.testing.clock import FakeClock
from mf.testing.network import MemoryNetwork

T = TypeVar("T")


_MOST_TURNS = 100_000


class StuckError(Exception):
    """Nothing can happen any more, or the same happens for ever without any time passing, and the program has
    not ended."""


class _Selector(selectors.BaseSelector):
    """Where the loop waits."""

    def __init__(self, network: MemoryNetwork) -> None:
        self._network = network
        self._keys: dict[int, selectors.SelectorKey] = {}
        self._turns = 0
        self._turns_at = 0.0

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        descriptor = fileobj if isinstance(fileobj, int) else fileobj.fileno()
        if descriptor in self._keys:
            raise KeyError(f"{descriptor} is registered already")
        key = selectors.SelectorKey(fileobj, descriptor, events, data)
        self._keys[descriptor] = key
        return key

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._keys.pop(fileobj if isinstance(fileobj, int) else fileobj.fileno())

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._keys

    def get_key(self, fileobj: Any) -> selectors.SelectorKey:
        return self._keys[fileobj if isinstance(fileobj, int) else fileobj.fileno()]

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        network = self._network
        clock = network.clock
        self._turns = self._turns + 1 if self._turns_at == clock.now else 0
        self._turns_at = clock.now
        if self._turns > _MOST_TURNS:
            raise StuckError(f"{_MOST_TURNS} turns of the loop, and no time has passed")
        ready = self._ready()
        if ready or (timeout is not None and timeout <= 0):
            return ready
        until = None if timeout is None else clock.now + timeout
        while not ready:
            event = network.next_event()
            if event is None and until is None:
                raise StuckError("nothing can happen any more")
            if event is None or (until is not None and until < event):
                assert until is not None
                clock.now = max(clock.now, until)
                return self._ready()
            clock.now = max(clock.now, event)
            network.run_due()
            ready = self._ready()
            if not ready:
                return ready  # what ran may have woken a task
        return ready

    def _ready(self) -> list[tuple[selectors.SelectorKey, int]]:
        network = self._network
        network.run_due()
        found = []
        for key in self._keys.values():
            events = 0
            if key.events & selectors.EVENT_READ and network.is_ready(key.fd, write=False):
                events |= selectors.EVENT_READ
            if key.events & selectors.EVENT_WRITE and network.is_ready(key.fd, write=True):
                events |= selectors.EVENT_WRITE
            if events:
                found.append((key, events))
        if len(found) < 2:
            return found
        return [found[index] for index in network.shuffled(len(found))]


class VirtualLoop(asyncio.SelectorEventLoop):
    """See above."""

    def __init__(self, network: MemoryNetwork) -> None:
        self.network = network
        self.clock: FakeClock = network.clock
        super().__init__(_Selector(network))

    def time(self) -> float:
        return self.clock.now

    def timers(self) -> int:
        """How many timers are set: none, once all clients and servers have ended."""
        handles: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        return sum(not handle.cancelled() for handle in handles)


def run(main: Coroutine[Any, Any, T], network: MemoryNetwork, *, install: bool = True) -> T:
    """Runs a coroutine on a VirtualLoop to its end, with the network's clock installed, unless it is already.
    Raises StuckError when it can have none."""
    with (
        network.clock.installed() if install else nullcontext(),
        asyncio.Runner(loop_factory=lambda: VirtualLoop(network)) as runner,
    ):
        return runner.run(main)
