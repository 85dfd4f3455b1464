"""F6. The lines of the preprocessor in Slice files: `#include`, and conditions on one name.

Names that a file does not define itself are undefined; a condition on more than one name is false.
"""

import re

from mfidl.foreign.scan import Refused
from mfidl.source import SourceFile, Span

_LINE = re.compile(r"^[ \t]*#[ \t]*(\w+)[ \t]*(.*?)[ \t]*(?://.*|/\*.*)?$", re.MULTILINE)
_INCLUDE = re.compile(r'[<"]([^<>"]+)[>"]')
_CONDITION = re.compile(r"(!?)\s*defined\s*\(?\s*(\w+)\s*\)?")


def without_preprocessor(source: SourceFile) -> tuple[str, list[tuple[str, Span]]]:
    """The text with blanks for these lines and for what their conditions exclude, so that places stay.

    Beside it what is included, with its place.
    """
    lines = _Lines(source)
    begin = 0
    for line in _LINE.finditer(source.text):
        if not lines.active:
            lines.blank(begin, line.start())
        lines.read(line)
        begin = line.end()
    if not lines.active:
        lines.blank(begin, len(source.text))
    return "".join(lines.text), lines.includes


class _Lines:
    def __init__(self, source: SourceFile) -> None:
        self.text = list(source.text)
        self.includes: list[tuple[str, Span]] = []
        self._source = source
        self._defined: set[str] = set()
        self._conditions: list[bool] = []

    @property
    def active(self) -> bool:
        return all(self._conditions)

    def blank(self, start: int, end: int) -> None:
        self.text[start:end] = [c if c == "\n" else " " for c in self.text[start:end]]

    def read(self, line: re.Match[str]) -> None:
        """One line of the preprocessor, which becomes blank."""
        word, rest = line[1], line[2]
        conditions = self._conditions
        if word in ("else", "elif", "endif") and not conditions:
            place = Span(self._source, line.start(), line.end())
            raise Refused(place, f"`#{word}` without a condition before it")
        match word:
            case "ifdef" | "ifndef":
                conditions.append((rest in self._defined) == (word == "ifdef"))
            case "if":
                found = _CONDITION.fullmatch(rest)
                conditions.append(found is not None and (found[2] in self._defined) == (found[1] == ""))
            case "else":
                conditions[-1] = not conditions[-1]
            case "elif":
                conditions[-1] = False
            case "endif":
                conditions.pop()
            case "define" if self.active:
                self._defined.add(rest.partition(" ")[0])
            case "include" if self.active:
                found = _INCLUDE.match(rest)
                if found is not None:
                    place = Span(self._source, line.start(2), line.start(2) + found.end())
                    self.includes.append((found[1], place))
        self.blank(line.start(), line.end())
