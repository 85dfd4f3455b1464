"""F6. Foreign files as sources of diagnostics: found below folders, read once."""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from mfidl.source import SourceFile, Span, UnreadableSource, read_source

_TAB = 8  # protoc counts a tab as the way to the next multiple of eight columns


class Places:
    """The files of one run by the names that foreign files give them: paths below one of the folders."""

    def __init__(self, folders: Sequence[str]) -> None:
        self._folders = folders
        self._sources: dict[str, SourceFile] = {}

    def find(self, name: str, beside: str = "") -> str | None:
        """The path of a file, in the folder of the one that names it or below a folder of the run."""
        for folder in ([os.path.dirname(beside)] if beside else []) + list(self._folders):
            path = os.path.normpath(os.path.join(folder, name))
            if Path(path).is_file():
                return path
        return None

    def source(self, name: str) -> SourceFile:
        """Has no text if there is no such file, as for those that protoc includes."""
        if name not in self._sources:
            self._sources[name] = SourceFile(name, name, "")
            path = self.find(name)
            if path is not None:
                with contextlib.suppress(UnreadableSource):
                    self._sources[name] = read_source(path, path)
        return self._sources[name]

    def at(self, name: str, line: int, column: int) -> Span | None:
        """The word at a line and column as protoc counts them, from 0."""
        source = self.source(name)
        if not source.text:
            return None
        start = _offset(source, line, column)
        end = start
        while end < len(source.text) and (source.text[end].isalnum() or source.text[end] == "_"):
            end += 1
        return Span(source, start, max(end, min(start + 1, len(source.text))))

    def between(self, name: str, place: Sequence[int]) -> Span:
        """A span of a descriptor: [line, column, end column] or [line, column, end line, end column]."""
        source = self.source(name)
        line, column, *end = place
        last = end[0] if len(end) == 2 else line
        return Span(source, _offset(source, line, column), _offset(source, last, end[-1]))


def _offset(source: SourceFile, line: int, column: int) -> int:
    """protoc counts bytes, and tabs as what they fill."""
    starts = source.line_starts()
    if line >= len(starts):
        return len(source.text)
    at, counted = starts[line], 0
    while counted < column and at < len(source.text) and source.text[at] != "\n":
        c = source.text[at]
        counted += _TAB - counted % _TAB if c == "\t" else len(c.encode("utf-8"))
        at += 1
    return at
