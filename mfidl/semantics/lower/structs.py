"""F4. Structs and errors."""

from mfidl import model
from mfidl.diagnostics.suggest import nearest
from mfidl.semantics.annotations import (
    Place,
    Read,
    bad_arguments,
    deprecation,
    only_argument,
    read_annotations,
)
from mfidl.semantics.context import Context
from mfidl.semantics.lower.fields import lower_fields
from mfidl.semantics.symbols import Symbol
from mfidl.syntax import ast

_LATER_TIERS = ("archive", "custom")
_KINDS = {
    "struct": (Place.STRUCT, model.StructKind.STRUCT),
    "error": (Place.ERROR, model.StructKind.ERROR),
}


def lower_struct(context: Context, symbol: Symbol) -> model.Struct:
    """The struct with the fields that are sound. Its tier is only asked for here; planning decides."""
    declaration = symbol.declaration
    assert isinstance(declaration, ast.StructDecl)
    place, kind = _KINDS[declaration.keyword]
    read = read_annotations(context, declaration.annotations, place)
    tier, known = _asked_tier(context, read)
    if not declaration.has_body and known:
        name = declaration.name
        context.diagnostics.error("E0416", name.span, kind=declaration.keyword, name=name.text)
    if declaration.reserved:
        context.diagnostics.error("E0801", declaration.reserved[0].span, what="reserved")
    return model.Struct(
        symbol.name,
        symbol.full_name,
        kind,
        lower_fields(context, declaration.fields, Place.FIELD, symbol.scope),
        declaration.doc,
        tier,
        deprecated=deprecation(context, read),
        span=declaration.name.span,
    )


def _asked_tier(context: Context, read: Read) -> tuple[model.Tier | None, bool]:
    """The tier that @tier names, and whether the annotation (or its absence) was in order."""
    annotation = read.get("tier")
    if annotation is None:
        return None, True
    value = only_argument(context, annotation)
    if value is None or isinstance(value, ast.BrokenExpr):
        return None, False
    if not isinstance(value, ast.NameExpr) or value.negative:
        bad_arguments(context, annotation)
        return None, False
    word = value.path.text
    tiers = {tier.value: tier for tier in model.Tier}
    if word in tiers:
        return tiers[word], True
    if word in _LATER_TIERS:
        context.diagnostics.error("E0801", value.span, what=f"tier {word}")
        return None, False
    found = nearest(word, (*tiers, *_LATER_TIERS))
    hint = f"did you mean `{found}`?" if found else None
    context.diagnostics.error("E0702", value.span, help=hint, name=word)
    return None, False
