"""R1. Hashes over a value's serialized bytes."""

from typing import Final

_MASK: Final = 0xFFFF_FFFF


def hash37(data: bytes) -> int:
    """The report's hash: h = 37 * h + byte, in 32 bits, from 0."""
    value = 0
    for byte in data:
        value = value * 37 + byte & _MASK
    return value
