"""Readers and writers without a codec around them: position, charges, and failures of their own.

A codec reads once as if no message came in parts, and if that fails again, looking for parts. `read` does
what the second attempt does, whatever the first would have found.
"""

from typing import Any

from mf.codec import shape as s
from mf.codec.coding import coding_of
from mf.codec.limits import DEFAULT_LIMITS
from mf.codec.lookup import codec_of
from mf.codec.reader import Reader
from mf.codec.writer import Writer


def reader_of(data: bytes, budget: int = DEFAULT_LIMITS.decoded, *, in_parts: bool = True) -> Reader:
    return Reader(data, budget, in_parts=in_parts)


def read(shape: s.Shape, data: bytes, reader: Reader | None = None) -> Any:
    """The only value in the data. Raises a CodecError, also for the leftmost violated constraint."""
    r = reader or reader_of(data)
    composite: Any = shape if isinstance(shape, s.Composite) else codec_of(shape).shape
    value = coding_of(composite).read_alone(r)
    r.finish()
    if r.violation is not None:
        coding_of(composite).read_alone(
            Reader(data, DEFAULT_LIMITS.decoded, in_parts=r.in_parts, hunted=r.violation)
        )
    return value


def written(shape: s.Shape, value: Any) -> bytes:
    composite: Any = shape if isinstance(shape, s.Composite) else codec_of(shape).shape
    w = Writer()
    coding_of(composite).write_alone(w, value)
    return bytes(w.out)


def unchecked(shape: s.Struct, value: Any) -> bytes:
    """A value in bytes, whatever its constraints say."""
    fields = tuple(
        s.Field(each.name, _bare(each.shape), each.attribute, number=each.number) for each in shape.fields
    )
    same = s.Struct(
        shape.name,
        shape.make,
        lambda: fields,
        memcpy=shape.memcpy,
        archive=shape.archive,
        implicit=shape.implicit,
        parts=shape.parts,
    )
    return written(same, value)


def _bare(shape: s.Shape) -> s.Shape:
    match shape:
        case s.Checked():
            return _bare(shape.shape)
        case s.List():
            return s.List(_bare(shape.element))
        case s.Set():
            return s.Set(_bare(shape.element))
        case s.Optional():
            return s.Optional(_bare(shape.element))
        case s.Array():
            return s.Array(_bare(shape.element), shape.length)
        case s.Map():
            return s.Map(_bare(shape.key), _bare(shape.value))
        case _:
            return shape
