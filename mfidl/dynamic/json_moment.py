"""F6. Timestamps and durations from their texts in JSON; a ValueError says what is wrong."""

import re
from datetime import date

_TIMESTAMP = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII
)
_DURATION = re.compile(r"(-?)(0|[1-9]\d*)(?:\.(\d{1,9}))?s", re.ASCII)
_DAY_OF_1970 = date(1970, 1, 1).toordinal()
_DAYS_OF_400_YEARS = 146_097
_SECOND = 10**9
_MOST_DIGITS = 40  # more do not fit in any case


def timestamp_of(text: str) -> int:
    """Nanoseconds since 1970, of any size; `text` is not they as a number."""
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        raise ValueError('a timestamp is written "2026-11-21T01:02:03.5Z"')
    year, month, day, hour, minute, second = (int(match[i]) for i in range(1, 7))
    east = int(match[9] or 0), int(match[10] or 0)
    if hour > 23 or minute > 59 or second > 59 or east[0] > 23 or east[1] > 59:
        raise ValueError("there is no such time of the day")
    try:
        days = _ordinal(year, month, day) - _DAY_OF_1970
    except ValueError:
        raise ValueError("the calendar does not have this day") from None
    offset = (east[0] * 60 + east[1]) * 60 * (-1 if match[8] == "-" else 1)
    seconds = ((days * 24 + hour) * 60 + minute) * 60 + second - offset
    return seconds * _SECOND + _fraction(match[7])


def _ordinal(year: int, month: int, day: int) -> int:
    """Python's calendar begins with the year 1; the year 0 is like 400, one turn of the calendar earlier."""
    if year:
        return date(year, month, day).toordinal()
    return date(400, month, day).toordinal() - _DAYS_OF_400_YEARS


def duration_of(text: str) -> int:
    """Nanoseconds, of any size."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError('a duration is written "1.5s"')
    value = _whole(match[2]) * _SECOND + _fraction(match[3])
    return -value if match[1] else value


def _whole(digits: str) -> int:
    return int(digits) if len(digits) <= _MOST_DIGITS else 10**_MOST_DIGITS


def _fraction(digits: str | None) -> int:
    return int((digits or "").ljust(9, "0"))
