"""R5. The one IO thread of a server: accepts, reads, parses, runs inline handlers, passes the others on,
watches the time.

It never blocks but in epoll, and wakes only for sockets, for `wake`, and while something has a time limit:
a handshake, a peer that does not read, a pause in accepting, the drain.
"""

import os
import select
from _thread import get_ident
from collections import deque
from threading import Lock, Thread
from time import monotonic
from typing import Any

from mf.core.error import Code, Error
from mf.core.log import info, log_handler_failure, quote, warning
from mf.protocol.events import (
    Broken,
    CancelRequested,
    CreditReceived,
    DataReceived,
    DescribeRequested,
    EndReceived,
    Refused,
)
from mf.protocol.frame import METADATA, ONEWAY, STREAM, unpack_deadline
from mf.protocol.handshake import Hello
from mf.protocol.server_call import ServerCallState
from mf.protocol.session import SCRATCH_SIZE
from mf.server.connection import READ, STALLED_AFTER, WRITE, Connection, Loop
from mf.server.current import ServedCall
from mf.server.dispatch import run
from mf.server.listener import Listener
from mf.server.offer import Offers
from mf.server.stream import StreamCall
from mf.server.workers import AsyncRunner, StreamThreads, Workers
from mf.transport.sockets import Listening
from mf.transport.stream import Stream, StreamError

HANDSHAKE_TIMEOUT = 2.0
INLINE_LIMIT = 4096
_ACCEPTS_PER_TURN = 64
_LOOK_EVERY = 0.02  # while it drains, whether all is finished


class IoThread(Loop):
    """Made by Server.start. Only what Loop has, `adopt` and `drain` are for other threads."""

    __slots__ = (
        "_adopted",
        "_connections",
        "_drain_until",
        "_draining",
        "_due",
        "_epoll",
        "_event",
        "_event_lock",
        "_hello",
        "_ident",
        "_listeners",
        "_look_at_all",
        "_offers",
        "_opening",
        "_runner",
        "_scratch",
        "_stalled",
        "_streams",
        "_workers",
        "thread",
    )

    def __init__(
        self,
        listening: list[Listening],
        offers: Offers,
        hello: Hello,
        workers: Workers,
        streams: StreamThreads,
        runner: AsyncRunner,
    ) -> None:
        self._offers = offers
        self._hello = hello
        self._workers = workers
        self._streams = streams
        self._runner = runner
        self._listeners = {each.fileno: each for each in map(Listener, listening)}
        self._scratch = bytearray(SCRATCH_SIZE)
        self._connections: dict[int, Connection] = {}
        self._opening: deque[Connection] = deque()
        self._stalled: set[Connection] = set()
        self._adopted: deque[Stream] = deque()
        self._due: deque[StreamCall] = deque()
        self._look_at_all = False
        self._drain_until: float | None = None
        self._draining = False
        self._ident = 0
        self._event_lock = Lock()
        self._event = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._epoll = select.epoll()
        self._epoll.register(self._event, READ)
        for descriptor in self._listeners:
            self._epoll.register(descriptor, READ)
        self.thread = Thread(target=self._run, name="mf-io", daemon=True)

    # For other threads

    def wake(self) -> None:
        self._look_at_all = True
        with self._event_lock:
            if self._event >= 0:
                os.eventfd_write(self._event, 1)

    def turn_soon(self, call: StreamCall) -> None:
        self._due.append(call)
        # Not waited for: a finalizer may run within the lock. Who has it then wakes the thread, which takes
        # what is due first.
        if self._event_lock.acquire(blocking=False):
            try:
                if self._event >= 0:
                    os.eventfd_write(self._event, 1)
            finally:
                self._event_lock.release()

    def start(self, call: ServedCall) -> None:
        if call.handler.is_async:
            from mf.server.dispatch_async import run_async, run_stream_async  # who has none needs no asyncio

            if isinstance(call, StreamCall):
                self._runner.submit(run_stream_async(call))
            else:
                self._runner.submit(run_async(call))
        elif isinstance(call, StreamCall):
            self._streams.submit(call)
        else:
            self._workers.submit(call)

    def wrote(self, connection: Connection) -> None:
        if get_ident() != self._ident:
            connection.flush()
            if self._drain_until is not None or connection.wanted() != connection._mask:
                self.wake()

    def stalled(self, connection: Connection) -> None:
        self._stalled.add(connection)
        self.wake()

    def adopt(self, stream: Stream) -> None:
        """Serves a connection, as if it had been accepted."""
        self._adopted.append(stream)
        self.wake()

    def drain(self, grace: float) -> None:
        """No new connections or requests; ends when all is finished, at the latest after `grace` seconds."""
        self._drain_until = monotonic() + grace
        self.wake()

    def after_fork(self) -> None:
        """In a child: its copies of the descriptors are closed, and the parent goes on with its own."""
        if self._event < 0:  # it had ended
            return
        for listener in self._listeners.values():
            listener.after_fork()
        for connection in self._connections.values():
            connection.stream.close()
        self._epoll.close()
        os.close(self._event)
        self._event = -1

    # The loop

    def _run(self) -> None:
        self._ident = get_ident()
        poll = self._epoll.poll
        connections = self._connections
        while True:
            timeout = self._timeout()
            for descriptor, mask in poll(timeout):
                connection = connections.get(descriptor)
                if connection is not None:
                    self._turn(connection, mask)
                elif descriptor == self._event:
                    os.eventfd_read(self._event)
                    self._woken()
                elif descriptor in self._listeners:
                    self._accept(self._listeners[descriptor])
                # else: of a connection that was closed in this very turn
            if timeout is not None or self._drain_until is not None:
                self._watch_time(monotonic())
                if self._drained(monotonic()):
                    break
        for connection in list(connections.values()):
            self._close(connection, "")
        self._epoll.close()
        with self._event_lock:
            os.close(self._event)
            self._event = -1

    def _timeout(self) -> float | None:
        """Seconds to the next thing that has a time; None if nothing has."""
        resume = [each.resume_at for each in self._listeners.values() if each.resume_at is not None]
        if not (self._opening or self._stalled or resume) and self._drain_until is None:
            return None
        now = monotonic()
        times = [now + 1.0, *resume]
        if self._opening:
            times.append(self._opening[0].opened + HANDSHAKE_TIMEOUT)
        if self._drain_until is not None:
            times += (self._drain_until, now + _LOOK_EVERY)
        return max(min(times) - now, 0.0)

    def _turn(self, connection: Connection, mask: int) -> None:
        try:
            if mask & WRITE and connection.blocked:
                connection.blocked = False
                connection.last_progress = monotonic()
                self._stalled.discard(connection)
            if mask & ~WRITE and not connection.broken:
                self._read(connection)
                while connection.stream.inside and not connection.broken:
                    self._read(connection)
            connection.flush()
            if connection.broken:
                self._close(connection, connection.broken)
            else:
                connection.watch(self._epoll)
        except Exception as raised:  # a bug of ours must not take the other connections along
            log_handler_failure(f"connection of {connection.peer}", raised)
            self._close(connection, "internal error")

    def _read(self, connection: Connection) -> None:
        session = connection.session
        try:
            count = connection.stream.read(session.window())
        except BlockingIOError:
            return
        except StreamError as failed:
            connection.broken = str(failed)
            return
        except OSError as failed:
            connection.broken = f"connection lost: {failed.strerror or failed}"
            return
        if not count:
            connection.broken = "closed by the client"
            return
        with connection.lock:
            events = session.received(count)
        now = monotonic()
        for event in events:
            if isinstance(event, tuple):
                handler, id_, route, flags, word, items, payload, metadata = event
                deadline = now + unpack_deadline(word) if word else _FOREVER
                if flags & _UNUSUAL and (flags & STREAM or isinstance(metadata, Error)):
                    self._rare_request(connection, event, deadline)
                    continue
                call = ServedCall(connection, handler, id_, route, flags, deadline, items, payload, metadata)
                if handler.inline and len(payload) <= INLINE_LIMIT and not connection._oneways:
                    call.state = _RUNNING  # nothing can have happened to it
                    run(call)
                elif connection.admit(call):
                    self.start(call)
            else:
                self._rare(connection, event)

    def _rare_request(self, connection: Connection, event: Any, deadline: float) -> None:
        """One with a stream, or with metadata that nobody can read."""
        handler, id_, route, flags, _, items, payload, metadata = event
        if isinstance(metadata, Error):
            if not flags & ONEWAY:
                with connection.lock:
                    connection.session.fail(id_, route, items, metadata)
            return
        if not handler.method.stream:  # which is said where other requests that do not fit are refused
            run(ServedCall(connection, handler, id_, route, flags, deadline, items, payload, metadata))
            return
        call = connection.open_stream(handler, id_, route, flags, deadline, items, payload, metadata)
        if call is not None and connection.admit(call):
            self.start(call)

    def _rare(self, connection: Connection, event: Any) -> None:
        session = connection.session
        if isinstance(event, DescribeRequested):
            with connection.lock:
                session.describe(event.service, *self._offers.description(event.service))
        elif isinstance(event, (DataReceived, CreditReceived, EndReceived)):
            connection.stream_event(event)
        elif isinstance(event, CancelRequested):
            connection.cancel(event.id)
        elif isinstance(event, Broken):
            connection.flush()  # REFUSE
            connection.broken = f"protocol error: {quote(event.reason)}"
        elif isinstance(event, Refused):
            connection.broken = f"refused by the client: {event.code.name}: {quote(event.reason)}"
        if self._drain_until is not None:
            with connection.lock:
                session.goaway(Code.SHUTTING_DOWN, "this server is shutting down")

    # Coming and going

    def _accept(self, listener: Listener) -> None:
        for _ in range(_ACCEPTS_PER_TURN):
            accepted = listener.accept(monotonic())
            if accepted is None:
                break
            self._open(accepted)
        if listener.resume_at is not None:
            self._epoll.unregister(listener.fileno)

    def _open(self, stream: Stream) -> None:
        connection = Connection(self, stream, self._hello, self._scratch, monotonic(), self._offers.resolve)
        self._connections[connection.fileno] = connection
        self._opening.append(connection)
        self._epoll.register(connection.fileno, READ)

    def _close(self, connection: Connection, reason: str) -> None:
        """With a reason. That a client left, one way or another, is worth a line only to who looks for it."""
        if self._connections.get(connection.fileno) is not connection:
            return
        if reason:
            left = reason.startswith(("closed by", "connection lost"))
            (info if left else warning)("%s: %s", connection.peer, reason)
        connection.broken = connection.broken or "closed"
        connection.session.close()
        connection.abandon()
        del self._connections[connection.fileno]
        self._stalled.discard(connection)
        self._epoll.unregister(connection.fileno)
        connection.stream.close()

    def _woken(self) -> None:
        self._send_due()
        if not self._look_at_all:
            return
        self._look_at_all = False
        while self._adopted:
            self._open(self._adopted.popleft())
        if self._drain_until is not None and not self._draining:
            self._draining = True
            self._stop_listening()
            for connection in list(self._connections.values()):
                with connection.lock:
                    connection.session.goaway(Code.SHUTTING_DOWN, "this server is shutting down")
                connection.flush()
        for connection in list(self._connections.values()):
            if connection.broken:
                self._close(connection, connection.broken)
            else:
                connection.watch(self._epoll)

    def _send_due(self) -> None:
        """What streams have written and nobody has sent since."""
        due = self._due
        connections: set[Connection] = set()
        for _ in range(len(due)):
            call = due.popleft()
            connection = call.connection
            assert isinstance(connection, Connection)
            with connection.lock:
                call.turn()
            connections.add(connection)
        for connection in connections:
            if not connection.broken:
                connection.flush()
                connection.watch(self._epoll)

    def _stop_listening(self) -> None:
        for listener in self._listeners.values():
            if listener.resume_at is None:
                self._epoll.unregister(listener.fileno)
            listener.close()
        self._listeners.clear()

    # Time

    def _watch_time(self, now: float) -> None:
        opening = self._opening
        while opening and (opening[0].session.peer is not None or opening[0].broken):
            opening.popleft()
        while opening and opening[0].opened + HANDSHAKE_TIMEOUT <= now:
            connection = opening.popleft()
            if connection.session.peer is None:
                self._close(connection, f"no HELLO within {HANDSHAKE_TIMEOUT:.0f} s")
        for connection in list(self._stalled):
            if connection.blocked and connection.last_progress + STALLED_AFTER <= now:
                text = f"does not read: {connection.session.out_bytes} bytes wait since {STALLED_AFTER:.0f} s"
                self._close(connection, text)
        for listener in self._listeners.values():
            if listener.resume_at is not None and listener.resume_at <= now:
                listener.resume_at = None
                self._epoll.register(listener.fileno, READ)

    def _drained(self, now: float) -> bool:
        if self._drain_until is None:
            return False
        if now >= self._drain_until:
            self._stop_listening()
            return True
        if not self._draining:
            return False
        return not any(connection.busy for connection in self._connections.values())


_UNUSUAL = STREAM | METADATA
_RUNNING = ServerCallState.RUNNING
_FOREVER = float("inf")
