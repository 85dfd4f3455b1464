"""R4. A client's connection: the only place where a session meets a stream.

Threads. Any number of callers. At most one of them, the leader, reads; it hands the others their replies,
and when it has its own it makes a waiting follower the leader. If nobody waits but asynchronous calls are
pending, a watch (see watch.py) is armed; it leads for as long as it takes to read what is there. At most
one thread writes: callers queue frames under the lock, and whoever finds no writer becomes it and sends all
that is queued, so that frames of many callers leave in one system call.

What is guarded by the lock: the session, `_followers`, `_leading`, `_callbacks`. The stream's reading side
belongs to the leader, its writing side to whoever set `_flushing`. Callbacks run without the lock, must not
block, and may submit.

Nothing here polls: a leader sleeps in the read itself, a follower on its own lock. The socket's read
timeout is set only when a deadline needs a shorter or a much longer one than it has.
"""

from _thread import allocate_lock
from contextlib import suppress
from threading import TIMEOUT_MAX, Lock
from time import monotonic
from typing import Any

from mf.core.error import Code, Error, Execution, not_executed
from mf.core.log import quote, warning
from mf.core.service import ServiceInfo
from mf.link import fork
from mf.link.watch import FOREVER, READ, WRITE, Watch, Watches
from mf.protocol.calls import Binding, Call, Description, Pending
from mf.protocol.client_session import ClientSession
from mf.protocol.events import (
    BindingAnswered,
    Broken,
    DescriptionReceived,
    GoawayReceived,
    Refused,
)
from mf.protocol.frame import Buffer
from mf.protocol.handshake import Hello
from mf.protocol.session import SCRATCH_SIZE
from mf.transport.stream import Stream, drop_written

HANDSHAKE_TIMEOUT = 5.0
_IDLE = 0.05  # after this long without a call, look whether the server has said good-bye meanwhile


class Link:
    """One connection. Ends for good when the stream does: `usable` is then false and `failure` says why."""

    __slots__ = (
        "__weakref__",
        "_armed",
        "_bind_lock",
        "_bindings",
        "_blocked",
        "_callbacks",
        "_expiry",
        "_flushing",
        "_followers",
        "_last_used",
        "_leading",
        "_lock",
        "_read_timeout",
        "_session",
        "_stream",
        "_watch",
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
        self._leading = False
        self._flushing = False
        self._blocked = False
        self._callbacks = 0
        self._expiry = FOREVER
        self._watch: Watch | None = None
        self._armed = 0
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

    # Calls

    def call(self, call: Call, flags: int, word: int, count: int, payload: Buffer, now: float) -> None:
        """Sends a request and waits until it is done, at most until call.deadline."""
        if now - self._last_used > _IDLE:
            self.catch_up()
        self._last_used = now
        session = self._session
        with self._lock:
            if not self._may_send(call, payload):
                return
            session.request(call, flags, word, count, payload)
            if self._leading:
                leads = False
                self._enqueue(call)
            else:
                leads = self._leading = True
                if self._armed:
                    self._disarm()
            if self._flushing:
                out: list[Buffer] = []
                size = 0
            else:
                self._flushing = True
                out = session.out
                size = session.out_bytes
                session.out = []
                session.out_bytes = 0
        if out:
            self._write(out, size, leads)
        if self._blocked and not leads and self._watch is None:
            self._drain(call.deadline)
        if leads:
            self._lead(call, now)
        else:
            self._follow(call)

    def start(self, call: Call, flags: int, word: int, count: int, payload: Buffer, now: float) -> None:
        """Sends a request without waiting for anything. `wait` gets the reply; a one-way request has none."""
        if now - self._last_used > _IDLE:
            self.catch_up()
        self._last_used = now
        with self._lock:
            if not self._may_send(call, payload):
                return
            self._session.request(call, flags, word, count, payload)
        self.flush()
        if self._blocked and self._watch is None:
            self._drain(call.deadline)

    def submit(
        self, call: Call, flags: int, word: int, count: int, payload: Buffer, watch: Watch, flush: bool = True
    ) -> None:
        """Sends a request whose `on_done` is called when it is done, on whatever thread finds out."""
        with self._lock:
            sent = self._may_send(call, payload)
            if sent:
                self._session.request(call, flags, word, count, payload)
                if watch is not self._watch:
                    watch = self._change_watch(watch)
                self._callbacks += 1
                if call.deadline < self._expiry:
                    self._expiry = call.deadline
                    watch.expire_at(self, call.deadline)
                if not self._leading and not self._armed & READ:
                    self._arm()
        if not sent:
            assert call.on_done is not None
            call.on_done(call)
        elif flush:
            self.flush()

    def abandon(self, call: Call) -> None:
        """The caller of a submitted call lost interest: it ends as CANCELLED, and the server is told."""
        with self._lock:
            if call.done:
                return
            if call.id in self._session.calls.by_id:
                self._callbacks -= 1
            self._session.cancel(call)
            call.failure = Error(Code.CANCELLED, "the caller gave up", Execution.UNKNOWN)
            call.done = True
        self.flush()

    def wait(self, pending: Pending, now: float) -> None:
        """Waits until `pending` is done, at most until its deadline; then it is done with a failure."""
        with self._lock:
            if pending.done:
                return
            leads = not self._leading
            if leads:
                self._leading = True
                if self._armed:
                    self._disarm()
            else:
                self._enqueue(pending)
        if leads:
            self._lead(pending, now)
        else:
            self._follow(pending)

    def finish(self, pending: Pending) -> None:
        """For those who wait for several calls at once: their own Pending is done."""
        with self._lock:
            self._done(pending)

    def _may_send(self, call: Call, payload: Buffer) -> bool:
        session = self._session
        if self.usable and len(payload) <= session.peer_max_payload:
            return True
        if self.usable:
            text = (
                f"the request has {len(payload)} bytes, {self.peer} accepts {session.peer_max_payload}: "
                "send less at a time, or raise max_payload of the server"
            )
            call.failure = not_executed(Code.MESSAGE_TOO_LARGE, text)
        else:
            call.failure = self._gone()
        call.done = True
        return False

    def _gone(self) -> Error:
        text = self.failure.message if self.failure else f"{self.peer} is shutting down"
        return not_executed(Code.UNAVAILABLE, text)

    # Bindings

    def bind(self, service: ServiceInfo, agent: str, deadline: float) -> Binding:
        """The routes of (service, agent), asked for when first needed. Raises Error if the server refuses."""
        key = (service.name, agent)
        binding = self._bindings.get(key)
        if binding is not None:
            return binding
        deadline = min(deadline, monotonic() + HANDSHAKE_TIMEOUT)
        if not self._bind_lock.acquire(timeout=max(deadline - monotonic(), 0.0)):
            raise not_executed(Code.UNAVAILABLE, f"{self.peer} does not answer")
        try:
            binding = self._bindings.get(key)
            if binding is None:
                binding = self._ask_binding(service, agent, deadline)
                self._bindings[key] = binding
        finally:
            self._bind_lock.release()
        return binding

    def _ask_binding(self, service: ServiceInfo, agent: str, deadline: float) -> Binding:
        binding = Binding(service.name, agent, len(service.methods), deadline)
        names = tuple(method.name for method in service.methods)
        with self._lock:
            if not self.usable:
                raise self._gone()
            if not self._session.bind(binding, service.fingerprint, names):
                raise not_executed(Code.OVERLOADED, "no routes are left on this connection")
        self._await(binding)
        if binding.status == Code.SCHEMA_MISMATCH:
            raise not_executed(Code.SCHEMA_MISMATCH, self._mismatch(service, deadline, binding.text))
        if binding.status:
            text = binding.text or f"{self.peer} refuses {service.name}"
            raise not_executed(Code(binding.status), text)
        return binding

    def _mismatch(self, service: ServiceInfo, deadline: float, fallback: str) -> str:
        description = Description(service.name, deadline)
        with self._lock:
            self._session.describe(description)
        try:
            self._await(description)
        except Error:
            return fallback
        # Rare, and `re` takes longer to import than all of this module.
        from mf.protocol.descriptor_diff import difference

        return difference(service.descriptor, description.text) or fallback

    def _await(self, pending: Pending) -> None:
        self.flush()
        self.wait(pending, monotonic())
        failure = pending.failure
        if failure is not None:
            code = failure.code if failure.code == Code.UNAUTHENTICATED else Code.UNAVAILABLE
            raise not_executed(code, failure.message)

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
                self._broken(f"connection to {self.peer} is lost: {error.strerror or error}")
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

    def _drain(self, deadline: float) -> None:
        """The peer takes no more and no watch is there to wait for that: the writer does, and reads if
        nobody else does, for the peer may be waiting for us to take its replies.
        """
        while self._blocked and self.failure is None:
            left = deadline - monotonic()
            if left <= 0:
                return
            self._stream.wait(True, min(left, 1.0))
            self.catch_up()
            self.flush()

    # Reading

    def _lead(self, pending: Pending, now: float) -> None:
        """Reads until `pending` is done. Only with _leading set by the caller."""
        stream = self._stream
        window = self._session.window
        try:
            while not pending.done:
                if self._blocked:
                    count = self._read_and_write(pending)
                else:
                    left = pending.deadline - now
                    if not left * 0.5 <= self._read_timeout <= left:
                        self._set_timeout(left)
                    try:
                        count = stream.read(window())
                    except BlockingIOError:
                        count = -1
                if count > 0:
                    self._digest(count)
                elif count == 0:
                    self._broken(f"{self.peer} closed the connection")
                if not pending.done:
                    now = monotonic()
                    if now >= pending.deadline:
                        self._give_up(pending)
        except OSError as error:
            self._broken(f"connection to {self.peer} is lost: {error.strerror or error}")
        finally:
            self._pass_on()
            if not pending.done:  # an exception of a signal handler, say, came through
                self._give_up(pending)

    def _set_timeout(self, left: float) -> None:
        if left == FOREVER:
            left = 0.0
        elif left > 0.01:
            left *= 0.9  # so that the next call with the same deadline finds it good enough
        else:
            left = max(left, 0.001)
        self._read_timeout = left or FOREVER
        self._stream.set_read_timeout(left)

    def _read_and_write(self, pending: Pending) -> int:
        """The peer took no more: wait for either direction. Returns what read_now does, -1 for nothing."""
        self._stream.wait(True, pending.deadline - monotonic())
        self.flush()
        try:
            return self._stream.read_now(self._session.window())
        except BlockingIOError:
            return -1

    def _digest(self, count: int) -> None:
        session = self._session
        finished: list[Pending] = []
        with self._lock:
            for event in session.received(count):
                if isinstance(event, tuple):
                    call = event[0]
                    call.status = event[1]
                    call.encoding = event[2]
                    call.payload = event[3]
                    if call.on_done is not None:
                        call.done = True
                        self._callbacks -= 1
                        finished.append(call)
                    elif call.waiter is None:
                        call.done = True
                    else:
                        self._done(call)
                else:
                    self._rare(event, finished)
        for pending in finished:
            if pending.on_done is not None:
                pending.on_done(pending)
        if session.out:
            self.flush()

    def _rare(self, event: Any, finished: list[Pending]) -> None:
        if isinstance(event, BindingAnswered):
            self._done(event.binding)
        elif isinstance(event, DescriptionReceived):
            self._done(event.description)
        elif isinstance(event, GoawayReceived):
            self.usable = False
        elif isinstance(event, Refused):
            text = f"{self.peer} refused the connection: {event.code.name}: {event.reason}"
            self._fail_all(Error(event.code, text), finished)
        elif isinstance(event, Broken):
            warning("%s broke the protocol: %s", self.peer, quote(event.reason))
            self._fail_all(
                Error(Code.PROTOCOL_ERROR, f"{self.peer} broke the protocol: {event.reason}"), finished
            )

    def _done(self, pending: Pending) -> None:
        """With the lock: wakes whoever waits for it."""
        pending.done = True
        if pending in self._followers:
            del self._followers[pending]
            pending.waiter.release()

    def _enqueue(self, pending: Pending) -> None:
        waiter = allocate_lock()
        waiter.acquire()
        pending.waiter = waiter
        self._followers[pending] = None

    def _follow(self, pending: Pending) -> None:
        """Sleeps until done, or until made the leader, or until the deadline."""
        left = min(max(pending.deadline - monotonic(), 0.0), TIMEOUT_MAX)
        try:
            woken = pending.waiter.acquire(True, left)
        except BaseException:
            self._leave(pending)
            raise
        if not woken:
            self._leave(pending)
        elif not pending.done:
            self._lead(pending, monotonic())

    def _leave(self, pending: Pending) -> None:
        """A follower stops waiting. If it was made the leader at the last moment, it passes that on."""
        with self._lock:
            follows = pending in self._followers
            if follows:
                del self._followers[pending]
            leads = not follows and not pending.done
        if leads:
            self._pass_on()
        if not pending.done:
            self._give_up(pending)

    def _pass_on(self) -> None:
        """The leader steps down: a follower takes over, or the watch if anything is pending."""
        with self._lock:
            if self.usable and not (self._followers or self._callbacks or self._blocked):
                self._leading = False
                return
            if self._followers:
                successor = next(iter(self._followers))
                del self._followers[successor]
                successor.waiter.release()
                return
            self._leading = False
            self._retire()
            if self.failure is not None:
                self._close_stream()
            elif (self._callbacks or self._blocked) and self._watch is not None:
                self._arm()

    def _give_up(self, pending: Pending) -> None:
        with self._lock:
            self._overdue(pending)
        self.flush()

    def _overdue(self, pending: Pending) -> None:
        if pending.done:
            return
        text = f"no answer from {self.peer} before the deadline"
        pending.failure = Error(Code.DEADLINE_EXCEEDED, text, Execution.UNKNOWN)
        if isinstance(pending, Call):
            self._session.cancel(pending)
        pending.done = True

    def catch_up(self) -> None:
        """After a pause: takes what has come meanwhile, the end of the connection above all."""
        with self._lock:
            if self._leading or self._armed & READ or self.failure is not None:
                return
            self._leading = True
        try:
            self._read_available()
        finally:
            self._pass_on()

    def _read_available(self) -> None:
        try:
            count = self._stream.read_now(self._session.window())
        except BlockingIOError:
            return
        except OSError as error:
            self._broken(f"connection to {self.peer} is lost: {error.strerror or error}")
            return
        if count:
            self._digest(count)
        else:
            self._broken(f"{self.peer} closed the connection")

    # Watched

    def _change_watch(self, watch: Watch) -> Watch:
        """With the lock: another watch than before is to look after this link. If that one still has calls
        to look after, both hand them to the background thread, which outlives any loop.
        """
        old = self._watch
        if old is not None and old.alive and self._callbacks:
            watch = self.watches.thread()
            if watch is old:
                return old
        if old is not None:
            old.forget(self)
        self._armed = 0
        self._watch = watch
        if self._expiry < FOREVER:
            watch.expire_at(self, self._expiry)
        return watch

    def fileno(self) -> int:
        return self._stream.fileno()

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
                self._leading = True
            try:
                self._read_available()
            finally:
                self._step_down()

    def _step_down(self) -> None:
        """What _pass_on does, for the watch: it stays armed unless somebody else leads."""
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
        overdue: list[Call] = []
        with self._lock:
            earliest = FOREVER
            for call in self._session.calls.by_id.values():
                if call.on_done is None:
                    continue
                if call.deadline <= now:
                    overdue.append(call)
                elif call.deadline < earliest:
                    earliest = call.deadline
            for call in overdue:
                self._callbacks -= 1
                self._overdue(call)
            self._expiry = earliest
        for call in overdue:
            if call.on_done is not None:
                call.on_done(call)
        if overdue:
            self.flush()
        return earliest

    # The end

    def close(self, reason: str = "the client was closed") -> None:
        """Ends the connection; what is in flight ends as CONNECTION_LOST."""
        self._broken(reason)

    def _broken(self, reason: str) -> None:
        finished: list[Pending] = []
        with self._lock:
            self._fail_all(Error(Code.UNAVAILABLE, reason), finished)
        for pending in finished:
            if pending.on_done is not None:
                pending.on_done(pending)

    def _fail_all(self, error: Error, finished: list[Pending]) -> None:
        """With the lock: everything pending ends now. The caller runs the callbacks of `finished`."""
        if self.failure is not None:
            return
        self.usable = False
        self.failure = error
        session = self._session
        for call in session.calls.by_id.values():
            # A request whose end still waits in the output cannot have been executed.
            left = call.end <= session.queued - session.out_bytes
            call.failure = (
                Error(Code.CONNECTION_LOST, error.message, Execution.UNKNOWN)
                if left
                else not_executed(Code.UNAVAILABLE, error.message)
            )
            if call.on_done is not None:
                call.done = True
                finished.append(call)
            else:
                self._done(call)
        session.calls.by_id.clear()
        self._callbacks = 0
        for asked in session.waiting():
            asked.failure = error
            self._done(asked)
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
            self.failure = Error(Code.UNAVAILABLE, f"{self.peer} is shutting down")
            session.close()
            self._stream.shutdown()

    def _close_stream(self) -> None:
        if self._watch is not None:
            self._watch.forget(self)
        self._stream.close()

    def after_fork(self) -> None:
        """In a child: the parent goes on using the connection, so it is not shut down, only let go."""
        self._lock = Lock()
        self._bind_lock = Lock()
        self.usable = False
        self.failure = Error(Code.UNAVAILABLE, "the connection belongs to the parent process")
        self._session.calls.by_id.clear()
        self._stream.close()
