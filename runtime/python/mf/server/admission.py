"""R5. Decides which calls a server runs at once, which wait, and which are refused: the limits of a server
and of its methods (docs/decisions/0028). It uses no bytes, threads or sockets; time is an argument.

An arriving call asks the gate of its method. It gets a slot and runs, or a place and waits, or neither and is
refused. A slot is released when its call is answered; that starts the waiting call with the earliest deadline
whose method has a free slot, and ends calls whose deadline has passed.

One-way calls of a connection run in the order sent, so all but the first have a place without being in the
queue: each enters it when its turn comes.

Thread-safe. The functions of a queued call (`go`, `expire`) are called without the lock.
"""

from collections.abc import Callable
from enum import IntEnum
from heapq import heapify, heappop, heappush
from threading import Lock
from typing import Protocol

from mf.core.server_options import Limit

_FEW = 64


class Standing(IntEnum):
    """The state of a call at its gate."""

    OUTSIDE = 0
    """No limit applies to the call, it was refused, or it has ended."""
    PLACE = 1
    """The call has a place, and waits for its turn after others of its connection."""
    QUEUED = 2
    SLOT = 3
    """The call has a slot: it runs, or may start."""


class GatedCall(Protocol):
    """The part of a call that a gate needs."""

    deadline: float
    standing: Standing

    @property
    def gate(self) -> "Gate": ...

    def go(self) -> None:
        """The call has a slot, and must be run now."""

    def expire(self) -> None:
        """Its deadline passed while it waited. It must not be run."""


class Counted:
    """A limit with the calls that it counts. Without a limit it counts, but refuses none."""

    __slots__ = ("limit", "running", "waiting")

    def __init__(self, limit: Limit | None) -> None:
        self.limit = limit
        self.running = 0
        self.waiting = 0
        """All calls that have a place, in the queue or not."""

    @property
    def free(self) -> bool:
        return self.limit is None or self.running < self.limit.concurrent

    @property
    def has_room(self) -> bool:
        return self.limit is None or self.waiting < self.limit.room

    def refusal(self, what: str) -> str:
        assert self.limit is not None
        most, room = self.limit.concurrent, self.limit.room
        return f"at most {most} calls{what} run at once on this server, and {room} wait"


_Entry = tuple[float, int, GatedCall]


class Gate:
    """The gate of one method of one offer that has a limit, or of all methods without one if their server has
    a limit."""

    __slots__ = ("admission", "counted", "queue", "what")

    def __init__(self, admission: "Admission", limit: Limit | None, what: str) -> None:
        self.admission = admission
        self.what = what
        self.counted = Counted(limit)
        self.queue: list[_Entry] = []
        """A heap by deadline; equal ones in the order of arrival. Calls that have left it are skipped."""


class Admission:
    """See above."""

    __slots__ = ("_gates", "_lock", "_number", "_others", "_server")

    def __init__(self, server: Limit | None) -> None:
        self._lock = Lock()
        self._server = Counted(server)
        self._others = Gate(self, None, "")
        self._gates: dict[Gate, None] = {}
        """The gates whose queues may not be empty."""
        self._number = 0

    def gate(self, limit: Limit | None, what: str) -> Gate | None:
        """The gate of a method called `what`; None if neither it nor the server has a limit."""
        if limit is not None:
            return Gate(self, limit, what)
        return None if self._server.limit is None else self._others

    def enter(self, call: GatedCall, now: float, *, may_run: bool = True) -> str:
        """A call has arrived; it gets a slot or a place. `may_run`: otherwise it cannot have a slot yet.
        Returns the text of the refusal, or an empty string."""
        gate = call.gate
        own, server = gate.counted, self._server
        expired: list[GatedCall] = []
        with self._lock:
            if may_run and own.free and server.free:
                own.running += 1
                server.running += 1
                call.standing = Standing.SLOT
                return ""
            if not own.has_room:
                self._drop_expired(gate, now, expired)
            if not server.has_room:
                for other in tuple(self._gates):
                    self._drop_expired(other, now, expired)
            refusal = ""
            if not own.has_room:
                refusal = own.refusal(f" of {gate.what}")
            elif not server.has_room:
                refusal = server.refusal("")
            else:
                own.waiting += 1
                server.waiting += 1
                call.standing = Standing.PLACE
        for each in expired:
            each.expire()
        return refusal

    def queue(self, call: GatedCall, now: float) -> None:
        """The turn of a call with a place has come: it starts when it has a slot, perhaps now."""
        gate = call.gate
        with self._lock:
            if call.standing is not Standing.PLACE:
                return  # it was given up at this moment
            call.standing = Standing.QUEUED
            self._number += 1
            heappush(gate.queue, (call.deadline, self._number, call))
            self._gates[gate] = None
            happens = self._start_next(now)
        for each in happens:
            each()

    def leave(self, call: GatedCall, now: float) -> None:
        """The call was answered, or will not run: releases what it has. May be called twice."""
        gate = call.gate
        own, server = gate.counted, self._server
        with self._lock:
            standing, call.standing = call.standing, Standing.OUTSIDE
            if standing is Standing.OUTSIDE:
                return
            if standing is not Standing.SLOT:
                own.waiting -= 1
                server.waiting -= 1
                self._shrink(gate)
                return
            own.running -= 1
            server.running -= 1
            happens = self._start_next(now) if self._gates else ()
        for each in happens:
            each()

    def gauges(self, gate: Gate | None = None) -> tuple[int, int]:
        """How many calls run now, and how many wait: at one gate, or at all."""
        with self._lock:
            counted = self._server if gate is None else gate.counted
            return counted.running, counted.waiting

    # With the lock

    def _front(self, gate: Gate) -> GatedCall | None:
        """The next call of its queue."""
        queue = gate.queue
        while queue:
            call = queue[0][2]
            if call.standing is Standing.QUEUED:
                return call
            heappop(queue)
        self._gates.pop(gate, None)
        return None

    def _take(self, gate: Gate, call: GatedCall, standing: Standing) -> None:
        heappop(gate.queue)
        call.standing = standing
        gate.counted.waiting -= 1
        self._server.waiting -= 1

    def _drop_expired(self, gate: Gate, now: float, expired: list[GatedCall]) -> None:
        while (call := self._front(gate)) is not None and call.deadline <= now:
            self._take(gate, call, Standing.OUTSIDE)
            expired.append(call)

    def _start_next(self, now: float) -> list[Callable[[], None]]:
        expired: list[GatedCall] = []
        going: list[GatedCall] = []
        while self._server.free:
            found: Gate | None = None
            for gate in tuple(self._gates):
                if not gate.counted.free:
                    continue
                self._drop_expired(gate, now, expired)
                if self._front(gate) is not None and (found is None or gate.queue[0] < found.queue[0]):
                    found = gate
            if found is None:
                break
            call = found.queue[0][2]
            self._take(found, call, Standing.SLOT)
            found.counted.running += 1
            self._server.running += 1
            going.append(call)
        return [*(each.expire for each in expired), *(each.go for each in going)]

    def _shrink(self, gate: Gate) -> None:
        """Removes given-up calls, so that they do not accumulate in the queue."""
        if len(gate.queue) > 2 * gate.counted.waiting + _FEW:
            gate.queue = [entry for entry in gate.queue if entry[2].standing is Standing.QUEUED]
            heapify(gate.queue)
