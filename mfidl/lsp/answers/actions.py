"""Code actions: the fix of a diagnostic, `lint: allow`, imports in order, deprecation."""

from collections.abc import Iterator
from itertools import pairwise

from lsprotocol import types

from mfidl.diagnostics import Diagnostic
from mfidl.lsp.answers.diagnostics import as_protocol
from mfidl.lsp.answers.meaning import members
from mfidl.lsp.text import uri_of
from mfidl.lsp.workspace import Snapshot, Workspace
from mfidl.semantics.context import import_place
from mfidl.semantics.symbols import name_span
from mfidl.source import Span
from mfidl.syntax import ast

_K = types.CodeActionKind
_UNUSED, _UNKNOWN_MODULE = "L0301", "E0306"
KINDS = [_K.QuickFix, _K.SourceOrganizeImports, _K.Refactor]


def actions(
    workspace: Workspace, snapshot: Snapshot, start: int, end: int, only: list[str] | None
) -> list[types.CodeAction]:
    made = [*_of_diagnostics(workspace, snapshot, start, end), *_deprecate(snapshot, start, end)]
    imports = organised(snapshot)
    if imports is not None:
        made.append(_action(snapshot, "Organise imports", _K.SourceOrganizeImports, [imports]))
    return [each for each in made if only is None or any(_is_kind(each.kind, kind) for kind in only)]


def _is_kind(kind: object, wanted: str) -> bool:
    value = str(getattr(kind, "value", kind))
    return value == wanted or value.startswith(f"{wanted}.")


def _action(
    snapshot: Snapshot,
    title: str,
    kind: types.CodeActionKind,
    edits: list[tuple[Span, str]],
    diagnostic: Diagnostic | None = None,
) -> types.CodeAction:
    changes = [types.TextEdit(snapshot.lines.of(span), text) for span, text in edits]
    return types.CodeAction(
        title,
        kind,
        diagnostics=None if diagnostic is None else [as_protocol(snapshot, diagnostic)],
        is_preferred=True if diagnostic is not None and diagnostic.fix is not None else None,
        edit=types.WorkspaceEdit(changes={uri_of(snapshot.path): changes}),
    )


def _of_diagnostics(
    workspace: Workspace, snapshot: Snapshot, start: int, end: int
) -> Iterator[types.CodeAction]:
    file = None if snapshot.file is None else snapshot.file.source
    first, last = snapshot.lines.line_of(start), snapshot.lines.line_of(end)
    for each in snapshot.diagnostics:
        if each.span is None or each.span.file is not file:
            continue
        if snapshot.lines.line_of(each.span.start) > last or snapshot.lines.line_of(each.span.end) < first:
            continue
        if each.fix is not None:
            edit = (each.fix.span, each.fix.replacement)
            yield _action(snapshot, _title(each), _K.QuickFix, [edit], each)
        if each.code == _UNKNOWN_MODULE and snapshot.module is not None:
            for target in workspace.importable(snapshot.path, each.span.text()):
                edit = (import_place(snapshot.module), f'{_line_end(each.span.file.text)}import "{target}";')
                yield _action(snapshot, f'Import "{target}"', _K.QuickFix, [edit], each)
        if each.code.startswith("L"):
            edit = _allowance(snapshot, each.span, each.code)
            yield _action(snapshot, f"Allow {each.code} here", _K.QuickFix, [edit], each)


def _title(diagnostic: Diagnostic) -> str:
    fix = diagnostic.fix
    assert fix is not None
    written = " ".join(fix.span.text().split())
    replacement = " ".join(fix.replacement.split())
    if not replacement:
        return f"Remove `{written}`"
    return f"Write `{replacement}` in place of `{written}`" if written else f"Insert `{replacement}`"


def _allowance(snapshot: Snapshot, span: Span, code: str) -> tuple[Span, str]:
    """A comment on a line of its own, above, as far in as what it is for."""
    start, end = snapshot.lines.bounds(snapshot.lines.line_of(span.start))
    text = snapshot.lines.text
    line = text[start:end]
    indent = line[: len(line) - len(line.lstrip())].removeprefix("\ufeff")
    begin = start + 1 if line.startswith("\ufeff") else start
    return Span(span.file, begin, begin), f"{indent}// lint: allow({code}){_line_end(text)}"


def _line_end(text: str) -> str:
    at = text.find("\n")
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"


# Imports ----------------------------------------------------------------------------------------------------


def organised(snapshot: Snapshot) -> tuple[Span, str] | None:
    """The imports in order of their paths, without those that lint calls unused; None where nothing changes,
    the text is not valid, or anything else is written between them.
    """
    if snapshot.module is None or not snapshot.is_valid:
        return None
    source = snapshot.module.file.source
    imports = snapshot.module.imports
    if not imports:
        return None
    spans = [declaration.span for declaration, _ in imports]
    for one, other in pairwise(spans):
        if source.text[one.end : other.start].strip():
            return None
    if any(declaration.annotations or declaration.doc for declaration, _ in imports):
        return None
    unused = {
        each.span.start for each in snapshot.diagnostics if each.code == _UNUSED and each.span is not None
    }
    kept = [declaration for declaration, _ in imports if declaration.target.span.start not in unused]
    kept.sort(key=lambda each: each.target.data)
    end = _line_end(source.text)
    text = end.join(each.span.text() for each in kept)
    whole = spans[0].to(spans[-1])
    if not kept:
        whole = Span(source, whole.start, whole.end + _blank(source.text, whole.end))
    return None if text == whole.text() else (whole, text)


def _blank(text: str, at: int) -> int:
    """How long the line ends behind a place are."""
    end = at
    while end < len(text) and text[end] in " \t\r\n":
        end += 1
    return end - at


# Deprecation ------------------------------------------------------------------------------------------------


def _deprecate(snapshot: Snapshot, start: int, end: int) -> Iterator[types.CodeAction]:
    """For the declaration or member whose name the selection touches."""
    if snapshot.scope is None:
        return
    for symbol in snapshot.scope.symbols.values():
        declaration = symbol.declaration
        if declaration is None or isinstance(declaration, ast.ModuleDecl | ast.ImportDecl):
            continue
        named: list[tuple[Span, Span, tuple[ast.Annotation, ...], bool]] = [
            (name_span(declaration), declaration.span, declaration.annotations, True)
        ]
        named += [
            (member.name.span, member.span, member.annotations, False)
            for member, _, _ in members(declaration)
        ]
        for name, whole, annotations, is_declaration in named:
            touched = name.start <= end and start <= name.end
            if not touched or any(each.path.text == "deprecated" for each in annotations):
                continue
            if (
                is_declaration
                and isinstance(declaration, ast.StructDecl)
                and declaration.keyword == "annotation"
            ):
                continue
            begin = annotations[0].span.start if annotations and is_declaration else whole.start
            begin = min([begin, *(each.span.start for each in annotations if each.span.start < name.start)])
            at = Span(whole.file, begin, begin)
            yield _action(snapshot, f"Deprecate `{name.text()}`", _K.Refactor, [(at, "@deprecated ")])
