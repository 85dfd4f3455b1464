"""R2. The events of a session. The frequent two, replies and requests, are plain tuples; the others are
objects.

Metadata that violate section 4a of docs/protocol.md end their call and not the connection: an
Error(DECODE_ERROR) takes the place of the metadata, and the payload is empty.
"""

from typing import Any

from mf.core.dataclass import dataclass
from mf.core.error import Code, Error
from mf.core.service import Payload
from mf.protocol.calls import Binding, Description, Request
from mf.protocol.handshake import Hello

MetadataOrFault = dict[str, str] | Error | None
"""None: the frame had no block of metadata."""

Reply = tuple[Request, int, int, Payload]
"""At a client: the call, status, encoding, payload. The count is the request's; the metadata of the reply, or
its fault, is in `call.reply_metadata`."""

RequestReceived = tuple[Any, int, int, int, int, int, Payload, MetadataOrFault]
"""At a server: the route's target (see ServerSession.accept), id, route, flags, deadline word, count,
payload, metadata. A request with a metadata fault must be answered with it."""


@dataclass(slots=True)
class HelloReceived:
    """The session is open; the peer's limits are known."""

    hello: Hello


@dataclass(slots=True)
class BindingAnswered:
    binding: Binding


@dataclass(slots=True)
class DescriptionReceived:
    description: Description


@dataclass(slots=True)
class GoawayReceived:
    """The server accepts no request after the one with id `latest` on this connection (0: it accepted none);
    running ones are finished."""

    code: Code
    latest: int
    reason: str


@dataclass(slots=True)
class Refused:
    """The peer refused the session. It is closed."""

    code: Code
    reason: str


@dataclass(slots=True)
class Broken:
    """The peer violated the protocol, or was not admitted (UNAUTHENTICATED). REFUSE is in the output; the
    session is closed."""

    reason: str
    code: Code = Code.PROTOCOL_ERROR


@dataclass(slots=True)
class PongReceived:
    data: bytes


@dataclass(slots=True)
class BindRequested:
    """Must be answered by ServerSession.accept or ServerSession.reject before the next event is handled."""

    first: int
    fingerprint: bytes
    service: str
    agent: str
    methods: list[str]


@dataclass(slots=True)
class UnbindRequested:
    """The routes from `first` on are unbound; the session has removed them already."""

    first: int


@dataclass(slots=True)
class CancelRequested:
    """From a client: the reply to this request is not wanted any more, and its streams have ended."""

    id: int


@dataclass(slots=True)
class StreamStopped:
    """From a server: it reads no more of the parameter stream of this call."""

    id: int
    call: Any


@dataclass(slots=True)
class DataReceived:
    """Values of a stream of the call `id`. `cost` is the part of the window that the frame used. `call`, at a
    client: the request, whose reply may have been in the same read."""

    id: int
    encoding: int
    count: int
    payload: Payload
    cost: int
    metadata: MetadataOrFault = None
    call: Any = None


@dataclass(slots=True)
class CreditReceived:
    """So many more bytes of DATA may be sent on the call `id`."""

    id: int
    bytes: int
    call: Any = None


@dataclass(slots=True)
class EndReceived:
    """From a client: the parameter stream of the call `id` is complete."""

    id: int


@dataclass(slots=True)
class DescribeRequested:
    """Must be answered by ServerSession.describe, with the same `asked`."""

    service: str
    asked: bytes = b""


ClientEvent = (
    Reply
    | HelloReceived
    | BindingAnswered
    | DescriptionReceived
    | GoawayReceived
    | DataReceived
    | CreditReceived
    | StreamStopped
    | Refused
    | Broken
    | PongReceived
)
ServerEvent = (
    RequestReceived
    | HelloReceived
    | BindRequested
    | UnbindRequested
    | CancelRequested
    | DataReceived
    | CreditReceived
    | EndReceived
    | DescribeRequested
    | Refused
    | Broken
    | PongReceived
)
