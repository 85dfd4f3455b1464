"""Finds where the bodies of declarations begin, and which semicolons end nothing, in one walk over the
brackets."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from mfidl.syntax import token_types as tt

_OPENING = frozenset((tt.LPAREN, tt.LBRACKET, tt.LESS, tt.OPEN_BRACE))
_CLOSING = frozenset((tt.RPAREN, tt.RBRACKET, tt.GREATER, tt.CLOSE))
_WITH_MEMBERS = frozenset((tt.ANNOTATION, tt.ERROR, tt.SERVICE, tt.STRUCT, tt.UNION))
_INNER = frozenset((tt.ERROR, tt.STRUCT, tt.UNION, tt.ENUM, tt.FLAGS))
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


def declares_type(tokens: Sequence[Typed], at: int) -> bool:
    """Whether a type with a body begins at `at`, among the members of another declaration: no field or method
    looks like `struct Name {` or `open enum Name: u8 {`.
    """
    if tokens[at].type == tt.OPEN and tokens[at + 1].type == tt.ENUM:
        at += 1
    if tokens[at].type not in _INNER or at + 2 >= len(tokens):
        return False
    following = tokens[at + 2].type
    return following == tt.OPEN_BRACE or (following == tt.COLON and tokens[at].type in (tt.ENUM, tt.FLAGS))


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
        at = _declaration(tokens, at, found, has_body=tokens[at].type in _WITH_BODY)
    return found


def _declaration(tokens: Sequence[Typed], at: int, found: Outline, *, has_body: bool) -> int:
    """The index behind the declaration or member at `at`."""
    keyword = tokens[at].type
    at = _end(tokens, at, has_body=has_body)
    if tokens[at].type == tt.SEMICOLON:
        return at + 1
    found.bodies.add(at)
    if keyword in _WITH_MEMBERS:
        _members(tokens, at + 1, found)
    return behind_bracket(tokens, at)


def _members(tokens: Sequence[Typed], at: int, found: Outline) -> None:
    """The bodies and strays of a body whose first token is at `at`."""
    while tokens[at].type != tt.CLOSE:
        if tokens[at].type == tt.SEMICOLON:
            found.strays.add(at)
            at += 1
        else:
            at = behind_annotations(tokens, at)
            at = _declaration(tokens, at, found, has_body=declares_type(tokens, at))


def _end(tokens: Sequence[Typed], at: int, *, has_body: bool) -> int:
    """The index of the semicolon that ends what begins at `at`, or of the brace before its body."""
    while tokens[at].type != tt.SEMICOLON and not (has_body and tokens[at].type == tt.OPEN_BRACE):
        at = behind_bracket(tokens, at) if tokens[at].type in _OPENING else at + 1
    return at
