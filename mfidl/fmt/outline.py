"""Finds where the bodies of declarations begin, and which semicolons end nothing, in one walk over the
brackets."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from mfidl.syntax import token_types as tt

_OPENING = frozenset((tt.LPAREN, tt.LBRACKET, tt.LESS, tt.OPEN_BRACE))
_CLOSING = frozenset((tt.RPAREN, tt.RBRACKET, tt.GREATER, tt.CLOSE))
_WITH_MEMBERS = frozenset((tt.ANNOTATION, tt.ERROR, tt.SERVICE, tt.STRUCT, tt.UNION))
_WITH_BODY = _WITH_MEMBERS | {tt.ENUM, tt.FLAGS, tt.OPEN}


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
        keyword = tokens[at].type
        at = _end(tokens, at, has_body=keyword in _WITH_BODY)
        if tokens[at].type == tt.SEMICOLON:
            at += 1
            continue
        found.bodies.add(at)
        if keyword in _WITH_MEMBERS:
            _members(tokens, at + 1, found)
        at = behind_bracket(tokens, at)
    return found


def _members(tokens: Sequence[Typed], at: int, found: Outline) -> None:
    """The strays of a body whose first token is at `at`."""
    while tokens[at].type != tt.CLOSE:
        if tokens[at].type == tt.SEMICOLON:
            found.strays.add(at)
            at += 1
        else:
            at = _end(tokens, at, has_body=False) + 1


def _end(tokens: Sequence[Typed], at: int, *, has_body: bool) -> int:
    """The index of the semicolon that ends what begins at `at`, or of the brace before its body."""
    while tokens[at].type != tt.SEMICOLON and not (has_body and tokens[at].type == tt.OPEN_BRACE):
        at = behind_bracket(tokens, at) if tokens[at].type in _OPENING else at + 1
    return at
