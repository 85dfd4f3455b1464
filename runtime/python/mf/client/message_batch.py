"""R5. Message-level batch: a list of calls as messages of limited size, in flight together up to the window.
Each message is a call with its own state machine. batch.py and async_batch.py implement the waiting.

In a batch of an @ordered method one message is in flight at a time, so that no item runs before an earlier
one has ended, whatever is repeated. A message that may still run ends the batch.

Replies refill the window on the thread that reads them; they are decoded when outcomes are requested. A
message that must be sent again needs a waiting caller, which finds another connection. A message that an
overloaded server refused rests first, or goes to another server once nothing is in flight here.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from threading import Lock, RLock
from time import monotonic
from typing import Any, Generic, TypeVar

from mf.client.begin import deadline_of, decoding, give_metadata, metadata_of
from mf.client.destination import Destination
from mf.client.driving import sent_off
from mf.core.code_class import MAY_RUN
from mf.core.error import Code, Error, Execution, cancelled_by_caller, not_executed
from mf.core.options import BatchOptions, check_options
from mf.core.outcome import Outcome
from mf.core.service import Method
from mf.link.core import OF_PARENT, LinkCore
from mf.protocol.call import Call, RetryBudget, too_late
from mf.protocol.call_table import CallEvent, CallStep
from mf.protocol.frame import METADATA, ONEWAY
from mf.route.finder import L, Route

T = TypeVar("T")


def may_still_run(failure: Error) -> bool:
    """Whether a message with this failure may still be executed."""
    return failure.execution is Execution.UNKNOWN and failure.code in MAY_RUN


def stopped_behind(failure: Error) -> Error:
    """The failure of later messages of an ordered batch when an earlier one may still run."""
    text = f"not sent, as an earlier message of this ordered batch may still run: {failure.message}"
    return not_executed(failure.code, text)


class Message(Call[T]):
    """The requests that are sent in one message: those from `start` to `end` of all."""

    rests_until = 0.0
    link: LinkCore | None = None
    """The link of the latest attempt."""

    def __init__(
        self, method: Method[Any, T], deadline: float, budget: RetryBudget, flags: int, start: int, end: int
    ) -> None:
        super().__init__(method, deadline, budget, flags)
        self.start = start
        self.behind = end
        self.items = end - start
        self.in_order = method.ordered


class MessageBatch(ABC, Generic[T, L]):
    """See above. Thread-safe for blocking clients."""

    __slots__ = (
        "_arrived",
        "_block",
        "_budget",
        "_deadline",
        "_decoding",
        "_flags",
        "_flying",
        "_leaves",
        "_left",
        "_lock",
        "_method",
        "_options",
        "_outcomes",
        "_pumping",
        "_queue",
        "_requests",
        "_resting",
        "_route",
        "_target",
        "_wakers",
    )

    def __init__(
        self,
        to: Destination[Any],
        method: Method[Any, T],
        requests: Sequence[Any],
        options: BatchOptions,
    ) -> None:
        check_options(options, BatchOptions)
        self._method = decoding(method, options)
        self._requests = requests
        self._options = options
        self._deadline = deadline_of(method, options, monotonic())
        self._block = metadata_of(to.router, options)
        self._flags = method.request_encoding | (ONEWAY if method.oneway else 0)
        if self._block:
            self._flags |= METADATA
        self._budget = to.router.budget
        self._target = to
        self._lock = Lock()
        self._decoding = RLock()
        count = len(requests)
        size = options.size or method.batch_max
        self._queue = deque(self._message(at, min(at + size, count)) for at in range(0, count, size))
        for message in self._queue:
            message.begin()
        self._outcomes: list[Outcome[T] | None] = [None] * count
        self._resting: list[Message[T]] = []
        self._leaves = False
        """Another server is not overloaded as this one is: nothing more is sent here."""
        self._left = count
        self._flying: dict[Message[T], None] = {}
        self._pumping = False
        self._arrived: list[Message[T]] = []
        self._wakers: list[Callable[[], None]] = []
        self._route: Route[L] | None = None

    def _message(self, start: int, end: int) -> Message[T]:
        message = Message(self._method, self._deadline, self._budget, self._flags, start, end)
        if self._options.calls is not None:
            self._options.calls.append(message)
        return message

    # State

    def partial(self) -> list[Outcome[T] | None]:
        with self._decoding:  # another thread may decode outcomes that this one would miss
            with self._lock:
                arrived, self._arrived = self._arrived, []
            for message in arrived:
                self._outcomes[message.start : message.behind] = message.outcomes()
                give_metadata(self._options, message.reply_metadata)
            return list(self._outcomes)

    def __len__(self) -> int:
        return len(self._outcomes)

    def _give_up(self) -> None:
        self._fail_queue(CallEvent.CANCELLED, cancelled_by_caller())
        for message in list(self._flying):
            assert self._route is not None
            self._route.link.abandon(message, CallEvent.CANCELLED, cancelled_by_caller())

    def after_fork(self) -> None:
        """In a child: messages that were sent may have been executed for the parent, and their outcomes are
        unknown here."""
        self._lock = Lock()
        self._decoding = RLock()
        self._pumping = False
        self._wakers = []
        for message in list(self._flying):
            message.failure = Error(Code.CONNECTION_LOST, OF_PARENT, Execution.UNKNOWN)
            message.ended_by = CallEvent.LOST
            message.done = True
            self._completed(message)

    # Sending

    async def _connect(self) -> None:
        """Finds a connection and fills the window; without one, all queued messages fail."""
        if monotonic() >= self._deadline:
            self._fail_queue(CallEvent.EXPIRED, too_late())
            return
        try:
            self._route = await self._target.find(self._method, self._deadline)
        except Error as failure:
            self._fail_queue(CallEvent.UNREACHABLE, failure)
            return
        self._leaves = False
        self._pump(self._route)
        self._route.link.flush()
        await self._route.link.room(self._deadline)  # one-way messages have no replies that limit them

    def _pump(self, route: Route[L]) -> None:
        """Queues as many messages as the window allows. The caller sends them."""
        hello = route.link.peer_hello
        window = 1 if self._method.ordered else self._options.window
        if hello is not None:
            window = min(window, hello.max_in_flight)
        with self._lock:
            if self._pumping:  # that thread, or an outer call on this one, looks at the queue again
                return
            self._pumping = True
        try:
            self._fill(route, window)
        except BaseException:  # for example of a signal handler
            self._pumping = False
            raise
        if self._queue and monotonic() >= self._deadline:
            self._fail_queue(CallEvent.EXPIRED, too_late())

    def _fill(self, route: Route[L], window: int) -> None:
        while True:
            with self._lock:
                self._end_rests(monotonic())
                full = len(self._flying) >= window or monotonic() >= self._deadline or self._leaves
                full = full or (self._method.ordered and bool(self._resting))
                if full or not self._queue or not route.link.usable or not route.binding.bound:
                    self._pumping = False
                    break
                message = self._queue.popleft()
                self._flying[message] = None
            self._send(route, message)

    def _send(self, route: Route[L], message: Message[T]) -> None:
        try:
            items = self._method.encode_requests(self._requests[message.start : message.behind])
        except Error as refused:
            self._split(message, refused)
            return
        except Exception as raised:  # an exception of the sequence, or of an invalid request
            text = f"these requests cannot be read: {raised!r}"
            self._split(message, not_executed(Code.INVALID_ARGUMENT, text))
            return
        message.begin_with(self._flags, self._block + items if self._block else items)
        if len(message.body) > route.link.peer_max_payload and message.items > 1:
            self._split(message, None)
            return
        self._submit(route, message)

    def _split(self, message: Message[T], refused: Error | None) -> None:
        """The message is too large, or a request of it cannot be encoded: it is split in halves."""
        if message.items == 1:
            assert refused is not None
            self._ended(message, message.fail(CallEvent.UNREACHABLE, refused, monotonic()))
            return
        middle = (message.start + message.behind) // 2
        halves = self._message(message.start, middle), self._message(middle, message.behind)
        for half in halves:
            half.goes_on_from(message)
        with self._lock:
            self._flying.pop(message, None)
            self._queue.extendleft(reversed(halves))

    def _submit(self, route: Route[L], message: Message[T]) -> None:
        now = monotonic()
        message.link = route.link
        step = message.bound_to(route.binding, now)
        if message.items > 1 and self._does_not_go(route, message):
            self._split(message, message.failure)
            return
        if step is CallStep.END:
            self._ended(message, step)
            return
        if self._method.oneway:
            self._ended(message, sent_off(message, route, now))
            return
        message.on_done = self._completed
        if not self._submit_to(route.link, message, now):
            self._completed(message)

    @staticmethod
    def _does_not_go(route: Route[L], message: Message[T]) -> bool:
        """Whether an item cannot be converted to the server's schema, or all of them are too large in it."""
        if message.failure is not None:
            return message.failure.code is Code.INVALID_ARGUMENT
        return message.adapted is not None and len(message.body) > route.link.peer_max_payload

    @abstractmethod
    def _submit_to(self, link: L, message: Message[T], now: float) -> bool:
        """Queues a message, whose `on_done` is called when it has ended. False: it has ended already."""

    # Receiving

    def _completed(self, message: Message[T]) -> None:
        """Called on the thread that read the reply, or noticed that there will be none."""
        self._ended(message, message.settle(monotonic()))

    def _ended(self, message: Message[T], step: CallStep) -> None:
        message.body = b""
        if step is CallStep.RESOLVE and message.refusal is not None:
            step = self._refused(message, message.refusal)
        again = step is CallStep.RESOLVE
        if not again and self._method.oneway and message.failure is None:
            self._outcomes[message.start : message.behind] = [Outcome() for _ in range(message.items)]
        with self._lock:
            self._flying.pop(message, None)
            if again and message.refusal is not None:
                self._resting.append(message)
            elif again:
                self._queue.appendleft(message)
            else:
                self._left -= message.items
                if message.failure is not None or not self._method.oneway:
                    self._arrived.append(message)
            wakers = self._take_wakers()
        if self._method.ordered and message.failure is not None and may_still_run(message.failure):
            self._fail_queue(CallEvent.CANCELLED, stopped_behind(message.failure))
        for wake in wakers:
            wake()
        if self._queue and not again and self._route is not None:
            self._pump(self._route)

    def _refused(self, message: Message[T], refusal: Error) -> CallStep:
        """An overloaded server refused it: it rests, or ends with the server's failure if there is no time
        for that."""
        now = monotonic()
        to, link = self._target, message.link
        assert link is not None
        rest = to.router.rest_of(message, link, to.service, to.agent, now)
        self._leaves = self._leaves or not rest
        message.rests_until = now + rest
        if message.rests_until >= self._deadline:
            return message.fail(CallEvent.UNREACHABLE, refusal, now)
        return CallStep.RESOLVE

    def _end_rests(self, now: float) -> None:
        """With the lock: queues messages that have rested."""
        if not self._resting:
            return
        rested = [message for message in self._resting if message.rests_until <= now]
        if rested:
            self._resting = [message for message in self._resting if message.rests_until > now]
            self._queue.extendleft(rested)

    def _rests(self) -> bool:
        """Whether nothing may be sent before a message has rested."""
        return not self._queue or (self._method.ordered and bool(self._resting))

    def _rest(self, limit: float) -> float:
        """When the next message has rested, but at most `limit`."""
        with self._lock:
            return min((message.rests_until for message in self._resting), default=limit)

    def _take_wakers(self) -> list[Callable[[], None]]:
        """With the lock: the wakers to call now."""
        if self._flying and self._left:
            return []
        wakers, self._wakers = self._wakers, []
        return wakers

    def _forget_waker(self, wake: Callable[[], None]) -> None:
        with self._lock, suppress(ValueError):  # it was called
            self._wakers.remove(wake)

    def _fail_queue(self, event: CallEvent, failure: Error) -> None:
        """Ends all messages that are queued or wait to be sent again."""
        with self._lock:
            self._end_rests(inf)
            while self._queue:
                message = self._queue.popleft()
                message.fail(event, failure, monotonic())
                self._left -= message.items
                self._arrived.append(message)
            wakers = self._take_wakers()
        for wake in wakers:
            wake()
