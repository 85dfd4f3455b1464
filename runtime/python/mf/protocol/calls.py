"""R2. What a client waits for: a request's reply, a binding, a descriptor; and the requests in flight, by
id.

Who waits, and how, is the link's business: `waiter` and `on_done` are its fields, and only it touches them.
"""

from collections.abc import Callable
from typing import Any

from mf.core.error import Error
from mf.core.service import Payload


class Pending:
    """Something that ends once. `failure` is set when it ended for a local reason (connection, deadline)."""

    __slots__ = ("deadline", "done", "failure", "on_done", "waiter")

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.done = False
        self.failure: Error | None = None
        self.waiter: Any = None
        self.on_done: Callable[[Any], None] | None = None


class Call(Pending):
    """One REQUEST under way. After `done`, either `failure` is set or status, count, encoding and payload
    are."""

    __slots__ = ("count", "encoding", "end", "id", "payload", "route", "status")

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.done = False
        self.failure = None
        self.waiter = None
        self.on_done = None
        self.id = 0
        self.end = 0
        self.route = 0
        self.status = 0
        self.count = 0
        self.encoding = 0
        self.payload: Payload = b""


class Binding(Pending):
    """A range of routes for one (service, agent). `status` is a code once done; `text` says why it was
    refused."""

    __slots__ = ("agent", "first", "methods", "service", "status", "text")

    def __init__(self, service: str, agent: str, methods: int, deadline: float) -> None:
        super().__init__(deadline)
        self.service = service
        self.agent = agent
        self.methods = methods
        self.first = -1
        self.status = 0
        self.text = ""


class Description(Pending):
    """The descriptor that the server has of a service; empty if it has none."""

    __slots__ = ("service", "text")

    def __init__(self, service: str, deadline: float) -> None:
        super().__init__(deadline)
        self.service = service
        self.text = ""


class CallTable:
    """Requests in flight by the lower half of their id. `dropped` counts answers to calls given up."""

    __slots__ = ("by_id", "dropped", "last")

    def __init__(self) -> None:
        self.by_id: dict[int, Call] = {}
        self.last = 0
        self.dropped = 0

    def add(self, call: Call) -> int:
        """Gives the call its id: counts up from 1, wraps after 2^32 - 1 to 1, skips ids still in flight."""
        id_ = self.last + 1
        by_id = self.by_id
        while id_ > 0xFFFFFFFF or id_ in by_id:
            id_ = id_ + 1 if id_ < 0xFFFFFFFF else 1
        self.last = id_
        call.id = id_
        by_id[id_] = call
        return id_
