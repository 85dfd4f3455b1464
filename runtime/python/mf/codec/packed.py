"""R1. Packed numbers of archive messages: lists of varints without tags between them.

No loop of Python sees a single number where all take one byte, or where there are many and most take more
(mf.codec.varints). Each function fails as one of BULK_ERRORS does where a number is wrong, without saying
which.
"""

import struct
from array import array
from collections.abc import Sequence
from typing import Final

from mf.codec.failure import MalformedError
from mf.codec.limits import U64_MAX
from mf.codec.sequences import plain

_MORE: Final = bytes(range(128, 256))  # a varint goes on behind these
_MANY: Final = 64
_UNFOLDED: Final = bytes(((each >> 1) ^ -(each & 1)) & 255 for each in range(256))  # in two's complement
_FOLDED: Final = bytes((each << 1 if each < 128 else ~(each << 1)) & 255 for each in range(256))


def numbers_in(data: bytes) -> int:
    """How many varints end in `data`."""
    return len(data.translate(None, _MORE))


def pack_unsigned(values: Sequence[int], code: str) -> bytes:
    """`code`: of `array`, an unsigned type as wide as the numbers."""
    values = plain(values)
    try:
        short = bytes(values)
    except ValueError:
        short = b"\x80"
    if short.isascii():
        return short
    if len(values) >= _MANY and sorted(values[:: len(values) // 15])[7] > 127:
        many = _pack_many(values, f"u{8 * array(code).itemsize}")
        if many is not None:
            return many
    out = bytearray()
    append = out.append
    for number in array(code, values):  # which refuses what does not fit
        while number > 127:
            append(number & 127 | 128)
            number >>= 7
        append(number)
    return bytes(out)


def pack_signed(values: Sequence[int], code: str) -> bytes:
    """Zigzag; `code` is that of the signed type."""
    values = plain(values)
    try:
        short = array("b", values).tobytes().translate(_FOLDED)
    except OverflowError:
        short = b"\x80"
    if short.isascii():
        return short
    numbers = array(code, values)
    if len(values) >= _MANY:
        many = _pack_many(values, f"i{8 * numbers.itemsize}")
        if many is not None:
            return many
    return pack_unsigned([(number << 1) ^ (number >> 63) for number in numbers], "Q")


def pack_complements(values: Sequence[int], low: int, high: int) -> bytes:
    """Two's complement of 64 bits."""
    values = plain(values)
    if values and not low <= min(values) <= max(values) <= high:
        raise MalformedError
    return pack_unsigned([number & U64_MAX for number in values], "Q")


def pack_fixed(values: Sequence[int], code: str) -> bytes:
    """All bytes of each; `code` is that of `struct`."""
    values = plain(values)
    return struct.pack(f"<{len(values)}{code}", *values)


def _pack_many(values: Sequence[int], integer: str) -> bytes | None:
    from mf.codec.varints import pack

    return pack(values, integer)


def unpack_unsigned(data: bytes, highest: int) -> list[int]:
    """All of `data`."""
    if data.isascii():
        return list(data)
    if data[-1] > 127:
        raise MalformedError  # so a next byte is there wherever one is wanted
    if len(data) > 2 * _MANY and len(data) > 2.3 * numbers_in(data):
        many = _unpack_many(data, f"u{highest.bit_length()}")
        if many is not None:
            return many
    numbers = _unpack_each(data)
    if max(numbers) > highest:
        raise MalformedError
    return numbers


def unpack_signed(data: bytes, highest: int) -> list[int]:
    """Zigzag; `highest` is that of the unsigned type of the same width."""
    if data.isascii():
        return memoryview(data.translate(_UNFOLDED)).cast("b").tolist()
    if len(data) > 2 * _MANY and len(data) > 2.1 * numbers_in(data) and data[-1] < 128:
        many = _unpack_many(data, f"i{highest.bit_length()}")
        if many is not None:
            return many
    return [(number >> 1) ^ -(number & 1) for number in unpack_unsigned(data, highest)]


def unpack_complements(data: bytes, low: int, high: int) -> list[int]:
    """Two's complement of 64 bits."""
    numbers = [number - (number >> 63 << 64) for number in unpack_unsigned(data, U64_MAX)]
    if numbers and not low <= min(numbers) <= max(numbers) <= high:
        raise MalformedError
    return numbers


def _unpack_many(data: bytes, integer: str) -> list[int] | None:
    from mf.codec.varints import unpack

    return unpack(data, integer)


def _unpack_each(data: bytes) -> list[int]:
    """They may be longer than needed; `data` ends in the last one."""
    numbers: list[int] = []
    append, rest = numbers.append, iter(data)
    following = rest.__next__
    for byte in rest:
        if byte < 128:
            append(byte)
            continue
        second = following()
        if second < 128:  # as of most that are not short
            append(byte & 127 | second << 7)
            continue
        number, shift = byte & 127 | (second & 127) << 7, 14
        while (byte := following()) > 127:
            number |= (byte & 127) << shift
            shift += 7
            if shift > 63:
                raise MalformedError
        append(number | byte << shift)
    return numbers
