"""F6. Breaks the lines of generated C++ that are too long: templates write each statement on one line.

    if (condition) return value;   the statement on a line of its own, in braces
    head { statement }             a function of one statement likewise
    a && b && c                    in front of the terms, which are aligned
    f(a, b, c)                     behind commas: packed beside the bracket, or below it, 4 columns further in

Of several brackets the outermost is broken, and of those the last; template arguments only if there is no
other. Comments, preprocessor lines and the lines of raw strings stay as they are.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from mfidl.emit.cpp.text import WIDTH

_RAW = re.compile(r'R"(\w*)\(')
_IF = re.compile(r"( *)(if \(.*\)) ((?:return|throw|continue|break)\b[^{}]*;)$")
_FUNCTION = re.compile(r"( *)([^{}]*\)(?: const| noexcept| override)*) \{ (.*;) \}$")
_OPERATORS = (" && ", " || ", " + ")
_MARKS = re.compile(r'[](){}<>[,;"]')
_CLOSING = {"(": ")", "{": "}", "<": ">", "[": "]"}


@dataclass(slots=True)
class _Group:
    """A pair of brackets: the places of both, and of the separators directly inside."""

    start: int
    kind: str
    depth: int
    end: int = 0
    cuts: list[int] = field(default_factory=list)


def wrapped(text: str) -> str:
    """The text with lines of at most WIDTH columns, as far as they have places to be broken at."""
    lines: list[str] = []
    end = ""  # of the raw string that the line is in
    for line in text.split("\n"):
        if end:
            lines.append(line)
            if end in line:
                end = ""
            continue
        if len(line) > WIDTH and not line.lstrip().startswith(("//", "#")):
            lines += _broken(line)
        else:
            lines.append(line)
        found = _RAW.search(line) if 'R"' in line else None
        if found and (closing := f'){found[1]}"') not in line[found.end() :]:
            end = closing
    return "\n".join(lines)


def _broken(line: str) -> Iterator[str]:
    if len(line) <= WIDTH or _RAW.search(line):
        yield line
    elif found := _IF.match(line) or _FUNCTION.match(line):
        margin, head, statement = found.groups()
        yield from _broken(f"{margin}{head} {{")
        yield from _broken(f"{margin}  {statement}")
        yield f"{margin}}}"
    elif (place := _operator(line, groups := _groups(line))) is not None:
        yield from _terms(line, *place)
    elif line.endswith(" {}") and (bases := _bases(line, groups)):
        margin = " " * (len(line) - len(line.lstrip()) + 4)
        yield from _broken(line[:bases])
        yield from _members(f"{margin}: ", line[bases + 3 :].removesuffix(" {}"))
    elif line.endswith(" {") and (bases := _bases(line, groups)):
        margin = " " * (len(line) - len(line.lstrip()) + 4)
        yield line[:bases]
        yield from _broken(margin + line[bases + 1 :])
    elif (group := _best(groups)) is not None:
        yield from _filled(line, group)
    else:
        yield line


def _groups(line: str) -> list[_Group]:
    """All pairs of brackets outside of strings; the outermost ones have depth 0."""
    found: list[_Group] = []
    stack: list[_Group] = []
    behind = 0  # the end of the last string
    for mark in _MARKS.finditer(line):
        letter, at = mark[0], mark.start()
        if at < behind:
            continue
        if letter == '"':
            behind = _end_of_string(line, at) + 1
        elif letter in "({[" or (letter == "<" and _opens(line, at)):
            stack.append(_Group(at, letter, len(stack)))
        elif stack and letter == _CLOSING[stack[-1].kind] and line[at - 1] != "-":
            group = stack.pop()
            group.end = at
            found.append(group)
        elif letter in ",;" and stack and line[at + 1 : at + 2] == " ":
            stack[-1].cuts.append(at)
    return found


def _end_of_string(line: str, at: int) -> int:
    at += 1
    while line[at] != '"':
        at += 2 if line[at] == "\\" else 1
    return at


def _opens(line: str, at: int) -> bool:
    """Whether a `<` begins template arguments."""
    before = line[at - 1 : at]
    return (before.isalnum() or before == "_") and not line[:at].endswith("operator")


def _operator(line: str, groups: list[_Group]) -> tuple[str, int] | None:
    """The first operator outside of all brackets, or inside of the only pair that holds an assertion, with
    the place where its line's terms begin.
    """
    inside = [each for each in groups if each.depth == 0 and line[: each.start].strip() == "static_assert"]
    begin = inside[0].start + 1 if inside else _behind(line)
    outer = [each for each in groups if each.depth == (1 if inside else 0)]
    for operator in _OPERATORS:
        place = line.find(operator, begin)
        while place != -1 and any(each.start < place < each.end for each in outer):
            place = line.find(operator, place + 1)
        if place != -1:
            return operator, begin
    return None


def _behind(line: str) -> int:
    """Where an expression begins: behind `return` or an assignment."""
    margin = len(line) - len(line.lstrip())
    if line[margin:].startswith("return "):
        return margin + len("return ")
    place = line.find(" = ")
    return place + 3 if place != -1 else margin


def _terms(line: str, operator: str, begin: int) -> Iterator[str]:
    groups = [each for each in _groups(line) if each.start >= begin]
    cuts, place = [begin], line.find(operator, begin)
    while place != -1:
        if not any(each.start < place < each.end for each in groups):
            cuts.append(place + len(operator))
        place = line.find(operator, place + 1)
    terms = [line[a:b] for a, b in zip(cuts, [*cuts[1:], len(line)], strict=True)]
    current = line[:begin]
    for term in terms:
        if len(current) > begin and len((current + term).rstrip()) > WIDTH:
            yield current.rstrip()
            current = " " * begin
        current += term
    yield current


def _bases(line: str, groups: list[_Group]) -> int:
    """The place of the ` : ` in front of the bases of a class, or of the members that a constructor makes."""
    place = line.find(" : ")
    while place != -1 and any(each.start < place < each.end for each in groups):
        place = line.find(" : ", place + 1)
    return max(place, 0)


def _members(start: str, members: str) -> Iterator[str]:
    groups = _groups(members)
    cuts = [
        at
        for at, letter in enumerate(members)
        if letter == "," and not any(each.start < at < each.end for each in groups)
    ]
    items = [members[a:b].strip() for a, b in zip([0, *(at + 1 for at in cuts)], [*cuts, None], strict=True)]
    lines = list(_packed(" " * len(start), [*(f"{each}," for each in items[:-1]), items[-1]], " {}"))
    return iter([start + lines[0].lstrip(), *lines[1:]])


def _best(groups: list[_Group]) -> _Group | None:
    """The brackets to break at: those with separators before those with one long item."""
    usable = [each for each in groups if each.kind != "[" and each.end > each.start + 1]
    for candidates in (
        [each for each in usable if each.cuts and each.kind != "<"],
        [each for each in usable if each.kind == "("],
        [each for each in usable if each.cuts],
    ):
        if candidates:
            depth = min(each.depth for each in candidates)
            reaching = [each for each in candidates if each.depth == depth and each.start < WIDTH]
            if reaching:
                return max(reaching, key=lambda each: each.start)
    return None


def _filled(line: str, group: _Group) -> Iterator[str]:
    start, tail = line[: group.start + 1], line[group.end :]
    cuts = [group.start + 1, *(cut + 2 for cut in group.cuts), group.end]
    items = [line[a:b].rstrip() for a, b in pairwise(cuts)]
    margin = len(line) - len(line.lstrip())
    below = [start, *_packed(" " * (margin + 4), items, tail)]
    longest = max(len(item) + (len(tail) if item is items[-1] else 0) for item in items)
    if len(start) + longest > WIDTH:
        return iter(below)
    first, *rest = _packed(" " * len(start), items, tail)
    beside = [start + first.lstrip(), *rest]
    return iter(below if len(below) + 2 <= len(beside) else beside)


def _packed(margin: str, items: list[str], tail: str) -> Iterator[str]:
    current = margin
    for i, item in enumerate(items):
        piece = item + (tail if i == len(items) - 1 else "")
        if current != margin and len(current) + 1 + len(piece) > WIDTH:
            yield current
            current = margin
        current += piece if current == margin else f" {piece}"
    yield current
