"""A network inside of one process, for clients and servers of one VirtualLoop: streams with delays, pieces of
any size, partitions and ends, drawn from one random source, so that the same seed gives the same run.

    network.connect("tcp://ann-bob:1")    the host ann connects to the port 1 of the host bob

A name of a host without '-' is that of the side that is connected to; the caller is then the host ''. What a
peer's kernel does for it goes on while its program is stopped: it takes bytes until its buffer is full.
"""

import errno
import heapq
import os
from asyncio import Event
from collections import deque
from collections.abc import Callable
from random import Random

from mf.testing.clock import FakeClock
from mf.transport import memory_port
from mf.transport.address import Address
from mf.transport.network import Network
from mf.transport.sockets import Listening
from mf.transport.stream import Buffer, Stream

_FIRST_DESCRIPTOR = 1 << 20
"""Of a stream in memory, above all that the system gives."""

DEAD_AFTER = 10.0
"""Seconds after which the kernel ends a connection whose bytes are not acknowledged."""

_MOST_PIECES = 8
"""A large read or write is cut into about so many pieces at most, however small a piece may be."""

ROOM = 1 << 16
"""Bytes that one direction of a connection holds before its writer has to wait."""


class Weather:
    """The network when nothing goes wrong: the seconds that bytes take, and the largest piece in which a read
    or a write moves them (0: all at once)."""

    __slots__ = ("largest_piece", "latency", "spread")

    def __init__(self, latency: float = 0.0001, spread: float = 0.0, largest_piece: int = 0) -> None:
        self.latency = latency
        self.spread = spread
        self.largest_piece = largest_piece


class _Pipe:
    """One direction of a connection."""

    __slots__ = ("arrived", "ended", "flight", "flying", "held_until", "last", "lost")

    def __init__(self) -> None:
        self.flight: deque[tuple[float, bytes]] = deque()  # an empty piece: the end
        self.flying = 0  # bytes of it
        self.arrived = bytearray()
        self.ended = False
        self.held_until = 0.0
        self.last = 0.0
        self.lost = False  # with its connection: nothing more arrives

    def size(self) -> int:
        return len(self.arrived) + self.flying

    def deliver(self, now: float) -> None:
        while (
            self.flight and max(self.flight[0][0], self.held_until) <= now and not (self.ended or self.lost)
        ):
            _, piece = self.flight.popleft()
            if piece:
                self.arrived += piece
                self.flying -= len(piece)
            else:
                self.ended = True


class MemoryStream(Stream):
    """One end of a connection."""

    __slots__ = ("_descriptor", "_network", "cut", "host", "incoming", "other", "outgoing", "shut")

    def __init__(self, network: "MemoryNetwork", descriptor: int, host: str, peer: str) -> None:
        self._network = network
        self._descriptor = descriptor
        self.host = host
        self.peer = peer
        self.read = self.read_now
        self.incoming = _Pipe()
        self.outgoing = _Pipe()
        self.other: MemoryStream | None = None
        self.cut = False
        self.shut = False

    def fileno(self) -> int:
        return self._descriptor

    def set_read_timeout(self, seconds: float) -> None:
        """No thread blocks on a stream of a loop."""

    def read_now(self, into: memoryview) -> int:
        network = self._network
        network.count_operation(self)
        pipe = self.incoming
        pipe.deliver(network.clock.now)
        if not pipe.arrived:
            if self.cut:
                raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
            if pipe.ended:
                return 0
            raise BlockingIOError
        size = network.piece(min(len(pipe.arrived), len(into)))
        into[:size] = pipe.arrived[:size]
        del pipe.arrived[:size]
        return size

    def write_now(self, buffers: list[Buffer]) -> int:
        network = self._network
        network.count_operation(self)
        if self.cut:
            raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
        if self.shut or self.other is None:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
        if network.is_stopped(self.host):
            return 0
        room = max(ROOM - self.outgoing.size(), 0)
        data = b"".join(buffers)
        size = network.piece(min(room, len(data)))
        if size:
            network.send(self, bytes(data[:size]))
        return size

    def wait(self, write: bool, timeout: float) -> bool:
        raise NotImplementedError("a stream of a VirtualLoop is waited for by its loop only")

    def unacknowledged(self) -> int:
        self.outgoing.deliver(self._network.clock.now)
        return self.outgoing.flying

    def readable(self) -> bool:
        pipe = self.incoming
        pipe.deliver(self._network.clock.now)
        return self.cut or bool(pipe.arrived) or pipe.ended

    def writable(self) -> bool:
        return self.cut or self.shut or self.other is None or self.outgoing.size() < ROOM

    def shutdown(self) -> None:
        if not self.shut:
            self.shut = True
            self._network.send(self, b"")

    def close(self) -> None:
        if self._network.forget(self):
            if self.incoming.arrived and self.other is not None:  # what was not read: the kernel resets
                self._network.end(self)
            else:
                self.shutdown()


class MemoryListening(Listening):
    """A port of a host."""

    __slots__ = ("_descriptor", "_network", "waiting")

    def __init__(self, network: "MemoryNetwork", descriptor: int, address: Address) -> None:
        self._network = network
        self._descriptor = descriptor
        self.address = address
        self.waiting: deque[MemoryStream] = deque()

    def fileno(self) -> int:
        return self._descriptor

    def readable(self) -> bool:
        return bool(self.waiting)

    def writable(self) -> bool:
        return False

    @property
    def host(self) -> str:
        return self.address.host

    def accept(self) -> Stream:
        if not self.waiting:
            raise BlockingIOError
        stream = self.waiting.popleft()
        return (
            memory_port.guard_of(self.address).end(stream, client=False) if self.address.in_memory else stream
        )

    def turn_away(self, farewell: bytes = b"", most: int = 1) -> int:  # noqa: ARG002 - it is only reset
        if self.waiting:
            stream = self.waiting.popleft()
            self._network.end(stream)
            self._network.forget(stream)
            return 1
        return 0

    def close(self) -> None:
        self._network.stop_listening(self)
        while self.waiting:  # connections that were not accepted: the kernel resets them
            self.turn_away()


class MemoryNetwork(Network):
    """See above. `fail_at`: the operation with this number (reads and writes, counted from 0) ends its
    connection instead."""

    def __init__(
        self, clock: FakeClock, random: Random | None = None, weather: Weather | None = None
    ) -> None:
        self.clock = clock
        self.weather = weather or Weather()
        self.fail_at: int | None = None
        self.operations = 0
        self.slow = 1.0
        """By how much all bytes take longer now."""
        self._random = random or Random(0)
        self._ends: dict[int, MemoryStream | MemoryListening] = {}
        self._ports: dict[tuple[str, int], MemoryListening] = {}
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._stopped: dict[str, float] = {}
        self._parted: dict[tuple[str, str], float] = {}
        self._numbers = 0

    # As the product sees it

    async def connect(self, address: Address) -> Stream:
        caller, _, callee = address.host.rpartition("-")
        await self._pass(self._latency())
        while self.clock.now < self._held(caller, callee):  # its SYN is repeated until a side gives up
            await self._pass(self._held(caller, callee) - self.clock.now)
        listening = self._ports.get((callee, address.port))
        guard = memory_port.guard_of(address) if address.in_memory else None
        if listening is None or (guard is not None and guard.refuses()):
            raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
        number = self._number()
        client = MemoryStream(self, self._number(), caller, f"{callee}:{address.port}")
        server = MemoryStream(self, self._number(), callee, f"{caller or 'local'}:{number}")
        client.other, server.other = server, client
        client.outgoing, server.outgoing = server.incoming, client.incoming
        self._ends[client.fileno()] = client
        self._ends[server.fileno()] = server
        listening.waiting.append(server)
        return client if guard is None else guard.end(client, client=True)

    def listen(self, address: Address) -> Listening:
        key = (address.host, address.port)
        if key in self._ports:
            raise OSError(errno.EADDRINUSE, f"{address} is taken by another program")
        listening = MemoryListening(self, self._number(), address)
        self._ports[key] = listening
        self._ends[listening.fileno()] = listening
        return listening

    # What goes wrong

    def cut(self, one: str, other: str) -> None:
        """All connections between two hosts end, with what was under way."""
        for end in self._between(one, other):
            self.end(end)

    def part(self, one: str, other: str, seconds: float) -> None:
        """No byte goes from one host to another for so long. What is under way when the kernel's patience
        ends is lost with its connection."""
        until = self.clock.now + seconds
        for pair in ((one, other), (other, one)):
            self._parted[pair] = max(until, self._parted.get(pair, 0.0))
        for end in self._between(one, other):
            end.incoming.held_until = max(end.incoming.held_until, until)
        if seconds > DEAD_AFTER:
            self.at(self.clock.now + DEAD_AFTER, lambda: self.cut(one, other))
        self.at(until, lambda: None)

    def stop(self, host: str, seconds: float) -> None:
        """The host's program notices nothing on its connections for so long."""
        until = self.clock.now + seconds
        self._stopped[host] = max(until, self._stopped.get(host, 0.0))
        self.at(until, lambda: None)

    def kill(self, host: str) -> None:
        """The host's program is gone, and says no good-bye; no process listens there any more."""
        for end in list(self._ends.values()):
            if end.host == host:
                if isinstance(end, MemoryListening):
                    end.close()
                else:
                    self.end(end)

    # The inside

    def _between(self, one: str, other: str) -> list[MemoryStream]:
        streams = [end for end in self._ends.values() if isinstance(end, MemoryStream)]
        return [each for each in streams if each.other and {each.host, each.other.host} == {one, other}]

    def at(self, when: float, work: Callable[[], None]) -> None:
        """Runs a function at that time."""
        self._numbers += 1
        heapq.heappush(self._events, (when, self._numbers, work))

    def next_event(self) -> float | None:
        return self._events[0][0] if self._events else None

    def run_due(self) -> None:
        while self._events and self._events[0][0] <= self.clock.now:
            heapq.heappop(self._events)[2]()

    def is_ready(self, descriptor: int, *, write: bool) -> bool:
        end = self._ends.get(descriptor)
        if end is None or self.is_stopped(end.host):
            return False
        return end.writable() if write else end.readable()

    def is_stopped(self, host: str) -> bool:
        return self._stopped.get(host, 0.0) > self.clock.now

    def shuffled(self, count: int) -> list[int]:
        """An order in which so many things that are ready at once are reported."""
        return self._random.sample(range(count), count)

    def listens(self, host: str, port: int) -> bool:
        return (host, port) in self._ports

    def longest_latency(self) -> float:
        return self.slow * (self.weather.latency + self.weather.spread)

    def open_ends(self) -> list[str]:
        """Streams and ports that were not closed."""
        return [f"{end.host}: {getattr(end, 'peer', 'a port')}" for end in self._ends.values()]

    def count_operation(self, stream: MemoryStream) -> None:
        if self.operations == self.fail_at:
            self.end(stream)
        self.operations += 1

    def piece(self, size: int) -> int:
        largest = self.weather.largest_piece and max(self.weather.largest_piece, size // _MOST_PIECES)
        return self._random.randint(1, min(size, largest)) if largest and size > 1 else size

    def send(self, stream: MemoryStream, data: bytes) -> None:
        """An empty one is the end."""
        pipe = stream.outgoing
        pipe.last = max(pipe.last, self.clock.now + self._latency())
        if stream.other is not None:
            pipe.held_until = max(pipe.held_until, self._held(stream.host, stream.other.host))
        pipe.flight.append((pipe.last, data))
        pipe.flying += len(data)
        self.at(max(pipe.last, pipe.held_until), lambda: None)

    def end(self, stream: MemoryStream) -> None:
        """Both ends of a connection learn that it was reset, and what was under way is lost."""
        for end in (stream, stream.other):
            if end is not None:
                end.incoming.deliver(self.clock.now)
                end.incoming.lost = True
                end.cut = True

    def forget(self, stream: MemoryStream) -> bool:
        """False: that was done."""
        return self._ends.pop(stream.fileno(), None) is not None

    def stop_listening(self, listening: MemoryListening) -> None:
        self._ends.pop(listening.fileno(), None)
        key = (listening.address.host, listening.address.port)
        if self._ports.get(key) is listening:
            del self._ports[key]

    def _latency(self) -> float:
        return self.slow * (self.weather.latency + self.weather.spread * self._random.random() ** 4)

    def _held(self, one: str, other: str) -> float:
        return self._parted.get((one, other), 0.0)

    def _number(self) -> int:
        self._numbers += 1
        return _FIRST_DESCRIPTOR + self._numbers

    async def _pass(self, seconds: float) -> None:
        done = Event()
        self.at(self.clock.now + seconds, done.set)
        await done.wait()
