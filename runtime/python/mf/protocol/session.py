"""R2. One side of a connection: bytes in, events out, bytes to send. This is the common part of both roles.

How to drive it:
    window = session.window()             where the next bytes go: the given scratch buffer, or a large
    payload's own
    n = read into window
    events = session.received(n)
    session.take_output()                 a gather list, to be written in this order

It never reads a socket, sleeps, locks or asks the time. The scratch buffer belongs to the caller, which may
share it among sessions as long as nothing else is read between window() and received(). Payloads in events
own their bytes. A payload of LARGE bytes or more is received directly into its own buffer, without joining or
copying.
"""

from abc import ABC, abstractmethod
from typing import Any

from mf.core.error import Code
from mf.core.service import Payload
from mf.protocol.cutting import cutting
from mf.protocol.events import (
    Broken,
    CreditReceived,
    DataReceived,
    HelloReceived,
    MetadataOrFault,
    PongReceived,
    Refused,
)
from mf.protocol.foreign import looks_like
from mf.protocol.frame import (
    BIND,
    BOUND,
    CANCEL,
    CONTROL_LIMIT,
    CREDIT,
    DATA,
    DATA_LIMIT,
    DESCRIPTOR,
    ENCODING_MASK,
    END,
    EXTENDED_COUNT,
    EXTENSION,
    EXTENSION_SIZE,
    FIRST_SKIPPABLE,
    GOAWAY,
    HEADER,
    HEADER_SIZE,
    HELLO,
    LAST_TYPE,
    METADATA,
    PADDING,
    PING,
    PONG,
    REFUSE,
    REPLY,
    REQUEST,
    TYPE_NAMES,
    UNBIND,
    Buffer,
    frame_cost,
    pack,
    pack_into,
)
from mf.protocol.handshake import VERSION, Hello
from mf.protocol.large import BELIEVED, in_large_pages
from mf.protocol.metadata import take_metadata
from mf.protocol.state import TABLE, Role, State
from mf.protocol.wire import U32, Violation, pack_text, read_only_str16, to_code

LARGE = 64 * 1024
SCRATCH_SIZE = 256 * 1024

Header = tuple[int, ...]
"""Size, type, flags, route, id, word and count of a frame."""

_unpack_header = HEADER.unpack_from
_MAY_BE_LARGE = (REQUEST, REPLY, DESCRIPTOR)
_HAS_WORD = frozenset((BOUND, REFUSE, GOAWAY))
_HAS_ROUTE = frozenset((BIND, BOUND, UNBIND))
_HAS_ID = frozenset((CANCEL, CREDIT, END, GOAWAY))
_NEEDS_ID = frozenset((CREDIT, END))
_ENCODED = ENCODING_MASK | METADATA
_FOREIGN = ("TLS", "HTTP")
_ENOUGH = 64  # bytes that suffice to recognise another protocol


class Session(ABC):
    """Shared part of ClientSession and ServerSession."""

    __slots__ = (
        "_append",
        "_clean",
        "_filled",
        "_header",
        "_large",
        "_memory",
        "_pad_left",
        "_partial",
        "_row",
        "_scratch",
        "_scratch_view",
        "dropped",
        "has_ended_frame",
        "our_hello",
        "out",
        "out_bytes",
        "peer",
        "peer_max_payload",
        "queued",
        "role",
        "state",
        "version",
    )

    def __init__(self, role: Role, hello: Hello, scratch: bytearray) -> None:
        self.role = role
        functions = cutting()
        self._append = functions.append
        self._memory = functions.memory
        self.our_hello = hello
        self.peer: Hello | None = None
        self.peer_max_payload = 0
        self.version = 0
        """The version that both sides use; 0 before the peer's HELLO."""
        self.dropped = 0
        """How many frames arrived for calls that had ended."""
        self.has_ended_frame = False
        """Whether a frame ended in the bytes that arrived last; some frames make no event."""
        self.out: list[Buffer] = []
        self.out_bytes = 0
        self.queued = 0
        self._scratch = scratch
        self._scratch_view = memoryview(scratch)
        self._partial: bytearray | None = None
        self._large: memoryview | None = None
        self._header: Header = ()
        self._filled = 0
        self._clean = True  # no frame is incomplete
        self._pad_left = 0
        self.state = State.OPENING
        self._row = TABLE[role, State.OPENING]

    # Output

    def take_output(self) -> list[Buffer]:
        """All bytes to write now. The caller owns the list."""
        out = self.out
        self.out = []
        self.out_bytes = 0
        return out

    def ping(self, data: bytes = bytes(8)) -> None:
        """Pings the peer; its answer is a PongReceived event."""
        self._control(PING, data)

    def send_data(self, id_: int, encoding: int, count: int, payload: Buffer) -> None:
        """Queues values of a stream; SendWindow limits the bytes. Only a server's first DATA of a call begins
        with a metadata block, and has METADATA in `encoding` then."""
        self._send(DATA, encoding, 0, id_, 0, count, payload)

    def send_credit(self, id_: int, count: int) -> None:
        """Lets the peer send so many more bytes of DATA on a call."""
        self._control(CREDIT, U32.pack(count), id_=id_)

    def refuse(self, code: Code, reason: str) -> None:
        """Queues REFUSE and closes. Nothing is received or sent afterwards."""
        if self.state != State.CLOSED:
            self._control(REFUSE, pack_text(reason), word=code)
            self._enter(State.CLOSED)

    def close(self) -> None:
        self._enter(State.CLOSED)

    def _control(self, type_: int, payload: Buffer = b"", **fields: int) -> None:
        data = pack(type_, payload, **fields)
        self.out.append(data)
        self.out_bytes += len(data)
        self.queued += len(data)

    def _send(
        self, type_: int, flags: int, route: int, id_: int, word: int, count: int, payload: Buffer
    ) -> None:
        size = self._append(self.out, type_, flags, route, id_, word, count, payload)
        if not size:
            size = pack_into(self.out, type_, flags, route, id_, word, count, payload)
        self.out_bytes += size
        self.queued += size

    def _enter(self, state: State) -> None:
        self.state = state
        self._row = TABLE[self.role, state]

    # Input

    @property
    def is_whole(self) -> bool:
        """Whether no incomplete frame has arrived."""
        return self._clean

    @property
    def announced(self) -> int:
        """Bytes of the large payload that is arriving."""
        return len(self._large) if self._large is not None else 0

    def window(self) -> memoryview:
        """Where to read the next bytes to; never empty."""
        if self._large is not None:
            end = BELIEVED if self._filled < BELIEVED else len(self._large)  # from there on in large pages
            return self._large[self._filled : end]
        return self._scratch_view

    def received(self, count: int) -> list[Any]:
        """`count` bytes were read into the window. Returns their events, in order."""
        events: list[Any] = []
        self._receive(count, 0, events)
        return events

    def _receive(self, count: int, at: int, events: list[Any]) -> None:
        """`count` bytes were read into the window, and those before `at` were handled."""
        if self.state == State.CLOSED:
            return
        used = at
        try:
            if self._large is not None:
                before = self._filled
                self._filled += count
                if before < BELIEVED <= self._filled:
                    in_large_pages(self._large)
                if self._filled == len(self._large):
                    used = count
                    self._finish_large(events)
            elif self._partial is None:
                used = self._parse(self._scratch, count, events, at)
                if used < count:
                    self._partial = self._scratch[used:count]
            else:
                partial = self._partial
                partial += self._scratch_view[:count]
                self._partial = None
                at = 0 if self._pad_left else self._cut(partial, 0, len(partial), events)
                used = self._parse(partial, len(partial), events, at)
                if used < len(partial):
                    del partial[:used]
                    self._partial = partial
        except Violation as violation:
            reason = str(violation)
            self.refuse(violation.code, reason)
            events.append(Broken(reason, violation.code))
        self._clean = self._partial is None and self._large is None and not self._pad_left
        self.has_ended_frame = used > 0

    def _parse(self, data: bytearray, end: int, events: list[Any], at: int = 0) -> int:
        """Handles every whole frame in data[at:end]; returns the start of the rest."""
        if self.state == State.OPENING and (what := looks_like(data[: min(end, _ENOUGH)])) in _FOREIGN:
            hint = "; an address begins with tls:// at both ends, or at none" if what == "TLS" else ""
            raise Violation(f"the peer speaks no MF: its first bytes look like {what}{hint}")
        if self._pad_left:
            at = self._skip_padding(data, end)
        while end - at >= HEADER_SIZE:
            header = _unpack_header(data, at)
            size = header[0]
            type_ = header[1]
            if (type_ > LAST_TYPE or self._row[type_] is None) and not self._skippable(type_):
                self._refuse_header(header)
            if size > CONTROL_LIMIT or size < HEADER_SIZE:
                self._check_size(size, type_, header[6])
            frame_end = at + size
            next_ = at + ((size + 7) & ~7)
            if next_ > end:
                if size - HEADER_SIZE >= LARGE and self._begin_large(events, data, at, end, header):
                    return end
                break
            if next_ != frame_end and data[frame_end:next_] != PADDING[size & 7]:
                raise Violation(f"{_name_of(type_)}: padding is not zero")
            if type_ > LAST_TYPE:
                at = next_
                continue
            at += HEADER_SIZE
            if header[6] == EXTENDED_COUNT:
                header = (*header[:6], self._extended(data, at, size, type_))
                at += EXTENSION_SIZE
            self._frame(events, header, data[at:frame_end])
            at = next_
            if self.state == State.CLOSED:
                return end
        return at

    def _check_size(self, size: int, type_: int, count: int) -> None:
        if size < HEADER_SIZE:
            raise Violation(f"{_name_of(type_)}: size {size} is below {HEADER_SIZE}")
        extension = EXTENSION_SIZE if count == EXTENDED_COUNT and type_ <= LAST_TYPE else 0
        payload = size - HEADER_SIZE - extension
        limit = CONTROL_LIMIT
        if self.state != State.OPENING:
            if type_ in _MAY_BE_LARGE:
                limit = self.our_hello.max_payload
            elif type_ == DATA:
                limit = DATA_LIMIT
        if payload > limit:
            raise Violation(f"{_name_of(type_)}: payload of {payload} bytes, at most {limit} accepted")

    def _skippable(self, type_: int) -> bool:
        return type_ >= FIRST_SKIPPABLE and self.state != State.OPENING

    def _refuse_header(self, header: Header) -> None:
        size, type_, *_ = header
        if not 0 < type_ <= LAST_TYPE:
            raise Violation(f"unknown frame type {type_} (size {size})")
        if self.state == State.OPENING:
            raise Violation(f"{TYPE_NAMES[type_]} before HELLO")
        raise Violation(f"{TYPE_NAMES[type_]} may not be sent now by this side")

    def _extended(self, data: bytearray, at: int, size: int, type_: int) -> int:
        if size < HEADER_SIZE + EXTENSION_SIZE:
            raise Violation(f"{TYPE_NAMES[type_]}: count extension is cut off")
        items, zero = EXTENSION.unpack_from(data, at)
        if items < EXTENDED_COUNT or zero:
            raise Violation(f"{TYPE_NAMES[type_]}: malformed count extension")
        return int(items)

    # Large payloads: header (and extension) are parsed, the payload has its own buffer, the padding is
    # awaited separately.

    def _begin_large(self, events: list[Any], data: bytearray, at: int, end: int, header: Header) -> bool:
        size, type_ = header[:2]
        start = at + HEADER_SIZE
        if header[6] == EXTENDED_COUNT:
            if end - start < EXTENSION_SIZE:
                return False
            header = (*header[:6], self._extended(data, start, size, type_))
            start += EXTENSION_SIZE
        length = at + size - start
        have = min(end - start, length)
        self._large = self._memory(length)
        self._large[:have] = memoryview(data)[start : start + have]
        self._filled = have
        self._header = header
        self._pad_left = -size % 8
        if have == length:  # only padding is missing, and that is not awaited
            self._pad_left -= self._checked_padding(data, start + length, end)
            self._finish_large(events)
        return True

    def _finish_large(self, events: list[Any]) -> None:
        payload = self._large
        assert payload is not None
        self._large = None
        self._frame(events, self._header, payload)

    def _skip_padding(self, data: bytearray, end: int) -> int:
        count = self._checked_padding(data, 0, min(self._pad_left, end))
        self._pad_left -= count
        return count

    def _checked_padding(self, data: bytearray, start: int, end: int) -> int:
        if any(data[start:end]):
            raise Violation("padding is not zero")
        return end - start

    @abstractmethod
    def _cut(self, data: bytearray, at: int, end: int, events: list[Any]) -> int:
        """Handles the plain frames at the start of data[at:end] (mf.protocol.cutting). Returns the start of
        the rest."""

    # Meaning

    @abstractmethod
    def _frame(self, events: list[Any], header: Header, payload: Payload) -> None:
        """A frame that has come in whole."""

    def _control_frame(self, events: list[Any], header: Header, payload: Payload) -> None:
        """Everything but REQUEST and REPLY: checks fields that must be zero, and handles what both roles
        share."""
        _, type_, flags, route, id_, word, count = header
        if type_ == DATA:
            self._data(events, header, payload)
            return
        if (
            flags
            or count
            or (word and type_ not in _HAS_WORD)
            or (route and type_ not in _HAS_ROUTE)
            or (id_ and type_ not in _HAS_ID)
        ):
            raise Violation(f"{TYPE_NAMES[type_]}: a field that must be zero is not")
        if not id_ and type_ in _NEEDS_ID:
            raise Violation(f"{TYPE_NAMES[type_]}: id 0")
        next_state = self._row[type_]
        assert next_state is not None
        if type_ == HELLO:
            self._hello(events, Hello.unpack(payload))
        elif type_ in (PING, PONG):
            self._sign_of_life(events, type_, payload)
        elif type_ == REFUSE:
            events.append(Refused(to_code(word), read_only_str16(payload, "REFUSE")))
        elif type_ == CREDIT:
            self._credit(events, id_, payload)
        else:
            self._role_frame(events, header, payload)
        if self.state != next_state:
            self._enter(next_state)

    def _sign_of_life(self, events: list[Any], type_: int, payload: Payload) -> None:
        if len(payload) != 8:
            raise Violation(f"{TYPE_NAMES[type_]}: {len(payload)} bytes instead of 8")
        if type_ == PING:
            self._control(PONG, payload)
        else:
            events.append(PongReceived(bytes(payload)))

    def _credit(self, events: list[Any], id_: int, payload: Payload) -> None:
        if len(payload) != 4:
            raise Violation(f"CREDIT: {len(payload)} bytes instead of 4")
        (more,) = U32.unpack(payload)
        if not more:
            raise Violation("CREDIT: of 0 bytes")
        call = self._open_call(id_, "CREDIT")
        if call is not None:
            events.append(CreditReceived(id_, more, call))

    def _data(self, events: list[Any], header: Header, payload: Payload) -> None:
        _, _, flags, route, id_, word, count = header
        if flags & ~_ENCODED or route or word or not id_ or count >= EXTENDED_COUNT:
            raise Violation(f"DATA: id {id_}, route {route}, flags {flags:#x}, {count} values")
        call = self._open_call(id_, "DATA")
        if call is None:
            return
        cost = frame_cost(len(payload))
        metadata: MetadataOrFault = None
        if flags & METADATA:
            metadata, payload = take_metadata(payload)
        events.append(DataReceived(id_, flags & ENCODING_MASK, count, payload, cost, metadata, call))

    def _open_call(self, id_: int, what: str) -> Any:
        """The result of `_in_flight` for a running call. None: it has ended, and the frame is dropped. Raises
        Violation for an id that was never used."""
        call = self._in_flight(id_)
        if call is None:
            if self._never_used(id_):
                raise Violation(f"{what}: id {id_} was never used on this connection")
            self.dropped += 1
        return call

    @abstractmethod
    def _in_flight(self, id_: int) -> Any:
        """At a client the call, at a server the id; None if it has ended."""

    @abstractmethod
    def _never_used(self, id_: int) -> bool: ...

    def _hello(self, events: list[Any], hello: Hello) -> None:
        if not hello.lowest <= VERSION <= hello.highest:
            raise Violation(
                f"HELLO: peer speaks versions {hello.lowest} to {hello.highest}, this side {VERSION}"
            )
        self._check_peer(hello)
        self.peer = hello
        self.peer_max_payload = hello.max_payload
        self.version = min(hello.highest, self.our_hello.highest)
        events.append(HelloReceived(hello))

    @abstractmethod
    def _check_peer(self, hello: Hello) -> None:
        """Checks the fields of a HELLO that only one role may use."""

    @abstractmethod
    def _role_frame(self, events: list[Any], header: Header, payload: Payload) -> None:
        """A frame that only this role receives."""


def _name_of(type_: int) -> str:
    return TYPE_NAMES[type_] if type_ <= LAST_TYPE else f"type {type_}"
