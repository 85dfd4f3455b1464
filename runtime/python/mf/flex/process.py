"""A named process: it sends flexible messages, and has a mailbox.

    process.send(dest="B", tag="input", data=[1, 2, 3])
    process.send(WhenFull.FAIL, dest="workers/*", stop=True)      # to all members of a group
    m = process.recv(5.0, src="B", tag="output")

The runtime sets `src`: a `send` with `src`, or without `dest`, is refused. All methods may be called from any
thread; those that end in `_async` from tasks. Options are positional and precede the attributes, since any
name may be an attribute.
"""

from __future__ import annotations

from collections import deque
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, Self, TypedDict

from mf.codec.flex.attributes import Written, decode_attributes, encode_with_types
from mf.core.error import Code, Error, Execution, not_executed
from mf.core.gate import Gate, LoopGate, ThreadGate
from mf.core.immediate import immediate
from mf.core.log import quote, warning
from mf.core.options import DEFAULT_DEADLINE
from mf.flex._generated.mf.flex import Message as Carried
from mf.flex.errors import Undelivered, is_closed, is_full, of_parent
from mf.flex.mailbox import MAX_BYTES, MAX_MESSAGES, OVERHEAD, Mailbox
from mf.flex.message import Message
from mf.flex.outgoing import Outbound, Outgoing, message_of
from mf.flex.queue import Parcel
from mf.flex.sent import Sent, WhenFull

if TYPE_CHECKING:
    from collections.abc import Callable

_LARGEST = (16 << 20) - 4096
"""The most bytes of encoded attributes: a message is one value of a stream, which the receiver limits."""
_LONGEST_DEST = 511  # "GROUP/NAME"
_MOST_KEPT = 1024  # undelivered messages kept for `undelivered()`


class Office(Protocol):
    """The part of a node that a process uses."""

    def local(self, dest: str) -> Process | None: ...

    def members(self, group: str) -> list[str]: ...

    async def members_async(self, group: str) -> list[str]: ...

    def way(self, dest: str) -> Outgoing: ...

    def on_own_loop(self) -> bool: ...

    def leave(self, process: Process) -> None: ...

    async def leave_async(self, process: Process) -> None: ...


class ProcessFields(TypedDict, total=False):
    """The keyword arguments of a process that its node hands on."""

    when_full: WhenFull
    on_undelivered: Callable[[Undelivered], None] | None
    max_messages: int
    max_bytes: int


class Process(Mailbox):
    """Created by a node: `node.process("A")`. `on_undelivered` is called with an Undelivered for each message
    that is not delivered, on the thread that detects it, so it must not block. Without it they are logged and
    kept for `undelivered`.
    """

    def __init__(
        self,
        office: Office,
        name: str,
        groups: tuple[str, ...],
        *,
        when_full: WhenFull = WhenFull.BLOCK,
        on_undelivered: Callable[[Undelivered], None] | None = None,
        max_messages: int = MAX_MESSAGES,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        super().__init__(name, max_messages=max_messages, max_bytes=max_bytes)
        self.groups = groups
        self._office = office
        self._when_full = when_full
        self._on_undelivered = on_undelivered
        self._undelivered: deque[Undelivered] = deque(maxlen=_MOST_KEPT)
        self._left = False
        self._leaving = Lock()

    # Sending

    def send(
        self, when_full: WhenFull | None = None, timeout: float | None = None, /, **attributes: Any
    ) -> Sent:
        """Sends a message to the process `dest`, or to all members of the group `dest="GROUP/*"`, and returns
        when it is queued; messages to one process arrive in the order in which they were sent.

        If there is no room on the way, it waits at most `timeout` seconds (default 30), fails, or drops the
        message, as `when_full` says. Raises Error(INVALID_ARGUMENT) with the path of an unsupported value,
        MESSAGE_TOO_LARGE, OVERLOADED (FAIL) and DEADLINE_EXCEEDED (BLOCK); all of them NOT_EXECUTED.
        """
        dest, written = self._prepared(attributes)
        group = _is_group(dest)
        places = self._places(dest, self._office.members(_group_of(dest))) if group else [self._place(dest)]
        sent = Sent(len(places))
        until = monotonic() + (DEFAULT_DEADLINE if timeout is None else timeout)
        for place in places:
            attempt = self._made(place, dest, written, sent)
            if (full := attempt()) is not None:
                immediate(self._wait_for_room(ThreadGate, attempt, full, dest, sent, when_full, until))
        return sent

    async def send_async(
        self, when_full: WhenFull | None = None, timeout: float | None = None, /, **attributes: Any
    ) -> Sent:
        """`send` for asyncio."""
        dest, written = self._prepared(attributes)
        if _is_group(dest):
            places = self._places(dest, await self._office.members_async(_group_of(dest)))
        else:
            places = [self._place(dest)]
        sent = Sent(len(places))
        until = monotonic() + (DEFAULT_DEADLINE if timeout is None else timeout)
        for place in places:
            attempt = self._made(place, dest, written, sent)
            if (full := attempt()) is not None:
                await self._wait_for_room(LoopGate, attempt, full, dest, sent, when_full, until)
        return sent

    def undelivered(self) -> list[Undelivered]:
        """The undelivered messages of this process since the last call, at most the latest 1,024."""
        return [self._undelivered.popleft() for _ in range(len(self._undelivered))]

    # Leaving

    def leave(self) -> None:
        """Closes the mailbox and gives up the name. Waiting receivers are woken, and the senders of messages
        that were not taken are notified. May be called twice."""
        if self._begin_to_leave():
            self._office.leave(self)

    async def leave_async(self) -> None:
        """`leave` for asyncio."""
        if self._begin_to_leave():
            await self._office.leave_async(self)

    def _begin_to_leave(self) -> bool:
        with self._leaving:
            if self._left:
                return False
            self._left = True
        error = not_executed(
            Code.CANCELLED, f"{self.name!r} has closed its mailbox without taking the message"
        )
        for parcel in super().close():
            if isinstance(parcel.owner, _Local):
                parcel.owner.failed(parcel, error)
        return True

    def close(self) -> list[Parcel]:
        self.leave()
        return []

    def after_fork(self) -> None:
        """In a child: the process belongs to the parent; no sender is notified."""
        self._leaving = Lock()
        self._left = True
        super().after_fork()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.leave_async()

    def __repr__(self) -> str:
        state = "closed" if self._left else f"{len(self):,} messages wait"
        return f"<mf.flex.Process {self.name!r}: {state}>"

    # Inside

    def _check_may_block(self) -> None:
        if self._office.on_own_loop():
            text = "this would hold up the loop that it waits for: await the function that ends in `_async`"
            raise not_executed(Code.INVALID_ARGUMENT, text)

    def _prepared(self, attributes: dict[str, Any]) -> tuple[str, Written]:
        dest = attributes.pop("dest", None)
        if not isinstance(dest, str) or not dest:
            text = "name the receiver: dest='B', or dest='GROUP/*'"
            raise not_executed(Code.INVALID_ARGUMENT, text)
        if len(dest) > _LONGEST_DEST or not dest.isascii():
            _check_dest(dest)
        written = encode_with_types(attributes)
        size = len(written.data)
        if size > _LARGEST:
            text = f"the attributes take {size:,} bytes; a message has at most {_LARGEST:,}"
            raise not_executed(Code.MESSAGE_TOO_LARGE, f"{text}: send it in pieces")
        if self._left:
            raise is_closed(self.name) if self._why is None else of_parent(repr(self.name))
        return dest, written

    def _place(self, dest: str) -> Process | Outgoing:
        here = self._office.local(dest)
        return self._office.way(dest) if here is None else here

    def _places(self, dest: str, members: list[str]) -> list[Process | Outgoing]:
        if not members:
            raise not_executed(Code.UNKNOWN_AGENT, f"no process is in the group {_group_of(dest)!r}")
        return [self._place(each) for each in members]

    def _made(
        self, place: Process | Outgoing, dest: str, written: Written, sent: Sent
    ) -> Callable[[], Process | Outgoing | None]:
        """A function that tries to send the message; it returns None, or the place that has no room."""
        if isinstance(place, Process):
            message = Message(self.name, dest, decode_attributes(written.data))
            parcel = Parcel(message, len(written.data) + OVERHEAD, self, _Local(self, sent))
            return lambda: None if place.put(parcel) else place
        carried = Carried(0, self.name, dest, written.data, [])
        outbound = Outbound(carried, sent, self._report, written.types)
        sent.carried_by(place)

        def attempt() -> Process | Outgoing | None:
            way: Outgoing = place
            for _ in range(8):  # an Outgoing that has ended is replaced
                try:
                    return None if way.submit(outbound) else way
                except Error:
                    way = self._office.way(way.dest)
            raise not_executed(Code.UNAVAILABLE, f"the ways to {place.dest!r} end at once")

        return attempt

    async def _wait_for_room(
        self,
        kind: type[Gate],
        attempt: Callable[[], Process | Outgoing | None],
        full: Process | Outgoing,
        dest: str,
        sent: Sent,
        when_full: WhenFull | None,
        until: float,
    ) -> None:
        place: Process | Outgoing | None = full
        while place is not None and not self._gives_up(sent, dest, place, when_full or self._when_full):
            if kind.blocks:
                self._check_may_block()
            gate = kind()
            place.when_room(gate.open)
            if attempt() is None:
                return
            left = until - monotonic()
            if left <= 0 or not await gate.wait(left):
                raise _no_room_in_time(dest, place)
            place = attempt()

    def _gives_up(self, sent: Sent, dest: str, full: Process | Outgoing, when_full: WhenFull) -> bool:
        """Whether the message is dropped (DROP). Raises Error(OVERLOADED) for FAIL."""
        if when_full is WhenFull.FAIL:
            raise is_full(dest, _why_full(full))
        if when_full is WhenFull.DROP:
            sent.one_dropped()
            return True
        return False

    def _report(self, outbound: Outbound, error: Error) -> None:
        self.not_delivered(message_of(outbound.carried), outbound.sent, error)

    def not_delivered(self, message: Message, sent: Sent, error: Error) -> None:
        """Called by the runtime: reports an undelivered message to `on_undelivered` and to its Sent."""
        self._note(message, error)
        sent.one_failed(error, message)

    def _note(self, message: Message, error: Error) -> None:
        undelivered = Undelivered(error, [message])
        if self._on_undelivered is None:
            sure = "" if error.execution is Execution.NOT_EXECUTED else " (it may have been)"
            warning(
                "a message to %s was not delivered%s: %s", quote(message.dest), sure, quote(error.message)
            )
            self._undelivered.append(undelivered)
            return
        try:
            self._on_undelivered(undelivered)
        except Exception as raised:
            warning("on_undelivered raised %s", quote(repr(raised)))


class _Local:
    """The owner of a message within a node: it is called when the message is taken or fails."""

    __slots__ = ("_process", "_sent")

    def __init__(self, process: Process, sent: Sent) -> None:
        self._process = process
        self._sent = sent

    def taken(self, _: Parcel) -> None:
        self._sent.one_taken()

    def failed(self, parcel: Parcel, error: Error) -> None:
        self._process.not_delivered(parcel.message, self._sent, error)


def _check_dest(dest: str) -> None:
    """Refuses what no process is called."""
    size = len(dest.encode("utf-8", "surrogatepass"))
    half = any("\ud800" <= each <= "\udfff" for each in dest)  # of a surrogate pair
    if half or size > _LONGEST_DEST:
        text = f"no process has such a name: a name has 1 to 255 bytes of UTF-8, not {size}"
        raise not_executed(Code.INVALID_ARGUMENT, text)


def _is_group(dest: str) -> bool:
    return dest.endswith("/*")


def _group_of(dest: str) -> str:
    return dest.removesuffix("/*")


def _no_room_in_time(dest: str, place: Process | Outgoing) -> Error:
    text = f"there was no room for the message on the way to {dest!r} in time{_why_full(place)}"
    return not_executed(Code.DEADLINE_EXCEEDED, text)


def _why_full(place: Process | Outgoing) -> str:
    """The end of an error text, which names the full mailbox; empty if it is not known to be full."""
    if isinstance(place, Process):
        return f": the mailbox of {place.name!r} is full"
    return f": the mailbox of {place.dest!r} is full" if place.mailbox_is_full else ""
