"""F6. Numbers of foreign files as those of schemas."""

import math

from mfidl.foreign.draft import Literal

_LARGEST_F32 = (2 - 2**-23) * 2.0**127


def fits(word: str, number: int) -> bool:
    """Whether a whole number is one of the type, such as `i32`."""
    bits = int(word[1:])
    low, high = (0, 1 << bits) if word[0] == "u" else (-(1 << bits - 1), 1 << bits - 1)
    return low <= number < high


def float_fits(word: str, number: float) -> bool:
    return math.isfinite(number) and (word != "f32" or abs(number) <= _LARGEST_F32)


def float_literal(number: float) -> Literal:
    return Literal(repr(number))
