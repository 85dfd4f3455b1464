"""R1. Bytes of tier archive: varints as protobuf has them, packed numbers, fields that nobody knows.

The fast functions call these; each gives up by `MalformedError`. Varints may be longer than needed here, up
to ten bytes, other than in febird.
"""

from array import array
from collections.abc import Iterable, Sequence
from typing import Any, Final

from mf.codec.limits import U32_MAX, U64_MAX
from mf.codec.malformed import MalformedError
from mf.codec.sequences import plain
from mf.codec.varint import write_unsigned

VARINT: Final = 0
FIXED64: Final = 1
BYTES: Final = 2
OPEN_GROUP: Final = 3
CLOSE_GROUP: Final = 4
FIXED32: Final = 5
LARGEST_NUMBER: Final = (1 << 29) - 1
_MORE: Final = bytes(range(128, 256))  # a varint goes on behind these


def varint(number: int) -> bytes:
    out = bytearray()
    write_unsigned(out, number, U64_MAX)
    return bytes(out)


def tag_of(number: int, wire: int) -> bytes:
    return varint(number << 3 | wire)


def read_varint(data: bytes, pos: int) -> tuple[int, int]:
    """Up to 64 bits, in up to ten bytes."""
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


# --- packed numbers


def pack_unsigned(values: Sequence[int], code: str) -> bytes:
    """`code`: of `array`, an unsigned type as wide as the numbers."""
    values = plain(values)
    try:
        short = bytes(values)
    except ValueError:
        short = b"\x80"
    if short.isascii():
        return short
    out = bytearray()
    append = out.append
    for number in array(code, values):  # which refuses what does not fit
        if number < 128:
            append(number)
        elif number < 16384:
            append(number & 127 | 128)
            append(number >> 7)
        else:
            append(number & 127 | 128)
            append(number >> 7 & 127 | 128)
            number >>= 14
            while number > 127:
                append(number & 127 | 128)
                number >>= 7
            append(number)
    return bytes(out)


def pack_signed(values: Sequence[int], code: str) -> bytes:
    """Zigzag; `code` is that of the signed type."""
    numbers = array(code, plain(values))
    return pack_unsigned([(number << 1) ^ (number >> 63) for number in numbers], "Q")


def pack_members(values: Iterable[int], low: int, high: int) -> bytes:
    """Of a signed enum."""
    numbers = list(values)
    if numbers and not low <= min(numbers) <= max(numbers) <= high:
        raise MalformedError
    return pack_unsigned([number & U64_MAX for number in numbers], "Q")


def numbers_in(data: bytes) -> int:
    """How many varints end in `data`."""
    return len(data.translate(None, _MORE))


def unpack_unsigned(data: bytes, highest: int) -> list[int]:
    """All of `data`."""
    if data.isascii():
        return list(data)
    if data[-1] > 127:
        raise MalformedError  # so a next byte is there wherever one is wanted
    numbers: list[int] = []
    append, rest = numbers.append, iter(data)
    following = rest.__next__
    for byte in rest:
        if byte < 128:
            append(byte)
            continue
        second = following()
        if second < 128:
            append(byte & 127 | second << 7)
            continue
        number, shift = byte & 127 | (second & 127) << 7, 14
        byte = following()
        while byte > 127:
            number |= (byte & 127) << shift
            shift += 7
            if shift > 63:
                raise MalformedError
            byte = following()
        append(number | byte << shift)
    if max(numbers) > highest:
        raise MalformedError
    return numbers


def unpack_signed(data: bytes, highest: int) -> list[int]:
    """Zigzag; `highest` is that of the unsigned type of the same width."""
    return [(number >> 1) ^ -(number & 1) for number in unpack_unsigned(data, highest)]


def unpack_members(data: bytes, low: int, high: int) -> list[int]:
    """Of a signed enum."""
    numbers = [number - (number >> 63 << 64) for number in unpack_unsigned(data, U64_MAX)]
    if numbers and not low <= min(numbers) <= max(numbers) <= high:
        raise MalformedError
    return numbers


def unpack_bools(data: bytes) -> list[bool]:
    if data.translate(None, b"\0\1"):
        raise MalformedError
    return [byte == 1 for byte in data]


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
