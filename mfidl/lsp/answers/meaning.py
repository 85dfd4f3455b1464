"""The name that is declared or used at a place of a text that was analysed."""

from collections.abc import Iterator
from dataclasses import dataclass

from mfidl.lsp.workspace import Snapshot
from mfidl.semantics.symbols import Kind, Symbol, name_span
from mfidl.semantics.uses import module_span
from mfidl.source import Span
from mfidl.syntax import ast

Member = ast.Field | ast.EnumMember | ast.MethodDecl


@dataclass(frozen=True, slots=True)
class Meaning:
    """`span`: the name at the place; `target`: that at its declaration; `kind` as of `Use`, or "method"."""

    span: Span
    target: Span
    kind: Kind | str


@dataclass(frozen=True, slots=True)
class Declared:
    """A declaration, or a member of one, by its name's place. `symbol` None: of a module."""

    symbol: Symbol | None
    member: Member | None
    doc: str
    owner: Member | None = None  # the method that a parameter or result is of


def meaning_at(snapshot: Snapshot, offset: int) -> Meaning | None:
    for use in snapshot.own_uses:
        if use.span.start <= offset <= use.span.end:
            return Meaning(use.span, use.target, use.kind)
        if use.span.start > offset:
            break
    for span, kind in declared_names(snapshot):
        if span.start <= offset <= span.end:
            return Meaning(span, span, kind)
    return None


def declared_names(snapshot: Snapshot) -> Iterator[tuple[Span, Kind | str]]:
    """Each name that the file declares."""
    scope = snapshot.scope
    if scope is None or snapshot.module is None:
        return
    if snapshot.module.declaration is not None:
        yield module_span(snapshot.module), "module"
    for declaration, _ in snapshot.module.imports:
        if declaration.alias is not None:
            yield declaration.alias.span, "alias"
    for symbol in (*scope.symbols.values(), *scope.duplicates):
        if symbol.declaration is None:
            continue
        yield name_span(symbol.declaration), symbol.kind
        for member, kind, _ in members(symbol.declaration):
            yield member.name.span, kind


def members(declaration: ast.Decl) -> Iterator[tuple[Member, str, Member | None]]:
    """With the kind of each, and the method that a parameter or result is of."""
    match declaration:
        case ast.StructDecl():
            yield from ((each, "field", None) for each in declaration.fields)
        case ast.EnumDecl():
            yield from ((each, "member", None) for each in declaration.members)
        case ast.ServiceDecl():
            for method in declaration.methods:
                yield method, "method", None
                yield from ((each, "parameter", method) for each in method.params)
                if isinstance(method.results, tuple):
                    yield from ((each, "parameter", method) for each in method.results)


def declared_at(snapshot: Snapshot, target: Span) -> Declared | None:
    """What is declared at a name, in whatever file of the analysis."""
    scope = next(
        (each for each in snapshot.analysis.context.scopes if each.module.file.source is target.file), None
    )
    if scope is None:
        return None
    for symbol in (*scope.symbols.values(), *scope.duplicates):
        declaration = symbol.declaration
        if declaration is None:
            continue
        if name_span(declaration).start == target.start:
            return Declared(symbol, None, getattr(declaration, "doc", ""))
        if declaration.span.start <= target.start < declaration.span.end:
            for member, _, owner in members(declaration):
                if member.name.span.start == target.start:
                    return Declared(symbol, member, member.doc, owner)
    declared = scope.module.declaration
    return Declared(None, None, "" if declared is None else declared.doc)
