"""R1. The texts of single values in JSON (docs/json.md): floats, points in time, integers, and back.

Functions that write raise any error where a value is not of the type's own class. Functions that read a text
whole return None for what is malformed, and OUT_OF_RANGE for what is too large.
"""

import re
import struct
from binascii import a2b_base64, b2a_base64
from math import inf, isfinite, nextafter
from typing import Any, Final

from mf.codec.failure import MalformedError

_SECOND: Final = 1_000_000_000
_TO_1970: Final = 719_163  # days as datetime.date counts them, from 0001-01-01
_F32: Final = struct.Struct("<f")
_F64: Final = struct.Struct("<d")
_SMALLEST_NORMAL: Final = 2.0**-126
_RANGE: Final = range(-(1 << 63), 1 << 63)
_BEYOND: Final = 1 << 70

OUT_OF_RANGE: Final = object()
SPECIAL: Final = {"NaN": float("nan"), "Infinity": inf, "-Infinity": -inf}

NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_MOMENT: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?"
    r"(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))",
    re.ASCII,
)
_SPAN: Final = re.compile(r"(-?)(0|[1-9]\d*)(?:\.(\d{1,9}))?s", re.ASCII)

# --- floats


def f64_text(value: float) -> str:
    if type(value) is not float:
        raise MalformedError
    return repr(value) if isfinite(value) else _special(value)


def f32_text(value: float) -> str:
    """The shortest digits of the f32 that is nearest."""
    if type(value) is not float:
        raise MalformedError
    if not isfinite(value):
        return _special(value)
    single: float = _F32.unpack(_F32.pack(value))[0]
    # Six digits come back from every f32 that is not subnormal: fewer are these without their zeros.
    for digits in range(6 if not single or abs(single) >= _SMALLEST_NORMAL else 1, 10):
        near = float(f"{single:.{digits}g}")
        if to_f32(near) == single:
            return repr(near)
        if not int.from_bytes(_F32.pack(single), "little") & 0x7F_FFFF:
            # The neighbours of a power of two are nearer below than above: it may have short digits above.
            from decimal import ROUND_UP, Context

            near = float(Context(digits, ROUND_UP).create_decimal(single))
            if to_f32(near) == single:
                return repr(near)
    raise AssertionError(value)


def to_f32(value: float) -> float:
    """Infinite where it is too large."""
    try:
        single: float = _F32.unpack(_F32.pack(value))[0]
    except OverflowError:
        return value * inf
    return single


def is_between(value: float) -> bool:
    """Whether it may be half-way between two f32: if it was rounded, only its digits say to which it goes."""
    return to_f32(nextafter(value, inf)) != to_f32(nextafter(value, -inf))


def _special(value: float) -> str:
    if value != value:
        return '"NaN"'
    return '"Infinity"' if value > 0 else '"-Infinity"'


def float_from(number: str, *, single: bool) -> float:
    """A JSON number, rounded once; infinite if it is too large."""
    value = float(number)
    if not single or not isfinite(value):
        return value
    if is_between(value):
        from decimal import Decimal

        exact, near = Decimal(number), Decimal(value)
        if exact != near and not _F64.pack(value)[0] & 1:  # an odd one is never half-way itself
            value = nextafter(value, inf if exact > near else -inf)
    return to_f32(value)


# --- times


def timestamp_text(value: int) -> str:
    if not isinstance(value, int) or int(value) not in _RANGE:
        raise MalformedError
    from datetime import date

    seconds, rest = divmod(int(value), _SECOND)
    days, seconds = divmod(seconds, 86_400)
    minutes, seconds = divmod(seconds, 60)
    day = date.fromordinal(days + _TO_1970).isoformat()
    return f'"{day}T{minutes // 60:02}:{minutes % 60:02}:{seconds:02}{_fraction(rest)}Z"'


def duration_text(value: int) -> str:
    if not isinstance(value, int) or int(value) not in _RANGE:
        raise MalformedError
    seconds, rest = divmod(abs(int(value)), _SECOND)
    return f'"{"-" if value < 0 else ""}{seconds}{_fraction(rest)}s"'


def _fraction(nanoseconds: int) -> str:
    digits = f"{nanoseconds:09}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f".{digits}" if digits else ""


def timestamp_from(text: str) -> Any:
    """RFC 3339; not the nanoseconds as digits."""
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    from datetime import date

    year, month, day, hours, minutes, seconds = map(int, match.group(1, 2, 3, 4, 5, 6))
    try:
        days = date(year or 4, month, day).toordinal() - _TO_1970  # the year 0 is a leap year, as 4 is
    except ValueError:
        return None
    minutes += days * 1440 + hours * 60
    if match[8]:
        ahead = int(match[9]) * 60 + int(match[10])
        minutes += ahead if match[8] == "-" else -ahead
    return _in_range((minutes * 60 + seconds) * _SECOND + int((match[7] or "").ljust(9, "0")))


def duration_from(text: str) -> Any:
    match = _SPAN.fullmatch(text)
    if match is None:
        return None
    if len(match[2]) > 19:
        return OUT_OF_RANGE
    value = int(match[2]) * _SECOND + int((match[3] or "").ljust(9, "0"))
    return _in_range(-value if match[1] else value)


def _in_range(value: int) -> Any:
    return value if value in _RANGE else OUT_OF_RANGE


# --- others


def base64_text(value: bytes) -> str:
    return f'"{b2a_base64(value, newline=False).decode()}"'


def bytes_from(text: str) -> bytes | None:
    """Base64 with padding, whose unused bits are zero."""
    try:
        data = a2b_base64(text)
    except ValueError:  # also of binascii
        return None
    return data if b2a_base64(data, newline=False) == text.encode() else None


def integer_from(number: str) -> int | None:
    """A JSON number that is whole; a large one may come out as another one that fits no type."""
    try:
        return int(number)
    except ValueError:  # it has a fraction, an exponent or thousands of digits
        pass
    from decimal import Decimal, InvalidOperation

    beyond = -_BEYOND if number[0] == "-" else _BEYOND
    try:
        exact = Decimal(number)
    except InvalidOperation:  # an exponent for which the length of no text can make up
        digits, _, exponent = number.lower().partition("e")
        if not digits.strip("-0."):
            return 0
        return None if exponent[0] == "-" else beyond
    if exact != exact.to_integral_value():
        return None
    return int(exact) if not exact or exact.adjusted() < 40 else beyond
