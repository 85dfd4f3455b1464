"""R4. The connection of a blocking client: implements core.py for any number of threads. Its parts:
output.py, input.py, streams.py. The asyncio version is async_link.py.

Threads. Any number of callers. At most one of them, the leader, reads; it hands replies to the others, and
when it has its own it makes a waiting follower the leader. If no caller waits but messages of batches are
pending, a watch (see watch.py) is armed; it leads until it has read what is there. At most one thread writes:
callers queue frames under the lock, and a caller that finds no writer becomes it and sends all that is
queued, so that frames of many callers are sent in one system call.

The lock guards the session, `_followers`, `_leading`, `_callbacks`, and the stream state of calls. The
stream's reading side belongs to the leader, its writing side to the thread that set `_flushing`. Callbacks
run without the lock, must not block, and may submit.

A foreign exception (for example KeyboardInterrupt) while a caller leads or sends ends the connection, since
it may have left it in any state.

Nothing here polls: a leader sleeps in the read itself, a follower on its own lock. The socket's read timeout
is changed only when a deadline needs a shorter or a much longer one.
"""

from _thread import get_ident
from contextlib import suppress
from time import monotonic
from typing import Any

from mf.core.code_class import FOR_GOOD
from mf.core.error import Code, Error, not_executed
from mf.core.service import ServiceInfo
from mf.link.alarm import StreamWait
from mf.link.core import HANDSHAKE_TIMEOUT
from mf.link.streams import LinkStreams
from mf.link.watch import FOREVER, READ, Watch
from mf.protocol.call import Call
from mf.protocol.calls import Binding, Description, Pending
from mf.protocol.frame import Buffer
from mf.protocol.stream_call import StreamCall

_IDLE = 0.05  # after this time without a call, check whether the server has sent GOAWAY in the meantime


class Link(LinkStreams):
    """One connection with its calls and bindings. Ends for good when the stream does; `failure` has the
    reason then.
    """

    __slots__ = ()

    # Greeting

    async def await_greeting(self, deadline: float) -> None:
        greeting = Pending(min(deadline, monotonic() + HANDSHAKE_TIMEOUT))
        with self._lock:
            if self._session.peer is not None or self.failure is not None:
                return
            self._greetings.append(greeting)
        self.flush()
        self.wait(greeting, monotonic())

    def retire(self) -> None:
        with self._lock:
            super().retire()

    # Calls

    async def perform(self, call: Call[Any], word: int, now: float) -> None:
        self.call(call, word, now)

    def call(self, call: Call[Any], word: int, now: float) -> None:
        """Sends a request and waits until it has ended, at most until call.deadline."""
        if self._leading or self._flushing or self._lock._is_owned():  # type: ignore[attr-defined]
            self._check_thread()
        if now - self._last_used > _IDLE:
            self.catch_up()
        self._last_used = now
        session = self._session
        here = get_ident()
        leads = False
        out: list[Buffer] = []
        size = 0
        try:
            with self._lock:
                body = call.body
                binding = call.binding
                if (
                    not self.usable
                    or (binding is not None and not binding.bound)
                    or len(body) > session.peer_max_payload
                ) and not self._may_send(call):
                    return
                session.request(call, call.flags, word, call.items, body)
                call.written()
                if self._leading:
                    self._enqueue(call)
                else:
                    self._leader = here
                    leads = self._leading = True
                    if self._armed:
                        self._disarm()
                if not self._flushing:
                    self._writer = here
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
        except BaseException as raised:
            self._interrupted(raised, leads)
            raise

    def start(self, call: Call[Any], word: int, now: float) -> bool:
        """The caller gets the reply by `wait`."""
        self._check_thread()
        if now - self._last_used > _IDLE:
            self.catch_up()
        self._last_used = now
        try:
            with self._lock:
                if not self._request(call, word):
                    return False
        except BaseException as raised:
            self._interrupted(raised, False)
            raise
        self.send(call.deadline)
        return True

    def submit(self, call: Call[Any], word: int) -> bool:
        """Queues a request whose `on_done` is called when it has ended, on the thread that detects it;
        `flush` sends it. False: it was not queued, and has ended; no callback is called."""
        try:
            with self._lock:
                return self._submit(call, word)
        except BaseException as raised:
            self._interrupted(raised, False)
            raise

    def _submit(self, call: Call[Any], word: int) -> bool:
        """With the lock."""
        if not self._request(call, word):
            return False
        watch = self._watched()
        self._callbacks += 1
        if call.deadline < self._expiry or self._expiry == FOREVER:
            if self._callbacks == 1:
                self._heard_before = self.heard
            self._expiry = min(call.deadline, monotonic() + self._turn)
            if self._expiry < FOREVER:
                watch.expire_at(self, self._expiry)
        if not self._leading and not self._armed & READ:
            self._arm()
        return True

    def _watched(self) -> Watch:
        """With the lock: the watch that handles this link from now on while no thread blocks on it."""
        if self._watch is None:
            self._watch = self.watches.thread()
        return self._watch

    def send(self, deadline: float, call: StreamCall[Any] | None = None) -> None:
        """Sends what is queued; if the peer accepts no more, and no watch waits for that, this thread waits,
        but not longer than `call` lasts."""
        try:
            self.flush()
            if self._blocked and self._watch is None:
                self._drain(deadline, call)
        except BaseException as raised:
            self._interrupted(raised, False)
            raise

    def finish(self, pending: Pending) -> None:
        """For callers that wait for several calls at once: their own Pending is done."""
        with self._lock:
            self._done(pending)

    def _drain(self, deadline: float, call: StreamCall[Any] | None = None) -> None:
        """The peer accepts no more and no watch waits for that: the writer waits, and reads if no other
        thread does, since the peer may be waiting until its replies are read.
        """
        while self._blocked and self.failure is None:
            left = min(deadline - monotonic(), 1.0)
            if left <= 0:
                return
            if call is None:
                self._stream.wait(True, left)
            else:
                wait = StreamWait(deadline)
                with self._lock:
                    if call.done:
                        return
                    call.writer = wait
                self._sleep(wait, True, left)
            self.catch_up()
            self.flush()

    # Bindings

    async def ask(self, service: ServiceInfo, agent: str, deadline: float, schema: bytes) -> Binding:
        with self._lock:
            known = self.bound(service, agent, schema)
            if known is not None:
                return known
            asked = self._ask_for(service, agent, schema)
        self._await_answer(asked, deadline)
        return asked

    async def describe(self, description: Description, deadline: float) -> None:  # noqa: ARG002 - its own
        with self._lock:
            self._session.describe(description)
        self._await(description, description)

    def bind_all(self, service: ServiceInfo, agents: list[str], deadline: float, schema: bytes = b"") -> None:
        """Requests several bindings at once, so that `ask` finds them. Refusals, and missing answers, are
        left to `ask`, which reports them."""
        deadline = min(deadline, monotonic() + HANDSHAKE_TIMEOUT)
        if self.is_unlearned(service, schema):
            return
        asked: list[Binding] = []
        with self._lock, suppress(Error):
            for agent in agents:
                if self.bound(service, agent, schema) is not None:
                    continue
                asked.append(self._ask_for(service, agent, schema))
                if self._session.peer is None:
                    break  # how many bindings the server accepts is not known yet
        self.send(deadline)
        with suppress(Error):
            for binding in asked:
                self._await_answer(binding, deadline)

    def _await_answer(self, asked: Binding, deadline: float) -> None:
        wait = Pending(deadline)
        with self._lock:
            wait.done = asked.done
            asked.awaited_by = (*asked.awaited_by, wait)
        self._await(wait, asked)

    def _await(self, pending: Pending, of: Pending) -> None:
        """Waits for `pending`. Raises the failure of it, or of what it waits for, as NOT_EXECUTED."""
        self.flush()
        self.wait(pending, monotonic())
        failure = pending.failure or of.failure
        if failure is not None:
            code = failure.code if failure.code in FOR_GOOD else Code.UNAVAILABLE
            raise not_executed(code, failure.message)
