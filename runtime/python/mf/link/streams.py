"""R4. The part of a link for streams: sending and receiving values, credit, and waiting for either. See
link.py for threads and locks.

One thread reads a stream's values and one, perhaps another, writes them. Each waits like any caller: it
leads, or sleeps until the leader wakes it.
"""

from time import monotonic
from typing import Any

from mf.core.service import Payload
from mf.link.alarm import StreamWait
from mf.link.input import LinkInput
from mf.protocol.stream_call import StreamCall

_LEAST_ROOM = 24  # the smallest DATA that is not empty


class LinkStreams(LinkInput):
    """Adds streams to LinkInput."""

    __slots__ = ()

    # Values that arrive

    def take_values(self, call: StreamCall[Any]) -> tuple[Payload, int] | None:
        try:
            with self._lock:
                taken = call.take()
                if taken is None:
                    return None
                payload, count, credit = taken
                if credit and not call.done:
                    self._session.send_credit(call.id, credit)
        except BaseException as raised:
            self._interrupted(raised, False)
            raise
        if credit:
            self.flush()
        return payload, count

    def await_values(self, call: StreamCall[Any], limit: float) -> bool:
        """Waits until values have arrived or the call has ended; False: neither happened before `limit`. Kept
        values are sent first, and while they have no credit, this thread watches for it: then True may also
        mean that there is credit."""
        waiter = StreamWait(limit)
        with self._lock:
            if call.done or call.incoming:
                return True
            # Order matters: a writer that keeps a value after this line sees the waiting reader, and sends it
            # itself.
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
        try:
            with self._lock:
                self._queue_values(call)
                return not call.sending
        except BaseException as raised:
            self._interrupted(raised, False)
            raise

    def await_room(self, call: StreamCall[Any], limit: float) -> bool:
        """Waits until there is credit, or no values are wanted; False: neither happened before `limit`."""
        waiter = StreamWait(limit)
        with self._lock:
            if call.done or call.sending is None or call.window.credit >= _LEAST_ROOM:
                return True
            call.writer = waiter
        self.wait(waiter, monotonic())
        return waiter.failure is None

    def await_end(self, call: StreamCall[Any], limit: float) -> bool:
        """Waits until the call has ended, or something has arrived for its writer; False: neither happened
        before `limit`."""
        waiter = StreamWait(limit)
        with self._lock:
            if call.done:
                return True
            call.writer = waiter
        self.wait(waiter, monotonic())
        return waiter.failure is None

    def end_values(self, call: StreamCall[Any]) -> None:
        with self._lock:
            if not call.done and call.sending is not None:
                call.sending = None
                self._session.end_stream(call)

    # Streams without an owner

    def orphan(self, call: StreamCall[Any]) -> None:
        """Cancels a call. For finalizers, which may run while this thread holds the lock: then the next
        reading thread does it."""
        self._orphans.append(call)
        if self._lock.acquire(blocking=False):
            self._lock.release()
            self._cancel_orphans()
