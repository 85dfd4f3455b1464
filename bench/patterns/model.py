"""The flows on a modelled link, in virtual time: the product's own machines, between which each message takes
the time that its bytes take on its sender's line, one after the other, and then the link's delay. Processors
cost nothing here, so that what is left is the flow itself.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from uuid import UUID

from mf.replicated.caller import Applied, Caller, Done
from mf.replicated.messages import (
    Direct,
    Message,
    Outcome,
    Pattern,
    PeerId,
    Require,
    Send,
    Stamped,
    Submit,
    Tagged,
)
from mf.replicated.replica import Replica

MEMBERS = ("a", "b", "c")
_SCHEMA = UUID(int=1)
_CLIENT = UUID(int=2)
_ENVELOPE = 100  # bytes of a message beside its payload, with the headers of frame, TCP and IP
_TICK = 0.05


class Link:
    """The line of each node: `delay` in seconds, `bits` a second."""

    def __init__(self, delay: float, bits: float) -> None:
        self.delay = delay
        self.bits = bits


class Model:
    """One client and three replicas that are ready."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self.now = 0.0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self._free: dict[PeerId, float] = {}
        self._replicas = {
            name: Replica(name, MEMBERS, _SCHEMA, UUID(int=10 + at)) for at, name in enumerate(MEMBERS)
        }
        self._caller = Caller(_CLIENT, MEMBERS, _SCHEMA)
        self.done = 0
        self._on_done: Callable[[], None] = lambda: None
        for name, replica in self._replicas.items():
            for other in replica.others:
                replica.connected(other, 0.0)
            replica.connected(_CLIENT, 0.0)
            self._caller.connected(name, 0.0)
        self._replicas["a"].lead(1, 0.0)
        self._at(_TICK, self._tick)
        while not all(each.is_normal for each in self._replicas.values()):
            self._step()
        end = self.now + 1.0
        while self.now < end:
            self._step()

    def seconds(self, pattern: Pattern, payload: int, window: int, messages: int) -> float:
        """How long so many messages take until all have applied them, `window` under way at a time."""
        data, began, sent = bytes(payload), self.now, 0
        self.done = 0

        def send() -> None:
            nonlocal sent
            if sent < messages:
                sent += 1
                self._caller.start("put", data, pattern, Require.all, self.now + 1e6, self.now)

        self._on_done = send
        for _ in range(window):
            send()
        self._client()
        while self.done < messages:
            self._step()
        return self.now - began

    def _at(self, time: float, what: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._events, (time, self._count, what))

    def _step(self) -> None:
        self.now, _, what = heapq.heappop(self._events)
        what()

    def _tick(self) -> None:
        self._at(self.now + _TICK, self._tick)
        for replica in self._replicas.values():
            replica.tick(self.now)
            self._effects(replica)
        self._caller.tick(self.now)
        self._client()

    def _send(self, source: PeerId, to: PeerId, message: Message) -> None:
        begin = max(self.now, self._free.get(source, 0.0))
        sent = self._free[source] = begin + _bytes(message) * 8 / self._link.bits
        self._at(sent + self._link.delay, lambda: self._arrive(source, to, message))

    def _arrive(self, source: PeerId, to: PeerId, message: Message) -> None:
        if isinstance(to, str):
            self._replicas[to].receive(source, message, self.now)
            self._effects(self._replicas[to])
        else:
            self._caller.receive(str(source), message, self.now)
            self._client()

    def _effects(self, replica: Replica) -> None:
        while effects := replica.take():
            for effect in effects:
                if isinstance(effect, Send):
                    self._send(replica.me, effect.to, effect.message)
                else:
                    replica.done(Outcome(), self.now)

    def _client(self) -> None:
        while effects := self._caller.take():
            for effect in effects:
                if isinstance(effect, Done):
                    if not isinstance(effect.result, Applied):
                        raise RuntimeError(f"a call failed in the model: {effect.result}")
                    self.done += 1
                    self._on_done()
                else:
                    self._send(_CLIENT, effect.to, effect.message)


def _bytes(message: Message) -> int:
    match message:
        case Submit(body) | Tagged(body) | Direct(body):
            return _ENVELOPE + len(body.payload)
        case Stamped(entry) if entry.body is not None:
            return _ENVELOPE + len(entry.body.payload)
        case _:
            return _ENVELOPE
