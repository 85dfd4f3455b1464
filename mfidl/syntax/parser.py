"""F2. Source to syntax tree: `parse` is the only way to use ANTLR.

The tree is built from the labels of the rule contexts (no parse tree exists). A context with an exception did
not parse: it is left out, and its parent is marked as broken.
"""

import gc
from typing import Any

from mfidl.diagnostics import Diagnostics
from mfidl.source import SourceFile, Span
from mfidl.syntax import ast, literals
from mfidl.syntax import token_types as tt
from mfidl.syntax.recovery import SchemaParser
from mfidl.syntax.tokens import Scan, Token, scan


def parse(source: SourceFile, diagnostics: Diagnostics) -> ast.File:
    """The tree of everything that parsed. Errors are reported, never raised.

    The garbage collector is off meanwhile: parsing makes many objects and no garbage, and collecting costs up
    to half of the time.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        scanned = scan(source)
        if scanned.is_cut:
            scanned.report(source, diagnostics)
            return ast.File(source, (), frozenset(), lost_declarations=True, lost_imports=True)
        parser = SchemaParser(source, _tokens(source, scanned, diagnostics), diagnostics)
        context = parser.file_()
        builder = _Builder(source, diagnostics)
        declarations = builder.declarations(context.items)
        return ast.File(
            source,
            declarations,
            frozenset(parser.strategy.skipped.broken_names | _foreign(parser.stream.tokens, diagnostics)),
            parser.strategy.skipped.lost_declarations,
            parser.strategy.skipped.lost_imports,
        )
    finally:
        if collecting:
            gc.enable()


def _tokens(source: SourceFile, scanned: Scan, diagnostics: Diagnostics) -> list[Token]:
    """What the parser reads. The module that repairs texts is loaded only for texts that need it."""
    if scanned.is_plain(source):
        scanned.report(source, diagnostics)
        return scanned.tokens
    from mfidl.syntax.strays import mended

    return mended(source, scanned, diagnostics)


def _foreign(tokens: list[Token], diagnostics: Diagnostics) -> set[str]:
    """Names with letters that names must not have. They are reported already, so they are not reported as
    unknown."""
    if not diagnostics:
        return set()
    return {token.text for token in tokens if token.broken and token.type == tt.NAME}


def _is_broken(body: Any, members: list[Any]) -> bool:
    """Whether a body lost a member."""
    return len(members) < len(body.members) or getattr(body, "lost_members", False)


def _ok(contexts: list[Any]) -> list[Any]:
    return [each for each in contexts if each.exception is None]


class _Builder:
    """Turns contexts into nodes. One per file."""

    def __init__(self, source: SourceFile, diagnostics: Diagnostics) -> None:
        self._source = source
        self._diagnostics = diagnostics
        self._inner: list[ast.Decl] = []  # what is within the declaration that is being built
        self._declare = {
            "a": self._module,
            "b": self._import,
            "c": self._const,
            "d": self._alias,
            "e": self._agent,
            "f": self._enum,
            "g": self._flags,
            "h": self._struct,
            "i": self._service,
            "j": self._topic,
        }

    def declarations(self, items: list[Any]) -> tuple[ast.Decl, ...]:
        made: list[ast.Decl] = []
        for item in _ok(items):
            holder = item.declaration
            if holder is None:
                continue
            for label, build in self._declare.items():
                context = getattr(holder, label)
                if context is not None:
                    annotations = self._annotations(item.annotations)
                    declared = build(context, annotations, item.start.doc)
                    if self._inner:
                        made += self._inner
                        self._inner.clear()
                    made.append(declared)
                    break
        return tuple(made)

    # Spans and names ----------------------------------------------------------------------------------------

    def _span(self, context: Any) -> Span:
        return Span(self._source, context.start.start, max(context.start.end, context.stop.end))

    def _token(self, token: Any) -> Span:
        return Span(self._source, token.start, token.end)

    def _name(self, context: Any) -> ast.Name:
        token = context.token
        return ast.Name(token.text, Span(self._source, token.start, token.end))

    def _path(self, context: Any) -> ast.Path:
        parts = tuple([self._name(each) for each in context.parts])
        return ast.Path(parts, Span(self._source, parts[0].span.start, parts[-1].span.end))

    def _maybe_path(self, context: Any) -> ast.Path | None:
        return None if context is None else self._path(context)

    # Declarations -------------------------------------------------------------------------------------------

    def _module(self, context: Any, annotations: tuple[ast.Annotation, ...], doc: str) -> ast.Decl:
        return ast.ModuleDecl(self._path(context.id_), annotations, doc, self._span(context))

    def _import(self, context: Any, annotations: tuple[ast.Annotation, ...], doc: str) -> ast.Decl:
        target = literals.string(context.target.text, self._token(context.target), self._diagnostics)
        if not isinstance(target, ast.StringLiteral):
            target = ast.StringLiteral(b"", target.span)
        alias = None if context.alias is None else self._name(context.alias)
        return ast.ImportDecl(target, alias, annotations, doc, self._span(context))

    def _const(self, context: Any, annotations: tuple[ast.Annotation, ...], doc: str) -> ast.Decl:
        return ast.ConstDecl(
            self._name(context.id_),
            self._type(context.of),
            self._annotations(context.annotations),
            self._value(context.init),
            annotations,
            doc,
            self._span(context),
        )

    def _alias(self, context: Any, annotations: tuple[ast.Annotation, ...], doc: str) -> ast.Decl:
        return self._alias_of(context, context.annotations, annotations, doc, "")

    def _alias_of(
        self, context: Any, after: list[Any], annotations: tuple[ast.Annotation, ...], doc: str, within: str
    ) -> ast.AliasDecl:
        name, type_ = self._name(context.id_), self._type(context.of)
        span = self._span(context)
        return ast.AliasDecl(name, type_, self._annotations(after), annotations, doc, span, within)

    def _agent(self, context: Any, annotations: tuple[ast.Annotation, ...], doc: str) -> ast.Decl:
        return ast.AgentDecl(
            self._name(context.id_), self._type(context.of), annotations, doc, self._span(context)
        )

    def _enum(self, context: Any, annotations: tuple[ast.Annotation, ...], doc: str) -> ast.Decl:
        return self._enum_like("enum", context, context.open_ is not None, annotations, doc)

    def _flags(self, context: Any, annotations: tuple[ast.Annotation, ...], doc: str) -> ast.Decl:
        return self._enum_like("flags", context, False, annotations, doc)

    def _enum_like(
        self, keyword: Any, context: Any, open_: bool, annotations: tuple[ast.Annotation, ...], doc: str
    ) -> ast.Decl:
        return self._enum_of(keyword, context, context.body, open_, annotations, doc, "")

    def _enum_of(
        self,
        keyword: Any,
        context: Any,
        body: Any,
        open_: bool,
        annotations: tuple[ast.Annotation, ...],
        doc: str,
        within: str,
    ) -> ast.EnumDecl:
        members = _ok(body.members)
        return ast.EnumDecl(
            keyword,
            open_,
            self._name(context.id_),
            None if context.base is None else self._type(context.base),
            tuple([self._enum_member(each) for each in members]),
            _is_broken(body, members),
            annotations,
            doc,
            self._span(context),
            within,
        )

    def _inner_declarations(self, members: list[Any], holder: str) -> None:
        """Keeps the types that are declared among the members of a body, and those within them first."""
        for member in members:
            context = member.inner
            if context is None or context.exception is not None:
                continue
            annotations, doc = self._annotations(member.annotations), member.start.doc
            keyword = context.kind.text
            made: ast.StructDecl | ast.EnumDecl | ast.AliasDecl
            if context.body is not None:
                made = self._struct_of(keyword, context, annotations, doc, holder)
            elif context.members is not None:
                open_, body = context.open_ is not None, context.members
                made = self._enum_of(keyword, context, body, open_, annotations, doc, holder)
            else:
                made = self._alias_of(context, context.after, annotations, doc, holder)
            self._inner.append(made)

    def _enum_member(self, context: Any) -> ast.EnumMember:
        return ast.EnumMember(
            self._name(context.id_),
            None if context.number is None else self._value(context.number),
            self._annotations([*context.annotations, *context.after]),
            context.start.doc,
            self._span(context),
        )

    def _struct(self, context: Any, annotations: tuple[ast.Annotation, ...], doc: str) -> ast.Decl:
        return self._struct_of(context.kind.text, context, annotations, doc, "")

    def _struct_of(
        self,
        keyword: Any,
        context: Any,
        annotations: tuple[ast.Annotation, ...],
        doc: str,
        within: str,
    ) -> ast.StructDecl:
        body = context.body
        every = [] if body is None else _ok(body.members)
        members = [each for each in every if each.inner is None]
        if len(members) < len(every):
            name = context.id_.token.text
            self._inner_declarations(every, f"{within}.{name}" if within else name)
        return ast.StructDecl(
            keyword,
            self._name(context.id_),
            tuple([self._field(each) for each in members if each.of is not None]),
            tuple([self._reserved(each) for each in members if each.of is None and self._is_reserved(each)]),
            body is not None,
            body is not None and _is_broken(body, every),
            annotations,
            doc,
            self._span(context),
            within,
        )

    def _is_reserved(self, context: Any) -> bool:
        """A member without a type is `reserved ...`, or a mistake."""
        if context.id_.token.text == "reserved":
            return True
        token = context.id_.token
        self._diagnostics.error(
            "E0101", self._token(token), expected="`reserved`, or `:` and a type", found=f"`{token.text}`"
        )
        return False

    def _reserved(self, context: Any) -> ast.Reserved:
        if context.number is not None:
            token = context.number.token
            self._diagnostics.error(
                "E0101", self._token(token), expected="`reserved` alone", found=f"`{token.text}`"
            )
        made = [self._reserved_item(each) for each in context.reserved]
        items = tuple([each for each in made if each is not None])
        return ast.Reserved(items, self._annotations(context.annotations), self._span(context))

    def _reserved_item(self, context: Any) -> ast.ReservedRange | ast.StringLiteral | None:
        if context.text is not None:
            text = literals.string(context.text.text, self._token(context.text), self._diagnostics)
            return text if isinstance(text, ast.StringLiteral) else None
        low = self._integer(context.low)
        high = low if context.high is None else self._integer(context.high)
        if isinstance(low, ast.IntLiteral) and isinstance(high, ast.IntLiteral):
            return ast.ReservedRange(low, high, self._span(context))
        return None

    def _field(self, context: Any) -> ast.Field:
        return ast.Field(
            self._name(context.id_),
            None if context.number is None else self._integer(context.number),
            self._type(context.of),
            None if context.init is None else self._value(context.init),
            self._annotations([*context.annotations, *context.after]),
            context.start.doc,
            self._span(context),
        )

    def _service(self, context: Any, annotations: tuple[ast.Annotation, ...], doc: str) -> ast.Decl:
        every = _ok(context.body.methods)
        methods = [each for each in every if each.inner is None]
        if len(methods) < len(every):
            self._inner_declarations(every, context.id_.token.text)
        return ast.ServiceDecl(
            self._name(context.id_),
            self._maybe_path(context.base),
            self._maybe_path(context.agent),
            tuple([self._method(each) for each in methods]),
            len(every) < len(context.body.methods) or getattr(context.body, "lost_members", False),
            annotations,
            doc,
            self._span(context),
        )

    def _method(self, context: Any) -> ast.MethodDecl:
        results: tuple[ast.Field, ...] | ast.TypeExpr | None = None
        if context.results is not None:
            results = tuple([self._field(each) for each in context.results.fields])
        elif context.of is not None:
            results = self._type(context.of)
        return ast.MethodDecl(
            self._name(context.id_),
            tuple([self._field(each) for each in context.params.fields]),
            results,
            self._annotations(context.after),
            None if context.arrow is None else self._token(context.arrow),
            tuple([self._path(each) for each in context.errors]),
            self._annotations(context.annotations),
            context.start.doc,
            self._span(context),
        )

    def _topic(self, context: Any, annotations: tuple[ast.Annotation, ...], doc: str) -> ast.Decl:
        return ast.TopicDecl(
            self._name(context.id_),
            self._maybe_path(context.agent),
            self._type(context.of),
            self._annotations(context.annotations),
            annotations,
            doc,
            self._span(context),
        )

    # Types, annotations, values -----------------------------------------------------------------------------

    def _type(self, context: Any) -> ast.TypeExpr:
        arguments = None
        if context.arguments:
            arguments = tuple([self._type_argument(each) for each in context.arguments])
        marks = tuple([self._token(each) for each in context.optional])
        return ast.TypeExpr(self._path(context.id_), arguments, marks, (), self._span(context))

    def _type_argument(self, context: Any) -> ast.TypeExpr | ast.IntLiteral | ast.BrokenExpr:
        if context.of is None:
            return self._integer(context.number)
        bare = self._type(context.of)
        annotations = self._annotations(context.annotations)
        return ast.TypeExpr(bare.path, bare.arguments, bare.optional_marks, annotations, bare.span)

    def _annotations(self, contexts: list[Any]) -> tuple[ast.Annotation, ...]:
        if not contexts:
            return ()
        return tuple([self._annotation(each) for each in contexts])

    def _annotation(self, context: Any) -> ast.Annotation:
        arguments = tuple([self._argument(each) for each in context.arguments])
        return ast.Annotation(
            self._path(context.id_), arguments, context.opening is not None, self._span(context)
        )

    def _argument(self, context: Any) -> ast.Argument:
        span = self._span(context)
        left = None if context.left is None else self._value(context.left)
        right = None if context.right is None else self._value(context.right)
        if context.dots is not None:
            return ast.Argument(None, ast.RangeExpr(left, right, span), span)
        assert left is not None
        return ast.Argument(left, right, span) if right is not None else ast.Argument(None, left, span)

    def _value(self, context: Any) -> ast.Expr:
        span = self._span(context)
        if context.number is not None:
            return literals.number(context.number.type, context.number.text, context.minus is not None, span)
        if context.id_ is not None:
            return ast.NameExpr(self._path(context.id_), context.minus is not None, span)
        if context.text is not None:
            if context.text.type == tt.BAD_STRING:
                return ast.BrokenExpr(span)
            return literals.string(context.text.text, span, self._diagnostics)
        if context.list_ is not None:
            return ast.ListExpr(tuple([self._value(each) for each in context.elements]), span)
        entries = tuple([(self._value(each.key), self._value(each.held)) for each in context.entries])
        return ast.BraceExpr(entries, span)

    def _integer(self, context: Any) -> ast.IntLiteral | ast.BrokenExpr:
        token = context.token
        if token.type == tt.BAD_NUMBER:
            return ast.BrokenExpr(self._token(token))
        return ast.IntLiteral(literals.integer(token.text), self._token(token))
