"""F2. What separates the elements of a list: supplies a forgotten comma, and reads a `;` in its place as a
comma.
"""

from typing import Any

from mfidl.syntax import token_types as tt
from mfidl.syntax._antlr.MfidlParser import MfidlParser
from mfidl.syntax.lookaround import MEMBER_STARTS, VALUE_STARTS, Lookaround
from mfidl.syntax.mistakes import Reporter
from mfidl.syntax.tokens import Token, TokenStream

_LONGEST_LIST = 200  # words of a list that may have `;` for `,`


class ListRecovery:
    """Checks the place before each element of the list that the parser is in."""

    def __init__(self, parser: Any, say: Reporter, around: Lookaround) -> None:
        self._parser = parser
        self._stream: TokenStream = parser.stream
        self._say = say
        self._around = around

    def fields(self) -> None:
        """Parameters and results."""
        self._sync_list(tt.LPAREN, tt.RPAREN, MEMBER_STARTS)

    def arguments(self) -> None:
        """Of an annotation."""
        if self._parser._ctx.opening is not None:
            self._sync_list(tt.LPAREN, tt.RPAREN, VALUE_STARTS)

    def elements(self) -> None:
        """Of a value in `[ ]` or `{ }`."""
        context = self._parser._ctx
        if context.list_ is not None:
            self._sync_list(tt.LBRACKET, tt.RBRACKET, VALUE_STARTS)
        elif context.brace is not None:
            self._sync_list(tt.OPEN_BRACE, tt.CLOSE, VALUE_STARTS)

    def _sync_list(self, opening: int, closing: int, starts: frozenset[int]) -> None:
        """Between two elements: supplies a forgotten comma if an element follows directly."""
        index = self._stream.index
        token, previous = self._stream.tokens[index], self._stream.LT(-1)
        if token.type == tt.SEMICOLON and self._separates(index, closing, starts):
            if not getattr(self._parser._ctx, "semicolons", False):
                self._say.unexpected("`,`")
            self._parser._ctx.semicolons = True  # the others of this list are the same mistake
            token.type = tt.COMMA
            return
        if token.type in (tt.COMMA, closing) or previous.type in (opening, tt.COMMA):
            return
        if token.type not in starts or token.type == tt.THROWS or self._around.declares(index):
            return
        if self._around.starts_line(index) and self._around.looks_like_method(index):
            return  # the bracket is missing, not a comma
        if self._begins_element(index):
            self.missing_comma()

    def _separates(self, index: int, closing: int, starts: frozenset[int]) -> bool:
        """Whether a `;` is between two elements: the list continues after it, and closes on its line."""
        tokens = self._stream.tokens
        at = index + 1
        if tokens[at].type not in starts or self._around.starts_line(at) or not self._begins_element(at):
            return False
        if getattr(self._parser._ctx, "semicolons", False):
            return True
        end = min(index + _LONGEST_LIST, len(tokens))
        while at < end and tokens[at].type not in (tt.OPEN_BRACE, tt.CLOSE, tt.LPAREN):
            if self._around.starts_line(at):
                return False
            if tokens[at].type == closing:
                return True
            at += 1
        return False

    def _begins_element(self, index: int) -> bool:
        tokens, context = self._stream.tokens, self._parser._ctx
        following = tokens[min(index + 1, len(tokens) - 1)].type
        if isinstance(context, MfidlParser.FieldListContext):
            return following == tt.COLON or tokens[index].type == tt.AT
        if isinstance(context, MfidlParser.AnnotationContext):
            return following == tt.ASSIGN
        return True

    def missing_comma(self) -> None:
        """Reports a missing comma after the last token, and supplies it."""
        if self._say.may_report():
            self._say.diagnostics.error("E0111", self._say.behind_last(), fix=",")
        end = self._stream.LT(-1).end
        self._stream.supply(self._stream.index, Token(tt.COMMA, ",", end, end))
