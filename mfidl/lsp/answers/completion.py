"""Completion: from the words before the place, and the names of the last analysis."""

import os
from collections.abc import Callable, Iterable, Iterator

from lsprotocol import types

from mfidl import model
from mfidl.lsp.answers.hover import keyword
from mfidl.lsp.place import Expected, Place
from mfidl.lsp.text import Lines
from mfidl.lsp.workspace import Snapshot, Workspace
from mfidl.semantics.annotations import KNOWN
from mfidl.semantics.lower.calls import PATTERNS
from mfidl.semantics.symbols import BUILTIN_TYPES, Kind, Scope, Symbol
from mfidl.semantics.types import CODED
from mfidl.syntax import ast

_Item = types.CompletionItem
_K = types.CompletionItemKind
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
_TYPES = frozenset((Kind.STRUCT, Kind.UNION, Kind.ENUM, Kind.FLAGS, Kind.ALIAS))
_DECLARATIONS = {
    "module": "module ${1:name};",
    "import": 'import "$1";',
    "const": "const ${1:NAME}: ${2:u32} = $3;",
    "type": "type ${1:Name} = $2;",
    "agent": "agent ${1:name}: ${2:string};",
    "enum": "enum ${1:Name}: ${2:u8} { ${3:unknown} = 0 }",
    "open enum": "open enum ${1:Name}: ${2:u8} { ${3:unknown} = 0 }",
    "flags": "flags ${1:Name}: ${2:u8} { $3 }",
    "struct": "struct ${1:Name} {\n  $0\n}",
    "error": "error ${1:Name} {\n  $0\n}",
    "union": "union ${1:Name} {\n  1: $0\n}",
    "annotation": "annotation ${1:Name} { $0 }",
    "service": "service ${1:Name} {\n  $0\n}",
    "topic": "topic ${1:Name} : $0;",
}
_WITHIN = ("struct", "error", "union", "enum", "open enum", "flags", "type")
_GENERIC = {
    "list": "list<$1>",
    "set": "set<$1>",
    "ref": "ref<$1>",
    "stream": "stream<$1>",
    "map": "map<${1:string}, $2>",
    "array": "array<$1, $2>",
}
_ARGUMENTS = {
    "tier": [tier.value for tier in model.Tier],
    "replicated": [f"pattern = {each}" for each in PATTERNS],
    "overflow": list(model.OVERFLOWS),
    "cached": ["entries = ", "ttl = ", "max_bytes = ", "errors = true"],
    "batch": ["max = "],
}
_NAMED = {Expected.AGENT: {Kind.AGENT}, Expected.ERROR: {Kind.ERROR}, Expected.SERVICE: {Kind.SERVICE}}
_WORDS = {
    Expected.AFTER_SERVICE: ("extends", "per"),
    Expected.AFTER_TOPIC: ("per",),
    Expected.AFTER_PARAMETERS: ("->", "throws"),
}


def complete(
    workspace: Workspace,
    snapshot: Snapshot | None,
    path: str,
    place: Place,
    lines: Lines,
    snippets: bool,
) -> types.CompletionList:
    maker = _Maker(workspace, snapshot, path, place, snippets)
    items = list(maker.items())
    end = place.start + len(place.word)
    for item in items:
        if item.text_edit is None:
            inserted = item.insert_text or item.label
            item.text_edit = types.TextEdit(lines.range(place.start, end), inserted)
            item.insert_text = None
    return types.CompletionList(is_incomplete=False, items=items)


class _Maker:
    def __init__(
        self,
        workspace: Workspace,
        snapshot: Snapshot | None,
        path: str,
        place: Place,
        snippets: bool,
    ) -> None:
        self._workspace = workspace
        self._snapshot = snapshot
        self._path = path
        self._place = place
        self._snippets = snippets
        scope = None if snapshot is None else snapshot.scope
        self._scope = None if scope is None else scope.from_within(self._known_holder(scope))

    def _known_holder(self, scope: Scope) -> str:
        """The declaration around, as far as the analysis finds that it declares types."""
        holder = self._place.holder
        return holder if holder in scope.holders else ""

    def items(self) -> Iterator[_Item]:
        expected = self._place.expected
        if expected in _NAMED:
            yield from self._named(_NAMED[expected])
        if expected in _WORDS:
            yield from (self._word(each, f"{each} ", "") for each in _WORDS[expected])
        more: dict[Expected, Callable[[], Iterator[_Item]]] = {
            Expected.DECLARATION: lambda: self._keywords(_DECLARATIONS),
            Expected.MEMBER: self._members,
            Expected.METHOD: lambda: self._keywords(_WITHIN),
            Expected.TYPE: self._types,
            Expected.VALUE: self._values,
            Expected.ANNOTATION: self._annotations,
            Expected.ARGUMENT: self._arguments,
            Expected.IMPORT: self._imports,
        }
        if expected in more:
            yield from more[expected]()

    def _members(self) -> Iterator[_Item]:
        yield from self._next_number()
        yield from self._keywords(_WITHIN)
        yield self._word("reserved", "reserved $1;", "numbers and names that no field may take any more")

    # Words --------------------------------------------------------------------------------------------------

    def _word(
        self, label: str, snippet: str, about: str, kind: types.CompletionItemKind = _K.Keyword
    ) -> _Item:
        if self._snippets:
            return _Item(
                label,
                kind=kind,
                detail=about or None,
                insert_text=snippet,
                insert_text_format=types.InsertTextFormat.Snippet,
            )
        return _Item(label, kind=kind, detail=about or None)

    def _keywords(self, words: Iterable[str]) -> Iterator[_Item]:
        for word in words:
            yield self._word(word, _DECLARATIONS[word], "")

    def _next_number(self) -> Iterator[_Item]:
        """The number of the next field, where the struct or union has numbers, and what it reserves."""
        declaration = self._around()
        if not isinstance(declaration, ast.StructDecl):
            return
        numbers = [
            each.number.value for each in declaration.fields if isinstance(each.number, ast.IntLiteral)
        ]
        if not numbers and declaration.keyword != "union":
            return
        for reserved in declaration.reserved:
            numbers += [each.high.value for each in reserved.items if isinstance(each, ast.ReservedRange)]
        number = max(numbers, default=0) + 1
        item = self._word(f"{number}:", f"{number}: ${{1:name}}: ${{2:u32}};", "the next field", _K.Field)
        item.sort_text, item.preselect = " ", True
        yield item

    def _around(self) -> ast.Decl | None:
        """The declaration around the place, from the last analysis."""
        if self._snapshot is None or self._snapshot.scope is None:
            return None
        found = self._snapshot.scope.symbols.get(self._place.holder)
        return None if found is None else found.declaration

    # Names --------------------------------------------------------------------------------------------------

    def _types(self) -> Iterator[_Item]:
        if not self._place.qualifier:
            for name, about in BUILTIN_TYPES.items():
                yield self._word(name, _GENERIC.get(name, name), about, _K.Keyword)
        elif self._place.qualifier in BUILTIN_TYPES:
            prefix = self._place.qualifier + "."
            for coded in CODED:
                if coded.startswith(prefix):
                    yield _Item(
                        coded.removeprefix(prefix), kind=_K.Keyword, detail="how it is coded in an archive"
                    )
        yield from self._named(_TYPES)

    def _values(self) -> Iterator[_Item]:
        if self._place.qualifier:
            holder = self._symbol(self._place.qualifier)
            if holder is not None and isinstance(holder.declaration, ast.EnumDecl):
                for member in holder.declaration.members:
                    yield _Item(member.name.text, kind=_K.EnumMember, documentation=_doc(member.doc))
        else:
            yield from (_Item(each, kind=_K.Keyword) for each in ("true", "false", "inf", "nan"))
        yield from self._named({Kind.CONST, Kind.ENUM, Kind.FLAGS})

    def _annotations(self) -> Iterator[_Item]:
        prefix = f"{self._place.qualifier}." if self._place.qualifier else ""
        for name, known in KNOWN.items():
            if name.startswith(prefix):
                documentation = f"{known.meaning}\n\n`{known.usage}`"
                item = _Item(
                    name.removeprefix(prefix),
                    kind=_K.Property,
                    detail=known.usage,
                    documentation=types.MarkupContent(types.MarkupKind.Markdown, documentation),
                )
                yield item
        yield from self._named({Kind.ANNOTATION})

    def _arguments(self) -> Iterator[_Item]:
        place = self._place
        for each in _ARGUMENTS.get(place.annotation, ()):
            yield _Item(each.removesuffix(" "), kind=_K.Value, insert_text=each)
        symbol = self._symbol(place.annotation)
        if symbol is not None and isinstance(symbol.declaration, ast.StructDecl):
            for field in symbol.declaration.fields:
                yield _Item(
                    field.name.text,
                    kind=_K.Field,
                    detail=field.type.span.text(),
                    documentation=_doc(field.doc),
                    insert_text=f"{field.name.text} = ",
                )
        if place.annotation in ("range", "length", "batch", "replay") or symbol is not None:
            yield from self._named(
                {Kind.CONST, Kind.ENUM, Kind.FLAGS} if symbol is not None else {Kind.CONST}
            )

    def _symbol(self, path: str) -> Symbol | None:
        """What a path names, or None: as the file sees it, or by module and name."""
        scope = self._scope
        if scope is None:
            return None
        found = scope.seen(path)
        if found is not None:
            return found
        module, _, name = path.rpartition(".")
        holder = scope.modules.get(module)
        return None if holder is None else holder.symbols.get(name)

    def _named(self, kinds: Iterable[Kind]) -> Iterator[_Item]:
        scope, qualifier = self._scope, self._place.qualifier
        if scope is None:
            return
        wanted = frozenset(kinds)
        if not qualifier:
            seen = {"", *scope.outwards()}
            for symbol in scope.outermost.symbols.values():
                if symbol.kind in wanted and symbol.within in seen:
                    yield self._of(symbol, symbol.name)
            yield from self._modules(scope, wanted)
            return
        holder = scope.modules.get(qualifier)
        if holder is None and qualifier == scope.module.name:
            holder = scope.outermost
        within = ""
        if holder is None:
            holder, within = self._holder_of_types(scope, qualifier)
        if holder is not None:
            for symbol in holder.outermost.symbols.values():
                if symbol.kind in wanted and symbol.within == within:
                    yield self._of(symbol, symbol.name)

    def _holder_of_types(self, scope: Scope, qualifier: str) -> tuple[Scope | None, str]:
        if qualifier in scope.holders:
            return scope.outermost, qualifier
        module, _, name = qualifier.rpartition(".")
        holder = scope.modules.get(module)
        return (holder, name) if holder is not None and name in holder.holders else (None, "")

    def _modules(self, scope: Scope, wanted: frozenset[Kind]) -> Iterator[_Item]:
        for local, holder in scope.modules.items():
            if holder is None or "." in local:
                continue
            if any(each.kind in wanted for each in holder.symbols.values()):
                yield _Item(local, kind=_K.Module, detail=f"module {holder.module.name}")

    def _of(self, symbol: Symbol, label: str) -> _Item:
        declaration = symbol.declaration
        return _Item(
            label,
            kind=_KINDS.get(symbol.kind, _K.Text),
            detail=f"{keyword(symbol)} {symbol.full_name}",
            documentation=_doc(getattr(declaration, "doc", "")),
        )

    # Imports ------------------------------------------------------------------------------------------------

    def _imports(self) -> Iterator[_Item]:
        """Files and folders below each folder in which imports are searched."""
        folder, _, _ = self._place.word.rpartition("/")
        if ".." in folder.split("/") or folder.startswith("/"):
            return
        found: dict[str, bool] = {}
        for searched in (os.path.dirname(self._path), *self._workspace.searched(self._path)):
            try:
                entries = sorted(os.scandir(os.path.join(searched, folder)), key=lambda each: each.name)
            except OSError:
                continue
            for entry in entries[:1000]:
                below = f"{folder}/{entry.name}".removeprefix("/")
                if entry.name.endswith(".mfidl") and entry.path != self._path:
                    found.setdefault(below, False)
                elif not entry.name.startswith(".") and _is_folder(entry):
                    found.setdefault(below + "/", True)
        for below, is_folder in found.items():
            yield _Item(below, kind=_K.Folder if is_folder else _K.File)


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _doc(text: str) -> types.MarkupContent | None:
    return types.MarkupContent(types.MarkupKind.Markdown, text) if text else None
