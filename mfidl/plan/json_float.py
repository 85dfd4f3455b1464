"""F5. Floats in JSON: the shortest digits that read back as the same value of f32 or f64, and the one
rounding from digits to either.
"""

import math
import struct
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

_MOST_DIGITS = 9  # enough for every f32
_BEYOND = Fraction(1 << 128)  # where the next f32 would be


def float_text(value: float, *, single: bool) -> str:
    if math.isnan(value):
        return '"NaN"'
    if math.isinf(value):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    if not single or value == 0:
        return repr(value)  # of f64, these digits in this layout
    sign, digits, exponent = _shortest(value).as_tuple()
    assert isinstance(exponent, int)
    return ("-" if sign else "") + _laid_out("".join(map(str, digits)), exponent)


def float_of(text: str, *, single: bool) -> float:
    """Of a JSON number; infinite if it is too large."""
    double = float(text)
    if not single or double == 0 or math.isinf(double):
        return double
    near = _rounded(abs(double))
    exact = Fraction(abs(double))
    for other in _neighbours(near):
        if _place(near) + _place(other) == 2 * exact:  # a tie for f64's digits, not for the text's
            order = Decimal(text).copy_abs().compare(Decimal(abs(double)))  # both are exact
            if order:
                near = (max if order > 0 else min)(near, other)
            break
    return math.copysign(near, double)


def _rounded(value: float) -> float:
    """To f32."""
    try:
        found: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.inf
    return found


def _neighbours(value: float) -> list[float]:
    bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
    near = [bits + 1, bits - 1] if not math.isinf(value) else [bits - 1]
    return [struct.unpack("<f", struct.pack("<I", each))[0] for each in near if each >= 0]


def _place(value: float) -> Fraction:
    return _BEYOND if math.isinf(value) else Fraction(value)


def _shortest(value: float) -> Decimal:
    """Of the texts that read back as this f32 the shortest, and of these the nearest."""
    exact = Decimal(value)
    for digits in range(1, _MOST_DIGITS):
        around = {
            Context(prec=digits, rounding=how).create_decimal(exact) for how in (ROUND_FLOOR, ROUND_CEILING)
        }
        good = [each for each in around if float_of(str(each), single=True) == value]
        if good:
            # Of two that are equally near, the even one, as everywhere.
            return min(good, key=lambda each: (abs(each - exact), each.as_tuple().digits[-1] % 2)).normalize()
    return Context(prec=_MOST_DIGITS).create_decimal(exact).normalize()


def _laid_out(digits: str, exponent: int) -> str:
    """Digits times a power of ten, as C's %g has them."""
    point = len(digits) + exponent  # digits before the point
    if not -3 <= point <= 16:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        power = point - 1
        return f"{digits[0]}{fraction}e{'-' if power < 0 else '+'}{abs(power):02}"
    if point <= 0:
        return f"0.{'0' * -point}{digits}"
    if point >= len(digits):
        return f"{digits}{'0' * (point - len(digits))}.0"
    return f"{digits[:point]}.{digits[point:]}"
