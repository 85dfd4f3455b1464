"""R4. Lets a thread wake another one that waits for the bytes of a connection.

Only waits of streams need that, as only they can be cancelled while a thread blocks in them. A wait that ends
by a reply stays a plain read.
"""

import os
import select

from mf.core.clock import moment
from mf.link.watch import FOREVER
from mf.protocol.calls import Pending
from mf.transport.stream import Stream

_READABLE = select.POLLIN
_READY = select.POLLIN | select.POLLOUT


class Alarm:
    """A descriptor that is polled together with a stream. One thread sleeps; any may ring, also when no
    thread sleeps: then the next sleep ends at once, and its caller checks again."""

    __slots__ = ("_event", "_poll")

    def __init__(self, stream: Stream) -> None:
        self._event = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._poll = select.poll()
        self._poll.register(stream.fileno(), _READABLE)
        self._poll.register(self._event, _READABLE)

    def sleep(self, stream: Stream, write: bool, seconds: float) -> None:
        """Waits until the stream is readable, or also writable, or another thread rings."""
        descriptor = stream.fileno()
        if descriptor < 0:  # another thread has found the stream broken, and closed it
            return
        if stream.inside:
            return
        seconds = moment(seconds)
        self._poll.modify(descriptor, _READY if write else _READABLE)
        for ready, _ in self._poll.poll(None if seconds == FOREVER else max(seconds, 0.0) * 1000):
            if ready == self._event:
                os.eventfd_read(ready)

    def ring(self) -> None:
        os.eventfd_write(self._event, 1)

    def __del__(self) -> None:
        event: int | None = getattr(self, "_event", None)  # None if the constructor was interrupted
        if event is not None:
            os.close(event)


class StreamWait(Pending):
    """A wait for an event of a stream. `alarm` is set while its thread sleeps in a poll."""

    alarm: Alarm | None = None
