"""R1. Shortcuts for single calls whose parameters or result are numbers of fixed size: one `struct.Struct`.

Only for values that are what `struct` makes of them (no bools, enums, uuids or times, no constraints).
Whatever `struct` refuses goes the ordinary way, which finds the words.
"""

from collections.abc import Callable, Iterable
from struct import Struct, error
from typing import Any, TypeVar

from mf.codec.codec import Buffer, Codec
from mf.codec.malformed import GIVE_UP
from mf.codec.shape import Struct as StructShape

V = TypeVar("V")
T = TypeVar("T")


class PlainParts(Codec[V, T]):
    """Parameters: read as a tuple, written from an object of `request`, or from the parts themselves."""

    __slots__ = ("_pack", "_request", "_unpack")

    def __init__(
        self,
        shape: StructShape,
        write: Callable[[bytearray, Iterable[V]], None],
        read: Callable[[bytes, int, int], tuple[list[T], int]],
        packer: Struct,
        request: Callable[..., V],
        *,
        where: str,
    ) -> None:
        super().__init__(shape, write, read, where=where)
        self._pack = packer.pack
        self._unpack: Callable[[Buffer], Any] = packer.unpack
        self._request = request

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

    def __init__(
        self,
        shape: StructShape,
        write: Callable[[bytearray, Iterable[T]], None],
        read: Callable[[bytes, int, int], tuple[list[T], int]],
        packer: Struct,
        *,
        where: str,
    ) -> None:
        super().__init__(shape, write, read, where=where)
        self._pack = packer.pack
        self._unpack: Callable[[Buffer], Any] = packer.unpack

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
