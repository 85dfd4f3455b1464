"""R1. Shortcuts for calls whose only parameter, or only result, is of type `bytes`: a large one goes out from
where it is (from a buffer that may change by one copy), and is copied once out of the buffer that it was
received in.

What is small, or not as it should be, goes the ordinary way, which finds the words.
"""

from functools import cached_property
from typing import Any, TypeVar

from mf.codec import shape as s
from mf.codec.codec import Buffer, Codec
from mf.codec.limits import U32_MAX
from mf.codec.malformed import MalformedError
from mf.codec.plain import Parts
from mf.codec.varint import read_u32, write_unsigned
from mf.core.gathered import Gathered
from mf.core.service import Encoded

V = TypeVar("V")
T = TypeVar("T")

_LARGE = 16 * 1024  # below it is not worth looking


def _is_blob(shape: s.Composite) -> bool:
    if not isinstance(shape, s.Struct) or len(shape.fields) != 1:
        return False
    only = shape.fields[0].shape
    return isinstance(only, s.Scalar) and only.name == "bytes"  # without constraints


def _joined(value: Any) -> Encoded | None:
    """The message of a large value; None if the general codec has to write it. A value that may change is
    copied."""
    if type(value) is bytes:
        if not _LARGE <= len(value) <= U32_MAX:
            return None
        head = bytearray()
        write_unsigned(head, len(value), U32_MAX)
        return Gathered(bytes(head), value)
    if not isinstance(value, (bytes, bytearray, memoryview)):
        try:
            value = memoryview(value)  # an array of numbers, say
        except TypeError:
            return None
    size = value.nbytes if isinstance(value, memoryview) else len(value)
    if not _LARGE <= size <= U32_MAX or (isinstance(value, memoryview) and not value.contiguous):
        return None
    head = bytearray()
    write_unsigned(head, size, U32_MAX)
    return b"".join((head, value))


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

    def encode_parts(self, *parts: Any) -> Encoded:
        message = _joined(parts[0]) if self._blob and len(parts) == 1 else None
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

    def encode(self, value: T) -> Encoded:
        message = _joined(value) if self._blob else None
        return super().encode(value) if message is None else message

    def decode(self, data: Buffer) -> T:
        value: Any = _taken(data) if self._blob and len(data) <= self._limits.decoded else None
        return super().decode(data) if value is None else value
