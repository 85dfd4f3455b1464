"""F6. Types as expressions of `mf.codec.shape`, of which codecs are made."""

from collections.abc import Iterable

from mfidl.emit.python.context import Context
from mfidl.emit.python.literals import default_factory, float_literal, text_literal
from mfidl.model import (
    ArrayOf,
    Constraint,
    Field,
    FiniteConstraint,
    LengthConstraint,
    ListOf,
    MapOf,
    Named,
    OptionalOf,
    PatternConstraint,
    Primitive,
    RangeConstraint,
    RefOf,
    SetOf,
    Type,
    spell,
)


def shape(context: Context, type_: Type, constraints: Iterable[Constraint] = ()) -> str:
    """At an optional position the constraints apply to the value when it is there."""
    if isinstance(type_, OptionalOf):
        return f"shape.Optional({shape(context, type_.element, constraints)})"
    context.imports.name("mf.codec", "shape")
    plain = _plain(context, type_)
    rules = [_rule(context, type_, each) for each in constraints]
    one = "," * (len(rules) == 1)
    return f"shape.Checked({plain}, ({', '.join(rules)}{one}))" if rules else plain


def field_shape(context: Context, each: Field, attribute: str, *, numbered: bool = False) -> str:
    parts = [f'"{each.name}"', shape(context, each.type, each.constraints)]
    if attribute != each.name:
        parts.append(f'"{attribute}"')
    if numbered:
        parts.append(f"number={each.number}")
    if each.default is not None:
        parts.append(f"default={default_factory(context, each.type, each.default)}")
    return f"shape.Field({', '.join(parts)})"


def _plain(context: Context, type_: Type) -> str:
    match type_:
        case Primitive():
            return f"shape.{spell(type_).upper().replace('.', '_')}"
        case Named():
            return context.codec_name(type_.full_name, "{}_SHAPE")
        case ListOf():
            return f"shape.List({shape(context, type_.element, type_.constraints)})"
        case ArrayOf():
            return f"shape.Array({shape(context, type_.element, type_.constraints)}, {type_.length})"
        case SetOf():
            return f"shape.Set({shape(context, type_.element, type_.constraints)})"
        case MapOf():
            key = shape(context, type_.key, type_.key_constraints)
            return f"shape.Map({key}, {shape(context, type_.value, type_.value_constraints)})"
        case RefOf():
            return f"shape.Ref({_plain(context, type_.element)})"
        case _:
            raise AssertionError(type_)


def _rule(context: Context, type_: Type, constraint: Constraint) -> str:
    context.imports.name("mf.codec", "rules")
    match constraint:
        case RangeConstraint():
            low, high = (_bound(type_, each) for each in (constraint.low, constraint.high))
            return f"rules.InRange({low}, {high})"
        case LengthConstraint():
            return f"rules.HasLength({constraint.low}, {constraint.high})"
        case FiniteConstraint():
            return "rules.IsFinite()"
        case PatternConstraint():
            return f"rules.Matches({text_literal(constraint.pattern)})"


def _bound(type_: Type, bound: float | None) -> str:
    """Of an f32 the f32 that is nearest, as values are."""
    return float_literal(type_, bound) if isinstance(bound, float) else repr(bound)
