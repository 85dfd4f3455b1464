"""R2. What a client waits for: a request's reply, a binding, a descriptor; and the table of requests in
flight.

The link implements waiting: `waiter` and `on_done` are its fields, and only it uses them.
"""

from collections.abc import Callable
from typing import Any

from mf.core.error import Error
from mf.core.service import Payload
from mf.protocol.call_table import CallEvent
from mf.protocol.other_schema import Adaptation

LAST_ID = 0xFFFFFFFF


class Pending:
    """Something that ends once. `failure` is set if it ended for a local reason (connection, deadline).

    Most fields keep their defaults in most calls; these are class attributes, which makes calls cheap to
    create.
    """

    done = False
    stream = False
    failure: Error | None = None
    waiter: Any = None
    on_done: Callable[[Any], None] | None = None

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline


class Request(Pending):
    """One REQUEST in progress. After `done`, either `failure` is set, or status, encoding and payload are.

    `ended_by`: the link's event. `binding`: whose routes it uses; a request is not sent any more once that
    one was unbound. `end`: the position of the request's end in all that this side has queued on the
    connection, in bytes from the start. `reply_metadata`: that of the reply, or its fault.
    """

    id = 0
    end = 0
    route = 0
    binding: "Binding | None" = None
    ended_by = CallEvent.REPLIED
    status = 0
    count = 0
    encoding = 0
    payload: Payload = b""
    reply_metadata: dict[str, str] | Error | None = None


class Binding(Pending):
    """A range of routes for one (service, agent). `status` is a code once done; `text` is the reason of a
    refusal. `bound`: whether requests may be sent to it. `used`: when the last one was sent.
    `adaptation`: that to the server's schema, if it differs. `own`: the fingerprint of the client's
    schema. `schema`: the one by which it was asked for at a relay. `peer`: the address of the connection.
    `awaited_by`: these end with it, or before, at a deadline: an answer that comes later is of use to
    others."""

    own = b""
    schema = b""
    awaited_by: tuple[Pending, ...] = ()
    peer = ""
    adaptation: Adaptation | None = None

    def __init__(self, service: str, agent: str, methods: int, deadline: float) -> None:
        super().__init__(deadline)
        self.service = service
        self.agent = agent
        self.methods = methods
        self.first = -1
        self.bound = True
        self.used = 0.0
        self.status = 0
        self.text = ""


class Description(Pending):
    """The server's descriptor of a service; empty if it has none. `asked`: a relay describes servers with
    this fingerprint if there are any; empty: it does not matter."""

    def __init__(self, service: str, deadline: float, asked: bytes = b"") -> None:
        super().__init__(deadline)
        self.service = service
        self.asked = asked
        self.text = ""
        self.annex = ""


class RequestTable:
    """Requests in flight by the lower half of their id. `last` was assigned last; `wrapped`: all ids were
    assigned once. ClientSession.request adds them.
    """

    __slots__ = ("by_id", "last", "wrapped")

    def __init__(self) -> None:
        self.by_id: dict[int, Request] = {}
        self.last = 0
        self.wrapped = False

    def next_free(self, id_: int) -> int:
        """The first id from this one on that is not in flight: ids count up from 1, and after 2^32 - 1 from 1
        again."""
        while id_ > LAST_ID or id_ in self.by_id:
            if id_ >= LAST_ID:
                self.wrapped = True
            id_ = id_ + 1 if id_ < LAST_ID else 1
        return id_
