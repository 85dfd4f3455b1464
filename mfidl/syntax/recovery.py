"""F2. How the parser reports a syntax error and continues: one message for each mistake, recovery at `;` and
`}`.

`SchemaParser` is the generated parser with the runtime's matching replaced by direct reads of the token list.
The strategy passes an error up to the enclosing member or declaration, which then skips to its end. Missing
`;`, `,` and brackets are repaired in place, so that nothing is skipped for them. Nothing is reported next to
a token that was already reported.
"""

from typing import Any

from antlr4.error.Errors import RecognitionException

from mfidl.diagnostics import Diagnostics, Note
from mfidl.diagnostics.suggest import nearest
from mfidl.source import SourceFile
from mfidl.syntax import token_types as tt
from mfidl.syntax._antlr.MfidlParser import MfidlParser
from mfidl.syntax.hints import meant_declaration
from mfidl.syntax.lists import ListRecovery
from mfidl.syntax.lookaround import (
    AFTER_LOST_BRACKET,
    DECLARES,
    INNER,
    INTEGERS,
    MEMBER_STARTS,
    NAMES,
    VALUE_STARTS,
    Lookaround,
)
from mfidl.syntax.mistakes import Reporter, SyntaxMistake
from mfidl.syntax.skipping import Skipper
from mfidl.syntax.tokens import Token, TokenStream

_TEXTS = {number: text for table in (tt.KEYWORDS, tt.PUNCTUATION) for text, number in table.items()}
_RESULT_WORDS = frozenset(("returns", "return", "raises", "throw", "throws"))
_OPENINGS = frozenset((tt.LBRACKET, tt.LPAREN, tt.LESS))
_MAY_BEGIN_INNER = frozenset((*INNER, tt.AT))
_PAIR_OF = {tt.CLOSE: "}", tt.RPAREN: ")", tt.GREATER: ">", tt.RBRACKET: "]"}


class _Word:
    """Replaces the contexts of a name and of a path of one name, which are half of all."""

    __slots__ = ("parts", "start", "stop", "token")

    exception = None

    def __init__(self, token: Token) -> None:
        self.token = self.start = self.stop = token
        self.parts = (self,)


class SchemaParser(MfidlParser):  # type: ignore[misc]
    """The generated parser over a token list, with the steps of the runtime that are taken for each rule
    shortened to what is needed without a tree and without listeners.
    """

    state = -1  # instead of a property

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

    def enterRule(self, localctx: Any, state: int, _rule: int) -> None:
        self.state = state
        self._ctx = localctx
        localctx.start = self.stream.tokens[self.stream.index]

    def enterOuterAlt(self, localctx: Any, _alternative: int) -> None:
        self._ctx = localctx

    def exitRule(self) -> None:
        context = self._ctx
        context.stop = self.stream.LT(-1)
        self.state = context.invokingState
        self._ctx = context.parentCtx

    def name(self) -> Any:
        stream = self.stream
        token = stream.tokens[stream.index]
        if token.type not in NAMES:
            return super().name()
        stream.index += 1
        return _Word(token)

    def path(self) -> Any:
        stream = self.stream
        token = stream.tokens[stream.index]
        if token.type not in NAMES or stream.tokens[stream.index + 1].type == tt.DOT:
            return super().path()
        stream.index += 1
        return _Word(token)


class RecoveryStrategy:
    """The error handler that the generated code calls (sync, reportMatch, reportError, recover,
    recoverInline).
    """

    def __init__(self, parser: SchemaParser, source: SourceFile, diagnostics: Diagnostics) -> None:
        self._parser = parser
        self._stream = parser.stream
        self._source = source
        self._around = Lookaround(source, parser.stream)
        self._say = Reporter(parser, parser.stream, source, diagnostics)
        self.skipped = Skipper(parser.stream, self._around)
        self._lists = ListRecovery(parser, self._say, self._around)
        self._supplied_braces = 0
        self._odd_brackets = 0
        self._hooks = {
            MfidlParser.FileContext: self._sync_file,
            MfidlParser.StructBodyContext: self._sync_body,
            MfidlParser.ServiceBodyContext: self._sync_body,
            MfidlParser.EnumBodyContext: self._sync_enum,
            MfidlParser.StructDeclContext: self._sync_struct,
            MfidlParser.FieldListContext: self._lists.fields,
            MfidlParser.AnnotationContext: self._lists.arguments,
            MfidlParser.ValueContext: self._lists.elements,
        }

    # Called by the generated code ---------------------------------------------------------------------------

    def reset(self, _recognizer: Any) -> None:
        """Does nothing, since the parser is used once."""

    def reportMatch(self, _recognizer: Any) -> None:
        """Does nothing, since nothing is counted per token."""

    def sync(self, recognizer: Any) -> None:
        hook = self._hooks.get(type(recognizer._ctx))
        if hook is not None:
            hook()

    def recoverInline(self, recognizer: Any) -> Token:
        raise self._say.unexpected(self._say.wanted(recognizer._ctx))

    def reportError(self, recognizer: Any, error: RecognitionException) -> None:
        if isinstance(error, SyntaxMistake) or getattr(error, "reported", False):
            return
        error.reported = True
        if isinstance(recognizer._ctx, MfidlParser.DeclContext):
            self._say.unknown_declaration()
        else:
            self._say.unexpected(self._say.wanted(recognizer._ctx))

    def recover(self, recognizer: Any, error: RecognitionException) -> None:
        context = recognizer._ctx
        if isinstance(context, MfidlParser.ItemContext):
            self.skipped.declaration(self._around.index_of(context.start))
        elif isinstance(context, MfidlParser.StructMemberContext | MfidlParser.MethodContext):
            self.skipped.member(self._around.index_of(context.start))
        elif isinstance(context, MfidlParser.EnumMemberContext):
            self.skipped.to_comma()
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
        if ttype == tt.ENUM and nearest(token.text, ("enum",)):
            if self._say.may_report():
                self._say.diagnostics.error(
                    "E0110", self._say.span(token), help="did you mean `enum`?", fix="enum", word=token.text
                )
            self._stream.consume()
            return token
        if ttype == tt.CLOSE and token.type == tt.EOF:
            self._missing_bracket(tt.CLOSE)
            return self._supplied(tt.CLOSE)
        if ttype == tt.OPEN_BRACE and token.type in _OPENINGS and self._is_body(self._stream.index + 1):
            self._odd_opening(token)
            self._stream.consume()
            return token
        if ttype == tt.OPEN_BRACE and self._is_body(self._stream.index):
            self._missing_brace()
            brace = self._supplied(tt.OPEN_BRACE)
            self._stream.supply(self._stream.index, brace)
            self._stream.consume()
            return brace
        if ttype in _PAIR_OF and self._is_other_bracket(ttype, token):
            self._stream.consume()
            return token
        if ttype in _PAIR_OF and self._is_past_bracket(ttype):
            self._missing_bracket(ttype)
            return self._supplied(ttype)
        expected = f"`{_TEXTS[ttype]}`" if ttype in _TEXTS else self._say.kind_of(ttype)
        if ttype == tt.GREATER:
            expected = "`,` or `>`"
        elif ttype in (tt.RPAREN, tt.RBRACKET) and self._stream.LT(-1).type not in (
            tt.LPAREN,
            tt.LBRACKET,
            tt.COMMA,
        ):
            expected = f"`,` or `{_TEXTS[ttype]}`"
        raise self._say.unexpected(expected)

    def _odd_opening(self, token: Token) -> None:
        """Reads `[` or `(` in place of `{` as such, and its closing bracket too."""
        self._say.unexpected("`{`")
        token.type = tt.OPEN_BRACE
        self._odd_brackets += 1

    def _is_other_bracket(self, ttype: int, token: Token) -> bool:
        """Whether another kind of bracket closes here. This is reported, unless the opening one was of that
        kind as well."""
        others = {tt.RPAREN, tt.RBRACKET} - {ttype}
        if token.type not in others or (ttype == tt.GREATER and token.type == tt.RPAREN):
            return False
        if ttype == tt.CLOSE and self._odd_brackets:
            self._odd_brackets -= 1
        else:
            self._say.unexpected(f"`{_PAIR_OF[ttype]}`")
        return True

    def _missing_semicolon(self, token: Token) -> Token:
        index = self._stream.index
        if token.type == tt.OPEN_BRACE and isinstance(self._parser._ctx, MfidlParser.ModuleDeclContext):
            self._say.unexpected("`;`")
            self._stream.consume()
            self._supplied_braces += 1
            return token
        if token.type == tt.COLON and index >= 2 and self._around.starts_line(index - 1):
            # In `x:` followed by a line `y: u32;` the type is missing, and the next name was read as the
            # type.
            self._stream.index = index - 1
            if self._say.may_report():
                self._say.diagnostics.error(
                    "E0101", self._say.behind_last(), expected="a type", found="the end of the line"
                )
            raise SyntaxMistake(recognizer=None, input=self._stream, ctx=self._parser._ctx)
        if token.type == tt.COMMA and self._ends_member(index):
            body = self._parser._ctx.parentCtx
            if not getattr(body, "commas", False):
                self._say.unexpected("`;`")
            body.commas = True  # the others of this body are the same mistake
            self._stream.consume()
            return token
        if token.type == tt.CLOSE and getattr(self._parser._ctx.parentCtx, "commas", False):
            return self._supplied(tt.SEMICOLON)  # with commas as separators there is none after the last
        in_struct = isinstance(self._parser._ctx, MfidlParser.StructMemberContext)
        # `x: u32 range(1..2)` is no field, and `f() returns (u32)` no method behind another one.
        calls = self._stream.LT(2).type == tt.LPAREN and (in_struct or token.text in _RESULT_WORDS)
        ends_here = (
            token.type in (tt.CLOSE, tt.EOF)
            or self._around.starts_line(index)
            or (self._around.looks_like_member(index) and not calls)
            or (self._ends_declaration() and self._around.declares(self._around.behind_annotations(index)))
        )
        if not ends_here:
            raise self._say.unexpected("`;`")
        if self._say.may_report():
            self._say.diagnostics.error("E0102", self._say.behind_last(), fix=";")
        if self._around.starts_line(index):
            self._say.begin_anew()
        return self._supplied(tt.SEMICOLON)

    def _ends_declaration(self) -> bool:
        """Whether the semicolon belongs to a declaration, and not to a member of one."""
        return not isinstance(self._parser._ctx, MfidlParser.StructMemberContext | MfidlParser.MethodContext)

    def _ends_member(self, index: int) -> bool:
        """Whether a comma is at the end of a field or method."""
        if not isinstance(self._parser._ctx, MfidlParser.StructMemberContext | MfidlParser.MethodContext):
            return False
        following = self._stream.tokens[min(index + 1, len(self._stream.tokens) - 1)]
        ends_line = self._around.starts_line(index + 1) or following.type == tt.CLOSE
        return ends_line or self._around.looks_like_member(index + 1)

    def _missing_bracket(self, ttype: int) -> None:
        if self._say.may_report():
            opening = getattr(self._parser._ctx, "opening", None)
            notes = [Note("opened here", self._say.span(opening))] if opening is not None else []
            self._say.diagnostics.error(
                "E0103", self._say.behind_last(), notes=notes, bracket=_PAIR_OF[ttype]
            )

    def _missing_brace(self) -> None:
        if self._say.may_report():
            self._say.diagnostics.error("E0103", self._say.behind_last(), fix=" {", bracket="{")

    def _is_body(self, index: int) -> bool:
        """Whether the members of a declaration begin here, without their `{`."""
        tokens = self._stream.tokens
        following = tokens[min(index + 1, len(tokens) - 1)].type
        if isinstance(self._parser._ctx, MfidlParser.EnumBodyContext):
            return tokens[index].type in NAMES and following in (tt.ASSIGN, tt.COMMA)
        return self._around.looks_like_member(index) and tokens[index].type != tt.COLON

    def _is_past_bracket(self, ttype: int) -> bool:
        """Whether the next token cannot belong in a bracket that is still open."""
        index = self._stream.index
        token = self._stream.tokens[index]
        if (
            token.type in AFTER_LOST_BRACKET
            or self._around.starts_line(index)
            or self._around.declares(index)
        ):
            return True
        if isinstance(self._parser._ctx, MfidlParser.AnnotationContext) and self._around.looks_like_member(
            index
        ):
            return True
        return ttype == tt.GREATER and token.type == tt.RPAREN

    def _supplied(self, ttype: int) -> Token:
        end = self._stream.LT(-1).end
        return Token(ttype, _TEXTS[ttype], end, end)

    # Before each turn of a loop -----------------------------------------------------------------------------

    def _sync_file(self) -> None:
        while True:
            token = self._stream.LT(1)
            if token.type in DECLARES or token.type in (tt.EOF, tt.AT, tt.SEMICOLON):
                return
            start = self._stream.index
            if token.type == tt.CLOSE:
                if self._supplied_braces:
                    self._supplied_braces -= 1
                else:
                    self._say.report("E0112", token)
                while self._stream.LT(1).type == tt.CLOSE:  # more of them are the same mistake
                    self._stream.consume()
                continue
            if token.type in NAMES and self._goes_on_behind(token):
                continue
            self._say.unknown_declaration()
            self.skipped.declaration(start)

    def _goes_on_behind(self, token: Token) -> bool:
        """Whether a word that begins no declaration can be read as one that does, or left out: its content is
        then checked like any other. Reports it.
        """
        following = self._stream.LT(2)
        meant = meant_declaration(token.text, following)[1]
        if meant is not None and (
            following.type in NAMES or (meant == "import" and following.type == tt.STRING)
        ):
            self._say.unknown_declaration()
            token.type, token.text = tt.KEYWORDS[meant], meant
            return True
        if following.type in DECLARES and self._around.declares(self._stream.index + 1):
            self._say.unknown_declaration()
            self._stream.consume()
            return True
        body = self._around.behind_path(self._stream.index + 1)
        if token.text in ("namespace", "package", "mod") and self._stream.tokens[body].type == tt.OPEN_BRACE:
            self._say.unknown_declaration()
            self._stream.index = body + 1
            self._supplied_braces += 1
            return True
        return False

    def _sync_body(self) -> None:
        while True:
            token = self._stream.LT(1)
            if token.type in (tt.CLOSE, tt.EOF):
                return
            index = self._stream.index
            if token.type in _MAY_BEGIN_INNER and self._begins_inner(token, index):
                return
            if self._around.begins_declaration(index):
                if self._is_nested(token):
                    word = self._stream.tokens[self._around.behind_annotations(index)]
                    hint = "declare it beside the other one"
                    self._say.report("E0113", word, help=hint, word=word.text)
                    self._parser._ctx.lost_members = True
                    self.skipped.remember_name(index)
                    self.skipped.member(index)
                    continue
                self._missing_bracket(tt.CLOSE)
                self._stream.supply(index, self._supplied(tt.CLOSE))
                self._supplied_braces += 1
                return
            service = isinstance(self._parser._ctx, MfidlParser.ServiceBodyContext)
            if token.type in MEMBER_STARTS and not (service and token.type in INTEGERS):
                return
            if token.type == tt.SEMICOLON and self._stream.LT(-1).type in (
                tt.SEMICOLON,
                tt.OPEN_BRACE,
                tt.CLOSE,
            ):
                self._stream.consume()  # a harmless empty member
                continue
            if token.type in (tt.RBRACKET, tt.RPAREN) and self._is_wrong_end(token):
                return
            self._say.unexpected("a method or `}`" if service else "a field or `}`")
            self._parser._ctx.lost_members = True
            if token.type == tt.OPEN_BRACE and self._stream.LT(-1).type == tt.OPEN_BRACE:
                self.skipped.braces()
            else:
                self.skipped.member(index)

    def _is_wrong_end(self, token: Token) -> bool:
        """Whether a body ends with a wrong bracket, which is then read as the right one. This is reported,
        unless the opening bracket was of that kind as well.
        """
        behind = self._stream.index + 1
        is_last = self._stream.tokens[behind].type in (tt.EOF, tt.SEMICOLON)
        if not self._odd_brackets and not is_last and not self._around.begins_declaration(behind):
            return False
        if self._odd_brackets:
            self._odd_brackets -= 1
        else:
            self._say.unexpected("`}`")
        token.type = tt.CLOSE
        return True

    def _sync_struct(self) -> None:
        """Before the body: supplies a forgotten `{` before what is clearly a field."""
        index = self._stream.index
        token = self._stream.tokens[index]
        if token.type in _OPENINGS and self._parser._ctx.id_ is not None and self._is_body(index + 1):
            self._odd_opening(token)
            return
        if self._parser._ctx.id_ is not None and self._is_body(index):
            self._missing_brace()
            self._stream.supply(index, self._supplied(tt.OPEN_BRACE))

    def _begins_inner(self, token: Token, index: int) -> bool:
        """Whether a type is declared here, in the body of another declaration; its words then say so to the
        parser. At the beginning of a line that is not indented it is rather the next declaration, if a `}`
        is missing somewhere.
        """
        words = self._around.inner(self._around.behind_annotations(index))
        if not words:
            return False
        doubtful = self._around.starts_line(index) and not self._is_nested(token)
        if doubtful and not self._around.is_balanced():
            return False
        for word in words:
            word.type = INNER[word.type]
        return True

    def _is_nested(self, token: Token) -> bool:
        """Whether a declaration inside of a body is meant to be there: it is indented relative to its
        parent."""
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
            if self._around.begins_declaration(self._stream.index):
                self._missing_bracket(tt.CLOSE)
                self._stream.supply(self._stream.index, self._supplied(tt.CLOSE))
                self._supplied_braces += 1
                return
            if token.type in (tt.RBRACKET, tt.RPAREN) and self._is_wrong_end(token):
                return
            at_start = previous.type in (tt.OPEN_BRACE, tt.COMMA)
            if token.type == tt.COMMA and context.members:
                return
            if token.type in NAMES or token.type == tt.AT:
                if at_start:
                    return
                if self._is_enum_member(self._stream.index):
                    self._lists.missing_comma()
                    return
            if token.type == tt.SEMICOLON and not at_start:
                if not getattr(context, "semicolons", False):
                    self._say.unexpected("`,`")
                context.semicolons = True  # the others of this body are the same mistake
                token.type = tt.COMMA
                return
            self._lose_enum_member(token, previous, at_start)

    def _is_enum_member(self, index: int) -> bool:
        tokens = self._stream.tokens
        following = tokens[min(index + 1, len(tokens) - 1)].type
        return following in NAMES | {tt.ASSIGN, tt.COMMA, tt.CLOSE} or tokens[index].type == tt.AT

    def _lose_enum_member(self, token: Token, previous: Token, at_start: bool) -> None:
        """Reports an invalid member, and continues after it."""
        context = self._parser._ctx
        context.lost_members = True
        if at_start:
            self._say.unexpected("a member or `}`")
        elif previous.type in NAMES and token.type in VALUE_STARTS:
            self._say.unexpected("`=`")
        else:
            self._say.unexpected("`,` or `}`")
        if token.type == tt.OPEN_BRACE and previous.type == tt.OPEN_BRACE:
            self.skipped.braces()
            return
        self._stream.consume()
        self.skipped.to_comma()
        if not context.members and self._stream.LT(1).type == tt.COMMA:
            self._stream.consume()
