"""F6. Numbers of foreign files as those of schemas."""

import math

from mfidl.foreign.draft import Literal
from mfidl.foreign.scan import Refused
from mfidl.source import Span

_DIGITS_LIMIT = 100
_LARGEST_F32 = (2 - 2**-23) * 2.0**127


def whole(text: str, span: Span, *, octal: bool = False) -> int:
    """A whole number with its sign: hexadecimal behind `0x`, octal behind `0` if the language has that."""
    digits = text.lstrip("+-")
    base = 16 if digits[:2].lower() == "0x" else 8 if octal and digits[0] == "0" else 10
    if len(digits) > _DIGITS_LIMIT:
        raise Refused(span, f"a number of more than {_DIGITS_LIMIT} digits")
    try:
        number = int(digits, base)
    except ValueError:
        raise Refused(span, f"`{text}` begins with a zero, but has other digits than octal ones") from None
    return -number if text.startswith("-") else number


def fits(word: str, number: int) -> bool:
    """Whether a whole number is one of the type, such as `i32`."""
    bits = int(word[1:])
    low, high = (0, 1 << bits) if word[0] == "u" else (-(1 << bits - 1), 1 << bits - 1)
    return low <= number < high


def float_fits(word: str, number: float) -> bool:
    return math.isfinite(number) and (word != "f32" or abs(number) <= _LARGEST_F32)


def float_literal(number: float) -> Literal:
    return Literal(repr(number))
