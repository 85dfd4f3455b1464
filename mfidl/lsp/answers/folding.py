"""What can be folded: bodies, lists over several lines, comments, and the imports together."""

import re
from collections.abc import Iterator

from lsprotocol import types

from mfidl.lsp.workspace import Snapshot
from mfidl.syntax import ast
from mfidl.syntax import token_types as tt
from mfidl.syntax.tokens import scan

_OPENING = {tt.OPEN_BRACE: tt.CLOSE, tt.LPAREN: tt.RPAREN, tt.LBRACKET: tt.RBRACKET}
_COMMENT = re.compile(r"[ \t]*//[^\r\n]*")
_BLOCK = re.compile(r"/\*(?s:.*?)\*/")


def folding(snapshot: Snapshot) -> list[types.FoldingRange]:
    if snapshot.file is None:
        return []
    made = [
        types.FoldingRange(first, last, kind=kind)
        for first, last, kind in (
            *_brackets(snapshot),
            *_comments(snapshot),
            *_imports(snapshot.file, snapshot),
        )
        if last > first
    ]
    return sorted(made, key=lambda each: (each.start_line, each.end_line))


_Fold = tuple[int, int, types.FoldingRangeKind | None]


def _brackets(snapshot: Snapshot) -> Iterator[_Fold]:
    """The line of the closing bracket stays visible."""
    assert snapshot.file is not None
    opened: list[tuple[int, int]] = []
    for token in scan(snapshot.file.source).tokens:
        if token.type in _OPENING:
            opened.append((_OPENING[token.type], token.start))
        elif opened and token.type in _OPENING.values():
            while opened and opened[-1][0] != token.type:
                opened.pop()
            if opened:
                _, start = opened.pop()
                yield snapshot.lines.line_of(start), snapshot.lines.line_of(token.start) - 1, None


def _comments(snapshot: Snapshot) -> Iterator[_Fold]:
    text, lines = snapshot.lines.text, snapshot.lines
    first: int | None = None
    for line in range(len(lines) + 1):
        start = lines.bounds(line)[0] if line < len(lines) else len(text)
        if line < len(lines) and _COMMENT.match(text, start):
            first = line if first is None else first
        elif first is not None:
            yield first, line - 1, types.FoldingRangeKind.Comment
            first = None
    for block in _BLOCK.finditer(text):
        yield lines.line_of(block.start()), lines.line_of(block.end()), types.FoldingRangeKind.Comment


def _imports(file: ast.File, snapshot: Snapshot) -> Iterator[_Fold]:
    spans = [each.span for each in file.declarations if isinstance(each, ast.ImportDecl)]
    if spans:
        first, last = snapshot.lines.line_of(spans[0].start), snapshot.lines.line_of(spans[-1].end)
        yield first, last, types.FoldingRangeKind.Imports
