"""F0. A schema file in memory, and the spans that everything else points at it with.

It has only text and offsets. Offsets count characters (code points) of `SourceFile.text`; lines and columns
are computed on demand, 1-based, because almost no span is ever printed.
"""

import os
import stat
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any
from unicodedata import bidirectional, category
from unicodedata import name as unicode_name


@dataclass(frozen=True, slots=True, eq=False)
class SourceFile:
    """One input file. Compared by identity: a run reads each file once.

    `path` is the file to open; `name` is how messages and generated banners call it (never an absolute path
    that the user did not write).
    """

    path: str
    name: str
    text: str
    _line_starts: list[int] = field(default_factory=list, repr=False)

    def line_starts(self) -> list[int]:
        """Offset of the first character of every line; computed once, on first use."""
        if not self._line_starts:
            starts = self._line_starts
            starts.append(0)
            end = "\n" if "\n" in self.text else "\r"  # the latter alone: a file of an old Macintosh
            at = self.text.find(end)
            while at >= 0:
                starts.append(at + 1)
                at = self.text.find(end, at + 1)
        return self._line_starts

    def position(self, offset: int) -> tuple[int, int]:
        """(line, column), both 1-based, of a character offset."""
        starts = self.line_starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        """The text of a 1-based line, without its line ending."""
        starts = self.line_starts()
        end = starts[line] if line < len(starts) else len(self.text)
        return self.text[starts[line - 1] : end].rstrip("\r\n")


@dataclass(frozen=True, slots=True)
class Span:
    """The half-open range [start, end) of characters of one file."""

    file: SourceFile
    start: int
    end: int

    def line(self) -> int:
        return self.file.position(self.start)[0]

    def column(self) -> int:
        return self.file.position(self.start)[1]

    def text(self) -> str:
        return self.file.text[self.start : self.end]

    def to(self, other: "Span") -> "Span":
        """From the beginning of this span to the end of a later one in the same file."""
        return Span(self.file, self.start, max(self.end, other.end))


SIZE_LIMIT = 4 * 1024 * 1024
_PIPE = "a pipe"
_OTHERS = {
    stat.S_IFIFO: _PIPE,
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_HANDED_OVER = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")


_LINES = ("Cc", "Zl", "Zp")  # Unicode's categories of control characters and of ends of lines
_DIRECTIONS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


def first_unprintable(name: str) -> str | None:
    """The first character of a path that ends a line, controls a terminal, or turns the direction of text."""
    if name.isascii() and name.isprintable():
        return None
    return next((c for c in name if category(c) in _LINES or bidirectional(c) in _DIRECTIONS), None)


def described(character: str) -> str:
    """What `first_unprintable` found, in words."""
    if character in "\r\n":
        return "a line break"
    return "a control character" if category(character) == "Cc" else unicode_name(character).lower()


class UnreadableSource(Exception):
    """A file that cannot become a SourceFile; `code` and `values` name and fill the diagnostic."""

    def __init__(self, code: str, **values: Any) -> None:
        super().__init__(code)
        self.code = code
        self.values = values


def read_source(path: str, name: str) -> SourceFile:
    """Read a schema from disk. Looks at no more than SIZE_LIMIT bytes, whatever the path names."""
    return decode_source(read_data(path, name), path, name)


def read_data(path: str, name: str) -> bytes:
    """The bytes of a file, but for those far behind the limit. Of what is no file only a pipe that the caller
    handed over is read (`... | mfidlc check /dev/stdin`, `<(...)`): any other may make us wait for ever.
    """
    try:
        other = _OTHERS.get(stat.S_IFMT(os.stat(path).st_mode))
        if other is not None and not (other == _PIPE and os.path.abspath(path).startswith(_HANDED_OVER)):
            raise UnreadableSource("E0001", path=name, reason=f"it is {other}, not a regular file")
        with open(path, "rb") as stream:
            return stream.read(SIZE_LIMIT + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UnreadableSource("E0001", path=name, reason=reason) from None


def decode_source(data: bytes, path: str, name: str) -> SourceFile:
    """Bytes, from wherever, to a schema."""
    if len(data) > SIZE_LIMIT:
        raise UnreadableSource("E0003", path=name, size=f"more than {SIZE_LIMIT}", limit=SIZE_LIMIT)
    zero = data.find(0)
    if zero >= 0:
        utf16 = "this is UTF-16: save it as UTF-8" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else None
        raise UnreadableSource("E0006", path=name, byte=zero, help=utf16)
    try:
        return SourceFile(path, name, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        start = error.start + (len(data) - len(error.object))
        line = data.count(b"\n", 0, start) + 1
        raise UnreadableSource("E0002", path=name, byte=start, line=line, value=data[start]) from None
