"""R1. LEB128: 7 bits a byte, low bits first, bit 7 set on all but the last byte; the shortest form only.

Callers handle the one-byte form themselves and come here for the rest. Signed numbers are zigzagged
first: 0, -1, 1, -2 are 0, 1, 2, 3. A reader takes the position of the first byte and returns the number and
the position behind it.
"""

from typing import Final

from mf.codec.failure import MalformedError
from mf.codec.limits import U64_MAX

_LONGEST: Final = 10


def write_unsigned(out: bytearray, number: int, highest: int) -> None:
    """`number` must lie in 0..highest."""
    if not 0 <= number <= highest:
        raise MalformedError
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)


def varint(number: int) -> bytes:
    """Its bytes, of up to 64 bits."""
    out = bytearray()
    write_unsigned(out, number, U64_MAX)
    return bytes(out)


def read_unsigned(data: bytes, pos: int, highest: int) -> tuple[int, int]:
    """The end of the data inside of the number raises MalformedError or IndexError."""
    number = shift = 0
    for byte in data[pos : pos + _LONGEST]:
        number |= (byte & 127) << shift
        if byte < 128:
            if number > highest or (byte == 0 and shift):
                raise MalformedError
            return number, pos + shift // 7 + 1
        shift += 7
    raise MalformedError
