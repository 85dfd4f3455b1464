"""R1. Bytes of tier archive: varints as protobuf has them, packed numbers, unknown fields.

The fast functions call these; each gives up by `MalformedError`. Varints may be longer than needed here, up
to ten bytes, other than in febird.
"""

from typing import Any, Final

from mf.codec.limits import U32_MAX, U64_MAX
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


def read_tag(data: bytes, pos: int) -> int:
    """Of more than one byte, and in its shortest form."""
    tag, behind = read_varint(data, pos)
    if data[behind - 1] == 0:
        raise MalformedError
    return tag


def read_below(data: bytes, pos: int, highest: int) -> tuple[int, int]:
    number, pos = read_varint(data, pos)
    if number > highest:
        raise MalformedError
    return number, pos


def read_member(data: bytes, pos: int, low: int, high: int) -> tuple[int, int]:
    """Of a signed enum: two's complement of 64 bits."""
    number, pos = read_varint(data, pos)
    if number >> 63:
        number -= 1 << 64
    if not low <= number <= high:
        raise MalformedError
    return number, pos


def write_member(out: bytearray, number: int, low: int, high: int) -> None:
    if not low <= number <= high:
        raise MalformedError
    write_unsigned(out, number & U64_MAX, U64_MAX)


def write_blob(out: bytearray, blob: bytes | bytearray) -> None:
    """Length and bytes."""
    size = len(blob)
    if size < 128:
        out.append(size)
    else:
        write_unsigned(out, size, U32_MAX)
    out += blob


def close(out: bytearray, at: int) -> None:
    """The length of all that was written from `at` on goes into the byte in front of it."""
    size = len(out) - at
    if size < 128:
        out[at - 1] = size
    else:
        out[at - 1 : at] = varint(size)


# --- fields that the reader does not know


def skip_unknown(data: bytes, pos: int, end: int, known: frozenset[int]) -> int:
    """The position of the first known field from `pos` on, or `end`."""
    while pos < end:
        tag, behind = read_varint(data, pos)
        number = tag >> 3
        if number in known:
            return pos
        if not 1 <= number <= LARGEST_NUMBER:
            raise MalformedError
        pos = _behind(data, behind, tag & 7)
    if pos > end:
        raise MalformedError
    return pos


def _behind(data: bytes, pos: int, wire: int) -> int:
    """The position behind a value. Groups are too rare."""
    if wire == VARINT:
        return read_varint(data, pos)[1]
    if wire == BYTES:
        size, pos = read_varint(data, pos)
        return pos + size
    if wire not in (FIXED64, FIXED32):
        raise MalformedError
    return pos + (8 if wire == FIXED64 else 4)


# --- values of the user's codec


def custom_bytes(shape: Any, value: Any) -> bytes:
    """What a `shape.Custom` is written as. Whatever the codec raises, the careful writer says."""
    from mf.codec.custom import user_codec

    codec = user_codec(shape.module, shape.codec)
    try:
        made = codec.encode(value)
    except Exception as error:
        raise MalformedError from error
    if not isinstance(made, (bytes, bytearray, memoryview)):
        raise MalformedError
    return bytes(made)


def custom_made(shape: Any, data: bytes) -> Any:
    from mf.codec.custom import user_codec

    codec = user_codec(shape.module, shape.codec)
    try:
        made = codec.decode(data)
    except Exception as error:
        raise MalformedError from error
    if made is None:
        raise MalformedError
    return made
