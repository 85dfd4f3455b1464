"""R2. The server's side of a connection: routes, requests in flight, replies.

What a route stands for is an object of the server's; the session only keeps it. Replies may come in any
order.
"""

from collections.abc import Callable
from typing import Any

from mf.core.error import Code, Error, not_executed
from mf.core.service import Payload
from mf.protocol.events import BindRequested, CancelRequested, DescribeRequested
from mf.protocol.frame import (
    BIND,
    BOUND,
    CANCEL,
    DESCRIBE,
    DESCRIPTOR,
    ENCODING_MASK,
    EXTENDED_COUNT,
    GOAWAY,
    HEADER,
    HEADER_SIZE,
    HELLO,
    ONEWAY,
    PADDING,
    REPLY,
    REQUEST,
    Buffer,
)
from mf.protocol.handshake import MAX_BINDINGS, MAX_ROUTES, Hello, unpack_bind
from mf.protocol.session import Session
from mf.protocol.state import Role, State
from mf.protocol.wire import (
    U32,
    Violation,
    pack_failure,
    pack_str16,
    pack_text,
    read_only_str16,
)

_SMALL = 4096
_unpack_header = HEADER.unpack_from

Resolve = Callable[[BindRequested], list[Any] | tuple[Code, str]]
"""Answers a BIND: what its routes stand for, or why not."""


class ServerSession(Session):
    """With `resolve`, BINDs are answered while they are read, so that requests may follow in the same read;
    without it they are events. `in_flight` holds the ids of requests that have been reported and not
    answered.
    """

    __slots__ = ("_bindings", "_resolve", "_routes", "in_flight")

    def __init__(self, hello: Hello, scratch: bytearray, resolve: Resolve | None = None) -> None:
        super().__init__(Role.SERVER, hello, scratch)
        self._resolve = resolve
        self._routes: dict[int, Any] = {}
        self._bindings = 0
        self.in_flight: set[int] = set()

    def accept(self, bind: BindRequested, targets: list[Any]) -> None:
        """Route `first + i` stands for targets[i] from now on."""
        for offset, target in enumerate(targets):
            self._routes[bind.first + offset] = target
        self._bindings += 1
        self._control(BOUND, route=bind.first)

    def reject(self, bind: BindRequested, code: Code, reason: str) -> None:
        self._control(BOUND, pack_text(reason), route=bind.first, word=code)

    def describe(self, service: str, descriptor: str) -> None:
        """Answers DescribeRequested; an empty text says that the service is unknown."""
        text = descriptor.encode()
        self._send(DESCRIPTOR, 0, 0, 0, 0, 0, pack_str16(service) + U32.pack(len(text)) + text)

    def reply(self, id_: int, route: int, status: int, encoding: int, count: int, payload: Buffer) -> None:
        """Answers a request. A payload beyond what the client accepts becomes MESSAGE_TOO_LARGE."""
        self.in_flight.discard(id_)
        if len(payload) > self.peer_max_payload:
            text = (
                f"the reply has {len(payload)} bytes, the client accepts {self.peer_max_payload}: "
                "ask for less, or raise max_payload on both sides"
            )
            self.fail(id_, route, count, Error(Code.MESSAGE_TOO_LARGE, text))
        elif self.state != State.CLOSED:
            self._send(REPLY, encoding, route, id_, status, count, payload)

    def fail(self, id_: int, route: int, count: int, error: Error) -> None:
        """Answers all items of a request with one failure."""
        self.in_flight.discard(id_)
        if self.state != State.CLOSED:
            self._send(REPLY, 0, route, id_, error.code, count, pack_failure(error))

    def goaway(self, code: Code, reason: str) -> None:
        """Requests that arrive from now on are answered with SHUTTING_DOWN."""
        if self.state == State.OPEN:
            self._control(GOAWAY, pack_text(reason), word=code)
            self._enter(State.DRAINING)

    def received(self, count: int) -> list[Any]:
        # The common case by itself: one whole small request and nothing else. Whatever is unusual takes the
        # long way.
        if self._clean and HEADER_SIZE <= count <= _SMALL:
            size, type_, flags, route, id_, word, items = _unpack_header(self._scratch)
            if (size + 7) & ~7 == count and type_ == REQUEST and size >= HEADER_SIZE:
                target = self._routes.get(route)
                in_flight = self.in_flight
                if (
                    target is not None
                    and 0 < items < EXTENDED_COUNT
                    and 0 < flags <= ENCODING_MASK
                    and self.state == State.OPEN
                    and id_
                    and id_ not in in_flight
                    and len(in_flight) < self.our_hello.max_in_flight
                    and (size == count or self._scratch[size:count] == PADDING[size & 7])
                ):
                    in_flight.add(id_)
                    return [(target, id_, route, flags, word, items, self._scratch[HEADER_SIZE:size])]
        return super().received(count)

    def _frame(
        self,
        events: list[Any],
        type_: int,
        flags: int,
        route: int,
        id_: int,
        word: int,
        count: int,
        payload: Payload,
    ) -> None:
        if type_ != REQUEST:
            self._control_frame(events, type_, flags, route, id_, word, count, payload)
            return
        if not count or not id_ or not flags & ENCODING_MASK:
            raise Violation(f"REQUEST: id {id_}, {count} items, flags {flags:#x}")
        oneway = flags & ONEWAY
        target = self._routes.get(route)
        if target is None or self.state == State.DRAINING:
            if not oneway:
                self._turn_away(id_, route, count, target is None)
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
        events.append((target, id_, route, flags, word, count, payload))

    def _turn_away(self, id_: int, route: int, count: int, unbound: bool) -> None:
        if unbound:
            error = not_executed(Code.UNKNOWN_METHOD, f"route {route} is not bound")
        else:
            error = not_executed(Code.SHUTTING_DOWN, "this server is shutting down: use another instance")
        self.fail(id_, route, count, error)

    def _hello(self, events: list[Any], hello: Hello) -> None:
        super()._hello(events, hello)
        self._control(HELLO, self.our_hello.pack())

    def _check_peer(self, hello: Hello) -> None:
        if hello.max_in_flight:
            raise Violation(f"HELLO: a client that takes {hello.max_in_flight} requests")

    def _role_frame(self, events: list[Any], header: tuple[int, int, int, int], payload: Payload) -> None:
        type_, route, id_, _ = header
        if type_ == BIND:
            self._bind(events, route, payload)
        elif type_ == CANCEL:
            if payload:
                raise Violation("CANCEL: a payload where none belongs")
            events.append(CancelRequested(id_))
        else:
            assert type_ == DESCRIBE
            events.append(DescribeRequested(read_only_str16(payload, "DESCRIBE")))

    def _bind(self, events: list[Any], first: int, payload: Payload) -> None:
        fingerprint, service, agent, methods = unpack_bind(payload)
        if first + len(methods) > MAX_ROUTES:
            raise Violation(f"BIND: routes {first} to {first + len(methods) - 1}, at most {MAX_ROUTES}")
        if any(first + offset in self._routes for offset in range(len(methods))):
            raise Violation(f"BIND: a route of {first} to {first + len(methods) - 1} is bound already")
        if self._bindings >= MAX_BINDINGS:
            raise Violation(f"BIND: more than {MAX_BINDINGS} bindings")
        bind = BindRequested(first, fingerprint, service, agent, methods)
        if self._resolve is None:
            events.append(bind)
            return
        answer = self._resolve(bind)
        if isinstance(answer, list):
            self.accept(bind, answer)
        else:
            self.reject(bind, *answer)
