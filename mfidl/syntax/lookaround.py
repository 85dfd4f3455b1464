"""F2. What the tokens around a place look like: a member, a method, a declaration, the beginning of a line.

Only for error recovery; the parser itself never looks further than one token ahead.
"""

from mfidl.source import SourceFile
from mfidl.syntax import token_types as tt
from mfidl.syntax.tokens import Token, TokenStream

KEYWORDS = frozenset(tt.KEYWORDS.values())
NAMES = KEYWORDS | {tt.NAME}
DECLARES = KEYWORDS - {tt.AS, tt.EXTENDS, tt.PER, tt.THROWS}
INTEGERS = frozenset((tt.INTEGER, tt.HEX, tt.BAD_NUMBER))
MEMBER_STARTS = NAMES | INTEGERS | {tt.AT}
VALUE_STARTS = (
    NAMES | INTEGERS | {tt.FLOAT, tt.DURATION, tt.STRING, tt.BAD_STRING, tt.MINUS, tt.LBRACKET, tt.OPEN_BRACE}
)
# The words that begin a type, and what they are where it is within another declaration.
INNER = {
    tt.STRUCT: tt.INNER_STRUCT,
    tt.ERROR: tt.INNER_STRUCT,
    tt.UNION: tt.INNER_STRUCT,
    tt.ENUM: tt.INNER_ENUM,
    tt.FLAGS: tt.INNER_ENUM,
    tt.OPEN: tt.INNER_OPEN,
    tt.TYPE: tt.INNER_TYPE,
}
_ENUMS = frozenset((tt.ENUM, tt.FLAGS))
_OPENING = frozenset((tt.LPAREN, tt.LBRACKET, tt.OPEN_BRACE))
_CLOSING = frozenset((tt.RPAREN, tt.RBRACKET, tt.CLOSE))
AFTER_LOST_BRACKET = frozenset(
    (tt.SEMICOLON, tt.CLOSE, tt.ARROW, tt.THROWS, tt.OPEN_BRACE, tt.ASSIGN, tt.EOF)
)


class Lookaround:
    """Questions about positions in the token list. Positions are indices; tokens may be inserted between
    calls.
    """

    def __init__(self, source: SourceFile, stream: TokenStream) -> None:
        self._source = source
        self._stream = stream

    def starts_line(self, index: int) -> bool:
        tokens = self._stream.tokens
        return index == 0 or "\n" in self._source.text[tokens[index - 1].end : tokens[index].start]

    def looks_like_member(self, index: int) -> bool:
        tokens = self._stream.tokens
        first, second = tokens[index].type, tokens[min(index + 1, len(tokens) - 1)].type
        if first == tt.AT:
            return self.starts_line(index)
        if first in INTEGERS:
            return second == tt.COLON
        return first in NAMES and second in (tt.COLON, tt.LPAREN)

    def looks_like_c(self, index: int) -> bool:
        """Whether this looks like a member of other languages: `u32 doc;`, `string name = 1`, `void ping()`,
        `map<u8, u8> m;`."""
        tokens, last = self._stream.tokens, len(self._stream.tokens) - 1
        at = index
        while at < last and tokens[at].type in NAMES and at < index + 4:
            at += 1
        if at - index >= 2:
            return tokens[at].type in (tt.SEMICOLON, tt.ASSIGN, tt.COMMA, tt.LPAREN, tt.LBRACKET)
        return at > index and tokens[at].type == tt.LESS

    def behind_path(self, index: int) -> int:
        """The position after `a.b.c`."""
        tokens, last = self._stream.tokens, len(self._stream.tokens) - 1
        while index < last and tokens[index].type in NAMES:
            index += 1
            if tokens[index].type != tt.DOT:
                break
            index += 1
        return index

    def looks_like_method(self, index: int) -> bool:
        tokens = self._stream.tokens
        return tokens[index].type == tt.AT or tokens[min(index + 1, len(tokens) - 1)].type == tt.LPAREN

    def begins_declaration(self, index: int) -> bool:
        """Whether `struct Name` begins here, first on its line, perhaps after annotations: no field or method
        looks like this."""
        if not self.starts_line(index):
            return False
        if self._stream.tokens[index].type == tt.AT:
            return self.declares(self.behind_annotations(index))
        return self.declares(index)

    def behind_annotations(self, index: int) -> int:
        tokens, end = self._stream.tokens, len(self._stream.tokens) - 1
        while tokens[index].type == tt.AT:
            index += 2
            while index < end and tokens[index].type == tt.DOT:
                index += 2
            if index < end and tokens[index].type == tt.LPAREN:
                index = self._behind_arguments(index)
            if index >= end:
                return end
        return index

    def _behind_arguments(self, index: int) -> int:
        """Behind the bracket that closes; if none does, behind what an annotation can hardly have."""
        tokens, end = self._stream.tokens, len(self._stream.tokens) - 1
        at, depth = index, 0
        while at < end and tokens[at].type != tt.SEMICOLON:
            depth += (tokens[at].type in _OPENING) - (tokens[at].type in _CLOSING)
            at += 1
            if depth == 0:
                return at
        while index < end and tokens[index].type not in (tt.RPAREN, tt.SEMICOLON, tt.OPEN_BRACE):
            index += 1
        return index + 1

    def declares(self, index: int) -> bool:
        tokens = self._stream.tokens
        return tokens[index].type in DECLARES and tokens[min(index + 1, len(tokens) - 1)].type in NAMES

    def inner(self, index: int) -> list[Token]:
        """The words that begin a type here, `struct Name {`, `open enum Name: u8 {`, `type Name =`; none if
        something else is here. No field or method looks like this.
        """
        tokens, last = self._stream.tokens, len(self._stream.tokens) - 1
        words = [tokens[index]]
        if words[0].type not in INNER:
            return []
        if words[0].type == tt.OPEN:
            index = min(index + 1, last)
            words.append(tokens[index])
            if words[1].type != tt.ENUM:
                return []
        following = tokens[min(index + 2, last)].type
        if words[0].type == tt.TYPE:
            begins = following == tt.ASSIGN
        else:
            begins = following == tt.OPEN_BRACE or (following == tt.COLON and words[-1].type in _ENUMS)
        return words if begins and tokens[min(index + 1, last)].type in NAMES else []

    def is_balanced(self) -> bool:
        """Whether there are as many `{` as `}`."""
        types = [each.type for each in self._stream.tokens]
        return types.count(tt.OPEN_BRACE) == types.count(tt.CLOSE)

    def index_of(self, token: Token) -> int:
        """The current position of a token (tokens may have been supplied before it)."""
        index = min(self._stream.index, len(self._stream.tokens) - 1)
        while index > 0 and self._stream.tokens[index] is not token:
            index -= 1
        return index
