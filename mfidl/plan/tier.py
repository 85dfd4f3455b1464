"""F5. The choice of a tier, and the reason for it in words."""

from mfidl import model
from mfidl.plan.layout import Declared, lay_out, size_and_align

# The largest message: a fixed-size value beyond it could never be sent.
SIZE_LIMIT = 1 << 24

# The limit for a message about a chain of structs, each the reason for the next.
_REASON_LIMIT = 400
_WAY_LIMIT = 12
_FURTHER_IN = "further in, "

ASKED = "the file asks for it"


def obstacle(fields: tuple[model.Field, ...], declared: Declared) -> tuple[model.Field, str] | None:
    """The first field that keeps a struct from memcpy, and the clause that says why."""
    for field in fields:
        if size_and_align(field.type, declared) is None:
            return field, f"field `{field.name}` {_why(field.type, declared)}"
    return None


def choose(holder: model.Struct | model.Union, declared: Declared) -> model.StructPlan:
    """The fastest tier that the type qualifies for, or the one that it asks for and can have."""
    if isinstance(holder, model.Union):
        return _choose_for_union(holder)
    if holder.is_error:
        return model.StructPlan(model.Tier.FEBIRD, "errors travel in febird", None)
    match holder.asked_tier:
        case model.Tier.CUSTOM:
            return model.StructPlan(model.Tier.CUSTOM, "the file names its codec", None)
        case model.Tier.FEBIRD | model.Tier.ARCHIVE:
            return model.StructPlan(holder.asked_tier, ASKED, None)
    found = obstacle(holder.fields, declared)
    if found is not None:
        return model.StructPlan(model.Tier.FEBIRD, found[1], None)
    reason = "every field has a fixed size" if holder.fields else "it has no fields"
    return model.StructPlan(model.Tier.MEMCPY, reason, lay_out(holder.fields, declared))


def _choose_for_union(union: model.Union) -> model.StructPlan:
    if union.asked_tier in (model.Tier.FEBIRD, model.Tier.ARCHIVE):
        return model.StructPlan(union.asked_tier, ASKED, None)
    return model.StructPlan(model.Tier.FEBIRD, "it is a union, whose size depends on the alternative", None)


def way_to_obstacle(field: model.Field, declared: Declared) -> list[tuple[model.Struct, model.Field]]:
    """From a field that prevents memcpy inwards: the structs and their fields that do so, as far
    as structs lead, and not beyond the point that a reader would follow.
    """
    way: list[tuple[model.Struct, model.Field]] = []
    type_ = field.type
    while len(way) < _WAY_LIMIT:
        while isinstance(type_, model.ArrayOf):
            type_ = type_.element
        inner = declared.get(type_.full_name) if isinstance(type_, model.Named) else None
        if not isinstance(inner, model.Struct) or inner.asked_tier is not None:
            return way
        found = obstacle(inner.fields, declared)
        if found is None:
            return way
        way.append((inner, found[0]))
        type_ = found[0].type
    return way


def _why(type_: model.Type, declared: Declared) -> str:
    match type_:
        case model.Named(full_name, _):
            holder = declared[full_name]
            assert isinstance(holder, model.Struct | model.Union)
            reason = holder.plan.reason
            if len(reason) > _REASON_LIMIT:
                reason = _FURTHER_IN + reason.rpartition(" because ")[2].removeprefix(_FURTHER_IN)
            return f"is `{holder.name}`, which is {holder.tier.value} because {reason}"
        case model.ArrayOf(element, _):
            return f"is an array whose element {_why(element, declared)}"
        case model.OptionalOf():
            return "may be absent"
        case model.RefOf():
            return "is a ref, which only an archive can hold"
        case _:
            return f"is a {_word(type_)}, which has no fixed size"


def _word(type_: model.Type) -> str:
    match type_:
        case model.ListOf():
            return "list"
        case model.SetOf():
            return "set"
        case model.MapOf():
            return "map"
        case _:
            return model.spell(type_)
