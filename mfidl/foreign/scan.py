"""F6. From the text of a foreign file to its words, and from them to the contexts of its grammar.

`scan` runs the lexer that ANTLR made of a grammar, `Refusing` is the base of the parsers that it made: they
stop at the first mistake, with its place and what was expected there. What the words mean is not known here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from antlr4 import InputStream
from antlr4.Token import Token as Antlr

from mfidl.source import SourceFile, Span
from mfidl.syntax.tokens import Token, TokenStream

DEPTH_LIMIT = 64  # of brackets, whatever they hold: types, values, scopes
_OPENING = frozenset("<([{")
_CLOSING = frozenset(">)]}")
_ALTERNATIVES_SHOWN = 3


class Refused(Exception):  # noqa: N818
    """The file does not have the expected syntax: one sentence, and the place."""

    def __init__(self, span: Span, message: str) -> None:
        super().__init__(message)
        self.span = span
        self.message = message


class Unwritable(Exception):  # noqa: N818
    """The file declares something that a schema cannot express: the place, and the reason in a few words. The
    declaration or member that contains it is left out.
    """

    def __init__(self, span: Span, reason: str) -> None:
        super().__init__(reason)
        self.span = span
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Name:
    text: str
    span: Span


def check_unique(what: str, names: Iterable[Name]) -> None:
    """Refuses the second of two names that are the same."""
    seen: set[str] = set()
    for each in names:
        if each.text in seen:
            raise Refused(each.span, f"{what} has two of the name `{each.text}`")
        seen.add(each.text)


class Word(Token):
    """A word of a foreign file, or a comment. `doc` is what the comments before it say, `behind` what
    those behind it say, if they do not belong to the next word; `index` is its place among the words that
    the parser reads.
    """

    __slots__ = ("behind", "index", "span")

    def __init__(self, type: int, text: str, span: Span) -> None:
        super().__init__(type, text, span.start, span.end)
        self.span = span
        self.behind = ""
        self.index = 0


def scan(source: SourceFile, lexer_class: Any) -> list[Word]:
    """All words and comments of a file, the end of the file last. Never fails: what is no word is one of
    type BAD.
    """
    text = source.text
    lexer = lexer_class(InputStream(text))
    lexer.removeErrorListeners()
    space = lexer_class.SPACE
    made: list[Word] = []
    while True:
        token = lexer.nextToken()
        if token.type == Antlr.EOF:
            made.append(Word(token.type, "the end of the file", Span(source, len(text), len(text))))
            return made
        if token.type != space:
            start, end = token.start, token.stop + 1
            made.append(Word(token.type, text[start:end], Span(source, start, end)))


def check_depth(words: Sequence[Word]) -> None:
    """Refuses brackets within brackets beyond the limit, before anything recurses."""
    depth = 0
    for word in words:
        if word.text in _OPENING:
            depth += 1
            if depth > DEPTH_LIMIT:
                raise Refused(word.span, f"nested more than {DEPTH_LIMIT} levels deep")
        elif word.text in _CLOSING:
            depth = max(0, depth - 1)


class Refusing:
    """The first base of a generated parser, made and called by the builder of a tree. `wanted` has the
    phrases that name rules and tokens in messages.
    """

    wanted: ClassVar[Mapping[str, str]] = {}

    def __init__(self, words: list[Word]) -> None:
        check_depth(words)
        self.words = words
        for index, word in enumerate(words):
            word.index = index
        self._stream = TokenStream(list(words))
        super().__init__(self._stream)  # type: ignore[call-arg]
        self.buildParseTrees = False
        self._errHandler = _Strategy()

    def match(self, ttype: int) -> Token:
        token = self._stream.tokens[self._stream.index]
        if token.type != ttype:
            raise refusal(self, ttype)
        if ttype != Antlr.EOF:
            self._stream.index += 1
        return token

    def consume(self) -> Token:
        token = self._stream.tokens[self._stream.index]
        self._stream.consume()
        return token


class _Strategy:
    """What the generated code calls at a mistake. A parser that refuses never continues."""

    def reset(self, _parser: Any) -> None:
        """Does nothing, since the parser is used once."""

    def reportMatch(self, _parser: Any) -> None:
        """Does nothing, since nothing is counted."""

    def sync(self, _parser: Any) -> None:
        """Does nothing, since nothing is repaired."""

    def recoverInline(self, parser: Any) -> Token:
        raise refusal(parser)

    def reportError(self, parser: Any, _error: Exception) -> None:
        raise refusal(parser)


def refusal(parser: Any, ttype: int | None = None) -> Refused:
    """The mistake at the next word of a parser, which wants a token of this type, if that is known."""
    word = parser._input.LT(1)
    name = parser.symbolicNames[word.type] if 0 < word.type < len(parser.symbolicNames) else ""
    bad = {
        "BAD": f"stray character `{word.text}`",
        "HASH": f"stray character `{word.text}`",
        "BAD_STRING": "a text in quotes does not end on its line",
        "OPEN_COMMENT": "a comment does not end",
    }.get(name)
    if bad is not None:
        return Refused(word.span, bad)
    found = word.text if word.type == Antlr.EOF else f"`{word.text}`"
    return Refused(word.span, f"expected {_expected(parser, ttype)}, found {found}")


def _expected(parser: Any, ttype: int | None) -> str:
    rule = parser.wanted.get(parser.ruleNames[parser._ctx.getRuleIndex()])
    if rule is not None and (ttype is None or ttype == Antlr.EOF):
        return str(rule)
    types = list(parser.getExpectedTokens())
    if ttype is not None and not 0 < len(types) <= _ALTERNATIVES_SHOWN:
        types = [ttype]
    names = [_named(parser, each) for each in types[:_ALTERNATIVES_SHOWN]]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _named(parser: Any, ttype: int) -> str:
    if ttype == Antlr.EOF:
        return "the end of the file"
    literal = parser.literalNames[ttype] if ttype < len(parser.literalNames) else "<INVALID>"
    symbolic = parser.symbolicNames[ttype]
    plain = literal[1:-1] if literal != "<INVALID>" else symbolic
    return str(parser.wanted.get(symbolic, f"`{plain}`"))
