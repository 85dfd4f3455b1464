"""F4. Text literals of timestamps (RFC 3339) and uuids (8-4-4-4-12 hexadecimal digits)."""

import re

_TIMESTAMP = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
    r"[Tt](?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:\.(?P<fraction>\d+))?"
    r"(?P<offset>[Zz]|[+-]\d\d:\d\d)?",
    re.ASCII,
)
_UUID = re.compile("[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_UUID_DIGITS = re.compile("[0-9a-fA-F]{32}")
_DAY_OF_1970 = 719_163  # as datetime counts
_SECOND = 10**9


class MalformedError(Exception):
    """Why a text is no such value, and, where that is clear, how it would be written."""

    def __init__(self, reason: str, help: str | None = None) -> None:  # noqa: A002
        super().__init__(reason)
        self.reason = reason
        self.help = help


def timestamp(text: str) -> int:
    """Nanoseconds since 1970, of any size."""
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        raise MalformedError('a time is written as in RFC 3339: "2024-02-29T12:30:45.5Z"')
    if match["offset"] is None:
        raise MalformedError("it does not say how far from UTC it is", f'in UTC, write "{text}Z"')
    fraction = match["fraction"] or ""
    if len(fraction) > 9:
        raise MalformedError("there is nothing below a nanosecond: at most 9 digits")
    seconds = (_days(match) * 24 + _below(match, "hour", 24)) * 3600
    seconds += _below(match, "minute", 60) * 60 + _below(match, "second", 60) - _offset(match["offset"])
    return seconds * _SECOND + int(fraction.ljust(9, "0"))


def _days(match: re.Match[str]) -> int:
    from datetime import date  # only needed for schemas with times

    year, month, day = (int(match[part]) for part in ("year", "month", "day"))
    try:
        return date(year, month, day).toordinal() - _DAY_OF_1970
    except ValueError:
        raise MalformedError(f"there is no day {year:04}-{month:02}-{day:02}") from None


def _below(match: re.Match[str], part: str, limit: int) -> int:
    number = int(match[part])
    if number >= limit:
        raise MalformedError(f"there is no {part} {number}")
    return number


def _offset(text: str) -> int:
    if text in "Zz":
        return 0
    hours, minutes = int(text[1:3]), int(text[4:6])
    if hours >= 24 or minutes >= 60:
        raise MalformedError(f"there is no offset {text}")
    return (hours * 3600 + minutes * 60) * (-1 if text[0] == "-" else 1)


def uuid(text: str) -> bytes:
    """The 16 bytes."""
    if _UUID.fullmatch(text):
        return bytes.fromhex(text.replace("-", ""))
    digits = re.sub(r"[-{}\s]|^urn:uuid:", "", text)
    hint = None
    if _UUID_DIGITS.fullmatch(digits):
        parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
        hint = f'write "{"-".join(parts)}"'
    raise MalformedError("a uuid is written with 8-4-4-4-12 hexadecimal digits", hint)
