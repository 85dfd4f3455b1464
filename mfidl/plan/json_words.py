"""F5. The texts of single values in JSON (docs/json.md), as the runtime writes them."""

import base64
import re
from uuid import UUID

from mfidl.model import Scalar

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = re.compile(r'["\\\x00-\x1f]')
_WIDE = (Scalar.I64, Scalar.U64)


def quoted(text: str) -> str:
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04x}"


def integer_text(scalar: Scalar, value: int) -> str:
    """With quotes where it has 64 bits: many readers of JSON keep 53."""
    return f'"{value}"' if scalar in _WIDE else str(value)


def float_text(value: float, *, single: bool) -> str:
    from mf.codec import json_text  # few schemas have such defaults

    return json_text.f32_text(value) if single else json_text.f64_text(value)


def moment_text(scalar: Scalar, value: int) -> str:
    """A timestamp or duration."""
    from mf.codec import json_text  # as above

    return json_text.timestamp_text(value) if scalar is Scalar.TIMESTAMP else json_text.duration_text(value)


def string_text(scalar: Scalar, value: str | bytes) -> str:
    """A string, bytes or uuid, without quotes and before it is escaped."""
    if isinstance(value, str):
        return value
    if scalar is Scalar.UUID:
        return str(UUID(bytes=value))
    return base64.b64encode(value).decode()


def table_name(full_name: str) -> str:
    """Of the objects of a type, in a graph that it is the root of."""
    from mf.codec import shape  # as above

    return shape.snake(full_name.rpartition(".")[2])
