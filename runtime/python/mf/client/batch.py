"""R5. Message-level batch: a list of calls as messages of at most so many items, in flight together up to
the window.

Replies refill the window on whatever thread reads them; they are decoded by whoever asks for outcomes. If
the connection ends, messages that surely were not executed (or any, if the method is idempotent) wait for a
thread that waits for the batch: that one finds another connection and sends them again, each at most twice.
All others keep the outcome they have.
"""

from collections import deque
from collections.abc import Sequence
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar, cast

from mf.client.call import MOST_RETRIES, repeatable
from mf.client.routes import Route
from mf.core.error import Code, Error, Execution, not_executed
from mf.core.options import BatchOptions
from mf.core.outcome import Outcome
from mf.core.service import Method, Payload
from mf.core.target import BatchCall
from mf.protocol.calls import Call, Pending
from mf.protocol.frame import ONEWAY, pack_deadline
from mf.protocol.reply import read_outcomes

if TYPE_CHECKING:
    from mf.client.target import RemoteTarget

T = TypeVar("T")


class _Part:
    """Some requests that go in one message: [start, end) of all."""

    __slots__ = ("end", "failures", "start", "unknown")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end
        self.failures = 0
        self.unknown: Error | None = None

    def halves(self) -> "tuple[_Part, _Part]":
        middle = (self.start + self.end) // 2
        return _Part(self.start, middle), _Part(middle, self.end)


class _Message(Call):
    """A part under way."""

    part: _Part


class MessageBatch(BatchCall[T]):
    """See above. Any thread may ask."""

    __slots__ = (
        "_arrived",
        "_deadline",
        "_in_flight",
        "_left",
        "_lock",
        "_method",
        "_outcomes",
        "_pumping",
        "_queue",
        "_requests",
        "_route",
        "_target",
        "_waiters",
        "_window",
    )

    def __init__(
        self,
        target: "RemoteTarget",
        method: Method[Any, T],
        requests: Sequence[Any],
        options: BatchOptions,
        deadline: float,
    ) -> None:
        self._target = target
        self._method = method
        self._requests = requests
        self._deadline = deadline
        self._window = options.window
        self._lock = Lock()
        count = len(requests)
        size = options.size or method.batch_max
        self._queue = deque(_Part(at, min(at + size, count)) for at in range(0, count, size))
        self._outcomes: list[Outcome[T] | None] = [None] * count
        self._left = count
        self._in_flight = 0
        self._pumping = False
        self._arrived: list[_Message] = []
        self._waiters: list[Pending] = []
        self._route: Route | None = None
        if count:
            self._connect()

    # What the user asks

    def ready(self) -> bool:
        if self._left and not self._in_flight:
            return self.wait(0.001)  # the connection was lost and nobody waits: go on from here
        return not self._left

    def wait(self, timeout: float | None = None) -> bool:
        limit = self._deadline if timeout is None else min(self._deadline, monotonic() + timeout)
        while self._left:
            with self._lock:
                stuck = not self._in_flight
                waiter = Pending(limit)
                if not stuck:
                    self._waiters.append(waiter)
            now = monotonic()
            if now >= limit:
                self._late(now)
                break
            if stuck:
                self._connect()
            else:
                route = self._route
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
            part = message.part
            self._outcomes[part.start : part.end] = self._read(message)
        return list(self._outcomes)

    def __len__(self) -> int:
        return len(self._outcomes)

    def _read(self, message: _Message) -> list[Outcome[T]]:
        count = message.part.end - message.part.start
        error = message.failure
        if error is None:
            try:
                return read_outcomes(self._method, message.status, message.encoding, count, message.payload)
            except Error as malformed:
                error = malformed
        return [Outcome(error=error) for _ in range(count)]

    # Sending

    def _connect(self) -> None:
        """Finds a connection and fills the window; without one, everything that waits to be sent fails."""
        try:
            self._route = self._target.find(self._deadline)
        except Error as failure:
            self._fail_queue(failure)
            return
        self._pump(self._route)
        self._route.link.flush()

    def _pump(self, route: Route) -> None:
        """Queues as many messages as the window takes. Who calls sends them."""
        hello = route.link.peer_hello
        window = min(self._window, hello.max_in_flight) if hello else self._window
        with self._lock:
            if self._pumping:  # that thread, or this one further up, looks at the queue again
                return
            self._pumping = True
        while True:
            with self._lock:
                full = self._in_flight >= window or monotonic() >= self._deadline
                if full or not self._queue or not route.link.usable:
                    self._pumping = False
                    break
                part = self._queue.popleft()
                self._in_flight += 1
            self._send(route, part)
        if self._queue and monotonic() >= self._deadline:
            self._fail_queue(_too_late())

    def _send(self, route: Route, part: _Part) -> None:
        method = self._method
        requests = self._requests[part.start : part.end]
        try:
            payload = method.encode_requests(requests)
        except Error as refused:
            self._split(part, refused)
            return
        session_limit = route.link.peer_max_payload
        if len(payload) > session_limit and part.end - part.start > 1:
            self._split(part, None)
            return
        self._submit(route, part, payload)

    def _split(self, part: _Part, refused: Error | None) -> None:
        """One message is too large, or one request of it cannot be encoded: send it in halves."""
        if part.end - part.start == 1:
            message = _Message(self._deadline)
            message.part = part
            message.failure = refused
            self._completed(message)
            return
        with self._lock:
            self._in_flight -= 1
            self._queue.extendleft(reversed(part.halves()))

    def _submit(self, route: Route, part: _Part, payload: Payload) -> None:
        now = monotonic()
        method = self._method
        message = _Message(self._deadline)
        message.part = part
        message.route = route.first + method.index
        word = pack_deadline(max(self._deadline - now, 0.0))
        count = part.end - part.start
        if method.oneway:
            route.link.start(message, method.request_encoding | ONEWAY, word, count, payload, now)
            if message.failure is None:
                self._outcomes[part.start : part.end] = [Outcome() for _ in range(count)]
            self._completed(message)
            return
        message.on_done = self._completed
        watch = route.link.watches.thread()
        route.link.submit(message, method.request_encoding, word, count, payload, watch, flush=False)

    # Receiving

    def _completed(self, message: _Message) -> None:
        """On whatever thread read the reply, or noticed that there will be none."""
        part = message.part
        again = message.failure is not None and self._again(part, message.failure)
        with self._lock:
            self._in_flight -= 1
            if again:
                self._queue.appendleft(part)
            else:
                if part.unknown is not None and message.failure is not None:
                    message.failure = part.unknown
                self._left -= part.end - part.start
                if message.failure is not None or not self._method.oneway:
                    self._arrived.append(message)
            wake = self._waiters if not self._in_flight or not self._left else []
            if wake:
                self._waiters = []
        route = self._route
        assert route is not None
        for waiter in wake:
            route.link.finish(waiter)
        if self._queue and not again:
            self._pump(route)

    def _again(self, part: _Part, failure: Error) -> bool:
        if part.failures >= MOST_RETRIES or not repeatable(self._method, failure):
            return False
        part.failures += 1
        if failure.execution != Execution.NOT_EXECUTED:
            part.unknown = failure
        return monotonic() < self._deadline

    def _fail_queue(self, failure: Error) -> None:
        """What has not been sent, or is to be sent again, ends."""
        with self._lock:
            while self._queue:
                part = self._queue.popleft()
                message = _Message(self._deadline)
                message.part = part
                message.failure = part.unknown or failure
                self._left -= part.end - part.start
                self._arrived.append(message)
            wake = [] if self._left else self._waiters
            if wake:
                self._waiters = []
        for waiter in wake:
            assert self._route is not None
            self._route.link.finish(waiter)

    def _late(self, now: float) -> None:
        """The waiter's time is over; if it is the batch's too, what is left ends now."""
        if now < self._deadline:
            return
        self._fail_queue(_too_late())
        if self._route is not None:
            self._route.link.expire(now)


def _too_late() -> Error:
    return not_executed(Code.DEADLINE_EXCEEDED, "the batch's deadline passed before this request was sent")
