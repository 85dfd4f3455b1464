"""R2. The client's view of a call with a stream: the state machine of call.py, and both directions of its
values.

The link passes what arrives to it; readers and writers take it from here. It has no socket, clock, thread or
lock: the link guards it with its own lock. `on_done` is called for every event, not only at the end.
"""

from typing import Any

from mf.core.error import Code, Error
from mf.core.service import Payload
from mf.protocol.call import Call, RetryBudget, T
from mf.protocol.call_table import CallEvent
from mf.protocol.calls import Pending
from mf.protocol.events import DataReceived
from mf.protocol.frame import Buffer, frame_cost
from mf.protocol.stream import Incoming, Outgoing, SendWindow, WindowBudget


class StreamCall(Call[T]):
    """See above. `reader` and `writer` wait for values and for room; the link ends their waits. `incoming` is
    None if the method has no result stream, `sending` if nothing may be sent (any more).
    """

    stream = True
    reader: Pending | None = None
    writer: Pending | None = None
    incoming: Incoming | None = None
    sending: Outgoing | None = None
    windows: WindowBudget | None = None
    first_metadata: dict[str, str] | None = None
    """The metadata of the first DATA."""
    heard = False
    """A DATA has come."""

    def __init__(
        self, method: Any, deadline: float, budget: RetryBudget, flags: int = 0, body: Buffer = b""
    ) -> None:
        super().__init__(method, deadline, budget, flags, body)
        self.waiter = self  # no thread waits for the call itself: see LinkOutput._done
        self.window = SendWindow(0)

    def opened(
        self, their_window: int, their_max: int, our_window: int, our_max: int, windows: WindowBudget
    ) -> None:
        """The request was written: both directions start."""
        self.windows = windows
        method = self.method
        if method.param_element is not None:
            self.sending = Outgoing(their_max)
            self.window = SendWindow(their_window)
        if method.result_element is not None:
            encoding = method.result_element.encoding
            if self.adapted is not None:
                encoding = self.adapted.result_encoding
            self.incoming = Incoming(our_window, encoding, our_max, metadata=True)

    def may_begin_anew(self) -> bool:
        """The values of a parameter stream are not kept for another attempt."""
        return self.method.param_element is None and not self.heard

    def _begin_again(self) -> None:
        super()._begin_again()
        self.waiter = self

    # Input. Each function returns the failure that ends the call, if the peer violated a rule.

    def data(self, data: DataReceived) -> Error | None:
        self.on(CallEvent.DATA)
        self.heard = True
        if self.incoming is None:
            return Error(Code.PROTOCOL_ERROR, "DATA of a call without a result stream")
        wrong = self.incoming.arrived(data)
        if wrong is None and isinstance(data.metadata, dict):
            self.first_metadata = data.metadata
        return wrong

    def credit(self, count: int) -> Error | None:
        self.on(CallEvent.CREDIT)
        if self.method.param_element is not None and not self.window.add(count):
            return Error(Code.PROTOCOL_ERROR, "CREDIT above 2^31 - 1")
        return None

    def stopped(self) -> Error | None:
        self.on(CallEvent.STOPPED)
        if self.method.param_element is None:
            return Error(Code.PROTOCOL_ERROR, "CANCEL of a call without a parameter stream")
        self.sending = None
        return None

    # Output

    @property
    def is_read(self) -> bool:
        """Whether a reader waits for values at this moment."""
        return self.reader is not None and not self.reader.done

    def next_frame(self) -> tuple[Payload, int] | None:
        """A DATA that may be sent now; it is counted as sent."""
        if self.sending is None:
            return None
        sent = self.sending.next_frame(self.window.credit)
        if sent is not None:
            self.window.spend(frame_cost(len(sent[0])))
        return sent

    def take(self) -> tuple[Payload, int, int] | None:
        """Values, their count (0: only a piece of one has arrived), and the credit to return now. None:
        nothing has arrived."""
        taken = self.incoming.take() if self.incoming is not None else None
        if taken is None:
            return None
        assert self.incoming is not None
        assert self.windows is not None
        payload, count, cost = taken
        return payload, count, self.incoming.window.taken(cost, self.windows)

    def release(self) -> None:
        """The call has ended: its window is available for others. Received values can still be taken."""
        self.sending = None
        if self.incoming is not None and self.windows is not None:
            self.incoming.window.release(self.windows)

    def cut_off(self) -> bool:
        """Whether the stream of a successful call ends within a value."""
        return self.incoming is not None and not len(self.incoming) and not self.incoming.ends_whole()
