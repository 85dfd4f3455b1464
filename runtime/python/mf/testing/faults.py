"""What goes wrong with the connections to one place in memory, at the n-th operation, the same each time.

    faults = Faults("shop")                                  # for memory:shop; a Channel brings its own
    faults.refuse()                                          # the next connect
    faults.cut(Operation.REQUEST, 3)                         # before the third request from now on
    faults.drop(Operation.REPLY, passes=30)                  # the next reply is lost, and 30 s pass

Operations are counted over all connections to the place, in the order in which they happen; each fault
counts from the moment at which it was set. A frame is one that is written: HELLO and BIND count, too, so
requests and replies are the better names where a test means those.
"""

import errno
from collections import Counter
from enum import Enum
from threading import Lock

from mf.protocol.frame import REPLY, REQUEST
from mf.testing.clock import installed_clock
from mf.transport import memory_port
from mf.transport.memory_port import MemoryEnd
from mf.transport.stream import Buffer, Stream, drop_written

_HEADER = 16


class Operation(Enum):
    """What a fault can happen to."""

    CONNECT = "connect"
    WRITE = "write"
    """A frame of the client."""
    READ = "read"
    """A frame of the server."""
    REQUEST = "request"
    """A REQUEST among those."""
    REPLY = "reply"
    """A REPLY among those."""


class _Fault:
    __slots__ = ("left", "operation", "passes", "times", "what")

    def __init__(self, what: str, operation: Operation, left: int, times: int, passes: float) -> None:
        if left < 1 or times < 1:
            raise ValueError("operations are counted from 1, and a fault happens at least once")
        if (operation is Operation.CONNECT) != (what == "refuse"):
            raise ValueError("what can happen to a connect is refuse(), and to nothing else")
        if passes:
            installed_clock()
        self.what = what
        self.operation = operation
        self.left = left
        self.times = times
        self.passes = passes


class Faults(memory_port.Guard):
    """See above. They last as long as this lives; `name` is what follows memory: in the address. That
    time passes (seconds) needs a FakeClock that is installed, else it raises RuntimeError."""

    def __init__(self, name: str) -> None:
        self._faults: list[_Fault] = []
        self._seen: Counter[Operation] = Counter()
        self._lock = Lock()
        memory_port.guards[name] = self

    def refuse(self, nth: int = 1, times: int = 1) -> None:
        """The n-th attempt to connect, and with `times` those behind it, fails."""
        self._add(_Fault("refuse", Operation.CONNECT, nth, times, 0.0))

    def cut(self, operation: Operation, nth: int = 1) -> None:
        """The connection ends in place of the n-th frame."""
        self._add(_Fault("cut", operation, nth, 1, 0.0))

    def stall(self, operation: Operation, nth: int = 1, passes: float = 0.0) -> None:
        """The n-th frame is lost, and all that its sender writes to this connection behind it. Then so much
        time passes."""
        self._add(_Fault("stall", operation, nth, 1, passes))

    def drop(self, operation: Operation, nth: int = 1, passes: float = 0.0) -> None:
        """The n-th frame is lost."""
        self._add(_Fault("drop", operation, nth, 1, passes))

    def delay(self, operation: Operation, passes: float, nth: int = 1) -> None:
        """So much time passes before the n-th frame is written."""
        self._add(_Fault("delay", operation, nth, 1, passes))

    def seen(self, operation: Operation) -> int:
        """How many there have been."""
        return self._seen[operation]

    def _add(self, fault: _Fault) -> None:
        with self._lock:
            self._faults.append(fault)

    # As connections see it

    def refuses(self) -> bool:
        return self.happens(Operation.CONNECT) is not None

    def end(self, inner: Stream, *, client: bool) -> Stream:
        return _FaultyEnd(inner, self, client)

    def happens(self, *counts_as: Operation) -> _Fault | None:
        """What happens to the next operation, which may count as two."""
        found: _Fault | None = None
        with self._lock:
            for operation in counts_as:
                self._seen[operation] += 1
                for fault in self._faults:
                    if fault.operation is operation:
                        fault.left -= 1
                        if fault.left <= 0:
                            found = found or fault
                            fault.left = 1
                            fault.times -= 1
            self._faults = [fault for fault in self._faults if fault.times > 0]
        return found


class _FaultyEnd(MemoryEnd):
    """What it writes is looked at frame by frame."""

    __slots__ = ("_faults", "_header", "_kinds", "_left", "_lost", "_out", "_stalled")

    def __init__(self, inner: Stream, faults: Faults, client: bool) -> None:
        super().__init__(inner)
        self._faults = faults
        any_frame, of_call = (
            (Operation.WRITE, Operation.REQUEST) if client else (Operation.READ, Operation.REPLY)
        )
        self._kinds = (any_frame, REQUEST if client else REPLY, of_call)
        self._header = bytearray()
        self._left = 0  # bytes of the frame that has begun
        self._lost = False
        self._stalled = False
        self._out: list[Buffer] = []

    def write_now(self, buffers: list[Buffer]) -> int:
        taken = 0
        for buffer in buffers:
            rest = memoryview(buffer).cast("B")
            while rest:
                part = self._take(rest)
                taken += part
                if not part:
                    return taken
                rest = rest[part:]
        return taken

    def _take(self, rest: memoryview) -> int:
        """Takes some of these bytes; 0: there is no room."""
        if self._out:
            self._out = drop_written(self._out, self._inner.write_now(self._out))
            if self._out:
                return 0
        if self._left == 0:
            part = min(len(rest), _HEADER - len(self._header))
            self._header += rest[:part]
            if len(self._header) == _HEADER:
                self._begin_frame()
            return part
        part = min(len(rest), self._left)
        if not self._lost:
            part = self._inner.write_now([rest[:part]])
        self._left -= part
        return part

    def _begin_frame(self) -> None:
        header, self._header = bytes(self._header), bytearray()
        any_frame, kind, of_call = self._kinds
        is_call = header[4] == kind
        fault = self._faults.happens(any_frame, of_call) if is_call else self._faults.happens(any_frame)
        what = fault.what if fault is not None else ""
        self._stalled = self._stalled or what == "stall"
        self._lost = self._stalled or what == "drop"
        if what == "cut":
            self.shutdown()
            raise ConnectionResetError(errno.ECONNRESET, "the connection was cut")
        if fault is not None and fault.passes:
            installed_clock().advance(fault.passes)
        if not self._lost:
            self._out = drop_written([header], self._inner.write_now([header]))
        size = int.from_bytes(header[:4], "little")
        self._left = max((size + 7) & ~7, _HEADER) - _HEADER
