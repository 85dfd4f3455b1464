"""F2. Passages that are not schema text: markers of merge conflicts, fences of Markdown, comments of other
languages, strings over several lines.

Each is found as a whole, reported once, and hidden from the parser, so that the surrounding text is still
read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_OURS = re.compile(r"^<{7} .*$", re.MULTILINE)
_MIDDLE = re.compile(r"^={7}$", re.MULTILINE)
_THEIRS = re.compile(r"^>{7} .*$", re.MULTILINE)
# In strings and comments they are ordinary text.
_FOREIGN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*(?s:.*?)\*/|(?P<fence>^```.*$)|(?P<markup><!--(?:.*?-->|.*))',
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Passage:
    """[start, end) is hidden; a code of the catalogue with its place and advice is reported, if there is one.
    `supplies` is read in its place.
    """

    start: int
    end: int
    code: str | None = None
    place: tuple[int, int] = (0, 0)
    help: str | None = None
    supplies: str = ""


def passages(text: str) -> Iterator[Passage]:
    """The passages of the whole text, in no particular order."""
    yield from _conflicts(text)
    foreign = list(_FOREIGN.finditer(text))
    for number, matched in enumerate(each for each in foreign if each["fence"]):
        place = (matched.start(), matched.start() + 3)
        fence = Passage(matched.start(), matched.end(), "E0116", place, "leave the fences of Markdown out")
        yield Passage(matched.start(), matched.end()) if number else fence
    for matched in (each for each in foreign if each["markup"]):
        advice = "comments are written `// ...` or `/* ... */`"
        yield Passage(matched.start(), matched.end(), "E0116", (matched.start(), matched.start() + 4), advice)


def _conflicts(text: str) -> Iterator[Passage]:
    """Hides the first marker, and everything from the middle marker to the last: what is between the first
    two is read."""
    at = 0
    while ours := _OURS.search(text, at):
        middle = _MIDDLE.search(text, ours.end())
        theirs = _THEIRS.search(text, middle.end()) if middle else None
        if middle is None or theirs is None:
            return
        yield Passage(*ours.span(), "E0115", (ours.start(), ours.start() + 7))
        yield Passage(middle.start(), theirs.end())
        at = theirs.end()


def strings_over_lines(text: str, problems: list[tuple[str, int, int, dict[str, Any]]]) -> Iterator[Passage]:
    """From the line on which a string was left open to the line that closes it, if there is one."""
    opened = [start for code, start, _, _ in problems if code == "E0105"]
    at = 0
    while at + 1 < len(opened):
        first, last = opened[at], opened[at + 1]
        end = text.find("\n", last)
        end = len(text) if end < 0 else end
        before = text[text.rfind("\n", 0, last) + 1 : last]
        closes = not text[last + 1 : end].strip(" \t\r;,)]}") and '"' not in before.replace('""', "")
        if closes and text.count("\n", first, last) <= 100:
            advice = "a string ends on its line: write \\n for a line break"
            begin = text.find("\n", first)
            yield Passage(begin, end, "E0105", (first, first + 1), advice, text[last + 1 : end])
            at += 1
        at += 1
