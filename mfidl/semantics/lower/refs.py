"""F4. Where a `ref` may stand: in types of the tier archive, and to such types."""

from collections.abc import Iterator, Sequence

from mfidl import model
from mfidl.diagnostics import Fix, Note
from mfidl.semantics.context import Context
from mfidl.semantics.lower.tiers import Asked
from mfidl.source import Span
from mfidl.syntax import ast


def holds_ref(type_: model.Type) -> bool:
    stack = [type_]
    while stack:
        match stack.pop():
            case model.RefOf():
                return True
            case model.ListOf(element) | model.SetOf(element) | model.ArrayOf(element, _):
                stack.append(element)
            case model.OptionalOf(element) | model.AliasOf(_, element):
                stack.append(element)
            case model.MapOf(key, value):
                stack += [key, value]
            case _:
                pass
    return False


def check_refs(
    context: Context, fields: Sequence[ast.Field], lowered: Sequence[model.Field], what: str
) -> None:
    """In what is never an archive: errors, parameters and results."""
    held = _first(fields, lowered)
    if held is not None:
        report_misplaced(context, held.type, what)


def report_misplaced(context: Context, expression: ast.TypeExpr, what: str) -> None:
    """Of a `ref` in what is never an archive."""
    hint = "put an archive itself here: what it refers to comes with it"
    context.diagnostics.error("E0432", ref_span(expression), help=hint, what=what)


def check_own_refs(
    context: Context,
    declaration: ast.StructDecl,
    lowered: Sequence[model.Field],
    asked: Asked,
) -> bool:
    """In a struct or union; whether they are in order. One message a declaration for lacking the tier."""
    held = _first(declaration.fields, lowered)
    if held is None or not asked.sound:
        return True
    if asked.tier is not model.Tier.ARCHIVE:
        name = declaration.name.text
        notes = [] if asked.span is None else [Note("another tier is asked for here", asked.span)]
        numbers = "" if all(field.number for field in declaration.fields) else ", and numbers on its fields"
        hint = f"write @tier(archive) before `{declaration.keyword} {name}`{numbers}"
        fix = Fix(_before(declaration), "@tier(archive) ")
        if asked.span is not None:
            fix = Fix(asked.span, "archive")
        context.diagnostics.error(
            "E0432", ref_span(held.type), notes=notes, help=hint, fix=fix, what=f"`{name}`"
        )
        return False
    for written, field in _pairs(declaration.fields, lowered):
        _check_targets(context, written, field)
    return True


def _before(declaration: ast.StructDecl) -> Span:
    """The empty place before its keyword, behind the annotations."""
    start = declaration.span.start
    return Span(declaration.span.file, start, start)


def _check_targets(context: Context, written: ast.Field, field: model.Field) -> None:
    for target in _targets(field.type):
        symbol = context.symbol(target.full_name)
        declaration = symbol.declaration
        assert isinstance(declaration, ast.StructDecl)
        if not _may_be_archive(declaration):
            hint = f"write @tier(archive) before `{declaration.keyword} {symbol.name}`, and number its fields"
            what = f"`{symbol.name}`, which does not ask for it"
            span = ref_span(written.type, target.name)
            context.diagnostics.error("E0434", span, notes=symbol.notes(), help=hint, what=what)


def _may_be_archive(declaration: ast.StructDecl) -> bool:
    """Whether it asks for the tier; where that is written wrong, it is reported there."""
    for annotation in declaration.annotations:
        if annotation.path.text == "tier":
            values = [argument.value for argument in annotation.arguments]
            words = [value.path.text for value in values if isinstance(value, ast.NameExpr)]
            return words not in (["memcpy"], ["febird"], ["custom"])
    return False


def _targets(type_: model.Type) -> Iterator[model.Named]:
    stack = [type_]
    while stack:
        match stack.pop():
            case model.RefOf(element):
                yield element
            case model.ListOf(element) | model.SetOf(element) | model.ArrayOf(element, _):
                stack.append(element)
            case model.OptionalOf(element):
                stack.append(element)
            case model.MapOf(key, value):
                stack += [value, key]
            case _:
                pass


def _pairs(
    fields: Sequence[ast.Field], lowered: Sequence[model.Field]
) -> Iterator[tuple[ast.Field, model.Field]]:
    by_name = {field.name: field for field in lowered}
    for written in fields:
        field = by_name.get(written.name.text)
        if field is not None and field.span == written.name.span:
            yield written, field


def _first(fields: Sequence[ast.Field], lowered: Sequence[model.Field]) -> ast.Field | None:
    return next((written for written, field in _pairs(fields, lowered) if holds_ref(field.type)), None)


def ref_span(expression: ast.TypeExpr, target: str = "") -> Span:
    """The `ref` inside of a type as it was written (with `target`, the type that it names), or all of it
    where an alias hides it.
    """
    stack = [expression]
    while stack:
        current = stack.pop()
        arguments = [each for each in current.arguments or () if isinstance(each, ast.TypeExpr)]
        if current.path.text == "ref" and not target:
            return current.path.span
        if current.path.text == "ref" and arguments and arguments[0].path.parts[-1].text == target:
            return arguments[0].path.span
        stack += arguments[::-1]
    return expression.span
