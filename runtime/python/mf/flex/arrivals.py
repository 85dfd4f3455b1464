"""Receives messages of other nodes: the receiver's half of `mf.flex.Mailbox.deliver`, for one name.

It records per sender which messages were received, so that none is delivered twice when a stream is reopened.
Receipts are batched for a few milliseconds, so that taking a message does not wake the loop each time.
"""

from __future__ import annotations

from asyncio import CancelledError, Event, Task, get_running_loop, wait
from collections import deque
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Final
from uuid import UUID, uuid4

from mf.codec.flex.attributes import decode_attributes
from mf.codec.texts import Texts
from mf.core.current import current_call
from mf.core.error import Code, Error
from mf.core.gate import LoopGate
from mf.core.options import INFINITE
from mf.flex._generated.mf.flex import MailboxAsyncServant, Receipt, Refused
from mf.flex.described import DescribedTypes
from mf.flex.mailbox import OVERHEAD, Mailbox
from mf.flex.message import Message
from mf.flex.queue import Parcel

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import AsyncGenerator, AsyncIterator

    from mf.flex._generated.mf.flex import Message as Carried
    from mf.flex.access import MailAccess

_GATHER: Final = 0.005  # seconds
_MOST_SENDERS: Final = 4096
_MOST_REFUSED: Final = 1024


class _Sender:
    """One sender: what was received from it, and what it was not notified of yet."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._armed = False
        self.received = 0
        self.said = 0  # the last value of `received` that it was notified of
        self.full = False  # its next message waits for room
        self.said_full = False
        self.taken_numbers: deque[int] = deque()
        self.waiting: set[int] = set()
        self.refused: list[Refused] = []
        self.ever_refused: deque[Refused] = deque(maxlen=_MOST_REFUSED)
        self.news = Event()
        self.reader: Task[None] | None = None
        self.described = DescribedTypes()

    def taken(self, parcel: Parcel) -> None:
        """May be called from any thread."""
        self.waiting.discard(parcel.sequence)
        self.taken_numbers.append(parcel.sequence)
        if not self._armed:
            self._armed = True
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._gather)

    def arm(self) -> None:
        """Called when a message has come; it is likely to be taken soon."""
        if not self._armed:
            self._armed = True
            self._gather()

    def _gather(self) -> None:
        self._loop.call_later(_GATHER, self._look)

    def _look(self) -> None:
        self._armed = False
        if self.has_news:
            self.news.set()

    @property
    def has_news(self) -> bool:
        """Whether the sender was not notified yet of something."""
        unsaid = self.received != self.said or self.full != self.said_full
        return unsaid or bool(self.taken_numbers or self.refused)

    def refuse(self, refused: Refused) -> None:
        self.refused.append(refused)
        self.ever_refused.append(refused)

    def take_news(self) -> tuple[list[int], list[Refused]]:
        """Returns and clears the news for the sender: numbers taken, and messages refused."""
        numbers = [self.taken_numbers.popleft() for _ in range(len(self.taken_numbers))]
        refused, self.refused = self.refused, []
        return numbers, refused


class _Admitted:
    """The names under which the peer of one stream sends. Each is asked about once."""

    __slots__ = ("_access", "_call", "_names")

    def __init__(self, access: MailAccess) -> None:
        self._access = access
        self._call = current_call()
        self._names: set[str] = set()

    def check(self, source: str) -> None:
        """Raises Error(PERMISSION_DENIED)."""
        if source not in self._names:
            self._access.check_source(self._call.identity, self._call.peer, source)
            if len(self._names) < _MOST_SENDERS:
                self._names.add(source)


class Arrivals(MailboxAsyncServant):
    """The servant of one name, on the running loop. It serves successive mailboxes of that name, since a
    connection that has bound the name stays with this servant."""

    mf_decides = True  # its own name and that of each of its groups are agents, and are sent to by one right

    def __init__(self, process: str, access: MailAccess | None = None) -> None:
        self._process = process
        self._access = access
        self._now: _Incarnation | None = None
        self._last: _Incarnation | None = None

    def open(self, mailbox: Mailbox) -> None:
        self._now = _Incarnation(mailbox)

    def close(self) -> None:
        """Called when the mailbox is closed: notifies the senders of what was taken, and of the end."""
        if self._now is not None:
            self._now.close()
            self._last, self._now = self._now, None

    async def deliver(self, sender: UUID, messages: AsyncIterator[Carried]) -> AsyncIterator[Receipt]:
        if self._access is not None:
            call = current_call()
            self._access.check_send(call.identity, call.peer, self._process)
        now = self._now or self._last  # the last one reports that it is closed
        if now is None:
            return
        admitted = _Admitted(self._access) if self._access is not None else None
        async with aclosing(now.deliver(sender, messages, admitted)) as receipts:
            async for receipt in receipts:
                yield receipt


class _Incarnation:
    """The arrivals of one mailbox."""

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox
        self._id = uuid4()
        self._senders: dict[UUID, _Sender] = {}
        self._closing = False

    def close(self) -> None:
        self._closing = True
        for sender in self._senders.values():
            sender.news.set()

    async def deliver(
        self, sender: UUID, messages: AsyncIterator[Carried], admitted: _Admitted | None
    ) -> AsyncGenerator[Receipt]:
        known = await self._known(sender)
        reading = self._read(known, sender, messages, admitted)
        reader = known.reader = get_running_loop().create_task(reading)
        reader.add_done_callback(lambda _: known.news.set())
        try:
            yield self._first(known)
            while known.reader is reader and not self._closing:
                await known.news.wait()
                known.news.clear()
                if known.has_news:
                    yield self._receipt(known, *known.take_news())
                if reader.done():
                    reader.result()
                    return
            if self._closing:
                await _ended(reader)
                yield self._receipt(known, *known.take_news(), closing=True)
        finally:
            await _ended(reader)
            if known.reader is reader:
                known.reader = None

    async def _known(self, sender: UUID) -> _Sender:
        """The state of a sender, after the reader of its former stream, if any, has ended."""
        known = self._senders.pop(sender, None)
        if known is None:
            known = _Sender(get_running_loop())
            idle = [each for each, state in self._senders.items() if state.reader is None]
            if len(self._senders) >= _MOST_SENDERS and idle:
                del self._senders[idle[0]]
        self._senders[sender] = known
        former, known.reader = known.reader, None
        if former is not None:
            await _ended(former)
            known.news.set()
        return known

    async def _read(
        self,
        known: _Sender,
        sender: UUID,
        messages: AsyncIterator[Carried],
        admitted: _Admitted | None,
    ) -> None:
        async for carried in messages:
            for each in carried.types:
                texts = Texts(each.descriptor, each.annex)
                known.described.add(texts.fingerprint, texts)
            if carried.sequence <= known.received:
                continue
            try:
                if admitted is not None:
                    admitted.check(carried.source)
                values = decode_attributes(carried.attributes, types=known.described.types)
                message = Message(carried.source, carried.dest, values)
                size = len(carried.attributes) + OVERHEAD
                parcel = Parcel(message, size, sender, known, carried.sequence)
                known.waiting.add(carried.sequence)
                await self._put(known, parcel)
            except Error as error:
                known.waiting.discard(carried.sequence)
                if error.code is Code.CANCELLED:
                    return  # the mailbox is closed
                known.refuse(Refused(carried.sequence, error.code, error.message[:256]))
            except CancelledError:
                known.waiting.discard(carried.sequence)
                raise
            known.received = carried.sequence
            known.arm()

    async def _put(self, known: _Sender, parcel: Parcel) -> None:
        """Puts a message into the mailbox. While it waits for room its sender is notified of that."""
        mailbox = self._mailbox
        try:
            while not mailbox.put(parcel):
                room = LoopGate()
                mailbox.when_room(room.open)
                if mailbox.put(parcel):
                    return
                known.full = True
                known.arm()
                await room.wait(INFINITE)
        finally:
            known.full = False

    def _receipt(
        self,
        known: _Sender,
        taken: list[int] | None = None,
        refused: list[Refused] | None = None,
        *,
        closing: bool = False,
    ) -> Receipt:
        known.said, known.said_full = known.received, known.full
        return Receipt(self._id, known.received, taken or [], refused or [], [], closing, known.full)

    def _first(self, known: _Sender) -> Receipt:
        """The first receipt of a stream: everything that the sender may not know."""
        known.take_news()
        known.said, known.said_full = known.received, known.full
        waiting = sorted(known.waiting)
        return Receipt(self._id, known.received, [], list(known.ever_refused), waiting, False, known.full)


async def _ended(task: Task[None]) -> None:
    task.cancel()
    await wait((task,))
