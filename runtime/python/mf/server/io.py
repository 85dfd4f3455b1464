"""R5. The only IO thread of a server with blocking handlers: accepts, reads, parses, runs inline handlers,
passes other calls on, and watches time limits.

It blocks only in epoll, and wakes only for sockets, for `wake`, and while something has a time limit.
"""

import os
import select
from _thread import get_ident
from collections import deque
from threading import Lock, Thread
from time import monotonic

from mf.core.clock import moment
from mf.core.log import line, warning
from mf.protocol.handshake import Hello
from mf.server.access import Access
from mf.server.connection import READ, Connection
from mf.server.current import ServedCall
from mf.server.listener import Listener
from mf.server.load import ServerLoad
from mf.server.offer import Offers
from mf.server.pushed import run_pushed
from mf.server.server_io import ServerIo
from mf.server.stream import StreamCall
from mf.server.workers import StreamThreads, Workers
from mf.transport.sockets import Listening
from mf.transport.stream import Stream


class IoThread(ServerIo):
    """Made by Server.start. Other threads may only use the functions of Loop, `adopt` and `drain`."""

    __slots__ = (
        "_adopted",
        "_epoll",
        "_event",
        "_event_lock",
        "_ident",
        "_looked_for",
        "_must_check_again",
        "_must_look",
        "_streams",
        "_unheard",
        "_workers",
        "thread",
    )

    def __init__(
        self,
        listening: list[Listening],
        offers: Offers,
        hello: Hello,
        load: ServerLoad,
        access: Access,
        workers: Workers,
        streams: StreamThreads,
    ) -> None:
        super().__init__(listening, offers, hello, load, access)
        self._workers = workers
        self._streams = streams
        self._adopted: deque[Stream] = deque()
        self._looked_for: deque[Connection] = deque()
        self._must_look = False
        self._must_check_again = False
        self._unheard = False
        self._ident = 0
        self._event_lock = Lock()
        self._event = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._epoll = select.epoll()
        self._epoll.register(self._event, READ)
        for descriptor in self._listeners:
            self._epoll.register(descriptor, READ)
        self.thread = Thread(target=self._run, name="mf-io", daemon=True)

    # For other threads

    def _wake(self) -> None:
        """Makes the IO thread check all connections."""
        self._must_look = True
        self._notify()

    def look_at(self, connection: Connection) -> None:
        self._looked_for.append(connection)
        self._notify()

    def is_here(self) -> bool:
        return get_ident() == self._ident or super().is_here()

    def turn_soon(self, call: StreamCall) -> None:
        self._due.append(call)
        self._notify()

    def _notify(self) -> None:
        """Does not wait for the lock: a finalizer may run while the thread holds it. The thread with the lock
        checks again after releasing it, since the IO thread may have handled its notification before this
        one.
        """
        self._unheard = True
        while self._unheard and self._event_lock.acquire(blocking=False):
            try:
                self._unheard = False
                if self._event >= 0:
                    os.eventfd_write(self._event, 1)
            finally:
                self._event_lock.release()

    def start(self, call: ServedCall) -> None:
        if isinstance(call, StreamCall):
            if call.handler.pushed:
                run_pushed(call)
            elif not self._streams.submit(call):
                self._refuse_stream(call)
        else:
            self._workers.submit(call)

    def _refuse_stream(self, call: StreamCall) -> None:
        connection = call.connection
        shares = self._streams.shares
        own = shares.of(connection.account)
        text = (
            f"{shares.used} of at most {shares.most} handlers of streams run on this server, "
            f"{own} of them for {connection.account}"
        )
        denied = line("stream_refused", peer=connection.peer, method=call.handler, reason=text)
        warning("%s", denied, peer=connection.peer)
        connection.refuse(call, text)
        connection.written()

    def wrote(self, connection: Connection) -> None:
        if get_ident() != self._ident:
            connection.flush()
            if (
                self._drain_until is not None
                or connection.rest
                or connection.owes
                or connection.wanted() != connection.watched
            ):
                self.look_at(connection)

    def stalled(self, connection: Connection) -> None:
        super().stalled(connection)
        self.look_at(connection)

    def _time_changed(self) -> None:
        """The time is checked before each wait."""

    def files_read(self) -> None:
        self._must_check_again = True
        self._wake()

    def adopt(self, stream: Stream) -> None:
        self._adopted.append(stream)
        self._wake()

    def drain(self, drain_timeout: float) -> None:
        """Accepts no new connections or requests; ends when all calls have ended, or after `drain_timeout`
        seconds."""
        self._drain_until = monotonic() + drain_timeout
        self._wake()

    def after_fork(self) -> None:
        if self._event < 0:  # it had ended
            return
        super().after_fork()
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
            for descriptor, mask in poll(timeout if timeout is None else moment(timeout)):
                connection = connections.get(descriptor)
                if connection is not None:
                    self._turn(connection, mask)
                elif descriptor == self._event:
                    os.eventfd_read(self._event)
                    self._woken()
                elif descriptor in self._listeners:
                    self._accept(self._listeners[descriptor])
                # else: of a connection that was closed in this turn
            if timeout is not None or self._drain_until is not None:
                self._watch_time(monotonic())
                if self._drained(monotonic()):
                    break
        self._close_all()
        self._epoll.close()
        with self._event_lock:
            os.close(self._event)
            self._event = -1

    def _woken(self) -> None:
        self._send_due()
        for _ in range(len(self._looked_for)):
            self._look_at(self._looked_for.popleft())
        if not self._must_look:
            return
        self._must_look = False
        while self._adopted:
            self._open(self._adopted.popleft())
        if self._drain_until is not None and not self._draining:
            self._begin_drain()
        if self._must_check_again:
            self._must_check_again = False
            self._check_again()
        self._look_at_all()

    def _watch(self, connection: Connection) -> None:
        before = connection.watched
        mask = connection.watched = connection.wanted()
        if before is None:
            self._epoll.register(connection.fileno, mask)
        elif mask != before:
            self._epoll.modify(connection.fileno, mask)

    def _forget(self, connection: Connection) -> None:
        self._epoll.unregister(connection.fileno)

    def _watch_listener(self, listener: Listener, *, accept: bool) -> None:
        if accept:
            self._epoll.register(listener.fileno, READ)
        else:
            self._epoll.unregister(listener.fileno)
