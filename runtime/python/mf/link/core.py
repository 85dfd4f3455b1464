"""R4. The common part of all client connections: a session over a stream, its bindings, and the handling of
calls when something arrives or the connection ends. It uses neither threads nor loops: link.py and
async_link.py drive it.

If callers are on several threads, all of this runs under their lock.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import suppress
from math import inf
from time import monotonic
from typing import Any

from mf.core.backoff import LONGEST, Backoff
from mf.core.client_options import DEAD_AFTER
from mf.core.code_class import FOR_GOOD
from mf.core.error import Code, Error, Execution, not_executed
from mf.core.log import quote, warning
from mf.core.server_options import MAX_WINDOWS
from mf.core.service import Payload, ServiceInfo
from mf.protocol.call import Call
from mf.protocol.call_table import CallEvent
from mf.protocol.calls import Binding, Description, Pending, Request
from mf.protocol.client_session import ClientSession
from mf.protocol.events import (
    BindingAnswered,
    Broken,
    CreditReceived,
    DataReceived,
    DescriptionReceived,
    GoawayReceived,
    HelloReceived,
    Refused,
    StreamStopped,
)
from mf.protocol.handshake import Hello
from mf.protocol.other_schema import Adaptation
from mf.protocol.stream import WindowBudget
from mf.protocol.stream_call import StreamCall
from mf.transport.stream import Stream, StreamError

HANDSHAKE_TIMEOUT = 5.0
MOST_SCHEMAS = 2
"""In how many schemas of one service a binding is requested, beside the client's own: several servers may be
behind a relay."""
OF_PARENT = "the connection belongs to the parent process"
SILENCE_TURNS = 5
"""DEAD_AFTER is divided in so many turns: after one silent turn the server is pinged, after three more the
connection ends."""


class Remembered:
    """What is remembered of an address beyond one connection (mf.route.balance)."""

    __slots__ = ("broke",)

    def __init__(self) -> None:
        self.broke = False
        """Whether it broke the protocol instead of sending a greeting, and this was logged."""


BindingKey = tuple[str, bytes, str, bytes]
"""The service, the client's schema of it, since a program may have code of several, the agent, and the schema
by which it was asked for at a relay."""


def binding_key(service: ServiceInfo, agent: str, schema: bytes) -> BindingKey:
    return service.name, service.fingerprint, agent, schema


def call_back(ended: Iterable[Pending]) -> None:
    """Without a lock: calls the callbacks of what has ended."""
    for pending in ended:
        if pending.on_done is not None:
            pending.on_done(pending)


def split_overdue(calls: Iterable[Request], now: float) -> tuple[list[Request], float]:
    """Those whose deadline has passed, and the earliest deadline of the others."""
    overdue: list[Request] = []
    earliest = inf
    for call in calls:
        if call.deadline <= now:
            overdue.append(call)
        elif call.deadline < earliest:
            earliest = call.deadline
    return overdue, earliest


class LinkCore(ABC):
    """Owns the stream and the session. Ends for good when the stream does: `usable` is false then and
    `failure` has the reason.

    `heard` counts what has arrived. `standing`: what is known about the server's address. `dead_after`: so
    many silent seconds, while a reply is awaited, end it; 0: never.
    """

    __slots__ = (
        "__weakref__",
        "_adaptations",
        "_asked",
        "_bindings",
        "_calm",
        "_greetings",
        "_orphans",
        "_pinged_at",
        "_session",
        "_silent",
        "_silent_since",
        "_stream",
        "_turn",
        "_windows",
        "failure",
        "heard",
        "refuses_until",
        "standing",
        "usable",
    )

    def __init__(
        self,
        stream: Stream,
        hello: Hello,
        scratch: bytearray,
        standing: Remembered | None = None,
        dead_after: float = DEAD_AFTER,
    ) -> None:
        self._stream = stream
        self._session = ClientSession(hello, scratch)
        self._bindings: dict[BindingKey, Binding] = {}
        self._asked: dict[BindingKey, Binding] = {}  # not answered yet
        self._adaptations: dict[tuple[str, bytes, bytes], Adaptation] = {}
        self._greetings: list[Pending] = []  # waits for HELLO
        self._windows: WindowBudget | None = None
        self._orphans: list[StreamCall[Any]] = []
        self._calm = Backoff()
        self.refuses_until = 0.0
        """The server was overloaded: until then other servers are preferred."""
        self.usable = True
        self.failure: Error | None = None
        self.heard = 0
        self.standing: Any = standing or Remembered()
        self._turn = dead_after / SILENCE_TURNS or float("inf")
        self._silent = 0.0  # seconds in which replies were awaited, in total, since `heard` had this value:
        self._silent_since = 0
        self._pinged_at = 0.0  # 0: something has arrived since, or it was not pinged

    @property
    def peer(self) -> str:
        return self._stream.peer

    def refused(self, now: float) -> None:
        """The server has refused a call as OVERLOADED. Refusals in the pause that follows are part of the
        same overload."""
        if now < self.refuses_until:
            return
        if now > self.refuses_until + LONGEST:
            self._calm.reset()
        self.refuses_until = now + self._calm.next()

    @property
    def in_flight(self) -> int:
        return len(self._session.calls.by_id)

    @property
    def peer_max_payload(self) -> int:
        return self._session.peer_max_payload

    @property
    def peer_hello(self) -> Hello | None:
        return self._session.peer

    def is_to(self, nonce: bytes) -> bool:
        """Whether the server's HELLO has this nonce."""
        hello = self._session.peer
        return hello is not None and hello.nonce == nonce

    # For drivers of calls

    def refusal(self, refused: Binding) -> str:
        return f"{self.peer}: {refused.text}" if refused.text else f"{self.peer} refuses {refused.service}"

    # `schema` is a fingerprint that a relay was said to have servers of, and empty for a server: that has one
    # schema, whatever was said of it. Bindings and adaptations are known by it.

    def is_unlearned(self, service: ServiceInfo, schema: bytes) -> bool:
        """Whether the schema is another one than the client's, and not known here."""
        known = (service.name, service.fingerprint, schema) in self._adaptations
        return schema not in (b"", service.fingerprint) and not known

    def _ask_for(self, service: ServiceInfo, agent: str, schema: bytes) -> Binding:
        """The binding that was requested, and is not answered yet; requests it now if there is none. Raises
        Error, NOT_EXECUTED."""
        key = binding_key(service, agent, schema)
        asked = self._asked.get(key)
        if asked is not None:
            return asked
        if not self.usable:
            raise self.gone()
        binding = self._binding_to(service, agent, schema)
        while not self._queue_bind(binding, service):
            if not self._unbind_idle():
                raise not_executed(Code.OVERLOADED, f"{self.peer} takes no more bindings, and all are busy")
        self._asked[key] = binding
        return binding

    def _answered(self, binding: Binding) -> None:
        """The server has answered, or never will. A binding is kept even if no caller waits for it any more:
        the server has it, too."""
        key = (binding.service, binding.own, binding.agent, binding.schema)
        if self._asked.pop(key, None) is not None and binding.failure is None and not binding.status:
            binding.used = monotonic()
            self._bindings[key] = binding
        self._done(binding)
        for waiter in binding.awaited_by:
            self._wake(waiter)

    def _binding_to(self, service: ServiceInfo, agent: str, schema: bytes) -> Binding:
        """A binding to request, in the schema that the server is known to have."""
        adaptation = self._adaptations.get((service.name, service.fingerprint, schema))
        count = len(service.methods) if adaptation is None else len(adaptation.names)
        binding = Binding(service.name, agent, count, inf)
        binding.peer = self.peer
        binding.adaptation = adaptation
        binding.own = service.fingerprint
        binding.schema = schema
        return binding

    def _queue_bind(self, binding: Binding, service: ServiceInfo) -> bool:
        """False: this connection has no routes left."""
        adaptation = binding.adaptation
        if adaptation is not None:
            return self._session.bind(binding, adaptation.fingerprint, adaptation.names)
        names = tuple(method.name for method in service.methods)
        return self._session.bind(binding, service.fingerprint, names)

    def adapt(self, service: ServiceInfo, schema: bytes, refused: Binding | None, said: Description) -> bytes:
        """The server has another schema, which is known now: bindings use it, by the returned `schema`.
        `refused`: the binding that was refused for this; None: it was asked for before. Raises
        Error(SCHEMA_MISMATCH), NOT_EXECUTED, if nothing can be called there.
        """
        # Rare, and slow to import.
        from mf.protocol.adapting import adapting

        if not said.text:
            if refused is None:
                return service.fingerprint  # the answer to BIND says why
            raise not_executed(Code.SCHEMA_MISMATCH, self.refusal(refused))
        found = adapting(service, said.text, said.annex)
        if isinstance(found, str):
            raise not_executed(Code.SCHEMA_MISMATCH, f"schemas differ from {self.peer}: {found}")
        before = b""
        if refused is not None:
            before = service.fingerprint if refused.adaptation is None else refused.adaptation.fingerprint
        if found.fingerprint == before:
            text = "the schema that it describes is not the one that it has"
            raise not_executed(Code.SCHEMA_MISMATCH, f"schemas differ from {self.peer}: {text}")
        key = found.fingerprint if schema else b""
        if key == service.fingerprint:
            return key
        self._adaptations[service.name, service.fingerprint, key] = found.at(self.peer)
        return key

    def bound(self, service: ServiceInfo, agent: str, schema: bytes) -> Binding | None:
        return self._bindings.get(binding_key(service, agent, schema))

    # For mf.route and drivers of calls. Links of threads block within these, and do not suspend
    # (mf.core.immediate).

    @abstractmethod
    async def await_greeting(self, deadline: float) -> None:
        """Waits until the server's HELLO has arrived, the connection has ended, or the deadline passes. Only
        callers that must know the server's identity need that: BIND and requests do not wait for it."""

    @abstractmethod
    async def ask(self, service: ServiceInfo, agent: str, deadline: float, schema: bytes) -> Binding:
        """The binding with the server's answer, which may be a refusal. Raises Error, NOT_EXECUTED, if none
        comes."""

    @abstractmethod
    async def describe(self, description: Description, deadline: float) -> None:
        """Asks the server for its schema, and waits for it. Raises Error, NOT_EXECUTED, if none comes."""

    @abstractmethod
    async def perform(self, call: Call[Any], word: int, now: float) -> None:
        """Sends a request and waits until the call has ended, at most until its deadline. If its caller is
        interrupted, the call ends as CANCELLED."""

    async def room(self, deadline: float) -> None:  # noqa: B027 - links of threads have waited when they send
        """Waits until little waits to be sent, or until the deadline: one-way calls have no replies that
        limit them."""

    @abstractmethod
    def start(self, call: Call[Any], word: int, now: float) -> bool:
        """Sends a request without waiting for its reply. A one-way request has none. False: it was not sent,
        and has ended."""

    @abstractmethod
    def flush(self) -> None:
        """Sends what is queued."""

    @abstractmethod
    def abandon(self, call: Request, event: CallEvent, failure: Error) -> bool:
        """The caller gives the call up: it ends with this failure, also at the server. False: it had
        ended."""

    @abstractmethod
    def take_values(self, call: StreamCall[Any]) -> tuple[Payload, int] | None:
        """Some received values, and their count; 0 if there is only a piece of one. None: nothing."""

    @abstractmethod
    def send_values(self, call: StreamCall[Any]) -> bool:
        """Queues values as far as there is credit. False: some wait for more."""

    @abstractmethod
    def end_values(self, call: StreamCall[Any]) -> None:
        """Ends the stream of sent values. No value may wait for credit any more."""

    @abstractmethod
    def orphan(self, call: StreamCall[Any]) -> None:
        """Cancels a call soon. For finalizers, which may run on any thread."""

    # Silence

    @abstractmethod
    def ping(self, now: float) -> None:
        """Pings the server; does nothing while an earlier ping is unanswered."""

    @abstractmethod
    def look_for_life(self, now: float) -> None:
        """Reads what has arrived, if no other thread reads."""

    def _quiet(self, now: float, lasted: float) -> None:
        """Nothing has arrived for this time while replies were awaited. The waits of several calls add up,
        since with short deadlines no single one lasts a turn."""
        if self._silent_since != self.heard:
            self._silent_since = self.heard
            self._silent = 0.0
        self._silent += lasted
        if not self._pinged_at:
            if self._silent * 2 > self._turn:
                self.ping(now)
        elif now - self._pinged_at >= self._turn * (SILENCE_TURNS - 2):
            silence = self._turn * (SILENCE_TURNS - 1)
            self.broken(
                f"{self.peer} does not answer: nothing has come for {silence:g} s, "
                "not even the answer to a ping"
            )

    # Reading

    @abstractmethod
    def _digest(self, count: int) -> bool | None:
        """So many bytes have arrived in the window of the session."""

    def _read_available(self) -> bool:
        """False if nothing was there, or no more will come."""
        try:
            count = self._stream.read_now(self._session.window())
        except BlockingIOError:
            return False
        except OSError as error:
            self._lost(error)
            return False
        if count:
            self._digest(count)
        else:
            self.broken(f"the connection to {self.peer} has ended")
        return count > 0

    # Hooks

    @abstractmethod
    def _done(self, pending: Pending) -> None:
        """Marks it as done, and wakes its waiters."""

    def _wake(self, waiter: Pending | None) -> None:
        if waiter is not None and not waiter.done:
            self._done(waiter)

    @abstractmethod
    def _let_go(self) -> None:
        """The connection has ended: closes the stream as soon as it is not used any more."""

    def _may_write(self) -> bool:
        """Whether no other thread is writing at this moment."""
        return True

    # Sending

    def _may_send(self, call: Call[Any]) -> bool:
        """False: it has ended with a failure."""
        session = self._session
        binding = call.binding
        if self.usable and len(call.body) <= session.peer_max_payload:
            if binding is None or binding.bound:
                return True
            call.failure = not_executed(Code.UNAVAILABLE, f"{binding.service} was unbound just now")
        elif self.usable:
            text = (
                f"the request has {len(call.body)} bytes, {self.peer} takes at most "
                f"{session.peer_max_payload}; send it in parts, or raise max_payload of the server"
            )
            call.failure = not_executed(Code.MESSAGE_TOO_LARGE, text)
        else:
            call.failure = self.gone()
        call.ended_by = CallEvent.REFUSED
        call.done = True
        return False

    def _request(self, call: Call[Any], word: int) -> bool:
        """Queues the request. False: it has ended with a failure."""
        if not self._may_send(call):
            return False
        if isinstance(call, StreamCall) and not self._may_open(call):
            return False
        self._session.request(call, call.flags, word, call.items, call.body)
        call.written()
        if isinstance(call, StreamCall):
            self._opened(call)
        return True

    def _may_open(self, call: StreamCall[Any]) -> bool:
        """Whether one more stream fits in the limit for all windows towards this side."""
        window = self._session.our_hello.stream_window
        if call.method.result_element is not None:
            streams = self._session.calls.by_id.values()
            opened = sum(isinstance(each, StreamCall) and each.incoming is not None for each in streams)
            if (opened + 1) * window > MAX_WINDOWS:
                text = (
                    f"{opened} streams of {self.peer} are open, as many as a connection takes with a "
                    f"stream window of {window} bytes"
                )
                call.failure = not_executed(Code.OVERLOADED, text)
                call.ended_by = CallEvent.REFUSED
                call.done = True
                return False
        return True

    def _opened(self, call: StreamCall[Any]) -> None:
        session = self._session
        ours, theirs = session.our_hello, session.peer
        assert theirs is not None  # it arrived before BOUND
        if self._windows is None:
            self._windows = WindowBudget(theirs.max_streams, ours.stream_window)
        call.opened(
            theirs.stream_window, theirs.max_payload, ours.stream_window, ours.max_payload, self._windows
        )

    def _queue_values(self, call: StreamCall[Any]) -> None:
        element = call.method.param_element
        assert element is not None
        encoding = element.encoding if call.adapted is None else call.adapted.param_encoding
        while not call.done and (frame := call.next_frame()) is not None:
            self._session.send_data(call.id, encoding, frame[1], frame[0])

    def _no_answer(self) -> str:
        if self._session.peer is None:  # no HELLO: it may not be a server at all
            return f"connect {self.peer}: no answer within the deadline"
        return f"no reply from {self.peer} within the deadline"

    def gone(self) -> Error:
        """The failure for a call that comes too late for this connection."""
        if self.failure is None or self.failure.code == Code.SHUTTING_DOWN:
            return self._stopping()
        code = self.failure.code if self.failure.code in FOR_GOOD else Code.UNAVAILABLE
        return not_executed(code, self.failure.message)

    def _stopping(self) -> Error:
        return not_executed(Code.SHUTTING_DOWN, f"{self.peer} is stopping; use another instance")

    def _unbind_idle(self) -> bool:
        """Gives up the least recently used binding. False: all have calls."""
        busy = {call.binding for call in self._session.calls.by_id.values()}
        idle = [(key, binding) for key, binding in self._bindings.items() if binding not in busy]
        if not idle:
            return False
        key, binding = min(idle, key=lambda each: each[1].used)
        del self._bindings[key]
        binding.bound = False
        self._session.unbind(binding)
        return True

    # Events other than replies

    def _rare(self, event: Any, finished: list[Pending]) -> None:
        """The caller runs the callbacks of `finished`."""
        if isinstance(event, (DataReceived, CreditReceived, StreamStopped)):
            self._stream_event(event, finished)
        elif isinstance(event, HelloReceived):
            self.standing.broke = False
            self._greeted()
        elif isinstance(event, BindingAnswered):
            self._answered(event.binding)
        elif isinstance(event, DescriptionReceived):
            self._done(event.description)
        elif isinstance(event, GoawayReceived):
            self.usable = False
        elif isinstance(event, Refused):
            text = f"{self.peer} refused the connection: {event.code.name}: {event.reason}"
            self._fail_all(Error(event.code, text), finished)
        elif isinstance(event, Broken):
            if not self.standing.broke:  # once for an address, until it says HELLO
                self.standing.broke = True
                warning("%s broke the protocol: %s", self.peer, quote(event.reason), peer=self.peer)
            self._fail_all(
                Error(Code.PROTOCOL_ERROR, f"protocol error of {self.peer}: {event.reason}"), finished
            )

    def _stream_event(
        self, event: DataReceived | CreditReceived | StreamStopped, finished: list[Pending]
    ) -> None:
        """Something has arrived for a call of the session."""
        call = event.call
        if not isinstance(call, StreamCall):
            wrong: Error | None = Error(Code.PROTOCOL_ERROR, "a part of a stream, of a call that has none")
        elif isinstance(event, DataReceived):
            wrong = call.data(event)
            self._wake(call.reader)
        else:
            wrong = call.credit(event.bytes) if isinstance(event, CreditReceived) else call.stopped()
            self._wake(call.writer)
        if wrong is not None:
            self._cancel(call, CallEvent.CANCELLED, wrong)
        if call.on_done is not None:
            finished.append(call)

    def _cancel(self, call: Request, event: CallEvent, failure: Error) -> None:
        """Ends a call in flight, also at the server."""
        self._session.cancel(call)
        call.ended_by = event
        call.failure = failure
        self._done(call)

    def _cancel_orphans(self) -> None:
        while self._orphans:
            failure = Error(Code.CANCELLED, "the stream was dropped by its holder")
            self.abandon(self._orphans.pop(), CallEvent.CANCELLED, failure)

    def _greeted(self) -> None:
        """HELLO has arrived, or never will."""
        for greeting in self._greetings:
            self._wake(greeting)
        self._greetings.clear()

    def _overdue(self, pending: Pending) -> None:
        if pending.done:
            return
        text = self._no_answer()
        pending.failure = Error(Code.DEADLINE_EXCEEDED, text, Execution.UNKNOWN)
        if isinstance(pending, Request):
            pending.ended_by = CallEvent.EXPIRED
            self._session.cancel(pending)
        self._done(pending)

    # The end

    def close(self) -> None:
        """Ends the connection for its owner; calls in flight end as CANCELLED."""
        self._end(Error(Code.UNAVAILABLE, "the client was closed"), given_up=True)

    def trusted(self) -> bool:
        """See Stream.trusted."""
        return self._stream.trusted()

    def retire(self) -> None:
        """It accepts no new calls, and ends with those in flight. With the lock of the callers."""
        self.usable = False
        self._retire()
        if self.failure is not None:
            self._let_go()

    def broken(self, reason: str) -> None:
        """Ends the connection; calls in flight end as CONNECTION_LOST."""
        self._end(Error(Code.UNAVAILABLE, reason), given_up=False)

    def _lost(self, error: OSError) -> None:
        """The stream has failed."""
        code = error.code if isinstance(error, StreamError) else Code.UNAVAILABLE
        text = f"the connection to {self.peer} has ended"
        if not isinstance(error, ConnectionError):
            text += f": {error.strerror or error}"
        self._end(Error(code, text), given_up=False)

    def _end(self, error: Error, *, given_up: bool) -> None:
        finished: list[Pending] = []
        self._fail_all(error, finished, given_up=given_up)
        call_back(finished)

    def _fail_all(self, error: Error, finished: list[Pending], *, given_up: bool = False) -> None:
        """Ends everything pending, as CANCELLED if the caller gave it up. The caller runs the callbacks of
        `finished`."""
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
        for asked in session.waiting():
            asked.failure = error
            if isinstance(asked, Binding):
                self._answered(asked)
            else:
                self._done(asked)
        self._greeted()
        if error.code == Code.PROTOCOL_ERROR and self._may_write():  # REFUSE, as a courtesy
            with suppress(OSError):
                self._stream.write_now(session.take_output())
        session.close()
        self._stream.shutdown()
        self._let_go()

    def _disown(self) -> None:
        """In a child after a fork: all that is pending ends here, and nothing is sent. The parent goes on."""
        self.usable = False
        self.failure = Error(Code.UNAVAILABLE, OF_PARENT)
        session = self._session
        for call in session.calls.by_id.values():
            call.failure = Error(Code.CONNECTION_LOST, OF_PARENT, Execution.UNKNOWN)
            call.ended_by = CallEvent.LOST
            call.done = True
            if isinstance(call, StreamCall):
                call.reader = call.writer = None
                call.release()
        session.calls.by_id.clear()
        for asked in session.waiting():
            asked.failure = self.failure
            asked.done = True
        session.take_output()
        self._stream.close()

    def _retire(self) -> None:
        """A connection whose server sent GOAWAY ends after the last call on it."""
        session = self._session
        if not self.usable and self.failure is None and not session.calls.by_id and not session.waiting():
            self.failure = self._stopping()
            session.close()
            self._stream.shutdown()
