"""The messages of one node to one mailbox of another node: the sender's half of `mf.flex.Mailbox.deliver`.

Messages that were sent and not yet taken are kept, within the bounds of a window. After a lost connection
they are sent again if the same mailbox is found, and reported as undelivered if not. Messages not sent yet
go to the process that has the name at that time. All tasks run on the node's loop; any thread may call
`submit`."""

from __future__ import annotations

from asyncio import Event, Task, current_task, get_running_loop, wait
from collections import deque
from contextlib import suppress
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Final
from uuid import UUID, uuid4

from mf.client.standing import StandingCall
from mf.codec.flex.attributes import decode_attributes
from mf.codec.flex.reader import NO_TYPES
from mf.core.code_class import COMES_BACK
from mf.core.error import Code, Error, Execution, not_executed
from mf.core.log import quote, warning
from mf.core.options import INFINITE, CallOptions
from mf.flex._generated.mf.flex import DescribedType
from mf.flex._generated.mf.flex import Message as Carried
from mf.flex.described import DescribedTypes
from mf.flex.mailbox import OVERHEAD
from mf.flex.message import Message
from mf.link.background import spawn

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Mapping

    from mf.codec.flex.declared import Described, Known
    from mf.codec.texts import Texts
    from mf.core.stream import AsyncDuplexStream
    from mf.flex._generated.mf.flex import MailboxAsyncClient, Receipt, Refused
    from mf.flex.sent import Sent

WINDOW_MESSAGES: Final = 16_384
WINDOW_BYTES: Final = 16 << 20
PATIENCE: Final = 5.0
"""How many seconds a name may be unknown or unreachable before messages to it fail."""

_WITHOUT_END: Final = CallOptions(deadline=INFINITE)
_LONGEST_PAUSE: Final = 0.2


class Outbound:
    """A message under way. `types`: of which there are values in it."""

    __slots__ = ("carried", "report", "sent", "size", "types")

    def __init__(
        self,
        carried: Carried,
        sent: Sent,
        report: Callable[[Outbound, Error], None],
        types: Mapping[bytes, Known | Described] = NO_TYPES,
    ) -> None:
        self.carried = carried
        self.types = types
        self.sent = sent
        self.report = report
        self.size = len(carried.attributes) + OVERHEAD


class Outgoing:
    """The messages to one mailbox. `ended` is called when this has ended and must be replaced by another."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        stub: MailboxAsyncClient,
        dest: str,
        ended: Callable[[Outgoing], None],
        patience: float = PATIENCE,
    ) -> None:
        self.dest = dest
        self._loop = loop
        self._stub = stub.at(dest)
        self._ended = ended
        self._patience = patience
        self._sender = uuid4()
        self._lock = Lock()
        self._next = 1
        self._pending: deque[Outbound] = deque()
        self._under_way: dict[int, Outbound] = {}
        self._messages = 0
        self._bytes = 0
        self._for_room: list[Callable[[], None]] = []
        self._closed = False
        self._woken = True  # a new task needs no wake-up
        self._connected = False
        self._work = Event()
        self._mailbox: UUID | None = None
        self._received = 0
        self.mailbox_is_full = False
        """Whether the receiver's mailbox has no room for the next message, as the receiver last reported."""
        self._arrivals = Event()
        self._task: Task[None] | None = None

    def begin(self) -> None:
        """Called on the loop."""
        if not self._closed:
            self._task = spawn(self._run())

    # For any thread

    @property
    def closed(self) -> bool:
        """Whether nothing can be submitted any more."""
        return self._closed

    def submit(self, outbound: Outbound) -> bool:
        """False: the window has no room for it now. Raises Error(CANCELLED) when this has ended."""
        with self._lock:
            if self._closed:
                raise not_executed(Code.CANCELLED, f"the way to {self.dest!r} has ended")
            full = self._messages >= WINDOW_MESSAGES or self._bytes + outbound.size > WINDOW_BYTES
            if full and self._messages:
                return False
            self._messages += 1
            self._bytes += outbound.size
            outbound.carried.sequence = self._next
            self._next += 1
            self._pending.append(outbound)
            wakes = not self._woken
            self._woken = True
        if wakes:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._work.set)
        return True

    def when_room(self, call: Callable[[], None]) -> None:
        """Calls `call` once, on the loop, when a message has left the window or this has ended."""
        with self._lock:
            if not self._closed:
                self._for_room.append(call)
                return
        call()

    def after_fork(self) -> None:
        """In a child: the messages are sent by the parent."""
        self._lock = Lock()
        self._closed = True
        self._pending, self._under_way = deque(), {}
        calls, self._for_room = self._for_room, []
        for call in calls:
            call()

    # On the loop

    async def arrived(self) -> None:
        """Returns when every submitted message is in the mailbox or has failed."""
        while self._pending or max(self._under_way, default=0) > self._received:
            self._arrivals.clear()
            await self._arrivals.wait()

    async def close(self, error: Error) -> None:
        """Fails all messages. Those that are in the mailbox fail as UNKNOWN, as they may yet be taken."""
        if self._task is not None and self._task is not current_task():
            self._task.cancel()
            await wait((self._task,))
        left = [each for number, each in self._under_way.items() if number <= self._received]
        for outbound in left:
            del self._under_way[outbound.carried.sequence]
            outbound.sent.one_failed(_fate_unknown(error), message_of(outbound.carried))
        self._fail(error, error)

    async def _run(self) -> None:
        try:
            await self._sessions()
        except Exception as bug:  # otherwise the senders would never learn the fate of their messages
            warning("the way to %s ends: %s", quote(self.dest), quote(repr(bug)))
            self._fail_all(Error(Code.INTERNAL, f"the way to {self.dest!r} ends: {bug!r}"))

    async def _sessions(self) -> None:
        standing = StandingCall(longest=_LONGEST_PAUSE)
        lost = monotonic()

        def goes_on(error: Exception | None) -> bool:
            nonlocal lost
            assert error is not None
            if not isinstance(error, Error):
                raise error
            if not self._pending and not self._under_way:
                self._end()  # the next message to this name creates a new Outgoing
                return False
            if self._connected:
                lost = monotonic()
            if error.code not in COMES_BACK or monotonic() - lost > self._patience:
                self._fail_all(error)
                return False
            return True

        await standing.keep(lambda: self._session(standing), goes_on)

    async def _session(self, standing: StandingCall) -> None:
        """Runs one stream until it ends. Raises the reason."""
        self._connected = self.mailbox_is_full = False
        stream = self._stub.deliver(self._sender, options=_WITHOUT_END)
        writer: Task[None] | None = None
        try:
            async for receipt in stream:
                if writer is None:
                    self._meet(receipt)
                    self._connected = True
                    standing.answered()
                    writer = get_running_loop().create_task(self._write(stream))
                self._receive(receipt)
                if receipt.closing:
                    raise not_executed(Code.UNAVAILABLE, f"{self.dest!r} has closed its mailbox")
            raise not_executed(Code.UNAVAILABLE, f"{self.dest!r} has ended the stream")
        finally:
            stream.cancel()
            if writer is not None:
                writer.cancel()
                await wait((writer,))

    def _meet(self, receipt: Receipt) -> None:
        """Handles the first receipt of a stream: if it is of the same mailbox, messages that it has not
        received are sent again; otherwise all that were sent are lost with the former mailbox."""
        under_way = sorted(self._under_way)
        if receipt.mailbox == self._mailbox:
            again = [number for number in under_way if number > receipt.received]
            self._pending.extendleft(self._under_way.pop(number) for number in reversed(again))
            waiting = {*receipt.waiting, *(each.sequence for each in receipt.refused)}
            self._taken([number for number in self._under_way if number not in waiting])
        else:
            text = f"{self.dest!r} was lost, and another process has the name now"
            self._lose(under_way, Error(Code.CONNECTION_LOST, text))
        self._mailbox = receipt.mailbox
        self._received = 0

    async def _write(self, stream: AsyncDuplexStream[Carried, Receipt]) -> None:
        described = DescribedTypes()
        with suppress(Error):  # the reader gets the same error
            while True:
                while self._pending:
                    outbound = self._pending.popleft()
                    self._under_way[outbound.carried.sequence] = outbound
                    for fingerprint, type_ in outbound.types.items():
                        if described.add(fingerprint, type_.texts) and not await stream.write(
                            _type_alone(outbound.carried, type_.texts)
                        ):
                            return
                    if not await stream.write(outbound.carried):
                        return
                with self._lock:
                    if self._pending:
                        continue
                    self._woken = False
                    self._work.clear()
                await self._work.wait()

    def _receive(self, receipt: Receipt) -> None:
        self._received = receipt.received
        self.mailbox_is_full = receipt.full
        self._arrivals.set()
        for refused in receipt.refused:
            self._lose([refused.sequence], _refusal(refused))
        self._taken(receipt.taken)
        if receipt.closing:
            text = f"{self.dest!r} has closed its mailbox without taking the message"
            came = [number for number in self._under_way if number <= receipt.received]
            self._lose(sorted(came), not_executed(Code.CANCELLED, text))
            rest = sorted(self._under_way)
            self._pending.extendleft(self._under_way.pop(number) for number in reversed(rest))

    def _taken(self, numbers: list[int]) -> None:
        left = [self._under_way.pop(number) for number in numbers if number in self._under_way]
        if left:
            self._leave(left)
            for outbound in left:
                outbound.sent.one_taken()

    def _leave(self, left: list[Outbound]) -> None:
        with self._lock:
            self._messages -= len(left)
            self._bytes -= sum(each.size for each in left)
            calls, self._for_room = self._for_room, []
        for call in calls:
            call()

    def _lose(self, numbers: list[int], error: Error) -> None:
        """Reports messages that were sent and cannot be confirmed any more."""
        lost = [self._under_way.pop(number) for number in numbers if number in self._under_way]
        self._leave(lost)
        for outbound in lost:
            outbound.report(outbound, error)

    def _fail_all(self, error: Error) -> None:
        """Fails sent messages as UNKNOWN, since they may have been taken, and unsent ones as NOT_EXECUTED."""
        self._fail(
            Error(error.code, error.message, Execution.UNKNOWN), not_executed(error.code, error.message)
        )

    def _fail(self, sent: Error, unsent: Error) -> None:
        self._lose(sorted(self._under_way), sent)
        while True:
            with self._lock:
                pending, self._pending = list(self._pending), deque()
                self._closed = not pending
            if not pending:
                break
            self._leave(pending)
            for outbound in pending:
                outbound.report(outbound, unsent)
        self._arrivals.set()
        self._finish()

    def _end(self) -> None:
        with self._lock:
            self._closed = not self._pending
        if self._closed:
            self._finish()
        else:
            self.begin()

    def _finish(self) -> None:
        self._ended(self)
        with self._lock:
            calls, self._for_room = self._for_room, []
        for call in calls:
            call()


def _type_alone(before: Carried, texts: Texts) -> Carried:
    """The description of a type for its receiver, sent before the first message with a value of it."""
    return Carried(0, before.source, before.dest, b"", [DescribedType(texts.descriptor, texts.annex)])


def message_of(carried: Carried) -> Message:
    return Message(carried.source, carried.dest, decode_attributes(carried.attributes))


def _refusal(refused: Refused) -> Error:
    """Maps a code that this runtime does not know, of a later version, to INTERNAL."""
    known = refused.code in Code.__members__.values()
    return not_executed(Code(refused.code) if known else Code.INTERNAL, refused.why)


def _fate_unknown(error: Error) -> Error:
    text = f"{error.message}: the message has come to its mailbox, and may be taken yet"
    return Error(error.code, text, Execution.UNKNOWN)
