"""F4. Where an integer may have a coding of its own, as `i64.varint` has: in fields of archives, since these
may hold existing protobuf; as the field's type, maybe optional, or an element, key or value of its container.
"""

from collections.abc import Sequence

from mfidl import model
from mfidl.semantics.context import Context
from mfidl.syntax import ast


def check_codings(
    context: Context,
    written: Sequence[ast.Field],
    lowered: Sequence[model.Field],
    archive: model.DeclKind | None = None,
) -> None:
    """Of a struct or union, maybe an archive, or of an error, parameters or results, which are none."""
    types = {field.name.span: field.type for field in written}
    for field in lowered:
        if field.span in types:
            report_codings(context, types[field.span], field.type, archive)


def report_codings(
    context: Context, expression: ast.TypeExpr, type_: model.Type, archive: model.DeclKind | None = None
) -> None:
    """Of one type, wherever it is written."""
    levels = {model.DeclKind.STRUCT: 2, model.DeclKind.UNION: 1, None: 0}[archive]
    for coded, level in _coded(model.expand(type_), 0):
        if level < levels:
            continue
        hint = f"write `{coded.scalar.value}`"
        if archive:
            hint = "put the container into a struct of the tier archive"
        context.diagnostics.error("E0443", expression.span, help=hint, type=model.spell(coded))


def _coded(type_: model.Type, level: int) -> Sequence[tuple[model.Primitive, int]]:
    """The integers with a coding, and in how many containers each is."""
    match type_:
        case model.Primitive(_, coding):
            return [] if coding is None else [(type_, level)]
        case model.OptionalOf(element) if level == 0:
            return _coded(element, 0 if isinstance(element, model.Primitive) else 1)
        case model.ListOf(element) | model.SetOf(element) | model.ArrayOf(element, _):
            return _coded(element, level + 1)
        case model.OptionalOf(element):
            return _coded(element, level + 1)
        case model.MapOf(key, value):
            return [*_coded(key, level + 1), *_coded(value, level + 1)]
        case _:
            return []
