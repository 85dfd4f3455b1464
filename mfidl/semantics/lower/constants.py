"""F4. Constants, aliases and agents."""

from mfidl import model
from mfidl.semantics.annotations import Place, deprecation, no_arguments, own_annotations, read_annotations
from mfidl.semantics.constraints import constraints_from
from mfidl.semantics.context import Context
from mfidl.semantics.lower.codings import report_codings
from mfidl.semantics.lower.fields import check_default
from mfidl.semantics.symbols import Symbol
from mfidl.semantics.target_names import TargetScope
from mfidl.semantics.types import TypeResolver
from mfidl.semantics.values import Evaluator
from mfidl.syntax import ast

_AGENT_SCALARS = (model.Scalar.STRING, model.Scalar.UUID)


def lower_constant(
    context: Context, symbol: Symbol, evaluator: Evaluator, targets: TargetScope
) -> model.Const | None:
    declaration = symbol.declaration
    assert isinstance(declaration, ast.ConstDecl)
    read = read_annotations(context, declaration.annotations, Place.CONST)
    names = targets.read(declaration.name, read)
    of_type = read_annotations(context, declaration.type_annotations, Place.TYPE)
    made = evaluator.constant(symbol)
    if made is None:
        return None
    spelled, value = made
    report_codings(context, declaration.type, spelled)
    constraints = (
        *context.types.constraints_of(spelled),
        *constraints_from(context, of_type, spelled, symbol.scope),
    )
    check_default(context, declaration.value, value, spelled, constraints)
    return model.Const(
        symbol.name,
        symbol.full_name,
        model.expand(spelled),
        spelled,
        value,
        declaration.doc,
        deprecation(context, read),
        names,
        span=declaration.name.span,
        annotations=own_annotations(context, read),
    )


def lower_alias(
    context: Context, symbol: Symbol, types: TypeResolver, targets: TargetScope
) -> model.Alias | None:
    declaration = symbol.declaration
    assert isinstance(declaration, ast.AliasDecl)
    read = read_annotations(context, declaration.annotations, Place.ALIAS)
    names = targets.read(declaration.name, read)
    made = types.alias(symbol)
    if made is None:
        return None
    spelled, _, constraints = made
    return model.Alias(
        symbol.name,
        symbol.full_name,
        model.expand(spelled),
        spelled,
        declaration.doc,
        constraints,
        deprecation(context, read),
        names,
        "cpp.view" in read and no_arguments(context, read["cpp.view"]),
        span=declaration.name.span,
        annotations=own_annotations(context, read),
        within=symbol.within,
    )


def lower_agent(context: Context, symbol: Symbol, targets: TargetScope | None = None) -> model.Agent | None:
    declaration = symbol.declaration
    assert isinstance(declaration, ast.AgentDecl)
    read = read_annotations(context, declaration.annotations, Place.AGENT)
    names = (targets or TargetScope(context)).read(declaration.name, read)
    spelled = context.types.resolve(declaration.type, symbol.scope)
    if spelled is None:
        return None
    report_codings(context, declaration.type, spelled)
    type_ = model.expand(spelled)
    match type_:
        case model.Primitive(scalar):
            allowed = scalar.is_integer or scalar in _AGENT_SCALARS
        case model.Named(kind=kind):
            allowed = kind is model.DeclKind.ENUM
        case _:
            allowed = False
    if not allowed:
        context.diagnostics.error("E0412", declaration.type.span, type=f"`{model.spell(type_)}`")
        return None
    return model.Agent(
        symbol.name,
        symbol.full_name,
        type_,
        spelled,
        declaration.doc,
        deprecation(context, read),
        names,
        declaration.name.span,
        own_annotations(context, read),
    )
