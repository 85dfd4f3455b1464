"""R2. The client's side of a connection: binds, requests, replies matched by id and route."""

from typing import Any

from mf.core.error import Code
from mf.core.service import Payload
from mf.protocol.calls import Binding, Call, CallTable, Description
from mf.protocol.events import BindingAnswered, DescriptionReceived, GoawayReceived
from mf.protocol.frame import (
    BIND,
    BOUND,
    BULK,
    CANCEL,
    DESCRIBE,
    DESCRIPTOR,
    ENCODING_MASK,
    EXTENDED_COUNT,
    HEADER,
    HEADER_SIZE,
    HELLO,
    ONEWAY,
    PADDING,
    REPLY,
    REQUEST,
    Buffer,
)
from mf.protocol.handshake import MAX_BINDINGS, MAX_ROUTES, Hello, pack_bind
from mf.protocol.session import Session
from mf.protocol.state import Role
from mf.protocol.wire import U32, Violation, pack_str16, read_only_str16, read_str16, to_code

LAST_CODE = int(max(Code))
_SMALL = 4096
_unpack_header = HEADER.unpack_from


class ClientSession(Session):
    """`calls` holds the requests in flight; the link takes those out that it gives up."""

    __slots__ = ("_bindings", "_bound", "_descriptions", "_next_route", "calls")

    def __init__(self, hello: Hello, scratch: bytearray) -> None:
        super().__init__(Role.CLIENT, hello, scratch)
        self.calls = CallTable()
        self._bindings: dict[int, Binding] = {}
        self._bound = 0
        self._descriptions: dict[str, list[Description]] = {}
        self._next_route = 0
        self._control(HELLO, hello.pack())

    def bind(self, binding: Binding, fingerprint: bytes, methods: tuple[str, ...]) -> bool:
        """Queues BIND; BindingAnswered follows. False: this connection has no routes left.

        Raises Error(MESSAGE_TOO_LARGE), NOT_EXECUTED, for names that no server would read.
        """
        first = self._next_route
        if first + len(methods) > MAX_ROUTES or self._bound >= MAX_BINDINGS:
            return False
        payload = pack_bind(fingerprint, binding.service, binding.agent, methods)
        self._next_route = first + max(len(methods), 1)
        self._bound += 1
        binding.first = first
        self._bindings[first] = binding
        self._control(BIND, payload, route=first)
        return True

    def describe(self, description: Description) -> None:
        """Queues DESCRIBE; DescriptionReceived follows."""
        self._descriptions.setdefault(description.service, []).append(description)
        self._control(DESCRIBE, pack_str16(description.service))

    def request(self, call: Call, flags: int, deadline_word: int, count: int, payload: Buffer) -> None:
        """Queues a REQUEST on `call.route`. A one-way request is not kept: nothing answers it."""
        id_ = self.calls.add(call)
        call.count = count
        self._send(REQUEST, flags, call.route, id_, deadline_word, count, payload)
        call.end = self.queued
        if flags & ONEWAY:
            del self.calls.by_id[id_]

    def cancel(self, call: Call) -> None:
        """Forgets the call and tells the server, if it was still in flight."""
        if self.calls.by_id.pop(call.id, None) is not None:
            self._control(CANCEL, id_=call.id)

    def received(self, count: int) -> list[Any]:
        # The common case by itself: one whole small reply and nothing else. Whatever is unusual takes the
        # long way.
        if self._clean and HEADER_SIZE <= count <= _SMALL:
            size, type_, flags, route, id_, word, items = _unpack_header(self._scratch)
            if (size + 7) & ~7 == count and type_ == REPLY and size >= HEADER_SIZE and word <= LAST_CODE:
                call = self.calls.by_id.get(id_)
                if (
                    call is not None
                    and call.route == route
                    and call.count == items
                    and flags <= ENCODING_MASK
                    and items != EXTENDED_COUNT
                    and self._row[REPLY] is not None
                    and (size == count or self._scratch[size:count] == PADDING[size & 7])
                ):
                    del self.calls.by_id[id_]
                    return [(call, word, flags, self._scratch[HEADER_SIZE:size])]
        return super().received(count)

    def waiting(self) -> list[Binding | Description]:
        """What has been asked for and not answered, requests apart."""
        descriptions = [item for items in self._descriptions.values() for item in items]
        return [*self._bindings.values(), *descriptions]

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
        if type_ != REPLY:
            self._control_frame(events, type_, flags, route, id_, word, count, payload)
            return
        if flags & ~(ENCODING_MASK | BULK) or word > LAST_CODE or not count or not id_:
            raise Violation(f"REPLY: id {id_}, status {word}, {count} items, flags {flags:#x}")
        call = self.calls.by_id.get(id_)
        if call is None or call.route != route:
            self.calls.dropped += 1
            return
        if count != call.count:
            raise Violation(f"REPLY: {count} items for a request of {call.count}")
        del self.calls.by_id[id_]
        events.append((call, word, flags & ENCODING_MASK, payload))

    def _check_peer(self, hello: Hello) -> None:
        if hello.client_id:
            raise Violation(f"HELLO: a server with client id {hello.client_id}")

    def _role_frame(self, events: list[Any], header: tuple[int, int, int, int], payload: Payload) -> None:
        type_, route, _, word = header
        if type_ == BOUND:
            binding = self._bindings.pop(route, None)
            if binding is None:
                raise Violation(f"BOUND for route {route}, which is not awaited")
            binding.status = to_code(word) if word else Code.OK
            if not word and payload:
                raise Violation("BOUND: OK has no payload")
            binding.text = read_only_str16(payload, "BOUND")
            events.append(BindingAnswered(binding))
        elif type_ == DESCRIPTOR:
            self._descriptor(events, payload)
        else:
            events.append(GoawayReceived(to_code(word), read_only_str16(payload, "GOAWAY")))

    def _descriptor(self, events: list[Any], payload: Payload) -> None:
        service, at = read_str16(payload, 0, "DESCRIPTOR")
        if at + 4 > len(payload) or at + 4 + U32.unpack_from(payload, at)[0] != len(payload):
            raise Violation("DESCRIPTOR: length does not fit the payload")
        waiting = self._descriptions.get(service)
        if not waiting:
            raise Violation("DESCRIPTOR that was not asked for")
        description = waiting.pop(0)
        if not waiting:
            del self._descriptions[service]
        try:
            description.text = str(payload[at + 4 :], "utf-8")
        except UnicodeDecodeError:
            raise Violation("DESCRIPTOR: not UTF-8") from None
        events.append(DescriptionReceived(description))
