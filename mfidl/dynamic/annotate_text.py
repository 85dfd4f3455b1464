"""F6. Annotated bytes as a table for people, and as JSON for tools."""

import json
from collections.abc import Iterator
from typing import Any

from mfidl.dynamic.annotate import Annotated, Annotation
from mfidl.dynamic.errors import DecodeError
from mfidl.dynamic.pictures import printable

_BYTES = 8  # a line
_LONGEST = {"path": 48, "what": 44, "value": 60}
# The type alone says what a value's bytes are.
_PLAIN = ("value", "text", "bytes")


def lines(annotated: Annotated) -> Iterator[str]:
    """A head, and a line for each annotation; more bytes than fit go on below."""
    rows = [_row(each) for each in annotated.annotations]
    head = ("offset", "bytes", "path", "what", "value")
    widths = [max(len(row[0][i]) for row in [(head, b""), *rows]) for i in range(4)]
    widths[1] = min(max(widths[1], 5), 3 * _BYTES - 1)
    yield _line(head, widths)
    for cells, data in rows:
        yield _line(cells, widths)
        for start in range(_BYTES, len(data), _BYTES):
            more = data[start : start + _BYTES].hex(" ")
            yield _line((str(int(cells[0]) + start), more, "", "", ""), widths)


def document(annotated: Annotated, type_: str, tier: str) -> str:
    broken = annotated.violation
    found: dict[str, Any] = {
        "type": type_,
        "tier": tier,
        "annotations": [
            {
                "offset": each.offset,
                "hex": each.data.hex(),
                "path": each.path,
                "meaning": each.meaning,
                "type": each.type,
                "value": each.value,
            }
            for each in annotated.annotations
        ],
        "error": None if annotated.error is None else error_document(annotated.error),
        "violation": None if broken is None else {"path": broken.path, "reason": broken.reason},
    }
    return json.dumps(found, ensure_ascii=False, indent=1)


def error_document(error: DecodeError) -> dict[str, Any]:
    return {
        "fault": error.fault.word,
        "number": int(error.fault),
        "offset": error.offset,
        "path": error.path,
        "reason": error.reason,
    }


def _row(each: Annotation) -> tuple[tuple[str, str, str, str, str], bytes]:
    what = each.type if each.meaning in _PLAIN and each.type else each.meaning
    if each.meaning not in _PLAIN and each.type:
        what = f"{each.meaning}, {each.type}"
    # The words have the number of a tag or head already.
    value = "" if each.meaning.startswith(("tag", "head", "widths")) else each.value
    cells = (
        str(each.offset),
        each.data[:_BYTES].hex(" "),
        _short(each.path, _LONGEST["path"], keep_end=True),
        _short(printable(what), _LONGEST["what"]),
        _short(printable(value), _LONGEST["value"]),
    )
    return cells, each.data


def _line(cells: tuple[str, str, str, str, str], widths: list[int]) -> str:
    offset, data, path, what, value = cells
    line = f"{offset:>{widths[0]}}  {data:<{widths[1]}}  {path:<{widths[2]}}  {what:<{widths[3]}}  {value}"
    return line.rstrip()


def _short(text: str, most: int, *, keep_end: bool = False) -> str:
    if len(text) <= most:
        return text
    return f"...{text[3 - most :]}" if keep_end else f"{text[: most - 3]}..."
