"""F5. The texts of single values in JSON (docs/json.md): strings, integers, moments, uuids."""

import base64
import re
from datetime import UTC, datetime, timedelta
from uuid import UUID

from mfidl.model import Scalar

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = re.compile(r'["\\\x00-\x1f]')
_WIDE = (Scalar.I64, Scalar.U64)
_SECOND = 10**9
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def quoted(text: str) -> str:
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04x}"


def integer_text(scalar: Scalar, value: int) -> str:
    """With quotes where it has 64 bits: many readers of JSON keep 53."""
    return f'"{value}"' if scalar in _WIDE else str(value)


def timestamp_text(value: int) -> str:
    """Without quotes."""
    seconds, nanoseconds = divmod(value, _SECOND)
    moment = _EPOCH + timedelta(seconds=seconds)
    return f"{moment:%Y-%m-%dT%H:%M:%S}{_fraction(nanoseconds)}Z"


def duration_text(value: int) -> str:
    """Without quotes."""
    seconds, nanoseconds = divmod(abs(value), _SECOND)
    return f"{'-' if value < 0 else ''}{seconds}{_fraction(nanoseconds)}s"


def _fraction(nanoseconds: int) -> str:
    if nanoseconds == 0:
        return ""
    digits = f"{nanoseconds:09}"
    places = 3 if digits.endswith("000000") else 6 if digits.endswith("000") else 9
    return f".{digits[:places]}"


def string_text(scalar: Scalar, value: str | bytes) -> str:
    """A string, bytes or uuid, without quotes and before it is escaped."""
    if isinstance(value, str):
        return value
    if scalar is Scalar.UUID:
        return str(UUID(bytes=value))
    return base64.b64encode(value).decode()
