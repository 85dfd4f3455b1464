"""The state of a sent message, which `process.send` returns. The caller may ignore it.

    sent = process.send(dest="B", tag="input")
    sent.wait(5.0)             # until B has taken it; raises Undelivered when it never will
    await sent.wait_async()

A message to a group becomes one message for each member; `wait` waits for all of them.
"""

from collections.abc import Callable
from enum import Enum
from threading import Lock
from typing import Final, Protocol

from mf.core.error import Code, Error
from mf.core.gate import Gate, LoopGate, ThreadGate
from mf.core.immediate import immediate
from mf.core.options import DEFAULT_DEADLINE
from mf.flex.errors import Undelivered, begun_by_parent
from mf.flex.message import Message
from mf.link import fork


class WhenFull(Enum):
    """What to do with a message for which there is no room on the way: see Process.send."""

    BLOCK = "block"
    FAIL = "fail"
    DROP = "drop"


class Way(Protocol):
    """What carries a message to the mailbox of another node."""

    @property
    def dest(self) -> str: ...

    @property
    def mailbox_is_full(self) -> bool: ...


_MOST_NAMED: Final = 3


class _Shared:
    """What all Sent of a process share: the lock, as it is held only briefly, and what wakes those that wait.
    `generation` distinguishes them from those of a parent."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.generation = 0
        self.waiting: set[Callable[[], None]] = set()

    def after_fork(self) -> None:
        self.lock = Lock()
        self.generation += 1
        for wake in self.waiting:
            wake()


_shared: Final = _Shared()
fork.register(_shared)


class Sent:
    """`copies`: how many messages this one has become; 0 if it was dropped."""

    __slots__ = ("_failed", "_generation", "_under_way", "_ways", "_when_done", "copies")

    def __init__(self, copies: int = 0) -> None:
        self.copies = copies
        self._generation = _shared.generation
        self._under_way = copies
        self._failed: list[tuple[Error, Message]] = []
        self._when_done: list[Callable[[], None]] = []
        self._ways: list[Way] = []

    @property
    def dropped(self) -> bool:
        """Whether it was dropped (WhenFull.DROP) because there was no room."""
        return not self.copies

    @property
    def done(self) -> bool:
        """Whether `wait` would return or raise at once."""
        return not self._under_way or self._is_inherited

    @property
    def _is_inherited(self) -> bool:
        """In a forked child, for a message of the parent: its end is not known here."""
        return self._generation != _shared.generation

    def wait(self, timeout: float | None = None) -> None:
        """Waits until every receiver has taken it, at most `timeout` seconds (default 30; or mf.INFINITE).
        Raises Undelivered, and Error(DEADLINE_EXCEEDED), after which it may still be taken."""
        immediate(self._wait(ThreadGate(), timeout))

    async def wait_async(self, timeout: float | None = None) -> None:
        """`wait` for asyncio."""
        await self._wait(LoopGate(), timeout)

    async def _wait(self, gate: Gate, timeout: float | None) -> None:
        if not self._call_when_done(gate.open):
            seconds = DEFAULT_DEADLINE if timeout is None else timeout
            try:
                if not await gate.wait(seconds) and not self.done:
                    raise self._late(seconds)
            finally:
                _shared.waiting.discard(gate.open)
        self._result()

    def _call_when_done(self, call: Callable[[], None]) -> bool:
        """Registers `call` for the end. True: it has ended already, and `call` is not called."""
        with _shared.lock:
            done = self.done
            if not done:
                self._when_done.append(call)
                _shared.waiting.add(call)
        return done

    def _late(self, seconds: float) -> Error:
        left = f"{self._under_way} of {self.copies} receivers have" if self.copies > 1 else "its receiver has"
        full = [f"the mailbox of {way.dest!r} is full" for way in self._ways if way.mailbox_is_full]
        why = f": {', '.join(full[:_MOST_NAMED])}" if full else ""
        return Error(Code.DEADLINE_EXCEEDED, f"{left} not taken the message within {seconds:g} s{why}")

    def _result(self) -> None:
        if self._under_way and self._is_inherited:
            raise begun_by_parent("the message")
        if self._failed:
            raise Undelivered(self._failed[0][0], [message for _, message in self._failed])

    # For the runtime

    def carried_by(self, way: Way) -> None:
        """The message goes to another node. The known state of the mailbox there explains a delay."""
        self._ways.append(way)

    def one_taken(self) -> None:
        self._one_ended(None)

    def one_dropped(self) -> None:
        with _shared.lock:
            self.copies -= 1
        self._one_ended(None)

    def one_failed(self, error: Error, message: Message) -> None:
        self._one_ended((error, message))

    def _one_ended(self, failed: tuple[Error, Message] | None) -> None:
        with _shared.lock:
            if failed is not None:
                self._failed.append(failed)
            self._under_way -= 1
            if self._under_way:
                return
            calls, self._when_done = self._when_done, []
        for call in calls:
            call()

    def __repr__(self) -> str:
        if self.dropped:
            return "<mf.flex.Sent: dropped>"
        if self._under_way:
            return f"<mf.flex.Sent: {self._under_way} of {self.copies} not taken yet>"
        return f"<mf.flex.Sent: {f'{len(self._failed)} undelivered' if self._failed else 'taken'}>"
