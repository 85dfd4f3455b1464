"""F2. What to write instead of a number of another language: `5m`, `1.5s`, `10kb`, `0b101`, `1.0f`."""

import re

UNITS = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 86400 * 10**9,
}
_OTHER_UNITS = {
    **dict.fromkeys(("m", "mins", "minute", "minutes", "Min", "M"), "min"),
    **dict.fromkeys(("sec", "secs", "second", "seconds", "S"), "s"),
    **dict.fromkeys(("msec", "msecs", "millis", "MS", "Ms", "milliseconds"), "ms"),
    **dict.fromkeys(("usec", "micros", "microseconds", "mus"), "us"),
    **dict.fromkeys(("nsec", "nanos", "nanoseconds"), "ns"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours", "H"), "h"),
    **dict.fromkeys(("day", "days", "D"), "d"),
}
_SIZES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_PARTS = re.compile(r"([0-9][0-9_]*)(?:\.([0-9][0-9_]*))?([A-Za-z_]+)([0-9_]*)(\w*)")
_LONGEST = 20


def number_advice(text: str) -> str | None:
    """A sentence for `help`, or None."""
    matched = _PARTS.fullmatch(text)
    if matched is None or len(text) > _LONGEST:
        return _of_prefix(text)
    whole, fraction, unit, digits, rest = matched.groups()
    if digits or rest:
        return _of_prefix(text) or (
            "one number and one unit: write the sum in the smaller unit" if rest else _NAME
        )
    known = unit if unit in UNITS else _OTHER_UNITS.get(unit)
    if known is not None:
        return _duration(whole, fraction or "", known)
    size = _SIZES.get(unit[0].lower())
    if unit.lower().rstrip("ib") in _SIZES and size is not None and unit[-1] in "bB" and not fraction:
        return f"sizes have no unit: write `{int(whole) * size:_}`"
    if unit.lower() in ("u", "l", "ul", "ull", "ll", "f", "i"):
        return f"numbers have no suffix: write `{text.removesuffix(unit)}`; the type says what it is"
    return _of_prefix(text) or _NAME


_NAME = "a name begins with a letter or `_`"


def _duration(whole: str, fraction: str, unit: str) -> str:
    """The same time in whole units."""
    scale = 10 ** len(fraction.replace("_", ""))
    nanoseconds, rest = divmod(int(whole + fraction) * UNITS[unit], scale)
    if rest or not nanoseconds:
        return "a duration is a whole number and one unit, and nothing is shorter than `1ns`"
    best = next(name for name in reversed(UNITS) if nanoseconds % UNITS[name] == 0)
    best = unit if not fraction else best
    return f"write `{nanoseconds // UNITS[best]}{best}`"


def _of_prefix(text: str) -> str | None:
    head = text[:2].lower()
    if head in ("0b", "0o") and len(text) <= _LONGEST:
        try:
            return f"there is no such notation: write `{int(text.replace('_', ''), 0):#x}`"
        except ValueError:
            return None
    if head == "0x":
        return "hexadecimal digits are 0 to 9 and a to f"
    return None


def shortened(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
