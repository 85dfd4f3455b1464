"""The outline of a file, and names of the whole workspace."""

from collections.abc import Iterable, Iterator

from lsprotocol import types

from mfidl.lsp.answers.hover import keyword
from mfidl.lsp.answers.meaning import members
from mfidl.lsp.text import Lines, uri_of
from mfidl.lsp.workspace import Snapshot, Workspace
from mfidl.semantics.symbols import Kind, Symbol, name_span
from mfidl.source import Span
from mfidl.syntax import ast

_K = types.SymbolKind
_KINDS = {
    Kind.STRUCT: _K.Struct,
    Kind.ERROR: _K.Struct,
    Kind.UNION: _K.Struct,
    Kind.ENUM: _K.Enum,
    Kind.FLAGS: _K.Enum,
    Kind.ALIAS: _K.TypeParameter,
    Kind.CONST: _K.Constant,
    Kind.AGENT: _K.Variable,
    Kind.SERVICE: _K.Interface,
    Kind.TOPIC: _K.Event,
    Kind.ANNOTATION: _K.Class,
}
_MEMBERS = {"field": _K.Field, "member": _K.EnumMember, "method": _K.Method}
_MOST = 500


def document_symbols(snapshot: Snapshot) -> list[types.DocumentSymbol]:
    scope = snapshot.scope
    if scope is None:
        return []
    every = sorted(
        _declared((*scope.symbols.values(), *scope.duplicates)), key=lambda each: each[1].span.start
    )
    made: list[types.DocumentSymbol] = []
    by_name: dict[str, types.DocumentSymbol] = {}
    for symbol, declaration in sorted(
        every, key=lambda each: each[0].within.count(".") + bool(each[0].within)
    ):
        item = _symbol(snapshot, symbol, declaration)
        by_name.setdefault(symbol.local_name, item)
        holder = by_name.get(symbol.within) if symbol.within else None
        if holder is None:
            made.append(item)
        else:
            holder.children = [*(holder.children or ()), item]
    return made


def _declared(symbols: Iterable[Symbol]) -> Iterator[tuple[Symbol, ast.Decl]]:
    return ((each, each.declaration) for each in symbols if each.declaration is not None)


def _symbol(snapshot: Snapshot, symbol: Symbol, declaration: ast.Decl) -> types.DocumentSymbol:
    children = [
        types.DocumentSymbol(
            member.name.text,
            _MEMBERS[kind],
            snapshot.lines.of(_around(member.span, member.name.span)),
            snapshot.lines.of(member.name.span),
            detail=_detail(member),
        )
        for member, kind, owner in members(declaration)
        if owner is None
    ]
    name = name_span(declaration)
    return types.DocumentSymbol(
        symbol.name,
        _KINDS[symbol.kind],
        snapshot.lines.of(_around(declaration.span, name)),
        snapshot.lines.of(name),
        detail=keyword(symbol),
        children=children or None,
    )


def _around(span: Span, name: Span) -> Span:
    """What is selected must lie within, also of a text that is broken."""
    return Span(span.file, min(span.start, name.start), max(span.end, name.end))


def _detail(member: ast.Field | ast.EnumMember | ast.MethodDecl) -> str | None:
    return member.type.span.text() if isinstance(member, ast.Field) else None


def workspace_symbols(workspace: Workspace, query: str) -> list[types.WorkspaceSymbol]:
    """Those whose full name has the letters of the query in this order, at most 500."""
    made: list[types.WorkspaceSymbol] = []
    for analysis in workspace.whole():
        for scope in analysis.context.scopes:
            source = scope.module.file.source
            lines: Lines | None = None
            for symbol, declaration in _declared(scope.symbols.values()):
                for name, kind, span in _names(symbol, declaration):
                    if not _fits(query.lower(), name.lower()):
                        continue
                    lines = lines or Lines(source.text, workspace.encoding)
                    place = types.Location(uri_of(source.path), lines.of(span))
                    made.append(
                        types.WorkspaceSymbol(
                            place, name.rpartition(".")[2], kind, container_name=name.rpartition(".")[0]
                        )
                    )
                    if len(made) >= _MOST:
                        return made
    return made


def _names(symbol: Symbol, declaration: ast.Decl) -> Iterator[tuple[str, types.SymbolKind, Span]]:
    yield symbol.full_name, _KINDS[symbol.kind], name_span(declaration)
    if isinstance(declaration, ast.ServiceDecl):
        for method in declaration.methods:
            yield f"{symbol.full_name}.{method.name.text}", _K.Method, method.name.span


def _fits(query: str, name: str) -> bool:
    letters = iter(name)
    return all(each in letters for each in query)
