"""F6. Words of foreign files that we read ourselves, with their places and the comments before them."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from mfidl.source import SourceFile, Span

DEPTH_LIMIT = 64  # of types, values and scopes
_GAP = re.compile(r"\s+")


class Refused(Exception):  # noqa: N818
    """The file does not have the expected syntax: one sentence, and the place."""

    def __init__(self, span: Span, message: str) -> None:
        super().__init__(message)
        self.span = span
        self.message = message


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is the group of the language's expression that matched, or `end` at the end of the file."""

    kind: str
    text: str
    span: Span
    doc: str = ""


def scan(source: SourceFile, words: re.Pattern[str]) -> list[Token]:
    """The words of a file. Groups of the expression: `doc` and `comment` are comments, others are words."""
    tokens: list[Token] = []
    at, doc, text = 0, "", source.text
    while True:
        gap = _GAP.match(text, at)
        at = gap.end() if gap else at
        if at == len(text):
            tokens.append(Token("end", "the end of the file", Span(source, at, at)))
            return tokens
        found = words.match(text, at)
        if found is None or found.end() == at:
            raise Refused(Span(source, at, at + 1), f"stray character `{text[at]}`")
        kind = found.lastgroup or ""
        if kind == "doc":
            doc = f"{doc}\n{_plain(found[0])}" if doc and found[0].startswith("///") else _plain(found[0])
        elif kind != "comment":
            tokens.append(Token(kind, found[0], Span(source, at, found.end()), doc))
            doc = ""
        at = found.end()


def _plain(comment: str) -> str:
    """A comment without what marks it as one."""
    if comment.startswith("///"):
        return comment[3:]
    first, *others = comment[3:-2].split("\n")
    rest = textwrap.dedent("\n".join(re.sub(r"^\s*\*+ ?", "", line) for line in others))
    return f"{first.strip()}\n{rest}"


class Cursor:
    """Goes through the words of a file."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    @property
    def next(self) -> Token:
        return self._tokens[self._at]

    def look(self, ahead: int) -> Token:
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def take(self) -> Token:
        token = self._tokens[self._at]
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def take_if(self, *texts: str) -> Token | None:
        return self.take() if self.next.kind != "text" and self.next.text in texts else None

    def expect(self, text: str) -> Token:
        token = self.take_if(text)
        if token is None:
            raise self.fail(f"`{text}`")
        return token

    def name(self, what: str = "a name") -> Token:
        return self._of_kind("name", what)

    def text(self) -> Token:
        return self._of_kind("text", "a text in quotes")

    def whole(self) -> int:
        """A whole number, maybe with a sign."""
        text = self._of_kind("int", "a whole number").text.lower()
        digits = text.lstrip("+-")
        base = 16 if digits.startswith("0x") else 10
        return -int(digits, base) if text.startswith("-") else int(digits, base)

    def _of_kind(self, kind: str, what: str) -> Token:
        if self.next.kind != kind:
            raise self.fail(what)
        return self.take()

    def deeper(self) -> None:
        """To be called at the start of what may be nested in itself; `shallower` at its end."""
        self._depth += 1
        if self._depth > DEPTH_LIMIT:
            raise Refused(self.next.span, f"nested more than {DEPTH_LIMIT} levels deep")

    def shallower(self) -> None:
        self._depth -= 1

    def fail(self, expected: str) -> Refused:
        """To be raised: what should stand here."""
        found = self.next.text if self.next.kind == "end" else f"`{self.next.text}`"
        return Refused(self.next.span, f"expected {expected}, found {found}")
