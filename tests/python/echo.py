"""A service in the form of generated code, written by hand: tests of the runtime call it.

service demo.Echo per shelf {
  @idempotent twice(x: i32) -> i32 throws Negative;      // memcpy
  echo(data: bytes) -> bytes;                            // the bytes as they are
  sleep(seconds: f64) -> f64;
  @oneway note(x: i32);
  @idempotent flaky(x: i32) -> i32;
}
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from struct import Struct
from typing import Any, ClassVar, Final

import mf
from mf.core.error import Code, Error
from mf.core.service import FEBIRD, MEMCPY, ErrorCodec, Method, Payload, ServiceInfo
from mf.core.target import (
    AsyncScatterTarget,
    AsyncTarget,
    AsyncTargetSource,
    ScatterTarget,
    Target,
    TargetSource,
)


@dataclass(slots=True)
class Number:
    x: int


@dataclass(slots=True)
class Seconds:
    seconds: float


@dataclass(slots=True)
class Data:
    data: bytes


class Negative(mf.DeclaredError):
    __slots__ = ("x",)

    def __init__(self, x: int) -> None:
        super().__init__(x)
        self.x = x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Negative) and self.x == other.x

    __hash__ = mf.DeclaredError.__hash__


class Packed:
    """The codec of parameters or results that are one number."""

    def __init__(self, format_: str, field: str, request: type[Any]) -> None:
        self.packer = Struct(format_)
        self.field = field
        self.request = request

    def pack(self, value: Any) -> bytes:
        try:
            return self.packer.pack(value)
        except Exception as bad:
            raise Error(Code.INVALID_ARGUMENT, f"{self.field}: {bad}", mf.Execution.NOT_EXECUTED) from None

    def pack_requests(self, requests: Sequence[Any]) -> bytes:
        return b"".join(self.pack(getattr(request, self.field)) for request in requests)

    def pack_values(self, values: Iterable[Any]) -> bytes:
        return b"".join(map(self.pack, values))

    def unpack_rows(self, data: Payload, count: int) -> list[tuple[Any, ...]]:
        if len(data) != count * self.packer.size:
            raise Error(Code.DECODE_ERROR, f"{count} items in {len(data)} bytes")
        return list(self.packer.iter_unpack(data))

    def unpack_row(self, data: Payload) -> tuple[Any, ...]:
        return self.unpack_rows(data, 1)[0]

    def unpack_value(self, data: Payload) -> Any:
        return self.unpack_rows(data, 1)[0][0]

    def unpack_values(self, data: Payload, count: int) -> list[Any]:
        return [row[0] for row in self.unpack_rows(data, count)]

    def unpack_values_at(self, data: Payload, at: int, count: int) -> tuple[list[Any], int]:
        end = at + count * self.packer.size
        if end > len(data):
            raise Error(Code.DECODE_ERROR, f"{count} items in {len(data) - at} bytes")
        return self.unpack_values(data[at:end], count), end


def packed(index: int, name: str, codec: Packed, **more: Any) -> Method[Any, Any]:
    return Method(
        name=name,
        index=index,
        attribute=name,
        batch_attribute=f"{name}_items",
        request=codec.request,
        request_encoding=MEMCPY,
        result_encoding=MEMCPY,
        encode_request=codec.pack,
        encode_requests=codec.pack_requests,
        decode_request=codec.unpack_row,
        decode_requests=codec.unpack_rows,
        encode_result=codec.pack,
        encode_results=codec.pack_values,
        decode_result=codec.unpack_value,
        decode_results=codec.unpack_values,
        decode_results_at=codec.unpack_values_at,
        **more,
    )


def _sized(items: Iterable[bytes]) -> bytes:
    return b"".join(len(item).to_bytes(4, "little") + item for item in items)


def _unsized(data: Payload, at: int, count: int) -> tuple[list[bytes], int]:
    items = []
    for _ in range(count):
        end = at + 4 + int.from_bytes(data[at : at + 4], "little")
        if at + 4 > len(data) or end > len(data):
            raise Error(Code.DECODE_ERROR, "bytes are cut off")
        items.append(bytes(data[at + 4 : end]))
        at = end
    return items, at


def _all_unsized(data: Payload, count: int) -> list[bytes]:
    items, end = _unsized(data, 0, count)
    if end != len(data):
        raise Error(Code.DECODE_ERROR, f"{len(data) - end} bytes too many")
    return items


_NUMBER: Final = Packed("<i", "x", Number)
_SECONDS: Final = Packed("<d", "seconds", Seconds)

TWICE: Final[Method[Number, int]] = packed(
    0,
    "twice",
    _NUMBER,
    idempotent=True,
    batch_max=128,
    errors=(
        ErrorCodec(
            Negative,
            encode=lambda error: _NUMBER.pack(error.x),
            decode=lambda data: Negative(_NUMBER.unpack_value(data)),
        ),
    ),
)
ECHO: Final[Method[Data, bytes]] = Method(
    name="echo",
    index=1,
    attribute="echo",
    batch_attribute="echo_items",
    request=Data,
    request_encoding=FEBIRD,
    result_encoding=FEBIRD,
    encode_request=lambda data: _sized([data]),
    encode_requests=lambda requests: _sized(request.data for request in requests),
    decode_request=lambda data: (_all_unsized(data, 1)[0],),
    decode_requests=lambda data, count: [(item,) for item in _all_unsized(data, count)],
    encode_result=lambda data: _sized([data]),
    encode_results=_sized,
    decode_result=lambda data: _all_unsized(data, 1)[0],
    decode_results=_all_unsized,
    decode_results_at=_unsized,
)
SLEEP: Final[Method[Seconds, float]] = packed(2, "sleep", _SECONDS)
NOTE: Final[Method[Number, None]] = packed(3, "note", _NUMBER, oneway=True)
FLAKY: Final[Method[Number, int]] = packed(4, "flaky", _NUMBER, idempotent=True)

DESCRIPTOR = """\
service demo.Echo
 per shelf string
 method twice
  params memcpy
   x i32
  results memcpy
   value i32
"""


def service(
    descriptor: str = DESCRIPTOR, name: str = "demo.Echo", agent: str | None = "shelf"
) -> ServiceInfo:
    return ServiceInfo(
        name=name,
        agent=agent,
        descriptor=descriptor,
        fingerprint=sha256(descriptor.encode()).digest()[:16],
        methods=(TWICE, ECHO, SLEEP, NOTE, FLAKY),
    )


ECHO_SERVICE: Final = service()


class EchoScatter:
    def __init__(self, target: ScatterTarget) -> None:
        self._target = target

    def twice(self, x: int, *, options: mf.CallOptions | None = None) -> mf.Scattered[str, int]:
        return self._target.call(TWICE, options, x)

    def flaky(self, x: int, *, options: mf.CallOptions | None = None) -> mf.Scattered[str, int]:
        return self._target.call(FLAKY, options, x)


class EchoAsyncScatter:
    def __init__(self, target: AsyncScatterTarget) -> None:
        self._target = target

    async def twice(self, x: int, *, options: mf.CallOptions | None = None) -> mf.Scattered[str, int]:
        return await self._target.call(TWICE, options, x)


class EchoClient:
    def __init__(self, client: TargetSource, info: ServiceInfo = ECHO_SERVICE) -> None:
        self._target: Target = client.target(info)

    def at(self, shelf: str) -> "EchoClient":
        return self._over(self._target.at(shelf))

    def any(self) -> "EchoClient":
        return self._over(self._target.any())

    def on(self, shelves: Iterable[str]) -> EchoScatter:
        return EchoScatter(self._target.on(shelves))

    def everywhere(self) -> EchoScatter:
        return EchoScatter(self._target.everywhere())

    @classmethod
    def _over(cls, target: Target) -> "EchoClient":
        client = cls.__new__(cls)
        client._target = target
        return client

    def twice(self, x: int, *, options: mf.CallOptions | None = None) -> int:
        return self._target.call(TWICE, options, x)

    def twice_batch(
        self, requests: Sequence[Number], *, options: mf.BatchOptions | None = None
    ) -> mf.BatchCall[int]:
        return self._target.batch(TWICE, requests, options)

    def twice_bulk(
        self, requests: Sequence[Number], *, options: mf.CallOptions | None = None
    ) -> list[mf.Outcome[int]]:
        return self._target.bulk(TWICE, requests, options)

    def echo(self, data: bytes, *, options: mf.CallOptions | None = None) -> bytes:
        return self._target.call(ECHO, options, data)

    def sleep(self, seconds: float, *, options: mf.CallOptions | None = None) -> float:
        return self._target.call(SLEEP, options, seconds)

    def note(self, x: int, *, options: mf.CallOptions | None = None) -> None:
        self._target.call(NOTE, options, x)

    def note_batch(
        self, requests: Sequence[Number], *, options: mf.BatchOptions | None = None
    ) -> mf.BatchCall[None]:
        return self._target.batch(NOTE, requests, options)

    def flaky(self, x: int, *, options: mf.CallOptions | None = None) -> int:
        return self._target.call(FLAKY, options, x)


class EchoAsyncClient:
    def __init__(self, client: AsyncTargetSource, info: ServiceInfo = ECHO_SERVICE) -> None:
        self._target: AsyncTarget = client.async_target(info)

    def at(self, shelf: str) -> "EchoAsyncClient":
        return self._over(self._target.at(shelf))

    def any(self) -> "EchoAsyncClient":
        return self._over(self._target.any())

    def on(self, shelves: Iterable[str]) -> EchoAsyncScatter:
        return EchoAsyncScatter(self._target.on(shelves))

    def everywhere(self) -> EchoAsyncScatter:
        return EchoAsyncScatter(self._target.everywhere())

    @classmethod
    def _over(cls, target: AsyncTarget) -> "EchoAsyncClient":
        client = cls.__new__(cls)
        client._target = target
        return client

    async def twice(self, x: int, *, options: mf.CallOptions | None = None) -> int:
        return await self._target.call(TWICE, options, x)

    async def twice_batch(
        self, requests: Sequence[Number], *, options: mf.BatchOptions | None = None
    ) -> list[mf.Outcome[int]]:
        return await self._target.batch(TWICE, requests, options)

    async def twice_bulk(
        self, requests: Sequence[Number], *, options: mf.CallOptions | None = None
    ) -> list[mf.Outcome[int]]:
        return await self._target.bulk(TWICE, requests, options)

    async def echo(self, data: bytes, *, options: mf.CallOptions | None = None) -> bytes:
        return await self._target.call(ECHO, options, data)

    async def sleep(self, seconds: float, *, options: mf.CallOptions | None = None) -> float:
        return await self._target.call(SLEEP, options, seconds)

    async def note(self, x: int, *, options: mf.CallOptions | None = None) -> None:
        await self._target.call(NOTE, options, x)

    async def note_batch(
        self, requests: Sequence[Number], *, options: mf.BatchOptions | None = None
    ) -> list[mf.Outcome[None]]:
        return await self._target.batch(NOTE, requests, options)

    async def flaky(self, x: int, *, options: mf.CallOptions | None = None) -> int:
        return await self._target.call(FLAKY, options, x)

    async def flaky_batch(
        self, requests: Sequence[Number], *, options: mf.BatchOptions | None = None
    ) -> list[mf.Outcome[int]]:
        return await self._target.batch(FLAKY, requests, options)


class EchoServant(mf.Servant, ABC):
    mf_service: ClassVar[ServiceInfo] = ECHO_SERVICE

    @abstractmethod
    def twice(self, x: int) -> int: ...

    def twice_items(self, requests: Sequence[Number]) -> list[mf.Outcome[int]]:
        return mf.each(self.twice, ((request.x,) for request in requests))

    @abstractmethod
    def echo(self, data: bytes) -> bytes: ...

    def echo_items(self, requests: Sequence[Data]) -> list[mf.Outcome[bytes]]:
        return mf.each(self.echo, ((request.data,) for request in requests))

    @abstractmethod
    def sleep(self, seconds: float) -> float: ...

    def sleep_items(self, requests: Sequence[Seconds]) -> list[mf.Outcome[float]]:
        return mf.each(self.sleep, ((request.seconds,) for request in requests))

    @abstractmethod
    def note(self, x: int) -> None: ...

    def note_items(self, requests: Sequence[Number]) -> None:
        mf.each(self.note, ((request.x,) for request in requests))

    @abstractmethod
    def flaky(self, x: int) -> int: ...

    def flaky_items(self, requests: Sequence[Number]) -> list[mf.Outcome[int]]:
        return mf.each(self.flaky, ((request.x,) for request in requests))


class EchoAsyncServant(mf.AsyncServant, ABC):
    mf_service: ClassVar[ServiceInfo] = ECHO_SERVICE

    @abstractmethod
    async def twice(self, x: int) -> int: ...

    async def twice_items(self, requests: Sequence[Number]) -> list[mf.Outcome[int]]:
        return await mf.each_async(self.twice, ((request.x,) for request in requests))

    @abstractmethod
    async def echo(self, data: bytes) -> bytes: ...

    async def echo_items(self, requests: Sequence[Data]) -> list[mf.Outcome[bytes]]:
        return await mf.each_async(self.echo, ((request.data,) for request in requests))

    @abstractmethod
    async def sleep(self, seconds: float) -> float: ...

    async def sleep_items(self, requests: Sequence[Seconds]) -> list[mf.Outcome[float]]:
        return await mf.each_async(self.sleep, ((request.seconds,) for request in requests))

    @abstractmethod
    async def note(self, x: int) -> None: ...

    async def note_items(self, requests: Sequence[Number]) -> None:
        await mf.each_async(self.note, ((request.x,) for request in requests))

    @abstractmethod
    async def flaky(self, x: int) -> int: ...

    async def flaky_items(self, requests: Sequence[Number]) -> list[mf.Outcome[int]]:
        return await mf.each_async(self.flaky, ((request.x,) for request in requests))
