"""R1. Tags and unknown fields, as the careful reader encounters them in archive messages.

Groups end here: protobuf still allows them, our writers make none, and their fields are skipped with them.
"""

from typing import TYPE_CHECKING

from mf.codec import shape as s
from mf.codec.archive_form import is_wrapped, wire_of
from mf.codec.archive_wire import (
    BYTES,
    CLOSE_GROUP,
    FIXED32,
    FIXED64,
    LARGEST_NUMBER,
    OPEN_GROUP,
    VARINT,
    read_varint,
)
from mf.codec.fault import Fault
from mf.codec.limits import U64_MAX
from mf.codec.malformed import MalformedError

if TYPE_CHECKING:
    from mf.codec.careful_error import CarefulError
    from mf.codec.careful_reader import CarefulReader


def read_tag(r: "CarefulReader") -> tuple[int, int]:
    start = r.pos
    tag = r._unsigned(U64_MAX, shortest=False)
    number, wire = tag >> 3, tag & 7
    if not 1 <= number <= LARGEST_NUMBER:
        raise r.fail(Fault.MALFORMED_TAG, f"{number} is no field number", start)
    if wire > FIXED32:
        raise r.fail(Fault.MALFORMED_TAG, f"protobuf has no wire type {wire}", start)
    return number, wire


def check_wire(r: "CarefulReader", shape: s.Shape, wire: int, tag: int) -> None:
    wanted = BYTES if is_wrapped(shape) else wire_of(shape)
    if wire != wanted:
        raise r.fail(Fault.WRONG_WIRE_TYPE, f"wire type {wire} where {wanted} is expected", tag)


def skip(r: "CarefulReader", number: int, wire: int, tag: int) -> None:
    """The value of an unknown field; a group with all that is in it."""
    if wire != OPEN_GROUP:
        _skip_one(r, number, wire, tag)
        return
    groups = [(number, tag)]
    r._enter()
    while groups:
        if r.pos >= len(r._data):
            raise r.fail(Fault.MALFORMED_TAG, f"group {groups[-1][0]} is not closed", groups[-1][1])
        start = r.pos
        number, wire = read_tag(r)
        if wire == OPEN_GROUP:
            r._enter()
            groups.append((number, start))
        elif wire == CLOSE_GROUP and number == groups[-1][0]:
            r._depth -= 1
            groups.pop()
        else:
            _skip_one(r, number, wire, start)


def not_open(r: "CarefulReader", number: int, tag: int) -> "CarefulError":
    return r.fail(Fault.MALFORMED_TAG, f"group {number} is closed, but not open", tag)


def _skip_one(r: "CarefulReader", number: int, wire: int, tag: int) -> None:
    match wire:
        case 4:
            raise not_open(r, number, tag)
        case 2:
            r._take(r._length())
        case 0:
            r._unsigned(U64_MAX, shortest=False)
        case _:
            r._take(4 if wire == FIXED32 else 8)


def behind(data: bytes, pos: int, tag: int) -> int:
    wire = tag & 7
    if wire == VARINT:
        return read_varint(data, pos)[1]
    if wire in (FIXED64, FIXED32):
        return pos + (8 if wire == FIXED64 else 4)
    if wire != OPEN_GROUP:
        raise MalformedError
    open_groups = 1
    while open_groups:
        inner, pos = read_varint(data, pos)
        if inner & 7 == BYTES:
            size, pos = read_varint(data, pos)
            pos += size
        elif inner & 7 == CLOSE_GROUP:
            open_groups -= 1
        elif inner & 7 == OPEN_GROUP:
            open_groups += 1
        else:
            pos = behind(data, pos, inner)
    return pos
