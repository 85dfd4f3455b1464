"""R2. What a side knows of one direction of a stream (docs/protocol.md, section 5a). Numbers and bytes only:
no socket, clock or lock.

SendWindow      the credit that the receiver has given and that no DATA has used yet
ReceiveWindow   the credit that this side has given; when half of it was taken by the user, it is given anew
WindowBudget    what all receive windows of a connection may sum to. Each stream is sure of the window that
                HELLO promised; what is left beside all that may still be opened goes to streams that are
                emptied quickly
Outgoing        encoded values on their way into DATA frames
Incoming        DATA frames on their way to the user: checked when they arrive, made whole when taken
"""

from collections import deque

from mf.core.error import Code, Error
from mf.core.service import Payload
from mf.protocol.events import DataReceived
from mf.protocol.frame import DATA_LIMIT, EXTENDED_COUNT, HEADER_SIZE
from mf.protocol.handshake import MAX_WINDOW

MAX_WINDOWS = 8 << 20
"""All windows towards one side of a connection, in sum."""

LARGEST_WINDOW = 1 << 20
MOST_VALUES = EXTENDED_COUNT - 1


class SendWindow:
    """What may still be sent."""

    __slots__ = ("credit",)

    def __init__(self, credit: int) -> None:
        self.credit = credit

    def add(self, count: int) -> bool:
        """False: above 2^31 - 1 in sum, which no receiver may give."""
        if self.credit + count > MAX_WINDOW:
            return False
        self.credit += count
        return True

    def spend(self, cost: int) -> bool:
        """False, and nothing is used, if there is not so much."""
        if cost > self.credit:
            return False
        self.credit -= cost
        return True


class WindowBudget:
    """`streams` of `window` each are promised; the rest of `most` may be given beside them."""

    __slots__ = ("left",)

    def __init__(self, streams: int, window: int, most: int = MAX_WINDOWS) -> None:
        self.left = max(most - streams * window, 0)

    def take(self, count: int) -> bool:
        if count > self.left:
            return False
        self.left -= count
        return True

    def give_back(self, count: int) -> None:
        self.left += count


class ReceiveWindow:
    """What the peer may still send, and what this side owes it."""

    __slots__ = ("_given", "_owed", "_promised", "window")

    def __init__(self, window: int) -> None:
        self._promised = window
        self.window = window
        self._given = window  # of which the sender has not used any yet
        self._owed = 0  # taken by the user and not given back yet

    def arrived(self, cost: int) -> bool:
        """A DATA of this cost has come. False: the sender had no credit for it."""
        if cost > self._given:
            return False
        self._given -= cost
        return True

    def taken(self, cost: int, budget: WindowBudget) -> int:
        """The user has taken so much. Returns the credit to send now, 0: not yet."""
        self._owed += cost
        if self._owed * 2 < self.window:
            return 0
        # The sender is out of credit, or nearly so, though this side has kept up with it: a wider window
        # would have helped.
        if self._given * 4 < self.window < LARGEST_WINDOW:
            more = min(self.window, LARGEST_WINDOW - self.window)
            if budget.take(more):
                self.window += more
                self._owed += more
        credit = self._owed
        self._given += credit
        self._owed = 0
        return credit

    def release(self, budget: WindowBudget) -> None:
        """The stream is over."""
        budget.give_back(self.window - self._promised)
        self.window = self._promised


class Outgoing:
    """Encoded values that wait to be sent, in order. Many share a frame; one that is longer than a frame, or
    than the credit, goes in pieces. `max_payload`: the longest value that the receiver takes.
    """

    __slots__ = ("_at", "_max_payload", "_values", "size")

    def __init__(self, max_payload: int) -> None:
        self._values: deque[Payload] = deque()
        self._max_payload = max_payload
        self._at = 0  # bytes of the first value that were sent already
        self.size = 0

    def __len__(self) -> int:
        """Values that were not sent to their ends."""
        return len(self._values)

    def add(self, value: Payload) -> None:
        """Raises Error(MESSAGE_TOO_LARGE)."""
        if len(value) > self._max_payload:
            text = (
                f"a value of a stream has {len(value)} bytes, the other side accepts {self._max_payload}: "
                "send less at a time, or raise max_payload there"
            )
            raise Error(Code.MESSAGE_TOO_LARGE, text)
        self._values.append(value)
        self.size += len(value)

    def clear(self) -> None:
        self._values.clear()
        self._at = self.size = 0

    def next_frame(self, credit: int) -> tuple[Payload, int] | None:
        """Payload and count of one DATA that `credit` is enough for. None: nothing waits, or it waits for
        credit."""
        values = self._values
        if not values:
            return None
        room = min(DATA_LIMIT, (credit & ~7) - HEADER_SIZE)
        if room <= 0 and (room < 0 or self._at or values[0]):
            return None
        if self._at or len(values[0]) > room:
            return self._piece(room)
        parts: list[Payload] = []
        length = 0
        while values and len(parts) < MOST_VALUES and length + len(values[0]) <= room:
            value = values.popleft()
            length += len(value)
            parts.append(value)
        self.size -= length
        return b"".join(parts), len(parts)

    def _piece(self, room: int) -> tuple[Payload, int]:
        value = self._values[0]
        piece = value[self._at : self._at + room]
        self._at += len(piece)
        self.size -= len(piece)
        if self._at < len(value):
            return piece, 0
        self._values.popleft()
        self._at = 0
        return piece, 1


class Incoming:
    """See above. What `arrived` refuses ends the call and not the connection.

    `encoding`: the one that the schema plans. `metadata`: whether the first frame may have some.
    """

    __slots__ = (
        "_encoding",
        "_frames",
        "_max_payload",
        "_may_have_metadata",
        "_partial",
        "_spanning",
        "window",
    )

    def __init__(self, window: int, encoding: int, max_payload: int, *, metadata: bool) -> None:
        self.window = ReceiveWindow(window)
        self._encoding = encoding
        self._max_payload = max_payload
        self._may_have_metadata = metadata
        self._frames: deque[DataReceived] = deque()
        self._spanning = 0  # bytes that have arrived of a value that goes on
        self._partial = bytearray()

    def __len__(self) -> int:
        """Frames that were not taken."""
        return len(self._frames)

    def arrived(self, data: DataReceived) -> Error | None:
        """Keeps a frame; or says what is wrong with it."""
        if not self.window.arrived(data.cost):
            return _violation(f"DATA of {data.cost} bytes without credit")
        if data.metadata is not None and not self._may_have_metadata:
            return _violation("DATA with metadata that is not a server's first")
        self._may_have_metadata = False
        if isinstance(data.metadata, Error):
            return Error(Code.DECODE_ERROR, data.metadata.message)
        if data.encoding != self._encoding:
            text = f"values came in encoding {data.encoding}, planned is {self._encoding}"
            return Error(Code.DECODE_ERROR, text)
        length = len(data.payload)
        if not data.count and not length:
            return _violation("DATA: a piece of a value without bytes")
        if self._spanning and data.count > 1:
            return _violation(f"DATA: {data.count} values in the frame that ends a value")
        if self._spanning and not length:
            return _violation("DATA: a piece of a value without bytes")
        if not data.count or self._spanning:
            self._spanning += length
            if self._spanning > self._max_payload:
                text = f"a value of a stream has more than {self._max_payload} bytes, which are accepted here"
                return Error(Code.MESSAGE_TOO_LARGE, text)
        if data.count:
            self._spanning = 0
        self._frames.append(data)
        return None

    def take(self) -> tuple[Payload, int, int] | None:
        """Whole values, their count, and what they cost of the window (all frames looked at); count 0: more
        of a value was taken, and it goes on. None: nothing has arrived.
        """
        if not self._frames:
            return None
        cost = 0
        while self._frames:
            data = self._frames.popleft()
            cost += data.cost
            if data.count and not self._partial:
                return data.payload, data.count, cost
            self._partial += data.payload
            if data.count:
                value, self._partial = self._partial, bytearray()
                return value, 1, cost
        return b"", 0, cost

    def ends_whole(self) -> bool:
        """Whether the stream may end here: not within a value."""
        return not self._spanning

    def clear(self) -> None:
        self._frames.clear()
        self._partial = bytearray()


def _violation(text: str) -> Error:
    return Error(Code.PROTOCOL_ERROR, text)
