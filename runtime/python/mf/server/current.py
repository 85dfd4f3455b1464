"""R5. A request from its arrival to the end of its handler, and what `mf.current_call()` returns while that
runs. Its states are those of protocol/server_call.py.

Threads: the IO thread makes it, exactly one thread or task runs it, and it is answered once. State and
`stopped` change only under the lock of the connection. A request that runs on the IO thread, where it was
read, needs no lock to start: only that thread could end it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from threading import Lock
from time import monotonic
from types import MappingProxyType
from typing import Any

from mf.core.agent_names import shown_agent
from mf.core.current import NO_METADATA, CurrentCall
from mf.core.error import Code, Error, HandlerFailed, not_executed
from mf.core.identity import Identity
from mf.core.intercepting import Intercepting, code_of
from mf.core.interceptor import CallKind
from mf.core.outcome import Outcome
from mf.protocol.events import DataReceived, MetadataOrFault, RequestReceived
from mf.protocol.frame import ONEWAY, Buffer
from mf.protocol.metadata import pack_metadata
from mf.protocol.server_call import ServerCall, ServerCallEvent, ServerCallState
from mf.server.admission import Gate, Standing
from mf.server.offer import Handler

_RECEIVED = ServerCallState.RECEIVED
_OUTSIDE = Standing.OUTSIDE


class Caller(ABC):
    """The functions of its connection that a call needs. All are thread-safe, and called without the lock."""

    __slots__ = ()

    lock: Lock
    peer: str

    @property
    @abstractmethod
    def identity(self) -> Identity: ...

    @property
    @abstractmethod
    def client_id(self) -> int: ...

    @abstractmethod
    def admit(self, call: "ServedCall") -> bool:
        """Accepts a request that does not run where it was read. True: it may start now; otherwise it is
        started when its turn comes."""

    @abstractmethod
    def suspends(self, call: "ServedCall", stop: Callable[[], object]) -> None:
        """The handler of a call that began where it was read waits: from now on it runs as one that was
        admitted. `stop` is called, under the lock, when the handler must stop."""

    @abstractmethod
    def started(self, call: "ServedCall", stop: Callable[[], object] | None = None) -> bool:
        """The handler is about to start. False: it is too late, and the call was answered. `stop` is called,
        under the lock, when the handler must stop.
        """

    @abstractmethod
    def may_begin(self, call: "ServedCall") -> bool:
        """Whether its client has read enough replies for this call to begin."""

    @abstractmethod
    def hold(self, call: "ServedCall") -> bool:
        """Whether a call whose turn has come must wait until its client has read replies; it is started again
        then.
        """

    @abstractmethod
    def reply(self, call: "ServedCall", status: int, encoding: int, payload: Buffer) -> None: ...

    @abstractmethod
    def fail(self, call: "ServedCall", error: Error) -> None: ...

    @abstractmethod
    def drop(self, call: "ServedCall") -> None:
        """Ends a call that gets no reply."""

    @abstractmethod
    def end_early(self, call: "ServedCall", event: ServerCallEvent, why: Error) -> None:
        """The client has cancelled the call or disconnected, or its deadline has passed."""

    @abstractmethod
    def let_go(self, call: "ServedCall") -> None:
        """A call that waited has a slot of its gate, and runs."""

    @abstractmethod
    def fault(self, call: "ServedCall", error: Error) -> None:
        """The client violated the rules of this call: it is answered at once, and its handler must stop."""


class ServedCall(ServerCall, CurrentCall):
    """The call of a running handler. All items of a batch share one."""

    __slots__ = (
        "_metadata",
        "_mixed",
        "_way",
        "came",
        "connection",
        "count",
        "deadline",
        "flags",
        "handler",
        "id",
        "in_order",
        "payload",
        "reply_entries",
        "route",
        "standing",
        "stop",
        "stopped",
    )

    _mixed: list[Outcome[Any]] | None
    """The outcomes of its items, if they differ. These three are there only if its handler is watched."""
    _way: Intercepting | None
    came: float
    """When it has arrived."""
    deadline: float
    handler: Handler
    _metadata: MetadataOrFault

    def __init__(self, connection: Caller, event: RequestReceived, deadline: float) -> None:
        self.connection = connection
        self.handler, self.id, self.route, self.flags, _, self.count, self.payload, self._metadata = event
        self.deadline = deadline
        if self.handler.watched:
            self.came = monotonic()
            self._way = self._mixed = None
        self.oneway = self.flags & ONEWAY != 0
        self.state = _RECEIVED
        self.standing = _OUTSIDE
        self.stopped: Error | None = None
        """Why the handler must stop."""
        self.stop: Callable[[], object] | None = None
        self.in_order = False
        self.reply_entries: dict[str, str] | None = None
        """Metadata that the handler has set and that were not sent yet."""

    # For users

    @property
    def agent(self) -> str:
        offer = self.handler.offer
        return shown_agent(offer.service, offer.agent)

    @property
    def service(self) -> str:
        return self.handler.offer.service.name

    @property
    def method(self) -> str:
        return self.handler.method.name

    @property
    def peer(self) -> str:
        return self.connection.peer

    @property
    def identity(self) -> Identity:
        return self.connection.identity

    @property
    def request_id(self) -> int:
        """The client's number in the upper half, a sequence number in the lower."""
        return self.connection.client_id << 32 | self.id

    @property
    def cancelled(self) -> bool:
        return self.stopped is not None or self.deadline <= monotonic()

    @property
    def metadata(self) -> Mapping[str, str]:
        return MappingProxyType(self._metadata) if isinstance(self._metadata, dict) else NO_METADATA

    def set_reply_metadata(self, key: str, value: str) -> None:
        reply = {**(self.reply_entries or {}), key: value}
        pack_metadata(reply)  # raises for invalid metadata here, where the user can see the cause
        self.reply_entries = reply

    # For interceptors, and the metrics of its server

    @property
    def request_bytes(self) -> int:
        return len(self.payload)

    def intercepted_by(self, way: Intercepting) -> bool:
        self._way = way
        return True

    def ends(self, how: Code, error: Error | None = None, size: int = 0) -> None:
        """All its items end so, now; unless their outcomes differ, which `ends_mixed` has said."""
        mixed = self._mixed
        tally = self.handler.tally
        if tally is not None:
            if mixed is None:
                tally.ended(how, self.count)
            for outcome in mixed or ():
                tally.ended(Code.OK if outcome.error is None else _code_of(outcome.error), 1)
            tally.answered(monotonic() - self.came)
        if self._way is not None:
            self._end_way(self._way, how, error, size)

    def ends_mixed(self, outcomes: list[Outcome[Any]]) -> None:
        """Each of its items ends by its own outcome, when it is answered."""
        self._mixed = outcomes

    def _end_way(self, way: Intercepting, how: Code, error: Exception | None, size: int) -> None:
        failure = self.stopped or error or way.failure  # the last is that of a one-way call
        if failure is None and self.deadline <= monotonic():
            failure = Error(Code.DEADLINE_EXCEEDED, "the deadline passed while the handler ran")
        is_bulk = way.call.kind is CallKind.BULK
        if failure is None and self._mixed is not None and not is_bulk:
            failure = self._mixed[0].error
        if isinstance(failure, HandlerFailed):
            failure = failure.instead_of or failure
        outcomes = None
        if is_bulk and failure is None:
            outcomes = way.result if isinstance(way.result, list) else self._mixed
        way.end(
            how if failure is None else code_of(failure),
            failure,
            value=None if is_bulk or failure is not None else way.result,
            outcomes=outcomes,
            peer=self.peer,
            request_bytes=len(self.payload),
            reply_bytes=size,
        )

    # For its gate

    @property
    def gate(self) -> Gate:
        gate = self.handler.gate
        assert gate is not None
        return gate

    def go(self) -> None:
        self.connection.let_go(self)

    def expire(self) -> None:
        self.handler.counters.on_expired(self.count)
        text = "the deadline passed while the call waited to be run"
        self.connection.fail(self, not_executed(Code.DEADLINE_EXCEEDED, text))

    # For the connection

    def reply_metadata(self) -> bytes:
        """The block of metadata that were set and not sent yet; empty for none."""
        reply = self.reply_entries
        if not reply:
            return b""
        self.reply_entries = None
        return pack_metadata(reply)

    def data_arrived(self, data: DataReceived) -> Error | None:  # noqa: ARG002
        """Under the lock, as the next two. Returns the client's violation, if there is one."""
        return _no_stream("DATA", self)

    def end_arrived(self) -> Error | None:
        return _no_stream("END", self)

    def credit_arrived(self, count: int) -> Error | None:  # noqa: ARG002
        return None  # a client that sends no stream needs no credit

    def release(self) -> None:
        """Under the lock: the call has ended, and releases what it holds of its connection."""


def violation(text: str) -> Error:
    """The failure of a call whose client violated a rule; the connection continues."""
    return Error(Code.PROTOCOL_ERROR, text)


def _no_stream(frame: str, call: ServedCall) -> Error:
    return violation(f"{frame} for a call of {call.handler}, which has no stream in this direction")


def _code_of(failure: BaseException) -> Code:
    return failure.code if isinstance(failure, Error) else Code.DECLARED
