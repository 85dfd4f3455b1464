"""R5. Streams that block their thread. They need no thread of their own: reading a value reads the socket,
writing a value writes to it.

Values of a list or tuple are gathered into frames of up to 64 KiB. For other iterables and for `write`, the
time until the next value is unknown. So a value is sent at once if there was none in the millisecond before
it; later ones are gathered until they fill 32 KiB, 5 ms have passed when the next one is written, or their
stream is flushed, read or ended. While another thread waits for a value of the stream, nothing is gathered:
that thread may wait for the answer to the value just written.
"""

from collections.abc import Iterable
from time import monotonic
from typing import Any

from mf.client.driving import open_stream
from mf.client.stream_base import NOTHING, ClientStream, Held
from mf.core.handler_wait import waiting
from mf.core.immediate import immediate
from mf.core.stream import DuplexStream, StreamReader
from mf.link.link import Link

_GATHERED = 32 << 10
"""The number of bytes that are worth a frame."""

_PAUSE = 0.001
_LONGEST = 0.005


class Stream(ClientStream[Link]):
    """See above."""

    __slots__ = ("_flushed", "_written")

    def _set_up(self) -> None:
        self._written = self._flushed = 0.0
        self.route = waiting(immediate, open_stream(self.call, self.to))

    # Waits

    def _wait(self, how: str, until: float) -> None:
        assert self.route is not None
        if not waiting(getattr(self.route.link, how), self.call, until):
            self.too_idle()

    async def wait_values(self) -> None:
        self._wait("await_values", min(self.call.deadline, monotonic() + self.idle))

    async def wait_room(self) -> None:
        self._wait("await_room", min(self.call.deadline, monotonic() + self.idle))

    def await_end(self) -> None:
        while not self.ended:
            self._wait("await_end", self.call.deadline)

    def send(self) -> None:
        assert self.route is not None
        self.route.link.send(self.call.deadline, self.call)

    # Values

    def next_value(self) -> Any:
        """Raises StopIteration at the end, or the failure of the call."""
        while (value := self.taken_value()) is NOTHING:
            if not (self.take() or immediate(self.step())):
                raise StopIteration
        return value

    def write(self, value: Any) -> bool:
        """Sends a value now or, if more seem to follow, with them. False if the other side reads no more."""
        if not self.put(value):
            return False
        more = True
        now = monotonic()
        if (
            now - self._written > _PAUSE
            or self._unsent >= _GATHERED
            or now - self._flushed > _LONGEST
            or self.call.is_read
        ):
            immediate(self.flush())
            more = self.takes_more()
            now = self._flushed = monotonic()
        self._written = now
        return more

    def _write_each(self, values: Iterable[Any]) -> None:
        """As `write` for each, until the other side reads no more."""
        call, plain, sending = self.call, self.plain(), self.call.sending
        for value in values:
            now = monotonic()
            if (
                plain is None
                or now - self._written > _PAUSE
                or now - self._flushed > _LONGEST
                or self._unsent >= _GATHERED
                or call.reader is not None
                or not self.keep_plain(value, plain, sending)
            ):
                if not self.write(value):
                    return
            else:
                self._written = now

    def write_all(self, values: Iterable[Any]) -> Any:
        """The result of a call whose only stream is this. An exception of `values` cancels the call and is
        raised."""
        try:
            if isinstance(values, list | tuple):
                immediate(self.put_all(values))
            else:
                self._write_each(values)
            immediate(self.done_writing())
            self.await_end()
        except BaseException:
            self.cancel()
            raise
        return self.result()


class Reader(Held[Stream], StreamReader[Any]):
    """See ClientStream."""

    __slots__ = ()

    def __next__(self) -> Any:
        try:  # `next_value` finds the same, and takes three calls
            return self._stream.values.popleft()
        except IndexError:
            return self._stream.next_value()


class Duplex(Reader, DuplexStream[Any, Any]):
    """See ClientStream."""

    __slots__ = ()

    def write(self, value: Any) -> bool:
        return self._stream.write(value)

    def flush(self) -> None:
        immediate(self._stream.flush())

    def done_writing(self) -> None:
        immediate(self._stream.done_writing())
