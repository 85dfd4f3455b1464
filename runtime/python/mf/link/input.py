"""R4. The reading part of a link: the leader, the followers, and the watch. See link.py for threads and
locks.
"""

from _thread import allocate_lock, get_ident
from threading import TIMEOUT_MAX
from time import monotonic

from mf.core.clock import moment, on_test_time
from mf.core.error import Error
from mf.link.alarm import StreamWait
from mf.link.core import call_back, split_overdue
from mf.link.output import LinkOutput
from mf.link.watch import FOREVER, READ, WRITE
from mf.protocol.call_table import CallEvent
from mf.protocol.calls import Pending, Request

_LOOK_EVERY = 0.01  # seconds between checks whether an avoided silent server has sent something


class LinkInput(LinkOutput):
    """Adds reading to LinkOutput."""

    __slots__ = ()

    # Reading

    def _lead(self, pending: Pending, now: float) -> None:
        """Reads until `pending` is done, then another thread leads. The caller must have set _leading and
        _leader, and ends the link if an exception is raised."""
        stream = self._stream
        window = self._session.window
        turn = self._turn
        wait = pending if isinstance(pending, StreamWait) else None
        try:
            while not pending.done:
                if wait is not None or self._blocked:
                    count = self._poll_and_read(pending, wait)
                else:
                    left = pending.deadline - now
                    if left > turn:
                        left = turn
                    if not left * 0.5 <= self._read_timeout <= left:
                        self._set_timeout(left)
                    try:
                        count = stream.read(window())
                    except BlockingIOError:
                        count = -1
                if count > 0:
                    if self._digest(count, pending):
                        return
                elif count == 0:
                    self.broken(f"the connection to {self.peer} has ended")
                if not pending.done:
                    now = self._has_not_ended(pending, now, count < 0)
        except OSError as error:
            self._lost(error)
        self._pass_on()

    def _has_not_ended(self, pending: Pending, before: float, silent: bool) -> float:
        """After a read that has not ended the leader's wait; `silent`: nothing came since `before`. Returns
        the time."""
        now = monotonic()
        if now >= pending.deadline:
            self._give_up(pending)
        if silent:
            self._quiet(now, now - before)
        return now

    def _interrupted(self, raised: BaseException, leads: bool) -> None:
        """A foreign exception, for example of a signal handler, may have left the link in any state. So the
        connection ends, and the next call opens another one."""
        self.broken(f"the connection to {self.peer} was given up because of {type(raised).__name__}")
        if leads:
            self._pass_on()

    def _set_timeout(self, left: float) -> None:
        if left == FOREVER:
            left = 0.0
        elif left > 0.01:
            left *= 0.9  # so that the next call with the same deadline finds it short enough
        else:
            left = max(left, 0.001)
        self._read_timeout = left or FOREVER
        self._stream.set_read_timeout(left)

    def _poll_and_read(self, pending: Pending, wait: StreamWait | None) -> int:
        """For waits that a plain read does not cover: another thread may end this wait, or the peer accepts
        no more, and both directions are awaited. Returns what read_now does, -1 for nothing."""
        write = self._blocked
        left = min(pending.deadline - monotonic(), self._turn)
        if wait is not None:
            self._sleep(wait, write, left)
        else:
            self._stream.wait(True, left)
        if write:
            self.flush()
        try:
            return self._stream.read_now(self._session.window())
        except BlockingIOError:
            return -1

    def _digest(self, count: int, leader: Pending | None = None) -> bool:
        """Handles what was read. True: the wait of `leader` has ended, nothing else is pending, and this
        thread does not lead any more; so a lone call needs the lock once for that and for its reply."""
        session = self._session
        self.heard += 1
        if self._pinged_at:
            self._pinged_at = 0.0
        finished: list[Pending] = []
        with self._lock:
            for event in session.received(count):
                if type(event) is tuple:
                    call, call.status, call.encoding, call.payload = event
                    if call.on_done is not None:
                        self._callbacks -= 1
                        self._done(call)
                        finished.append(call)
                    elif call.waiter is None:
                        call.done = True
                    else:
                        self._done(call)
                else:
                    self._rare(event, finished)
            if (
                leader is not None
                and leader.done
                and self.usable
                and not (self._followers or self._callbacks or self._blocked or finished or self._orphans)
                and not (session.out or self._stream.inside)
            ):
                self._leading = False
                return True
        if finished:
            call_back(finished)
        if self._orphans:
            self._cancel_orphans()
        if session.out:
            self.flush()
        return False

    def _cancel(self, call: Request, event: CallEvent, failure: Error) -> None:
        """With the lock."""
        if call.id in self._session.calls.by_id and call.on_done is not None:
            self._callbacks -= 1
        super()._cancel(call, event, failure)

    def abandon(self, call: Request, event: CallEvent, failure: Error) -> bool:
        with self._lock:
            if call.done:
                return False
            self._cancel(call, event, failure)
        if call.on_done is not None:
            call.on_done(call)
        self.flush()
        return True

    def wait(self, pending: Pending, now: float) -> None:
        """Waits until `pending` is done, at most until its deadline; then it ends with a failure."""
        leads = False
        self._check_thread()
        try:
            with self._lock:
                if pending.done:
                    return
                if self._leading:
                    self._enqueue(pending)
                else:
                    self._leader = get_ident()
                    leads = self._leading = True
                    if self._armed:
                        self._disarm()
            if leads:
                self._lead(pending, now)
            else:
                self._follow(pending)
        except BaseException as raised:
            self._interrupted(raised, leads)
            raise

    def _enqueue(self, pending: Pending) -> None:
        waiter = allocate_lock()
        waiter.acquire()
        pending.waiter = waiter
        self._followers[pending] = None

    def _follow(self, pending: Pending) -> None:
        """Sleeps until done, made the leader, or the deadline."""
        left = min(max(pending.deadline - monotonic(), 0.0), TIMEOUT_MAX)
        try:
            woken = pending.waiter.acquire(True, moment(left))
            while not woken and on_test_time() and monotonic() < pending.deadline:
                woken = pending.waiter.acquire(True, moment(left))
        except BaseException:
            self._leave(pending)
            raise
        if woken and self._heir is pending and not pending.done:
            self._heir = None
            self._leader = get_ident()
            try:
                self._lead(pending, monotonic())
            except BaseException as raised:
                self._interrupted(raised, True)
                raise
        elif not woken or self._heir is pending:
            self._leave(pending)

    def _leave(self, pending: Pending) -> None:
        """A follower stops waiting. If it was made the leader at the last moment, it passes that on, also if
        another thread has ended its wait in the meantime."""
        with self._lock:
            self._followers.pop(pending, None)
            leads = self._heir is pending
            if leads:
                self._heir = None
        if leads:
            self._pass_on()
        if not pending.done:
            self._give_up(pending)

    def _pass_on(self) -> None:
        """The leader steps down: a follower takes over, or the watch if anything is pending."""
        if self._stream.inside:
            self._read_inside()
        with self._lock:
            if self.usable and not (self._followers or self._callbacks or self._blocked):
                self._leading = False
                return
            if self._followers:
                successor = next(iter(self._followers))
                del self._followers[successor]
                self._heir = successor
                self._leader = 0
                successor.waiter.release()
                return
            self._leading = False
            self._retire()
            if self.failure is not None:
                self._close_stream()
            elif (self._callbacks or self._blocked) and self._watch is not None:
                self._arm()

    def catch_up(self) -> None:
        """After a pause: reads what has arrived in the meantime, above all the end of the connection."""
        leads = False
        try:
            with self._lock:
                if self._leading or self._armed & READ or self.failure is not None:
                    return
                self._leader = get_ident()
                leads = self._leading = True
            self._read_available()
            self._pass_on()
        except BaseException as raised:
            self._interrupted(raised, leads)
            raise

    def ping(self, now: float) -> None:
        with self._lock:
            if self._pinged_at or self.failure is not None:
                return
            self._pinged_at = now
            self._session.ping()
        self.flush()

    def look_for_life(self, now: float) -> None:
        if now - self._looked_at >= _LOOK_EVERY:
            self._looked_at = now
            self.catch_up()

    def _write_failed(self, error: OSError, leads: bool) -> None:
        """Reads what the server sent before it closed: its GOAWAY says what it will not execute. If another
        thread leads, that one reads it."""
        with self._lock:
            if self._leading and not leads:
                return
            self._leader = get_ident()
            self._leading = True
        while self.failure is None and self._read_available():
            pass
        self._lost(error)
        if not leads:
            self._pass_on()

    def _read_inside(self) -> None:
        """Reads what the stream has buffered before reading stops: no descriptor reports it."""
        while self._stream.inside and self.failure is None:
            self._read_available()

    # Watched

    def on_ready(self, mask: int) -> None:
        if mask & WRITE and self._blocked:
            with self._lock:
                self._blocked = False
                self._arm()
            self.flush()
        if mask & ~WRITE:
            with self._lock:
                if self._leading or self.failure is not None:
                    return
                self._leader = get_ident()
                self._leading = True
            try:
                self._read_available()
                self._read_inside()
            except BaseException as raised:
                self._interrupted(raised, False)
                raise
            finally:
                self._step_down()

    def _step_down(self) -> None:
        """As _pass_on, for the watch: it stays armed unless another thread leads."""
        with self._lock:
            if self._followers:
                if self._armed:
                    self._disarm()
            else:
                self._leading = False
                self._retire()
                if self.failure is not None:
                    self._close_stream()
                else:
                    self._arm()
                return
        self._pass_on()

    def expire(self, now: float) -> float:
        with self._lock:
            calls = [call for call in self._session.calls.by_id.values() if call.on_done is not None]
            overdue, earliest = split_overdue(calls, now)
            for call in overdue:
                self._callbacks -= 1
                self._overdue(call)
            self._expiry = earliest
            if self._callbacks:
                earliest = self._expiry = min(earliest, now + self._turn)
        call_back(overdue)
        if overdue:
            self.flush()
        if earliest < FOREVER and self.heard == self._heard_before:
            self._quiet(now, self._turn)
        self._heard_before = self.heard
        return earliest
