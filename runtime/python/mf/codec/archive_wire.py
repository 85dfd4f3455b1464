"""R1. Bytes of tier archive: tags, varints as protobuf has them, and fields that a schema does not have.

Varints may be longer than needed here, up to ten bytes, other than in febird. Groups end here: protobuf still
allows them, our writers make none, and their fields are skipped with them.
"""

from typing import Final

from mf.codec.fault import Fault
from mf.codec.limits import U64_MAX
from mf.codec.reader import Reader
from mf.codec.varint import varint

VARINT: Final = 0
FIXED64: Final = 1
BYTES: Final = 2
OPEN_GROUP: Final = 3
CLOSE_GROUP: Final = 4
FIXED32: Final = 5
FIXED_SIZES: Final = {FIXED32: 4, FIXED64: 8}
_LARGEST_NUMBER: Final = (1 << 29) - 1
Span = tuple[int, int]
"""Where the bytes of a value begin and end, without their length."""


def tag_of(number: int, wire: int) -> bytes:
    return varint(number << 3 | wire)


def read_tag(r: Reader) -> tuple[int, int]:
    """Field number and wire type."""
    start = r.pos
    tag = r.data[start]
    if tag < 128:
        r.pos = start + 1
    else:
        tag = r.unsigned(U64_MAX, shortest=False)
    number, wire = tag >> 3, tag & 7
    if not 1 <= number <= _LARGEST_NUMBER:
        raise r.fail(Fault.MALFORMED_TAG, f"{number} is no field number", start)
    if wire > FIXED32:
        raise r.fail(Fault.MALFORMED_TAG, f"protobuf has no wire type {wire}", start)
    return number, wire


def skip(r: Reader, number: int, wire: int, start: int) -> None:
    """The value of an unknown field, whose tag begins at `start`; a group with all that is in it."""
    groups: list[tuple[int, int]] = []
    while True:
        if wire == OPEN_GROUP:
            r.enter()
            groups.append((number, start))
        elif wire == CLOSE_GROUP:
            if not groups or number != groups[-1][0]:
                raise r.fail(Fault.MALFORMED_TAG, f"group {number} is closed, but not open", start)
            r.depth -= 1
            groups.pop()
        elif wire == BYTES:
            r.take(r.padded_length())
        elif wire == VARINT:
            r.unsigned(U64_MAX, shortest=False)
        else:
            r.take(FIXED_SIZES[wire])
        if not groups:
            return
        if r.pos >= r.end:
            raise r.fail(Fault.MALFORMED_TAG, f"group {groups[-1][0]} is not closed", groups[-1][1])
        start = r.pos
        number, wire = read_tag(r)
