"""R1. LEB128: 7 bits a byte, low bits first, bit 7 set on all but the last byte; the shortest form only.

Callers handle the one-byte form themselves and come here for the rest. Signed numbers are zigzagged
first: 0, -1, 1, -2 are 0, 1, 2, 3. A reader takes the position of the first byte and returns the number and
the position behind it.
"""

from typing import Final

from mf.codec.limits import U32_MAX, U64_MAX
from mf.codec.malformed import MalformedError


def write_unsigned(out: bytearray, number: int, highest: int) -> None:
    """`number` must lie in 0..highest."""
    if not 0 <= number <= highest:
        raise MalformedError
    if number >= 1 << 28:
        out += bytes(
            (number & 127 | 128, number >> 7 & 127 | 128, number >> 14 & 127 | 128, number >> 21 & 127 | 128)
        )
        number >>= 28
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)


_LONGEST: Final = 10
# What the bits 7 of the first bytes of a number add up to, by the shift of its last byte.
_MORE: Final = {7 * size: sum(128 << 7 * at for at in range(size)) for size in range(_LONGEST)}


def read_unsigned(data: bytes, pos: int, highest: int) -> tuple[int, int]:
    """The end of the data inside of the number raises MalformedError or IndexError."""
    number = shift = 0
    for byte in data[pos : pos + _LONGEST]:
        number += byte << shift
        if byte < 128:
            number -= _MORE[shift]
            if number > highest or (byte == 0 and shift):
                raise MalformedError
            return number, pos + shift // 7 + 1
        shift += 7
    raise MalformedError


def unpack_each(data: bytes) -> list[int]:
    """All numbers of `data`, which ends in the last one; they may be longer than needed."""
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
    return numbers


def unzigzag(number: int) -> int:
    return (number >> 1) ^ -(number & 1)


# The rest is called for numbers of more than one byte, so it has no loops.


def read_u32(data: bytes, pos: int) -> tuple[int, int]:
    second = data[pos + 1]
    if second > 127:
        third = data[pos + 2]
        if third > 127:
            fourth = data[pos + 3]
            if fourth > 127:
                fifth = data[pos + 4]
                if 0 < fifth < 16:
                    number = data[pos] + (second << 7) + (third << 14) + (fourth << 21) + (fifth << 28)
                    return number - 0x1020_4080, pos + 5
            elif fourth:
                return data[pos] + (second << 7) + (third << 14) + (fourth << 21) - 0x20_4080, pos + 4
        elif third:
            return data[pos] + (second << 7) + (third << 14) - 0x4080, pos + 3
    elif second:
        return data[pos] + (second << 7) - 128, pos + 2
    return read_unsigned(data, pos, U32_MAX)


def write_u32(out: bytearray, number: int) -> None:
    if 127 < number < 1 << 14:
        out += bytes((number & 127 | 128, number >> 7))
    elif 127 < number < 1 << 21:
        out += bytes((number & 127 | 128, number >> 7 & 127 | 128, number >> 14))
    elif 127 < number < 1 << 28:
        out += bytes((number & 127 | 128, number >> 7 & 127 | 128, number >> 14 & 127 | 128, number >> 21))
    else:
        write_unsigned(out, number, U32_MAX)


def write_u64(out: bytearray, number: int) -> None:
    if 127 < number < 16384:
        out += bytes((number & 127 | 128, number >> 7))
    else:
        write_unsigned(out, number, U64_MAX)
