"""F1. Diagnostics as text for people (carets, optional colour) and as JSON for editors.

Long lines are cut to a window around the caret, tabs and control characters are made visible, so that a
hostile file cannot play with the terminal.
"""

from collections.abc import Iterable
from typing import Any

from mfidl.diagnostics.diagnostic import Diagnostic
from mfidl.source import Span

_WINDOW = 120
_MESSAGE_LIMIT = 600
_RED, _BLUE, _BOLD, _OFF = "\033[31;1m", "\033[34;1m", "\033[1m", "\033[0m"


def _visible(text: str) -> str:
    """Control characters escaped, tabs as one space: one column per character stays true."""
    return "".join(c if c.isprintable() else " " if c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def _cut(message: str) -> str:
    message = _visible(message)
    return message if len(message) <= _MESSAGE_LIMIT else message[: _MESSAGE_LIMIT - 3] + "..."


class _Painter:
    def __init__(self, color: bool) -> None:
        self._color = color

    def paint(self, style: str, text: str) -> str:
        return f"{style}{text}{_OFF}" if self._color else text


def _excerpt(span: Span, painter: _Painter, style: str) -> list[str]:
    """The place, the source line, and carets under the part of the span that lies on its first line."""
    line, column = span.file.position(span.start)
    text = span.file.line_text(line)
    width = max(1, min(span.end - span.start, len(text) - column + 1))
    first = 0
    if len(text) > _WINDOW:
        first = max(0, min(column - 1 - _WINDOW // 3, len(text) - _WINDOW))
    shown = text[first : first + _WINDOW]
    width = max(1, min(width, first + _WINDOW - column + 1))
    number = str(line)
    gutter = " " * len(number)
    bar = painter.paint(_BLUE, "|")
    source = _visible(shown).rstrip()
    lead = " " * (column - 1 - first)
    return [
        f"{gutter}{painter.paint(_BLUE, '-->')} {span.file.name}:{line}:{column}",
        f"{gutter} {bar}",
        f"{painter.paint(_BLUE, number)} {bar} {source}".rstrip(),
        f"{gutter} {bar} {lead}{painter.paint(style, '^' * width)}",
    ]


def render_text(diagnostics: Iterable[Diagnostic], color: bool = False) -> str:
    """All diagnostics, one blank line behind each."""
    painter = _Painter(color)
    lines: list[str] = []
    for each in diagnostics:
        head = painter.paint(_RED, f"error[{each.code}]")
        lines.append(f"{head}: {painter.paint(_BOLD, _cut(each.message))}")
        if each.span is not None:
            lines += _excerpt(each.span, painter, _RED)
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
        return {}
    line, column = span.file.position(span.start)
    end_line, end_column = span.file.position(span.end)
    return {
        "file": span.file.name,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
    }


def render_json(diagnostics: Iterable[Diagnostic]) -> str:
    """One JSON object: {"diagnostics": [...]}; positions are 1-based, ends exclusive."""
    import json

    items = [
        {
            "code": each.code,
            "severity": "error",
            "message": each.message,
            **_place(each.span),
            "notes": [{"message": note.message, **_place(note.span)} for note in each.notes],
            "help": each.help,
        }
        for each in diagnostics
    ]
    return json.dumps({"diagnostics": items}, indent=2, ensure_ascii=False) + "\n"
