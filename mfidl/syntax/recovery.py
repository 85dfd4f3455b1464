"""F2. How the parser reports a syntax error and goes on: one message a mistake, recovery at `;` and `}`.

`SchemaParser` is the generated parser with the runtime's matching replaced by direct reads of the token list.
The strategy lets an error climb to the enclosing member or declaration, which then skips to its end. Missing
`;`, `,` and brackets are repaired in place, so that nothing is skipped for them. Silent next to a token that
was already reported.
"""

from typing import Any

from antlr4.error.Errors import RecognitionException

from mfidl.diagnostics import Diagnostics, Note, did_you_mean
from mfidl.source import SourceFile, Span
from mfidl.syntax._antlr import token_types as tt
from mfidl.syntax._antlr.MfidlParser import MfidlParser
from mfidl.syntax.tokens import Token, TokenStream

_KEYWORDS = frozenset(tt.KEYWORDS.values())
_NAMES = _KEYWORDS | {tt.NAME}
_DECLARES = _KEYWORDS - {tt.AS, tt.PER, tt.THROWS}
_INTEGERS = frozenset((tt.INTEGER, tt.HEX, tt.BAD_NUMBER))
_MEMBER_STARTS = _NAMES | _INTEGERS | {tt.AT}
_VALUE_STARTS = (
    _NAMES
    | _INTEGERS
    | {tt.FLOAT, tt.DURATION, tt.STRING, tt.BAD_STRING, tt.MINUS, tt.LBRACKET, tt.OPEN_BRACE}
)
_AFTER_LOST_BRACKET = frozenset(
    (tt.SEMICOLON, tt.CLOSE, tt.ARROW, tt.THROWS, tt.OPEN_BRACE, tt.ASSIGN, tt.EOF)
)

_TEXTS = {number: text for table in (tt.KEYWORDS, tt.PUNCTUATION) for text, number in table.items()}
_PAIR_OF = {tt.CLOSE: "}", tt.RPAREN: ")", tt.GREATER: ">", tt.RBRACKET: "]"}

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


class SchemaParser(MfidlParser):  # type: ignore[misc]
    """The generated parser over a token list."""

    def __init__(self, source: SourceFile, tokens: list[Token], diagnostics: Diagnostics) -> None:
        self.stream = TokenStream(tokens)
        super().__init__(self.stream)
        self.buildParseTrees = False
        self.strategy = RecoveryStrategy(self, source, diagnostics)
        self._errHandler = self.strategy

    def match(self, ttype: int) -> Token:
        stream = self.stream
        token = stream.tokens[stream.index]
        if token.type != ttype:
            return self.strategy.missing(ttype)
        if ttype != tt.EOF:
            stream.index += 1
        return token

    def consume(self) -> Token:
        token = self.stream.tokens[self.stream.index]
        self.stream.consume()
        return token


class RecoveryStrategy:
    """The error handler that the generated code calls (sync, reportMatch, reportError, recover,
    recoverInline).
    """

    def __init__(self, parser: SchemaParser, source: SourceFile, diagnostics: Diagnostics) -> None:
        self.broken_names: set[str] = set()
        self.lost_declarations = False
        self.lost_imports = False
        self._parser = parser
        self._stream = parser.stream
        self._source = source
        self._diagnostics = diagnostics
        self._reported_at = -1
        self._supplied_braces = 0
        self._hooks = {
            MfidlParser.FileContext: self._sync_file,
            MfidlParser.StructBodyContext: self._sync_body,
            MfidlParser.ServiceBodyContext: self._sync_body,
            MfidlParser.EnumBodyContext: self._sync_enum,
            MfidlParser.StructDeclContext: self._sync_struct,
            MfidlParser.FieldListContext: self._sync_fields,
            MfidlParser.AnnotationContext: self._sync_arguments,
            MfidlParser.ValueContext: self._sync_elements,
        }

    # Called by the generated code ---------------------------------------------------------------------------

    def reset(self, _recognizer: Any) -> None:
        """The parser is used once."""

    def reportMatch(self, _recognizer: Any) -> None:
        """Nothing is counted per token."""

    def sync(self, recognizer: Any) -> None:
        hook = self._hooks.get(type(recognizer._ctx))
        if hook is not None:
            hook()

    def recoverInline(self, recognizer: Any) -> Token:
        raise self._unexpected(self._wanted(recognizer._ctx))

    def reportError(self, recognizer: Any, error: RecognitionException) -> None:
        if isinstance(error, SyntaxMistake) or getattr(error, "reported", False):
            return
        error.reported = True
        if isinstance(recognizer._ctx, MfidlParser.DeclContext):
            self._unknown_declaration()
        else:
            self._unexpected(self._wanted(recognizer._ctx))

    def recover(self, recognizer: Any, error: RecognitionException) -> None:
        context = recognizer._ctx
        if isinstance(context, MfidlParser.ItemContext):
            self._skip_declaration(self._index_of(context.start))
        elif isinstance(context, MfidlParser.StructMemberContext | MfidlParser.MethodContext):
            self._skip_member(self._index_of(context.start))
        elif isinstance(context, MfidlParser.EnumMemberContext):
            self._skip_to_comma()
        else:
            raise error

    # Missing tokens -----------------------------------------------------------------------------------------

    def missing(self, ttype: int) -> Token:
        """The next token is not `ttype`: supply it where it was clearly forgotten, otherwise give up this
        rule.
        """
        token = self._stream.LT(1)
        if ttype == tt.SEMICOLON:
            return self._missing_semicolon(token)
        if ttype == tt.CLOSE and token.type == tt.EOF:
            self._missing_bracket(tt.CLOSE)
            return self._supplied(tt.CLOSE)
        if ttype == tt.OPEN_BRACE and self._is_body(self._stream.index):
            self._missing_brace()
            brace = self._supplied(tt.OPEN_BRACE)
            self._stream.tokens.insert(self._stream.index, brace)
            self._stream.consume()
            return brace
        if ttype in _PAIR_OF and self._is_past_bracket(ttype):
            self._missing_bracket(ttype)
            return self._supplied(ttype)
        expected = f"`{_TEXTS[ttype]}`" if ttype in _TEXTS else self._kind_of(ttype)
        if ttype == tt.GREATER:
            expected = "`,` or `>`"
        elif ttype in (tt.RPAREN, tt.RBRACKET) and self._stream.LT(-1).type not in (
            tt.LPAREN,
            tt.LBRACKET,
            tt.COMMA,
        ):
            expected = f"`,` or `{_TEXTS[ttype]}`"
        raise self._unexpected(expected)

    def _missing_semicolon(self, token: Token) -> Token:
        index = self._stream.index
        if token.type == tt.COLON and index >= 2 and self._starts_line(index - 1):
            # `x:` and then a line `y: u32;`: the type is missing, and its place was taken by the next name.
            self._stream.index = index - 1
            if self._may_report():
                self._diagnostics.error(
                    "E0101", self._behind_last(), expected="a type", found="the end of the line"
                )
            raise SyntaxMistake(recognizer=None, input=self._stream, ctx=self._parser._ctx)
        ends_here = (
            token.type in (tt.CLOSE, tt.EOF) or self._starts_line(index) or self._looks_like_member(index)
        )
        if not ends_here:
            raise self._unexpected("`;`")
        if self._may_report():
            self._diagnostics.error("E0102", self._behind_last())
        return self._supplied(tt.SEMICOLON)

    def _missing_bracket(self, ttype: int) -> None:
        if self._may_report():
            opening = getattr(self._parser._ctx, "opening", None)
            notes = [Note("opened here", self._span(opening))] if opening is not None else []
            self._diagnostics.error("E0103", self._behind_last(), notes=notes, bracket=_PAIR_OF[ttype])

    def _missing_brace(self) -> None:
        if self._may_report():
            self._diagnostics.error("E0103", self._behind_last(), bracket="{")

    def _is_body(self, index: int) -> bool:
        """Whether the members of a declaration begin here, without their `{`."""
        tokens = self._stream.tokens
        following = tokens[min(index + 1, len(tokens) - 1)].type
        if isinstance(self._parser._ctx, MfidlParser.EnumBodyContext):
            return tokens[index].type in _NAMES and following in (tt.ASSIGN, tt.COMMA)
        return self._looks_like_member(index) and tokens[index].type != tt.COLON

    def _is_past_bracket(self, ttype: int) -> bool:
        """Whether the next token cannot belong into a bracket that is still open."""
        index = self._stream.index
        token = self._stream.tokens[index]
        if token.type in _AFTER_LOST_BRACKET or self._starts_line(index) or self._declares(index):
            return True
        if isinstance(self._parser._ctx, MfidlParser.AnnotationContext) and self._looks_like_member(index):
            return True
        return ttype == tt.GREATER and token.type == tt.RPAREN

    def _supplied(self, ttype: int) -> Token:
        end = self._stream.LT(-1).end
        return Token(ttype, _TEXTS[ttype], end, end)

    # Before each turn of a loop -----------------------------------------------------------------------------

    def _sync_file(self) -> None:
        while True:
            token = self._stream.LT(1)
            if token.type in _DECLARES or token.type in (tt.EOF, tt.AT, tt.SEMICOLON):
                return
            start = self._stream.index
            if token.type == tt.CLOSE:
                if self._supplied_braces:
                    self._supplied_braces -= 1
                else:
                    self._report("E0112", token)
                while self._stream.LT(1).type == tt.CLOSE:  # more of them are the same mistake
                    self._stream.consume()
                continue
            self._unknown_declaration()
            self._skip_declaration(start)

    def _sync_body(self) -> None:
        while True:
            token = self._stream.LT(1)
            if token.type in (tt.CLOSE, tt.EOF):
                return
            index = self._stream.index
            if self._begins_declaration(index):
                if self._is_nested(token):
                    word = self._stream.tokens[self._behind_annotations(index)]
                    self._report("E0113", word, word=word.text)
                    self._parser._ctx.lost_members = True
                    self._remember_name(index)
                    self._skip_member(index)
                    continue
                self._missing_bracket(tt.CLOSE)
                self._stream.tokens.insert(index, self._supplied(tt.CLOSE))
                self._supplied_braces += 1
                return
            service = isinstance(self._parser._ctx, MfidlParser.ServiceBodyContext)
            if token.type in _MEMBER_STARTS and not (service and token.type in _INTEGERS):
                return
            if token.type == tt.SEMICOLON and self._stream.LT(-1).type in (
                tt.SEMICOLON,
                tt.OPEN_BRACE,
                tt.CLOSE,
            ):
                self._stream.consume()  # a harmless empty member
                continue
            self._unexpected("a method or `}`" if service else "a field or `}`")
            self._parser._ctx.lost_members = True
            if token.type == tt.OPEN_BRACE and self._stream.LT(-1).type == tt.OPEN_BRACE:
                self._stream.consume()  # written twice
            else:
                self._skip_member(index)

    def _sync_struct(self) -> None:
        """Before the body: supply a forgotten `{` in front of what is clearly a field."""
        index = self._stream.index
        if self._parser._ctx.id_ is not None and self._is_body(index):
            self._missing_brace()
            self._stream.tokens.insert(index, self._supplied(tt.OPEN_BRACE))

    def _is_nested(self, token: Token) -> bool:
        """Whether a declaration inside of a body is meant to be there: it is indented against its holder."""
        holder = self._parser._ctx.parentCtx.start
        position = self._source.position
        return position(token.start)[1] > position(holder.start)[1]

    def _sync_enum(self) -> None:
        context = self._parser._ctx
        if context.opening is None:
            return
        while True:
            token, previous = self._stream.LT(1), self._stream.LT(-1)
            if token.type in (tt.CLOSE, tt.EOF):
                return
            if self._begins_declaration(self._stream.index):
                self._missing_bracket(tt.CLOSE)
                self._stream.tokens.insert(self._stream.index, self._supplied(tt.CLOSE))
                self._supplied_braces += 1
                return
            at_start = previous.type in (tt.OPEN_BRACE, tt.COMMA)
            if token.type == tt.COMMA and context.members:
                return
            if token.type in _NAMES or token.type == tt.AT:
                if at_start:
                    return
                if self._is_enum_member(self._stream.index):
                    self._missing_comma()
                    return
            if token.type == tt.SEMICOLON and not at_start:
                self._unexpected("`,`")
                token.type = tt.COMMA
                return
            self._lose_enum_member(token, previous, at_start)

    def _is_enum_member(self, index: int) -> bool:
        tokens = self._stream.tokens
        following = tokens[min(index + 1, len(tokens) - 1)].type
        return following in (tt.ASSIGN, tt.COMMA, tt.CLOSE) or tokens[index].type == tt.AT

    def _lose_enum_member(self, token: Token, previous: Token, at_start: bool) -> None:
        """Report what is no member, and go on behind it."""
        context = self._parser._ctx
        context.lost_members = True
        if at_start:
            self._unexpected("a member or `}`")
        elif previous.type in _NAMES and token.type in _VALUE_STARTS:
            self._unexpected("`=`")
        else:
            self._unexpected("`,` or `}`")
        self._stream.consume()
        if token.type == tt.OPEN_BRACE and previous.type == tt.OPEN_BRACE:
            return  # written twice
        self._skip_to_comma()
        if not context.members and self._stream.LT(1).type == tt.COMMA:
            self._stream.consume()

    def _sync_fields(self) -> None:
        self._sync_list(tt.LPAREN, tt.RPAREN, _MEMBER_STARTS)

    def _sync_arguments(self) -> None:
        if self._parser._ctx.opening is not None:
            self._sync_list(tt.LPAREN, tt.RPAREN, _VALUE_STARTS)

    def _sync_elements(self) -> None:
        context = self._parser._ctx
        if context.list_ is not None:
            self._sync_list(tt.LBRACKET, tt.RBRACKET, _VALUE_STARTS)
        elif context.brace is not None:
            self._sync_list(tt.OPEN_BRACE, tt.CLOSE, _VALUE_STARTS)

    def _sync_list(self, opening: int, closing: int, starts: frozenset[int]) -> None:
        """Between two elements: supply a forgotten comma if an element follows on the spot."""
        index = self._stream.index
        token, previous = self._stream.tokens[index], self._stream.LT(-1)
        if token.type in (tt.COMMA, closing) or previous.type in (opening, tt.COMMA):
            return
        if token.type not in starts or token.type == tt.THROWS or self._declares(index):
            return
        if self._starts_line(index) and self._looks_like_method(index):
            return  # the bracket is missing, not a comma
        if self._begins_element(index):
            self._missing_comma()

    def _begins_element(self, index: int) -> bool:
        tokens, context = self._stream.tokens, self._parser._ctx
        following = tokens[min(index + 1, len(tokens) - 1)].type
        if isinstance(context, MfidlParser.FieldListContext):
            return following == tt.COLON or tokens[index].type == tt.AT
        if isinstance(context, MfidlParser.AnnotationContext):
            return following == tt.ASSIGN
        return True

    def _missing_comma(self) -> None:
        if self._may_report():
            self._diagnostics.error("E0111", self._behind_last())
        self._stream.tokens.insert(self._stream.index, self._supplied(tt.COMMA))

    # Reports ------------------------------------------------------------------------------------------------

    def _may_report(self) -> bool:
        """Once at a place, and not beside a token that was reported when it was read."""
        index = self._stream.index
        if self._reported_at == index:
            return False
        self._reported_at = index
        return not (self._stream.LT(1).broken or (index > 0 and self._stream.LT(-1).broken))

    def _report(self, code: str, token: Token, **values: Any) -> None:
        if self._may_report():
            self._diagnostics.error(code, self._span(token), **values)

    def _unexpected(self, expected: str) -> SyntaxMistake:
        token = self._stream.LT(1)
        if self._may_report():
            found = "the end of the file" if token.type == tt.EOF else f"`{_short(token.text)}`"
            span = self._span(token) if token.type != tt.EOF else self._behind_last()
            self._diagnostics.error("E0101", span, help=self._hint(token), expected=expected, found=found)
        return SyntaxMistake(recognizer=None, input=self._stream, ctx=self._parser._ctx)

    def _hint(self, token: Token) -> str | None:
        """Where C habits show: `u32 doc;` for `doc: u32;`."""
        context, previous = self._parser._ctx, self._stream.LT(-1)
        is_field = isinstance(context, MfidlParser.StructMemberContext | MfidlParser.FieldContext)
        if is_field and context.of is None and token.type in _NAMES and previous.type in _NAMES:
            name, kind = _short(token.text), _short(previous.text)
            if name in _TYPE_WORDS and kind not in _TYPE_WORDS:
                return f"write `{kind}: {name}`"
            return f"the name comes first: `{name}: {kind}`"
        if isinstance(context, MfidlParser.MethodContext) and token.type == tt.COLON:
            return "results are written `name(...) -> type;`"
        if isinstance(context, MfidlParser.StructDeclContext) and token.type == tt.COLON:
            return "structs do not inherit; make the other struct a field"
        return None

    def _unknown_declaration(self) -> None:
        token = self._stream.LT(1)
        if token.type in _NAMES:
            self._report_unknown_word(token)
        else:
            self._unexpected("a declaration")

    def _report_unknown_word(self, token: Token) -> None:
        if self._may_report():
            words = [text for text, number in tt.KEYWORDS.items() if number in _DECLARES]
            hint = did_you_mean(token.text, words)
            self._diagnostics.error("E0110", self._span(token), help=hint, word=_short(token.text))

    def _wanted(self, context: Any) -> str:
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

    def _kind_of(self, ttype: int) -> str:
        return {tt.STRING: "a path in quotes", tt.EOF: "the end of the file"}.get(ttype, "a name")

    # Skipping -----------------------------------------------------------------------------------------------

    def _skip_member(self, start: int) -> None:
        """Behind the next `;` of this level, or to its `}`, or to a line that begins another member."""
        stream, depth = self._stream, 0
        while True:
            token = stream.LT(1)
            if token.type == tt.EOF or (token.type == tt.CLOSE and depth == 0):
                return
            fresh = depth == 0 and stream.index > start and self._starts_line(stream.index)
            if fresh and (self._looks_like_member(stream.index) or self._begins_declaration(stream.index)):
                return
            stream.consume()
            if token.type == tt.SEMICOLON and depth == 0:
                return
            depth += (token.type == tt.OPEN_BRACE) - (token.type == tt.CLOSE)
            if token.type == tt.CLOSE and depth == 0:
                return

    def _skip_declaration(self, start: int) -> None:
        """Behind the `;` or the body of the declaration that began at `start`, or to the next that begins a
        line.
        """
        stream = self._stream
        self._remember_name(start)
        behind = stream.tokens[start : stream.index]
        depth = sum((each.type == tt.OPEN_BRACE) - (each.type == tt.CLOSE) for each in behind)
        while True:
            token = stream.LT(1)
            if token.type == tt.EOF:
                return
            if depth <= 0 and stream.index > start and self._begins_declaration(stream.index):
                return
            if token.type == tt.CLOSE and depth <= 0 and stream.index > start:
                return
            stream.consume()
            if token.type == tt.SEMICOLON and depth <= 0:
                return
            depth += (token.type == tt.OPEN_BRACE) - (token.type == tt.CLOSE)
            if token.type == tt.CLOSE and depth <= 0:
                return

    def _skip_to_comma(self) -> None:
        stream, depth = self._stream, 0
        while True:
            token = stream.LT(1)
            if token.type == tt.EOF or (depth <= 0 and token.type in (tt.COMMA, tt.CLOSE)):
                return
            if depth <= 0 and self._begins_declaration(stream.index):
                return
            depth += (token.type in (tt.OPEN_BRACE, tt.LPAREN)) - (token.type in (tt.CLOSE, tt.RPAREN))
            stream.consume()

    def _remember_name(self, start: int) -> None:
        """The names in the head of a lost declaration, so that uses of them are not reported as well."""
        tokens = self._stream.tokens
        start = head = self._behind_annotations(start)
        while tokens[head].type not in (tt.OPEN_BRACE, tt.SEMICOLON, tt.EOF) and head < start + 100:
            if self._declares(head):
                start = head
                break
            head += 1
        self.lost_imports = self.lost_imports or tokens[start].type == tt.IMPORT
        last = start
        while tokens[last + 1 if last + 1 < len(tokens) else -1].type in _NAMES:
            last += 1
            self.broken_names.add(tokens[last].text)
        if last == start or tokens[last].type in _KEYWORDS:
            self.lost_declarations = True

    # Looking around -----------------------------------------------------------------------------------------

    def _starts_line(self, index: int) -> bool:
        tokens = self._stream.tokens
        return index == 0 or "\n" in self._source.text[tokens[index - 1].end : tokens[index].start]

    def _looks_like_member(self, index: int) -> bool:
        tokens = self._stream.tokens
        first, second = tokens[index].type, tokens[min(index + 1, len(tokens) - 1)].type
        if first == tt.AT:
            return self._starts_line(index)
        if first in _INTEGERS:
            return second == tt.COLON
        return first in _NAMES and second in (tt.COLON, tt.LPAREN)

    def _looks_like_method(self, index: int) -> bool:
        tokens = self._stream.tokens
        return tokens[index].type == tt.AT or tokens[min(index + 1, len(tokens) - 1)].type == tt.LPAREN

    def _begins_declaration(self, index: int) -> bool:
        """`struct Name`, first on its line, maybe behind annotations: no field or method looks like this."""
        if not self._starts_line(index):
            return False
        if self._stream.tokens[index].type == tt.AT:
            return self._declares(self._behind_annotations(index))
        return self._declares(index)

    def _behind_annotations(self, index: int) -> int:
        tokens, end = self._stream.tokens, len(self._stream.tokens) - 1
        while tokens[index].type == tt.AT:
            index += 2
            while index < end and tokens[index].type == tt.DOT:
                index += 2
            if index < end and tokens[index].type == tt.LPAREN:
                while index < end and tokens[index].type not in (tt.RPAREN, tt.SEMICOLON, tt.OPEN_BRACE):
                    index += 1
                index += 1
            if index >= end:
                return end
        return index

    def _declares(self, index: int) -> bool:
        tokens = self._stream.tokens
        return tokens[index].type in _DECLARES and tokens[min(index + 1, len(tokens) - 1)].type in _NAMES

    def _index_of(self, token: Token) -> int:
        """Where a token stands now (tokens may have been supplied before it)."""
        index = min(self._stream.index, len(self._stream.tokens) - 1)
        while index > 0 and self._stream.tokens[index] is not token:
            index -= 1
        return index

    def _span(self, token: Token) -> Span:
        return Span(self._source, token.start, max(token.end, token.start))

    def _behind_last(self) -> Span:
        """The place right behind the last token, where something is missing."""
        end = self._stream.LT(-1).end if self._stream.index > 0 else 0
        return Span(self._source, end, end)


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
