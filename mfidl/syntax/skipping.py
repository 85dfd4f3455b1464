"""F2. Continues after a mistake: at the end of a member or declaration, remembering what was skipped."""

from mfidl.syntax import token_types as tt
from mfidl.syntax.habits import HEADERS, INCLUDES
from mfidl.syntax.lookaround import KEYWORDS, NAMES, Lookaround
from mfidl.syntax.tokens import TokenStream

_LONGEST_HEAD = 20  # names in the head of a declaration
_LONGEST_BRACKET = 50  # words between `[` and `]` where no list can be


class Skipper:
    """Moves the token stream. Remembers the names that it skipped, so that uses of them are not reported as
    well.
    """

    def __init__(self, stream: TokenStream, around: Lookaround) -> None:
        self.broken_names: set[str] = set()
        self.lost_declarations = False
        self.lost_imports = False
        self._stream = stream
        self._around = around

    def member(self, start: int) -> None:
        """Skips to the position after the next `;` of this level, or to its `}`, or to a line that begins
        another member."""
        stream, depth = self._stream, 0
        while True:
            token = stream.LT(1)
            if token.type == tt.EOF or (token.type == tt.CLOSE and depth == 0):
                return
            fresh = depth == 0 and stream.index > start and self._around.starts_line(stream.index)
            if fresh and self._begins_another(stream.index):
                return
            stream.consume()
            if token.type == tt.LBRACKET:
                self._brackets()
            if token.type == tt.SEMICOLON and depth == 0:
                return
            depth += (token.type == tt.OPEN_BRACE) - (token.type == tt.CLOSE)
            if token.type == tt.CLOSE and depth == 0:
                return

    def _begins_another(self, index: int) -> bool:
        around = self._around
        return (
            around.looks_like_member(index) or around.looks_like_c(index) or around.begins_declaration(index)
        )

    def _brackets(self) -> None:
        """Skips to the position after the `]` of this line: a `;` in `[u8; 16]` ends no field."""
        stream, tokens = self._stream, self._stream.tokens
        at, end = stream.index, min(stream.index + _LONGEST_BRACKET, len(tokens) - 1)
        while (
            at < end and tokens[at].type not in (tt.CLOSE, tt.OPEN_BRACE) and not self._around.starts_line(at)
        ):
            if tokens[at].type == tt.RBRACKET:
                stream.index = at + 1
                return
            at += 1

    def declaration(self, start: int) -> None:
        """Skips to the position after the `;` or the body of the declaration that began at `start`, or to the
        next one that begins a line.
        """
        stream = self._stream
        self.remember_name(start)
        behind = stream.tokens[start : stream.index]
        depth = sum((each.type == tt.OPEN_BRACE) - (each.type == tt.CLOSE) for each in behind)
        while True:
            token = stream.LT(1)
            if token.type == tt.EOF:
                return
            if depth <= 0 and stream.index > start and self._around.begins_declaration(stream.index):
                return
            if token.type == tt.CLOSE and depth <= 0 and stream.index > start:
                return
            stream.consume()
            if token.type == tt.SEMICOLON and depth <= 0:
                return
            depth += (token.type == tt.OPEN_BRACE) - (token.type == tt.CLOSE)
            if token.type == tt.CLOSE and depth <= 0:
                return

    def braces(self) -> None:
        """Skips an opening brace that was repeated."""
        while self._stream.LT(1).type == tt.OPEN_BRACE or self._stream.LT(1).type == tt.BAD:
            self._stream.consume()

    def to_comma(self) -> None:
        stream, depth = self._stream, 0
        while True:
            token = stream.LT(1)
            if token.type == tt.EOF or (depth <= 0 and token.type in (tt.COMMA, tt.CLOSE)):
                return
            if depth <= 0 and self._around.begins_declaration(stream.index):
                return
            depth += (token.type in (tt.OPEN_BRACE, tt.LPAREN)) - (token.type in (tt.CLOSE, tt.RPAREN))
            stream.consume()

    def remember_name(self, start: int) -> None:
        """Remembers the names in the head of a lost declaration, so that uses of them are not reported as
        well."""
        tokens = self._stream.tokens
        start = head = self._around.behind_annotations(start)
        while tokens[head].type not in (tt.OPEN_BRACE, tt.SEMICOLON, tt.EOF) and head < start + 100:
            if self._around.declares(head):
                start = head
                break
            head += 1
        is_import = tokens[start].type == tt.IMPORT or tokens[start].text in INCLUDES
        self.lost_imports = self.lost_imports or is_import
        last = start
        while last < start + _LONGEST_HEAD and tokens[min(last + 1, len(tokens) - 1)].type in NAMES:
            last += 1
            self.broken_names.add(tokens[last].text)
        if (last == start or tokens[last].type in KEYWORDS) and tokens[start].text not in HEADERS:
            self.lost_declarations = True
