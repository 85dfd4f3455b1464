"""R1. Functions that read one value of an archive message behind its tag: all but messages
(mf.codec.archive_message).
"""

import struct
from collections.abc import Callable
from typing import Any

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.archive_form import integer_of, is_zigzag
from mf.codec.custom_coding import read_custom
from mf.codec.fault import Fault
from mf.codec.layout import converted, wrong_part
from mf.codec.limits import U32_MAX, U64_MAX, limits_of
from mf.codec.reader import Reader

Read = Callable[[Reader], Any]
Of = Callable[[s.Composite], Any]


def value_read(shape: s.Shape, of: Of) -> Read:
    if isinstance(shape, s.Checked):
        return _checked(shape, of)
    if integer_of(shape) is not None:
        return _integer(shape)
    match shape:
        case s.Scalar(name="bool"):
            return _bool
        case s.Scalar(name="string"):
            return _string
        case s.Scalar(name="bytes"):
            return _bytes
        case s.Scalar(name="uuid"):
            return _uuid
        case s.Scalar():
            return _fixed(shape)
        case s.Ref(element=s.Struct() | s.Union() as element):
            return lambda r: _reference(r, element)
        case s.Custom():
            return lambda r: read_custom(r, shape, r.padded_length())
        case s.Struct() | s.Union():
            return _foreign(shape, of)
        case _:
            raise TypeError(f"{type(shape).__name__} is a message")


def _checked(shape: s.Checked, of: Of) -> Read:
    inner, rules = value_read(shape.shape, of), shape.rules

    def read(r: Reader) -> Any:
        at = r.pos
        return r.check(rules, inner(r), at)

    return read


def _integer(shape: s.Shape) -> Read:
    name = integer_of(shape)
    assert name is not None
    low, high = limits_of(name)
    convert, signed, zigzag = converted(shape), name[0] == "i", is_zigzag(shape)

    def read(r: Reader) -> Any:
        at = r.pos
        if at < r.end and (number := r.data[at]) < 128:
            r.pos = at + 1
        else:
            number = r.unsigned(U64_MAX, shortest=False)
        if zigzag:
            number = ~(number >> 1) if number & 1 else number >> 1
        elif signed and number >> 63:
            number -= 1 << 64
        if not low <= number <= high:
            raise r.fail(Fault.NUMBER_OUT_OF_RANGE, f"{number} does not fit in {name}", at)
        if convert is None:
            return number
        try:
            return convert(number)
        except KeyError:
            raise wrong_part(r, shape, number, at) from None

    return read


def _bool(r: Reader) -> bool:
    at = r.pos
    if at < r.end and (number := r.data[at]) < 2:
        r.pos = at + 1
        return number == 1
    number = r.unsigned(U64_MAX, shortest=False)
    if number > 1:
        raise r.fail(Fault.INVALID_BOOL, f"bool {number} is neither 0 nor 1", at)
    return number == 1


def _bytes(r: Reader) -> bytes:
    size = r.padded_length()
    r.budget -= 64 + size
    if r.budget < 0:
        raise r.over_budget()
    pos = r.pos
    r.pos = end = pos + size
    return r.data[pos:end]


def _string(r: Reader) -> str:
    pos = r.pos
    if pos < r.end and (size := r.data[pos]) < 128 and pos + size < r.end:
        r.pos = pos = pos + 1
    else:
        size = r.padded_length()
        pos = r.pos
    r.budget -= 64 + size
    if r.budget < 0:
        raise r.over_budget()
    r.pos = end = pos + size
    try:
        return r.data[pos:end].decode()
    except UnicodeDecodeError as error:
        raise r.fail(Fault.INVALID_UTF8, "text is not UTF-8", pos + error.start) from None


def _uuid(r: Reader) -> Any:
    from uuid import UUID

    at = r.pos
    size = r.padded_length()
    if size != 16:
        raise r.fail(Fault.WRONG_LENGTH, f"a uuid has 16 bytes, not {size}", at)
    return UUID(bytes=r.take(16))


def _fixed(shape: s.Scalar) -> Read:
    unpack = struct.Struct(f"<{sizes.MEMCPY_CODES[shape.name]}")
    size, unpack_from, convert = unpack.size, unpack.unpack_from, converted(shape)

    def read(r: Reader) -> Any:
        pos = r.pos
        if pos + size > r.end:
            r.need(size)
        r.pos = pos + size
        (value,) = unpack_from(r.data, pos)
        return value if convert is None else convert(value)

    return read


def _reference(r: Reader, element: s.Struct | s.Union) -> Any:
    at = r.pos
    number = r.unsigned(U64_MAX, shortest=False)
    if number > U32_MAX:
        raise r.fail(Fault.NUMBER_OUT_OF_RANGE, f"an index of {number} does not fit in u32", at)
    return object_at(r, element, number, at)


def object_at(r: Reader, element: s.Struct | s.Union, number: int, at: int) -> Any:
    """The object of the graph that is read just now."""
    objects = r.tables.get(element, [])
    if number >= len(objects):
        reason = f"{number} is behind the end of the table of {element.name}, which has {len(objects)}"
        raise r.fail(Fault.INVALID_REFERENCE, reason, at)
    return objects[number]


def _foreign(shape: s.Struct | s.Union, of: Of) -> Read:
    """A value of another tier, which fills its bytes."""
    coding = of(shape)

    def read(r: Reader) -> Any:
        at = r.pos
        size = r.padded_length()
        if isinstance(shape, s.Struct) and shape.memcpy and size != sizes.layout(shape)[0]:
            reason = f"{shape.name} has {sizes.layout(shape)[0]} bytes, not {size}"
            raise r.fail(Fault.WRONG_LENGTH, reason, at)
        tables, reading, end = r.tables, r.reading, r.end
        r.tables, r.reading, r.end = {}, None, r.pos + size
        value = coding.read(r)
        r.finish()
        r.tables, r.reading, r.end = tables, reading, end
        return value

    return read
