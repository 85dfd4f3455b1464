"""Callbacks for matching messages. They run one at a time on a thread of the mailbox, which is started for
the first of them; they never run where messages are received, so a slow one does not delay other mailboxes.

If the pattern has no functions, a message goes to the matching callback that was registered first, before any
waiting receiver. A callback whose pattern has functions competes with waiting receivers, and the first to
take the message gets it. If a callback raises, that is logged, its message is lost, and it is called again
with the next. A coroutine function is awaited on the loop where it was registered.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, get_running_loop, run_coroutine_threadsafe
from collections import deque
from contextlib import suppress
from inspect import iscoroutinefunction
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Protocol

from mf.core.gate import ThreadGate
from mf.core.log import error, quote
from mf.flex.waiter import Waiter

if TYPE_CHECKING:
    from collections.abc import Callable

    from mf.flex.message import Message
    from mf.flex.pattern import Pattern
    from mf.flex.queue import Parcel


_LOOK_AFTER = 0.5
"""How often, in seconds, the wait for a coroutine callback checks whether the mailbox is closed."""


class Registered:
    """A registered callback. `calls`, `raised`: how often it was called, and how often it raised."""

    def __init__(self, callbacks: Callbacks, function: Callable[[Message], Any], pattern: Pattern) -> None:
        self._callbacks = callbacks
        self._loop: AbstractEventLoop | None = get_running_loop() if iscoroutinefunction(function) else None
        self.function = function
        self.pattern = pattern
        self.backlog: deque[Parcel] = deque()
        self.waiter: Waiter | None = None
        self.calls = 0
        self.raised = 0

    def unregister(self) -> None:
        """Unregisters the callback; a call that is running still completes. Messages that wait for it go back
        to the mailbox. May be called twice."""
        self._callbacks.remove(self)

    def __enter__(self) -> Registered:
        return self

    def __exit__(self, *_: object) -> None:
        self.unregister()

    def call(self, message: Message) -> None:
        self.calls += 1
        try:
            given = self.function(message)
            if self._loop is not None:
                self._await(given, self._loop)
        except BaseException as raised:
            self.raised += 1
            text = f"callback {getattr(self.function, '__qualname__', self.function)!r} raised {raised!r}"
            error("%s", quote(text), exc_info=raised if isinstance(raised, Exception) else None)

    def _await(self, given: Any, loop: AbstractEventLoop) -> None:
        future = run_coroutine_threadsafe(given, loop)
        while not self._callbacks.closed:
            try:
                future.result(_LOOK_AFTER)
                return
            except TimeoutError:
                if future.done():
                    raise  # the callback's own
        future.cancel()  # the loop may have ended, and then it never completes

    def __repr__(self) -> str:
        name = getattr(self.function, "__qualname__", self.function)
        return f"<mf.flex.Registered {name} for {self.pattern!r}: {self.calls:,} calls>"


class Box(Protocol):
    """The part of a mailbox that callbacks use."""

    @property
    def name(self) -> str: ...

    def watch(self, waiter: Waiter) -> None: ...

    def take(self, asked: Pattern, waiter: Waiter) -> Parcel | None: ...

    def end(self, waiter: Waiter, *, empty_handed: bool) -> None: ...

    def release(self, parcel: Parcel) -> None: ...

    def claim_waiting(self, asked: Pattern) -> list[Parcel]: ...

    def put_back(self, backlog: deque[Parcel]) -> None: ...


class Callbacks:
    """All callbacks of a mailbox."""

    def __init__(self, mailbox: Box) -> None:
        self._mailbox = mailbox
        self._lock = Lock()
        self._all: tuple[Registered, ...] = ()
        self._thread: Thread | None = None
        self._gate = Lock()  # held while there is nothing to do; `wake` releases it
        self.closed = False

    def add(self, function: Callable[[Message], Any], pattern: Pattern) -> Registered:
        registered = Registered(self, function, pattern)
        with self._lock:
            self._all = (*self._all, registered)
            if self._thread is None:
                self._gate.acquire()
                self._thread = Thread(target=self._run, name=f"mf-flex {self._mailbox.name}", daemon=True)
                self._thread.start()
        if pattern.tests:
            registered.waiter = _Waking(pattern, self)
            self._mailbox.watch(registered.waiter)
        else:
            registered.backlog.extendleft(reversed(self._mailbox.claim_waiting(pattern)))
        self.wake()
        return registered

    def remove(self, registered: Registered) -> None:
        with self._lock:
            self._all = tuple(each for each in self._all if each is not registered)
        if registered.waiter is not None:
            self._mailbox.end(registered.waiter, empty_handed=True)
        self._mailbox.put_back(registered.backlog)

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._all)

    def claim(self, parcel: Parcel) -> bool:
        """Whether a callback gets a new message. Called under the mailbox's lock."""
        for each in self._all:
            if not each.pattern.tests and each.pattern.shape.key_of(parcel.message) == each.pattern.key:
                each.backlog.append(parcel)
                self.wake()
                return True
        return False

    def wake(self) -> None:
        if self._thread is not None:
            with suppress(RuntimeError):  # the thread was woken already
                self._gate.release()

    def close(self) -> list[Parcel]:
        """Ends all callbacks; returns the messages that were claimed for them and not handled."""
        self.closed = True
        left: list[Parcel] = []
        for each in self._all:
            take_all(each.backlog, left)
        self.wake()
        return left

    def after_fork(self) -> None:
        """In a child, where its thread does not run."""
        self._lock = Lock()

    def _run(self) -> None:
        while True:
            self._gate.acquire()
            busy = True
            while busy and not self.closed:
                busy = False
                for each in self._all:
                    parcel = self._next(each)
                    if parcel is not None:
                        busy = True
                        each.call(parcel.message)
                        self._mailbox.release(parcel)
            if self.closed:
                return

    def _next(self, registered: Registered) -> Parcel | None:
        try:
            return registered.backlog.popleft()
        except IndexError:
            pass
        if registered.waiter is None:
            return None
        while not self.closed:
            try:
                return self._mailbox.take(registered.pattern, registered.waiter)
            except Exception as raised:  # raised by a function of the pattern; others may take it
                registered.raised += 1
                error("%s", quote(f"a function of {registered.pattern!r} raised {raised!r}"), exc_info=raised)
        return None


def take_all(backlog: deque[Parcel], into: list[Parcel]) -> None:
    """Moves all parcels. Other threads may take from `backlog` meanwhile; each parcel goes to one of them."""
    with suppress(IndexError):
        while True:
            into.append(backlog.popleft())


class _Waking(Waiter):
    """The waiter of a callback whose pattern has functions: it wakes the thread that calls them."""

    __slots__ = ("_callbacks",)

    def __init__(self, pattern: Pattern, callbacks: Callbacks) -> None:
        super().__init__(pattern, ThreadGate())
        self._callbacks = callbacks

    def wake(self) -> None:
        self.woken = False
        self._callbacks.wake()
