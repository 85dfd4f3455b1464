"""R2. The events of a session. The frequent two, replies and requests, are plain tuples; the others are
objects.

Metadata that violate section 4a of docs/protocol.md end their call and not the connection: an
Error(DECODE_ERROR) takes the place of the metadata, and the payload is empty.
"""

from typing import Any

from mf.core.error import Code, Error
from mf.core.plain_struct import PlainStruct
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


class HelloReceived(PlainStruct):
    """The session is open; the peer's limits are known."""

    __slots__ = __match_args__ = ("hello",)

    def __init__(self, hello: Hello) -> None:
        self.hello = hello


class BindingAnswered(PlainStruct):
    __slots__ = __match_args__ = ("binding",)

    def __init__(self, binding: Binding) -> None:
        self.binding = binding


class DescriptionReceived(PlainStruct):
    __slots__ = __match_args__ = ("description",)

    def __init__(self, description: Description) -> None:
        self.description = description


class GoawayReceived(PlainStruct):
    """The server accepts no request after the one with id `latest` on this connection (0: it accepted none);
    running ones are finished."""

    __slots__ = __match_args__ = ("code", "latest", "reason")

    def __init__(self, code: Code, latest: int, reason: str) -> None:
        self.code = code
        self.latest = latest
        self.reason = reason


class Refused(PlainStruct):
    """The peer refused the session. It is closed."""

    __slots__ = __match_args__ = ("code", "reason")

    def __init__(self, code: Code, reason: str) -> None:
        self.code = code
        self.reason = reason


class Broken(PlainStruct):
    """The peer violated the protocol, or was not admitted (UNAUTHENTICATED). REFUSE is in the output; the
    session is closed."""

    __slots__ = __match_args__ = ("reason", "code")

    def __init__(self, reason: str, code: Code = Code.PROTOCOL_ERROR) -> None:
        self.reason = reason
        self.code = code


class PongReceived(PlainStruct):
    __slots__ = __match_args__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


class BindRequested(PlainStruct):
    """Must be answered by ServerSession.accept or ServerSession.reject before the next event is handled.
    `relayed`: whether it says that it has come through a relay, as those of each relay do."""

    __slots__ = __match_args__ = ("first", "fingerprint", "service", "agent", "methods", "relayed")

    def __init__(
        self,
        first: int,
        fingerprint: bytes,
        service: str,
        agent: str,
        methods: list[str],
        relayed: bool = False,
    ) -> None:
        self.first = first
        self.fingerprint = fingerprint
        self.service = service
        self.agent = agent
        self.methods = methods
        self.relayed = relayed


class UnbindRequested(PlainStruct):
    """The routes from `first` on are unbound; the session has removed them already."""

    __slots__ = __match_args__ = ("first",)

    def __init__(self, first: int) -> None:
        self.first = first


class CancelRequested(PlainStruct):
    """From a client: the reply to this request is not wanted any more, and its streams have ended."""

    __slots__ = __match_args__ = ("id",)

    def __init__(self, id: int) -> None:
        self.id = id


class StreamStopped(PlainStruct):
    """From a server: it reads no more of the parameter stream of this call."""

    __slots__ = __match_args__ = ("id", "call")

    def __init__(self, id: int, call: Any) -> None:
        self.id = id
        self.call = call


class DataReceived(PlainStruct):
    """Values of a stream of the call `id`. `cost` is the part of the window that the frame used. `call`, at a
    client: the request, whose reply may have been in the same read."""

    __slots__ = __match_args__ = ("id", "encoding", "count", "payload", "cost", "metadata", "call")

    def __init__(
        self,
        id: int,
        encoding: int,
        count: int,
        payload: Payload,
        cost: int,
        metadata: MetadataOrFault = None,
        call: Any = None,
    ) -> None:
        self.id = id
        self.encoding = encoding
        self.count = count
        self.payload = payload
        self.cost = cost
        self.metadata = metadata
        self.call = call


class CreditReceived(PlainStruct):
    """So many more bytes of DATA may be sent on the call `id`."""

    __slots__ = __match_args__ = ("id", "bytes", "call")

    def __init__(self, id: int, bytes: int, call: Any = None) -> None:
        self.id = id
        self.bytes = bytes
        self.call = call


class EndReceived(PlainStruct):
    """From a client: the parameter stream of the call `id` is complete."""

    __slots__ = __match_args__ = ("id",)

    def __init__(self, id: int) -> None:
        self.id = id


class DescribeRequested(PlainStruct):
    """Must be answered by ServerSession.describe, with the same `asked`."""

    __slots__ = __match_args__ = ("service", "asked")

    def __init__(self, service: str, asked: bytes = b"") -> None:
        self.service = service
        self.asked = asked


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
