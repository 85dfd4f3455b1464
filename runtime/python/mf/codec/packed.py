"""R1. Packed numbers of archive messages: lists of varints without tags between them.

No loop of Python sees a single number where all take one byte, or where there are many and most take more
(mf.codec.varints). Each gives up by `MalformedError`.
"""

import struct
from array import array
from collections.abc import Iterable, Sequence
from typing import Final

from mf.codec.limits import U64_MAX
from mf.codec.malformed import MalformedError
from mf.codec.sequences import plain
from mf.codec.varint import unpack_each, unzigzag

_MORE: Final = bytes(range(128, 256))  # a varint goes on behind these
_MANY: Final = 64
_UNFOLDED: Final = bytes(unzigzag(each) & 255 for each in range(256))  # as bytes of two's complement
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
        packed = _packed(values, f"u{8 * array(code).itemsize}")
        if packed is not None:
            return packed
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
    values = plain(values)
    try:
        short = array("b", values).tobytes().translate(_FOLDED)
    except OverflowError:
        short = b"\x80"
    if short.isascii():
        return short
    numbers = array(code, values)
    if len(values) >= _MANY:
        packed = _packed(values, f"i{8 * numbers.itemsize}")
        if packed is not None:
            return packed
    return pack_unsigned([(number << 1) ^ (number >> 63) for number in numbers], "Q")


def _packed(values: Sequence[int], integer: str) -> bytes | None:
    from mf.codec.varints import lanes_of, pack

    return pack(values, lanes_of(integer))


def pack_members(values: Iterable[int], low: int, high: int) -> bytes:
    """Of a signed enum."""
    numbers = list(values)
    if numbers and not low <= min(numbers) <= max(numbers) <= high:
        raise MalformedError
    return pack_unsigned([number & U64_MAX for number in numbers], "Q")


def unpack_unsigned(data: bytes, highest: int) -> list[int]:
    """All of `data`."""
    if data.isascii():
        return list(data)
    if data[-1] > 127:
        raise MalformedError  # so a next byte is there wherever one is wanted
    if len(data) > 2 * _MANY and len(data) > 2.3 * numbers_in(data):
        unpacked = _unpacked(data, f"u{highest.bit_length()}")
        if unpacked is not None:
            return unpacked
    numbers = unpack_each(data)
    if max(numbers) > highest:
        raise MalformedError
    return numbers


def unpack_signed(data: bytes, highest: int) -> list[int]:
    """Zigzag; `highest` is that of the unsigned type of the same width."""
    if data.isascii():
        return memoryview(data.translate(_UNFOLDED)).cast("b").tolist()
    if len(data) > 2 * _MANY and len(data) > 2.1 * numbers_in(data) and data[-1] < 128:
        unpacked = _unpacked(data, f"i{highest.bit_length()}")
        if unpacked is not None:
            return unpacked
    return [(number >> 1) ^ -(number & 1) for number in unpack_unsigned(data, highest)]


def _unpacked(data: bytes, integer: str) -> list[int] | None:
    from mf.codec.varints import lanes_of, unpack

    return unpack(data, lanes_of(integer))


def unpack_members(data: bytes, low: int, high: int) -> list[int]:
    """Of a signed enum."""
    numbers = [number - (number >> 63 << 64) for number in unpack_unsigned(data, U64_MAX)]
    if numbers and not low <= min(numbers) <= max(numbers) <= high:
        raise MalformedError
    return numbers


def pack_fixed(values: Sequence[int], code: str) -> bytes:
    """All bytes of each; `code` is that of `struct`."""
    values = plain(values)
    return struct.pack(f"<{len(values)}{code}", *values)


def unpack_bools(data: bytes) -> list[bool]:
    if data.translate(None, b"\0\1"):
        raise MalformedError
    return [byte == 1 for byte in data]
