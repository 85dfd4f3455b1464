"""R0. Streams as users hold them: a client's and a handler's, over connections and in light, are of these.

A reader is an iterator. Whoever drops or closes the one of a client before its end cancels the call; at the
end it raises what ended the call, if that was no success. No thread stands behind any of them.
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
    """The values of a stream, one after the other. One thread at a time."""

    __slots__ = ()

    def __iter__(self) -> Self:
        return self

    @abstractmethod
    def __next__(self) -> T:
        """The next value, which it waits for. Raises Error or a declared error if the call ended so."""

    @abstractmethod
    def cancel(self) -> None:
        """Wants no more. May be called twice, after the end, and from another thread, which ends the waiting
        of those that read or write."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()


class AsyncStreamReader(ABC, Generic[T]):
    """The values of a stream, one after the other, awaited. One task at a time."""

    __slots__ = ()

    def __aiter__(self) -> Self:
        return self

    @abstractmethod
    async def __anext__(self) -> T:
        """The next value. Raises Error or a declared error if the call ended so."""

    @abstractmethod
    def cancel(self) -> None:
        """Wants no more. May be called twice, and after the end."""

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
        """Sends a value; waits while the other side takes no more. False: the other side reads no more, as
        the call has ended well. Raises what the call failed with, and INVALID_ARGUMENT after `done_writing`.

        A lone value leaves at once. The values of a loop are gathered: they leave with those that follow, or
        when `flush`, `done_writing` or the next value is asked for.
        """

    @abstractmethod
    def flush(self) -> None:
        """Sends what was written and gathered; waits while the other side takes no more."""

    @abstractmethod
    def done_writing(self) -> None:
        """Says that no more values come. What the other side sends can still be read."""


class AsyncDuplexStream(AsyncStreamReader[T_out], Generic[T_in, T_out]):
    """Both directions of a call, awaited. One task may write while another reads."""

    __slots__ = ()

    @abstractmethod
    async def write(self, value: T_in) -> bool:
        """Sends a value; waits while the other side takes no more. False: the other side reads no more, as
        the call has ended well. Raises what the call failed with, and INVALID_ARGUMENT after
        `done_writing`."""

    @abstractmethod
    async def flush(self) -> None:
        """Sends what was written and gathered; waits while the other side takes no more."""

    @abstractmethod
    async def done_writing(self) -> None:
        """Says that no more values come. What the other side sends can still be read."""


def stream_is_idle(idle: float) -> Error:
    """Of a stream on which nothing came for its idle time."""
    return Error(Code.DEADLINE_EXCEEDED, f"no value and no credit came for {idle} s")


def stream_has_ended(service: ServiceInfo, method: Method[Any, Any]) -> Error:
    """Of a value that is written after `done_writing`."""
    text = (
        f"{service.name}.{method.name}: this side has ended its stream, so that nothing more can be written"
    )
    return not_executed(Code.INVALID_ARGUMENT, text)
