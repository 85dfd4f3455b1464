"""R5. A request from its arrival to the end of its handler; and, while that runs, what `mf.current_call()`
tells about it. Its states are those of protocol/server_call.py.

Threads: made by the IO thread, run by exactly one thread or task, answered once. State and `stopped` change
under the lock of the connection only. A request that runs where it was read, on the IO thread, needs no lock
to begin: whatever could end it comes from that thread too.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from threading import Lock
from time import monotonic
from types import MappingProxyType

from mf.core.agent_names import shown_agent
from mf.core.current import NO_METADATA, CurrentCall
from mf.core.error import Code, Error, not_executed
from mf.core.service import Payload
from mf.protocol.events import DataReceived
from mf.protocol.frame import ONEWAY, Buffer
from mf.protocol.metadata import pack_metadata
from mf.protocol.server_call import ServerCall, ServerCallEvent, ServerCallState
from mf.server.admission import Gate, Standing
from mf.server.offer import Handler

_RECEIVED = ServerCallState.RECEIVED
_OUTSIDE = Standing.OUTSIDE


class Caller(ABC):
    """What a call needs of the connection that it came over. Each of these may be called from any thread, and
    without the lock.
    """

    __slots__ = ()

    lock: Lock
    peer: str

    @property
    @abstractmethod
    def client_id(self) -> int: ...

    @abstractmethod
    def started(self, call: "ServedCall", stop: Callable[[], None] | None = None) -> bool:
        """The handler is about to begin. False: it is too late for that, and the call was answered. `stop` is
        called, under the lock, when the handler is to stop.
        """

    @abstractmethod
    def hold(self, call: "ServedCall") -> bool:
        """Whether a call whose turn has come has to wait until its client has read replies; it is started
        again then.
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
        """The client has given the call up, or is gone, or its time is over."""

    @abstractmethod
    def let_go(self, call: "ServedCall") -> None:
        """A call that waited has a slot of its gate, and runs."""

    @abstractmethod
    def fault(self, call: "ServedCall", error: Error) -> None:
        """The client broke the rules of this call: it is answered at once, and its handler is to stop."""


class ServedCall(ServerCall, CurrentCall):
    """The call that a handler is running for. For a batch, all its items share one."""

    __slots__ = (
        "_metadata",
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

    deadline: float

    def __init__(
        self,
        connection: Caller,
        handler: Handler,
        id_: int,
        route: int,
        flags: int,
        deadline: float,
        count: int,
        payload: Payload,
        metadata: dict[str, str] | None,
    ) -> None:
        self.connection = connection
        self.handler = handler
        self.id = id_
        self.route = route
        self.flags = flags
        self.deadline = deadline
        self.count = count
        self.payload = payload
        self.oneway = flags & ONEWAY != 0
        self.state = _RECEIVED
        self.standing = _OUTSIDE
        self.stopped: Error | None = None
        """Why the handler is to stop."""
        self.stop: Callable[[], None] | None = None
        self.in_order = False
        self._metadata = metadata
        self.reply_entries: dict[str, str] | None = None
        """Metadata that the handler has set and that was not sent yet."""

    # What users see

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
    def request_id(self) -> int:
        """The client's number above, a sequence below."""
        return self.connection.client_id << 32 | self.id

    @property
    def cancelled(self) -> bool:
        return self.stopped is not None or self.deadline <= monotonic()

    @property
    def metadata(self) -> Mapping[str, str]:
        return MappingProxyType(self._metadata) if self._metadata else NO_METADATA

    def set_reply_metadata(self, key: str, value: str) -> None:
        reply = {**(self.reply_entries or {}), key: value}
        pack_metadata(reply)  # raises what is wrong with it here, where the user can see who set it
        self.reply_entries = reply

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
        """The block of what was set and not sent yet; empty for none."""
        reply = self.reply_entries
        if not reply:
            return b""
        self.reply_entries = None
        return pack_metadata(reply)

    def data_arrived(self, data: DataReceived) -> Error | None:  # noqa: ARG002
        """Under the lock, as the next two. What the client did wrong, if anything."""
        return _no_stream("DATA", self)

    def end_arrived(self) -> Error | None:
        return _no_stream("END", self)

    def credit_arrived(self, count: int) -> Error | None:  # noqa: ARG002
        return None  # whoever sends no stream needs none

    def release(self) -> None:
        """Under the lock: the call is over, and so is what it holds of its connection."""


def violation(text: str) -> Error:
    """What ends a call because its client broke a rule, but not the connection."""
    return Error(Code.PROTOCOL_ERROR, text)


def _no_stream(frame: str, call: ServedCall) -> Error:
    return violation(f"{frame} for a call of {call.handler}, which has no stream in this direction")
