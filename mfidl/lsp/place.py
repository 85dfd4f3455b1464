"""What may be written at a place of a text that is being typed: found from the words before it, without a
parse, since the text around it is hardly ever valid.

Reads only from the beginning of the declaration before the place: a line that begins with `}` ends one, in
any text whose closing braces are not indented. In other texts it reads from the beginning.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from mfidl.source import SourceFile
from mfidl.syntax import token_types as tt
from mfidl.syntax.tokens import Token, scan


class Expected(Enum):
    """What the place is for."""

    NOTHING = "nothing that could be offered: a comment, a new name"
    DECLARATION = "a declaration"
    MEMBER = "a field, an alternative, or a type within"
    NUMBERED = "a field, whose number was written"
    METHOD = "a method, or a type within"
    TYPE = "a type"
    VALUE = "a value"
    ANNOTATION = "the name of an annotation"
    ARGUMENT = "an argument of an annotation"
    IMPORT = "the path of a file"
    AGENT = "an agent"
    ERROR = "an error"
    SERVICE = "a service"
    AFTER_SERVICE = "`extends` or `per`"
    AFTER_TOPIC = "`per`"
    AFTER_PARAMETERS = "`->` or `throws`"


@dataclass(slots=True)
class Place:
    """`start`: where the word begins that is being typed; `qualifier`: the text before its last dot;
    `within`: the declarations around, the outermost first, with their keywords.
    """

    expected: Expected
    start: int
    word: str
    qualifier: str = ""
    within: list[tuple[str, str]] = field(default_factory=list)
    annotation: str = ""  # of ARGUMENT
    opening: int = 0  # of ARGUMENT: where its parenthesis is
    argument: int = 0  # of ARGUMENT: how many commas are before it

    @property
    def holder(self) -> str:
        """`Outer.Inner`, as scopes call it."""
        return ".".join(name for _, name in self.within)


_BODIES = {tt.STRUCT, tt.ERROR, tt.UNION, tt.ANNOTATION, tt.ENUM, tt.FLAGS, tt.SERVICE}
_OPENING = {tt.LPAREN, tt.LBRACKET, tt.LESS, tt.OPEN_BRACE}
_CLOSING = {tt.RPAREN, tt.RBRACKET, tt.GREATER, tt.CLOSE}
_NUMBERS = {tt.INTEGER, tt.HEX, tt.FLOAT, tt.BAD_NUMBER, tt.DURATION}
_WORDS = frozenset((*tt.KEYWORDS.values(), tt.NAME))


def place_at(text: str, offset: int) -> Place:
    begin = text.rfind("\n}", 0, offset) + 1
    source = SourceFile("", "", text[begin:offset])
    scanned = scan(source)
    tokens = scanned.tokens[:-1]
    nothing = Place(Expected.NOTHING, offset, "")
    if any(code == "E0109" for code, *_ in scanned.problems):
        return nothing
    last = tokens[-1] if tokens else None
    gap = source.text[last.end if last else 0 :]
    comment = gap.rfind("//")
    if comment >= 0 and "\n" not in gap[comment:] and "\r" not in gap[comment:]:
        return nothing
    if last is not None and last.type in (tt.BAD_STRING, tt.STRING) and not gap:
        if len(tokens) > 1 and tokens[-2].type == tt.IMPORT and last.type == tt.BAD_STRING:
            return Place(Expected.IMPORT, begin + last.start + 1, last.text[1:])
        return nothing
    word = ""
    start = offset
    if last is not None and not gap and last.type in _WORDS:
        word, start = last.text, begin + last.start
        tokens.pop()
    elif last is not None and not gap and last.type in _NUMBERS:
        tokens.pop()
        made = _Walk(tokens).place(begin + last.start, last.text)
        made.opening += begin
        return made if made.expected is Expected.ARGUMENT else nothing
    qualifier: list[str] = []
    while len(tokens) > 1 and tokens[-1].type == tt.DOT and tokens[-2].type in _WORDS:
        qualifier.insert(0, tokens[-2].text)
        tokens = tokens[:-2]
    made = _Walk(tokens).place(start, word)
    made.qualifier = ".".join(qualifier)
    made.opening += begin
    return made


@dataclass(slots=True)
class _Open:
    """A bracket that is open: with the statement before it."""

    token: Token
    before: list[Token]
    commas: int = 0

    @property
    def declares(self) -> tuple[str, str] | None:
        """Keyword and name of the declaration whose body it opens."""
        if self.token.type != tt.OPEN_BRACE:
            return None
        words = _without_annotations(self.before)
        if words and words[0].type == tt.OPEN:
            words = words[1:]
        if len(words) < 2 or words[0].type not in _BODIES or words[1].type not in _WORDS:
            return None
        return words[0].text, words[1].text


class _Walk:
    """The brackets that are open at the end, and the statement there."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.stack: list[_Open] = []
        self.statement: list[Token] = []
        for token in tokens:
            self._take(token)

    def _take(self, token: Token) -> None:
        if token.type in _OPENING:
            self.stack.append(_Open(token, self.statement))
            self.statement = []
        elif token.type in _CLOSING:
            self._close(token)
        elif token.type == tt.SEMICOLON:
            while self.stack and self.stack[-1].declares is None:
                self.stack.pop()
            self.statement = []
        elif token.type == tt.COMMA and self.stack and not self._throws():
            self.stack[-1].commas += 1
            self.statement = []
        else:
            self.statement.append(token)

    def _throws(self) -> bool:
        declared = self.stack[-1].declares
        return declared is not None and declared[0] == "service"

    def _close(self, token: Token) -> None:
        if token.type == tt.CLOSE:
            while self.stack and self.stack[-1].token.type != tt.OPEN_BRACE:
                self.stack.pop()
        if not self.stack:
            self.statement = []
            return
        opened = self.stack.pop()
        self.statement = [] if opened.declares else [*opened.before, opened.token, token]

    def place(self, start: int, word: str) -> Place:
        within = [declared for each in self.stack if (declared := each.declares) is not None]
        made = Place(Expected.NOTHING, start, word, within=within)
        made.expected = self._expected(made)
        return made

    def _expected(self, made: Place) -> Expected:
        statement = self.statement
        if statement and statement[-1].type == tt.AT:
            return Expected.ANNOTATION
        inner = self.stack[-1] if self.stack else None
        if inner is None or inner.declares is not None:
            return self._in_body(inner, _without_annotations(statement))
        if inner.token.type == tt.LESS:
            return Expected.TYPE
        if inner.token.type == tt.LPAREN:
            return self._in_parentheses(inner, made)
        return Expected.VALUE if inner.token.type == tt.LBRACKET or statement else Expected.NOTHING

    def _in_parentheses(self, opened: _Open, made: Place) -> Expected:
        name = _annotation_before(opened.before)
        if name:
            made.annotation, made.argument, made.opening = name, opened.commas, opened.token.start
            return Expected.ARGUMENT
        return _in_field(_without_annotations(self.statement)) or Expected.NOTHING

    def _in_body(self, opened: _Open | None, words: list[Token]) -> Expected:
        declared = None if opened is None else opened.declares
        if declared is None:
            return _at_declaration(words)
        keyword = declared[0]
        if keyword == "service":
            return _at_method(words)
        if keyword in ("enum", "flags"):
            return Expected.VALUE if words and words[-1].type == tt.ASSIGN else Expected.NOTHING
        if not words:
            return Expected.MEMBER
        if words[0].type == tt.INTEGER and len(words) == 2 and words[1].type == tt.COLON:
            return Expected.NUMBERED
        if words[0].type == tt.TYPE and words[-1].type == tt.ASSIGN:
            return Expected.TYPE
        return _in_field(words) or Expected.NOTHING


def _without_annotations(tokens: list[Token]) -> list[Token]:
    """A statement without its annotations; the brackets in it are empty, as `_Walk` leaves them."""
    made: list[Token] = []
    at = 0
    while at < len(tokens):
        if tokens[at].type != tt.AT:
            made.append(tokens[at])
            at += 1
            continue
        at += 2
        while at + 1 < len(tokens) and tokens[at].type == tt.DOT:
            at += 2
        if at + 1 < len(tokens) and tokens[at].type == tt.LPAREN:
            at += 2
    return made


def _annotation_before(tokens: list[Token]) -> str:
    """The name of the annotation whose arguments a parenthesis opens; "" for any other."""
    at = len(tokens) - 1
    while at > 0 and tokens[at].type in _WORDS:
        if tokens[at - 1].type == tt.AT:
            return "".join(each.text for each in tokens[at:])
        if tokens[at - 1].type != tt.DOT:
            return ""
        at -= 2
    return ""


def _in_field(words: list[Token]) -> Expected | None:
    if not words:
        return None
    if words[-1].type == tt.ASSIGN:
        return Expected.VALUE
    if words[-1].type == tt.COLON and len(words) > 1 and words[-2].type in _WORDS:
        return Expected.TYPE
    return None


def _at_declaration(words: list[Token]) -> Expected:
    if not words:
        return Expected.DECLARATION
    first, last = words[0].type, words[-1].type
    if first == tt.OPEN and len(words) == 1:
        return Expected.DECLARATION
    if first == tt.TYPE:
        return Expected.TYPE if last == tt.ASSIGN else Expected.NOTHING
    if last == tt.COLON and first in (tt.CONST, tt.AGENT, tt.TOPIC, tt.ENUM, tt.FLAGS, tt.OPEN):
        return Expected.TYPE
    if last == tt.ASSIGN:
        return Expected.VALUE
    if first in (tt.SERVICE, tt.TOPIC):
        if last == tt.PER and len(words) > 2:
            return Expected.AGENT
        if last == tt.EXTENDS and len(words) > 2:
            return Expected.SERVICE
        if len(words) == 2:
            return Expected.AFTER_SERVICE if first == tt.SERVICE else Expected.AFTER_TOPIC
        extended = first == tt.SERVICE and len(words) > 3 and last in _WORDS
        if extended and not any(each.type == tt.PER for each in words[2:]):
            return Expected.AFTER_TOPIC
    return Expected.NOTHING


def _at_method(words: list[Token]) -> Expected:
    if not words:
        return Expected.METHOD
    last = words[-1].type
    thrown = next((at for at, each in enumerate(words) if at and each.type == tt.THROWS), None)
    if thrown is not None:
        return Expected.ERROR if last in (tt.THROWS, tt.COMMA) else Expected.NOTHING
    if last == tt.ARROW or (words[0].type == tt.TYPE and last == tt.ASSIGN):
        return Expected.TYPE
    if last == tt.RPAREN or any(each.type == tt.ARROW for each in words):
        return Expected.AFTER_PARAMETERS
    return Expected.NOTHING
