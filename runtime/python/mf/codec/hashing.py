"""R1. Hashes over bytes, the same numbers in every runtime: `hash37`, and `hash64`, XXH64 with seed 0.

mf.codec.value has those of values.
"""

import struct
from collections.abc import Callable
from typing import Final

_MASK: Final = 0xFFFF_FFFF
_MASK_64: Final = 0xFFFF_FFFF_FFFF_FFFF

# The five primes of XXH64.
_P1: Final = 0x9E3779B185EBCA87
_P2: Final = 0xC2B2AE3D27D4EB4F
_P3: Final = 0x165667B19E3779F9
_P4: Final = 0x85EBCA77C2B2AE63
_P5: Final = 0x27D4EB2F165667C5

_BLOCK: Final = struct.Struct("<4Q")


def hash37(data: bytes) -> int:
    """The report's hash: h = 37 * h + byte, in 32 bits, from 0."""
    value = 0
    for byte in data:
        value = value * 37 + byte & _MASK
    return value


def xxh64(data: bytes) -> int:
    """XXH64 with seed 0 in Python alone (https://xxhash.com, "XXH64 algorithm description")."""
    end = len(data) & ~31
    value = _stripes(data[:end]) if end else _P5
    return _finished(value + len(data) & _MASK_64, data[end:])


def _stripes(data: bytes) -> int:
    a, b, c, d = _P1 + _P2 & _MASK_64, _P2, 0, -_P1 & _MASK_64
    for first, second, third, fourth in _BLOCK.iter_unpack(data):
        a = _round(a, first)
        b = _round(b, second)
        c = _round(c, third)
        d = _round(d, fourth)
    value = _rotated(a, 1) + _rotated(b, 7) + _rotated(c, 12) + _rotated(d, 18) & _MASK_64
    for each in (a, b, c, d):
        value = (value ^ _round(0, each)) * _P1 + _P4 & _MASK_64
    return value


def _finished(value: int, rest: bytes) -> int:
    words = len(rest) // 8
    for word in struct.unpack_from(f"<{words}Q", rest):
        value = _rotated(value ^ _round(0, word), 27) * _P1 + _P4 & _MASK_64
    at = 8 * words
    if len(rest) - at >= 4:
        half = int.from_bytes(rest[at : at + 4], "little")
        value = _rotated(value ^ (half * _P1 & _MASK_64), 23) * _P2 + _P3 & _MASK_64
        at += 4
    for byte in rest[at:]:
        value = _rotated(value ^ (byte * _P5 & _MASK_64), 11) * _P1 & _MASK_64
    value = (value ^ value >> 33) * _P2 & _MASK_64
    value = (value ^ value >> 29) * _P3 & _MASK_64
    return value ^ value >> 32


def _round(value: int, word: int) -> int:
    return _rotated(value + word * _P2 & _MASK_64, 31) * _P1 & _MASK_64


def _rotated(value: int, by: int) -> int:
    return (value << by | value >> (64 - by)) & _MASK_64


def _fastest() -> Callable[[bytes], int]:
    """That of the package `xxhash` where it is installed: a hundred times as fast."""
    try:
        from xxhash import xxh64_intdigest
    except ImportError:
        return xxh64
    return xxh64_intdigest


hash64: Final = _fastest()
