"""R1. Tags and unknown fields, as readers encounter them in archive messages.

Groups end here: protobuf still allows them, our writers make none, and their fields are skipped with them.
"""

from mf.codec.archive_wire import (
    BYTES,
    CLOSE_GROUP,
    FIXED32,
    LARGEST_NUMBER,
    OPEN_GROUP,
    VARINT,
)
from mf.codec.failure import CodecError
from mf.codec.fault import Fault
from mf.codec.limits import U64_MAX
from mf.codec.reader import Reader


def read_tag(r: Reader) -> tuple[int, int]:
    start = r.pos
    tag = r.unsigned(U64_MAX, shortest=False)
    number, wire = tag >> 3, tag & 7
    if not 1 <= number <= LARGEST_NUMBER:
        raise r.fail(Fault.MALFORMED_TAG, f"{number} is no field number", start)
    if wire > FIXED32:
        raise r.fail(Fault.MALFORMED_TAG, f"protobuf has no wire type {wire}", start)
    return number, wire


def wrong_wire(r: Reader, wire: int, wanted: int, tag: int) -> CodecError:
    return r.fail(Fault.WRONG_WIRE_TYPE, f"wire type {wire} where {wanted} is expected", tag)


def skip(r: Reader, number: int, wire: int, tag: int) -> None:
    """The value of an unknown field; a group with all that is in it."""
    if wire != OPEN_GROUP:
        _skip_one(r, number, wire, tag)
        return
    groups = [(number, tag)]
    r.enter()
    while groups:
        if r.pos >= r.end:
            raise r.fail(Fault.MALFORMED_TAG, f"group {groups[-1][0]} is not closed", groups[-1][1])
        start = r.pos
        number, wire = read_tag(r)
        if wire == OPEN_GROUP:
            r.enter()
            groups.append((number, start))
        elif wire == CLOSE_GROUP and number == groups[-1][0]:
            r.depth -= 1
            groups.pop()
        else:
            _skip_one(r, number, wire, start)


def _skip_one(r: Reader, number: int, wire: int, tag: int) -> None:
    if wire == CLOSE_GROUP:
        raise r.fail(Fault.MALFORMED_TAG, f"group {number} is closed, but not open", tag)
    if wire == BYTES:
        r.take(r.padded_length())
    elif wire == VARINT:
        r.unsigned(U64_MAX, shortest=False)
    else:
        r.take(4 if wire == FIXED32 else 8)
