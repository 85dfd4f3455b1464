"""R5. The common part of blocking and awaited streams: a call with a stream, its values, and its end. What
waits is written once (mf.core.immediate), over the waits of streams.py and async_streams.py.
"""

from _thread import allocate_lock
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from time import monotonic
from typing import Any, Generic, TypeVar

from mf.client.begin import begin_stream, give_metadata, idle_of
from mf.client.destination import Destination
from mf.client.driving import open_stream
from mf.core.error import Code, DeclaredError, Error, Execution, cancelled_by_caller
from mf.core.options import CallOptions
from mf.core.outcome import Failure
from mf.core.service import Method, Payload
from mf.core.stream import stream_has_ended, stream_is_idle
from mf.protocol.call_table import CallEvent, CallStep
from mf.protocol.cutting import ENDED, FULL, cutting, plain_bytes
from mf.protocol.frame import DATA_LIMIT
from mf.protocol.stream import MOST_VALUES, Outgoing
from mf.protocol.stream_call import StreamCall
from mf.route.finder import L, Route

NOTHING: Any = object()
"""There is no value."""


class ClientStream(ABC, Generic[L]):
    """See above. `route` is set once the request was sent. One thread or task may write while another one
    reads, and any may cancel."""

    __slots__ = (
        "_done_writing",
        "_dropping",
        "_given_up",
        "_malformed",
        "_reopening",
        "_service",
        "_settled",
        "_settling",
        "_unsent",
        "call",
        "idle",
        "options",
        "route",
        "to",
        "values",
    )

    def __init__(
        self,
        to: Destination[Any],
        method: Method[Any, Any],
        options: CallOptions | None,
        arguments: tuple[Any, ...],
    ) -> None:
        self.to = to
        self._service = to.service
        self.options = options
        self.idle = idle_of(options)
        self.values: deque[Any] = deque()
        """Decoded values that were not requested yet."""
        self.route: Route[L] | None = None
        self._unsent = 0
        self._done_writing = False
        """This side has ended its stream."""
        self._settled = False
        self._settling = allocate_lock()
        self._dropping = False
        """The call was given up, and received values are dropped."""
        self._reopening = False
        self._malformed: Error | None = None
        """What ends the call once the values before it were taken."""
        self._given_up: tuple[CallEvent, Error] | None = None
        """How the call was given up while it was sent to another server."""
        self.call: StreamCall[Any] = begin_stream(to.router, method, options, arguments, monotonic())
        self._set_up()

    @abstractmethod
    def _set_up(self) -> None:
        """Makes what this kind of stream has besides."""

    # Waits

    @abstractmethod
    async def wait_values(self) -> None:
        """Waits until something has arrived; if nothing does for too long, the call ends."""

    @abstractmethod
    async def wait_room(self) -> None:
        """The same for credit and room."""

    @abstractmethod
    def send(self) -> None:
        """Sends what is queued."""

    # The end

    @property
    def ended(self) -> bool:
        """Received values may still be taken."""
        return self.call.done if self.route is not None else self.call.failure is not None

    def result(self) -> Any:
        """The result of the ended call. Raises its failure instead."""
        self.settle()
        return self.call.value()

    def settle(self) -> bool:
        """Reports the end to the state machine, and gives the reply's metadata to the caller. False: the call
        continues at another server, since nothing of it has run; `reopened` follows."""
        with self._settling:
            if self._settled:
                return True
            call = self.call
            if self.route is not None and call.settle(monotonic()) is CallStep.RESOLVE:
                self._reopening = True
                return False
            self._settled = True
            if call.failure is None and call.cut_off():
                call.failure = Error(Code.DECODE_ERROR, "the stream ends within a value")
            give_metadata(self.options, call.reply_metadata)
            return True

    async def _reopen(self) -> None:
        route = None
        try:
            if self.route is not None:
                self.to.forget(self.route)
            route = await open_stream(self.call, self.to, CallStep.RESOLVE)
        except BaseException:
            self.call.fail(CallEvent.CANCELLED, cancelled_by_caller(), monotonic())
            raise
        finally:
            self.reopened(route)

    def reopened(self, route: Route[L] | None) -> None:
        """The call is at another server, or has ended since there is none."""
        with self._settling:
            self.route = route
            self._reopening = False
            given_up, self._given_up = self._given_up, None
        if given_up is not None:
            self.give_up(*given_up)

    def failure(self) -> Failure | None:
        """The failure of the ended call."""
        try:
            self.result()
        except (Error, DeclaredError) as failure:
            return failure
        return None

    def cancel(self) -> None:
        self.give_up(CallEvent.CANCELLED, cancelled_by_caller())

    def give_up(self, event: CallEvent, failure: Error) -> None:
        """Ends the call unless it has ended; received values are dropped."""
        with self._settling:
            if self._reopening:
                self._given_up = event, failure
                return
        if self.ended:
            return
        if self.route is None:
            self.call.fail(event, failure, monotonic())
        elif self.route.link.abandon(self.call, event, failure):
            self._dropping = True
            self.values.clear()

    def too_idle(self) -> None:
        """Called when the deadline has passed, or nothing has arrived for too long."""
        if monotonic() >= self.call.deadline:
            text = f"no reply{self._from_peer()} within the deadline"
            failure = Error(Code.DEADLINE_EXCEEDED, text, Execution.UNKNOWN)
        else:
            failure = stream_is_idle(self.idle)
        self.give_up(CallEvent.EXPIRED, failure)

    def _from_peer(self) -> str:
        return "" if self.route is None else f" from {self.route.link.peer}"

    def dropped(self) -> None:
        """The stream was garbage-collected. May run on any thread, and must neither wait nor raise."""
        if self.route is not None and not self.call.done:
            with suppress(Exception):
                self.route.link.orphan(self.call)

    # Values that arrive

    async def step(self) -> bool:
        """Towards the next value, after `take` has found none. False: there are no more. Raises the failure
        of the call."""
        if not self.ended:
            await self.wait_values()
        elif self.take():  # what another thread has read since then, with the end
            return True
        elif self.settle():
            self.result()
            return False
        else:
            await self._reopen()
        return True

    def taken_value(self) -> Any:
        """The next available value, or NOTHING. Another thread may drop all values at any moment."""
        try:
            return self.values.popleft()
        except IndexError:
            return NOTHING

    def take(self) -> bool:
        """Whether something has arrived; complete values are in `values` then, which was empty before."""
        route, call = self.route, self.call
        if self._malformed is not None:
            malformed, self._malformed = self._malformed, None
            self._spoiled(malformed)
            return True
        taken = route.link.take_values(call) if route is not None else None
        if taken is None:
            return False
        if call.first_metadata is not None:
            give_metadata(self.options, call.first_metadata)
            call.first_metadata = None
        payload, count = taken
        element = call.method.result_element
        assert element is not None
        if count:
            try:
                if call.adapted is not None:
                    payload, count, self._malformed = call.adapted.result_values(payload, count)
                self.values.extend(element.decode_all(payload, count))
            except Error as malformed:
                self._spoiled(malformed)
        if self._dropping:  # another thread has given the call up in the meantime
            self.values.clear()
        return True

    def _spoiled(self, malformed: Error) -> None:
        """A value cannot be decoded, which ends the call, even if its reply has arrived already."""
        if self.call.done:
            self.settle()
            self.call.failure = malformed
            if self.call.incoming is not None:
                self.call.incoming.clear()
        else:
            self.give_up(CallEvent.CANCELLED, malformed)

    # Values that are sent

    def put(self, value: Any) -> bool:
        """Keeps a value for sending. False if the other side reads no more. Raises the failure of the call,
        and Error for an invalid value."""
        call = self.call
        if self._done_writing:
            raise stream_has_ended(self._service, call.method)
        if not self.takes_more():
            return False
        sending = call.sending
        if sending is None:  # ended a moment ago
            return False
        element = call.method.param_element
        assert element is not None
        try:
            body: Payload = element.encode(value)
            if call.adapted is not None:
                body = call.adapted.param_value(body)
        except Error as refused:  # not sent; but the call's handler may run
            raise Error(refused.code, refused.message, Execution.UNKNOWN) from refused
        sending.add(body)
        self._unsent += len(body) + 1
        return True

    async def put_all(self, values: Iterable[Any]) -> None:
        """Sends values that are there already, until the other side reads no more. Raises what `put` and
        `values` do."""
        given, plain, gather = iter(values), self.plain(), cutting().gather
        while self.takes_more():
            sending = self.call.sending
            if sending is None:  # ended a moment ago
                return
            found: int | tuple[Any, ...]
            if plain is None:
                found = tuple(islice(given, 1)) or ENDED
            else:
                guards = (self.call, "done", False), (self.call, "sending", sending)
                room, most = DATA_LIMIT - self._unsent, MOST_VALUES
                before = len(sending.values)
                found = gather(given, plain, sending.values, sending.longest, room, most, guards)
                if found not in (ENDED, FULL):
                    self._unsent += sum(len(each) + 1 for each in sending.values[before:])
            if isinstance(found, tuple):
                if not self.put(found[0]):
                    return
            elif found == ENDED:
                return
            if found == FULL or self.full:
                await self.flush()

    def plain(self) -> Callable[[Any], Any] | None:
        """What encodes most values that are sent."""
        element = self.call.method.param_element
        assert element is not None
        return None if self.call.adapted is not None or element.plain is None else element.plain()

    def keep_plain(self, value: Any, plain: Callable[[Any], Any], sending: Outgoing | None) -> bool:
        """As `put`, for a plain value of an undisturbed call. False: nothing was done."""
        call = self.call
        data = None if sending is None else plain_bytes(plain, value, sending.longest)
        if data is None or sending is None or call.done or call.sending is not sending:
            return False
        sending.values.append(data)
        self._unsent += len(data) + 1
        return True

    async def flush(self) -> None:
        """Sends gathered values, and waits while there is no credit for them. Raises the failure of the
        call."""
        while self.takes_more():
            everything = self.queue_values()
            self.send()
            if everything:
                return
            await self.wait_room()

    async def done_writing(self) -> None:
        """Ends the stream of written values."""
        self._done_writing = True
        if self.wanted:
            await self.flush()
            assert self.route is not None
            self.route.link.end_values(self.call)
            self.send()

    def takes_more(self) -> bool:
        """Whether the other side still reads. Raises the failure of the call."""
        if self.ended and (failure := self.failure()) is not None:
            raise failure
        return self.wanted

    @property
    def full(self) -> bool:
        """Whether the kept values fill a frame."""
        return self._unsent >= DATA_LIMIT

    def queue_values(self) -> bool:
        """Queues values as far as there is credit. False if some wait for more."""
        self._unsent = 0
        assert self.route is not None
        return self.route.link.send_values(self.call)

    @property
    def wanted(self) -> bool:
        """Whether the other side still accepts values."""
        return self.call.sending is not None and not self.ended


S = TypeVar("S", bound=ClientStream[Any])


class Held(Generic[S]):
    """What the user holds of a stream: the call is cancelled when that is dropped."""

    __slots__ = ("_stream",)

    def __init__(self, stream: S) -> None:
        self._stream = stream

    def cancel(self) -> None:
        self._stream.cancel()

    def __del__(self) -> None:
        self._stream.dropped()
