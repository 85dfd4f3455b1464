"""R1. Shortcuts for single calls: parameters that are written without making an object of them, and values
that are numbers of fixed size, which one `struct.Struct` packs.

The latter only for values that are what `struct` makes of them (no bools, enums, uuids or times, no
constraints). A value that is refused is passed to the general codec, which words the error.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from struct import Struct, error
from typing import Any, TypeVar

from mf.codec import shape as s
from mf.codec.codec import Buffer, Codec
from mf.codec.failure import CodecError
from mf.codec.writer import Writer
from mf.core.error import Execution
from mf.core.service import Encoded

V = TypeVar("V")
T = TypeVar("T")


def is_plain(shape: s.Struct) -> bool:
    return shape.memcpy and all(
        isinstance(each.shape, s.Scalar) and each.shape.name not in ("bool", "uuid", "timestamp", "duration")
        for each in shape.fields
    )


def _packer(shape: s.Composite) -> Struct:
    from mf.codec.layout import format_of

    return Struct(f"<{format_of(shape)}")


class Parts(Codec[V, T]):
    """Parameters: read as a tuple, written from an object of `request`, or from the parts themselves."""

    def __init__(self, shape: s.Struct, request: Callable[..., V], *, where: str) -> None:
        super().__init__(shape, where=where)
        self._struct = shape
        self._request = request

    @cached_property
    def _write_parts(self) -> Callable[[Writer, Sequence[Any]], None]:
        from mf.codec.coding import parts_write

        return parts_write(self._struct)

    def encode_parts(self, *parts: Any) -> Encoded:
        if len(parts) != len(self._struct.fields):
            return self.encode(self._request(*parts))
        plan = self.shape.plan
        if plan is None:
            plan = self._planned()
        if plan:
            out: Encoded = plan.encode_parts(parts)
            if out is not NotImplemented:
                return out
        w = Writer()
        try:
            self._write_parts(w, parts)
        except CodecError as failure:
            self._refuse(failure, Execution.NOT_EXECUTED)
        return w.out


class PlainParts(Parts[V, T]):
    """Parameters that are plain numbers."""

    @cached_property
    def _packer(self) -> Struct:
        return _packer(self.shape)

    def encode_parts(self, *parts: Any) -> Encoded:
        try:
            return self._packer.pack(*parts)
        except (error, OverflowError, TypeError):
            return super().encode_parts(*parts)

    def decode(self, data: Buffer) -> T:
        try:
            parts: Any = self._packer.unpack(data)
        except error:
            return super().decode(data)
        return parts  # type: ignore[no-any-return]


class PlainValue(Codec[T, T]):
    """The only result of a method."""

    @cached_property
    def _packer(self) -> Struct:
        return _packer(self.shape)

    def encode(self, value: T) -> Encoded:
        try:
            return self._packer.pack(value)
        except (error, OverflowError, TypeError):
            return super().encode(value)

    def decode(self, data: Buffer) -> T:
        try:
            plain: Any = self._packer.unpack(data)[0]
        except error:
            return super().decode(data)
        return plain  # type: ignore[no-any-return]
