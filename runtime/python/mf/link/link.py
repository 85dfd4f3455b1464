"""R4. A client's connection: the only place where a session meets a stream. Its halves: output.py, input.py.

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

from time import monotonic

from mf.core.error import Code, Error, Execution, not_executed
from mf.core.service import ServiceInfo
from mf.link.input import LinkInput
from mf.link.watch import READ, Watch
from mf.protocol.calls import Binding, Call, Description, Pending
from mf.protocol.frame import Buffer

HANDSHAKE_TIMEOUT = 5.0
_IDLE = 0.05  # after this long without a call, look whether the server has said good-bye meanwhile


class Link(LinkInput):
    """One connection: calls and bindings over it. Ends for good when the stream does; `failure` then says
    why.
    """

    __slots__ = ()

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
