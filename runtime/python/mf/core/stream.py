"""R0. The user's view of streams, for clients and handlers, over connections and in light.

A reader is an iterator. If a client drops or closes its reader before the end, the call is cancelled; at the
end it raises the failure of the call, if there was one. No stream needs a thread of its own.
"""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from mf.core.error import Code, Error, not_executed
from mf.core.service import Method, ServiceInfo

T = TypeVar("T")
T_in = TypeVar("T_in")
T_out = TypeVar("T_out")


class StreamReader(ABC, Generic[T]):
    """The values of a stream, one after another. One thread at a time may use it."""

    __slots__ = ()

    def __iter__(self) -> Self:
        return self

    @abstractmethod
    def __next__(self) -> T:
        """Waits for the next value. Raises Error or a declared error if the call ended with it."""

    @abstractmethod
    def cancel(self) -> None:
        """Stops reading. May be called twice, after the end, and from another thread, which ends waits for
        reading and writing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()


class AsyncStreamReader(ABC, Generic[T]):
    """The values of a stream, one after another, awaited. One task at a time may use it."""

    __slots__ = ()

    def __aiter__(self) -> Self:
        return self

    @abstractmethod
    async def __anext__(self) -> T:
        """The next value. Raises Error or a declared error if the call ended with it."""

    @abstractmethod
    def cancel(self) -> None:
        """Stops reading. May be called twice, and after the end."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()


class DuplexStream(StreamReader[T_out], Generic[T_in, T_out]):
    """Both directions of a call. One thread may write while another reads."""

    __slots__ = ()

    @abstractmethod
    def write(self, value: T_in) -> bool:
        """Sends a value; waits while the other side accepts no more. False: the other side reads no more, as
        the call has ended successfully. Raises the failure of the call, and INVALID_ARGUMENT after
        `done_writing`.

        A single value is sent at once. The values of a loop are gathered: they are sent with later ones, or
        by `flush`, `done_writing`, or reading the next value.
        """

    @abstractmethod
    def flush(self) -> None:
        """Sends gathered values; waits while the other side accepts no more. Raises the failure of the
        call."""

    @abstractmethod
    def done_writing(self) -> None:
        """Ends the stream of written values. Values of the other side can still be read."""


class AsyncDuplexStream(AsyncStreamReader[T_out], Generic[T_in, T_out]):
    """Both directions of a call, awaited. One task may write while another reads."""

    __slots__ = ()

    @abstractmethod
    async def write(self, value: T_in) -> bool:
        """Sends a value; waits while the other side accepts no more. False: the other side reads no more, as
        the call has ended successfully. Raises the failure of the call, and INVALID_ARGUMENT after
        `done_writing`."""

    @abstractmethod
    async def flush(self) -> None:
        """Sends gathered values; waits while the other side accepts no more. Raises the failure of the
        call."""

    @abstractmethod
    async def done_writing(self) -> None:
        """Ends the stream of written values. Values of the other side can still be read."""


def stream_is_idle(idle: float) -> Error:
    """The failure of a stream without values and credit for its idle time."""
    return Error(Code.DEADLINE_EXCEEDED, f"no value and no credit came for {idle} s")


def stream_has_ended(service: ServiceInfo, method: Method[Any, Any]) -> Error:
    """The failure of a write after `done_writing`."""
    text = (
        f"{service.name}.{method.name}: this side has ended its stream, so that nothing more can be written"
    )
    return not_executed(Code.INVALID_ARGUMENT, text)
