"""R5. The common part of a server's IO, whatever drives it: connections, their input, and things with a time
limit (a handshake, a peer that does not read, the drain). The drivers are io.py, a thread of its own, and
async_io.py, an asyncio loop.
"""

from abc import abstractmethod
from collections import Counter, deque
from contextlib import suppress
from time import monotonic
from typing import Any

from mf.core.current import current
from mf.core.error import Code, Error, not_executed
from mf.core.log import host_of, info, line, log_escaped_exception, quote, warning
from mf.core.peers import peer_fields
from mf.protocol.events import (
    Broken,
    CancelRequested,
    CreditReceived,
    DataReceived,
    DescribeRequested,
    EndReceived,
    Refused,
    RequestReceived,
)
from mf.protocol.frame import METADATA, ONEWAY, STREAM, unpack_deadline
from mf.protocol.handshake import Hello
from mf.protocol.server_call import ServerCallState
from mf.protocol.session import SCRATCH_SIZE
from mf.server.access import Access
from mf.server.admission import Standing
from mf.server.connection import PROGRESS_TIMEOUT, WRITE, Connection, Loop
from mf.server.current import ServedCall
from mf.server.dispatch import run, runner
from mf.server.files import ServedFiles
from mf.server.listener import Listener, refusal
from mf.server.load import ServerLoad
from mf.server.manager import tell_manager, watchdog_period
from mf.server.offer import Offers
from mf.server.stream import OUTPUT_LIMIT, StreamCall
from mf.transport.sockets import Listening
from mf.transport.stream import Stream, StreamError

HANDSHAKE_TIMEOUT = 2.0
INLINE_LIMIT = 4096
IDLE_GRACE = 10.0
"""Seconds after which a connection that has never bound anything may be ended for one of its own host."""
_MODEST = 256 << 10
_NO_MEMORY = "the requests and replies of this server take all the memory that it has for them"
_ACCEPTS_PER_TURN = 64
_LOOK_EVERY = 0.02  # checks during a drain whether all calls have ended
_REFUSED_LOGGED_EVERY = 10.0
_MOST_NAMED = 10  # methods in one line of the log
_UNUSUAL = STREAM | METADATA
_RUNNING = ServerCallState.RUNNING
_FOREVER = float("inf")


class ServerIo(Loop):
    """See above. All of it runs where the driver reads."""

    __slots__ = (
        "_access",
        "_connections",
        "_drain_until",
        "_draining",
        "_due",
        "_files",
        "_hello",
        "_hosts",
        "_listeners",
        "_load",
        "_offers",
        "_opening",
        "_pauses_input",
        "_progress_at",
        "_refused_logged_at",
        "_retired",
        "_run_here",
        "_scratch",
        "_sign_at",
        "_sign_every",
        "_stalled",
        "cut",
    )

    def __init__(
        self, listening: list[Listening], offers: Offers, hello: Hello, load: ServerLoad, access: Access
    ) -> None:
        self._access = access
        self._offers = offers
        self._hello = hello
        self._load = load
        self._progress_at = _FOREVER
        """When to check transfers next."""
        self._refused_logged_at = -_FOREVER
        self._listeners = {each.fileno: each for each in map(Listener, listening)}
        self._run_here = runner()
        self._pauses_input = True
        """Whether events wait until replies are read; otherwise calls whose handlers have not begun do."""
        self._scratch = bytearray(SCRATCH_SIZE)
        self._connections: dict[int, Connection] = {}
        load.connections = self._connections
        self._hosts: dict[str, dict[Connection, None]] = {}
        """The connections of each host, the oldest first."""
        self._opening: deque[Connection] = deque()
        self._stalled: dict[Connection, None] = {}
        """Connections that must transfer data."""
        self._due: deque[StreamCall] = deque()
        self._files: ServedFiles | None = None
        self._retired: dict[Connection, tuple[float, str]] = {}
        """Connections that are not allowed any more: when they are closed, and why."""
        self._sign_every = watchdog_period()
        self._sign_at = _FOREVER if self._sign_every == _FOREVER else monotonic()
        """When the service manager wants the next sign of life."""
        self._drain_until: float | None = None
        self.cut = False
        """Whether the drain has cut calls."""
        self._draining = False

    def is_here(self) -> bool:
        """Whether the caller is a handler of this server, or the thread that reads for it: stop() must not
        wait for these."""
        call = current.get()
        if not isinstance(call, ServedCall):
            return False
        return isinstance(call.connection, Connection) and call.connection.is_read_by(self)

    @abstractmethod
    def adopt(self, stream: Stream) -> None:
        """Serves a connection as if it had been accepted."""

    def watch_files(self, files: ServedFiles) -> None:
        """Before it starts. They are read again when they were replaced."""
        self._files = files

    @abstractmethod
    def files_read(self) -> None:
        """Files were read again: connections that they do not allow any more end. Thread-safe if the driver
        is."""

    def after_fork(self) -> None:
        """In a child: closes its copies of the descriptors; those of the parent are unaffected."""
        for listener in self._listeners.values():
            listener.after_fork()
        for connection in self._connections.values():
            connection.stream.close()

    def stalled(self, connection: Connection) -> None:
        now = monotonic()
        if connection.progress is None:
            connection.watch_progress(now)
        self._must_transfer(connection, now)

    def _must_transfer(self, connection: Connection, now: float) -> None:
        self._stalled[connection] = None
        self._progress_at = min(self._progress_at, now + PROGRESS_TIMEOUT)
        self._time_changed()

    # Hooks

    @abstractmethod
    def _watch(self, connection: Connection) -> None:
        """Watches the events that the connection wants."""

    @abstractmethod
    def _forget(self, connection: Connection) -> None:
        """The connection is about to be closed."""

    @abstractmethod
    def _watch_listener(self, listener: Listener, *, accept: bool) -> None:
        """Starts or stops accepting there."""

    @abstractmethod
    def _time_changed(self) -> None:
        """Something has a time limit now."""

    # Connections

    def _turn(self, connection: Connection, mask: int) -> None:
        try:
            if mask & WRITE and connection.blocked:
                connection.blocked = False
            goes_on = bool(connection.rest) and self._go_on(connection)
            if (mask & ~WRITE or goes_on) and not connection.broken and not connection.rest:
                self._read(connection)
                while connection.stream.inside and not connection.broken and not connection.rest:
                    self._read(connection)
            connection.flush()
            if connection.broken:
                self._close(connection, connection.broken)
            elif not connection.is_quiet:
                self._watch(connection)
                if connection.owes:
                    self._charge(connection)
        except Exception as raised:  # a bug of the runtime must not end the other connections
            log_escaped_exception(f"connection of {connection.peer}", raised)
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
        connection.received += count
        if connection.progress is not None:
            if session.has_ended_frame:  # also one without an event, a PING; whatever begins now
                connection.progress = connection.progress._replace(in_message=False)
        elif not session.is_whole:
            self._await_rest(connection, now)
        self._handle(connection, events, now)

    def _await_rest(self, connection: Connection, now: float) -> None:
        """A frame has begun to arrive: the rest has to follow."""
        connection.watch_progress(now)
        self._must_transfer(connection, now)

    def _go_on(self, connection: Connection) -> bool:
        """Continues with input that had to wait until replies were read. False: it still has to wait."""
        connection.flush()
        if not connection.has_room:
            return False
        rest, connection.rest = connection.rest, []
        self._handle(connection, rest, monotonic())
        return True

    def _handle(self, connection: Connection, events: list[Any], now: float) -> None:
        session = connection.session
        is_scarce = self._load.is_scarce
        left = iter(events)
        for event in left:
            if isinstance(event, tuple):
                if session.out_bytes > OUTPUT_LIMIT and self._pauses_input and connection.must_wait():
                    connection.rest = [event, *left]
                    return
                handler, _, _, flags, word, _, payload, metadata = event
                deadline = now + unpack_deadline(word) if word else _FOREVER
                if is_scarce and not flags & ONEWAY and connection.holds > _MODEST:
                    self._refuse_request(connection, event)
                    continue
                if flags & _UNUSUAL and (flags & STREAM or isinstance(metadata, Error)):
                    self._rare_request(connection, event, deadline)
                    continue
                call = ServedCall(connection, event, deadline)
                if handler.gate is not None:
                    self._limited_request(connection, call, now)
                elif handler.inline and len(payload) <= INLINE_LIMIT and not connection._oneways:
                    call.state = _RUNNING  # nothing can have happened to it
                    self._run_here(call)
                elif connection.admit(call):
                    self.start(call)
            else:
                self._rare(connection, event)

    def _refuse_request(self, connection: Connection, event: RequestReceived) -> None:
        """Connections that hold little are still served, so that no client can shut them out by holding
        nearly all."""
        handler, id_, route, _, _, count, _, _ = event
        handler.counters.on_refused(count)
        with connection.lock:
            connection.session.fail(id_, route, count, not_executed(Code.OVERLOADED, _NO_MEMORY))

    def _limited_request(self, connection: Connection, call: ServedCall, now: float) -> None:
        if not connection.let_in(call, now):
            return
        inline = call.handler.inline and len(call.payload) <= INLINE_LIMIT
        if inline and call.standing is Standing.SLOT and not connection._oneways:
            call.state = _RUNNING
            self._run_here(call)
        elif connection.admit(call):
            connection.begin(call)

    def _rare_request(self, connection: Connection, event: Any, deadline: float) -> None:
        """A request with a stream, or with invalid metadata."""
        handler, id_, route, flags, _, items, _, metadata = event
        if isinstance(metadata, Error):
            if not flags & ONEWAY:
                with connection.lock:
                    connection.session.fail(id_, route, items, metadata)
            return
        if not handler.method.stream:  # refused where other requests that do not fit are
            run(ServedCall(connection, event, deadline))
            return
        call = connection.open_stream(event, deadline)
        if call is None or (handler.gate is not None and not connection.let_in(call, monotonic())):
            return
        if connection.admit(call):
            connection.begin(call)

    def _rare(self, connection: Connection, event: Any) -> None:
        session = connection.session
        if isinstance(event, DescribeRequested):
            with connection.lock:
                session.describe(event.service, *self._offers.description(event.service), event.asked)
        elif isinstance(event, (DataReceived, CreditReceived, EndReceived)):
            connection.stream_event(event)
        elif isinstance(event, CancelRequested):
            connection.cancel(event.id)
        elif isinstance(event, Broken):
            connection.flush()  # REFUSE
            if event.code is Code.UNAUTHENTICATED:
                self._load.counts.cut_handshakes += 1
                connection.broken = f"not authenticated: {quote(event.reason)}"
            else:
                self._load.counts.cut_protocol += 1
                connection.broken = f"protocol error: {quote(event.reason)}"
        elif isinstance(event, Refused):
            connection.broken = f"refused by the client: {event.code.name}: {quote(event.reason)}"
        if self._drain_until is not None:
            with connection.lock:
                session.goaway(Code.SHUTTING_DOWN, "this server is shutting down")

    # Opening and closing

    def _accept(self, listener: Listener) -> None:
        for _ in range(_ACCEPTS_PER_TURN):
            accepted = listener.accept(monotonic())
            if accepted is None:
                break
            self._open(accepted)
        if listener.resume_at is not None:
            self._load.counts.turned_away = sum(each.turned_away for each in self._listeners.values())
            self._watch_listener(listener, accept=False)

    def _charge(self, connection: Connection) -> None:
        """Its held bytes have changed. If all connections hold too much, the one that holds the most is
        ended, of the peer that holds the most."""
        counts, most = self._load.counts, self._load.max_held_bytes
        now = connection.holds
        counts.held_bytes += now - connection.charged
        connection.charged = now
        if counts.held_bytes <= most:
            return
        for each in self._connections.values():  # to include what their workers have answered in the meantime
            each.charged = each.holds
        counts.held_bytes = sum(each.charged for each in self._connections.values())
        while counts.held_bytes > most:
            accounts: Counter[str] = Counter()
            for each in self._connections.values():
                accounts[each.account] += each.charged
            greatest = max(
                self._connections.values(),
                key=lambda each: (each.charged > 0, accounts[each.account], each.charged),
            )
            if not greatest.charged:
                return
            counts.cut_memory += 1
            text = (
                f"the connections of this server hold more than {most} bytes, "
                f"and this one holds the most of it, {greatest.charged}"
            )
            self._close(greatest, text)

    def _refuse(self, stream: Stream, reason: str) -> None:
        """Refuses a connection above a limit."""
        self._load.counts.refused += 1
        with suppress(OSError):
            stream.write_now([refusal(reason)])
            stream.read_now(memoryview(self._scratch))  # closed with unread bytes, it would be reset
        stream.close()
        now = monotonic()
        if now - self._refused_logged_at >= _REFUSED_LOGGED_EVERY:
            self._refused_logged_at = now
            warning(
                "%s: refused: %s; %d were since the start", stream.peer, reason, self._load.counts.refused
            )

    def _make_room_to_greet(self) -> None:
        """Ends the oldest of too many connections without a HELLO: honest clients send it at once."""
        opening, most = self._opening, self._load.max_handshakes
        if len(opening) < most:
            return
        waiting = [each for each in opening if each.session.peer is None and not each.broken]
        opening.clear()
        opening.extend(waiting)
        if len(waiting) >= most:
            oldest = opening.popleft()
            self._load.counts.cut_handshakes += 1
            self._close(oldest, f"{most} connections have not sent their HELLO, this one for the longest")

    def _make_room(self, newcomer: str) -> bool:
        """Called when there are too many connections: ends one that has never bound anything, the oldest of
        the host with the most connections, for one of another host, or after some time for one of the same
        host. False: there is none."""
        if not self._hosts:
            return False
        host, connections = max(self._hosts.items(), key=lambda entry: len(entry[1]))
        oldest = next((each for each in connections if not each.binds.used and not each.broken), None)
        if oldest is None or (host == newcomer and monotonic() - oldest.opened < IDLE_GRACE):
            return False
        self._load.counts.cut_idle += 1
        most = self._load.max_connections
        text = (
            f"the server has {most} connections, and this one, of the host with the most of them, has never "
            f"bound anything"
        )
        with suppress(OSError):
            oldest.stream.write_now([refusal(text)])
        self._close(oldest, text)
        return True

    def _open(self, stream: Stream) -> None:
        host = host_of(stream.peer)
        load = self._load
        if 0 < load.max_connections_per_host <= len(self._hosts.get(host, ())):
            most = load.max_connections_per_host
            self._refuse(stream, f"the server has {most} connections of this host, the most that it takes")
            return
        if len(self._connections) >= load.max_connections and not self._make_room(host):
            most = load.max_connections
            self._refuse(stream, f"the server has {most} connections, the most that it takes")
            return
        self._make_room_to_greet()
        self._load.counts.accepted += 1
        offers, now = self._offers, monotonic()
        connection = Connection(self, stream, self._hello, self._scratch, now, offers, self._access)
        self._connections[connection.fileno] = connection
        self._hosts.setdefault(host, {})[connection] = None
        self._opening.append(connection)
        self._watch(connection)

    def _close(self, connection: Connection, reason: str) -> None:
        """Closes with a reason. That a client disconnected is logged at a lower level."""
        if self._connections.get(connection.fileno) is not connection:
            return
        if reason:
            left = reason.startswith(("closed by", "connection lost"))
            if left:
                info("%s: %s", connection.shown, reason)
            else:
                warning("%s: %s", connection.shown, reason, peer=connection.peer)
        self._load.counts.held_bytes -= connection.charged
        connection.charged = 0
        connection.broken = connection.broken or "closed"
        connection.session.close()
        connection.abandon()
        del self._connections[connection.fileno]
        host = host_of(connection.peer)
        of_host = self._hosts[host]
        del of_host[connection]
        if not of_host:
            del self._hosts[host]
        self._stalled.pop(connection, None)
        self._retired.pop(connection, None)
        self._forget(connection)
        connection.stream.close()

    def _close_all(self) -> None:
        for connection in list(self._connections.values()):
            self._close(connection, "")

    def _begin_drain(self) -> None:
        """Accepts nothing new, and says so to the clients."""
        self._draining = True
        self._stop_listening()
        for connection in list(self._connections.values()):
            self._send_away(connection, "this server is shutting down")

    def _send_away(self, connection: Connection, reason: str) -> None:
        """It accepts no new requests; its running ones go on."""
        with connection.lock:
            connection.session.goaway(Code.SHUTTING_DOWN, reason)
            pushed = [call.pushed for call in connection.calls.values() if isinstance(call, StreamCall)]
        for each in pushed:
            if each is not None:
                each.shut_down()
        connection.flush()

    def _check_again(self) -> None:
        """Retires connections that are not allowed any more."""
        assert self._files is not None
        for connection in list(self._connections.values()):
            if connection not in self._retired and (why := connection.binds.check_again()):
                self._retire(connection, why)

    def _retire(self, connection: Connection, reason: str) -> None:
        assert self._files is not None
        peer = peer_fields(connection.peer, connection.binds.identity)
        warning("%s", line("connection_retired", **peer, reason=reason), peer=connection.peer)
        self._retired[connection] = (monotonic() + self._files.drain_timeout, reason)
        self._send_away(connection, f"{reason}; connect again")
        self._look_at(connection)
        self._time_changed()

    def _look_at_all(self) -> None:
        for connection in list(self._connections.values()):
            self._look_at(connection)

    def _look_at(self, connection: Connection) -> None:
        """See look_at."""
        if self._connections.get(connection.fileno) is not connection:
            return
        if connection.broken:
            self._close(connection, connection.broken)
        elif connection.rest:
            self._turn(connection, 0)
        else:
            self._watch(connection)
            if connection.owes:
                self._charge(connection)

    def _send_due(self) -> None:
        """Sends what streams have written and no other thread has sent since."""
        due = self._due
        connections: dict[Connection, None] = {}
        for _ in range(len(due)):
            call = due.popleft()
            connection = call.connection
            assert isinstance(connection, Connection)
            with connection.lock:
                call.turn()
            if call.pushed is not None:
                call.pushed.settle()
            connections[connection] = None
        for connection in connections:
            if not connection.broken:
                connection.flush()
                self._watch(connection)
                if connection.owes:
                    self._charge(connection)

    def _stop_listening(self) -> None:
        for listener in self._listeners.values():
            if listener.resume_at is None:
                self._watch_listener(listener, accept=False)
            listener.close()
        self._listeners.clear()

    def _timeout(self) -> float | None:
        """Seconds to the next time limit; None if there is none."""
        times: list[float] = []
        for each in self._listeners.values():
            if each.resume_at is not None:
                times.append(each.resume_at)
        if self._files is not None and self._files.due != _FOREVER:
            times.append(self._files.due)
        if self._sign_at != _FOREVER:
            times.append(self._sign_at)
        waits = times or self._opening or self._stalled or self._retired
        if not waits and self._drain_until is None:
            return None
        now = monotonic()
        times.append(self._progress_at)
        times += [until for until, _ in self._retired.values()]
        if self._opening:
            times.append(self._opening[0].opened + HANDSHAKE_TIMEOUT)
        if self._drain_until is not None:
            times += (self._drain_until, now + _LOOK_EVERY)
        return max(min(times) - now, 0.0)

    # Time

    def _watch_time(self, now: float) -> None:
        opening = self._opening
        while opening and (opening[0].session.peer is not None or opening[0].broken):
            opening.popleft()
        while opening and opening[0].opened + HANDSHAKE_TIMEOUT <= now:
            connection = opening.popleft()
            if connection.session.peer is None:
                self._load.counts.cut_handshakes += 1
                self._close(connection, f"no HELLO within {HANDSHAKE_TIMEOUT:.0f} s")
        if self._progress_at <= now:
            self._look_at_progress(now)
        for connection, (until, reason) in list(self._retired.items()):
            if until <= now:
                self._close(connection, reason)
        if self._files is not None and self._files.due <= now:
            self._files.look(now)
            self._check_again()
        if self._sign_at <= now:
            tell_manager("WATCHDOG=1")
            self._sign_at = now + self._sign_every
        for listener in self._listeners.values():
            if listener.resume_at is not None and listener.resume_at <= now:
                listener.resume_at = None
                self._watch_listener(listener, accept=True)

    def _look_at_progress(self, now: float) -> None:
        """Single bytes do not count as progress: either all that waited was transferred, or as much as a slow
        network manages."""
        self._progress_at = _FOREVER
        for connection in list(self._stalled):
            before = connection.progress
            if before is None:
                connection.watch_progress(now)
            elif before.since + PROGRESS_TIMEOUT <= now:
                why = connection.lacks_progress()
                if why:
                    self._load.counts.cut_progress += 1
                    self._close(connection, why)
                    continue
                if not connection.blocked and connection.session.is_whole:
                    connection.progress = None
                    self._stalled.pop(connection, None)
                    continue
                connection.watch_progress(now)
            assert connection.progress is not None
            self._progress_at = min(self._progress_at, connection.progress.since + PROGRESS_TIMEOUT)

    def _drained(self, now: float) -> bool:
        if self._drain_until is None:
            return False
        if now >= self._drain_until:
            self._stop_listening()
            self._tell_cut()
            return True
        if not self._draining:
            return False
        return not any(connection.busy for connection in self._connections.values())

    def _tell_cut(self) -> None:
        """Logs the calls that the end of the drain cuts."""
        cut: Counter[str] = Counter()
        for connection in self._connections.values():
            with connection.lock:
                cut.update(str(call.handler) for call in connection.calls.values())
        if cut:
            self.cut = True
            methods = ", ".join(f"{method} {count}" for method, count in cut.most_common(_MOST_NAMED))
            warning("%s", line("calls_cut", calls=cut.total(), methods=methods))
