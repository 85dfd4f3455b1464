"""F4. Fields of structs and errors, parameters and results: the same rules for all."""

from collections.abc import Sequence

from mfidl import model
from mfidl.diagnostics import Note
from mfidl.semantics.annotations import Place, deprecation, read_annotations
from mfidl.semantics.constraints import broken_constraint, constraints_from
from mfidl.semantics.context import Context
from mfidl.semantics.symbols import Scope
from mfidl.syntax import ast


def lower_fields(
    context: Context, fields: Sequence[ast.Field], place: Place, scope: Scope
) -> tuple[model.Field, ...]:
    """The sound fields, in order. Duplicate names and field numbers are reported here; what a duplicate holds
    is checked like any other.
    """
    seen: dict[str, ast.Field] = {}
    made = []
    numbered = next((field for field in fields if field.number is not None), None)
    if numbered is not None and numbered.number is not None:
        context.diagnostics.error("E0801", numbered.number.span, what="field numbers")
    for field in fields:
        name = field.name.text
        lowered = _lower_field(context, field, place, scope)
        if name in seen:
            notes = [Note("first here", seen[name].name.span)]
            kind = place.value.split()[-1]
            context.diagnostics.error("E0304", field.name.span, notes=notes, kind=kind, name=name)
            continue
        seen[name] = field
        if lowered is not None:
            made.append(lowered)
    return tuple(made)


def _lower_field(context: Context, field: ast.Field, place: Place, scope: Scope) -> model.Field | None:
    read = read_annotations(context, field.annotations, place)
    spelled = context.types.resolve(field.type, scope)
    if spelled is None:
        return None
    constraints = (*context.types.constraints_of(spelled), *constraints_from(context, read, spelled, scope))
    default = None
    if field.default is not None:
        default = context.values.value(field.default, spelled, scope)
        if default is None:
            return None
        check_default(context, field.default, default, constraints)
    return model.Field(
        field.name.text,
        model.expand(spelled),
        spelled,
        field.doc,
        default,
        constraints,
        deprecated=deprecation(context, read),
        span=field.name.span,
    )


def check_default(
    context: Context, expression: ast.Expr, value: model.Value, constraints: tuple[model.Constraint, ...]
) -> None:
    """A default, or a constant, must be a legal value of its own place."""
    broken = broken_constraint(value, constraints)
    if broken is not None:
        text = expression.span.text()
        shown = text if len(text) <= 40 and "\n" not in text else "value"
        context.diagnostics.error("E0509", expression.span, value=shown, constraint=broken)
