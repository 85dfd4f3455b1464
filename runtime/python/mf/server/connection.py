"""R5. One accepted connection: its session, its output, its requests under way, and the order of its
one-way calls.

Threads. The IO thread reads, and alone closes. Replies come from any thread; whoever finds no writer sends
all that is queued. The lock guards the session, the output and the order. On the IO thread output waits
until the end of the turn, so that the replies of one read leave in one system call.

Order. One-way calls run one after the other. A later call to the same (service, agent) starts after them.
So both wait in `_ordered` while a one-way call is under way; other calls never do.
"""

import select
import socket
from collections import deque
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

from mf.core.error import Error
from mf.protocol.frame import Buffer
from mf.protocol.handshake import Hello
from mf.protocol.server_session import Resolve, ServerSession
from mf.server.current import ServedCall
from mf.server.offer import Offer
from mf.transport.stream import MOST_BUFFERS, drop_written

if TYPE_CHECKING:
    from mf.server.io import IoThread

READ = select.EPOLLIN
WRITE = select.EPOLLOUT

OUTPUT_LIMIT = 8 << 20
INPUT_LIMIT = 64 << 20
STALLED_AFTER = 10.0
_BACKLOG_LIMIT = 8192
_LARGE = 4096  # smaller payloads are not counted: the number of requests bounds them


class Connection:
    """See above. `broken` is set by whoever finds out; the IO thread then closes."""

    __slots__ = (
        "_flushing",
        "_io",
        "_mask",
        "_oneways",
        "_ordered",
        "_waiting_bytes",
        "blocked",
        "broken",
        "calls",
        "fileno",
        "last_progress",
        "lock",
        "opened",
        "peer",
        "session",
        "socket",
    )

    def __init__(
        self,
        io: "IoThread",
        accepted: socket.socket,
        peer: str,
        hello: Hello,
        scratch: bytearray,
        now: float,
        resolve: Resolve,
    ) -> None:
        self._io = io
        self.socket = accepted
        self.fileno = accepted.fileno()
        self.peer = peer
        self.session = ServerSession(hello, scratch, resolve)
        self.lock = Lock()
        self.calls: dict[int, ServedCall] = {}
        self.opened = now
        self.last_progress = now
        self.blocked = False
        self.broken = ""
        self._mask = READ
        self._flushing = False
        self._waiting_bytes = 0
        self._oneways: dict[Offer, int] = {}
        self._ordered: deque[ServedCall] = deque()

    # Requests

    @property
    def busy(self) -> bool:
        """Whether anything is still to be run or to be sent."""
        return bool(self.calls or self._oneways or self.session.out or self._flushing)

    def admit(self, call: ServedCall) -> bool:
        """Takes a request in that will run elsewhere. True: it may start now; else it is started when its
        turn comes.
        """
        offer = call.handler.offer
        if not call.oneway:
            self.calls[call.id] = call
            if (
                len(call.payload) < _LARGE and offer not in self._oneways
            ):  # none can come but from this thread
                return True
        with self.lock:
            if len(call.payload) >= _LARGE:
                self._waiting_bytes += len(call.payload)
            if call.oneway:
                call.in_order = True
                first = not self._oneways
                self._oneways[offer] = self._oneways.get(offer, 0) + 1
                if first:
                    return True
            elif offer not in self._oneways:
                return True
            self._ordered.append(call)
            return False

    def cancel(self, id_: int) -> None:
        """The client gave a call up. If its handler has not started, it never will."""
        call = self.calls.get(id_)
        if call is not None:
            call.cancelled = True

    def reply(self, call: ServedCall, status: int, encoding: int, payload: Buffer) -> None:
        with self.lock:
            self._ended(call)
            if not call.oneway:
                self.session.reply(call.id, call.route, status, encoding, call.count, payload)
        self._io.wrote(self)

    def fail(self, call: ServedCall, error: Error) -> None:
        if call.oneway:
            self.drop(call)
            return
        with self.lock:
            self._ended(call)
            self.session.fail(call.id, call.route, call.count, error)
        self._io.wrote(self)

    def drop(self, call: ServedCall) -> None:
        """Ends a call that gets no reply: one-way, or given up by the client."""
        ready: list[ServedCall] = []
        with self.lock:
            self._ended(call)
            self.session.in_flight.discard(call.id)
            if call.in_order:
                self._advance(call.handler.offer, ready)
        for next_ in ready:
            self._io.start(next_)
        self._io.wrote(self)

    def _ended(self, call: ServedCall) -> None:
        if not call.oneway and self.calls.pop(call.id, None) is None:
            return  # ran where it was read
        if len(call.payload) >= _LARGE:
            self._waiting_bytes -= len(call.payload)

    def _advance(self, offer: Offer, ready: list[ServedCall]) -> None:
        """A one-way call is over: the next one starts, and all that waited between the two."""
        self._oneways[offer] -= 1
        if not self._oneways[offer]:
            del self._oneways[offer]
        while self._ordered:
            call = self._ordered.popleft()
            ready.append(call)
            if call.oneway:
                return

    def abandon(self) -> None:
        """The client is gone. Calls that have not started never will, except one-way ones: those were sent
        off.
        """
        for call in list(self.calls.values()):
            call.cancelled = True

    # Output

    def flush(self) -> None:
        """Sends what is queued, unless another thread is at it."""
        session = self.session
        with self.lock:
            if self._flushing or not session.out:
                return
            self._flushing = True
            size = session.out_bytes
            out = session.take_output()
        while True:
            try:
                written = self._send(out)
            except OSError as error:
                self._flushing = False
                self.hang_up(f"connection lost: {error.strerror or error}")
                return
            if written < size:
                out = drop_written(out, written)
                size -= written
                if written:
                    continue
                self._block(out, size)
                return
            self._flushing = False
            if not session.out:
                return
            with self.lock:
                if self._flushing or not session.out:
                    return
                self._flushing = True
                size = session.out_bytes
                out = session.take_output()

    def _send(self, out: list[Buffer]) -> int:
        try:
            if len(out) == 1:
                return self.socket.send(out[0])
            return self.socket.sendmsg(out[:MOST_BUFFERS])
        except BlockingIOError:
            return 0

    def _block(self, rest: list[Buffer], size: int) -> None:
        with self.lock:
            session = self.session
            session.out[:0] = rest
            session.out_bytes += size
            self._flushing = False
            if not self.blocked:
                self.blocked = True
                self.last_progress = monotonic()
        self._io.stalled(self)

    def hang_up(self, reason: str) -> None:
        """From any thread: has the IO thread close this connection."""
        if not self.broken:
            self.broken = reason
            try:
                self.socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                self._io.wake()

    # For the IO thread

    def wanted(self) -> int:
        """What to watch for. Reading pauses while the output, or what waits to be run, is over its limit."""
        paused = (
            self.session.out_bytes > OUTPUT_LIMIT
            or self._waiting_bytes > INPUT_LIMIT
            or len(self._ordered) > _BACKLOG_LIMIT
        )
        return (0 if paused else READ) | (WRITE if self.blocked else 0)

    def watch(self, epoll: select.epoll) -> None:
        """Changes what is watched if it is not what is wanted."""
        mask = self.wanted()
        if mask != self._mask:
            self._mask = mask
            epoll.modify(self.fileno, mask)
