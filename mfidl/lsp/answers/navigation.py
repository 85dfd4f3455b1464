"""Definition, type definition, references, highlights, rename, and the links of imports."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from lsprotocol import types

from mfidl.lsp.answers.meaning import Meaning, declared_at, meaning_at
from mfidl.lsp.text import Lines, uri_of
from mfidl.lsp.workspace import Snapshot, Workspace
from mfidl.semantics.symbols import BUILTIN_TYPES, Scope
from mfidl.source import Span
from mfidl.syntax import ast

_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_FIXED = frozenset(("module", "file"))  # what is not renamed: files and folders would have to be


class RenameError(Exception):
    """Why a name cannot be changed; the text is for the user."""


def definition(snapshot: Snapshot, offset: int) -> types.Location | None:
    meaning = meaning_at(snapshot, offset)
    return None if meaning is None else _location(snapshot, meaning.target)


def type_definition(snapshot: Snapshot, offset: int) -> types.Location | None:
    """Where the type of a field, parameter, constant, agent, topic or result is declared."""
    meaning = meaning_at(snapshot, offset)
    declared = None if meaning is None else declared_at(snapshot, meaning.target)
    if meaning is None or declared is None:
        return None
    node = declared.member or (None if declared.symbol is None else declared.symbol.declaration)
    type_ = node.results if isinstance(node, ast.MethodDecl) else getattr(node, "type", None)
    if isinstance(type_, ast.TypeExpr):
        inside = [
            each
            for each in snapshot.uses
            if each.span.file is type_.span.file
            and type_.span.start <= each.span.start < type_.span.end
            and each.kind not in ("module", "alias")
        ]
        inside.sort(key=lambda each: each.span.start)
        return _location(snapshot, inside[0].target) if inside else None
    return _location(snapshot, meaning.target)


def _location(snapshot: Snapshot, span: Span) -> types.Location:
    return types.Location(uri_of(span.file.path), snapshot.lines_of(span.file).of(span))


def highlights(snapshot: Snapshot, offset: int) -> list[types.DocumentHighlight]:
    """The places of its own file that mean the same."""
    meaning = meaning_at(snapshot, offset)
    if meaning is None or snapshot.module is None:
        return []
    spans = [each.span for each in snapshot.own_uses if _same(each.target, meaning.target)]
    if meaning.target.file is snapshot.module.file.source:
        spans.insert(0, meaning.target)
    return [types.DocumentHighlight(snapshot.lines.of(each)) for each in _once(spans)]


def references(
    workspace: Workspace, snapshot: Snapshot, offset: int, with_declaration: bool
) -> list[types.Location]:
    meaning = meaning_at(snapshot, offset)
    if meaning is None:
        return []
    spans = list(_spans(workspace, snapshot, meaning.target))
    if with_declaration:
        spans.insert(0, meaning.target)
    made = _Places(workspace.encoding)
    return [types.Location(uri_of(each.file.path), made.range(each)) for each in _once(spans)]


def _spans(workspace: Workspace, snapshot: Snapshot, target: Span) -> Iterator[Span]:
    """Uses in its own analysis, and in all files of the workspace."""
    yield from (each.span for each in snapshot.uses if _same(each.target, target))
    for analysis in workspace.whole():
        for use in workspace.uses_of(analysis):
            if _same(use.target, target):
                yield use.span


def _same(one: Span, other: Span) -> bool:
    return one.start == other.start and (one.file is other.file or _real(one) == _real(other))


def _real(span: Span) -> str:
    return os.path.realpath(span.file.path)


def _once(spans: Iterable[Span]) -> list[Span]:
    """A file may be known by several paths: the first one wins."""
    return list({(_real(each), each.start): each for each in reversed(list(spans))}.values())[::-1]


class _Places:
    """Ranges in many files."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._lines: dict[int, Lines] = {}

    def range(self, span: Span) -> types.Range:
        known = self._lines.get(id(span.file))
        if known is None:
            known = self._lines[id(span.file)] = Lines(span.file.text, self._encoding)
        return known.of(span)


def prepare_rename(snapshot: Snapshot, offset: int) -> types.Range:
    return snapshot.lines.of(_renamed(snapshot, offset).span)


def _renamed(snapshot: Snapshot, offset: int) -> Meaning:
    meaning = meaning_at(snapshot, offset)
    if meaning is None:
        raise RenameError("there is no name of this schema here")
    if meaning.kind in _FIXED:
        raise RenameError("the name of a module is that of its file, and of folders of generated code")
    return meaning


def rename(workspace: Workspace, snapshot: Snapshot, offset: int, name: str) -> types.WorkspaceEdit:
    """All uses and the declaration; raises RenameError."""
    meaning = _renamed(snapshot, offset)
    if _NAME.fullmatch(name) is None:
        raise RenameError(f"`{name}` is no name: letters, digits and `_`, not beginning with a digit")
    _refuse_taken(snapshot, meaning, name)
    spans = _once((meaning.target, *_spans(workspace, snapshot, meaning.target)))
    edits: dict[str, list[types.TextEdit]] = defaultdict(list)
    made = _Places(workspace.encoding)
    for span in spans:
        edits[uri_of(span.file.path)].append(types.TextEdit(made.range(span), name))
    return types.WorkspaceEdit(changes=dict(edits))


def _refuse_taken(snapshot: Snapshot, meaning: Meaning, name: str) -> None:
    declared = declared_at(snapshot, meaning.target)
    if declared is None or declared.symbol is None:
        return
    symbol = declared.symbol
    if declared.member is None:
        scope: Scope = symbol.scope.outermost
        local = f"{symbol.within}.{name}" if symbol.within else name
        if name in BUILTIN_TYPES:
            raise RenameError(f"`{name}` is a built-in type")
        if local in scope.symbols and scope.symbols[local] is not symbol:
            raise RenameError(f"`{local}` is declared already")
        return
    beside = _names_beside(declared.member, declared.owner, symbol.declaration)
    if name in beside and name != declared.member.name.text:
        raise RenameError(f"`{symbol.name}` has a `{name}` already")


def _names_beside(member: object, owner: object, declaration: ast.Decl | None) -> set[str]:
    if isinstance(owner, ast.MethodDecl):
        lists = [owner.params, owner.results if isinstance(owner.results, tuple) else ()]
        return {each.name.text for fields in lists if member in fields for each in fields}
    match declaration:
        case ast.StructDecl():
            return {each.name.text for each in declaration.fields}
        case ast.EnumDecl():
            return {each.name.text for each in declaration.members}
        case ast.ServiceDecl():
            return {each.name.text for each in declaration.methods}
        case _:
            return set()


def links(snapshot: Snapshot) -> list[types.DocumentLink]:
    """Each import that was found."""
    if snapshot.module is None:
        return []
    made = []
    for declaration, module in snapshot.module.imports:
        if module is not None:
            span = declaration.target.span
            inner = Span(span.file, span.start + 1, span.end - 1)
            target = uri_of(module.file.source.path)
            made.append(types.DocumentLink(snapshot.lines.of(inner), target, f"module {module.name}"))
    return made
