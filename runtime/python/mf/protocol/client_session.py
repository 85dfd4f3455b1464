"""R2. The client's side of a connection: binds, requests, and replies matched by id and route."""

from typing import Any

from mf.core.error import Code
from mf.core.server_options import DEFAULT_MAX_BINDINGS
from mf.core.service import Payload
from mf.protocol.calls import LAST_ID, Binding, Description, Request, RequestTable
from mf.protocol.cutting import LAST_CODE, cutting
from mf.protocol.events import BindingAnswered, DescriptionReceived, GoawayReceived, StreamStopped
from mf.protocol.frame import (
    BIND,
    BOUND,
    CANCEL,
    DESCRIBE,
    DESCRIPTOR,
    ENCODING_MASK,
    END,
    HELLO,
    METADATA,
    ONEWAY,
    REPLY,
    REQUEST,
    UNBIND,
    Buffer,
    is_behind,
    pack_into,
)
from mf.protocol.handshake import (
    MAX_ROUTES,
    Hello,
    pack_bind,
    pack_schema,
    unpack_schema,
)
from mf.protocol.metadata import take_metadata
from mf.protocol.session import Header, Session
from mf.protocol.state import Role
from mf.protocol.wire import U32, Violation, pack_str16, read_only_str16, read_str16, to_code


class ClientSession(Session):
    """`calls` holds the requests in flight; the link removes those that it gives up."""

    __slots__ = ("_bindings", "_descriptions", "_free", "_latest_taken", "_replies", "bound", "calls")

    def __init__(self, hello: Hello, scratch: bytearray) -> None:
        super().__init__(Role.CLIENT, hello, scratch)
        self._replies = cutting().replies
        self.calls = RequestTable()
        self._latest_taken: int | None = None  # set once the server has sent GOAWAY
        self._bindings: dict[int, Binding] = {}
        self.bound = 0
        """Ranges of routes that are bound or requested."""
        self._descriptions: dict[tuple[str, bytes], list[Description]] = {}
        self._free = [(0, MAX_ROUTES)]
        self._control(HELLO, hello.pack())

    def bind(self, binding: Binding, fingerprint: bytes, methods: tuple[str, ...]) -> bool:
        """Queues BIND; BindingAnswered follows. False: this connection has no routes left.

        Raises Error(MESSAGE_TOO_LARGE), NOT_EXECUTED, for names that servers would refuse.
        """
        most = self.peer.max_bindings if self.peer is not None else DEFAULT_MAX_BINDINGS
        size = max(len(methods), 1)
        place = next((i for i, (_, free) in enumerate(self._free) if free >= size), None)
        if place is None or self.bound >= most:
            return False
        payload = pack_bind(fingerprint, binding.service, binding.agent, methods)
        first, free = self._free[place]
        self._free[place : place + 1] = [(first + size, free - size)] if free > size else []
        self.bound += 1
        binding.first = first
        self._bindings[first] = binding
        self._control(BIND, payload, route=first)
        return True

    def unbind(self, binding: Binding) -> None:
        """Queues UNBIND of a bound range whose calls have ended; its numbers may be used again."""
        self._control(UNBIND, route=binding.first)
        self._release(binding)

    def _release(self, binding: Binding) -> None:
        self.bound -= 1
        ranges = sorted([*self._free, (binding.first, max(binding.methods, 1))])
        self._free = ranges[:1]
        for first, size in ranges[1:]:
            before, length = self._free[-1]
            if before + length == first:
                self._free[-1] = (before, length + size)
            else:
                self._free.append((first, size))

    def describe(self, description: Description) -> None:
        """Queues DESCRIBE; DescriptionReceived follows."""
        key = (description.service, description.asked)
        self._descriptions.setdefault(key, []).append(description)
        self._control(DESCRIBE, pack_str16(description.service) + pack_schema(description.asked))

    def request(self, call: Request, flags: int, deadline_word: int, count: int, payload: Buffer) -> None:
        """Queues a REQUEST on `call.route`. A one-way request is not kept, since it has no reply."""
        calls = self.calls
        id_ = calls.last + 1
        if id_ > LAST_ID or id_ in calls.by_id:
            id_ = calls.next_free(id_)
        calls.last = call.id = id_
        calls.by_id[id_] = call
        call.count = count
        route = call.route
        size = self._append(self.out, REQUEST, flags, route, id_, deadline_word, count, payload)
        if not size:
            size = pack_into(self.out, REQUEST, flags, route, id_, deadline_word, count, payload)
        self.out_bytes += size
        self.queued = call.end = self.queued + size
        if flags & ONEWAY:
            del calls.by_id[id_]

    def cancel(self, call: Request) -> None:
        """Forgets the call and sends CANCEL to the server, if it was still in flight."""
        if self.calls.by_id.pop(call.id, None) is not None:
            self._control(CANCEL, id_=call.id)

    def surely_not_executed(self, call: Request) -> bool:
        """Whether an end of the connection now would be before the request was sent: its end still waits in
        the output."""
        return call.end > self.queued - self.out_bytes

    def was_turned_away(self, call: Request) -> bool:
        """Whether the server has sent GOAWAY, and refuses this request since it is later than the last
        accepted one."""
        return self._latest_taken is not None and is_behind(call.id, self._latest_taken)

    def end_stream(self, call: Request) -> None:
        """Queues END: the parameter stream of the call is complete."""
        self._control(END, id_=call.id)

    def received(self, count: int) -> list[Any]:
        if not self._clean or self._row[REPLY] is None:
            return super().received(count)
        events: list[Any] = []
        at = self._replies(self._scratch, 0, count, self.calls.by_id, events)
        if at < count:
            self._receive(count, at, events)
        return events

    def _cut(self, data: bytearray, at: int, end: int, events: list[Any]) -> int:
        return at if self._row[REPLY] is None else self._replies(data, at, end, self.calls.by_id, events)

    def waiting(self) -> list[Binding | Description]:
        """The requested bindings and descriptions without an answer."""
        descriptions = [item for items in self._descriptions.values() for item in items]
        return [*self._bindings.values(), *descriptions]

    def _frame(self, events: list[Any], header: Header, payload: Payload) -> None:
        _, type_, flags, route, id_, word, count = header
        if type_ != REPLY:
            self._control_frame(events, header, payload)
            return
        if flags & ~(ENCODING_MASK | METADATA) or word > LAST_CODE or not count or not id_:
            raise Violation(f"REPLY: id {id_}, status {word}, {count} items, flags {flags:#x}")
        call = self.calls.by_id.get(id_)
        if call is None or call.route != route:
            self.dropped += 1
            return
        if count != call.count:
            raise Violation(f"REPLY: {count} items for a request of {call.count}")
        del self.calls.by_id[id_]
        if flags & METADATA:
            call.reply_metadata, payload = take_metadata(payload)
        events.append((call, word, flags & ENCODING_MASK, payload))

    def _in_flight(self, id_: int) -> Request | None:
        return self.calls.by_id.get(id_)

    def _never_used(self, id_: int) -> bool:
        return id_ > self.calls.last and not self.calls.wrapped

    def _check_peer(self, hello: Hello) -> None:
        if hello.client_id:
            raise Violation(f"HELLO: a server with client id {hello.client_id}")

    def _role_frame(self, events: list[Any], header: Header, payload: Payload) -> None:
        _, type_, _, route, id_, word, _ = header
        if type_ == CANCEL:
            if payload or not id_:
                raise Violation(f"CANCEL: id {id_}, payload of {len(payload)} bytes")
            call = self._open_call(id_, "CANCEL")
            if call is not None:
                events.append(StreamStopped(id_, call))
        elif type_ == BOUND:
            binding = self._bindings.pop(route, None)
            if binding is None:
                raise Violation(f"BOUND for route {route}, which is not awaited")
            binding.status = to_code(word) if word else Code.OK
            if not word and payload:
                raise Violation("BOUND: OK has no payload")
            binding.text = read_only_str16(payload, "BOUND")
            if word:
                self._release(binding)
            events.append(BindingAnswered(binding))
        elif type_ == DESCRIPTOR:
            self._descriptor(events, payload)
        else:
            self._latest_taken = id_
            events.append(GoawayReceived(to_code(word), id_, read_only_str16(payload, "GOAWAY")))

    def _descriptor(self, events: list[Any], payload: Payload) -> None:
        service, at = read_str16(payload, 0, "DESCRIPTOR")
        text, at = _read_long_text(payload, at, "DESCRIPTOR")
        annex, at = _read_long_text(payload, at, "DESCRIPTOR, annex")
        key = (service, unpack_schema(payload, at, "DESCRIPTOR"))
        waiting = self._descriptions.get(key)
        if not waiting:
            raise Violation("DESCRIPTOR that was not asked for")
        description = waiting.pop(0)
        if not waiting:
            del self._descriptions[key]
        description.text = text
        description.annex = annex
        events.append(DescriptionReceived(description))


def _read_long_text(payload: Payload, at: int, what: str) -> tuple[str, int]:
    if at + 4 > len(payload):
        raise Violation(f"{what}: its length is cut off")
    end = at + 4 + int(U32.unpack_from(payload, at)[0])
    if end > len(payload):
        raise Violation(f"{what}: {end - at - 4} bytes announced, {len(payload) - at - 4} there")
    try:
        return str(payload[at + 4 : end], "utf-8"), end
    except UnicodeDecodeError:
        raise Violation(f"{what}: not UTF-8") from None
