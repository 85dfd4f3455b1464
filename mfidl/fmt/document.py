"""A document: text with possible line breaks; and the printer, which breaks as few as necessary.

A group is printed on one line if it fits, up to the next possible break; otherwise each of its own breaks
becomes a new line. A forced break (a line comment, a line of its own) breaks every group around it. The
printer ensures that nothing follows a line comment on its line.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from mfidl.fmt.trivia import Comment

LIMIT = 110
INDENT = 2
_GAP = 2  # spaces between code and a line comment behind it


@dataclass(slots=True)
class Text:
    """`deeper`: continues something, so that it is indented if a comment moves it to a new line."""

    text: str
    deeper: bool = False


@dataclass(slots=True)
class Note:
    """A comment in its place."""

    comment: Comment
    deeper: bool = False
    space: bool = True


@dataclass(slots=True)
class Line:
    """A place to break: `flat` is the text there otherwise. `hard` always breaks; `blank`: with an empty
    line.
    """

    flat: str = " "
    hard: bool = False
    blank: bool = False


@dataclass(slots=True)
class IfBroken:
    """Text that is there only when the group around it is broken: the comma behind the last element."""

    text: str


@dataclass(slots=True)
class Join:
    parts: "list[Doc]"
    forced: bool = field(init=False)

    def __post_init__(self) -> None:
        self.forced = any(_is_forced(each) for each in self.parts)


@dataclass(slots=True)
class Group:
    body: "Doc"
    forced: bool = field(init=False)

    def __post_init__(self) -> None:
        self.forced = _is_forced(self.body)


@dataclass(slots=True)
class Indent:
    body: "Doc"
    forced: bool = field(init=False)

    def __post_init__(self) -> None:
        self.forced = _is_forced(self.body)


Doc = Text | Note | Line | IfBroken | Join | Group | Indent
_Command = tuple[int, bool, Doc]  # indentation, broken, what


def _is_forced(doc: Doc) -> bool:
    match doc:
        case Join(forced=forced) | Group(forced=forced) | Indent(forced=forced):
            return forced
        case Note(comment=comment):
            return comment.kind != "block" or comment.forces_break
        case Line(hard=hard):
            return hard
        case _:
            return False


class _Row:
    """A growing line, in pieces, so that the cost of a word does not depend on the line's length."""

    __slots__ = ("_pieces", "comment", "indent", "width")

    def __init__(self, indent: int, code: str = "") -> None:
        self.indent = indent
        self.comment = ""
        self.width = 0  # of the code
        self._pieces: list[str] = []
        self.add(code)

    def add(self, text: str) -> None:
        if text:
            self._pieces.append(text)
            self.width += len(text)

    def last(self) -> str:
        return self._pieces[-1][-1]

    def code(self) -> str:
        return "".join(self._pieces).rstrip(" ")

    def close(self, comment: str) -> None:
        """Ends the line with a comment, after which nothing may follow."""
        self._pieces = [self.code()]
        self.width = len(self._pieces[0])
        self.comment = comment


class Printer:
    """One per text."""

    def __init__(self) -> None:
        self._rows: list[_Row] = [_Row(0)]
        self._must_break = False

    def print(self, doc: Doc) -> list[str]:
        """The lines, without their ends."""
        stack: list[_Command] = [(0, True, doc)]
        while stack:
            indent, broken, current = stack.pop()
            match current:
                case Text():
                    self._text(current, indent)
                case Note():
                    self._note(current, indent)
                case Line():
                    if broken or current.hard:
                        self._new_line(current.blank)
                    elif not self._must_break:
                        self._write(current.flat, indent)
                case IfBroken():
                    if broken:
                        self._write(current.text, indent)
                case Join():
                    stack.extend((indent, broken, each) for each in reversed(current.parts))
                case Indent():
                    stack.append((indent + INDENT, broken, current.body))
                case Group():
                    fits = not current.forced and self._fits(indent, current.body, stack)
                    stack.append((indent, not fits, current.body))
        return _lines(self._rows)

    # Writing ------------------------------------------------------------------------------------------------

    def _write(self, text: str, indent: int) -> None:
        if self._must_break:
            self._new_line()
        row = self._rows[-1]
        if not row.width:
            row.indent = indent
            text = text.lstrip(" ")
        row.add(text)

    def _text(self, text: Text, indent: int) -> None:
        self._write(text.text, indent + (INDENT if text.deeper and self._begins_line() else 0))

    def _begins_line(self) -> bool:
        return self._must_break or not self._rows[-1].width

    def _new_line(self, blank: bool = False) -> None:
        self._must_break = False
        if self._rows[-1].width:
            self._rows.append(_Row(0))
        if blank and len(self._rows) > 1 and self._rows[-2].width:
            self._rows.insert(-1, _Row(0))

    def _note(self, note: Note, indent: int) -> None:
        comment = note.comment
        if comment.breaks > 0 or self._must_break:
            self._new_line()
        if self._begins_line():
            indent += INDENT if note.deeper else 0
        row = self._rows[-1]
        if comment.kind == "line" and row.width:
            row.close(comment.lines[0])
        else:
            glued = not row.width or row.last() in " ([<"
            space = " " if note.space and not glued else ""
            self._write(space + comment.lines[0], indent)
            for line in comment.lines[1:]:
                star = line.startswith("\0")
                self._rows.append(_Row(self._rows[-1].indent if star else 0, line.removeprefix("\0")))
                if star:
                    self._rows[-1].indent = row.indent
        self._must_break = comment.kind != "block" or comment.ends_line

    # Fitting ------------------------------------------------------------------------------------------------

    def _fits(self, indent: int, doc: Doc, rest: list[_Command]) -> bool:
        """Whether `doc` without breaks fits on the line, and what follows up to the next possible break."""
        row = self._rows[-1]
        room = LIMIT - (indent if self._begins_line() else row.indent + row.width)
        pending: list[tuple[bool, Doc]] = [(False, doc)]
        behind = len(rest)
        while room >= 0:
            if not pending:
                if behind == 0:
                    return True
                behind -= 1
                pending.append((rest[behind][1], rest[behind][2]))
            broken, current = pending.pop()
            match current:
                case Text():
                    room -= len(current.text)
                case Note(comment=comment):
                    room, ends = _behind(comment, room)
                    if ends:
                        return room >= 0
                case Line():
                    if broken or current.hard:
                        return True
                    room -= len(current.flat)
                case IfBroken():
                    room -= len(current.text) if broken else 0
                case Join():
                    pending.extend((broken, each) for each in reversed(current.parts))
                case Group() | Indent():
                    pending.append((broken, current.body))
        return False


def _behind(comment: Comment, room: int) -> tuple[int, bool]:
    """What is left of the line behind a comment, and whether it ends there. Line comments may stick out."""
    if comment.kind != "block" or comment.breaks:
        return 0, True
    return room - len(comment.lines[0]) - 1, comment.forces_break


def _lines(rows: Iterable[_Row]) -> list[str]:
    """Rows to lines; the comments behind code in consecutive rows stand in one column, if there is room."""
    lines: list[str] = []
    run: list[_Row] = []
    for row in rows:
        if run and not (row.comment and row.indent == run[0].indent):
            lines += _aligned(run)
            run = []
        if row.comment:
            run.append(row)
        else:
            lines.append(" " * row.indent + row.code() if row.width else "")
    lines += _aligned(run)
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _aligned(run: list[_Row]) -> list[str]:
    column = max((row.indent + row.width for row in run), default=0) + _GAP
    if any(column + len(row.comment) > LIMIT for row in run):
        return [" " * row.indent + row.code() + " " * _GAP + row.comment for row in run]
    return [(" " * row.indent + row.code()).ljust(column) + row.comment for row in run]
