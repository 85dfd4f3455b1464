"""The mailbox of a process: messages wait here until a receiver takes them.

    box = Mailbox("B")
    m = box.recv(5.0, src="A", tag="input")      # waits at most 5 s; without a number 30 s
    m = box.poll(tag=ANY)                        # raises NoMessage
    box.peek(data=list)                          # True if one waits
    box.on_message(print, tag="log")             # see callbacks.py
    m = await box.recv_async(src="A")

Any number of threads and tasks may receive at once; each message goes to one of them. A receiver gets the
first message that matches, in the order of arrival; others stay. Functions of a pattern run in the receiving
thread, never under the lock and never where messages come in: if one raises, `recv` raises that and the
messages stay; a slow one delays no other receiver.

A mailbox is bounded in messages and in bytes, and shared between senders: a sender that has messages in it
gets more room only while as much as it uses itself stays free, and a sixteenth as well, which is reserved for
small messages of senders that have none. So one sender uses less than half, and however many messages wait
that the receiver does not take, a sender whose messages are taken makes progress. `put` returns False if
there is no room, which is logged; `when_room` calls back when there may be some."""

from collections import deque
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Any, Final

from mf.core import log
from mf.core.error import Code, Error, not_executed
from mf.core.gate import LoopGate, ThreadGate
from mf.core.immediate import immediate
from mf.core.options import DEFAULT_DEADLINE
from mf.flex.callbacks import Callbacks, Registered, take_all
from mf.flex.errors import NoMessage, begun_by_parent, is_closed, none_came
from mf.flex.message import Message
from mf.flex.pattern import Pattern, pattern
from mf.flex.queue import Parcel, Queue
from mf.flex.waiter import Waiter, Waiters

MAX_MESSAGES: Final = 65_536
MAX_BYTES: Final = 64 << 20
_RESERVED: Final = 16  # the part of a mailbox that is kept for senders without messages in it
_SMALL: Final = 256  # the part of the reserve that one sender may use
_LOG_EVERY: Final = 10.0
OVERHEAD: Final = 256
"""Bytes that each message counts in addition to its encoded attributes."""


class Mailbox:
    """`name`: the name of the process, for error texts. `max_messages`, `max_bytes`: the most that may
    wait."""

    def __init__(self, name: str, *, max_messages: int = MAX_MESSAGES, max_bytes: int = MAX_BYTES) -> None:
        if max_messages < 2 or max_bytes < 2 * OVERHEAD:
            raise ValueError(
                f"a mailbox has room for 2 messages at least, not {max_messages} in {max_bytes} bytes"
            )
        self.name = name
        self._max_messages = max_messages
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._queue = Queue()
        self._waiters = Waiters()
        self._bytes = 0
        self._held = 0  # messages that count, including those that callbacks have claimed
        self._by_sender: dict[Any, list[int]] = {}  # sender -> its messages and bytes
        self._for_room: list[Callable[[], None]] = []
        self._closed = False
        self._why: Error | None = None  # it is closed, if not by its owner
        self._full_logged_at = -_LOG_EVERY  # when it was last logged that there is no room
        self._callbacks = Callbacks(self)

    # Receiving

    def recv(self, timeout: float | None = None, /, **criteria: Any) -> Message:
        """The first message that matches. Waits at most `timeout` seconds (default 30; or mf.INFINITE).

        Raises Error(DEADLINE_EXCEEDED), Error(CANCELLED) when the mailbox is closed, Error(INVALID_ARGUMENT)
        for criteria that no message can meet, and whatever a function among the criteria raises.
        """
        asked = pattern(criteria)
        message = self._at_once(asked)
        if message is None:
            self._check_may_block()
            return immediate(self._wait(Waiter(asked, ThreadGate()), timeout))
        return message

    def poll(self, /, **criteria: Any) -> Message:
        """`recv` without waiting. Raises NoMessage if no message matches."""
        asked = pattern(criteria)
        message = self._at_once(asked)
        if message is None:
            self._check_open()
            raise NoMessage(f"nothing that matches {asked!r} waits for {self.name!r}")
        return message

    recv_nb = poll
    """As MPI names it."""

    async def recv_async(self, timeout: float | None = None, /, **criteria: Any) -> Message:
        """`recv` for asyncio. If it is cancelled, no message is taken."""
        asked = pattern(criteria)
        message = self._at_once(asked)
        if message is None:
            return await self._wait(Waiter(asked, LoopGate()), timeout)
        return message

    def peek(self, /, **criteria: Any) -> bool:
        """Whether `poll` would find a message."""
        asked = pattern(criteria)
        if asked.tests:
            return any(self._message_passes(asked, number) for number, _ in self._candidates(asked))
        with self._lock:
            return self._queue.first(asked) is not None

    def on_message(self, function: Callable[[Message], Any], /, **criteria: Any) -> Registered:
        """Calls a function with each matching message, including those that wait already, until it is
        unregistered: see callbacks.py."""
        self._check_open()
        return self._callbacks.add(function, pattern(criteria))

    regcb = on_message
    """As the report of 2009 names it."""

    def __len__(self) -> int:
        """How many messages wait."""
        return len(self._queue)

    def __bool__(self) -> bool:
        """A mailbox is always true, even when it is empty."""
        return True

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"{len(self):,} messages wait"
        return f"<mf.flex.Mailbox {self.name!r}: {state}>"

    # Putting

    def put(self, parcel: Parcel) -> bool:
        """False: there is no room for it now. Raises Error(MESSAGE_TOO_LARGE) if it can never fit, and
        Error(CANCELLED) when the mailbox is closed."""
        with self._lock:
            self._check_open()
            has_room = self._hold(parcel)
            if has_room:
                if self._callbacks and self._callbacks.claim(parcel):
                    return True
                number = self._queue.put(parcel)
                woken = self._waiters.of(parcel.message, number) if self._waiters else ()
        if not has_room:
            self._log_full()
            return False
        for waiter in woken:
            waiter.wake()
        return True

    def when_room(self, call: Callable[[], None]) -> None:
        """Calls `call` once, from any thread, when a message is taken or the mailbox is closed."""
        with self._lock:
            if not self._closed:
                self._for_room.append(call)
                return
        call()

    def close(self) -> list[Parcel]:
        """Closes the mailbox, wakes all receivers, and returns the messages that were not taken. May be
        called twice."""
        with self._lock:
            self._closed = True
            left = self._queue.take_all()
            waiting = self._waiters.all()
            calls, self._for_room = self._for_room, []
        left = sorted((*left, *self._callbacks.close()), key=_sequence)
        for waiter in waiting:
            waiter.wake()
        for call in calls:
            call()
        return left

    def after_fork(self) -> None:
        """In a child, for a mailbox that only threads of the parent fill: it has ended there."""
        self._lock = Lock()
        self._why = begun_by_parent(f"the mailbox of {self.name!r}")
        self._callbacks.after_fork()
        Mailbox.close(self)

    # Inside

    def _check_open(self) -> None:
        if self._closed:
            raise self._why or is_closed(self.name)

    def _hold(self, parcel: Parcel) -> bool:
        """Counts a message, if there is room for it."""
        size, half = parcel.size, self._max_bytes // 2
        if size > half:
            text = f"the message takes {size:,} bytes; {self.name!r} takes {half:,} of one sender"
            raise not_executed(Code.MESSAGE_TOO_LARGE, text)
        share = self._by_sender.get(parcel.sender)
        messages, bytes_ = share or (0, 0)
        if not (
            _has_room(1, messages, self._held, self._max_messages)
            and _has_room(size, bytes_, self._bytes, self._max_bytes)
        ):
            return False
        self._held += 1
        self._bytes += size
        if share is None:
            self._by_sender[parcel.sender] = [1, size]
        else:
            share[0] += 1
            share[1] += size
        return True

    def _log_full(self) -> None:
        """Logs that the mailbox is full, at most once in a period."""
        with self._lock:
            now = monotonic()
            if now - self._full_logged_at < _LOG_EVERY:
                return
            self._full_logged_at = now
            held, senders = self._held, len(self._by_sender)
        log.warning("%s", log.line("mailbox_full", mailbox=self.name, messages=held, senders=senders))

    def _release(self, parcel: Parcel) -> list[Callable[[], None]]:
        """Subtracts a message from the bounds; returns the callbacks of `when_room` to call."""
        self._held -= 1
        self._bytes -= parcel.size
        share = self._by_sender[parcel.sender]
        share[0] -= 1
        share[1] -= parcel.size
        if not share[0]:
            del self._by_sender[parcel.sender]
        calls = self._for_room
        if calls:
            self._for_room = []
        return calls

    def release(self, parcel: Parcel) -> None:
        """Subtracts a message from the bounds, and notifies its sender that it was taken."""
        with self._lock:
            calls = self._release(parcel)
        for call in calls:
            call()
        if parcel.owner is not None:
            parcel.owner.taken(parcel)

    def _taken(self, parcel: Parcel) -> Message:
        self.release(parcel)
        return parcel.message

    def _at_once(self, asked: Pattern) -> Message | None:
        """Takes a message that waits already. Without functions in the pattern it locks only once."""
        if asked.tests:
            found = self._tested(asked, {})
            return None if found is None else self._taken(found)
        with self._lock:
            parcel = self._queue.take_first(asked)
            if parcel is None:
                return None
            calls = self._release(parcel)
        for call in calls:
            call()
        if parcel.owner is not None:
            parcel.owner.taken(parcel)
        return parcel.message

    def _candidates(self, asked: Pattern) -> list[tuple[int, Any]]:
        with self._lock:
            return self._queue.candidates(asked)

    def _message_passes(self, asked: Pattern, number: int) -> bool:
        parcel = self._queue.messages.get(number)
        return parcel is not None and asked.passes(parcel.message)

    def _tested(self, asked: Pattern, answers: dict[Any, bool]) -> Parcel | None:
        """Takes a message for a pattern with functions, which run outside the lock. `answers` caches
        results."""
        while True:
            lost = False
            for number, tested in self._candidates(asked):
                answer = answers.get(tested)
                if answer is None:
                    answer = answers[tested] = self._message_passes(asked, number)
                if answer:
                    with self._lock:
                        parcel = self._queue.take(number)
                    if parcel is not None:
                        return parcel
                    lost = True  # another receiver took it; a message with the same values may follow
                    break
            if not lost:
                return None

    def take(self, asked: Pattern, waiter: Waiter) -> Parcel | None:
        """The message that a waiter gets after it was woken, or None."""
        self._check_open()
        if not asked.tests:
            with self._lock:
                return self._queue.take_first(asked)
        for number in waiter.fresh():
            if self._message_passes(asked, number):
                with self._lock:
                    parcel = self._queue.take(number)
                if parcel is not None:
                    return parcel
        return None

    def begin(self, waiter: Waiter) -> Parcel | None:
        """Registers a waiter, and looks once more, since messages that came before do not wake it."""
        asked = waiter.pattern
        with self._lock:
            self._check_open()
            self._waiters.add(waiter)
            if not asked.tests:
                return self._queue.take_first(asked)
        return self._tested(asked, {})

    def end(self, waiter: Waiter, *, empty_handed: bool) -> None:
        """Removes a waiter. If it was woken and takes nothing, the other waiters look again."""
        with self._lock:
            self._waiters.remove(waiter)
            others = self._waiters.all() if empty_handed and waiter.woken else []
            for other in others:
                other.look_again(self._queue.messages)
        for other in others:
            other.wake()

    def _check_may_block(self) -> None:
        """Raises on a thread where blocking would deadlock."""

    async def _wait(self, waiter: Waiter, timeout: float | None) -> Message:
        seconds = DEFAULT_DEADLINE if timeout is None else timeout
        until = monotonic() + seconds
        asked = waiter.pattern
        parcel: Parcel | None = None
        try:
            parcel = self.begin(waiter)
            while parcel is None:
                left = until - monotonic()
                if left <= 0 or not await waiter.wait(left):
                    raise none_came(self.name, asked, len(self), seconds)
                parcel = self.take(asked, waiter)
        finally:
            self.end(waiter, empty_handed=parcel is None)
        return self._taken(parcel)

    # For callbacks.py

    def watch(self, waiter: Waiter) -> None:
        """Registers a waiter to which all waiting messages are new."""
        with self._lock:
            self._check_open()
            self._waiters.add(waiter)
            waiter.look_again(self._queue.messages)

    def claim_waiting(self, asked: Pattern) -> list[Parcel]:
        """Takes all messages that match a pattern without functions. They still count against the bounds."""
        found: list[Parcel] = []
        with self._lock:
            while (parcel := self._queue.take_first(asked)) is not None:
                found.append(parcel)
        return found

    def put_back(self, backlog: deque[Parcel]) -> None:
        """Appends messages that a callback had claimed and not handled to the queue, in their order. This
        takes the lock, since `put` claims messages for callbacks under it."""
        woken: list[Waiter] = []
        parcels: list[Parcel] = []
        with self._lock:
            take_all(backlog, parcels)
            for parcel in parcels:
                number = self._queue.put(parcel)
                woken += self._waiters.of(parcel.message, number)
        for waiter in woken:
            waiter.wake()


def _has_room(size: int, share: int, held: int, most: int) -> bool:
    """Whether there is room for `size` more from a sender to which `share` of `held` belongs."""
    reserved = most // _RESERVED
    if share:
        return held + size + share + size <= most - reserved
    return held + size <= most - (reserved if size > reserved // _SMALL else 0)


def _sequence(parcel: Parcel) -> int:
    return parcel.sequence
