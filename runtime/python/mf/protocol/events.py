"""R2. What a session reports. The frequent two, replies and requests, are plain tuples; the others are
objects."""

from typing import Any

from mf.core.error import Code
from mf.core.service import Payload
from mf.protocol.calls import Binding, Call, Description
from mf.protocol.handshake import Hello

Reply = tuple[Call, int, int, Payload]
"""At a client: the call, status, encoding, payload. The count is the request's."""

Request = tuple[Any, int, int, int, int, int, Payload]
"""At a server: what the route stands for (see ServerSession.accept), id, route, flags, deadline word, count,
payload."""


class HelloReceived:
    """The session is open; limits of the peer are known."""

    __slots__ = ("hello",)

    def __init__(self, hello: Hello) -> None:
        self.hello = hello


class BindingAnswered:
    __slots__ = ("binding",)

    def __init__(self, binding: Binding) -> None:
        self.binding = binding


class DescriptionReceived:
    __slots__ = ("description",)

    def __init__(self, description: Description) -> None:
        self.description = description


class GoawayReceived:
    """The server takes no new requests on this connection; those under way are finished."""

    __slots__ = ("code", "reason")

    def __init__(self, code: Code, reason: str) -> None:
        self.code = code
        self.reason = reason


class Refused:
    """The peer refused the session. It is closed."""

    __slots__ = ("code", "reason")

    def __init__(self, code: Code, reason: str) -> None:
        self.code = code
        self.reason = reason


class Broken:
    """The peer broke the protocol. REFUSE is in the output; the session is closed."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


class PongReceived:
    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


class BindRequested:
    """Answer with ServerSession.accept or ServerSession.reject before the next event is looked at."""

    __slots__ = ("agent", "fingerprint", "first", "methods", "service")

    def __init__(self, first: int, fingerprint: bytes, service: str, agent: str, methods: list[str]) -> None:
        self.first = first
        self.fingerprint = fingerprint
        self.service = service
        self.agent = agent
        self.methods = methods


class CancelRequested:
    __slots__ = ("id",)

    def __init__(self, id_: int) -> None:
        self.id = id_


class DescribeRequested:
    """Answer with ServerSession.describe."""

    __slots__ = ("service",)

    def __init__(self, service: str) -> None:
        self.service = service


ClientEvent = (
    Reply
    | HelloReceived
    | BindingAnswered
    | DescriptionReceived
    | GoawayReceived
    | Refused
    | Broken
    | PongReceived
)
ServerEvent = (
    Request
    | HelloReceived
    | BindRequested
    | CancelRequested
    | DescribeRequested
    | Refused
    | Broken
    | PongReceived
)
