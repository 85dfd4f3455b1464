"""R4. The connection of an asyncio client: implements core.py on one loop and without a lock.

Reading. The loop reports readable bytes; each reply wakes the task that awaits it. Writing. All that is
queued within one turn of the loop is sent in one system call at its end. Time. There is one timer for each
connection, for the earliest deadline of the calls in flight; it is moved when it fires, not with every call.
A coarse timer detects silent servers while replies are awaited.
"""

from asyncio import AbstractEventLoop, CancelledError, Future, TimerHandle, current_task, get_running_loop
from contextlib import suppress
from functools import cache
from time import monotonic
from typing import Any

from mf.codec.native import native
from mf.core.client_options import DEAD_AFTER
from mf.core.code_class import FOR_GOOD
from mf.core.error import Code, Error, cancelled_by_caller, not_executed
from mf.core.gate import LoopGate
from mf.core.log import error as log_error
from mf.core.log import quote
from mf.core.service import Payload, ServiceInfo
from mf.link.core import HANDSHAKE_TIMEOUT, LinkCore, Remembered, call_back, split_overdue
from mf.protocol.call import Call
from mf.protocol.call_table import CallEvent
from mf.protocol.calls import Binding, Description, Pending, Request
from mf.protocol.handshake import Hello
from mf.protocol.stream_call import StreamCall
from mf.transport.stream import FEW_BUFFERS, Stream, drop_written, joined

FOREVER = float("inf")
ROOM = 256 << 10
"""Bytes that may wait to be sent before one-way calls have to wait."""

_LEAST_PAUSE = 0.001  # between two checks for overdue calls


def check_loop(own: AbstractEventLoop) -> None:
    """Raises RuntimeError on another loop than that of a client: what it waits for would never come there."""
    if get_running_loop() is not own:
        raise RuntimeError(
            "an AsyncClient belongs to the loop of asyncio in which it was made, and this call runs in "
            "another one: make a client within each asyncio.run"
        )


@cache
def waiter_type() -> Any:
    """What a task awaits for a call where mf-runtime-native is in use (awaiting.hpp); None: a future of its
    loop."""
    module = native().module
    return None if module is None else module.Waiter


class AsyncLink(LinkCore):
    """See above. `waiter` of a request is the future of its caller; that of anything else
    is a list of gates."""

    __slots__ = (
        "_blocked",
        "_crowd",
        "_expiry",
        "_flush_due",
        "_heard_before",
        "_loop",
        "_silence",
        "_timer",
        "_waiter",
    )

    def __init__(
        self,
        loop: AbstractEventLoop,
        stream: Stream,
        hello: Hello,
        scratch: bytearray,
        standing: Remembered | None = None,
        dead_after: float = DEAD_AFTER,
    ) -> None:
        """`scratch` may be shared by all connections of the loop."""
        super().__init__(stream, hello, scratch, standing, dead_after)
        self._silence: TimerHandle | None = None  # set while a reply is awaited
        self._heard_before = 0  # when the timer was set
        self._loop = loop
        self._blocked = False
        self._crowd: list[LoopGate] = []  # of those that wait for room
        self._expiry = FOREVER
        self._flush_due = False
        self._timer: TimerHandle | None = None
        self._waiter = waiter_type()
        loop.add_reader(stream.fileno(), self._readable)
        self.flush()
        if stream.inside:
            loop.call_soon(self._readable)

    # Calls

    def submit(self, call: Call[Any], word: int) -> "Future[None] | None":
        """Sends a request within this turn of the loop. Returns a future that ends when the call has; None:
        the request was not sent, and has ended."""
        if not self._flush_due:  # once for all that is sent in this turn
            check_loop(self._loop)
        binding = call.binding
        session = self._session
        if (
            not self.usable
            or (binding is not None and not binding.bound)
            or len(call.body) > session.peer_max_payload
        ) and not self._may_send(call):
            return None
        session.request(call, call.flags, word, call.items, call.body)
        call.written()
        loop = self._loop
        future = loop.create_future() if self._waiter is None else self._waiter(loop)
        call.waiter = future
        if call.deadline < self._expiry:
            self._expire_at(call.deadline)
        if self._silence is None:
            self._watch_silence()
        if not self._flush_due:
            self._flush_due = True
            loop.call_soon(self._flush)
        return future

    async def perform(self, call: Call[Any], word: int, now: float) -> None:  # noqa: ARG002
        future = self.submit(call, word)
        if future is not None:
            try:
                await future
            except CancelledError:
                self.give_up(call)
                raise

    def give_up(self, call: Call[Any]) -> None:
        """Its task was cancelled."""
        self.abandon(call, CallEvent.CANCELLED, cancelled_by_caller())
        call.settle(monotonic())

    def start(self, call: Call[Any], word: int, now: float) -> bool:  # noqa: ARG002 - as threads need it
        """Calls `on_done` when the reply has arrived, or never will."""
        if not self._flush_due:  # once for all that is sent in this turn
            check_loop(self._loop)
        session = self._session
        binding = call.binding
        if (
            call.stream
            or not self.usable
            or (binding is not None and not binding.bound)
            or len(call.body) > session.peer_max_payload
        ):
            if not self._request(call, word):
                return False
        else:
            session.request(call, call.flags, word, call.items, call.body)
            call.written()
        if call.deadline < self._expiry and call.id in session.calls.by_id:
            self._expire_at(call.deadline)
        if self._silence is None:
            self._watch_silence()
        if not self._flush_due:
            self.flush()
        return True

    def abandon(self, call: Request, event: CallEvent, failure: Error) -> bool:
        if call.done:
            return False
        self._cancel(call, event, failure)
        if call.on_done is not None:
            call.on_done(call)
        self.flush()
        return True

    async def room(self, deadline: float) -> None:
        while self._session.out_bytes > ROOM and self.failure is None:
            gate = LoopGate()
            self._crowd.append(gate)
            await gate.wait(deadline - monotonic())
            if monotonic() >= deadline:
                return

    # Streams

    def take_values(self, call: StreamCall[Any]) -> tuple[Payload, int] | None:
        taken = call.take()
        if taken is None:
            return None
        payload, count, credit = taken
        if credit and not call.done:
            self._session.send_credit(call.id, credit)
            self.flush()
        return payload, count

    def send_values(self, call: StreamCall[Any]) -> bool:
        self._queue_values(call)
        return not call.sending

    def end_values(self, call: StreamCall[Any]) -> None:
        if not call.done and call.sending is not None:
            call.sending = None
            self._session.end_stream(call)

    def orphan(self, call: StreamCall[Any]) -> None:
        self._orphans.append(call)
        with suppress(RuntimeError):  # the loop was closed: its connections have ended with it
            self._loop.call_soon_threadsafe(self._cancel_orphans)

    # Greeting and bindings

    async def await_greeting(self, deadline: float) -> None:
        if self._session.peer is not None or self.failure is not None:
            return
        if not self._greetings:
            self._greetings.append(Pending(FOREVER))
        await self._wait(self._greetings[0], min(deadline, monotonic() + HANDSHAKE_TIMEOUT))

    def after_fork(self) -> None:
        """In a child: releases the connection without shutting it down, since the parent uses it. Tasks that
        wait go on, where the child runs their loop."""
        session = self._session
        waiting = [*session.calls.by_id.values(), *session.waiting(), *self._greetings]
        self._disown()
        with suppress(RuntimeError):  # the loop was closed
            self._loop.call_soon(self._end_inherited, waiting)

    def _end_inherited(self, waiting: list[Pending]) -> None:
        for pending in waiting:
            self._done(pending)
        call_back(waiting)
        self._let_in()

    async def ask(self, service: ServiceInfo, agent: str, deadline: float, schema: bytes) -> Binding:
        known = self.bound(service, agent, schema)
        if known is not None:
            return known
        asked = self._ask_for(service, agent, schema)
        if self._silence is None:
            self._watch_silence()
        self.flush()
        await self._answer(asked, deadline)
        return asked

    async def describe(self, description: Description, deadline: float) -> None:
        self._session.describe(description)
        self.flush()
        await self._answer(description, deadline)

    async def _answer(self, pending: Pending, deadline: float) -> None:
        """Waits for the server's answer. Raises Error, NOT_EXECUTED, if there is none."""
        if not await self._wait(pending, deadline):
            raise not_executed(Code.UNAVAILABLE, self._no_answer())
        failure = pending.failure
        if failure is not None:
            code = failure.code if failure.code in FOR_GOOD else Code.UNAVAILABLE
            raise not_executed(code, failure.message)

    async def _wait(self, pending: Pending, deadline: float) -> bool:
        """False if it was not done before the deadline."""
        if not pending.done:
            gate = LoopGate()
            if pending.waiter is None:
                pending.waiter = []
            pending.waiter.append(gate)
            await gate.wait(deadline - monotonic())
        return pending.done

    def _done(self, pending: Pending) -> None:
        pending.done = True
        if isinstance(pending, StreamCall):
            pending.release()
            return
        waiter = pending.waiter
        if isinstance(waiter, list):
            for gate in waiter:
                gate.open_here()
        elif waiter is not None and not waiter.done():
            waiter.set_result(None)

    # Reading

    def _readable(self) -> None:
        try:
            while self.failure is None and self._read_available() and self._stream.inside:
                pass
            self._retire()
            if self.failure is not None:
                self._let_go()
        except Exception as bug:
            self._broken_by(bug)

    def _digest(self, count: int) -> None:
        session = self._session
        self.heard += 1
        if self._pinged_at:
            self._pinged_at = 0.0
        finished: list[Pending] = []
        awaited: list[Any] = []
        for event in session.received(count):
            if type(event) is tuple:
                call, call.status, call.encoding, call.payload = event
                if call.on_done is None:
                    call.done = True
                    awaited.append(call.waiter)
                elif call.stream:
                    self._done(call)
                    finished.append(call)
                else:  # nothing but its callback waits for it
                    call.done = True
                    finished.append(call)
            else:
                self._rare(event, finished)
        call_back(finished)
        if session.out:
            self.flush()
        if self._waiter is not None and current_task(self._loop) is None:
            self._wake_here(awaited)
        else:
            for waiter in awaited:
                if not waiter.done():
                    waiter.set_result(None)

    def _wake_here(self, awaited: list[Any]) -> None:
        """The tasks go on at once. If one ends the program, the others go on in the next turn of the loop, if
        there is one."""
        woken = iter(awaited)
        try:
            for waiter in woken:
                waiter.wake()
        except BaseException:
            for waiter in woken:
                waiter.set_result(None)
            raise

    def _broken_by(self, bug: Exception) -> None:
        """A bug in one connection, or in a callback: the connection ends, and the loop continues for the
        others."""
        log_error("while a connection was looked after: %s", quote(repr(bug)), exc_info=bug)
        self.broken(f"a bug was met on this connection: {bug!r}")

    # Writing

    def flush(self) -> None:
        """Sends all that is queued by then at the end of this turn of the loop."""
        if not self._flush_due and self.failure is None:
            self._flush_due = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_due = False
        try:
            self._write()
        except Exception as bug:
            self._broken_by(bug)

    def _write(self) -> None:
        session = self._session
        while session.out and not self._blocked and self.failure is None:
            size = session.out_bytes
            out = session.take_output()
            try:
                written = self._stream.write_now(joined(out, size) if len(out) > FEW_BUFFERS else out)
            except OSError as failed:
                session.out[:0] = out
                session.out_bytes += size
                self._write_failed(failed)
                return
            if written < size:
                session.out[:0] = drop_written(out, written)
                session.out_bytes += size - written
                if not written:
                    self._blocked = True
                    self._loop.add_writer(self._stream.fileno(), self._writable)
        if self._crowd and session.out_bytes <= ROOM:
            self._let_in()

    def _writable(self) -> None:
        self._blocked = False
        self._loop.remove_writer(self._stream.fileno())
        self._flush()

    def _write_failed(self, failed: OSError) -> None:
        """Reads what the server sent before it closed: its GOAWAY says what it will not execute."""
        while self.failure is None and self._read_available():
            pass
        self._lost(failed)

    def _let_in(self) -> None:
        crowd, self._crowd = self._crowd, []
        for gate in crowd:
            gate.open_here()

    # Time

    def _expire_at(self, when: float) -> None:
        """Uses time differences: the loop's clock is time.monotonic(), too, but asyncio does not promise
        that."""
        self._expiry = when
        if self._timer is not None:
            self._timer.cancel()
        pause = max(when - monotonic(), _LEAST_PAUSE)
        self._timer = self._loop.call_later(pause, self._expire)

    def _expire(self) -> None:
        self._timer = None
        self._expiry = FOREVER
        now = monotonic()
        overdue, earliest = split_overdue(self._session.calls.by_id.values(), now)
        for call in overdue:
            self._overdue(call)
        if earliest < FOREVER:
            self._expire_at(earliest)
        call_back(overdue)
        if overdue:
            self.flush()

    def ping(self, now: float) -> None:
        if not self._pinged_at and self.failure is None:
            self._pinged_at = now
            self._session.ping()
            self.flush()

    def look_for_life(self, now: float) -> None:
        """The loop reads."""

    def _watch_silence(self) -> None:
        if self._turn < FOREVER:
            self._heard_before = self.heard
            self._silence = self._loop.call_later(self._turn, self._look_for_silence)

    def _look_for_silence(self) -> None:
        """Is not scheduled again while no reply is awaited."""
        self._silence = None
        if self.failure is not None or not (self._session.calls.by_id or self._asked):
            return
        if self.heard == self._heard_before:
            self._quiet(monotonic(), self._turn)
        if self.failure is None:
            self._watch_silence()

    # The end

    def close(self) -> None:
        if not self._blocked:
            self._write()  # one-way calls of this turn of the loop
        super().close()

    def _let_go(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._silence is not None:
            self._silence.cancel()
            self._silence = None
        self._let_in()
        descriptor = self._stream.fileno()
        if descriptor < 0:
            return
        with suppress(RuntimeError):  # the loop was closed
            self._loop.remove_reader(descriptor)
            if self._blocked:
                self._loop.remove_writer(descriptor)
        self._stream.close()
