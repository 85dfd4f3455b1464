"""Where the bodies of declarations begin, and which semicolons end nothing: one walk over the brackets."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from mfidl.syntax import token_types as tt

_OPENING = frozenset((tt.LPAREN, tt.LBRACKET, tt.LESS, tt.OPEN_BRACE))
_CLOSING = frozenset((tt.RPAREN, tt.RBRACKET, tt.GREATER, tt.CLOSE))
_WITH_BODY = frozenset((tt.ENUM, tt.ERROR, tt.FLAGS, tt.OPEN, tt.SERVICE, tt.STRUCT, tt.UNION))


class Typed(Protocol):
    @property
    def type(self) -> int: ...


@dataclass(slots=True)
class Outline:
    """Indices of tokens. `strays` are semicolons that end nothing."""

    bodies: set[int] = field(default_factory=set)
    strays: set[int] = field(default_factory=set)


def behind_annotations(tokens: Sequence[Typed], at: int) -> int:
    """The index of what follows the annotations that begin at `at`."""
    while tokens[at].type == tt.AT:
        at += 2
        while tokens[at].type == tt.DOT:
            at += 2
        if tokens[at].type == tt.LPAREN:
            at = behind_bracket(tokens, at)
    return at


def behind_bracket(tokens: Sequence[Typed], at: int) -> int:
    """The index behind the bracket that closes the one at `at`."""
    depth = 0
    while True:
        depth += (tokens[at].type in _OPENING) - (tokens[at].type in _CLOSING)
        at += 1
        if depth == 0:
            return at


def outline(tokens: Sequence[Typed]) -> Outline:
    """Of a file that parses, with its end-of-file token."""
    found = Outline()
    at = 0
    while tokens[at].type != tt.EOF:
        if tokens[at].type == tt.SEMICOLON:
            found.strays.add(at)
            at += 1
            continue
        at = behind_annotations(tokens, at)
        has_body = tokens[at].type in _WITH_BODY
        while tokens[at].type != tt.SEMICOLON and not (has_body and tokens[at].type == tt.OPEN_BRACE):
            at = behind_bracket(tokens, at) if tokens[at].type in _OPENING else at + 1
        if tokens[at].type == tt.OPEN_BRACE:
            found.bodies.add(at)
            at = behind_bracket(tokens, at)
        else:
            at += 1
    return found
