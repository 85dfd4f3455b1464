"""F4. Where names are used: each part of each path that was looked up, with the place that declares it.

For editors. It has what `elaborate` looked up, and nothing else: a name in text that was dropped has no use.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mfidl.semantics.context import Context
from mfidl.semantics.loading import LoadedModule
from mfidl.semantics.symbols import Kind, Scope, Symbol
from mfidl.source import SourceFile, Span
from mfidl.syntax import ast


@dataclass(frozen=True, slots=True)
class Use:
    """`span` is what was written, `target` the name at its declaration; of a module, the path behind
    `module`, or the beginning of a file that has none. `kind`: of a symbol, or "field", "member" (of an enum
    or flags), "module", "file" (the text of an import) or "alias" (the name that an import gives).
    """

    span: Span
    target: Span
    kind: Kind | str


def uses(context: Context, file: SourceFile | None = None) -> list[Use]:
    """Of all files, or of one; each place once."""
    found: dict[tuple[int, int], Use] = {}
    for use in _all(context, file):
        found.setdefault((id(use.span.file), use.span.start), use)
    return list(found.values())


def _all(context: Context, file: SourceFile | None) -> Iterator[Use]:
    for name, symbol in context.members:
        if file is not None and name.span.file is not file:
            continue
        declared = member_of(symbol.declaration, name.text)
        if declared is not None:
            kind = "member" if isinstance(symbol.declaration, ast.EnumDecl) else "field"
            yield Use(name.span, declared.name.span, kind)
    for path, symbol in context.paths:
        if file is None or path.span.file is file:
            yield from _path(path, symbol, context.scope_of(path.span.file))
    for scope in context.scopes:
        if file is not None and scope.module.file.source is not file:
            continue
        for declaration, module in scope.module.imports:
            if module is not None:
                yield Use(declaration.target.span, module_span(module), "file")


def _path(path: ast.Path, symbol: Symbol, scope: Scope) -> Iterator[Use]:
    """The last parts are the symbol and the declarations around it; those before them name its module."""
    declared: Symbol | None = symbol
    parts = list(path.parts)
    while parts and declared is not None and declared.span is not None:
        yield Use(parts.pop().span, declared.span, declared.kind)
        within = declared.within
        declared = declared.scope.outermost.symbols.get(within) if within else None
    if not parts:
        return
    span = parts[0].span.to(parts[-1].span)
    for declaration, module in scope.module.imports:
        if module is symbol.scope.module:
            named = declaration.alias is not None and declaration.alias.text == span.text()
            if declaration.alias is not None and named:
                yield Use(span, declaration.alias.span, "alias")
                return
    yield Use(span, module_span(symbol.scope.module), "module")


def member_of(declaration: ast.Decl | None, name: str) -> ast.Field | ast.EnumMember | None:
    """The field, alternative or member of that name, the first if there are several."""
    held: Iterable[ast.Field | ast.EnumMember] = ()
    if isinstance(declaration, ast.StructDecl):
        held = declaration.fields
    elif isinstance(declaration, ast.EnumDecl):
        held = declaration.members
    return next((each for each in held if each.name.text == name), None)


def module_span(module: LoadedModule) -> Span:
    """What a use of the module leads to."""
    declared = module.declaration
    return _start(module.file.source) if declared is None else declared.path.span


def _start(source: SourceFile) -> Span:
    return Span(source, 0, 0)
