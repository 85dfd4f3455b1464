"""A service with streams in the form of generated code, written by hand.

service demo.Flow {
  count(to: u32) -> stream<u32>;                       // memcpy
  total(start: u64, values: stream<u32>) -> u64 throws Wrong;
  shout(words: stream<string>) -> stream<string>;      // febird
  chunks(size: u32, number: u32) -> stream<bytes>;
  broken(after: u32) -> stream<u32> throws Wrong;
}
"""

from abc import ABC
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, ClassVar, Final

import mf
from mf.codec import shape as s
from mf.codec.codec import Codec
from mf.codec.method import method
from mf.core.service import FEBIRD, MEMCPY, Method, ServiceInfo
from mf.core.target import AsyncTarget, AsyncTargetSource, Target, TargetSource


@dataclass(slots=True)
class To:
    to: int


@dataclass(slots=True)
class Start:
    start: int


@dataclass(slots=True)
class Nothing:
    pass


@dataclass(slots=True)
class Sizes:
    size: int
    number: int


class Wrong(mf.DeclaredError):
    def __init__(self, at: int = 0) -> None:
        super().__init__(at)
        self.at = at


_WRONG: Codec[Any, Any] = Codec(s.Struct("demo.Wrong", Wrong, lambda: (s.Field("at", s.U32),)))


def _fields(*names: str, of: s.Scalar = s.U32) -> Any:
    return lambda: tuple(s.Field(name, of) for name in names)


COUNT: Final[Method[To, None]] = method(
    "demo.Flow.count",
    0,
    To,
    params=_fields("to"),
    request_encoding=MEMCPY,
    result_encoding=MEMCPY,
    result_element=lambda: s.U32,
    result_element_encoding=MEMCPY,
)
TOTAL: Final[Method[Start, int]] = method(
    "demo.Flow.total",
    1,
    Start,
    params=_fields("start", of=s.U64),
    results=_fields("value", of=s.U64),
    request_encoding=MEMCPY,
    result_encoding=MEMCPY,
    errors=(_WRONG,),
    param_element=lambda: s.U32,
    param_element_encoding=MEMCPY,
)
SHOUT: Final[Method[Nothing, None]] = method(
    "demo.Flow.shout",
    2,
    Nothing,
    request_encoding=MEMCPY,
    result_encoding=MEMCPY,
    param_element=lambda: s.STRING,
    param_element_encoding=FEBIRD,
    result_element=lambda: s.STRING,
    result_element_encoding=FEBIRD,
)
CHUNKS: Final[Method[Sizes, None]] = method(
    "demo.Flow.chunks",
    3,
    Sizes,
    params=_fields("size", "number"),
    request_encoding=MEMCPY,
    result_encoding=MEMCPY,
    result_element=lambda: s.BYTES,
    result_element_encoding=FEBIRD,
)
BROKEN: Final[Method[To, None]] = method(
    "demo.Flow.broken",
    4,
    To,
    params=_fields("after"),
    request_encoding=MEMCPY,
    result_encoding=MEMCPY,
    errors=(_WRONG,),
    result_element=lambda: s.U32,
    result_element_encoding=MEMCPY,
)
WRONG_VALUE, LAST_VALUE = 0xFFFF_FFFE, 0xFFFF_FFFF
DESCRIPTOR = "service demo.Flow\n"
FLOW: Final = ServiceInfo(
    name="demo.Flow",
    agent=None,
    descriptor=DESCRIPTOR,
    fingerprint=sha256(DESCRIPTOR.encode()).digest()[:16],
    methods=(COUNT, TOTAL, SHOUT, CHUNKS, BROKEN),
)

Options = mf.CallOptions | None


class FlowClient:
    def __init__(self, client: TargetSource) -> None:
        self._target: Target = client.target(FLOW)

    def count(self, to: int, *, options: Options = None) -> mf.StreamReader[int]:
        return self._target.read_stream(COUNT, options, to)

    def total(self, start: int, values: Iterable[int], *, options: Options = None) -> int:
        return self._target.write_stream(TOTAL, options, values, start)

    def shout(self, *, options: Options = None) -> mf.DuplexStream[str, str]:
        return self._target.duplex_stream(SHOUT, options)

    def chunks(self, size: int, number: int, *, options: Options = None) -> mf.StreamReader[bytes]:
        return self._target.read_stream(CHUNKS, options, size, number)

    def broken(self, after: int, *, options: Options = None) -> mf.StreamReader[int]:
        return self._target.read_stream(BROKEN, options, after)


class FlowAsyncClient:
    def __init__(self, client: AsyncTargetSource) -> None:
        self._target: AsyncTarget = client.async_target(FLOW)

    def count(self, to: int, *, options: Options = None) -> mf.AsyncStreamReader[int]:
        return self._target.read_stream(COUNT, options, to)

    async def total(
        self, start: int, values: AsyncIterable[int] | Iterable[int], *, options: Options = None
    ) -> int:
        return await self._target.write_stream(TOTAL, options, values, start)

    def shout(self, *, options: Options = None) -> mf.AsyncDuplexStream[str, str]:
        return self._target.duplex_stream(SHOUT, options)

    def chunks(self, size: int, number: int, *, options: Options = None) -> mf.AsyncStreamReader[bytes]:
        return self._target.read_stream(CHUNKS, options, size, number)

    def broken(self, after: int, *, options: Options = None) -> mf.AsyncStreamReader[int]:
        return self._target.read_stream(BROKEN, options, after)


class FlowServant(mf.Servant, ABC):
    """`seen`: what the handlers received, in order."""

    mf_service: ClassVar[ServiceInfo] = FLOW

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def count(self, to: int) -> Iterator[int]:
        try:
            yield from range(1, to + 1)
        except GeneratorExit:
            self.seen.append("count was closed")
            raise

    def total(self, start: int, values: Iterator[int]) -> int:
        for value in values:
            if value == WRONG_VALUE:
                raise Wrong(value)
            if value == LAST_VALUE:
                return start
            start += value
        return start

    def shout(self, words: Iterator[str]) -> Iterator[str]:
        for word in words:
            yield word.upper()

    def chunks(self, size: int, number: int) -> Iterator[bytes]:
        for index in range(number):
            yield bytes([index % 251]) * size

    def broken(self, after: int) -> Iterator[int]:
        yield from range(after)
        raise Wrong(after)


class FlowAsyncServant(mf.AsyncServant, ABC):
    """The same with `async def`."""

    mf_service: ClassVar[ServiceInfo] = FLOW

    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def count(self, to: int) -> AsyncIterator[int]:
        for number in range(1, to + 1):
            yield number

    async def total(self, start: int, values: AsyncIterator[int]) -> int:
        async for value in values:
            if value == WRONG_VALUE:
                raise Wrong(value)
            if value == LAST_VALUE:
                return start
            start += value
        return start

    async def shout(self, words: AsyncIterator[str]) -> AsyncIterator[str]:
        async for word in words:
            yield word.upper()

    async def chunks(self, size: int, number: int) -> AsyncIterator[bytes]:
        for index in range(number):
            yield bytes([index % 251]) * size

    async def broken(self, after: int) -> AsyncIterator[int]:
        for number in range(after):
            yield number
        raise Wrong(after)


AnyFlowServant = FlowServant | FlowAsyncServant
