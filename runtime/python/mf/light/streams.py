"""R5. Result streams in light: values are handed over one by one, by reference, and no thread works behind
them (see values.py for where the handler runs). `LightStream` is the call behind the four kinds of streams
that a caller may hold: it says when its call has ended, once, and with what.
"""

from asyncio import CancelledError
from contextlib import suppress
from threading import RLock
from time import monotonic
from typing import Any, Generic, TypeVar

from mf.core.error import Error
from mf.core.gate import LoopGate, ThreadGate
from mf.core.immediate import immediate
from mf.core.outcome import Failure
from mf.core.stream import AsyncDuplexStream, AsyncStreamReader, DuplexStream, StreamReader
from mf.light.call import LightCall
from mf.light.opening import Opening
from mf.light.pipe import AsyncPipeReader, Pipe, PipeReader
from mf.light.values import AwaitedValues, HandlerValues, LoopValues, PlainValues

T = TypeVar("T")
T_in = TypeVar("T_in")
T_out = TypeVar("T_out")


class LightStream:
    """See above. `pipe` is there where the caller writes, too."""

    __slots__ = ("_ending", "_opening", "call", "failure", "has_ended", "pipe")

    def __init__(self, opening: Opening) -> None:
        """Raises Error, NOT_EXECUTED, as for every call."""
        self.call: LightCall = opening.begin()
        self.has_ended = False
        self.failure: Failure | None = None
        self.pipe: Pipe[Any] = Pipe(self.call)
        self._opening = opening
        self._ending = RLock()

    def handle(self) -> Any:
        """Calls the handler with its streams."""
        opening = self._opening
        if opening.method.param_element is None:
            return opening.handler()
        return opening.handler(AsyncPipeReader(self.pipe) if opening.is_async else PipeReader(self.pipe))

    def values(self) -> HandlerValues:
        return (LoopValues if self._opening.is_async else PlainValues)(self.call, self.handle)

    def awaited_values(self) -> AwaitedValues:
        call, handle = self.call, self.handle
        return AwaitedValues(call, handle if self._opening.is_async else lambda: PlainValues(call, handle))

    def begin_wait(self) -> None:
        """Called before each wait for a value. Raises Error if there is no time for it."""
        call = self.call
        limit = call.limit = call.wait_limit()
        if limit == call.deadline <= monotonic():
            raise call.late()

    def is_in_time(self) -> bool:
        """Whether the value that has come may be given: a handler may have held the thread for longer."""
        call = self.call
        if call.stopped is None:
            if monotonic() < call.limit:
                return True
            call.out_of_time()
        return False

    def end(self, raised: BaseException | None) -> None:
        """The call has ended so; None: well, unless that was too late."""
        call = self.call
        with self._ending:
            if self.has_ended:
                return
            failure: Failure | None = call.stopped
            if failure is None and raised is not None:
                failure = call.failure(raised)
            elif failure is None and call.deadline <= monotonic():
                failure = call.late()
            if failure is not None and failure is not raised:
                failure.__cause__ = raised
            self.failure = failure
            self.has_ended = True
        self.pipe.close()
        call.give_metadata()

    def cancel(self) -> bool:
        """False: the call had ended."""
        if self.has_ended:
            return False
        self.end(self.call.cancel())
        return True

    def unwritten(self) -> bool:
        """The result of a write whose value is not wanted any more. Raises what the call has failed with."""
        if self.failure is not None:
            raise self.failure
        return False


class LightReader(StreamReader[T_out], Generic[T_out]):
    """The result stream of a call, for callers that block. The first request for a value starts it."""

    __slots__ = ("_stream", "_values")

    def __init__(self, opening: Opening) -> None:
        self._stream = LightStream(opening)
        self._values = self._stream.values()

    def __next__(self) -> T_out:
        stream = self._stream
        if not stream.has_ended:
            try:
                stream.begin_wait()
                value: T_out = next(self._values)
                if stream.is_in_time():
                    return value
                self._end(None)
            except StopIteration:
                self._end(None)
            except Exception as raised:
                self._end(raised)
        raise stream.failure or StopIteration

    def _end(self, raised: BaseException | None) -> None:
        self._stream.end(raised)
        self._values.close()

    def cancel(self) -> None:
        if self._stream.cancel():
            self._values.close()

    def __del__(self) -> None:
        with suppress(Exception):  # of a loop that cannot run here, or a stream that was never made
            self.cancel()


class LightDuplex(LightReader[T_out], DuplexStream[T_in, T_out], Generic[T_in, T_out]):
    """Both directions, for callers that block."""

    __slots__ = ()

    def write(self, value: T_in) -> bool:
        stream = self._stream
        if immediate(stream.pipe.put(value, ThreadGate)):
            return True
        if stream.call.stopped is not None:
            self._end(stream.call.stopped)
        return stream.unwritten()

    def flush(self) -> None:
        """Nothing is gathered here."""

    def done_writing(self) -> None:
        self._stream.pipe.done_writing()


class AsyncLightReader(AsyncStreamReader[T_out], Generic[T_out]):
    """The result stream of a call, awaited. The call begins with the first request for a value."""

    __slots__ = ("_begun", "_opening")

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._begun: tuple[LightStream, AwaitedValues] | None = None

    def _begin(self) -> tuple[LightStream, AwaitedValues]:
        if self._begun is None:
            stream = LightStream(self._opening)
            self._begun = stream, stream.awaited_values()
        return self._begun

    async def __anext__(self) -> T_out:
        stream, values = self._begin()
        if not stream.has_ended:
            try:
                stream.begin_wait()
                value: T_out = await values.next_value()
                if stream.is_in_time():
                    return value
                await self._end(None)
            except StopAsyncIteration:
                await self._end(None)
            except CancelledError:
                stream.cancel()
                await values.close()
                raise
            except Exception as raised:
                await self._end(raised)
        raise stream.failure or StopAsyncIteration

    async def _end(self, raised: BaseException | None) -> None:
        stream, values = self._begin()
        stream.end(raised)
        await values.close()

    async def __aenter__(self) -> Any:
        self._begin()
        return self

    async def __aexit__(self, *_: object) -> None:
        stream, values = self._begin()
        stream.cancel()
        await values.close()

    def cancel(self) -> None:
        with suppress(Error):  # of a call that cannot be made: the next request for a value raises it
            stream, values = self._begin()
            if stream.cancel():
                values.stop()

    def __del__(self) -> None:
        if self._begun is not None:
            self._begun[0].cancel()


class AsyncLightDuplex(AsyncLightReader[T_out], AsyncDuplexStream[T_in, T_out], Generic[T_in, T_out]):
    """Both directions, awaited. The call begins with the first value that is written or requested."""

    __slots__ = ()

    async def write(self, value: T_in) -> bool:
        stream, _ = self._begin()
        try:
            if await stream.pipe.put(value, LoopGate):
                return True
        except CancelledError:
            self.cancel()
            raise
        if stream.call.stopped is not None:
            await self._end(stream.call.stopped)
        return stream.unwritten()

    async def flush(self) -> None:
        """Nothing is gathered here."""

    async def done_writing(self) -> None:
        self._begin()[0].pipe.done_writing()
