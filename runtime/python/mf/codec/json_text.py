"""R1. The texts of single values in JSON (docs/json.md): floats, points in time, flags, and back.

Functions that write raise any error where a value is not of the type's own class. Functions that
read a text whole return None for what is malformed, and OUT_OF_RANGE for what is too large.
"""

import re
import struct
from binascii import b2a_base64
from typing import Any, Final

from mf.codec.malformed import MalformedError

_SECOND: Final = 1_000_000_000
_DAYS_TO_1970: Final = 719_163  # as datetime.date counts, from 0001-01-01
_F32: Final = struct.Struct("<f")
_LOW: Final = -(1 << 63)
_HIGH: Final = (1 << 63) - 1

OUT_OF_RANGE: Final = object()

NUMBER: Final = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_MOMENT: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?"
    r"(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))",
    re.ASCII,
)
_SPAN: Final = re.compile(r"(-?)(0|[1-9]\d*)(?:\.(\d{1,9}))?s", re.ASCII)
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DAYS_BEFORE: Final = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365)

# --- floats


def f64_text(value: float) -> str:
    if type(value) is not float:
        raise MalformedError
    return repr(value) if value - value == 0 else _special(value)


def f32_text(value: float) -> str:
    """The shortest digits of the f32 that is nearest."""
    if type(value) is not float:
        raise MalformedError
    if value - value != 0:
        return _special(value)
    single: float = _F32.unpack(_F32.pack(value))[0]
    text = "%.6g" % single  # noqa: UP031 - faster
    near = float(text)
    # Six digits come back from every f32 that is not subnormal: fewer are these without their zeros.
    if _F32.unpack(_F32.pack(near))[0] == single and not 0 < abs(single) < 1.1754943508222875e-38:
        return repr(near)
    return repr(_shortest(single))


def _shortest(value: float) -> float:
    """Written by its own shortest digits, this f64 has those of the f32 `value`."""
    for digits in range(9):
        text = f"{value:.{digits}e}"
        near = float(text)
        if to_f32(near) == value:
            return near
        if digits and not _mantissa(value):  # neighbours of a power of two are nearer below than above
            above = _next_digits(text)
            if to_f32(above) == value:
                return above
    raise AssertionError(value)


def _next_digits(text: str) -> float:
    digits, _, exponent = text.partition("e")
    point = len(digits) - digits.index(".") - 1
    one = 1 if digits[0] != "-" else -1
    return float(f"{int(digits.replace('.', '')) + one}e{int(exponent) - point}")


def _mantissa(value: float) -> int:
    return int.from_bytes(_F32.pack(value), "little") & 0x7F_FFFF


def to_f32(value: float) -> float:
    """Infinite where it is too large."""
    try:
        single: float = _F32.unpack(_F32.pack(value))[0]
    except OverflowError:
        return value * float("inf")
    return single


def _special(value: float) -> str:
    if value != value:
        return '"NaN"'
    return '"Infinity"' if value > 0 else '"-Infinity"'


def float_from(number: str, *, single: bool) -> float:
    """A JSON number, rounded once; infinite if it is too large."""
    value = float(number)
    if not single or value - value != 0:
        return value
    near = to_f32(value)
    if near == value:
        return near
    if near - near != 0:
        if abs(value) >= 2.0**128:  # so far out, differences tell nothing any more
            return near
        near = value * 0 + (3.4028234663852886e38 if value > 0 else -3.4028234663852886e38)
        other = 2.0**128 if value > 0 else -(2.0**128)
    else:
        other = near + 2 * (value - near)
    if to_f32(other) != other and abs(other) != 2.0**128:
        return to_f32(value)
    if abs(other - value) != abs(value - near):
        return to_f32(value)
    from decimal import Decimal  # the f64 is half-way between two f32: only the digits decide

    exact, middle = Decimal(number), Decimal(value)
    if exact == middle:
        return to_f32(value)
    return to_f32(other) if (exact > middle) == (other > near) else near


# --- times


def _fraction(nanoseconds: int) -> str:
    if not nanoseconds:
        return ""
    if not nanoseconds % 1_000_000:
        return f".{nanoseconds // 1_000_000:03}"
    if not nanoseconds % 1_000:
        return f".{nanoseconds // 1_000:06}"
    return f".{nanoseconds:09}"


def timestamp_text(value: int) -> str:
    if not isinstance(value, int) or not _LOW <= value <= _HIGH:
        raise MalformedError
    from datetime import date

    seconds, rest = divmod(int(value), _SECOND)
    days, seconds = divmod(seconds, 86_400)
    minutes, seconds = divmod(seconds, 60)
    day = date.fromordinal(days + _DAYS_TO_1970).isoformat()
    return f'"{day}T{minutes // 60:02}:{minutes % 60:02}:{seconds:02}{_fraction(rest)}Z"'


def duration_text(value: int) -> str:
    if not isinstance(value, int) or not _LOW <= value <= _HIGH:
        raise MalformedError
    seconds, rest = divmod(abs(int(value)), _SECOND)
    return f'"{"-" if value < 0 else ""}{seconds}{_fraction(rest)}s"'


def timestamp_from(text: str) -> Any:
    """RFC 3339; not the nanoseconds as digits."""
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    year, month, day, hours, minutes, seconds = map(int, match.group(1, 2, 3, 4, 5, 6))
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= month <= 12:
        return None
    if not 1 <= day <= _DAYS_BEFORE[month] - _DAYS_BEFORE[month - 1] + (leap and month == 2):
        return None
    before = year - 1
    days = before * 365 + before // 4 - before // 100 + before // 400
    days += _DAYS_BEFORE[month - 1] + (leap and month > 2) + day
    minutes += (days - _DAYS_TO_1970) * 1440 + hours * 60
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
    return value if _LOW <= value <= _HIGH else OUT_OF_RANGE


# --- others


def is_uuid(text: str) -> bool:
    return _UUID.fullmatch(text) is not None


def base64_text(value: bytes) -> str:
    return f'"{b2a_base64(value, newline=False).decode()}"'


def integer_from(number: str) -> int | None:
    """A JSON number that is whole; a large one may come out as another one that fits no type."""
    digits, _, exponent = number.lower().partition("e")
    whole, _, fraction = digits.partition(".")
    if not fraction and not exponent:
        return int(whole) if len(whole) < 40 else _beyond(whole)
    low, high = (-(1 << 70), 0) if whole[0] == "-" else (0, 1 << 70)
    significant = (whole.lstrip("-") + fraction).lstrip("0")
    kept = significant.rstrip("0")
    if not kept:
        return 0
    scale = len(significant) - len(kept) - len(fraction) + _bounded(exponent)
    if scale < 0:
        return None
    if scale > 40 or len(kept) > 40:
        return low or high
    size = int(kept) * int("1" + "0" * scale)
    return -size if low else size


def _bounded(exponent: str) -> int:
    """Beyond what the length of any text can make up for, something as large."""
    digits = exponent.lstrip("+-").lstrip("0")
    size = int(digits or "0") if len(digits) < 18 else 10**18
    return -size if exponent.startswith("-") else size


def _beyond(whole: str) -> int:
    return -(1 << 70) if whole[0] == "-" else 1 << 70
