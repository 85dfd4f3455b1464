"""R2. The state of one direction of a stream (docs/protocol.md, section 5a). Numbers and bytes only: no
socket, clock or lock.

SendWindow      the receiver's credit that no DATA has used yet
ReceiveWindow   the credit that this side has granted; after the user has taken half of it, it is granted
again
WindowBudget    the limit for all receive windows of a connection together. Each stream has the window that
                HELLO promised; what is left beside all streams that may still be opened goes to streams that
                are read quickly
Outgoing        encoded values on their way into DATA frames
Incoming        DATA frames on their way to the user: checked when they arrive, made whole when taken
"""

from bisect import bisect_right
from collections import deque
from itertools import accumulate, islice

from mf.core.error import Code, Error
from mf.core.server_options import MAX_WINDOWS
from mf.core.service import Payload
from mf.protocol.events import DataReceived
from mf.protocol.frame import DATA_LIMIT, EXTENDED_COUNT, HEADER_SIZE
from mf.protocol.handshake import MAX_WINDOW

LARGEST_WINDOW = 1 << 20
MOST_VALUES = EXTENDED_COUNT - 1


class SendWindow:
    """The credit for sending."""

    __slots__ = ("credit",)

    def __init__(self, credit: int) -> None:
        self.credit = credit

    def add(self, count: int) -> bool:
        """False above a sum of 2^31 - 1, which no receiver may grant."""
        if self.credit + count > MAX_WINDOW:
            return False
        self.credit += count
        return True

    def spend(self, cost: int) -> bool:
        """False, and nothing is used, if there is not enough credit."""
        if cost > self.credit:
            return False
        self.credit -= cost
        return True


class WindowBudget:
    """`streams` windows of `window` are promised; the rest of `most` may be granted beside them."""

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
    """The credit of the peer, and the credit to return to it."""

    __slots__ = ("_given", "_owed", "_promised", "window")

    def __init__(self, window: int) -> None:
        self._promised = window
        self.window = window
        self._given = window  # the sender has not used it yet
        self._owed = 0  # taken by the user and not returned yet

    def arrived(self, cost: int) -> bool:
        """A DATA of this cost has arrived. False if the sender had no credit for it."""
        if cost > self._given:
            return False
        self._given -= cost
        return True

    def taken(self, cost: int, budget: WindowBudget) -> int:
        """The user has taken this much. Returns the credit to send now, or 0."""
        self._owed += cost
        if self._owed * 2 < self.window:
            return 0
        # The sender has nearly no credit left although the user reads quickly: a larger window would have
        # helped.
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
        """The stream has ended."""
        budget.give_back(self.window - self._promised)
        self.window = self._promised


class Outgoing:
    """Encoded values that wait to be sent, in order. Many share a frame; a value that is longer than a frame,
    or than the credit, is sent in pieces. `longest`: the receiver's limit for a value, in bytes.

    Many values are appended to `values` itself (cutting.gather), which needs no lock: whatever else happens
    to them in the meantime happens to the first ones.
    """

    __slots__ = ("_at", "longest", "size", "values")

    def __init__(self, longest: int) -> None:
        self.values: list[Payload] = []
        self.longest = longest
        self._at = 0  # bytes of the first value that were sent already
        self.size = 0
        """The bytes that wait, as of the last `add`, `count_again` or `next_frame`."""

    def __len__(self) -> int:
        """The number of values that were not sent completely."""
        return len(self.values)

    def add(self, value: Payload) -> None:
        """Raises Error(MESSAGE_TOO_LARGE)."""
        if len(value) > self.longest:
            text = (
                f"a value of a stream has {len(value)} bytes, the other side accepts {self.longest}: "
                "send less at a time, or raise max_payload there"
            )
            raise Error(Code.MESSAGE_TOO_LARGE, text)
        self.values.append(value)
        self.size += len(value)

    def count_again(self) -> None:
        """Values were appended to `values`."""
        self.size = sum(map(len, self.values)) - self._at

    def clear(self) -> None:
        self.values.clear()
        self._at = self.size = 0

    def next_frame(self, credit: int) -> tuple[Payload, int] | None:
        """Payload and count of one DATA within the credit. None: nothing waits, or it waits for credit."""
        values = self.values
        if not values:
            return None
        room = min(DATA_LIMIT, (credit & ~7) - HEADER_SIZE)
        if room <= 0 and (room < 0 or self._at or values[0]):
            return None
        if self._at or len(values[0]) > room:
            return self._piece(room)
        ends = list(accumulate(map(len, islice(values, MOST_VALUES))))
        count = bisect_right(ends, room)
        payload = b"".join(values[:count])
        del values[:count]
        self.count_again()
        return payload, count

    def _piece(self, room: int) -> tuple[Payload, int]:
        value = self.values[0]
        piece = value[self._at : self._at + room]
        self._at += len(piece)
        is_last = self._at == len(value)
        if is_last:
            del self.values[0]
            self._at = 0
        self.count_again()
        return piece, int(is_last)


class Incoming:
    """See above. What `arrived` refuses ends the call and not the connection.

    `encoding`: that of the schema. `metadata`: whether the first frame may have some.
    """

    __slots__ = (
        "_encoding",
        "_frames",
        "_max_payload",
        "_may_have_metadata",
        "_partial",
        "_spanning",
        "size",
        "window",
    )

    def __init__(self, window: int, encoding: int, max_payload: int, *, metadata: bool) -> None:
        self.window = ReceiveWindow(window)
        self._encoding = encoding
        self._max_payload = max_payload
        self._may_have_metadata = metadata
        self._frames: deque[DataReceived] = deque()
        self._spanning = 0  # received bytes of an incomplete value
        self._partial = bytearray()
        self.size = 0
        """The bytes of values that were not taken."""

    def __len__(self) -> int:
        """The number of frames that were not taken."""
        return len(self._frames)

    def arrived(self, data: DataReceived) -> Error | None:
        """Keeps a frame, or returns what is wrong with it."""
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
        self.size += length
        return None

    def take(self) -> tuple[Payload, int, int] | None:
        """Whole values, their count, and their cost in the window (of all consumed frames); count 0: only a
        part of a value was taken. None: nothing has arrived.
        """
        if not self._frames:
            return None
        cost = 0
        while self._frames:
            data = self._frames.popleft()
            cost += data.cost
            if data.count and not self._partial:
                self.size -= len(data.payload)
                return data.payload, data.count, cost
            self._partial += data.payload
            if data.count:
                value, self._partial = self._partial, bytearray()
                self.size -= len(value)
                return value, 1, cost
        return b"", 0, cost

    def ends_whole(self) -> bool:
        """Whether the stream may end here: not within a value."""
        return not self._spanning

    def clear(self) -> None:
        self._frames.clear()
        self._partial = bytearray()
        self.size = 0


def _violation(text: str) -> Error:
    return Error(Code.PROTOCOL_ERROR, text)
