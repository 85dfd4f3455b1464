"""R2. The server's side of a connection: routes, requests in flight, replies.

The target of a route is an object of the server; the session only stores it. Replies may come in any order.
"""

from collections.abc import Callable
from typing import Any

from mf.core.error import Code, Error, not_executed
from mf.core.service import Payload
from mf.protocol.cutting import cutting
from mf.protocol.events import (
    BindRequested,
    CancelRequested,
    DescribeRequested,
    EndReceived,
    MetadataOrFault,
    UnbindRequested,
)
from mf.protocol.frame import (
    BIND,
    BOUND,
    BULK,
    CANCEL,
    DESCRIBE,
    DESCRIPTOR,
    ENCODING_MASK,
    END,
    GOAWAY,
    HELLO,
    METADATA,
    ONEWAY,
    REPLY,
    REQUEST,
    STREAM,
    UNBIND,
    Buffer,
    is_behind,
)
from mf.protocol.handshake import MAX_ROUTES, Hello, pack_schema, unpack_bind, unpack_schema
from mf.protocol.metadata import take_metadata
from mf.protocol.session import Header, Session
from mf.protocol.state import Role, State
from mf.protocol.wire import (
    U32,
    Violation,
    pack_failure,
    pack_str16,
    pack_text,
    read_str16,
)

Resolve = Callable[[BindRequested], list[Any] | tuple[Code, str]]
"""Answers a BIND: with the targets of its routes, or with a refusal."""

Admit = Callable[[Hello], None]
"""Called once, before this side's HELLO. Raises Unauthenticated to refuse the session."""


class Denied:
    """In the place of the target of a route that the peer may not use. `failure` makes the answer to each of
    its requests."""

    __slots__ = ("failure",)

    def __init__(self, failure: Callable[[], Error]) -> None:
        self.failure = failure


class ServerSession(Session):
    """With `resolve`, BINDs are answered while they are read, so that requests may follow in the same read;
    without it they are events. `in_flight` holds the ids of requests that have been reported and not
    answered. The server counts and limits open streams: a handler may run longer than its call.
    """

    __slots__ = (
        "_admit",
        "_denied",
        "_latest_id",
        "_ranges",
        "_requests",
        "_resolve",
        "_routes",
        "in_flight",
    )

    def __init__(
        self,
        hello: Hello,
        scratch: bytearray,
        resolve: Resolve | None = None,
        admit: Admit | None = None,
    ) -> None:
        super().__init__(Role.SERVER, hello, scratch)
        self._requests = cutting().requests
        self._admit = admit
        self._resolve = resolve
        self._routes: dict[int, Any] = {}
        self._denied: dict[int, Denied] = {}
        """Bound routes that have no target, so that requests to others do not pay for the check."""
        self._ranges: dict[int, int] = {}
        self._latest_id = 0
        self.in_flight: set[int] = set()

    def accept(self, bind: BindRequested, targets: list[Any]) -> None:
        """From now on the target of route `first + i` is targets[i], which may be Denied."""
        for offset, target in enumerate(targets):
            routes = self._denied if isinstance(target, Denied) else self._routes
            routes[bind.first + offset] = target
        self._ranges[bind.first] = len(targets)
        self._control(BOUND, route=bind.first)

    def reject(self, bind: BindRequested, code: Code, reason: str) -> None:
        self._control(BOUND, pack_text(reason), route=bind.first, word=code)

    def describe(self, service: str, descriptor: str, annex: str = "", asked: bytes = b"") -> None:
        """Answers DescribeRequested; an empty descriptor says that the service is unknown."""
        texts = [text.encode() for text in (descriptor, annex)]
        payload = pack_str16(service) + b"".join(U32.pack(len(text)) + text for text in texts)
        self._send(DESCRIPTOR, 0, 0, 0, 0, 0, payload + pack_schema(asked))

    def stop_stream(self, id_: int) -> None:
        """Queues CANCEL: no more of the parameter stream of this call is read; its reply still follows."""
        self._control(CANCEL, id_=id_)

    def reply(
        self,
        id_: int,
        route: int,
        status: int,
        encoding: int,
        count: int,
        payload: Buffer,
        metadata: bytes = b"",
    ) -> None:
        """Answers a request. A payload that exceeds the client's limit becomes MESSAGE_TOO_LARGE. `metadata`:
        a block of pack_metadata."""
        self.in_flight.discard(id_)
        size = len(payload) + len(metadata)
        if size > self.peer_max_payload:
            text = (
                f"the reply has {size} bytes, the client accepts {self.peer_max_payload}: "
                "ask for less, or raise max_payload on both sides"
            )
            self.fail(id_, route, count, Error(Code.MESSAGE_TOO_LARGE, text))
        elif self.state != State.CLOSED:
            if metadata:
                encoding |= METADATA
                payload = metadata + payload
            self._send(REPLY, encoding, route, id_, status, count, payload)

    def fail(self, id_: int, route: int, count: int, error: Error, metadata: bytes = b"") -> None:
        """Answers all items of a request with one failure."""
        self.in_flight.discard(id_)
        if self.state != State.CLOSED:
            flags = METADATA if metadata else 0
            self._send(REPLY, flags, route, id_, error.code, count, metadata + pack_failure(error))

    def goaway(self, code: Code, reason: str) -> None:
        """Requests that arrive from now on are answered with SHUTTING_DOWN."""
        if self.state == State.OPEN:
            self._control(GOAWAY, pack_text(reason), word=code, id_=self._latest_id)
            self._enter(State.DRAINING)

    def received(self, count: int) -> list[Any]:
        if not self._clean or self.state is not State.OPEN:
            return super().received(count)
        events: list[Any] = []
        at = self._requests(
            self._scratch, 0, count, self._routes, self.in_flight, self.our_hello.max_in_flight, events
        )
        if events:
            self._latest_id = events[-1][1]
        if at < count:
            self._receive(count, at, events)
        return events

    def _cut(self, data: bytearray, at: int, end: int, events: list[Any]) -> int:
        if self.state is not State.OPEN:
            return at
        before = len(events)
        most = self.our_hello.max_in_flight
        at = self._requests(data, at, end, self._routes, self.in_flight, most, events)
        if len(events) > before:
            self._latest_id = events[-1][1]
        return at

    def _frame(self, events: list[Any], header: Header, payload: Payload) -> None:
        _, type_, flags, route, id_, word, count = header
        if type_ != REQUEST:
            self._control_frame(events, header, payload)
            return
        if not count or not id_ or not flags & ENCODING_MASK:
            raise Violation(f"REQUEST: id {id_}, {count} items, flags {flags:#x}")
        if flags & STREAM and (flags & (BULK | ONEWAY) or count != 1):
            raise Violation(f"REQUEST: a stream with {count} items, flags {flags:#x}")
        self._latest_id = id_
        metadata: MetadataOrFault = None
        if flags & METADATA:
            metadata, payload = take_metadata(payload)
        oneway = flags & ONEWAY
        target = self._routes.get(route)
        if target is None or self.state == State.DRAINING:
            if not oneway:
                self._turn_away(id_, route, count, target is None)
            elif route in self._denied:
                self._denied[route].failure()  # which has no reply, and is logged
            return
        if not oneway:
            in_flight = self.in_flight
            if id_ in in_flight:
                raise Violation(f"REQUEST: id {id_} is still in flight")
            if len(in_flight) >= self.our_hello.max_in_flight:
                limit = self.our_hello.max_in_flight
                text = f"{limit} requests of this connection are in flight, the most that this server takes"
                self.fail(id_, route, count, not_executed(Code.OVERLOADED, text))
                return
            in_flight.add(id_)
        events.append((target, id_, route, flags, word, count, payload, metadata))

    def _in_flight(self, id_: int) -> int | None:
        return id_ if id_ in self.in_flight else None

    def _never_used(self, id_: int) -> bool:
        return is_behind(id_, self._latest_id)

    def _turn_away(self, id_: int, route: int, count: int, unbound: bool) -> None:
        denied = self._denied.get(route)
        if denied is not None:
            error = denied.failure()
        elif unbound:
            error = not_executed(Code.UNKNOWN_METHOD, f"route {route} is not bound")
        else:
            error = not_executed(Code.SHUTTING_DOWN, "this server is shutting down: use another instance")
        self.fail(id_, route, count, error)

    def _hello(self, events: list[Any], hello: Hello) -> None:
        super()._hello(events, hello)
        if self._admit is not None:
            self._admit(hello)
        self._control(HELLO, self.our_hello.pack())

    def _check_peer(self, hello: Hello) -> None:
        if hello.max_in_flight:
            raise Violation(f"HELLO: a client that takes {hello.max_in_flight} requests")

    def _role_frame(self, events: list[Any], header: Header, payload: Payload) -> None:
        _, type_, _, route, id_, _, _ = header
        if type_ == BIND:
            self._bind(events, route, payload)
        elif type_ == CANCEL:
            if payload:
                raise Violation("CANCEL: a payload where none belongs")
            events.append(CancelRequested(id_))
        elif type_ == END:
            if payload:
                raise Violation("END: a payload where none belongs")
            if self._open_call(id_, "END") is not None:
                events.append(EndReceived(id_))
        elif type_ == UNBIND:
            self._unbind(events, route, payload)
        else:
            assert type_ == DESCRIBE
            service, at = read_str16(payload, 0, "DESCRIBE")
            events.append(DescribeRequested(service, unpack_schema(payload, at, "DESCRIBE")))

    def _bind(self, events: list[Any], first: int, payload: Payload) -> None:
        fingerprint, service, agent, methods, relayed = unpack_bind(payload)
        if first + len(methods) > MAX_ROUTES:
            raise Violation(f"BIND: routes {first} to {first + len(methods) - 1}, at most {MAX_ROUTES}")
        if first in self._ranges or any(
            first + offset in self._routes or first + offset in self._denied for offset in range(len(methods))
        ):
            raise Violation(f"BIND: a route of {first} to {first + len(methods) - 1} is bound already")
        bind = BindRequested(first, fingerprint, service, agent, methods, relayed)
        most = self.our_hello.max_bindings
        if len(self._ranges) >= most:
            self.reject(bind, Code.OVERLOADED, f"{most} bindings of this connection are bound, UNBIND some")
            return
        if self._resolve is None:
            events.append(bind)
            return
        answer = self._resolve(bind)
        if isinstance(answer, list):
            self.accept(bind, answer)
        else:
            self.reject(bind, *answer)

    def _unbind(self, events: list[Any], first: int, payload: Payload) -> None:
        size = self._ranges.pop(first, None)
        if payload or size is None:
            raise Violation(f"UNBIND: route {first} is not the first of a bound range")
        for route in range(first, first + size):
            self._routes.pop(route, None)
            self._denied.pop(route, None)
        events.append(UnbindRequested(first))
