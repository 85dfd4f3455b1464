"""R5. A call with a stream at its server: received values that are not taken, written values that are not
sent, and the waiting handler. It uses neither threads nor loops; the handler's ends of
its streams are stream_ends.py.

All of it changes under the lock of the connection. `news` counts events that may wake a waiting handler:
data, credit, the end, room in the connection's output. A handler that must wait remembers `news`, releases
the lock to send, and then waits only if the count has not changed.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

from mf.core.error import Code, Error
from mf.core.service import Payload
from mf.protocol.events import DataReceived, RequestReceived
from mf.protocol.frame import DATA_LIMIT, HEADER_SIZE, METADATA, frame_cost
from mf.protocol.metadata import pack_metadata
from mf.protocol.server_call import ServerCallState
from mf.protocol.server_session import ServerSession
from mf.protocol.stream import Incoming, Outgoing, SendWindow, WindowBudget
from mf.server.current import Caller, ServedCall, violation

OUTPUT_LIMIT = 8 << 20
"""Bytes that may wait to be sent on a connection: above, nothing is read from it and no stream continues."""

MOST_WAITING = 16_384  # empty values fill no frame


class BadValueError(Exception):
    """A handler gave a value that cannot be sent; `raised` says why."""

    def __init__(self, raised: Exception) -> None:
        super().__init__(raised)
        self.raised = raised


class StreamCaller(Caller):
    """The functions of its connection that a stream needs, beside those of every call."""

    __slots__ = ()

    session: ServerSession
    budget: WindowBudget
    crowded: "dict[StreamCall, None]"
    """Streams that wait for room in the output."""

    @property
    @abstractmethod
    def account(self) -> str:
        """The peer that is charged for what the connection uses: its identity, or its host."""

    @abstractmethod
    def charge_streams(self, more: int) -> None:
        """Under the lock: streams of the connection hold so many bytes more, or less."""

    @abstractmethod
    def refuse(self, call: "StreamCall", why: str) -> None:
        """Answers a call that has not begun with OVERLOADED."""

    @abstractmethod
    def check_subscription(self, topic: str, agents: str) -> None:
        """Raises Error(PERMISSION_DENIED) if the client may not subscribe to the topic for these agents."""

    @abstractmethod
    def written(self) -> None:
        """Without the lock: sends what is queued."""

    @abstractmethod
    def turn_soon(self, call: "StreamCall") -> None:
        """Makes the IO thread call `call.turn()` soon. Thread-safe, also in a finalizer, which may run while
        this thread holds the lock.
        """


class PushDriver(ABC):
    """Fills a stream when there is credit and room (pushed.py)."""

    __slots__ = ()

    @abstractmethod
    def fill(self) -> None:
        """Under the lock of the connection."""

    @property
    @abstractmethod
    def held_bytes(self) -> int:
        """The bytes of the values that its source keeps for it."""

    @abstractmethod
    def settle(self) -> None:
        """Called after that, without the lock: ends the call when it is time."""

    @abstractmethod
    def shut_down(self) -> None:
        """The server stops."""


class StreamCall(ServedCall):
    """See above."""

    __slots__ = (
        "_data_sent",
        "_held",
        "_wake",
        "credit",
        "dropped",
        "end_received",
        "incoming",
        "is_due",
        "news",
        "outgoing",
        "pushed",
        "unread",
        "waiting",
    )

    connection: StreamCaller

    def __init__(self, connection: StreamCaller, event: RequestReceived, deadline: float) -> None:
        super().__init__(connection, event, deadline)
        session = connection.session
        method = self.handler.method
        hello, peer = session.our_hello, session.peer
        assert peer is not None
        self.incoming: Incoming | None = None
        if method.param_element is not None:
            encoding = method.param_element.encoding
            self.incoming = Incoming(hello.stream_window, encoding, hello.max_payload, metadata=False)
        self.outgoing = Outgoing(session.peer_max_payload)
        self.credit = SendWindow(peer.stream_window)
        self.end_received = False
        self.dropped = False
        """The handler's iterator was garbage-collected. Set by its finalizer, without the lock."""
        self.unread = False
        """The handler wants no more of the parameter stream."""
        self.pushed: PushDriver | None = None
        """The source of the result stream if no handler writes it."""
        self.news = 0
        self.waiting = 0
        self._held = 0
        self._wake: Callable[[], None] | None = None
        self.is_due = False
        """A turn is scheduled that sends what waits."""
        self._data_sent = False

    def driven_by(self, wake: Callable[[], None]) -> None:
        """`wake` is called, under the lock, when there is an event and a handler waits."""
        self._wake = wake

    def tell(self) -> None:
        """Counts an event."""
        self.news += 1
        if self.waiting and self._wake is not None:
            self._wake()

    def _charge(self) -> None:
        """Charges the connection for the values that wait here, after their number has changed."""
        if self.state is ServerCallState.ENDED:
            return
        held = self.outgoing.size
        if self.incoming is not None:
            held += self.incoming.size
        if self.pushed is not None:
            held += self.pushed.held_bytes
        self.connection.charge_streams(held - self._held)
        self._held = held

    # From the client

    def data_arrived(self, data: DataReceived) -> Error | None:
        if self.incoming is None:
            return super().data_arrived(data)
        if self.end_received:
            return violation("DATA after END")
        if self.unread:
            return None  # it crossed the CANCEL
        error = self.incoming.arrived(data)
        if error is None:
            self._charge()
            self.tell()
        return error

    def end_arrived(self) -> Error | None:
        if self.incoming is None:
            return super().end_arrived()
        if self.end_received:
            return violation("END after END")
        if not self.unread and not self.incoming.ends_whole():
            return Error(Code.DECODE_ERROR, "the parameter stream ends within a value")
        self.end_received = True
        self.tell()
        return None

    def credit_arrived(self, count: int) -> Error | None:
        if self.handler.method.result_element is None:
            return None
        if not self.credit.add(count):
            return violation(f"CREDIT of {count} bytes: more than 2^31 - 1 in sum")
        self.push()  # the handler may wait for something else than room
        self.tell()
        return None

    # For the handler, all under the lock

    def take(self) -> tuple[Payload, int] | None:
        """Complete values and their count, 0 if one is incomplete; None if nothing has arrived. Raises the
        reason why the call stops.
        """
        if self.stopped is not None:
            raise self.stopped
        if self.state is ServerCallState.ENDED:
            raise Error(Code.CANCELLED, "the call has been answered")  # a reader that outlived the answer
        assert self.incoming is not None
        taken = self.incoming.take()
        if taken is None:
            return None
        payload, count, cost = taken
        self._charge()
        credit = self.incoming.window.taken(cost, self.connection.budget)
        if credit and not self.end_received:
            self.connection.session.send_credit(self.id, credit)
        return payload, count

    def read_no_more(self) -> None:
        """The handler has dropped its iterator."""
        if self.unread or self.incoming is None:
            return
        self.unread = True
        self.incoming.clear()
        self._charge()
        if not self.end_received and self.is_running:
            self.connection.session.stop_stream(self.id)

    @property
    def is_running(self) -> bool:
        return self.state is ServerCallState.RUNNING

    def add(self, value: Payload) -> None:
        """A value to send. Raises BadValueError for one that the client would refuse."""
        try:
            self.outgoing.add(value)
        except Error as too_large:
            raise BadValueError(too_large) from None

    @property
    def is_full(self) -> bool:
        """Whether the waiting values fill a frame."""
        return self.outgoing.size >= DATA_LIMIT or len(self.outgoing) >= MOST_WAITING

    def push(self) -> None:
        """Queues as many frames as credit and room allow."""
        if len(self.outgoing) and self.stopped is None:
            self._send()
            self._charge()

    def _send(self) -> None:
        outgoing = self.outgoing
        session = self.connection.session
        element = self.handler.method.result_element
        assert element is not None
        while len(outgoing):
            if session.out_bytes > OUTPUT_LIMIT:
                self.connection.crowded[self] = None
                return
            block = pack_metadata(self.reply_entries) if self.reply_entries and not self._data_sent else b""
            room = min(self.credit.credit, HEADER_SIZE + DATA_LIMIT) - len(block)
            frame = outgoing.next_frame(room)
            if frame is None:
                return
            payload, count = frame
            flags = element.encoding
            if block:
                flags |= METADATA
                payload = block + payload
                self.reply_entries = None
            self._data_sent = True
            self.credit.spend(frame_cost(len(payload)))
            session.send_data(self.id, flags, count, payload)

    def becomes_due(self) -> bool:
        """Whether a turn must be scheduled to send what waits, if no more follows. True once until `turn`."""
        if self.is_due:
            return False
        self.is_due = True
        return True

    def turn(self) -> None:
        """A turn of the loop has ended: what waits is sent."""
        self.is_due = False
        if self.pushed is not None:
            self.pushed.fill()
            self._charge()
        else:
            self.push()
        if self.dropped:
            self.read_no_more()

    def release(self) -> None:
        self.outgoing.clear()
        if self.incoming is not None:
            self.incoming.clear()
            self.incoming.window.release(self.connection.budget)
        self.connection.charge_streams(-self._held)
        self._held = 0
        self.connection.crowded.pop(self, None)
        self.tell()
