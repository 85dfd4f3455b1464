"""R1. Many varints at once, in lanes: 512 numbers are one large integer, 64 bits each, and every step of
Python works on all of them.

    unpack(data, "u32")             the numbers of `data`, each of up to eight bytes; None: some are longer
    pack(values, "i64")             their bytes, in the shortest form; None: some are too large, or no numbers

Those of a signed type are zigzagged.

In a lane a varint is eight bytes of seven bits, lowest first, which are joined to 14, 28 and 56 bits in three
steps; to write, they are taken apart in the same steps. This pays from some 64 numbers of two bytes on.
"""

import re
import struct
from array import array
from collections.abc import Sequence
from functools import cache
from typing import Final

from mf.codec.failure import MalformedError
from mf.codec.limits import U64_MAX

_COUNT: Final = 512
_BITS: Final = 56


def _lanes(number: int) -> int:
    """The same number, over and over."""
    return int.from_bytes(struct.pack("<Q", number) * _COUNT, "little")


_LOW_7, _HIGH_7 = _lanes(0x007F_007F_007F_007F), _lanes(0x7F00_7F00_7F00_7F00)
_LOW_14, _HIGH_14 = _lanes(0x3FFF_0000_3FFF), _lanes(0x3FFF_0000_3FFF_0000)
_LOW_28, _HIGH_28 = _lanes(0xFFF_FFFF), _lanes(0xFFF_FFFF_0000_0000)
_APART_7, _APART_14, _APART_28 = _HIGH_7 >> 1, _HIGH_14 >> 2, _HIGH_28 >> 4
_SEVEN, _EIGHTH = _lanes(0x7F7F_7F7F_7F7F_7F7F), _lanes(0x8080_8080_8080_8080)
_BELOW_1, _BELOW_2, _BELOW_4 = _EIGHTH & ~_lanes(0x80 << 56), _lanes(0x8080_8080_8080), _lanes(0x8080_8080)
_ONE, _HALF = _lanes(1), _lanes(U64_MAX >> 1)

_split = re.compile(rb"[\x80-\xff]*[\0-\x7f]").findall
_is_long = re.compile(rb"[\x80-\xff]{8}").search
_pad = struct.Struct("8s" * _COUNT).pack

_LARGEST: Final = b"\xff" * 7 + b"\x7f"


class _Lanes:
    """What a type asks of its numbers: those that are too wide, and, if it is signed, what zigzag turns."""

    def __init__(self, integer: str) -> None:
        signed = integer[0] == "i"
        self.over: Final = _lanes(U64_MAX & -(1 << min(int(integer[1:]), _BITS)))
        self.folded: Final = _lanes(U64_MAX * signed)
        self.ones: Final = _lanes(signed)


_lanes_of = cache(_Lanes)


def unpack(data: bytes, integer: str) -> list[int] | None:
    if _is_long(data):
        return None
    lanes = _lanes_of(integer)
    parts = _split(data)
    numbers: list[int] = []
    for at in range(0, len(parts), _COUNT):
        own = parts[at : at + _COUNT]
        padded = _pad(*own) if len(own) == _COUNT else struct.pack("8s" * len(own), *own)
        joined = int.from_bytes(padded, "little")
        joined = (joined & _LOW_7) | ((joined & _HIGH_7) >> 1)
        joined = (joined & _LOW_14) | ((joined & _HIGH_14) >> 2)
        joined = (joined & _LOW_28) | ((joined & _HIGH_28) >> 4)
        if joined & lanes.over:
            raise MalformedError
        if lanes.folded:
            ones = joined & lanes.ones
            folded = joined & lanes.folded
            joined ^= folded ^ (folded >> 1 & _HALF) ^ ((ones << 64) - ones)
        numbers += memoryview(joined.to_bytes(8 * len(own), "little")).cast("q").tolist()
    return numbers


def pack(values: Sequence[int], integer: str) -> bytes | None:
    lanes, has_zero = _lanes_of(integer), 0 in values
    out = []
    for at in range(0, len(values), _COUNT):
        try:
            numbers = array("q", values[at : at + _COUNT])
        except (OverflowError, TypeError):
            return None
        joined = int.from_bytes(numbers.tobytes(), "little")
        if lanes.folded:
            folded = joined & lanes.folded
            ones = folded >> 63 & lanes.ones
            joined ^= folded ^ ((folded & _HALF) << 1) ^ ((ones << 64) - ones)
        if joined & lanes.over:
            return None
        joined = (joined & _LOW_28) | ((joined & _APART_28) << 4)
        joined = (joined & _LOW_14) | ((joined & _APART_14) << 2)
        joined = (joined & _LOW_7) | ((joined & _APART_7) << 1)
        used = joined + _SEVEN & _EIGHTH
        more = used >> 8 & _BELOW_1
        more |= more >> 8 & _BELOW_1
        more |= more >> 16 & _BELOW_2
        more |= more >> 32 & _BELOW_4
        joined |= more
        zeros = 0
        if has_zero:  # empty bytes are left out below, so these have the largest number's for a while
            zeros = ((used | more) >> 7 & _ONE) ^ (_ONE & (1 << 64 * len(numbers)) - 1)
            joined |= (zeros << 63) - zeros
        piece = joined.to_bytes(8 * len(numbers), "little").translate(None, b"\0")
        if zeros:
            if piece.count(_LARGEST) != zeros.bit_count():
                return None
            piece = piece.replace(_LARGEST, b"\0")
        out.append(piece)
    return b"".join(out)
