"""R1. The codecs of parameters and results. Parameters are written without making an object of them. `bytes`
that are alone, or an array of numpy where the schema has a list, take a shortcut if they are large: they go
out from where they are (from a buffer or array that can be written to by one copy), and `bytes` are copied
once out of the buffer that they were received in.

What is small, or not as it should be, goes the ordinary way, which finds the words.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final, Protocol, TypeVar

from mf.codec import shape as s
from mf.codec.codec import Buffer, Codec
from mf.codec.failure import CodecError
from mf.codec.limits import U32_MAX
from mf.codec.reader import Reader
from mf.codec.sequences import laid_out
from mf.codec.sizes import MEMCPY_CODES, layout
from mf.codec.varint import varint
from mf.codec.writer import Writer, is_array
from mf.core.gathered import Gathered
from mf.core.service import Encoded

V = TypeVar("V")
T = TypeVar("T")

_LARGE: Final = 16 * 1024  # below it is not worth looking


class _Shortcut(Protocol):
    def write(self, parts: Sequence[Any]) -> Encoded | None:
        """The message; None if the general codec has to write it."""

    def read(self, data: Buffer, most: int) -> Sequence[Any] | None:
        """The parts, of `most` bytes of memory; None if the general codec has to read them."""


class Parts(Codec[V, T]):
    """Parameters: read as a tuple, written from an object of `request`, or from the parts themselves."""

    def __init__(self, shape: s.Struct, request: Callable[..., V], *, where: str) -> None:
        super().__init__(shape, where=where)
        self._struct = shape
        self._request = request

    @cached_property
    def _shortcut(self) -> _Shortcut | None:
        return _shortcut_of(self._struct)

    @cached_property
    def _write_parts(self) -> Callable[[Writer, Sequence[Any]], None]:
        from mf.codec.coding import parts_write

        return parts_write(self._struct)

    def encode_parts(self, *parts: Any) -> Encoded:
        if self._shortcut is not None:
            message = self._shortcut.write(parts)
            if message is not None:
                return message
        if len(parts) != len(self._struct.fields):
            return self.encode(self._request(*parts))
        if plan := self._plan:
            out: Encoded = plan.encode_parts(parts)
            if out is not NotImplemented:
                return out
        return self._written(self._write_parts, parts)

    def decode(self, data: Buffer) -> T:
        parts: Any = None if self._shortcut is None else self._shortcut.read(data, self._limits.decoded)
        return super().decode(data) if parts is None else parts


class Value(Codec[T, T]):
    """The only result of a method."""

    @cached_property
    def _shortcut(self) -> _Shortcut | None:
        return _shortcut_of(self.shape)

    def encode(self, value: T) -> Encoded:
        message = None if self._shortcut is None else self._shortcut.write((value,))
        return super().encode(value) if message is None else message

    def decode(self, data: Buffer) -> T:
        parts: Any = None if self._shortcut is None else self._shortcut.read(data, self._limits.decoded)
        return super().decode(data) if parts is None else parts[0]


def _shortcut_of(shape: s.Composite) -> _Shortcut | None:
    if not isinstance(shape, s.Struct) or len(shape.fields) != 1:
        return None
    only = shape.fields[0].shape
    if isinstance(only, s.Scalar) and only.name == "bytes":  # without constraints
        return _Bytes()
    element = only.element if isinstance(only, s.List) else None
    if isinstance(element, s.Scalar) and element.name in ("u8", "i8", "f32", "f64"):
        letter = MEMCPY_CODES[element.name]
        return _Array(lambda values: laid_out(values, letter))
    if isinstance(element, s.Struct) and element.memcpy and layout(element)[0]:
        from mf.codec.arrays import array_bytes

        return _Array(lambda values: array_bytes(element, values))
    return None


class _Bytes:
    def write(self, parts: Sequence[Any]) -> Encoded | None:
        value: Any = parts[0] if len(parts) == 1 else None
        if type(value) is bytes:
            return Gathered(varint(len(value)), value) if _LARGE <= len(value) <= U32_MAX else None
        try:
            memory = memoryview(value)  # of an array of numbers too
        except TypeError:
            return None
        if not _LARGE <= memory.nbytes <= U32_MAX or not memory.contiguous:
            return None
        return b"".join((varint(memory.nbytes), memory))

    def read(self, data: Buffer, most: int) -> Sequence[Any] | None:
        if not _LARGE <= len(data) <= most:
            return None
        r = Reader(data, most)  # type: ignore[arg-type]  # which only indexes it
        try:
            size = r.length()
        except CodecError:
            return None
        return (bytes(memoryview(data)[r.pos :]),) if r.pos + size == len(data) else None


class _Array:
    def __init__(self, data_of: Callable[[Any], memoryview | bytes | None]) -> None:
        self._data_of = data_of

    def write(self, parts: Sequence[Any]) -> Encoded | None:
        values: Any = parts[0] if len(parts) == 1 else None
        if not is_array(values) or values.nbytes < _LARGE or len(values) > U32_MAX:
            return None
        try:
            data = self._data_of(values)
        except CodecError:
            return None
        if data is None:
            return None
        head = varint(len(values))
        return b"".join((head, data)) if values.flags.writeable else Gathered(head, data)

    def read(self, data: Buffer, most: int) -> Sequence[Any] | None:  # noqa: ARG002 - lists are lists
        return None
