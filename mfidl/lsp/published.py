"""The diagnostics that the editor shows of one document, while it is being typed.

A line that is being typed is hardly ever valid, and may make nonsense of what follows it. So as long as its
words cannot be read, only its own diagnostics change, and those of other lines stay as they were, moved with
the text. Rules of lint look at valid schemas only: what they found stays while the text is not valid. When
nothing was typed for a while, the server shows what the compiler says of the text as it is.
"""

from attrs import evolve
from lsprotocol import types

_SYNTAX = "E01"


class Published:
    """Of one open document."""

    def __init__(self) -> None:
        self.shown: list[types.Diagnostic] = []
        self.version: int | None = None  # that was published last

    def moved(self, change: types.TextDocumentContentChangeEvent) -> None:
        """To be called for each change of the text."""
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            return
        text = change.text.replace("\r\n", "\n").replace("\r", "\n")
        last = change.range.end.line
        lines = text.count("\n") - (last - change.range.start.line)
        if lines:
            self.shown = [_moved(each, last, lines) for each in self.shown]

    def merged(
        self, found: list[types.Diagnostic], edited: int | None, is_valid: bool
    ) -> list[types.Diagnostic]:
        """What to show of an analysis. `edited`: the line that is being typed; None: nothing is."""
        if edited is None or is_valid:
            self.shown = found
            return found
        own = [each for each in found if _is_on(each, edited)]
        others = [each for each in self.shown if not _is_on(each, edited)]
        known = {_where(each) for each in others}
        if any(str(each.code).startswith(_SYNTAX) and _where(each) not in known for each in found):
            self.shown = [*own, *others]  # the error may be reported at a word of a later line
        else:
            self.shown = [*found, *(each for each in others if str(each.code).startswith("L"))]
        return self.shown


def _where(diagnostic: types.Diagnostic) -> tuple[str, int]:
    return str(diagnostic.code), diagnostic.range.start.line


def _is_on(diagnostic: types.Diagnostic, line: int) -> bool:
    return diagnostic.range.start.line <= line <= diagnostic.range.end.line


def _moved(diagnostic: types.Diagnostic, behind: int, lines: int) -> types.Diagnostic:
    start, end = diagnostic.range.start, diagnostic.range.end
    if start.line <= behind:
        return diagnostic
    moved = types.Range(
        types.Position(start.line + lines, start.character), types.Position(end.line + lines, end.character)
    )
    return evolve(diagnostic, range=moved)
