"""R0. Interceptors: what a program runs around all calls of a client, of a server, or in light
(docs/interceptors.md). This is their user's view; intercepting.py runs them.
"""

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from enum import IntEnum
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from mf.core.current import CurrentCall
from mf.core.error import Code
from mf.core.outcome import Outcome
from mf.core.service import Method

if TYPE_CHECKING:
    from mf.core.identity import Identity


class CallKind(IntEnum):
    """What a caller has asked for. A server sees a message, not why it was sent: it has calls, bulks (each
    message with several items) and streams."""

    CALL = 0
    BATCH = 1
    BULK = 2
    SCATTERED = 3
    STREAM = 4
    REPLICATED = 5


class InterceptedCall:
    """One call on its way through interceptors, at its client or at its server. All of them see the same
    object."""

    __slots__ = (
        "agent",
        "arguments",
        "deadline",
        "info",
        "items",
        "kind",
        "metadata",
        "notes",
        "request_bytes",
        "served",
        "service",
    )

    service: str
    """The full name of the service."""
    agent: str
    """The agent that was asked for; empty for any, for several, and for a service without `per`."""
    info: Method[Any, Any]
    """The method: `idempotent`, `oneway`, `errors` and so on."""
    kind: CallKind
    items: int
    """1, or the number of requests of a batch or bulk."""
    arguments: Sequence[Any]
    """The parameters without streams; the requests of a batch or bulk."""
    metadata: MutableMapping[str, str]
    """At a client what is sent, which interceptors may change before they go on; at a server a copy of what
    has come."""
    deadline: float
    """When its caller stops waiting, on the monotonic clock. An interceptor of a client may change it before
    it goes on."""
    notes: dict[Any, Any]
    """What interceptors keep for themselves until the call ends, each under a key of its own."""
    request_bytes: int
    """The size of the request at a server; 0 at a client, which has not encoded it yet, and in light."""
    served: CurrentCall | None
    """What `mf.current_call()` gives to the handler; None at a client."""

    @property
    def method(self) -> str:
        """The name of the method."""
        return self.info.name

    @property
    def is_client(self) -> bool:
        """Whether the interceptor is around a call of a client, not around a handler."""
        return self.served is None

    @property
    def peer(self) -> str:
        """The caller's address at a server. Empty at a client: `CallEnd.peer` says which server answered."""
        return "" if self.served is None else self.served.peer

    @property
    def identity(self) -> "Identity | None":
        """What the caller has proved of itself to this server; None at a client."""
        return None if self.served is None else self.served.identity

    @property
    def deadline_left(self) -> float:
        """Seconds until its caller stops waiting."""
        return self.deadline - monotonic()

    def __repr__(self) -> str:
        return f"mf.InterceptedCall({self.service}.{self.method}, {self.kind.name})"


class CallEnd(NamedTuple):
    """How a call has ended."""

    code: Code
    """OK, DECLARED, or that of the failure. OK for a batch, a bulk or a scattered call that was answered:
    `outcomes` says how each item has ended."""
    error: BaseException | None
    """The failure or the declared error; None for OK."""
    value: Any
    """What the caller gets, or the handler has given; None for streams, and if there is an error."""
    outcomes: Sequence[Outcome[Any]] | None
    """Those of a batch, a bulk or a scattered call, in order."""
    seconds: float
    """Since it began."""
    attempts: int
    """Requests that the client has made for it: more than 1 if it was repeated. 1 at a server."""
    peer: str
    """At a client the server of the latest attempt; empty in light, and if none was reached. At a server the
    caller."""
    request_bytes: int
    reply_bytes: int
    """Payloads without the values of streams; 0 in light."""


class Interceptor:
    """Derive from it, override what is needed, and give objects to `mf.Client`, `mf.AsyncClient`,
    `mf.Server`, `mf.AsyncServer` or `mf.Light` as `interceptors`. The first one given is the outermost: it
    begins first and ends last. Any number of threads and tasks may be inside of one at a time.

    For each call: `begin` of all; `call` (or `call_async`), each around the next one; `end` of all that have
    begun, in reverse order.
    """

    def begin(self, call: InterceptedCall) -> None:
        """Called before the call goes on, wherever it is blocking or awaited; it must not wait. To refuse the
        call, raise an `mf.Error` or a declared error: the caller gets it as it is."""

    def call(self, call: InterceptedCall, proceed: Callable[[], Any]) -> Any:
        """Called around a call that blocks: of an `mf.Client`, and of a plain handler. It may wait, and
        returns what the caller shall get: what `proceed()` returns, something else of this type, or a value
        of its own, without going on. At a client `proceed` may be called several times, also on other
        threads, each time for another request; at a server once.

        `proceed` returns the result; for a batch the `mf.BatchCall`, for a bulk the list of outcomes, for a
        stream the open reader (at a server what the handler has returned, to be read).
        """
        del call
        return proceed()

    async def call_async(self, call: InterceptedCall, proceed: Callable[[], Awaitable[Any]]) -> Any:
        """The same around a call that is awaited: of an `mf.AsyncClient`, and of a handler with `async def`.
        For a batch `await proceed()` gives the list of outcomes."""
        del call
        return await proceed()

    def end(self, call: InterceptedCall, end: CallEnd) -> None:
        """Called once for each call whose `begin` has returned, when its end is known, on the thread or task
        that learns it; it must not wait. At a server the reply leaves afterwards. What it raises is logged,
        and changes nothing."""
