"""R1. Shortcuts for single calls whose parameters or result are numbers of fixed size: one `struct.Struct`.

Only for values that are what `struct` makes of them (no bools, enums, uuids or times, no constraints).
Whatever `struct` refuses goes the ordinary way, which finds the words.
"""

from collections.abc import Callable
from struct import Struct, error
from typing import Any, TypeVar

from mf.codec import shape as s
from mf.codec.codec import Buffer, Codec
from mf.codec.malformed import GIVE_UP

V = TypeVar("V")
T = TypeVar("T")


def is_plain(shape: s.Struct) -> bool:
    return shape.memcpy and all(
        isinstance(each.shape, s.Scalar) and each.shape.name not in ("bool", "uuid", "timestamp", "duration")
        for each in shape.fields
    )


class PlainParts(Codec[V, T]):
    """Parameters: read as a tuple, written from an object of `request`, or from the parts themselves."""

    __slots__ = ("_pack", "_request", "_unpack")

    _pack: Callable[..., bytes]
    _unpack: Callable[[Buffer], Any]

    def __init__(self, shape: s.Struct, request: Callable[..., V], *, where: str) -> None:
        super().__init__(shape, where=where)
        self._request = request

    def _prepare(self) -> None:
        super()._prepare()
        packer = _packer(self.shape)
        self._pack, self._unpack = packer.pack, packer.unpack

    def encode_parts(self, *parts: Any) -> bytes | bytearray:
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

    def encode(self, value: T) -> bytes | bytearray:
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


def _packer(shape: s.Struct | s.Union) -> Struct:
    from mf.codec.fast.fixed import format_of

    return Struct(f"<{format_of(shape)}")
