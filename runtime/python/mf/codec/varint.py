"""R1. LEB128: 7 bits a byte, low bits first, bit 7 set on all but the last byte; the shortest form only.

Generated code handles the one-byte form itself and comes here for the rest. Signed numbers are zigzagged
first: 0, -1, 1, -2 are 0, 1, 2, 3. A reader takes the position of the first byte and returns the number and
the position behind it.
"""

from mf.codec.limits import U16_MAX, U32_MAX, U64_MAX
from mf.codec.malformed import MalformedError


def write_unsigned(out: bytearray, number: int, highest: int) -> None:
    """`number` must lie in 0..highest."""
    if not 0 <= number <= highest:
        raise MalformedError
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)


def write_signed(out: bytearray, number: int, highest: int) -> None:
    """`number` must lie in -highest-1..highest."""
    if not -highest - 1 <= number <= highest:
        raise MalformedError
    write_unsigned(out, (number << 1) ^ (number >> 63), U64_MAX)


def read_unsigned(data: bytes, pos: int, highest: int) -> tuple[int, int]:
    byte = data[pos]
    pos += 1
    if byte < 128:
        return byte, pos
    number = byte & 127
    shift = 7
    while True:
        byte = data[pos]
        pos += 1
        if byte < 128:
            number |= byte << shift
            if byte == 0 or number > highest:
                raise MalformedError
            return number, pos
        number |= (byte & 127) << shift
        shift += 7
        if shift > 63:
            raise MalformedError


def unzigzag(number: int) -> int:
    return (number >> 1) ^ -(number & 1)


# The rest is called by generated code for numbers of more than one byte; most of them have two.


def read_u16(data: bytes, pos: int) -> tuple[int, int]:
    second = data[pos + 1]
    if 0 < second < 128:
        return data[pos] & 127 | second << 7, pos + 2
    return read_unsigned(data, pos, U16_MAX)


def read_u32(data: bytes, pos: int) -> tuple[int, int]:
    second = data[pos + 1]
    if 0 < second < 128:
        return data[pos] & 127 | second << 7, pos + 2
    return read_unsigned(data, pos, U32_MAX)


def read_u64(data: bytes, pos: int) -> tuple[int, int]:
    second = data[pos + 1]
    if 0 < second < 128:
        return data[pos] & 127 | second << 7, pos + 2
    return read_unsigned(data, pos, U64_MAX)


def write_u16(out: bytearray, number: int) -> None:
    if 127 < number < 16384:
        out += bytes((number & 127 | 128, number >> 7))
    else:
        write_unsigned(out, number, U16_MAX)


def write_u32(out: bytearray, number: int) -> None:
    if 127 < number < 16384:
        out += bytes((number & 127 | 128, number >> 7))
    else:
        write_unsigned(out, number, U32_MAX)


def write_u64(out: bytearray, number: int) -> None:
    if 127 < number < 16384:
        out += bytes((number & 127 | 128, number >> 7))
    else:
        write_unsigned(out, number, U64_MAX)


def write_i16(out: bytearray, number: int) -> None:
    folded = (number << 1) ^ (number >> 63)
    if 127 < folded < 16384:
        out += bytes((folded & 127 | 128, folded >> 7))
    else:
        write_signed(out, number, U16_MAX >> 1)


def write_i32(out: bytearray, number: int) -> None:
    folded = (number << 1) ^ (number >> 63)
    if 127 < folded < 16384:
        out += bytes((folded & 127 | 128, folded >> 7))
    else:
        write_signed(out, number, U32_MAX >> 1)


def write_i64(out: bytearray, number: int) -> None:
    folded = (number << 1) ^ (number >> 63)
    if 127 < folded < 16384:
        out += bytes((folded & 127 | 128, folded >> 7))
    else:
        write_signed(out, number, U64_MAX >> 1)
