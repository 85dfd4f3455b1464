"""F1. Diagnostics as text for people (carets, optional colour), as JSON for editors, and as annotations of
GitHub and GitLab.

Long lines are cut to a window around the caret, tabs and control characters are made visible, so that a
hostile file cannot play with the terminal. Carets are counted in terminal cells (a CJK character takes two, a
combining mark none), columns in characters.
"""

import unicodedata
from collections.abc import Iterable
from typing import Any

from mfidl.diagnostics.diagnostic import Diagnostic, Fix
from mfidl.source import Span

_WINDOW = 120
_MESSAGE_LIMIT = 600
_TAB = "    "
_CUT = "\N{HORIZONTAL ELLIPSIS}"
_RED, _YELLOW, _BLUE, _BOLD, _OFF = "\033[31;1m", "\033[33;1m", "\033[34;1m", "\033[1m", "\033[0m"
_STYLES = {"error": _RED, "warning": _YELLOW}


def _visible(text: str) -> str:
    """Control characters escaped, tabs as spaces."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c.isprintable() else _TAB if c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def _cells(text: str) -> int:
    """How wide a terminal shows a text that `_visible` made."""
    if text.isascii():
        return len(text)
    return sum(_cell(c) for c in text)


def _cell(c: str) -> int:
    if unicodedata.category(c) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


def _cut(message: str) -> str:
    message = _visible(message)
    return message if len(message) <= _MESSAGE_LIMIT else message[: _MESSAGE_LIMIT - 3] + "..."


class _Painter:
    def __init__(self, color: bool) -> None:
        self._color = color

    def paint(self, style: str, text: str) -> str:
        return f"{style}{text}{_OFF}" if self._color else text


def _window(text: str, begin: int, end: int) -> tuple[str, str, str]:
    """The shown part of a line: before, at and after the characters [begin, end)."""
    if len(text) <= _WINDOW:
        return text[:begin], text[begin:end], text[end:]
    first = max(0, min(begin - _WINDOW // 3, len(text) - _WINDOW))
    last = first + _WINDOW
    before, at, behind = text[first:begin], text[begin : min(end, last)], text[end:last]
    if first and before:
        before = _CUT + before[1:]
    if last < len(text):
        behind = behind[:-1] + _CUT if behind else _CUT
    return before, at, behind


def _excerpt(span: Span, painter: _Painter, style: str) -> list[str]:
    """The place, the source line, and carets under the part of the span on its first line."""
    line, column = span.file.position(span.start)
    text = span.file.line_text(line)
    end = min(len(text), column - 1 + span.end - span.start)
    before, at, behind = map(_visible, _window(text, column - 1, max(end, column - 1)))
    number = str(line)
    gutter = " " * len(number)
    bar = painter.paint(_BLUE, "|")
    carets = " " * _cells(before) + painter.paint(style, "^" * max(1, _cells(at)))
    return [
        f"{gutter}{painter.paint(_BLUE, '-->')} {_visible(span.file.name)}:{line}:{column}",
        f"{gutter} {bar}",
        f"{painter.paint(_BLUE, number)} {bar} {before}{at}{behind}".rstrip(),
        f"{gutter} {bar} {carets}",
    ]


def render_text(diagnostics: Iterable[Diagnostic], color: bool = False) -> str:
    """All diagnostics, with a blank line after each."""
    painter = _Painter(color)
    lines: list[str] = []
    for each in diagnostics:
        style = _STYLES[each.severity]
        head = painter.paint(style, f"{each.severity}[{each.code}]")
        lines.append(f"{head}: {painter.paint(_BOLD, _cut(each.message))}")
        if each.span is not None:
            lines += _excerpt(each.span, painter, style)
        for note in each.notes:
            lines.append(f"{painter.paint(_BLUE, 'note')}: {_cut(note.message)}")
            if note.span is not None:
                lines += _excerpt(note.span, painter, _BLUE)
        if each.help:
            lines.append(f"{painter.paint(_BLUE, 'help')}: {_cut(each.help)}")
        lines.append("")
    return "".join(line + "\n" for line in lines)


def _place(span: Span | None) -> dict[str, Any]:
    if span is None:
        return dict.fromkeys(("file", "line", "column", "end_line", "end_column"))
    line, column = span.file.position(span.start)
    end_line, end_column = span.file.position(span.end)
    return {
        "file": span.file.name,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
    }


def _fix(fix: Fix | None) -> dict[str, Any] | None:
    return None if fix is None else {**_place(fix.span), "replacement": fix.replacement}


def render_json(diagnostics: Iterable[Diagnostic]) -> str:
    """One JSON object, as docs/errors.md has it; positions are 1-based and count code points, ends are
    exclusive.
    """
    import json

    items = [
        {
            "code": each.code,
            "severity": each.severity,
            "message": each.message,
            **_place(each.span),
            "notes": [{"message": note.message, **_place(note.span)} for note in each.notes],
            "help": each.help,
            "fix": _fix(each.fix),
        }
        for each in diagnostics
    ]
    return json.dumps({"diagnostics": items}, indent=2, ensure_ascii=False) + "\n"


def render_github(diagnostics: Iterable[Diagnostic]) -> str:
    """Workflow commands, a line each: GitHub shows them beside the lines of a pull request."""
    lines = []
    for each in diagnostics:
        properties = {"title": each.code}
        if each.span is not None:
            line, column = each.span.file.position(each.span.start)
            end_line, _ = each.span.file.position(each.span.end)
            properties |= {"file": each.span.file.name, "line": str(line), "col": str(column)}
            properties["endLine"] = str(end_line)
        said = ",".join(f"{name}={_escaped(text, ':,')}" for name, text in properties.items())
        message = each.message + (f"\nhelp: {each.help}" if each.help else "")
        lines.append(f"::{each.severity} {said}::{_escaped(message)}\n")
    return "".join(lines)


def _escaped(text: str, also: str = "") -> str:
    """Text of a workflow command: no character of it ends the text, or the line."""
    return "".join(f"%{ord(c):02X}" if c in "%\r\n" or c in also else c for c in text)


def render_gitlab(diagnostics: Iterable[Diagnostic]) -> str:
    """A report of code quality: GitLab shows it beside the lines of a merge request."""
    import hashlib
    import json

    items = []
    for each in diagnostics:
        name, line = "", 1
        if each.span is not None:
            name, (line, _) = each.span.file.name, each.span.file.position(each.span.start)
        told_apart = f"{each.code}\0{name}\0{line}\0{each.message}"
        items.append(
            {
                "description": each.message,
                "check_name": each.code,
                "fingerprint": hashlib.sha256(told_apart.encode("utf-8", "surrogateescape")).hexdigest(),
                "severity": "major" if each.severity == "error" else "minor",
                "location": {"path": name, "lines": {"begin": line}},
            }
        )
    return json.dumps(items, indent=2, ensure_ascii=False) + "\n"
