"""R4. The writing part of a link, and its end. See link.py for threads and locks."""

from _thread import get_ident
from abc import abstractmethod
from threading import RLock
from time import monotonic

from mf.core.client_options import DEAD_AFTER
from mf.core.error import Code, Error, not_executed
from mf.link import fork
from mf.link.alarm import Alarm, StreamWait
from mf.link.core import LinkCore, Remembered, call_back
from mf.link.watch import FOREVER, READ, WRITE, Watch, Watches
from mf.protocol.calls import Pending
from mf.protocol.frame import Buffer
from mf.protocol.handshake import Hello
from mf.protocol.session import SCRATCH_SIZE
from mf.protocol.stream_call import StreamCall
from mf.transport.stream import FEW_BUFFERS, Stream, drop_written, joined

WITHIN_A_CALL = (
    "a call of this client is under way on this thread, which a signal handler or finalizer has interrupted: "
    "nothing can be called there"
)


class LinkOutput(LinkCore):
    """Adds locks and writing to LinkCore."""

    __slots__ = (
        "_alarms",
        "_armed",
        "_blocked",
        "_callbacks",
        "_expiry",
        "_flushing",
        "_followers",
        "_heard_before",
        "_heir",
        "_last_used",
        "_leader",
        "_leading",
        "_lock",
        "_looked_at",
        "_read_timeout",
        "_watch",
        "_writer",
        "watches",
    )

    def __init__(
        self,
        stream: Stream,
        hello: Hello,
        watches: Watches,
        standing: Remembered | None = None,
        dead_after: float = DEAD_AFTER,
    ) -> None:
        super().__init__(stream, hello, bytearray(SCRATCH_SIZE), standing, dead_after)
        self.watches = watches
        self._lock = RLock()  # never entered twice; an RLock because it has an owner
        self._followers: dict[Pending, None] = {}
        self._leading = False
        self._leader = self._writer = 0  # the threads that lead, or write, if one does
        self._heir: Pending | None = None  # a follower that was made the leader, and has not woken yet
        self._flushing = False
        self._blocked = False
        self._callbacks = 0
        self._expiry = FOREVER
        self._watch: Watch | None = None
        self._armed = 0
        self._alarms: list[Alarm] = []  # not in use
        self._read_timeout = 0.0
        self._heard_before = 0  # when `expire` checked last
        self._looked_at = 0.0  # when it was last checked for a sign of life
        self._last_used = monotonic()
        fork.register(self)

    # Writing

    def flush(self) -> None:
        """Sends what is queued, unless another thread is sending."""
        session = self._session
        try:
            with self._lock:
                if self._flushing or not session.out:
                    return
                self._writer = get_ident()
                self._flushing = True
                size = session.out_bytes
                out = session.take_output()
            self._write(out, size, False)
        except BaseException as raised:
            self._interrupted(raised, False)
            raise

    def _write(self, out: list[Buffer], size: int, leads: bool) -> None:
        """Writes `out` and what is queued meanwhile. The caller must have set _flushing."""
        session = self._session
        write = self._stream.write_now
        while True:
            try:
                written = write(joined(out, size) if len(out) > FEW_BUFFERS else out)
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
            # Order matters: a thread that queues after this line sees no writer, and sends itself.
            self._flushing = False
            if not session.out:
                return
            with self._lock:
                if self._flushing or not session.out:
                    return
                self._writer = get_ident()
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

    @abstractmethod
    def _interrupted(self, raised: BaseException, leads: bool) -> None:
        """Implemented by the reading part."""

    def _check_thread(self) -> None:
        """Raises Error if this thread is within this link further down on its stack: a signal handler or a
        finalizer must not wait for what only the interrupted code can do."""
        here = get_ident()
        if (
            self._lock._is_owned()  # type: ignore[attr-defined]
            or (self._leading and self._leader == here)
            or (self._flushing and self._writer == here)
        ):
            raise not_executed(Code.INVALID_ARGUMENT, WITHIN_A_CALL)

    @abstractmethod
    def _write_failed(self, error: OSError, leads: bool) -> None:
        """Implemented by the reading part."""

    # What is pending

    def _done(self, pending: Pending) -> None:
        """With the lock: wakes the threads that wait for it, or for events of its streams."""
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
        """Waits until the stream is readable, or also writable, or another thread ends `wait`."""
        alarm = self._alarms.pop() if self._alarms else Alarm(self._stream)
        # Order matters: a thread that ends the wait after this line rings; an earlier end is seen by the next
        # one.
        wait.alarm = alarm
        if not wait.done:
            alarm.sleep(self._stream, write, seconds)
        wait.alarm = None
        self._alarms.append(alarm)

    def _give_up(self, pending: Pending) -> None:
        with self._lock:
            self._overdue(pending)
        self.flush()

    # Watched

    def fileno(self) -> int:
        return self._stream.fileno()

    @abstractmethod
    def on_ready(self, mask: int) -> None:
        """Implemented by the reading part."""

    @abstractmethod
    def expire(self, now: float) -> float:
        """Implemented by the reading part."""

    def _arm(self) -> None:
        """With the lock: makes the watch wait for the events that no thread waits for."""
        mask = (0 if self._leading else READ) | (WRITE if self._blocked else 0)
        if mask != self._armed and self._watch is not None and self.failure is None:
            self._armed = mask
            self._watch.arm(self, mask)

    def _disarm(self) -> None:
        self._armed = 0
        assert self._watch is not None
        self._watch.arm(self, 0)

    # The end

    def _end(self, error: Error, *, given_up: bool) -> None:
        finished: list[Pending] = []
        with self._lock:
            self._fail_all(error, finished, given_up=given_up)
        call_back(finished)

    def _fail_all(self, error: Error, finished: list[Pending], *, given_up: bool = False) -> None:
        """With the lock."""
        if self.failure is None:
            self._callbacks = 0
            super()._fail_all(error, finished, given_up=given_up)

    def _may_write(self) -> bool:
        return not self._flushing

    def _let_go(self) -> None:
        if not self._leading:
            self._close_stream()

    def _close_stream(self) -> None:
        if self._watch is not None:
            self._watch.forget(self)
        self._alarms.clear()
        self._stream.close()

    def after_fork(self) -> None:
        """In a child: releases the connection without shutting it down, since the parent uses it."""
        self._lock = RLock()
        self._followers = {}
        self._leading = self._flushing = self._blocked = False
        self._heir = self._watch = None
        self._armed = self._callbacks = 0
        self._alarms = []
        self._disown()
