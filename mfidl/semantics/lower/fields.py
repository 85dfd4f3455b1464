"""F4. Fields of structs and errors, alternatives, parameters and results: the same rules for all."""

from collections.abc import Sequence

from mfidl import model
from mfidl.diagnostics import Note
from mfidl.semantics.annotations import (
    Place,
    Read,
    deprecation,
    no_arguments,
    own_annotations,
    read_annotations,
)
from mfidl.semantics.constraints import broken_constraint, constraints_from
from mfidl.semantics.context import Context
from mfidl.semantics.lower.earlier import EarlierNames
from mfidl.semantics.lower.numbering import Numbering, number_members
from mfidl.semantics.lower.streams import is_stream
from mfidl.semantics.symbols import Scope
from mfidl.semantics.target_names import TargetScope
from mfidl.semantics.wording import mismatch, wanted_type
from mfidl.syntax import ast


def lower_fields(
    context: Context,
    fields: Sequence[ast.Field],
    place: Place,
    scope: Scope,
    rules: Numbering | None = None,
) -> tuple[model.Field, ...]:
    """The sound fields, in order. Duplicate and reserved names and wrong numbers are reported here; what a
    duplicate holds is checked like any other.
    """
    rules = rules or Numbering()
    kind = place.value.split()[-1]
    first: dict[str, ast.Field] = {}
    for field in fields:
        first.setdefault(field.name.text, field)
    numbers = number_members(context, list(first.values()), kind, rules)
    current = {name: field.name.span for name, field in first.items()}
    earlier = EarlierNames(context, current, rules.reserved.names)
    targets = TargetScope(context)
    made = []
    for field in fields:
        name = field.name
        repeated = first[name.text] is not field
        lowered = None
        if place is not Place.PARAM or not is_stream(field.type):  # a stream is no value among others
            own = TargetScope(context) if repeated else targets
            lowered = _lower_field(context, field, place, scope, earlier, own, numbers.get(field))
        if repeated:
            notes = [Note("first here", current[name.text])]
            context.diagnostics.error("E0304", name.span, notes=notes, kind=kind, name=name.text)
            continue
        if name.text in rules.reserved.names:
            notes = [Note("reserved here", rules.reserved.names[name.text])]
            context.diagnostics.error("E0428", name.span, notes=notes, kind=kind, name=name.text)
        if lowered is not None:
            made.append(lowered)
    targets.check()
    return tuple(made)


def _lower_field(
    context: Context,
    field: ast.Field,
    place: Place,
    scope: Scope,
    earlier: EarlierNames,
    targets: TargetScope,
    number: int | None,
) -> model.Field | None:
    read = read_annotations(context, field.annotations, place)
    was = earlier.of(field.name, read)
    names = targets.read(field.name, read)
    spelled = context.types.resolve(field.type, scope)
    if spelled is None:
        return None
    constraints = (*context.types.constraints_of(spelled), *constraints_from(context, read, spelled, scope))
    default = None
    if field.default is not None:
        if number is None and _is_meant_as_number(field.default, _present(spelled), place):
            meant = f"{field.default.span.text()}: {field.name.text}: {field.type.span.text()}"
            hint = f"the number comes first: `{meant}`"
            mismatch(context, field.default, wanted_type(_present(spelled)), hint)
            return None
        default = context.values.value(field.default, spelled, scope)
        if default is None:
            return None
        check_default(context, field.default, default, spelled, constraints)
    required = _required(context, field, read)
    return model.Field(
        field.name.text,
        model.expand(spelled),
        spelled,
        field.doc,
        default,
        constraints,
        number,
        was,
        deprecation(context, read),
        names,
        required,
        field.name.span,
        own_annotations(context, read),
    )


def _present(type_: model.Type) -> model.Type:
    own = model.expand(type_)
    return own.element if isinstance(own, model.OptionalOf) else own


def _is_meant_as_number(default: ast.Expr, type_: model.Type, place: Place) -> bool:
    """Whether `name: string = 2` numbers a field, as protobuf does: the type has no such value."""
    match type_:
        case model.Primitive(scalar):
            takes_numbers = scalar.is_integer or scalar.is_float or scalar is model.Scalar.TIMESTAMP
        case model.Named(kind=kind):
            takes_numbers = kind is model.DeclKind.FLAGS
        case _:
            takes_numbers = False
    is_number = isinstance(default, ast.IntLiteral) and default.value > 0
    return is_number and not takes_numbers and place is not Place.PARAM


def _required(context: Context, field: ast.Field, read: Read) -> bool:
    """Whether code that makes a value must give the field."""
    annotation = read.get("required")
    if annotation is None or not no_arguments(context, annotation):
        return False
    if field.default is not None:
        context.diagnostics.error("E0626", annotation.span, name=field.name.text)
        return False
    return True


def check_default(
    context: Context,
    expression: ast.Expr,
    value: model.Value,
    type_: model.Type,
    constraints: tuple[model.Constraint, ...],
) -> None:
    """A default, or a constant, must be a legal value of its own place."""
    broken = broken_constraint(value, type_, constraints)
    if broken is not None:
        text = expression.span.text()
        shown = text if len(text) <= 40 and "\n" not in text else "value"
        context.diagnostics.error("E0509", expression.span, value=shown, constraint=broken)
