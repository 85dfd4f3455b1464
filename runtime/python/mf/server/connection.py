"""R5. One accepted connection: its session, its output, its running requests, and the order of its one-way
calls.

Threads. The IO thread, or the loop, reads, and only it closes. Replies come from any thread; a thread that
finds no other writer sends all that is queued. The lock guards the session, the output and the order. On the
IO thread output waits until the end of the turn, so that the replies to one read are sent in one system call.

Order. One-way calls run one after another. A later call to the same (service, agent) starts after them. So
both kinds wait in `_ordered` while a one-way call runs; other calls never do.

Limits (admission.py): a call of a method with a gate gets its slot when it arrives or when its turn comes, or
has a place while it waits.

Unread replies: a call whose turn has come is held while more than OUTPUT_LIMIT bytes wait. It releases its
slot, which others can use, and asks its gate again once there is room.
"""

import select
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

from mf.core.error import Code, Error, not_executed
from mf.core.identity import NO_IDENTITY, Identity
from mf.core.log import host_of, info, line, warning
from mf.core.peers import peer_fields
from mf.core.service import ADMIN
from mf.protocol.events import BindRequested, CreditReceived, DataReceived, EndReceived, RequestReceived
from mf.protocol.frame import Buffer
from mf.protocol.handshake import Hello
from mf.protocol.server_call import ServerCallEvent, ServerCallState, ServerCallStep
from mf.protocol.server_session import Denied, ServerSession
from mf.protocol.stream import WindowBudget
from mf.server.access import Access
from mf.server.admission import Standing
from mf.server.current import ServedCall
from mf.server.offer import Offer, Offers
from mf.server.stream import OUTPUT_LIMIT, StreamCall, StreamCaller
from mf.server.token_gate import identity_of
from mf.tokens.claims import TokenClaims
from mf.transport.stream import FEW_BUFFERS, Stream, drop_written, joined

READ = select.EPOLLIN
WRITE = select.EPOLLOUT

INPUT_LIMIT = 64 << 20
PROGRESS_TIMEOUT = 10.0
LEAST_PROGRESS = 512 << 10
"""Bytes that must be transferred within that time, unless all that waited has been."""
_CHARGE_STEP = 16 << 10  # so that small messages need no accounting
_MOST_SUBSCRIBED = 4096
_RELEASED_AT_ONCE = 8
_BACKLOG_LIMIT = 8192

_Event, _Step = ServerCallEvent, ServerCallStep
_OUTSIDE, _PLACE, _SLOT = Standing.OUTSIDE, Standing.PLACE, Standing.SLOT
# The transitions of an undisturbed call are written out in code that every call passes.
_WAITING, _RUNNING, _ENDED = ServerCallState.WAITING, ServerCallState.RUNNING, ServerCallState.ENDED


class Loop(ABC):
    """The functions of the reading thread that a connection needs. Thread-safe."""

    __slots__ = ()

    @abstractmethod
    def start(self, call: ServedCall) -> None:
        """Runs a call whose turn has come, not on this thread."""

    @abstractmethod
    def wrote(self, connection: "Connection") -> None:
        """Data were queued. The IO thread sends them at the end of its turn, another thread at once."""

    @abstractmethod
    def stalled(self, connection: "Connection") -> None:
        """The client does not read: from now on data must be transferred within a time limit."""

    @abstractmethod
    def turn_soon(self, call: StreamCall) -> None:
        """See StreamCaller."""

    @abstractmethod
    def look_at(self, connection: "Connection") -> None:
        """Another thread has changed what the connection wants, or has found it broken."""


class Progress(NamedTuple):
    """The state of a connection when data began to wait."""

    since: float
    sent: int
    received: int
    output: int
    in_message: bool


class _Entrance:
    """Admits the client of one connection, and answers its BINDs. `used`: whether there was one. `identity`:
    what the client has proved of itself, once its HELLO has come."""

    __slots__ = (
        "_access",
        "_administers",
        "_believed",
        "_calls",
        "_claims",
        "_offers",
        "_relay",
        "_relayed",
        "_seen",
        "_stream",
        "_subscribed",
        "identity",
        "used",
    )

    def __init__(self, offers: Offers, stream: Stream, access: Access) -> None:
        self._access = access
        self._offers = offers
        self._stream = stream
        self._claims: TokenClaims | None = None
        self._seen = access.generation
        self._administers: set[str] = set()
        """The methods by which it may steer this server."""
        self._calls: dict[tuple[str, str, str], bool] = {}
        """Service, agent and method, and whether it may be called, as was decided."""
        self._subscribed: set[tuple[str, str]] | None = set()
        """Topics and agents of what was allowed; None: not all that was decided is known here."""
        self._relay: Identity | None = None
        """The client's own identity, if it is a relay that passes on another one."""
        self._relayed = False
        """Whether the client is a relay, which may also speak for its clients in its own name."""
        self._believed = False
        self.identity = NO_IDENTITY
        self.used = False

    def admit(self, hello: Hello) -> None:
        self.identity = self._stream.identity()
        tokens = self._access.tokens
        if tokens is not None and hello.credential is not None:
            self._claims = tokens.claims_of(hello.credential, self._stream.peer)
            self.identity = identity_of(self._claims)
        if hello.passed is not None:
            self._relay = self.identity
            self._relayed = True
            self._believed = self._access.may_relay(self._relay)
            self.identity = self._access.client_of(self._relay, hello.passed, self._stream.peer)
        hello.credential = hello.passed = None  # nothing keeps them
        self._access.admit(hello, self._stream.peer, self.identity)

    def __call__(self, bind: BindRequested) -> list[Any] | tuple[Code, str]:
        """A client of another schema may adapt. Only the client can decide whether it does, and logs how the
        schemas differ."""
        self.used = True
        self._relayed = self._relayed or bind.relayed
        if bind.service == ADMIN:
            return self._administered(bind)
        limits = not self._access.limits_nothing
        found = self._offers.resolve(bind, names=not limits)
        if isinstance(found, tuple) and found[0] is Code.SCHEMA_MISMATCH:
            then = "the client adapts if it can, and its own log says how they differ"
            peer = peer_fields(self._stream.peer, self.identity)
            info("%s", line("schema_mismatch", service=bind.service, **peer, next=then))
        if isinstance(found, tuple):
            return self._denied(bind) or found if limits and found[0] is Code.UNKNOWN_AGENT else found
        if not limits or not found:
            return found
        offer = found[0].offer
        if offer.is_topic:  # its subscriptions are asked about, which name agents
            return found
        if offer.decides:
            self._subscribed = None  # what the servant allows is not known here
            return found
        targets = self._access.targets(self._stream.peer, self.identity, offer.service, offer.agent, found)
        if not isinstance(targets, tuple):  # a BIND that is refused leaves nothing to be taken back
            for handler, target in zip(found, targets, strict=True):
                key = (offer.service.name, offer.agent, handler.method.name)
                self._calls[key] = not isinstance(target, Denied)
        return targets

    def _administered(self, bind: BindRequested) -> list[Any] | tuple[Code, str]:
        found = self._offers.resolve(bind, names=False)
        if isinstance(found, tuple) or not found:
            return found
        service, peer = found[0].offer.service, self._stream.peer
        allowed = self._access.administered(peer, self.identity, service, found, relayed=self._relayed)
        if not isinstance(allowed, tuple):
            self._administers.update(handler.method.name for handler in found)
        return allowed

    def _denied(self, bind: BindRequested) -> tuple[Code, str] | None:
        offer = self._offers.any_of(bind.service)
        if offer is None or offer.is_topic or offer.decides:
            return None
        return self._access.denied(self._stream.peer, self.identity, offer.service, bind.agent, bind.methods)

    def check_subscription(self, topic: str, agents: str) -> None:
        self._access.check_subscription(self._stream.peer, self.identity, topic, agents)
        if self._subscribed is not None and not self._access.limits_nothing:
            self._subscribed.add((topic, agents))
            if len(self._subscribed) > _MOST_SUBSCRIBED:
                self._subscribed = None

    def check_again(self) -> str:
        """Why the connection must end, as far as that may have changed since the last time; empty: it need
        not."""
        if not self._stream.trusted():
            return "its certificate has expired or is not accepted any more"
        access, identity = self._access, self.identity
        claims, tokens = self._claims, access.tokens
        if claims is not None and tokens is not None and not tokens.still_accepts(claims):
            return "its token is not accepted any more"
        if access.limits_nothing or self._seen == access.generation:
            return ""
        self._seen = access.generation
        if self._relay is not None and access.may_relay(self._relay) is not self._believed:
            return "whether it may relay has changed"
        subscribed = None if self._subscribed is None else self._subscribed.copy()
        same = subscribed is not None
        same = same and all(access.may_call(identity, *key) == was for key, was in self._calls.items())
        peer, relayed = self._stream.peer, self._relayed
        same = same and all(
            access.may_administer(identity, peer, method, relayed=relayed)[0] for method in self._administers
        )
        same = same and all(access.may_subscribe(identity, *key) for key in subscribed or ())
        return "" if same else "what it may do has changed"


class Connection(StreamCaller):
    """See above. The thread that detects a failure sets `broken`; the IO thread then closes."""

    __slots__ = (
        "_admitted_bytes",
        "_ended_bytes",
        "_flushing",
        "_held",
        "_io",
        "_oneways",
        "_ordered",
        "_releasing",
        "_stream_bytes",
        "_streams",
        "binds",
        "blocked",
        "broken",
        "budget",
        "calls",
        "charged",
        "crowded",
        "fileno",
        "lock",
        "opened",
        "peer",
        "progress",
        "received",
        "rest",
        "sent",
        "session",
        "stream",
        "watched",
    )

    def __init__(
        self,
        io: Loop,
        stream: Stream,
        hello: Hello,
        scratch: bytearray,
        now: float,
        offers: Offers,
        access: Access,
    ) -> None:
        self._io = io
        self.stream = stream
        self.fileno = stream.fileno()
        self.peer = stream.peer
        self.binds = _Entrance(offers, stream, access)
        self.session = ServerSession(hello, scratch, self.binds, self.binds.admit)
        self.lock = Lock()
        self.calls: dict[int, ServedCall] = {}
        """Calls that do not run where they were read, until their handlers have returned."""
        self.budget = WindowBudget(hello.max_streams, hello.stream_window)
        self.crowded: dict[StreamCall, None] = {}
        self._streams = 0
        self._stream_bytes = 0
        self.opened = now
        self.rest: list[Any] = []
        """Events of the last read that wait until replies are read."""
        self.received = 0
        self.sent = 0
        self.progress: Progress | None = None
        """The state when transfers were last checked; None: nothing waits."""
        self.charged = 0
        """The bytes that its server counts for it."""
        self.blocked = False
        self.broken = ""
        self.watched: int | None = None
        """The events that the driver watches; None: none yet."""
        self._flushing = False
        # Of requests that do not run where they were read. There are two sums, so that admitting needs no
        # lock: the first belongs to the reading thread, the second to the lock.
        self._admitted_bytes = 0
        self._ended_bytes = 0
        self._oneways: dict[Offer, int] = {}
        self._ordered: deque[ServedCall] = deque()
        self._held: list[ServedCall] = []
        self._releasing = False

    # Requests

    @property
    def busy(self) -> bool:
        """Whether anything must still be run or sent, or might be lost if the connection ended now."""
        running = self.calls or self._oneways or self.session.out or self._flushing or self.rest
        return bool(running) or self.stream.unacknowledged() > 0

    def admit(self, call: ServedCall) -> bool:
        offer = call.handler.offer
        self._admitted_bytes += len(call.payload)
        if not call.oneway:
            self.calls[call.id] = call
            call.state = _WAITING
            if offer not in self._oneways:  # only this thread adds some
                return True
        with self.lock:
            if call.oneway:
                call.in_order = True
                first = not self._oneways
                self._oneways[offer] = self._oneways.get(offer, 0) + 1
                if first:
                    return True
            elif offer not in self._oneways:
                return True
            self._ordered.append(call)
            return False

    def let_in(self, call: ServedCall, now: float) -> bool:
        """A call arrives at its gate, and gets a slot or a place. False: it was refused."""
        with self.lock:
            behind = bool(self._oneways) if call.oneway else call.handler.offer in self._oneways
        gate = call.gate
        why = gate.admission.enter(call, now, may_run=not behind)
        if not why:
            return True
        handler = call.handler
        if call.oneway:
            calls = handler.counters.on_dropped(call.count, now)
            if calls:
                warning(
                    "%s: %d one-way calls of %s dropped: %s",
                    self.shown,
                    calls,
                    handler,
                    why,
                    peer=self.peer,
                )
            return False
        handler.counters.on_refused(call.count)
        with self.lock:
            if isinstance(call, StreamCall):
                self._streams -= 1
                call.release()
            self.session.fail(call.id, call.route, call.count, not_executed(Code.OVERLOADED, why))
        return False

    def begin(self, call: ServedCall) -> None:
        """The turn of an accepted call has come."""
        if call.standing is _PLACE:
            call.gate.admission.queue(call, monotonic())
        else:
            self._io.start(call)

    def let_go(self, call: ServedCall) -> None:
        self._io.start(call)

    @property
    def identity(self) -> Identity:
        return self.binds.identity

    @property
    def shown(self) -> str:
        """The peer as lines of the log name it."""
        identity = self.binds.identity
        return f"{self.peer} ({identity})" if identity.known or identity.via else self.peer

    def check_subscription(self, topic: str, agents: str) -> None:
        self.binds.check_subscription(topic, agents)

    @property
    def client_id(self) -> int:
        hello = self.session.peer
        return hello.client_id if hello is not None else 0

    @property
    def account(self) -> str:
        identity = self.binds.identity
        return identity.name if identity.known else host_of(self.peer)

    def open_stream(self, event: RequestReceived, deadline: float) -> StreamCall | None:
        """Called on the IO thread: a call with a stream has arrived. None: it exceeds the limit and was
        refused."""
        most = self.session.our_hello.max_streams
        with self.lock:
            if self._streams < most:
                self._streams += 1
                return StreamCall(self, event, deadline)
            text = f"{most} calls with streams of this connection are open, the most that this server takes"
            _, id_, route, _, _, count, _, _ = event
            self.session.fail(id_, route, count, not_executed(Code.OVERLOADED, text))
            return None

    def started(self, call: ServedCall, stop: Callable[[], object] | None = None) -> bool:
        is_late = False
        with self.lock:
            if call.state is _WAITING:
                call.state = _RUNNING
            elif call.state is _ENDED:
                self._forget(call)
                is_late = True
            else:
                call.on(_Event.STARTED)
            call.stop = stop
        if is_late and call.standing is not _OUTSIDE:
            call.gate.admission.leave(call, monotonic())
        return not is_late

    def suspends(self, call: ServedCall, stop: Callable[[], object]) -> None:
        call.stop = stop
        self._admitted_bytes += len(call.payload)
        if not call.oneway:
            self.calls[call.id] = call
            return
        with self.lock:
            call.in_order = True
            self._oneways[call.handler.offer] = 1  # it began since there was none

    def reply(self, call: ServedCall, status: int, encoding: int, payload: Buffer) -> None:
        if call.standing is not _OUTSIDE:  # before the answer, after which the client may call again at once
            call.gate.admission.leave(call, monotonic())
        if call.oneway:  # of a method with results, which its client does not want
            self.drop(call)
            return
        if call.handler.watched:
            call.ends(Code.OK, size=len(payload))
        with self.lock:
            if call.state is _RUNNING and call.deadline > monotonic():
                call.state = _ENDED
                if self.calls:  # otherwise it ran where it was read, and is not registered
                    self._ended(call)
                is_awaited = True
            else:
                is_awaited = self._answered(call)
            if is_awaited:
                if call.reply_entries is None:
                    self.session.reply(call.id, call.route, status, encoding, call.count, payload)
                else:
                    block = call.reply_metadata()
                    self.session.reply(call.id, call.route, status, encoding, call.count, payload, block)
        self._io.wrote(self)

    def fail(self, call: ServedCall, error: Error) -> None:
        if call.oneway:
            self.drop(call)
            return
        if call.standing is not _OUTSIDE:
            call.gate.admission.leave(call, monotonic())
        if call.handler.watched:
            call.ends(error.code, error)
        with self.lock:
            if self._answered(call):
                self.session.fail(call.id, call.route, call.count, error, call.reply_metadata())
        self._io.wrote(self)

    def drop(self, call: ServedCall) -> None:
        if call.standing is not _OUTSIDE:
            call.gate.admission.leave(call, monotonic())
        if call.handler.watched:
            call.ends(Code.OK if call.oneway else Code.CANCELLED)
        ready: list[ServedCall] = []
        with self.lock:
            if self._answered(call) and not call.oneway:
                self.session.in_flight.discard(call.id)
            if call.in_order:
                self._advance(call.handler.offer, ready)
        for next_ in ready:
            self.begin(next_)
        self._io.wrote(self)

    def end_early(self, call: ServedCall, event: ServerCallEvent, why: Error) -> None:
        with self.lock:
            step, standing = call.on(event), call.standing
            if step is _Step.STOP:
                self._stop(call, why)
            elif step is _Step.REFUSE:
                self.session.fail(call.id, call.route, call.count, not_executed(why.code, why.message))
                self._ended_unrun(call, standing)
            elif step is _Step.DROP:
                self._ended(call)
        self._leave_unrun(call, step, standing)
        self._io.wrote(self)

    def fault(self, call: ServedCall, error: Error) -> None:
        with self.lock:
            step, standing = call.on(_Event.CANCELLED), call.standing
            if step in (_Step.STOP, _Step.REFUSE):
                self.session.fail(call.id, call.route, call.count, error)
            if step is _Step.STOP:
                self.session.in_flight.add(call.id)  # until the handler returns
                self._stop(call, error)
            elif step is _Step.REFUSE:
                self._ended_unrun(call, standing)
        self._leave_unrun(call, step, standing)
        self._io.wrote(self)

    def _leave_unrun(self, call: ServedCall, step: ServerCallStep, standing: Standing) -> None:
        """`standing`: its state under the lock. A held call may enter its gate at this moment, and leaves it
        when its turn comes."""
        if standing is _OUTSIDE:
            return
        if step is _Step.DROP or (step is _Step.REFUSE and standing is not _SLOT):
            call.gate.admission.leave(call, monotonic())

    def _ended_unrun(self, call: ServedCall, standing: Standing) -> None:
        """Handles a call that was answered before its turn. It counts until then, since it still takes room:
        otherwise alternating REQUEST and CANCEL would fill the queues."""
        if standing in (_OUTSIDE, _SLOT):
            self.session.in_flight.add(call.id)
        else:
            self._ended(call)

    def _stop(self, call: ServedCall, why: Error) -> None:
        call.stopped = why
        if call.stop is not None:
            call.stop()

    def _answered(self, call: ServedCall) -> bool:
        """The handler has returned, or never runs: whether an answer is expected."""
        if call.state is _ENDED:
            self._forget(call)
            return False
        if call.state is _RUNNING and call.deadline <= monotonic():
            call.on(_Event.EXPIRED)  # the client has given the call up at the same moment
        step = call.on(_Event.ANSWERED)
        self._ended(call)
        if step is _Step.ANSWER:
            return True
        self.session.in_flight.discard(call.id)
        return False

    def _forget(self, call: ServedCall) -> None:
        """Removes a call that was answered before its turn."""
        if self.calls.get(call.id) is call:
            self._ended(call)
            self.session.in_flight.discard(call.id)

    def _ended(self, call: ServedCall) -> None:
        is_admitted = call.in_order if call.oneway else self.calls.pop(call.id, None) is not None
        if not is_admitted:
            return  # it ran where it was read
        self._ended_bytes += len(call.payload)
        if isinstance(call, StreamCall):
            self._streams -= 1
            call.release()

    def _advance(self, offer: Offer, ready: list[ServedCall]) -> None:
        """A one-way call has ended: the next one starts, and all calls that waited between the two."""
        self._oneways[offer] -= 1
        if not self._oneways[offer]:
            del self._oneways[offer]
        while self._ordered:
            call = self._ordered.popleft()
            ready.append(call)
            if call.oneway:
                return

    # Events of running calls, on the IO thread

    def charge_streams(self, more: int) -> None:
        self._stream_bytes += more

    def refuse(self, call: ServedCall, why: str) -> None:
        call.handler.counters.on_refused(call.count)
        if call.handler.watched:
            call.ends(Code.OVERLOADED)
        if call.standing is not _OUTSIDE:
            call.gate.admission.leave(call, monotonic())
        with self.lock:
            if self._answered(call):
                self.session.fail(call.id, call.route, call.count, not_executed(Code.OVERLOADED, why))

    def cancel(self, id_: int) -> None:
        call = self.calls.get(id_)
        if call is not None:
            self.end_early(call, _Event.CANCELLED, Error(Code.CANCELLED, "the client has given the call up"))

    def stream_event(self, event: DataReceived | CreditReceived | EndReceived) -> None:
        call = self.calls.get(event.id)
        if call is None:
            self.session.dropped += 1  # it ended while this was in the same read
            return
        error: Error | None = None
        with self.lock:
            if isinstance(event, DataReceived):
                if call.on(_Event.DATA) is _Step.DELIVER:
                    error = call.data_arrived(event)
            elif isinstance(event, CreditReceived):
                if call.on(_Event.CREDIT) is _Step.DELIVER:
                    error = call.credit_arrived(event.bytes)
            elif call.on(_Event.END_OF_STREAM) is _Step.DELIVER:
                error = call.end_arrived()
        if error is not None:
            self.fault(call, error)

    def abandon(self) -> None:
        """The client has disconnected. Calls that have not started never will, except one-way ones, which
        count as sent; running handlers are asked to stop.
        """
        why = Error(Code.CONNECTION_LOST, "the client is gone")
        for call in list(self.calls.values()):
            self.end_early(call, _Event.LOST, why)

    def turn_soon(self, call: StreamCall) -> None:
        self._io.turn_soon(call)

    def written(self) -> None:
        self._io.wrote(self)

    def _uncrowd(self) -> bool:
        """There is room in the output again: waiting streams continue. Returns whether they have sent
        more."""
        with self.lock:
            calls, self.crowded = self.crowded, {}
            for call in calls:
                call.push()
                call.tell()
            return bool(self.session.out)

    # Unread replies hold calls back

    def may_begin(self, call: ServedCall) -> bool:
        return call.oneway or self.session.out_bytes <= OUTPUT_LIMIT

    def hold(self, call: ServedCall) -> bool:
        if self.may_begin(call):
            return False
        if call.standing is not _OUTSIDE:
            call.gate.admission.leave(call, monotonic())
        with self.lock:
            self._held.append(call)
            may_begin = self.may_begin(call)
        if may_begin:  # the output was written in the meantime, and no other thread would check
            self._release()
            self._io.wrote(self)
        return True

    def _release(self) -> None:
        """Starts some of the held calls. The thread that writes a reply calls this afterwards."""
        with self.lock:
            if self._releasing:  # perhaps further down on this stack
                return
            self._releasing = True
        try:
            left = _RELEASED_AT_ONCE
            while (call := self._next_held(left)) is not None:
                left -= self._begin_again(call)
        except BaseException:
            self._releasing = False
            raise

    def _next_held(self, left: int) -> ServedCall | None:
        with self.lock:
            while left and self._held:
                call = self._held.pop(0)
                if call.state is not _ENDED:
                    return call
                self._forget(call)
            self._releasing = False
            return None

    def _begin_again(self, call: ServedCall) -> bool:
        """A held call has its turn again. False: its gate has queued or refused it."""
        gate = call.handler.gate
        now = monotonic()
        if gate is not None and now < call.deadline:
            why = gate.admission.enter(call, now)
            if why:
                self.refuse(call, why)
                return False
            if call.standing is _PLACE:
                gate.admission.queue(call, now)
                return False
        self._io.start(call)
        return True

    # Output

    def flush(self) -> None:
        """Sends what is queued, unless another thread does, or the socket has not reported room yet: each
        attempt without room makes the IO thread check, which would try again, and so on."""
        session = self.session
        with self.lock:
            if self._flushing or self.blocked or not session.out:
                return
            self._flushing = True
            size = session.out_bytes
            out = session.take_output()
        while True:
            try:
                written = self.stream.write_now(joined(out, size) if len(out) > FEW_BUFFERS else out)
            except OSError as error:
                self._flushing = False
                self.hang_up(f"connection lost: {error.strerror or error}")
                return
            self.sent += written
            if written < size:
                out = drop_written(out, written)
                size -= written
                if written:
                    continue
                self._block(out, size)
                return
            self._flushing = False
            if self._held:
                self._release()
            if not session.out and not (self.crowded and self._uncrowd()):
                return
            with self.lock:
                if self._flushing or not session.out:
                    return
                self._flushing = True
                size = session.out_bytes
                out = session.take_output()

    def _block(self, rest: list[Buffer], size: int) -> None:
        with self.lock:
            session = self.session
            session.out[:0] = rest
            session.out_bytes += size
            self._flushing = False
            self.blocked = True
        if session.out_bytes < OUTPUT_LIMIT // 2:
            if self.crowded:
                self._uncrowd()
            if self._held:
                self._release()
        self._io.stalled(self)

    def is_read_by(self, loop: Loop) -> bool:
        return self._io is loop

    def hang_up(self, reason: str) -> None:
        """Called on any thread: makes the IO thread close this connection."""
        if not self.broken:
            self.broken = reason
            self.stream.shutdown()
            self._io.look_at(self)

    # For the IO thread

    def must_wait(self) -> bool:
        """Whether the next request may not start, since replies are not read."""
        if self.session.out_bytes <= OUTPUT_LIMIT:
            return False
        self.flush()
        return self.session.out_bytes > OUTPUT_LIMIT

    @property
    def has_room(self) -> bool:
        """Whether requests may start again."""
        return self.session.out_bytes <= OUTPUT_LIMIT // 2

    @property
    def in_flight(self) -> int:
        """Calls that wait or run."""
        return len(self.session.in_flight)

    @property
    def is_greeted(self) -> bool:
        """Whether the client's HELLO has come."""
        return self.session.peer is not None

    @property
    def holds(self) -> int:
        """See Load."""
        waiting = self._admitted_bytes - self._ended_bytes
        return self.session.announced + waiting + self.session.out_bytes + self._stream_bytes

    @property
    def streams(self) -> int:
        """Calls with a stream that are open."""
        return self._streams

    @property
    def owes(self) -> bool:
        """Whether what it holds has changed so much since it was charged that it must be charged again."""
        return not -_CHARGE_STEP < self.holds - self.charged < _CHARGE_STEP

    def watch_progress(self, now: float) -> None:
        session = self.session
        in_message = not session.is_whole and not self.is_paused
        self.progress = Progress(now, self.sent, self.received, session.out_bytes, in_message)

    def lacks_progress(self) -> str:
        """The reason to end the connection if too little was transferred since `progress` was set."""
        before = self.progress
        assert before is not None
        if self.sent - before.sent < min(before.output, LEAST_PROGRESS):
            return f"does not read its replies: {self.session.out_bytes} bytes wait"
        in_message = before.in_message and not self.session.is_whole and not self.is_paused
        if in_message and self.received - before.received < LEAST_PROGRESS:
            return "does not end the frame that it has begun"
        return ""

    @property
    def is_paused(self) -> bool:
        return (
            self.session.out_bytes > OUTPUT_LIMIT
            or self._admitted_bytes - self._ended_bytes > INPUT_LIMIT
            or len(self._ordered) > _BACKLOG_LIMIT
            or bool(self.rest)
        )

    @property
    def is_quiet(self) -> bool:
        """Whether nothing of it waits, it is watched for reading alone, and it owes nothing: so it is after
        nearly every turn, and needs no closer look."""
        return (
            self.watched == READ
            and not (self.blocked or self.rest or self._ordered or self._stream_bytes or self.charged)
            and self._admitted_bytes == self._ended_bytes
            and not self.session.out_bytes
            and self.session.is_whole
        )

    def wanted(self) -> int:
        """The events to watch. Reading pauses while the output, or the waiting requests, exceed their
        limit."""
        return (0 if self.is_paused else READ) | (WRITE if self.blocked else 0)
