"""R1. Looks at many values of tier memcpy where they lie: where their fields are, and whether every bool,
closed enum and field with constraints holds what it may. No loop of Python sees a single value: a field of
all values is one strided slice.
"""

import sys
from collections.abc import Iterator
from itertools import product
from typing import Any, Final, NoReturn

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.contents import bare, scalar_of
from mf.codec.decode_error import DecodeError
from mf.codec.failure import CodecError
from mf.codec.fault import Fault
from mf.codec.layout import places, read_item
from mf.codec.reader import Reader
from mf.codec.rules import InRange, IsFinite
from mf.core.error import Code, Error, Execution

_BITS: Final = bytes((0, 1))

Dimensions = tuple[tuple[int, int], ...]
"""Of an array in an array: (elements, bytes from one to the next), from the outermost on."""


def letter_of(shape: s.Shape) -> str | None:
    """What struct and memoryview call a number, a bool or an enum; None for anything else."""
    plain = scalar_of(shape)
    if plain is None or plain.name in ("uuid", "string", "bytes"):
        return None
    return "?" if plain.name == "bool" else sizes.MEMCPY_CODES[plain.name]


def checked(shape: s.Shape, data: memoryview, name: str) -> int:
    """How many values lie in `data`. Raises DecodeError if it holds part of one, or what none may hold, and
    Error(INVALID_ARGUMENT) for a violated constraint.
    """
    size, _ = sizes.layout(shape)
    count = len(data) // size if size else 0
    if count * size != len(data):
        reason = f"{len(data)} bytes are no whole number of values of {size}"
        raise DecodeError(Fault.WRONG_LENGTH, f"{name}: {reason}")
    if count and not are_good(shape, data):
        _refuse(wrong_item(shape, data))
    return count


def are_good(shape: s.Shape, data: memoryview) -> bool:
    """Whether the values in `data`, which holds whole ones and at least one, are what they may be."""
    size, _ = sizes.layout(shape)
    count = len(data) // size
    return all(
        _is_good(data, each, offset, ((count, size), *inner)) for each, offset, inner in _limited(shape)
    )


def _limited(
    shape: s.Shape, offset: int = 0, inner: Dimensions = ()
) -> Iterator[tuple[s.Shape, int, Dimensions]]:
    """The bools, closed enums and constrained numbers in a value, of which not every number is one."""
    if isinstance(shape, s.Checked):
        yield shape, offset, inner
    match bare(shape):
        case s.Scalar(name="bool") as leaf:
            yield leaf, offset, inner
        case s.Enum(open=False) as leaf:
            yield leaf, offset, inner
        case s.Array(element=element, length=length):
            yield from _limited(element, offset, (*inner, (length, sizes.layout(element)[0])))
        case s.Struct() as struct:
            for field, at in places(struct):
                yield from _limited(field.shape, offset + at, inner)


def _is_good(data: memoryview, leaf: s.Shape, offset: int, dimensions: Dimensions) -> bool:
    """Looked at along the longest dimension."""
    if any(count == 0 for count, _ in dimensions):
        return True
    count, stride = longest = max(dimensions)
    others = list(dimensions)
    others.remove(longest)
    starts = product(*(range(0, each * step, step) for each, step in others))
    return all(_has_only(leaf, _column(data, leaf, offset + sum(start), count, stride)) for start in starts)


def _column(data: memoryview, leaf: s.Shape, offset: int, count: int, stride: int) -> memoryview:
    size, _ = sizes.layout(leaf)
    return column(data, "B" if size == 1 else letter_of(leaf) or "B", size, offset, count, stride)


def column(data: memoryview, letter: Any, size: int, offset: int, count: int, stride: int) -> memoryview:
    """`count` numbers of `size` bytes, every `stride` bytes one. Both are multiples of `size`."""
    step = stride // size or 1
    return data.cast(letter)[offset // size : offset // size + (count - 1) * step + 1 : step]


def _has_only(leaf: s.Shape, numbers: memoryview) -> bool:
    if isinstance(leaf, s.Checked):
        values = native(numbers)
        return all(isinstance(rule, InRange | IsFinite) and rule.holds_all(values) for rule in leaf.rules)
    members = leaf.members if isinstance(leaf, s.Enum) else None
    if numbers.itemsize > 1:
        assert members is not None
        return members.keys() >= set(native(numbers).tolist())
    allowed = _BITS if members is None else bytes(number & 255 for number in members)
    return not numbers.tobytes().translate(None, allowed)


def native(numbers: memoryview) -> memoryview:
    """In the byte order of this machine."""
    if sys.byteorder == "little" or numbers.itemsize == 1:
        return numbers
    from array import array

    turned: array[Any] = array(numbers.format, numbers.tobytes())
    turned.byteswap()
    return memoryview(turned)


def _refuse(failure: CodecError) -> NoReturn:
    if failure.code is not Code.DECODE_ERROR:
        raise Error(failure.code, failure.text(), Execution.UNKNOWN)
    raise DecodeError(failure.fault, failure.text(), offset=failure.offset or 0, path=failure.path())


def wrong_item(shape: s.Shape, data: memoryview) -> CodecError:
    """Of values that are not good: what is wrong with the first one that is wrong, else the leftmost violated
    constraint."""
    size, hunted = sizes.layout(shape)[0], None
    while True:
        r = Reader(bytes(data), sys.maxsize, hunted=hunted)
        try:
            for index in range(len(data) // size):
                read_item(r, shape, index, index * size)
        except CodecError as failure:
            return failure
        assert r.violation != hunted, "a value was refused, and then none was"
        hunted = r.violation
