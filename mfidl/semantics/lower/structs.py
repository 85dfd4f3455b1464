"""F4. Structs, errors and unions."""

from mfidl import model
from mfidl.semantics.annotations import KNOWN, Place, deprecation, own_annotations, read_annotations
from mfidl.semantics.context import Context
from mfidl.semantics.lower.codecs import cpp_type, read_codecs
from mfidl.semantics.lower.codings import check_codings
from mfidl.semantics.lower.fields import lower_fields
from mfidl.semantics.lower.numbering import Numbering
from mfidl.semantics.lower.refs import check_own_refs, check_refs
from mfidl.semantics.lower.reserved import read_reserved
from mfidl.semantics.lower.tiers import Asked, asked_tier
from mfidl.semantics.symbols import Symbol
from mfidl.semantics.target_names import TargetScope
from mfidl.source import Span
from mfidl.syntax import ast

_KINDS = {
    "struct": (Place.STRUCT, model.StructKind.STRUCT),
    "error": (Place.ERROR, model.StructKind.ERROR),
}


def lower_struct(context: Context, symbol: Symbol, targets: TargetScope) -> model.Struct:
    """The struct with the fields that are sound. Its tier is only asked for here; planning decides."""
    declaration = symbol.declaration
    assert isinstance(declaration, ast.StructDecl)
    place, kind = _KINDS[declaration.keyword]
    read = read_annotations(context, declaration.annotations, place)
    asked = asked_tier(context, read)
    codecs = read_codecs(context, declaration, read, asked)
    reserved = read_reserved(context, declaration.reserved)
    rules = Numbering(reserved, _needs_numbers(declaration, asked))
    fields = lower_fields(context, declaration.fields, Place.FIELD, symbol.scope, rules)
    archive = model.DeclKind.STRUCT if asked.tier is model.Tier.ARCHIVE else None
    check_codings(context, declaration.fields, fields, archive)
    sound = True
    if kind is model.StructKind.ERROR:
        check_refs(context, declaration.fields, fields, "an error")
    else:
        sound = check_own_refs(context, declaration, fields, asked)
    foreign = cpp_type(context, read)
    return model.Struct(
        symbol.name,
        symbol.full_name,
        kind,
        fields,
        declaration.doc,
        asked.tier if sound else None,  # what the ref forbids is said already
        reserved=reserved.in_model(),
        cpp_codec=codecs.cpp,
        python_codec=codecs.python,
        cpp_type=foreign if sound else None,
        deprecated=deprecation(context, read),
        target_names=targets.read(declaration.name, read),
        span=declaration.name.span,
        annotations=own_annotations(context, read),
        within=symbol.within,
    )


def lower_annotation(context: Context, symbol: Symbol) -> model.Struct:
    """An annotation that schemas may write: what its arguments are. It is no type of values."""
    declaration = symbol.declaration
    assert isinstance(declaration, ast.StructDecl)
    read = read_annotations(context, declaration.annotations, Place.ANNOTATION)
    name = declaration.name
    if name.text in KNOWN:
        context.diagnostics.error("E0631", name.span, name=name.text)
    if not declaration.has_body:
        context.diagnostics.error("E0416", name.span, kind="annotation", name=name.text)
    reserved = read_reserved(context, declaration.reserved)
    fields = lower_fields(context, declaration.fields, Place.FIELD, symbol.scope, Numbering(reserved, None))
    check_codings(context, declaration.fields, fields)
    check_refs(context, declaration.fields, fields, "an annotation")
    return model.Struct(
        symbol.name,
        symbol.full_name,
        model.StructKind.ANNOTATION,
        fields,
        declaration.doc,
        reserved=reserved.in_model(),
        span=name.span,
        annotations=own_annotations(context, read),
    )


def _needs_numbers(declaration: ast.StructDecl, asked: Asked) -> tuple[ast.Name, Span] | None:
    if asked.tier is model.Tier.ARCHIVE and asked.span is not None:
        return declaration.name, asked.span
    return None


def lower_union(context: Context, symbol: Symbol, targets: TargetScope) -> model.Union:
    """The union with the alternatives that are sound."""
    declaration = symbol.declaration
    assert isinstance(declaration, ast.StructDecl)
    name = declaration.name
    read = read_annotations(context, declaration.annotations, Place.UNION)
    asked = asked_tier(context, read)
    if not declaration.has_body:
        context.diagnostics.error("E0416", name.span, kind="union", name=name.text)
    elif not declaration.fields and not declaration.broken:
        context.diagnostics.error("E0420", name.span, name=name.text)
    reserved = read_reserved(context, declaration.reserved)
    rules = Numbering(reserved, _needs_numbers(declaration, asked), by_place=True)
    alternatives = lower_fields(context, declaration.fields, Place.ALTERNATIVE, symbol.scope, rules)
    _check_alternatives(context, declaration, alternatives)
    archive = model.DeclKind.UNION if asked.tier is model.Tier.ARCHIVE else None
    check_codings(context, declaration.fields, alternatives, archive)
    sound = check_own_refs(context, declaration, alternatives, asked)
    return model.Union(
        symbol.name,
        symbol.full_name,
        alternatives,
        declaration.doc,
        asked.tier if sound else None,
        reserved=reserved.in_model(),
        deprecated=deprecation(context, read),
        target_names=targets.read(name, read),
        span=name.span,
        annotations=own_annotations(context, read),
        within=symbol.within,
    )


def _check_alternatives(
    context: Context, declaration: ast.StructDecl, alternatives: tuple[model.Field, ...]
) -> None:
    """Reports what an alternative cannot have: being absent means being another one, and only one is ever
    present."""
    lowered = {each.span: each for each in alternatives}
    for written in declaration.fields:
        if written.default is not None:
            context.diagnostics.error("E0422", written.default.span, name=written.name.text)
        alternative = lowered.get(written.name.span)
        if alternative is not None and isinstance(alternative.type, model.OptionalOf):
            marks = written.type.optional_marks
            span = marks[0] if marks else written.type.span
            context.diagnostics.error("E0421", span, fix="" if marks else None, name=written.name.text)
