"""F5. The choice of a tier, and the reason for it in words."""

from mfidl import model
from mfidl.plan.layout import Declared, lay_out, size_and_align

# The largest message: a fixed-size value beyond it could never be sent.
SIZE_LIMIT = 1 << 24


def obstacle(fields: tuple[model.Field, ...], declared: Declared) -> tuple[model.Field, str] | None:
    """The first field that keeps a struct from memcpy, and the clause that says why."""
    for field in fields:
        if size_and_align(field.type, declared) is None:
            return field, f"field `{field.name}` {_why(field.type, declared)}"
    return None


def choose(struct: model.Struct, declared: Declared) -> model.StructPlan:
    """The fastest tier that the struct qualifies for, or the one that it asks for and can have."""
    if struct.is_error:
        return model.StructPlan(model.Tier.FEBIRD, "errors travel in febird", None)
    if struct.asked_tier is model.Tier.FEBIRD:
        return model.StructPlan(model.Tier.FEBIRD, "the file asks for it", None)
    found = obstacle(struct.fields, declared)
    if found is not None:
        return model.StructPlan(model.Tier.FEBIRD, found[1], None)
    reason = "every field has a fixed size" if struct.fields else "it has no fields"
    return model.StructPlan(model.Tier.MEMCPY, reason, lay_out(struct.fields, declared))


def _why(type_: model.Type, declared: Declared) -> str:
    match type_:
        case model.Named(full_name, _):
            struct = declared[full_name]
            assert isinstance(struct, model.Struct)
            return f"is `{struct.name}`, which is {struct.tier.value} because {struct.plan.reason}"
        case model.ArrayOf(element, _):
            return f"is an array whose element {_why(element, declared)}"
        case model.OptionalOf():
            return "may be absent"
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
