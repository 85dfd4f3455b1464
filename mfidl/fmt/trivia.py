"""Tokens with what comes before them: comments, and whether a line break or a blank line was there.

What the layout may look at is normal already: comments that stood before a `,`, a `;` or the `{` of a body
stand behind it, commas and semicolons that say nothing are gone, and doc comments are on lines of their own.
A doc comment never moves past a token, because it belongs to the token behind it.
"""

import re
from dataclasses import dataclass, field

from mfidl.fmt.outline import outline
from mfidl.source import SourceFile
from mfidl.syntax import token_types as tt
from mfidl.syntax.tokens import Token

_PIECE = re.compile(
    r"(?P<doc>///(?!/)[^\r\n]*)|(?P<line>//[^\r\n]*)|(?P<block>/\*(?s:.*?)\*/)|(?P<newline>\r\n?|\n)|(?s:.)"
)
_BREAK = re.compile(r"\r\n?|\n")
_AFTER_NO_COMMA = frozenset((tt.COMMA, tt.RPAREN, tt.RBRACKET, tt.CLOSE))


@dataclass(slots=True)
class Comment:
    """`breaks`: line breaks before it, 0 to 2 (a blank line). `ends_line`: the next thing is on another
    line.
    """

    kind: str  # doc, line, block
    lines: list[str]
    breaks: int
    ends_line: bool = False

    @property
    def is_doc(self) -> bool:
        return self.kind == "doc"

    @property
    def forces_break(self) -> bool:
        return self.ends_line or self.breaks > 0 or len(self.lines) > 1


@dataclass(slots=True)
class Tok:
    """A token. `breaks` counts the line breaks behind its last comment, or behind the token before it."""

    type: int
    text: str
    comments: list[Comment] = field(default_factory=list)
    breaks: int = 0
    start: int = 0
    end: int = 0

    @property
    def broken_before(self) -> bool:
        return self.breaks > 0 or any(each.forces_break for each in self.comments)


def _comment(kind: str, text: str, breaks: int) -> Comment:
    if kind == "doc":
        body = text[3:].removeprefix(" ").rstrip()
        return Comment(kind, [f"/// {body}" if body else "///"], max(1, breaks))
    if kind == "line":
        return Comment(kind, [text.rstrip()], breaks)
    return Comment(kind, _block_lines(text), breaks)


def _block_lines(text: str) -> list[str]:
    """Lines that all begin with a star are aligned under the first; the inside of others is the author's."""
    first, *rest = [line.rstrip() for line in _BREAK.split(text)]
    if rest and all(line.lstrip().startswith("*") for line in rest):
        return [first, *("\0 " + line.lstrip() for line in rest)]  # \0: the indentation of the comment
    return [first, *rest]


def read(source: SourceFile, tokens: list[Token]) -> list[Tok]:
    """The tokens of a file that parses, the end of the file last, in normal order."""
    made: list[Tok] = []
    at = 0
    for token in tokens:
        tok = Tok(token.type, token.text, start=token.start, end=token.end)
        _read_gap(source.text[at : token.start], tok)
        at = token.end
        made.append(tok)
    made[-1].breaks = max(1, made[-1].breaks)
    _settle(made[-1])
    return _normal(made)


def _read_gap(gap: str, tok: Tok) -> None:
    breaks = 0
    for piece in _PIECE.finditer(gap):
        kind = piece.lastgroup
        if kind == "newline":
            breaks = min(2, breaks + 1)
        elif kind is not None:
            tok.comments.append(_comment(kind, piece.group(), breaks))
            breaks = 0
    tok.breaks = breaks
    _settle(tok)


def _settle(tok: Tok) -> None:
    """Make the breaks before and behind each comment agree."""
    for index, comment in enumerate(tok.comments):
        behind = tok.comments[index + 1] if index + 1 < len(tok.comments) else tok
        if comment.kind != "block":
            behind.breaks = max(1, behind.breaks)
        if comment.is_doc and behind is tok:
            tok.breaks = 1
        comment.ends_line = behind.breaks > 0


def _normal(tokens: list[Tok]) -> list[Tok]:
    made: list[Tok] = []
    shape = outline(tokens)
    for index, tok in enumerate(tokens):
        has_doc = any(each.is_doc for each in tok.comments)
        needless = tok.type == tt.COMMA and tokens[index + 1].type in _AFTER_NO_COMMA
        if needless or (index in shape.strays and not has_doc):
            _give(tok, tokens[index + 1])
            continue
        if tok.type in (tt.COMMA, tt.SEMICOLON) or index in shape.bodies:
            if not tok.comments:
                tok.breaks = 0 if index not in shape.strays else tok.breaks
            elif tok.broken_before and not has_doc:
                _give(tok, tokens[index + 1])
        made.append(tok)
    return made


def _give(tok: Tok, to: Tok) -> None:
    """Put what comes before `tok` before the token behind it."""
    first = to.comments[0] if to.comments else to
    first.breaks = max(first.breaks, tok.breaks)
    to.comments[:0] = tok.comments
    tok.comments, tok.breaks = [], 0
    _settle(to)
