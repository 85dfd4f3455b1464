"""Reads the part of ANTLR's notation that grammar/*.g4 use, without labels and commands.

rules = parser_rules(text)     name -> expression of one parser rule
words = lexer_literals(text)   token name -> the text of a token that is always the same: ARROW -> `->`
"""

import re
from dataclasses import dataclass
from pathlib import Path

GRAMMAR = Path(__file__).resolve().parents[2] / "grammar"


@dataclass(frozen=True, slots=True)
class Ref:
    """A rule (lower case) or token (upper case)."""

    name: str


@dataclass(frozen=True, slots=True)
class Seq:
    parts: tuple["Expr", ...]


@dataclass(frozen=True, slots=True)
class Alt:
    choices: tuple["Expr", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`mark` is `?`, `*` or `+`."""

    body: "Expr"
    mark: str


Expr = Ref | Seq | Alt | Repeat

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_RULE = re.compile(r"^([a-z]\w*)\s*:(.*?);", re.MULTILINE | re.DOTALL)
_LITERAL = re.compile(r"^([A-Z_]+)\s*:\s*'((?:[^'\\]|\\.)+)'\s*;", re.MULTILINE)
_PART = re.compile(r"\s*(?:\w+\+?=(?=[\w(]))?([A-Za-z]\w*|[()|?*+])")


def parser_rules(text: str) -> dict[str, Expr]:
    """In the order of the file."""
    body = _COMMENT.sub("", text)
    return {name: _Reader(rule).alternatives() for name, rule in _RULE.findall(body) if name != "options"}


def lexer_literals(text: str) -> dict[str, str]:
    return dict(_LITERAL.findall(text))


def grammar_rules() -> dict[str, Expr]:
    return parser_rules((GRAMMAR / "MfidlParser.g4").read_text())


def grammar_literals() -> dict[str, str]:
    return lexer_literals((GRAMMAR / "MfidlLexer.g4").read_text())


class _Reader:
    def __init__(self, rule: str) -> None:
        self._parts = _PART.findall(rule)
        if "".join(self._parts) != re.sub(r"\w+\+?=(?=[\w(])|\s", "", rule):
            raise ValueError(f"a rule that this reader does not understand: {rule}")
        self._at = 0

    def _next(self) -> str:
        return self._parts[self._at] if self._at < len(self._parts) else ""

    def alternatives(self) -> Expr:
        choices = [self._sequence()]
        while self._next() == "|":
            self._at += 1
            choices.append(self._sequence())
        return choices[0] if len(choices) == 1 else Alt(tuple(choices))

    def _sequence(self) -> Expr:
        parts: list[Expr] = []
        while self._next() not in ("", "|", ")"):
            part = self._one()
            while self._next() in ("?", "*", "+") and self._next():
                part = Repeat(part, self._next())
                self._at += 1
            parts.append(part)
        return parts[0] if len(parts) == 1 else Seq(tuple(parts))

    def _one(self) -> Expr:
        part = self._next()
        self._at += 1
        if part != "(":
            return Ref(part)
        inner = self.alternatives()
        self._at += 1
        return inner
