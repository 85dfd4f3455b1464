"""F4. Services and methods. Parameters and results become implicit structs."""

from mfidl import model
from mfidl.diagnostics import Note
from mfidl.semantics.annotations import (
    Place,
    Read,
    bad_arguments,
    deprecation,
    no_arguments,
    only_argument,
    read_annotations,
)
from mfidl.semantics.constraints import constraints_from
from mfidl.semantics.context import Context
from mfidl.semantics.lower.constants import lower_agent
from mfidl.semantics.lower.fields import lower_fields
from mfidl.semantics.symbols import Kind, Scope, Symbol
from mfidl.syntax import ast

BATCH_LIMIT = 1 << 20

_AGENTS = frozenset((Kind.AGENT,))
_ERRORS = frozenset((Kind.ERROR,))


def lower_service(context: Context, symbol: Symbol) -> model.Service:
    """The service with the methods that are sound, numbered in the order of the file."""
    declaration = symbol.declaration
    assert isinstance(declaration, ast.ServiceDecl)
    read = read_annotations(context, declaration.annotations, Place.SERVICE)
    seen: dict[str, ast.MethodDecl] = {}
    methods: list[model.Method] = []
    for method in declaration.methods:
        name = method.name.text
        lowered = _lower_method(context, method, len(methods), symbol)
        if name in seen:
            notes = [Note("first here", seen[name].name.span)]
            context.diagnostics.error("E0304", method.name.span, notes=notes, kind="method", name=name)
            continue
        seen[name] = method
        methods.append(lowered)
    return model.Service(
        symbol.name,
        symbol.full_name,
        _agent(context, declaration.agent, symbol.scope),
        tuple(methods),
        declaration.doc,
        deprecation(context, read),
        span=declaration.name.span,
    )


def _agent(context: Context, path: ast.Path | None, scope: Scope) -> model.Agent | None:
    if path is None:
        return None
    symbol = context.find(path, scope, _AGENTS, "E0313")
    if symbol is None:
        return None
    if symbol.kind is not Kind.AGENT:
        context.diagnostics.error(
            "E0314", path.span, notes=symbol.notes(), name=symbol.name, kind=symbol.kind.value
        )
        return None
    return lower_agent(context, symbol)


def _lower_method(context: Context, method: ast.MethodDecl, index: int, service: Symbol) -> model.Method:
    scope = service.scope
    full_name = f"{service.full_name}.{method.name.text}"
    read = read_annotations(context, method.annotations, Place.METHOD)
    oneway = "oneway" in read and no_arguments(context, read["oneway"])
    if "idempotent" in read:
        no_arguments(context, read["idempotent"])
    if oneway:
        _check_oneway(context, method, read)
    params = lower_fields(context, method.params, Place.PARAM, scope)
    results, single = _results(context, method, scope)
    return model.Method(
        method.name.text,
        full_name,
        index,
        model.Struct("params", f"{full_name}.params", model.StructKind.PARAMS, params, span=method.name.span),
        model.Struct(
            "results", f"{full_name}.results", model.StructKind.RESULTS, results, span=method.name.span
        ),
        single,
        _throws(context, method, scope),
        oneway,
        "idempotent" in read,
        _deadline(context, read, scope),
        _batch(context, read, scope),
        doc=method.doc,
        deprecated=deprecation(context, read),
        span=method.name.span,
    )


def _check_oneway(context: Context, method: ast.MethodDecl, read: Read) -> None:
    notes = [Note("declared oneway here", read["oneway"].span)]
    if method.arrow is not None:
        results = method.results
        span = results.span if isinstance(results, ast.TypeExpr) else method.arrow
        context.diagnostics.error("E0610", span, notes=notes)
    if method.throws:
        context.diagnostics.error("E0611", method.throws[0].span, notes=notes)
    if "deadline" in read:
        context.diagnostics.error("E0614", read["deadline"].span, notes=notes, name="deadline")


def _results(context: Context, method: ast.MethodDecl, scope: Scope) -> tuple[tuple[model.Field, ...], bool]:
    """Fields of the results, and whether there is one unnamed result."""
    results = method.results
    if results is None:
        return (), False
    if isinstance(results, tuple):
        if not results and method.arrow is not None:
            context.diagnostics.error("E0612", method.arrow, help="leave `-> ()` out")
        return lower_fields(context, results, Place.RESULT, scope), False
    read = read_annotations(context, method.result_annotations, Place.RESULT)
    spelled = context.types.resolve(results, scope)
    if spelled is None:
        return (), True
    constraints = (*context.types.constraints_of(spelled), *constraints_from(context, read, spelled, scope))
    field = model.Field("value", model.expand(spelled), spelled, "", None, constraints, span=results.span)
    return (field,), True


def _throws(context: Context, method: ast.MethodDecl, scope: Scope) -> tuple[model.Named, ...]:
    seen: dict[str, ast.Path] = {}
    for path in method.throws:
        symbol = context.find(path, scope, _ERRORS, "E0315")
        if symbol is None:
            continue
        if symbol.kind is not Kind.ERROR:
            notes, kind = symbol.notes(), symbol.kind.value
            context.diagnostics.error("E0310", path.span, notes=notes, name=symbol.name, kind=kind)
        elif symbol.full_name in seen:
            notes = [Note("first here", seen[symbol.full_name].span)]
            context.diagnostics.error("E0312", path.span, notes=notes, name=symbol.name)
        else:
            seen[symbol.full_name] = path
    return tuple(model.Named(full_name, model.DeclKind.ERROR) for full_name in seen)


def _deadline(context: Context, read: Read, scope: Scope) -> int | None:
    annotation = read.get("deadline")
    if annotation is None:
        return None
    value = only_argument(context, annotation)
    if value is None or isinstance(value, ast.BrokenExpr):
        return None
    if isinstance(value, ast.RangeExpr):
        bad_arguments(context, annotation)
        return None
    duration = context.values.value(value, model.Primitive(model.Scalar.DURATION), scope)
    if not isinstance(duration, int):
        return None
    if duration <= 0:
        context.diagnostics.error("E0608", value.span)
        return None
    return duration


def _batch(context: Context, read: Read, scope: Scope) -> int | None:
    annotation = read.get("batch")
    if annotation is None:
        return None
    value = only_argument(context, annotation, key="max")
    if value is None or isinstance(value, ast.BrokenExpr):
        return None
    if isinstance(value, ast.RangeExpr):
        bad_arguments(context, annotation)
        return None
    count = context.values.whole_number(value, scope, "the size of a batch")
    if count is None:
        return None
    if not 1 <= count <= BATCH_LIMIT:
        context.diagnostics.error("E0609", value.span, limit=BATCH_LIMIT)
        return None
    return count
