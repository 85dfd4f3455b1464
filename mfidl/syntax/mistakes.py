"""F2. Saying what is wrong with the syntax: one message at a place, none beside a token that was already
reported.
"""

from typing import Any

from antlr4.error.Errors import RecognitionException

from mfidl.diagnostics import Diagnostics, did_you_mean
from mfidl.source import SourceFile, Span
from mfidl.syntax import token_types as tt
from mfidl.syntax._antlr.MfidlParser import MfidlParser
from mfidl.syntax.lookaround import DECLARES, NAMES
from mfidl.syntax.tokens import Token, TokenStream

# Only for hints: what reads as a type wherever it stands.
_TYPE_WORDS = frozenset(
    (
        *("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"),
        *("bool", "string", "bytes", "timestamp", "duration", "uuid", "list", "array", "set", "map"),
    )
)

# What a rule wants where none of its alternatives fits.
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
    """An error that was already reported and is on its way to a rule that can go on."""


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
        """Once at a place, and not beside a token that was reported when it was read."""
        index = self._stream.index
        if self._reported_at == index:
            return False
        self._reported_at = index
        return not (self._stream.LT(1).broken or (index > 0 and self._stream.LT(-1).broken))

    def report(self, code: str, token: Token, **values: Any) -> None:
        if self.may_report():
            self.diagnostics.error(code, self.span(token), **values)

    def unexpected(self, expected: str) -> SyntaxMistake:
        token = self._stream.LT(1)
        if self.may_report():
            found = "the end of the file" if token.type == tt.EOF else f"`{_short(token.text)}`"
            span = self.span(token) if token.type != tt.EOF else self.behind_last()
            self.diagnostics.error("E0101", span, help=self._hint(token), expected=expected, found=found)
        return SyntaxMistake(recognizer=None, input=self._stream, ctx=self._parser._ctx)

    def _hint(self, token: Token) -> str | None:
        """Where C habits show: `u32 doc;` for `doc: u32;`."""
        context, previous = self._parser._ctx, self._stream.LT(-1)
        is_field = isinstance(context, MfidlParser.StructMemberContext | MfidlParser.FieldContext)
        if is_field and context.of is None and token.type in NAMES and previous.type in NAMES:
            name, kind = _short(token.text), _short(previous.text)
            if name in _TYPE_WORDS and kind not in _TYPE_WORDS:
                return f"write `{kind}: {name}`"
            return f"the name comes first: `{name}: {kind}`"
        if isinstance(context, MfidlParser.MethodContext) and token.type == tt.COLON:
            return "results are written `name(...) -> type;`"
        if isinstance(context, MfidlParser.StructDeclContext) and token.type == tt.COLON:
            return "structs do not inherit; make the other struct a field"
        return None

    def unknown_declaration(self) -> None:
        token = self._stream.LT(1)
        if token.type in NAMES:
            self._unknown_word(token)
        else:
            self.unexpected("a declaration")

    def _unknown_word(self, token: Token) -> None:
        if self.may_report():
            words = [text for text, number in tt.KEYWORDS.items() if number in DECLARES]
            hint = did_you_mean(token.text, words)
            self.diagnostics.error("E0110", self.span(token), help=hint, word=_short(token.text))

    def wanted(self, context: Any) -> str:
        """In words, what may stand here, from the innermost rule that says it best."""
        if isinstance(context, MfidlParser.NameContext):
            parent = context.parentCtx
            if isinstance(parent, MfidlParser.PathContext):
                holder = parent.parentCtx
                if isinstance(holder, MfidlParser.TypeContext):
                    return "a type"
                if isinstance(holder, MfidlParser.AnnotationContext) and not parent.parts:
                    return "the name of an annotation"
        return _EXPECTED.get(type(context), "something else")

    def kind_of(self, ttype: int) -> str:
        return {tt.STRING: "a path in quotes", tt.EOF: "the end of the file"}.get(ttype, "a name")

    def span(self, token: Token) -> Span:
        return Span(self._source, token.start, max(token.end, token.start))

    def behind_last(self) -> Span:
        """The place right behind the last token, where something is missing."""
        end = self._stream.LT(-1).end if self._stream.index > 0 else 0
        return Span(self._source, end, end)


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
