"""What commands print: tables for people, one JSON text a line for scripts. Names and texts of peers are made
harmless first.
"""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

Row = Sequence[str]
_GAP = "  "


def safe(text: str) -> str:
    """Text of a peer without what a terminal would obey."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def safe_json(text: str) -> str:
    """The same JSON, in which characters that a terminal would obey are escaped."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text)


def emit(value: Any) -> None:
    """One JSON text, on a line of its own."""
    emit_json(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def emit_json(text: str) -> None:
    """The same for a text that is JSON already."""
    line(safe_json(text))


def line(text: str) -> None:
    """Written at once, so that a reader of the other end of a pipe gets it."""
    name = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(name, "backslashreplace").decode(name) + "\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """For people, beside the output."""
    name = sys.stderr.encoding or "utf-8"
    sys.stderr.write(safe(text).encode(name, "backslashreplace").decode(name) + "\n")
    sys.stderr.flush()


def table(heads: Row, rows: Iterable[Row]) -> None:
    """In colour and folded to its width on a terminal; elsewhere columns of plain text, never folded."""
    shown = [[safe(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _rich(heads, shown)
        return
    widths = [max(map(len, column)) for column in zip(heads, *shown, strict=True)]
    for row in (heads, *shown):
        line(_GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _rich(heads: Row, rows: list[list[str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, header_style="bold")
    for head in heads:
        made.add_column(head, overflow="fold")
    for row in rows:
        made.add_row(*(Text(cell) for cell in row))
    _console().print(made)


def _console() -> Any:
    """Without any style where the user wants none, or the terminal has none."""
    from rich.console import Console

    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return Console(highlight=False, markup=False, color_system=None if plain else "auto")


def painted(text: str, style: str) -> None:
    """One line in a style of rich, where a terminal shows it."""
    if not sys.stdout.isatty():
        line(text)
        return
    from rich.text import Text

    _console().print(Text(text, style=style), soft_wrap=True)


def pretty(text: str) -> None:
    """A JSON text: indented and coloured on a terminal, as it is elsewhere."""
    text = safe_json(text)
    if not sys.stdout.isatty():
        line(text)
        return
    from rich.json import JSON

    try:
        _console().print(JSON(text, ensure_ascii=False))
    except RecursionError:
        line(text)
