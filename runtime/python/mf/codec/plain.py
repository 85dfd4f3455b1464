"""R1. Shortcuts for single calls: parameters that are written without making an object of them, and values
that are numbers of fixed size, which one `struct.Struct` packs.

The latter only for values that are what `struct` makes of them (no bools, enums, uuids or times, no
constraints). A value that is refused is passed to the general codec, which words the error.
"""

from collections.abc import Callable
from struct import Struct, error
from typing import Any, TypeVar

from mf.codec import shape as s
from mf.codec.codec import Buffer, Codec, functions_of
from mf.codec.malformed import GIVE_UP
from mf.core.service import Encoded

V = TypeVar("V")
T = TypeVar("T")


def is_plain(shape: s.Struct) -> bool:
    return shape.memcpy and all(
        isinstance(each.shape, s.Scalar) and each.shape.name not in ("bool", "uuid", "timestamp", "duration")
        for each in shape.fields
    )


class Parts(Codec[V, T]):
    """Parameters: read as a tuple, written from an object of `request`, or from the parts themselves."""

    __slots__ = ("_request", "_write_parts")

    _write_parts: Callable[..., None]

    def __init__(self, shape: s.Struct, request: Callable[..., V], *, where: str) -> None:
        super().__init__(shape, where=where)
        self._request = request

    def _prepare(self) -> None:
        super()._prepare()
        write_parts = functions_of(self.shape).write_parts
        assert write_parts is not None
        self._write_parts = write_parts

    def encode_parts(self, *parts: Any) -> Encoded:
        out = bytearray()
        try:
            if self._check_read is not None:
                self._check_read(parts)  # type: ignore[arg-type]  # a tuple, as it is read
            self._write_parts(out, *parts)
        except GIVE_UP:
            return self._write_carefully((self._request(*parts),))
        return out


class PlainParts(Parts[V, T]):
    """Parameters that are plain numbers."""

    __slots__ = ("_pack", "_unpack")

    _pack: Callable[..., bytes]
    _unpack: Callable[[Buffer], Any]

    def _prepare(self) -> None:
        super()._prepare()
        packer = _packer(self.shape)
        self._pack, self._unpack = packer.pack, packer.unpack

    def encode_parts(self, *parts: Any) -> Encoded:
        try:
            return self._pack(*parts)
        except GIVE_UP:
            return self.encode(self._request(*parts))

    def decode(self, data: Buffer) -> T:
        try:
            parts: T = self._unpack(data)
        except error:
            return super().decode(data)
        return parts


class PlainValue(Codec[T, T]):
    """The only result of a method."""

    __slots__ = ("_pack", "_unpack")

    _pack: Callable[..., bytes]
    _unpack: Callable[[Buffer], Any]

    def _prepare(self) -> None:
        super()._prepare()
        packer = _packer(self.shape)
        self._pack, self._unpack = packer.pack, packer.unpack

    def encode(self, value: T) -> Encoded:
        try:
            return self._pack(value)
        except GIVE_UP:
            return super().encode(value)

    def decode(self, data: Buffer) -> T:
        try:
            (value,) = self._unpack(data)
        except error:
            return super().decode(data)
        plain: T = value
        return plain


def _packer(shape: s.Composite) -> Struct:
    from mf.codec.fast.fixed import format_of

    return Struct(f"<{format_of(shape)}")
