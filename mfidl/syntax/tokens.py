"""F2. Text to tokens with one compiled regular expression: the token source of the ANTLR parser.

The language is that of grammar/MfidlLexer.g4 (a test compares the two token by token); the generated lexer
would cost three times the rest of the parse. Bad text is reported here and either dropped or passed on as a
`broken` token, around which the parser reports nothing. Nesting is limited here, before anything recurses.
"""

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from mfidl.diagnostics import Diagnostics
from mfidl.source import SourceFile, Span
from mfidl.syntax import token_types as tt
from mfidl.syntax.numerals import number_advice, shortened

if TYPE_CHECKING:
    from collections.abc import Callable

DEPTH_LIMIT = 64
# Words and the spaces between them: limits the time and memory that a file may cost, whatever is in it.
WORDS_LIMIT = 1_000_000
SUPPLY_LIMIT = 1000

_PATTERN = re.compile(
    r"""
      (?P<doc>///(?!/)[^\r\n]*)
    | (?P<skip>[ \t\r\n\f\ufeff]+ | //[^\r\n]* | /\*(?s:.*?)\*/)
    | (?P<word>[A-Za-z_][A-Za-z_0-9]*)
    | (?P<punctuation>-> | \.\. | [@=}:,.>\[<(\-{?\])]|;)
    | (?P<number>[0-9][0-9_]*(?:\.[0-9][0-9_]*)?
        (?:[eE][+-]?[0-9]+(?![A-Za-z_0-9]) | (?:[eE][+-][0-9]+)?[A-Za-z_][A-Za-z_0-9]*)?)
    | (?P<string>"(?:[^"\\\r\n]++|\\[^\r\n])*+"?)
    | (?P<open_comment>/\*(?s:.*))
    | (?P<bad>(?s:.))
    """,
    re.VERBOSE,
)
_NUMBER = re.compile(
    r"""
      (?P<hex>0[xX][0-9a-fA-F][0-9a-fA-F_]*)
    | (?P<float>[0-9][0-9_]*\.[0-9][0-9_]*(?:[eE][+-]?[0-9]+)? | [0-9][0-9_]*[eE][+-]?[0-9]+)
    | (?P<duration>[0-9][0-9_]*(?:ns|us|ms|s|min|h|d))
    | (?P<integer>[0-9][0-9_]*)
    """,
    re.VERBOSE,
)
_NUMBER_TYPES = {"hex": tt.HEX, "float": tt.FLOAT, "duration": tt.DURATION, "integer": tt.INTEGER}
_OPENING = frozenset("<([{")
_CLOSING = frozenset(">)]}")


class Token:
    """What the ANTLR runtime and the tree builder need from a token. `end` is exclusive; `doc` is its doc
    comment."""

    __slots__ = ("broken", "doc", "end", "start", "text", "type")

    channel = 0

    def __init__(
        self, type: int, text: str, start: int, end: int, doc: str = "", broken: bool = False
    ) -> None:
        self.type = type
        self.text = text
        self.start = start
        self.end = end
        self.doc = doc
        self.broken = broken


class TokenStream:
    """A list of tokens with the interface that the ANTLR runtime calls. Ends with one end-of-file token."""

    __slots__ = ("index", "supplied", "tokens")

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.index = 0
        self.supplied = 0

    def LT(self, ahead: int) -> Token:
        if ahead == 1:
            return self.tokens[self.index]
        if ahead > 0:
            at = self.index + ahead - 1
            return self.tokens[at] if at < len(self.tokens) else self.tokens[-1]
        at = self.index + ahead
        return self.tokens[at] if at >= 0 else self.tokens[0]

    def LA(self, ahead: int) -> int:
        return self.tokens[self.index].type if ahead == 1 else self.LT(ahead).type

    def consume(self) -> None:
        if self.index < len(self.tokens) - 1:
            self.index += 1

    def seek(self, index: int) -> None:
        self.index = index

    def supply(self, index: int, token: Token) -> None:
        """Inserts a missing token: at most a thousand times in a file, since each insertion moves all later
        tokens."""
        if self.supplied < SUPPLY_LIMIT:
            self.supplied += 1
            self.tokens.insert(index, token)

    def mark(self) -> int:
        return 0

    def release(self, marker: int) -> None:
        """Does nothing, since nothing is buffered."""


def _number(text: str) -> int:
    matched = _NUMBER.fullmatch(text)
    found: int = _NUMBER_TYPES[matched.lastgroup] if matched and matched.lastgroup else tt.BAD_NUMBER
    return found


@dataclass(slots=True)
class Scan:
    """The tokens of a text, and what is wrong with it: problems to report (code, start, end, values), and the
    places of single characters that mean nothing.
    """

    tokens: list[Token]
    problems: list[tuple[str, int, int, dict[str, Any]]]
    strays: list[int]
    is_cut: bool = False  # too long: none of it was kept

    def is_plain(self, source: SourceFile) -> bool:
        """Whether it is nothing but a schema, valid or not: no strays, no text around it, no two strings that
        may be the ends of one.
        """
        text = source.text
        around = "<<<<<<< " in text or "```" in text or "<!--" in text
        return not self.strays and len(self.problems) < 2 and not around

    def report(self, source: SourceFile, diagnostics: Diagnostics) -> None:
        """Reports the problems, without the strays."""
        for code, start, end, values in self.problems:
            diagnostics.error(code, Span(source, start, end), **values)


class _Lexer:
    """State of one scan. One per file."""

    def __init__(self, source: SourceFile) -> None:
        self._source = source
        self._tokens: list[Token] = []
        self._problems: list[tuple[str, int, int, dict[str, Any]]] = []
        self._strays: list[int] = []
        self._doc: list[str] = []
        self._depth = 0

    def scan(self) -> Scan:
        keywords, punctuation, special = tt.KEYWORDS, tt.PUNCTUATION, self._special()
        append = self._tokens.append
        matches = _PATTERN.finditer(self._source.text)
        for matched in islice(matches, WORDS_LIMIT):
            kind = matched.lastgroup
            if kind == "skip":
                continue
            text = matched.group()
            start, end = matched.span()
            if kind == "word":
                token = Token(keywords.get(text, tt.NAME), text, start, end)
            elif kind == "punctuation":
                token = Token(punctuation[text], text, start, end)
                if text in _OPENING or text in _CLOSING or text == ";":
                    self._nest(token)
            else:
                assert kind is not None
                made = special[kind](text, start, end)
                if made is None:
                    continue
                token = made
            if self._doc:
                token.doc = "\n".join(self._doc)
                self._doc.clear()
            append(token)
        end_of_text = len(self._source.text)
        beyond = next(matches, None)
        if beyond is not None:
            at = beyond.start()
            problem = ("E0008", at, at + 1, {"limit": WORDS_LIMIT})
            return Scan([Token(tt.EOF, "", end_of_text, end_of_text)], [problem], [], is_cut=True)
        append(Token(tt.EOF, "", end_of_text, end_of_text))
        return Scan(self._tokens, self._problems, self._strays)

    def _special(self) -> "dict[str, Callable[[str, int, int], Token | None]]":
        return {
            "doc": self._doc_line,
            "number": self._number,
            "string": self._string,
            "open_comment": self._open_comment,
            "bad": self._bad,
        }

    def _nest(self, token: Token) -> None:
        """Counts brackets. No bracket of a type or value spans a `;`, so open ones cannot add up."""
        if token.text == ";":
            self._depth = 0
        elif token.text in _CLOSING:
            self._depth = max(0, self._depth - 1)
        else:
            self._depth += 1
            if self._depth > DEPTH_LIMIT:
                token.broken = True
                if self._depth == DEPTH_LIMIT + 1:
                    self._error("E0108", token.start, token.end, limit=DEPTH_LIMIT)
                token.type = tt.BAD

    def _error(self, code: str, start: int, end: int, **values: Any) -> None:
        self._problems.append((code, start, end, values))

    def _doc_line(self, text: str, _start: int, _end: int) -> None:
        self._doc.append(text[3:].removeprefix(" ").rstrip())

    def _number(self, text: str, start: int, end: int) -> Token:
        token = Token(_number(text), text, start, end)
        if token.type == tt.BAD_NUMBER:
            self._error("E0106", start, end, help=number_advice(text), text=shortened(text))
            token.broken = True
        return token

    def _string(self, text: str, start: int, end: int) -> Token:
        if len(text) > 1 and text.endswith('"') and not _ends_in_escape(text):
            return Token(tt.STRING, text, start, end)
        self._error("E0105", start, start + 1)
        return Token(tt.BAD_STRING, text, start, end, broken=True)

    def _open_comment(self, _text: str, start: int, _end: int) -> None:
        self._error("E0109", start, start + 2)

    def _bad(self, _text: str, start: int, _end: int) -> None:
        self._strays.append(start)


def _ends_in_escape(text: str) -> bool:
    """Whether the closing quote of a string is itself escaped: an odd number of backslashes before it."""
    body = text[1:-1]
    return (len(body) - len(body.rstrip("\\"))) % 2 == 1


def scan(source: SourceFile) -> Scan:
    """All tokens of a file, the end-of-file token last. Never fails."""
    return _Lexer(source).scan()


def tokenize(source: SourceFile, diagnostics: Diagnostics) -> list[Token]:
    """Only the tokens."""
    scanned = scan(source)
    scanned.report(source, diagnostics)
    return scanned.tokens
