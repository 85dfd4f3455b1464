"""F4. `stream<T>`: the result of a method, or its last parameter; at most one in each direction."""

from mfidl import model
from mfidl.diagnostics import Note
from mfidl.semantics.annotations import Place, read_annotations
from mfidl.semantics.constraints import constraints_from
from mfidl.semantics.context import Context
from mfidl.semantics.lower.codings import report_codings
from mfidl.semantics.lower.refs import holds_ref, report_misplaced
from mfidl.semantics.symbols import Scope
from mfidl.syntax import ast


def is_stream(type_: ast.TypeExpr | tuple[ast.Field, ...] | None) -> bool:
    return isinstance(type_, ast.TypeExpr) and type_.path.text == "stream"


def param_stream(context: Context, params: tuple[ast.Field, ...], scope: Scope) -> model.Stream | None:
    """The stream among the parameters; a second one, or one that others follow, is reported."""
    streams = [param for param in params if is_stream(param.type)]
    if not streams:
        return None
    first = streams[0]
    for second in streams[1:]:
        notes = [Note("first here", first.type.path.span)]
        context.diagnostics.error("E0437", second.type.path.span, notes=notes)
    if params[-1] not in streams:
        last = params[-1].name
        hint = f"put it behind `{last.text}`"
        context.diagnostics.error("E0438", first.name.span, help=hint, name=first.name.text)
    if first.default is not None:
        context.diagnostics.error("E0439", first.default.span)
    read_annotations(context, first.annotations, Place.STREAM)
    return _stream(context, first.name.text, first.type, first.doc, scope)


def result_stream(
    context: Context, type_: ast.TypeExpr, annotations: tuple[ast.Annotation, ...], scope: Scope
) -> model.Stream | None:
    read_annotations(context, annotations, Place.STREAM)
    return _stream(context, "value", type_, "", scope)


def _stream(context: Context, name: str, type_: ast.TypeExpr, doc: str, scope: Scope) -> model.Stream | None:
    if type_.optional_marks:
        hint = "a stream may be empty"
        context.diagnostics.error("E0436", type_.optional_marks[0], help=hint)
    arguments = type_.arguments or ()
    if len(arguments) != 1:
        found = "none" if not arguments else str(len(arguments))
        context.diagnostics.error("E0401", type_.span, name="stream", expected="one type", found=found)
        return None
    element = arguments[0]
    if isinstance(element, ast.IntLiteral):
        context.diagnostics.error("E0413", element.span)
    if not isinstance(element, ast.TypeExpr):
        return None
    spelled = context.types.resolve(element, scope)
    if spelled is None:
        return None
    if holds_ref(spelled):
        report_misplaced(context, element, "a stream")
    report_codings(context, element, spelled)
    own = read_annotations(context, element.annotations, Place.TYPE)
    constraints = (*context.types.constraints_of(spelled), *constraints_from(context, own, spelled, scope))
    return model.Stream(name, model.expand(spelled), spelled, constraints, doc, type_.span)
