"""R5. A request from its arrival to its reply; and, while its handler runs, what `mf.current_call()` tells
about it.

Threads: made by the IO thread, run by exactly one thread, answered once. Only `cancelled` may be set by
another.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mf.core.current import NO_METADATA, CurrentCall
from mf.core.service import Payload
from mf.protocol.frame import ONEWAY

if TYPE_CHECKING:
    from mf.server.connection import Connection
    from mf.server.offer import Handler


class ServedCall(CurrentCall):
    """The call that a handler is running for. For a batch, all its items share one."""

    cancelled: bool
    deadline: float

    __slots__ = (
        "cancelled",
        "connection",
        "count",
        "deadline",
        "flags",
        "handler",
        "id",
        "in_order",
        "oneway",
        "payload",
        "route",
    )

    def __init__(
        self,
        connection: "Connection",
        handler: "Handler",
        id_: int,
        route: int,
        flags: int,
        deadline: float,
        count: int,
        payload: Payload,
    ) -> None:
        self.connection = connection
        self.handler = handler
        self.id = id_
        self.route = route
        self.flags = flags
        self.deadline = deadline
        self.count = count
        self.payload = payload
        self.oneway = flags & ONEWAY
        self.cancelled = False
        self.in_order = False

    @property
    def agent(self) -> str:
        """The agent that was called; empty for a service without `per`."""
        return self.handler.offer.agent

    @property
    def service(self) -> str:
        return self.handler.offer.service.name

    @property
    def method(self) -> str:
        return self.handler.method.name

    @property
    def peer(self) -> str:
        """The caller's address, 'host:port'."""
        return self.connection.peer

    @property
    def request_id(self) -> int:
        """64 bits, unique among the requests of one client: the client's number above, a sequence below."""
        hello = self.connection.session.peer
        return (hello.client_id << 32 if hello else 0) | self.id

    @property
    def metadata(self) -> Mapping[str, str]:
        return NO_METADATA

    def set_reply_metadata(self, key: str, value: str) -> None:
        raise NotImplementedError
