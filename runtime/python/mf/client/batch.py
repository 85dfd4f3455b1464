"""R5. Message-level batch: a list of calls as messages of at most so many items, in flight together up to
the window. Each message is a call of its own, with a machine of its own.

Replies refill the window on whatever thread reads them; they are decoded by whoever asks for outcomes. A
message that is to be sent again waits for somebody who waits for the batch, and who finds another connection.
"""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar, cast

from mf.client.begin import deadline_of, give_metadata, metadata_of
from mf.client.blocking import given_up, sent_off
from mf.client.destination import Destination
from mf.client.routes import Route
from mf.core.error import Code, Error, not_executed
from mf.core.options import BatchOptions
from mf.core.outcome import Outcome
from mf.core.service import Method
from mf.core.target import BatchCall
from mf.protocol.call import Call, RetryBudget, too_late
from mf.protocol.call_table import CallEvent, CallStep
from mf.protocol.calls import Pending
from mf.protocol.frame import METADATA, ONEWAY, pack_deadline

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

T = TypeVar("T")


class _Message(Call[T]):
    """Some requests that go in one message: those from `start` to `end` of all."""

    def __init__(
        self, method: Method[Any, T], deadline: float, budget: RetryBudget, flags: int, start: int, end: int
    ) -> None:
        super().__init__(method, deadline, budget, flags)
        self.start = start
        self.behind = end
        self.items = end - start


class MessageBatch(BatchCall[T]):
    """See above. Any thread may ask. With `loop`, that loop looks after the replies, else a thread of the
    client's."""

    __slots__ = (
        "_arrived",
        "_block",
        "_budget",
        "_deadline",
        "_flags",
        "_flying",
        "_left",
        "_lock",
        "_loop",
        "_method",
        "_options",
        "_outcomes",
        "_pumping",
        "_queue",
        "_requests",
        "_route",
        "_to",
        "_wakers",
    )

    def __init__(
        self,
        to: Destination,
        method: Method[Any, T],
        requests: Sequence[Any],
        options: BatchOptions,
        *,
        loop: "AbstractEventLoop | None" = None,
    ) -> None:
        self._to = to
        self._method = method
        self._requests = requests
        self._options = options
        self._loop = loop
        self._deadline = deadline_of(method, options, monotonic())
        self._block = metadata_of(to.router, options)
        self._flags = method.request_encoding | (ONEWAY if method.oneway else 0)
        if self._block:
            self._flags |= METADATA
        self._budget = to.router.budget
        self._lock = Lock()
        count = len(requests)
        size = options.size or method.batch_max
        self._queue = deque(self._message(at, min(at + size, count)) for at in range(0, count, size))
        for message in self._queue:
            message.begin()
        self._outcomes: list[Outcome[T] | None] = [None] * count
        self._left = count
        self._flying: set[_Message[T]] = set()
        self._pumping = False
        self._arrived: list[_Message[T]] = []
        self._wakers: list[Callable[[], None]] = []
        self._route: Route | None = None
        if count and loop is None:
            self._connect()

    def _message(self, start: int, end: int) -> _Message[T]:
        return _Message(self._method, self._deadline, self._budget, self._flags, start, end)

    # What the user asks

    def ready(self) -> bool:
        if self._left and not self._flying:
            return self.wait(0.001)  # the connection was lost and nobody waits: go on from here
        return not self._left

    def wait(self, timeout: float | None = None) -> bool:
        limit = self._deadline if timeout is None else min(self._deadline, monotonic() + timeout)
        while self._left:
            waiter = Pending(limit)
            route = self._route
            with self._lock:
                stuck = not self._flying
                if not stuck:
                    assert route is not None
                    link = route.link
                    self._wakers.append(lambda link=link, waiter=waiter: link.finish(waiter))  # type: ignore[misc]
            now = monotonic()
            if now >= limit:
                self._late(now)
                break
            if stuck:
                self._connect()
            else:
                assert route is not None
                route.link.wait(waiter, now)
        return not self._left

    def results(self) -> list[Outcome[T]]:
        self.wait()
        return cast("list[Outcome[T]]", self.partial())

    def partial(self) -> list[Outcome[T] | None]:
        with self._lock:
            arrived, self._arrived = self._arrived, []
        for message in arrived:
            self._outcomes[message.start : message.behind] = message.outcomes()
            give_metadata(self._options, message.reply_metadata)
        return list(self._outcomes)

    def __len__(self) -> int:
        return len(self._outcomes)

    def __await__(self) -> Generator[Any, None, list[Outcome[T]]]:
        return self._results_async().__await__()

    async def _results_async(self) -> list[Outcome[T]]:
        """A task that is cancelled gives up what is still under way."""
        from asyncio import CancelledError, get_running_loop, wait_for

        from mf.client.aio import resolve, waker

        loop = get_running_loop()
        try:
            while self._left:
                future = loop.create_future()
                wake = waker(loop, lambda future=future: resolve(future))  # type: ignore[misc]
                with self._lock:
                    stuck = not self._flying
                    if not stuck:
                        self._wakers.append(lambda wake=wake: wake(None))  # type: ignore[misc]
                now = monotonic()
                if now >= self._deadline:
                    self._late(now)
                elif not stuck:
                    try:
                        await wait_for(future, self._deadline - now)
                    except TimeoutError:
                        continue
                elif self._to.ready() is not None:
                    self._connect()
                else:
                    from mf.client.lookup import on_own_thread

                    await on_own_thread(self._connect)
        except CancelledError:
            self._give_up()
            raise
        return cast("list[Outcome[T]]", self.partial())

    def _give_up(self) -> None:
        self._fail_queue(CallEvent.CANCELLED, given_up())
        for message in list(self._flying):
            assert self._route is not None
            self._route.link.abandon(message, CallEvent.CANCELLED, given_up())

    # Sending

    def _connect(self) -> None:
        """Finds a connection and fills the window; without one, everything that waits to be sent fails."""
        try:
            self._route = self._to.find(self._deadline)
        except Error as failure:
            self._fail_queue(CallEvent.UNREACHABLE, failure)
            return
        self._pump(self._route)
        self._route.link.flush()

    def _pump(self, route: Route) -> None:
        """Queues as many messages as the window takes. Who calls sends them."""
        hello = route.link.peer_hello
        window = self._options.window
        if hello is not None:
            window = min(window, hello.max_in_flight)
        with self._lock:
            if self._pumping:  # that thread, or this one further up, looks at the queue again
                return
            self._pumping = True
        while True:
            with self._lock:
                full = len(self._flying) >= window or monotonic() >= self._deadline
                if full or not self._queue or not route.link.usable or not route.binding.bound:
                    self._pumping = False
                    break
                message = self._queue.popleft()
                self._flying.add(message)
            self._send(route, message)
        if self._queue and monotonic() >= self._deadline:
            self._fail_queue(CallEvent.EXPIRED, too_late())

    def _send(self, route: Route, message: _Message[T]) -> None:
        try:
            items = self._method.encode_requests(self._requests[message.start : message.behind])
        except Error as refused:
            self._split(message, refused)
            return
        except Exception as raised:  # of the sequence, or of a request that is none
            text = f"these requests cannot be read: {raised!r}"
            self._split(message, not_executed(Code.INVALID_ARGUMENT, text))
            return
        message.body = self._block + items if self._block else items
        if len(message.body) > route.link.peer_max_payload and message.items > 1:
            self._split(message, None)
            return
        self._submit(route, message)

    def _split(self, message: _Message[T], refused: Error | None) -> None:
        """The message is too large, or one request of it cannot be encoded: it goes in halves."""
        if message.items == 1:
            assert refused is not None
            self._ended(message, message.fail(CallEvent.UNREACHABLE, refused, monotonic()))
            return
        middle = (message.start + message.behind) // 2
        halves = self._message(message.start, middle), self._message(middle, message.behind)
        for half in halves:
            half.goes_on_from(message)
        with self._lock:
            self._flying.discard(message)
            self._queue.extendleft(reversed(halves))

    def _submit(self, route: Route, message: _Message[T]) -> None:
        now = monotonic()
        message.bound_to(route.binding, now)
        if self._method.oneway:
            self._ended(message, sent_off(message, route, now))
            return
        message.on_done = self._completed
        link = route.link
        watch = link.watches.thread() if self._loop is None else link.watches.loop(self._loop)
        word = pack_deadline(max(self._deadline - now, 0.0))
        if not link.submit(message, word, watch, flush=False):
            self._completed(message)

    # Receiving

    def _completed(self, message: _Message[T]) -> None:
        """On whatever thread read the reply, or noticed that there will be none."""
        self._ended(message, message.settle(monotonic()))

    def _ended(self, message: _Message[T], step: CallStep) -> None:
        again = step is CallStep.RESOLVE
        message.body = b""
        if not again and self._method.oneway and message.failure is None:
            self._outcomes[message.start : message.behind] = [Outcome() for _ in range(message.items)]
        with self._lock:
            self._flying.discard(message)
            if again:
                self._queue.appendleft(message)
            else:
                self._left -= message.items
                if message.failure is not None or not self._method.oneway:
                    self._arrived.append(message)
            wakers = self._take_wakers()
        for wake in wakers:
            wake()
        if self._queue and not again and self._route is not None:
            self._pump(self._route)

    def _take_wakers(self) -> list[Callable[[], None]]:
        """With the lock: those to be woken now."""
        if self._flying and self._left:
            return []
        wakers, self._wakers = self._wakers, []
        return wakers

    def _fail_queue(self, event: CallEvent, failure: Error) -> None:
        """What has not been sent, or is to be sent again, ends."""
        with self._lock:
            while self._queue:
                message = self._queue.popleft()
                message.fail(event, failure, monotonic())
                self._left -= message.items
                self._arrived.append(message)
            wakers = self._take_wakers()
        for wake in wakers:
            wake()

    def _late(self, now: float) -> None:
        """The waiter's time is over; if it is the batch's too, what is left ends now."""
        if now < self._deadline:
            return
        self._fail_queue(CallEvent.EXPIRED, too_late())
        if self._route is not None:
            self._route.link.expire(now)
