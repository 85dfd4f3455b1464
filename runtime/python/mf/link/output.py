"""R4. The writing half of a link, and its end. See link.py for threads and locks."""

from contextlib import suppress
from threading import Lock
from time import monotonic
from typing import Any

from mf.core.error import Code, Error, Execution, not_executed
from mf.link import fork
from mf.link.alarm import Alarm, StreamWait
from mf.link.watch import FOREVER, READ, WRITE, Watch, Watches
from mf.protocol.call import Call
from mf.protocol.call_table import CallEvent
from mf.protocol.calls import Binding, Pending, Request
from mf.protocol.client_session import ClientSession
from mf.protocol.frame import Buffer
from mf.protocol.handshake import Hello
from mf.protocol.session import SCRATCH_SIZE
from mf.protocol.stream import WindowBudget
from mf.protocol.stream_call import StreamCall
from mf.transport.stream import Stream, StreamError, drop_written


class LinkOutput:
    """Owns the stream and the session. Ends for good when the stream does: `usable` is then false and
    `failure` says why.
    """

    __slots__ = (
        "__weakref__",
        "_alarms",
        "_armed",
        "_bind_lock",
        "_bindings",
        "_blocked",
        "_callbacks",
        "_expiry",
        "_flush_due",
        "_flushing",
        "_followers",
        "_greetings",
        "_heir",
        "_last_used",
        "_leading",
        "_lock",
        "_orphans",
        "_read_timeout",
        "_session",
        "_stream",
        "_watch",
        "_windows",
        "failure",
        "usable",
        "watches",
    )

    def __init__(self, stream: Stream, hello: Hello, watches: Watches) -> None:
        self.watches = watches
        self._stream = stream
        self._session = ClientSession(hello, bytearray(SCRATCH_SIZE))
        self._lock = Lock()
        self._bind_lock = Lock()
        self._bindings: dict[tuple[str, str], Binding] = {}
        self._followers: dict[Pending, None] = {}
        self._greetings: list[Pending] = []  # that wait for HELLO
        self._leading = False
        self._heir: Pending | None = None  # a follower who was made the leader, and has not woken yet
        self._flushing = False
        self._flush_due: object = None
        self._blocked = False
        self._callbacks = 0
        self._expiry = FOREVER
        self._watch: Watch | None = None
        self._armed = 0
        self._windows: WindowBudget | None = None
        self._orphans: list[Request] = []
        self._alarms: list[Alarm] = []  # that nobody sleeps by
        self._read_timeout = 0.0
        self._last_used = monotonic()
        self.usable = True
        self.failure: Error | None = None
        fork.register(self)

    @property
    def peer(self) -> str:
        return self._stream.peer

    @property
    def in_flight(self) -> int:
        return len(self._session.calls.by_id)

    @property
    def peer_max_payload(self) -> int:
        return self._session.peer_max_payload

    @property
    def peer_hello(self) -> Hello | None:
        return self._session.peer

    # Writing

    def flush(self) -> None:
        """Sends what is queued, unless somebody is at it."""
        session = self._session
        with self._lock:
            if self._flushing or not session.out:
                return
            self._flushing = True
            size = session.out_bytes
            out = session.take_output()
        self._write(out, size, False)

    def _write(self, out: list[Buffer], size: int, leads: bool) -> None:
        """Writes `out` and what is queued meanwhile. Only with _flushing set by the caller."""
        session = self._session
        write = self._stream.write_now
        while True:
            try:
                written = write(out)
            except OSError as error:
                self._block(out, size, leads)
                self._write_failed(error, leads)
                return
            if written < size:
                out = drop_written(out, written)
                size -= written
                if written:
                    continue
                self._block(out, size, leads)
                return
            self._blocked = False
            # Order matters: who queues after this line sees that nobody writes, and does it himself.
            self._flushing = False
            if not session.out:
                return
            with self._lock:
                if self._flushing or not session.out:
                    return
                self._flushing = True
                size = session.out_bytes
                out = session.take_output()

    def _block(self, rest: list[Buffer], size: int, leads: bool) -> None:
        with self._lock:
            session = self._session
            session.out[:0] = rest
            session.out_bytes += size
            self._flushing = False
            self._blocked = True
            if not leads and self._watch is not None:
                self._arm()

    def _write_failed(self, error: OSError, leads: bool) -> None:
        """The reading half knows."""
        raise NotImplementedError

    # What is pending

    def _may_send(self, call: Call[Any]) -> bool:
        """With the lock. False: it is done, with a failure."""
        session = self._session
        binding = call.binding
        if self.usable and len(call.body) <= session.peer_max_payload:
            if binding is None or binding.bound:
                return True
            call.failure = not_executed(Code.UNAVAILABLE, f"{binding.service} was unbound just now")
        elif self.usable:
            text = (
                f"the request has {len(call.body)} bytes, {self.peer} accepts {session.peer_max_payload}: "
                "send less at a time, or raise max_payload of the server"
            )
            call.failure = not_executed(Code.MESSAGE_TOO_LARGE, text)
        else:
            call.failure = self._gone()
        call.ended_by = CallEvent.REFUSED
        call.done = True
        return False

    def _gone(self) -> Error:
        if self.failure is None or self.failure.code == Code.SHUTTING_DOWN:
            return self._stopping()
        return not_executed(Code.UNAVAILABLE, self.failure.message)

    def _stopping(self) -> Error:
        return not_executed(Code.SHUTTING_DOWN, f"{self.peer} is stopping; use another instance")

    def _done(self, pending: Pending) -> None:
        """With the lock: wakes whoever waits for it, or for what its streams bring."""
        pending.done = True
        if pending in self._followers:
            del self._followers[pending]
            pending.waiter.release()
        elif isinstance(pending, StreamWait):
            alarm = pending.alarm
            if alarm is not None:
                alarm.ring()
        if isinstance(pending, StreamCall):
            pending.release()
            self._wake(pending.reader)
            self._wake(pending.writer)

    def _sleep(self, wait: StreamWait, write: bool, seconds: float) -> None:
        """Until the stream is readable, or also writable, or another thread ends `wait`."""
        alarm = self._alarms.pop() if self._alarms else Alarm(self._stream)
        # Order matters: who ends the wait after this line rings; who did it before is seen by the next one.
        wait.alarm = alarm
        if not wait.done:
            alarm.sleep(self._stream, write, seconds)
        wait.alarm = None
        self._alarms.append(alarm)

    def _wake(self, waiter: Pending | None) -> None:
        if waiter is not None and not waiter.done:
            self._done(waiter)

    def _greeted(self) -> None:
        """With the lock: HELLO has come, or never will."""
        for greeting in self._greetings:
            self._wake(greeting)
        self._greetings.clear()

    def _give_up(self, pending: Pending) -> None:
        with self._lock:
            self._overdue(pending)
        self.flush()

    def _overdue(self, pending: Pending) -> None:
        if pending.done:
            return
        text = f"no reply from {self.peer} within the deadline"
        pending.failure = Error(Code.DEADLINE_EXCEEDED, text, Execution.UNKNOWN)
        if isinstance(pending, Request):
            pending.ended_by = CallEvent.EXPIRED
            self._session.cancel(pending)
        self._done(pending)

    # Watched

    def fileno(self) -> int:
        return self._stream.fileno()

    def on_ready(self, mask: int) -> None:
        """The reading half knows."""
        raise NotImplementedError

    def expire(self, now: float) -> float:
        """The reading half knows."""
        raise NotImplementedError

    def _arm(self) -> None:
        """With the lock: has the watch look for what nobody else looks for."""
        mask = (0 if self._leading else READ) | (WRITE if self._blocked else 0)
        if mask != self._armed and self._watch is not None and self.failure is None:
            self._armed = mask
            self._watch.arm(self, mask)

    def _disarm(self) -> None:
        self._armed = 0
        assert self._watch is not None
        self._watch.arm(self, 0)

    # The end

    def close(self) -> None:
        """Ends the connection, as its owner wants; what is in flight ends as CANCELLED."""
        self._end(Error(Code.UNAVAILABLE, "the client was closed"), given_up=True)

    def broken(self, reason: str) -> None:
        """Ends the connection; what is in flight ends as CONNECTION_LOST."""
        self._end(Error(Code.UNAVAILABLE, reason), given_up=False)

    def _lost(self, error: OSError) -> None:
        """The stream has failed."""
        code = error.code if isinstance(error, StreamError) else Code.UNAVAILABLE
        text = f"connection to {self.peer} is lost: {error.strerror or error}"
        self._end(Error(code, text), given_up=False)

    def _end(self, error: Error, *, given_up: bool) -> None:
        finished: list[Pending] = []
        with self._lock:
            self._fail_all(error, finished, given_up=given_up)
        for pending in finished:
            if pending.on_done is not None:
                pending.on_done(pending)

    def _fail_all(self, error: Error, finished: list[Pending], *, given_up: bool = False) -> None:
        """With the lock: everything pending ends now, as CANCELLED if the caller gave it up. The caller runs
        the callbacks of `finished`."""
        if self.failure is not None:
            return
        self.usable = False
        self.failure = error
        session = self._session
        for call in session.calls.by_id.values():
            if session.was_turned_away(call) and not given_up:
                call.failure = self._stopping()
            elif session.surely_not_executed(call) or session.was_turned_away(call):
                code = Code.CANCELLED if given_up else Code.UNAVAILABLE
                call.failure = not_executed(code, error.message)
            else:
                code = Code.CANCELLED if given_up else Code.CONNECTION_LOST
                call.failure = Error(code, error.message, Execution.UNKNOWN)
            call.ended_by = CallEvent.CANCELLED if given_up else CallEvent.LOST
            self._done(call)
            if call.on_done is not None:
                finished.append(call)
        session.calls.by_id.clear()
        self._callbacks = 0
        for asked in session.waiting():
            asked.failure = error
            self._done(asked)
        self._greeted()
        if error.code == Code.PROTOCOL_ERROR and not self._flushing:  # REFUSE, as a courtesy
            with suppress(OSError):
                self._stream.write_now(session.take_output())
        session.close()
        self._stream.shutdown()
        if not self._leading:
            self._close_stream()

    def _retire(self) -> None:
        """With the lock: a connection whose server said good-bye ends when the last call on it has."""
        session = self._session
        if not self.usable and self.failure is None and not session.calls.by_id and not session.waiting():
            self.failure = self._stopping()
            session.close()
            self._stream.shutdown()

    def _close_stream(self) -> None:
        if self._watch is not None:
            self._watch.forget(self)
        self._alarms.clear()
        self._stream.close()

    def after_fork(self) -> None:
        """In a child: the parent goes on using the connection, so it is not shut down, only let go."""
        self._lock = Lock()
        self._bind_lock = Lock()
        self.usable = False
        self.failure = Error(Code.UNAVAILABLE, "the connection belongs to the parent process")
        self._session.calls.by_id.clear()
        self._stream.close()
