"""Formatting, as `mfidlc fmt` does it, by edits of the lines that change."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import pairwise

from lsprotocol import types

from mfidl.diagnostics import Diagnostics
from mfidl.fmt import format_source
from mfidl.fmt.files import Unstable
from mfidl.lsp.text import Lines
from mfidl.source import SourceFile


def formatted(path: str, lines: Lines, within: types.Range | None = None) -> list[types.TextEdit]:
    """Of all of a text, or where it touches the lines of a range. None for a text that does not parse."""
    diagnostics = Diagnostics()
    try:
        after = format_source(SourceFile(path, path, lines.text), diagnostics)
    except Unstable:
        return []
    if after is None or after == lines.text:
        return []
    return [
        types.TextEdit(types.Range(types.Position(first, 0), types.Position(last, 0)), text)
        for first, last, text in _changes(lines.text, after)
        if within is None or (first <= within.end.line and max(last - 1, first) >= within.start.line)
    ]


def _changes(before: str, after: str) -> Iterator[tuple[int, int, str]]:
    """(first line, line behind the last, the lines instead)."""
    old, new = _split(before), _split(after)
    for what, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what != "equal":
            yield first, last, "".join(new[start:end])


def _split(text: str) -> list[str]:
    """Lines with their ends, as editors count them."""
    lines = Lines(text)
    starts = [lines.bounds(each)[0] for each in range(len(lines))] + [len(text)]
    return [text[start:end] for start, end in pairwise(starts) if end > start]
