"""F2. Reports what is wrong with the syntax: one message for each place, and none next to a token that was
already reported.
"""

from typing import Any

from antlr4.error.Errors import RecognitionException

from mfidl.diagnostics import Diagnostics
from mfidl.source import SourceFile, Span
from mfidl.syntax import token_types as tt
from mfidl.syntax._antlr.MfidlParser import MfidlParser
from mfidl.syntax.hints import hint, meant_declaration
from mfidl.syntax.lookaround import NAMES
from mfidl.syntax.tokens import Token, TokenStream

# What a rule expects if none of its alternatives fits.
_EXPECTED: dict[type, str] = {
    MfidlParser.ValueContext: "a value",
    MfidlParser.StructMemberContext: "`:` and a type",
    MfidlParser.StructDeclContext: "`{`",
    MfidlParser.ReservedItemContext: "a number, or a name in quotes",
    MfidlParser.IntegerContext: "a whole number",
    MfidlParser.TypeArgumentContext: "a type",
    MfidlParser.MethodContext: "a result type",
    MfidlParser.NameContext: "a name",
    MfidlParser.DeclContext: "a declaration",
}


class SyntaxMistake(RecognitionException):  # type: ignore[misc]
    """An error that was already reported and is propagating to a rule that can continue."""


class Reporter:
    """Reports at the current token of the stream."""

    def __init__(
        self, parser: Any, stream: TokenStream, source: SourceFile, diagnostics: Diagnostics
    ) -> None:
        self.diagnostics = diagnostics
        self._parser = parser
        self._stream = stream
        self._source = source
        self._reported_at = -1

    def may_report(self) -> bool:
        """Whether a report is due: one for each place, and none next to a token that was reported when it was
        read."""
        index = self._stream.index
        if self._reported_at == index:
            return False
        self._reported_at = index
        return not (self._stream.LT(1).broken or (index > 0 and self._stream.LT(-1).broken))

    def begin_anew(self) -> None:
        """Allows another report here: what is at this place is a mistake of its own."""
        self._reported_at = -1

    def report(self, code: str, token: Token, **values: Any) -> None:
        if self.may_report():
            self.diagnostics.error(code, self.span(token), **values)

    def unexpected(self, expected: str) -> SyntaxMistake:
        token = self._stream.LT(1)
        number = getattr(self._parser._ctx, "number", None)  # of a field; a name that begins with a digit
        beside = number is not None and getattr(number, "token", token).type == tt.BAD_NUMBER
        if self.may_report() and not beside:
            found = "the end of the file" if token.type == tt.EOF else f"`{_short(token.text)}`"
            span = self.span(token) if token.type != tt.EOF else self.behind_last()
            self.diagnostics.error(
                "E0101",
                span,
                help=hint(self._parser._ctx, self._stream, token),
                expected=expected,
                found=found,
            )
        return SyntaxMistake(recognizer=None, input=self._stream, ctx=self._parser._ctx)

    def unknown_declaration(self) -> None:
        token = self._stream.LT(1)
        if token.type in NAMES:
            self._unknown_word(token)
        else:
            self.unexpected("a declaration")

    def _unknown_word(self, token: Token) -> None:
        if self.may_report():
            word = _short(token.text)
            advice, meant = meant_declaration(token.text, self._stream.LT(2))
            self.diagnostics.error("E0110", self.span(token), help=advice, fix=meant, word=word)

    def wanted(self, context: Any) -> str:
        """Says in words what may stand here, by the innermost rule that describes it best."""
        if isinstance(context, MfidlParser.NameContext):
            parent = context.parentCtx
            if isinstance(parent, MfidlParser.PathContext):
                holder = parent.parentCtx
                if isinstance(holder, MfidlParser.TypeContext):
                    return "a type"
                if isinstance(holder, MfidlParser.AnnotationContext) and not parent.parts:
                    return "the name of an annotation"
        members = MfidlParser.StructMemberContext | MfidlParser.MethodContext
        if isinstance(context, members) and context.id_ is None:
            return "a name"
        return _EXPECTED.get(type(context), "something else")

    def kind_of(self, ttype: int) -> str:
        return {tt.STRING: "a path in quotes", tt.EOF: "the end of the file"}.get(ttype, "a name")

    def span(self, token: Token) -> Span:
        return Span(self._source, token.start, max(token.end, token.start))

    def behind_last(self) -> Span:
        """The place directly after the last token, where something is missing."""
        end = self._stream.LT(-1).end if self._stream.index > 0 else 0
        return Span(self._source, end, end)


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
