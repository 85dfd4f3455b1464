"""R4. The part of a link that streams need: values out and in, credit, and waiting for either. See link.py
for threads and locks.

One thread reads a stream's values and one writes them; they may be two. Each waits like any caller: it leads,
or sleeps until the leader wakes it.
"""

from time import monotonic
from typing import Any

from mf.core.error import Code, not_executed
from mf.core.service import Payload
from mf.link.alarm import StreamWait
from mf.link.input import LinkInput
from mf.protocol.call_table import CallEvent
from mf.protocol.stream import MAX_WINDOWS, WindowBudget
from mf.protocol.stream_call import StreamCall

_LEAST_ROOM = 24  # a DATA with anything in it


class LinkStreams(LinkInput):
    """Adds streams to what LinkInput does."""

    __slots__ = ()

    def _may_open(self, call: StreamCall[Any]) -> bool:
        """With the lock: whether the windows of all streams towards this side still sum to no more than they
        may."""
        window = self._session.our_hello.stream_window
        if call.method.result_element is not None:
            streams = self._session.calls.by_id.values()
            opened = sum(isinstance(each, StreamCall) and each.incoming is not None for each in streams)
            if (opened + 1) * window > MAX_WINDOWS:
                text = (
                    f"{opened} streams of {self.peer} are open, as many as a connection takes with a "
                    f"stream window of {window} bytes"
                )
                call.failure = not_executed(Code.OVERLOADED, text)
                call.ended_by = CallEvent.REFUSED
                call.done = True
                return False
        return True

    def _opened(self, call: StreamCall[Any]) -> None:
        session = self._session
        ours, theirs = session.our_hello, session.peer
        assert theirs is not None  # it came before BOUND
        if self._windows is None:
            self._windows = WindowBudget(theirs.max_streams, ours.stream_window)
        call.opened(
            theirs.stream_window, theirs.max_payload, ours.stream_window, ours.max_payload, self._windows
        )

    # Values that arrive

    def take_values(self, call: StreamCall[Any]) -> tuple[Payload, int] | None:
        """Some values that have come, and their count; 0 if only a piece of one has. None: nothing."""
        with self._lock:
            taken = call.take()
            if taken is None:
                return None
            payload, count, credit = taken
            if credit and not call.done:
                self._session.send_credit(call.id, credit)
        if credit:
            self.flush()
        return payload, count

    def await_values(self, call: StreamCall[Any], limit: float) -> bool:
        """Waits until some have come or the call has ended; False: neither did before `limit`. What is kept
        to be sent leaves first, and while it has no credit it is looked after here: then True may also mean
        that there is credit."""
        waiter = StreamWait(limit)
        with self._lock:
            if call.done or call.incoming:
                return True
            # Order matters: who keeps a value after this line sees that somebody waits, and sends it himself.
            call.reader = waiter
            kept = bool(call.sending)
            if kept:
                self._queue_values(call)
                if call.sending and (call.writer is None or call.writer.done):
                    call.writer = waiter
        if kept:
            self.flush()
        self.wait(waiter, monotonic())
        return waiter.failure is None

    # Values that are sent

    def send_values(self, call: StreamCall[Any]) -> bool:
        """Queues what there is credit for. False: some wait for more."""
        with self._lock:
            self._queue_values(call)
            return not call.sending

    def _queue_values(self, call: StreamCall[Any]) -> None:
        """With the lock."""
        element = call.method.param_element
        assert element is not None
        while not call.done and (frame := call.next_frame()) is not None:
            self._session.send_data(call.id, element.encoding, frame[1], frame[0])

    def await_room(self, call: StreamCall[Any], limit: float) -> bool:
        """Waits until there is credit, or no values are wanted; False: neither came true before `limit`."""
        waiter = StreamWait(limit)
        with self._lock:
            if call.done or call.sending is None or call.window.credit >= _LEAST_ROOM:
                return True
            call.writer = waiter
        self.wait(waiter, monotonic())
        return waiter.failure is None

    def await_end(self, call: StreamCall[Any], limit: float) -> bool:
        """Waits until the call has ended, or something has come for its writer; False: neither did before
        `limit`."""
        waiter = StreamWait(limit)
        with self._lock:
            if call.done:
                return True
            call.writer = waiter
        self.wait(waiter, monotonic())
        return waiter.failure is None

    def end_values(self, call: StreamCall[Any]) -> None:
        """Says that no more values come. What waits for credit must have gone."""
        with self._lock:
            if not call.done and call.sending is not None:
                call.sending = None
                self._session.end_stream(call)

    # What nobody holds any more

    def orphan(self, call: StreamCall[Any]) -> None:
        """Cancels a call. For finalizers, which may run while this very thread holds the lock: then whoever
        reads next does it."""
        self._orphans.append(call)
        if self._lock.acquire(blocking=False):
            self._lock.release()
            self._cancel_orphans()
