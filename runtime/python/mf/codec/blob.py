"""R1. Shortcuts for calls whose only parameter, or only result, is of type `bytes`, or an array of numpy
where the schema has a list: a large one goes out from where it is (from a buffer or array that can be
written to by one copy), and `bytes` are copied once out of the buffer that they were received in.

What is small, or not as it should be, goes the ordinary way, which finds the words.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

from mf.codec import shape as s
from mf.codec.codec import Buffer, Codec
from mf.codec.failure import CodecError
from mf.codec.limits import U32_MAX
from mf.codec.malformed import MalformedError
from mf.codec.plain import Parts
from mf.codec.sequences import laid_out
from mf.codec.sizes import MEMCPY_CODES, layout
from mf.codec.varint import read_u32, write_unsigned
from mf.codec.writer import is_array
from mf.core.gathered import Gathered
from mf.core.service import Encoded

V = TypeVar("V")
T = TypeVar("T")
Join = Callable[[Any], Encoded | None]
"""The message of a large value; None if the general codec has to write it. A value that may change is
copied."""

_LARGE = 16 * 1024  # below it is not worth looking


def _only(shape: s.Composite) -> s.Shape | None:
    """That of the only field."""
    return shape.fields[0].shape if isinstance(shape, s.Struct) and len(shape.fields) == 1 else None


def _is_blob(shape: s.Composite) -> bool:
    only = _only(shape)
    return isinstance(only, s.Scalar) and only.name == "bytes"  # without constraints


def _join_of(shape: s.Composite) -> Join | None:
    if _is_blob(shape):
        return _joined
    only = _only(shape)
    element = only.element if isinstance(only, s.List) else None
    if isinstance(element, s.Scalar) and element.name in ("u8", "i8", "f32", "f64"):
        letter = MEMCPY_CODES[element.name]
        return lambda values: _array_joined(values, lambda: laid_out(values, letter))
    if isinstance(element, s.Struct) and element.memcpy and layout(element)[0]:
        return lambda values: _array_joined(values, lambda: _structs_in(element, values))
    return None


def _joined(value: Any) -> Encoded | None:
    if type(value) is bytes:
        return Gathered(_counted(len(value)), value) if _LARGE <= len(value) <= U32_MAX else None
    if not isinstance(value, (bytes, bytearray, memoryview)):
        try:
            value = memoryview(value)  # an array of numbers, say
        except TypeError:
            return None
    size = value.nbytes if isinstance(value, memoryview) else len(value)
    if not _LARGE <= size <= U32_MAX or (isinstance(value, memoryview) and not value.contiguous):
        return None
    return b"".join((_counted(size), value))


def _array_joined(values: Any, data_of: "Callable[[], memoryview | bytes | None]") -> Encoded | None:
    if not is_array(values) or values.nbytes < _LARGE or len(values) > U32_MAX:
        return None
    try:
        data = data_of()
    except CodecError:
        return None
    if data is None:
        return None
    head = _counted(len(values))
    return b"".join((head, data)) if values.flags.writeable else Gathered(head, data)


def _structs_in(element: s.Struct, values: Any) -> memoryview | None:
    from mf.codec.arrays import array_bytes

    return array_bytes(element, values)


def _counted(count: int) -> bytes:
    head = bytearray()
    write_unsigned(head, count, U32_MAX)
    return bytes(head)


def _taken(data: Buffer) -> bytes | None:
    """The value of a large message; None: the ordinary way knows better."""
    if len(data) < _LARGE:
        return None
    try:
        size, start = read_u32(data, 0)  # type: ignore[arg-type]  # which only indexes it
    except (IndexError, MalformedError):
        return None
    return bytes(memoryview(data)[start:]) if start + size == len(data) else None


class BlobParts(Parts[V, T]):
    """Parameters of tier febird."""

    @cached_property
    def _blob(self) -> bool:
        return _is_blob(self.shape)

    @cached_property
    def _join(self) -> Join | None:
        return _join_of(self.shape)

    def encode_parts(self, *parts: Any) -> Encoded:
        message = self._join(parts[0]) if self._join is not None and len(parts) == 1 else None
        return super().encode_parts(*parts) if message is None else message

    def decode(self, data: Buffer) -> T:
        value = _taken(data) if self._blob and len(data) <= self._limits.decoded else None
        if value is None:
            return super().decode(data)
        parts: Any = (value,)  # as Parts are read
        return parts  # type: ignore[no-any-return]


class BlobValue(Codec[T, T]):
    """Results of tier febird."""

    @cached_property
    def _blob(self) -> bool:
        return _is_blob(self.shape)

    @cached_property
    def _join(self) -> Join | None:
        return _join_of(self.shape)

    def encode(self, value: T) -> Encoded:
        message = None if self._join is None else self._join(value)
        return super().encode(value) if message is None else message

    def decode(self, data: Buffer) -> T:
        value: Any = _taken(data) if self._blob and len(data) <= self._limits.decoded else None
        return super().decode(data) if value is None else value
