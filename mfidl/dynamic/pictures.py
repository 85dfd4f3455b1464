"""F6. Shows mistakes to people: a line of text or of bytes with carets under the wrong part."""

from mfidl.dynamic.errors import DecodeError, UnknownTypeError, Violation

_AROUND = 60  # characters of a long line on either side
_BYTES = 8  # ... of bytes


def of_bytes(error: DecodeError, data: bytes, source: str) -> str:
    """error[truncated]: 4 bytes expected, 2 left
    --> hit.bin, byte 12, Hit.score
     | 07 00 00 61 62
     |          ^^
    """
    at = min(error.offset, len(data))
    first, last = max(at - _BYTES, 0), min(at + _BYTES, len(data))
    before = "... " if first else ""
    behind = " ..." if last < len(data) else ""
    line = f"{before}{data[first:last].hex(' ')}{behind}"
    column = len(before) + 3 * (at - first)
    place = f"{source}, byte {error.offset}" + (f", {error.path}" if error.path else "")
    return f"{_head(error)}\n --> {place}\n  | {line}\n  | {' ' * column}^^\n"


def of_json(error: DecodeError, data: bytes, source: str) -> str:
    """The line of the text, its place as line and column, both from 1."""
    start = data.rfind(b"\n", 0, error.offset) + 1
    end = data.find(b"\n", error.offset)
    raw = data[start : len(data) if end < 0 else end]
    line = raw.decode("utf-8", "replace")
    column = len(raw[: error.offset - start].decode("utf-8", "replace"))
    number = data.count(b"\n", 0, start) + 1
    place = f"{source}:{number}:{column + 1}" + (f", {error.path}" if error.path else "")
    shown, caret = _cut(line.rstrip("\r"), column)
    return f"{_head(error)}\n --> {place}\n  | {shown}\n  | {' ' * caret}^\n"


def of_violation(broken: Violation, source: str) -> str:
    """Without a place in bytes or text, which a value does not have."""
    place = source + (f", {broken.path}" if broken.path else "")
    return f"error[invalid_argument]: {printable(broken.reason)}\n --> {place}\n"


def of_type(error: UnknownTypeError) -> str:
    shown, caret = _cut(error.text, error.start)
    width = max(1, min(error.end - error.start, len(shown) - caret))
    return f"{error.reason}\n  {shown}\n  {' ' * caret}{'^' * width}"


def printable(text: str) -> str:
    """With nothing in it that moves a terminal's cursor or its colours."""
    return "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in text)


def _head(error: DecodeError) -> str:
    return f"error[{error.fault.word}]: {printable(error.reason)}"


def _cut(line: str, column: int) -> tuple[str, int]:
    """The relevant part of a line, and the column in it."""
    line = "".join(each if each.isprintable() else " " for each in line)
    first = 0 if column <= _AROUND else column - _AROUND
    before = "..." if first else ""
    behind = "..." if len(line) > column + _AROUND else ""
    return f"{before}{line[first : column + _AROUND]}{behind}", column - first + len(before)
