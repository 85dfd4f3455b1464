"""R1. What a decoder accepts, and the ranges of the language's numbers. It reads no bytes."""

from typing import Final

MAX_DEPTH: Final = 64  # structs and containers, one in another; part of the protocol, not a setting
MAX_EMPTY_ITEMS: Final = 65_536  # elements that take no bytes at all

U16_MAX: Final = 0xFFFF
U32_MAX: Final = 0xFFFF_FFFF
U64_MAX: Final = 0xFFFF_FFFF_FFFF_FFFF


class Limits:
    """`decoded`: bytes of memory that one message may decode to, as this runtime estimates them."""

    __slots__ = ("decoded",)

    def __init__(self, *, decoded: int = 128 << 20) -> None:
        self.decoded = decoded


DEFAULT_LIMITS: Final = Limits()


def limits_of(name: str) -> tuple[int, int]:
    """The least and the largest value of an integer type; a time is as "i64"."""
    bits = int(name[1:]) if name[0] in "iu" else 64
    return (0, (1 << bits) - 1) if name[0] == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)
