"""Inlay hints: the tier and size of each type, the offset or wire size of each field, the frames of calls."""

from collections.abc import Iterator

from lsprotocol import types

from mfidl.explain import Explainer
from mfidl.lsp.answers.sizes import field_size, method_label, type_label
from mfidl.lsp.workspace import Snapshot
from mfidl.semantics.symbols import Symbol
from mfidl.syntax import ast


def inlay_hints(snapshot: Snapshot, start: int, end: int) -> list[types.InlayHint]:
    """Of what is declared between two offsets; of a text that is not valid, as the last valid one had it."""
    scope, facts = snapshot.scope, snapshot.facts
    if scope is None or facts is None:
        return []
    explainer = facts.explainer(scope.module.name)
    if explainer is None:
        return []
    made = []
    for symbol in scope.symbols.values():
        declaration = symbol.declaration
        if declaration is None or declaration.span.end < start or declaration.span.start > end:
            continue
        for offset, label in _labels(explainer, symbol, declaration):
            if start <= offset <= end:
                made.append(_hint(snapshot, offset, label))
    return made


def _labels(explainer: Explainer, symbol: Symbol, declaration: ast.Decl) -> Iterator[tuple[int, str]]:
    match declaration:
        case ast.StructDecl() | ast.EnumDecl():
            label = type_label(explainer, symbol.full_name)
            if label is not None:
                yield declaration.name.span.end, label
            if isinstance(declaration, ast.StructDecl):
                for field in declaration.fields:
                    size = field_size(explainer, symbol.full_name, field.name.text)
                    if size is not None:
                        yield _end(field), size.label
        case ast.ServiceDecl():
            for method in declaration.methods:
                label = method_label(explainer, symbol.full_name, method.name.text)
                if label is not None:
                    yield method.span.end, label
        case _:
            return


def _end(field: ast.Field) -> int:
    """Behind the semicolon, if that follows."""
    text, end = field.span.file.text, field.span.end
    return end + 1 if text[end : end + 1] == ";" else end


def _hint(snapshot: Snapshot, offset: int, label: str) -> types.InlayHint:
    return types.InlayHint(snapshot.lines.position(offset), label, padding_left=True)
