"""R1. Bytes of tier archive: tags, and varints as protobuf has them.

Varints may be longer than needed here, up to ten bytes, other than in febird.
"""

from typing import Final

from mf.codec.limits import U64_MAX
from mf.codec.malformed import MalformedError
from mf.codec.varint import write_unsigned

VARINT: Final = 0
FIXED64: Final = 1
BYTES: Final = 2
OPEN_GROUP: Final = 3
CLOSE_GROUP: Final = 4
FIXED32: Final = 5
LARGEST_NUMBER: Final = (1 << 29) - 1


def varint(number: int) -> bytes:
    out = bytearray()
    write_unsigned(out, number, U64_MAX)
    return bytes(out)


def tag_of(number: int, wire: int) -> bytes:
    return varint(number << 3 | wire)


def read_varint(data: bytes, pos: int) -> tuple[int, int]:
    """Up to 64 bits, in up to ten bytes."""
    byte = data[pos]
    if byte < 128:
        return byte, pos + 1
    second = data[pos + 1]
    if second < 128:
        return byte + (second << 7) - 128, pos + 2
    number = shift = 0
    while True:
        byte = data[pos]
        pos += 1
        if byte < 128:
            number |= byte << shift
            if number > U64_MAX:
                raise MalformedError
            return number, pos
        number |= (byte & 127) << shift
        shift += 7
        if shift > 63:
            raise MalformedError


def close(out: bytearray, at: int) -> None:
    """The length of all that was written from `at` on goes into the byte in front of it."""
    size = len(out) - at
    if size < 128:
        out[at - 1] = size
    else:
        out[at - 1 : at] = varint(size)


def behind(data: bytes, pos: int, tag: int) -> int:
    """The position behind a value, whatever it is, and behind a group."""
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
