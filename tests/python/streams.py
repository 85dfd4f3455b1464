"""A service with streams in the form of generated code, written by hand, and a peer that tests control.

service demo.Flow per shelf {
  scan(to: u32) -> stream<u32> throws Negative;          // memcpy
  load(into: string, values: stream<bytes>) -> u64;      // febird
  follow(names: stream<string>) -> stream<string>;
  plain(x: u32) -> u32;
}
"""

import socket
import struct
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, ClassVar, Final

import mf
from mf.codec import shape as s
from mf.codec.method import method
from mf.core.service import FEBIRD, MEMCPY, ErrorCodec, Method, ServiceInfo
from mf.protocol import frame
from mf.protocol.handshake import Hello, pack_bind
from mf.protocol.metadata import pack_metadata, take_metadata
from mf.protocol.wire import read_failure
from tests.python.echo import Negative
from tests.python.serving import AnyServer


@dataclass(slots=True)
class ScanRequest:
    to: int


@dataclass(slots=True)
class LoadRequest:
    into: str


@dataclass(slots=True)
class FollowRequest:
    pass


SCAN: Final[Method[ScanRequest, Any]] = method(
    "demo.Flow.scan",
    0,
    ScanRequest,
    params=lambda: (s.Field("to", s.U32),),
    request_encoding=MEMCPY,
    result_encoding=MEMCPY,
    result_element=lambda: s.U32,
    result_element_encoding=MEMCPY,
)
SCAN.errors = (
    ErrorCodec(
        Negative,
        encode=lambda error: struct.pack("<i", error.x),
        decode=lambda data: Negative(struct.unpack("<i", data)[0]),
    ),
)
LOAD: Final[Method[LoadRequest, int]] = method(
    "demo.Flow.load",
    1,
    LoadRequest,
    params=lambda: (s.Field("into", s.STRING),),
    results=lambda: (s.Field("value", s.U64),),
    result_encoding=MEMCPY,
    param_element=lambda: s.BYTES,
)
FOLLOW: Final[Method[FollowRequest, Any]] = method(
    "demo.Flow.follow",
    2,
    FollowRequest,
    request_encoding=MEMCPY,
    result_encoding=MEMCPY,
    param_element=lambda: s.STRING,
    result_element=lambda: s.STRING,
)
PLAIN: Final[Method[ScanRequest, int]] = method(
    "demo.Flow.plain",
    3,
    ScanRequest,
    params=lambda: (s.Field("x", s.U32),),
    results=lambda: (s.Field("value", s.U32),),
    request_encoding=MEMCPY,
    result_encoding=MEMCPY,
)

DESCRIPTOR = """\
service demo.Flow
 per shelf string
 method scan
  params memcpy
   to u32
  results memcpy
  results_stream u32
 method load
  params febird
   into string
  params_stream bytes
  results memcpy
   value u64
 method follow
  params memcpy
  params_stream string
  results memcpy
  results_stream string
 method plain
  params memcpy
   x u32
  results memcpy
   value u32
"""
ANNEX = """\
annex demo.Flow
 method scan
  was walk
"""
METHODS = (SCAN, LOAD, FOLLOW, PLAIN)
FLOW_SERVICE: Final = ServiceInfo(
    name="demo.Flow",
    agent="shelf",
    descriptor=DESCRIPTOR,
    annex=ANNEX,
    fingerprint=sha256(DESCRIPTOR.encode()).digest()[:16],
    methods=METHODS,
)


class FlowServant(mf.Servant, ABC):
    mf_service: ClassVar[ServiceInfo] = FLOW_SERVICE

    @abstractmethod
    def scan(self, to: int) -> Iterator[int]: ...

    @abstractmethod
    def load(self, into: str, values: Iterator[bytes]) -> int: ...

    @abstractmethod
    def follow(self, names: Iterator[str]) -> Iterator[str]: ...

    @abstractmethod
    def plain(self, x: int) -> int: ...


class FlowAsyncServant(mf.AsyncServant, ABC):
    mf_service: ClassVar[ServiceInfo] = FLOW_SERVICE

    @abstractmethod
    def scan(self, to: int) -> AsyncIterator[int]: ...

    @abstractmethod
    async def load(self, into: str, values: AsyncIterator[bytes]) -> int: ...

    @abstractmethod
    def follow(self, names: AsyncIterator[str]) -> AsyncIterator[str]: ...

    @abstractmethod
    async def plain(self, x: int) -> int: ...


class WithoutStreams(FlowServant):
    """For tests of `plain`: the streams are empty."""

    def scan(self, to: int) -> Iterator[int]:  # noqa: ARG002
        return iter(())

    def load(self, into: str, values: Iterator[bytes]) -> int:  # noqa: ARG002
        return 0

    def follow(self, names: Iterator[str]) -> Iterator[str]:  # noqa: ARG002
        return iter(())


class AsyncWithoutStreams(FlowAsyncServant):
    async def scan(self, to: int) -> AsyncIterator[int]:  # noqa: ARG002
        for _ in ():
            yield _

    async def load(self, into: str, values: AsyncIterator[bytes]) -> int:  # noqa: ARG002
        return 0

    async def follow(self, names: AsyncIterator[str]) -> AsyncIterator[str]:  # noqa: ARG002
        for _ in ():
            yield _


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame that the server sent."""

    type: int
    flags: int
    id: int
    word: int
    count: int
    payload: bytes

    @property
    def failure(self) -> mf.Error:
        return read_failure(self.word, self.payload, 0)[0]

    @property
    def numbers(self) -> list[int]:
        return list(struct.unpack(f"<{self.count}I", self.payload))

    @property
    def texts(self) -> list[str]:
        assert FOLLOW.result_element is not None
        return FOLLOW.result_element.decode_all(self.payload, self.count)

    @property
    def credit(self) -> int:
        return int.from_bytes(self.payload, "little")

    def split(self) -> "tuple[dict[str, str], Frame]":
        """The metadata, and the frame without it."""
        entries, rest = take_metadata(self.payload)
        assert isinstance(entries, dict)
        return entries, replace(self, payload=bytes(rest), flags=self.flags & ~frame.METADATA)


def sized(*items: bytes | str) -> bytes:
    """Values of a stream of strings or bytes."""
    encoded = [item.encode() if isinstance(item, str) else item for item in items]
    return b"".join(_length(len(item)) + item for item in encoded)


def _length(size: int) -> bytes:
    more, last = divmod(size, 128)
    return bytes((last | 128,)) + _length(more) if more else bytes((last,))


class Peer:
    """A client that sends the frames that a test specifies, valid or not, and reads the answers."""

    def __init__(self, server: AnyServer, window: int = 16_384) -> None:
        ours, theirs = socket.socketpair()
        server.adopt(theirs)
        ours.settimeout(10)
        self.socket = ours
        self._read = b""
        self.send(frame.HELLO, Hello(nonce=bytes(16), client_id=7, stream_window=window).pack())
        names = tuple(each.name for each in METHODS)
        self.bind(0, names)
        hello, bound = self.next(), self.next()
        assert (hello.type, bound.type, bound.word) == (frame.HELLO, frame.BOUND, 0)
        self.hello = Hello.unpack(hello.payload)

    def bind(self, route: int, names: tuple[str, ...]) -> None:
        self.send(frame.BIND, pack_bind(FLOW_SERVICE.fingerprint, "demo.Flow", "a", names), route=route)

    def send(self, type_: int, payload: bytes = b"", **fields: int) -> None:
        self.socket.sendall(frame.pack(type_, payload, **fields))

    def call(
        self,
        which: Method[Any, Any],
        id_: int,
        *arguments: Any,
        deadline: float = mf.INFINITE,
        metadata: dict[str, str] | bytes | None = None,
        flags: int = 0,
    ) -> None:
        payload = bytes(which.encode_request(*arguments))
        flags |= which.request_encoding | (frame.STREAM if which.stream else 0)
        if metadata is not None:
            flags |= frame.METADATA
            payload = (metadata if isinstance(metadata, bytes) else pack_metadata(metadata)) + payload
        word = frame.pack_deadline(deadline)
        self.send(frame.REQUEST, payload, flags=flags, route=which.index, id_=id_, word=word, count=1)

    def data(self, id_: int, payload: bytes, count: int = 1, encoding: int = FEBIRD) -> None:
        self.send(frame.DATA, payload, flags=encoding, id_=id_, count=count)

    def credit(self, id_: int, count: int) -> None:
        self.send(frame.CREDIT, count.to_bytes(4, "little"), id_=id_)

    def end(self, id_: int) -> None:
        self.send(frame.END, id_=id_)

    def cancel(self, id_: int) -> None:
        self.send(frame.CANCEL, id_=id_)

    def next(self) -> Frame:
        """The next frame. Raises EOFError when the server has closed."""
        size, type_, flags, _, id_, word, count = frame.HEADER.unpack(self._bytes(frame.HEADER_SIZE))
        payload = self._bytes(size - frame.HEADER_SIZE)
        self._bytes(-size % 8)
        return Frame(type_, flags, id_, word, count, payload)

    def until_reply(self, id_: int) -> list[Frame]:
        """All frames up to the REPLY of this call, that one included."""
        frames = [self.next()]
        while frames[-1].type != frame.REPLY or frames[-1].id != id_:
            frames.append(self.next())
        return frames

    def reply(self, id_: int) -> Frame:
        return self.until_reply(id_)[-1]

    def is_served(self) -> bool:
        """Whether the connection still answers."""
        self.call(PLAIN, 1_000_000, 21)
        return self.reply(1_000_000).numbers == [42]

    def close(self) -> None:
        self.socket.close()

    def _bytes(self, count: int) -> bytes:
        while len(self._read) < count:
            piece = self.socket.recv(65536)
            if not piece:
                raise EOFError
            self._read += piece
        data, self._read = self._read[:count], self._read[count:]
        return data
