"""Positions as editors count them, and the text of a document that is being edited.

Lines of an editor end with `\\r\\n`, `\\n` or `\\r`; in a line code units of UTF-16 count, unless it agreed
to another encoding. The compiler counts code points from the beginning. Positions behind the end of a line
or of the text mean that end, as the protocol says.
"""

import re
from bisect import bisect_right
from urllib.parse import quote, unquote, urlsplit

from lsprotocol import types

from mfidl.source import Span

_LINE_END = re.compile(r"\r\n?|\n")


class Lines:
    """The lines of one text."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text = text
        self._encoding = encoding
        self._starts = [0, *(each.end() for each in _LINE_END.finditer(text))]
        # In a text of ASCII every encoding counts alike.
        self._counts_characters = encoding == "utf-32" or text.isascii()

    def __len__(self) -> int:
        return len(self._starts)

    def line_of(self, offset: int) -> int:
        return bisect_right(self._starts, offset) - 1

    def bounds(self, line: int) -> tuple[int, int]:
        """The offsets of a line, without its end."""
        start = self._starts[line]
        end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self.text)
        return start, start + len(self.text[start:end].rstrip("\r\n"))

    def offset(self, position: types.Position) -> int:
        if position.line >= len(self._starts):
            return len(self.text)
        start, end = self.bounds(position.line)
        if self._counts_characters:
            return min(start + position.character, end)
        units = 0
        for at in range(start, end):
            if units >= position.character:
                return at
            units += self._units(self.text[at])
        return end

    def position(self, offset: int) -> types.Position:
        line = self.line_of(offset)
        start = self._starts[line]
        if self._counts_characters:
            return types.Position(line, offset - start)
        return types.Position(line, sum(self._units(each) for each in self.text[start:offset]))

    def length(self, start: int, end: int) -> int:
        """In units of the editor, of a text that ends no line."""
        return end - start if self._counts_characters else sum(map(self._units, self.text[start:end]))

    def range(self, start: int, end: int) -> types.Range:
        return types.Range(self.position(start), self.position(end))

    def of(self, span: Span) -> types.Range:
        return self.range(span.start, span.end)

    def all(self) -> types.Range:
        return self.range(0, len(self.text))

    def _units(self, character: str) -> int:
        if self._encoding == "utf-8":
            return len(character.encode("utf-8", "surrogatepass"))
        return 1 if character < "\U00010000" else 2


class Document:
    """A file that is open in the editor. `edited` is the line of the last change; None before the first."""

    def __init__(self, uri: str, text: str, version: int, encoding: str) -> None:
        self.uri = uri
        self.path = path_of(uri)
        self.version = version
        self.edited: int | None = None
        self._encoding = encoding
        self.lines = Lines(text, encoding)

    @property
    def text(self) -> str:
        return self.lines.text

    def change(self, change: types.TextDocumentContentChangeEvent) -> None:
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            self.edited = None
            self._replace(change.text)
            return
        start, end = self.lines.offset(change.range.start), self.lines.offset(change.range.end)
        start, end = min(start, end), max(start, end)
        text = self.text
        self._replace(text[:start] + change.text + text[end:])
        self.edited = self.lines.line_of(start + len(change.text))

    def _replace(self, text: str) -> None:
        self.lines = Lines(text, self._encoding)


def path_of(uri: str) -> str:
    """The path of a file; of a document that is no file (`untitled:Untitled-1`) a path that no file has."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return f"/{parts.scheme}:/{unquote(parts.path).lstrip('/') or 'untitled'}"
    return unquote(parts.path)


def uri_of(path: str) -> str:
    scheme, colon, rest = path.removeprefix("/").partition(":/")
    if colon and "/" not in scheme:
        return f"{scheme}:{rest}"
    return "file://" + quote(path.encode("utf-8", "surrogateescape"), safe="/~!$&'()*+,;=:@-._")
