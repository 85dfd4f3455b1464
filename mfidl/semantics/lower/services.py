"""F4. Services, their methods, and topics. Parameters and results become implicit structs."""

from mfidl import model
from mfidl.diagnostics import Note
from mfidl.semantics.annotations import Place, deprecation, no_arguments, own_annotations, read_annotations
from mfidl.semantics.constraints import constraints_from
from mfidl.semantics.context import Context
from mfidl.semantics.lower.calls import (
    batch_max,
    cache,
    check_exclusive,
    check_oneway,
    deadline,
    replicated,
)
from mfidl.semantics.lower.codings import check_codings, report_codings
from mfidl.semantics.lower.constants import lower_agent
from mfidl.semantics.lower.earlier import EarlierNames
from mfidl.semantics.lower.fields import lower_fields
from mfidl.semantics.lower.refs import check_refs, holds_ref, report_misplaced
from mfidl.semantics.lower.streams import is_stream, param_stream, result_stream
from mfidl.semantics.lower.topics import overflow, replay
from mfidl.semantics.symbols import Kind, Scope, Symbol
from mfidl.semantics.target_names import Targets, TargetScope
from mfidl.syntax import ast

_AGENTS = frozenset((Kind.AGENT,))
_ERRORS = frozenset((Kind.ERROR,))
_SERVICES = frozenset((Kind.SERVICE,))


class ServiceLowering:
    """Implements `ServiceSource`: a service is lowered when it is first needed, since others extend it."""

    def __init__(self, context: Context, targets: Targets) -> None:
        self._context = context
        self._targets = targets
        self._known: dict[str, model.Service] = {}
        self._open: list[Symbol] = []

    def service_named(self, full_name: str) -> model.Service | None:
        if full_name in self._known:
            return self._known[full_name]
        symbol = self._context.symbol(full_name)
        if symbol in self._open:
            loop = self._open[self._open.index(symbol) :]
            notes = [Note(f"through `{each.name}`", each.span) for each in loop[1:]]
            self._context.diagnostics.error("E0321", symbol.span, notes=notes, name=symbol.name)
            return None
        return self.of(symbol)

    def of(self, symbol: Symbol) -> model.Service:
        """The service of a symbol, which may have the name of another one."""
        if symbol.full_name not in self._known:
            self._open.append(symbol)
            made = _lower_service(self._context, symbol, self._targets.of(symbol))
            self._open.pop()
            self._known[symbol.full_name] = made
        return self._known[symbol.full_name]


def _lower_service(context: Context, symbol: Symbol, targets: TargetScope) -> model.Service:
    """The service with the methods that are sound, numbered in the order of the file, behind those of the
    service that it extends.
    """
    declaration = symbol.declaration
    assert isinstance(declaration, ast.ServiceDecl)
    read = read_annotations(context, declaration.annotations, Place.SERVICE)
    outside = symbol.scope.outermost
    base = _base(context, declaration, outside)
    agent = _agent(context, declaration.agent, outside)
    if base is not None:
        agent = _agent_of_both(context, declaration, base, agent)
    inherited = {each.name: each for each in base.methods} if base else {}
    first: dict[str, ast.MethodDecl] = {}
    for method in declaration.methods:
        first.setdefault(method.name.text, method)
    current = {name: each.span for name, each in inherited.items() if each.span is not None}
    current |= {name: method.name.span for name, method in first.items()}
    earlier = EarlierNames(context, current)
    names = TargetScope(context)
    methods: list[model.Method] = list(inherited.values())
    for method in declaration.methods:
        name = method.name.text
        if first[name] is not method:
            _lower_method(context, method, 0, symbol, EarlierNames(context, {}), TargetScope(context))
            notes = [Note("first here", current[name])]
            context.diagnostics.error("E0304", method.name.span, notes=notes, kind="method", name=name)
            continue
        if name in inherited and base is not None:
            _lower_method(context, method, 0, symbol, EarlierNames(context, {}), TargetScope(context))
            notes = [Note("declared there", inherited[name].span)]
            context.diagnostics.error(
                "E0322", method.name.span, notes=notes, name=name, service=symbol.name, base=base.full_name
            )
            continue
        methods.append(_lower_method(context, method, len(methods), symbol, earlier, names))
    names.check()
    return model.Service(
        symbol.name,
        symbol.full_name,
        agent,
        tuple(methods),
        declaration.doc,
        deprecation(context, read),
        targets.read(declaration.name, read),
        extends=None if base is None else base.full_name,
        span=declaration.name.span,
        annotations=own_annotations(context, read),
    )


def _base(context: Context, declaration: ast.ServiceDecl, scope: Scope) -> model.Service | None:
    """The service that is extended, if there is one."""
    if declaration.base is None:
        return None
    symbol = context.find(declaration.base, scope, _SERVICES, "E0319")
    if symbol is None:
        return None
    if symbol.kind is not Kind.SERVICE:
        context.diagnostics.error(
            "E0320", declaration.base.span, notes=symbol.notes(), name=symbol.name, kind=symbol.kind.value
        )
        return None
    return context.services.service_named(symbol.full_name)


def _agent_of_both(
    context: Context, declaration: ast.ServiceDecl, base: model.Service, own: model.Agent | None
) -> model.Agent | None:
    """The agent of the extended service: callers of that one address the same agents."""
    if declaration.agent is not None and own is not None:
        if base.agent is None:
            scope = "to all callers alike"
            hint = "leave `per` out"
        elif base.agent.full_name != own.full_name:
            scope = f"per {base.agent.name}"
            hint = f"leave `per {own.name}` out: `per {base.agent.name}` is inherited"
        else:
            return base.agent
        context.diagnostics.error(
            "E0323", declaration.agent.span, help=hint, name=own.name, base=base.full_name, scope=scope
        )
    return base.agent


def lower_topic(context: Context, symbol: Symbol, targets: TargetScope) -> model.Topic | None:
    """The topic, if its type is one that can be published."""
    declaration = symbol.declaration
    assert isinstance(declaration, ast.TopicDecl)
    read = read_annotations(context, declaration.annotations, Place.TOPIC)
    names = targets.read(declaration.name, read)
    agent = _agent(context, declaration.agent, symbol.scope)
    spelled = context.types.resolve(declaration.type, symbol.scope)
    if spelled is None:
        return None
    of_type = read_annotations(context, declaration.type_annotations, Place.TYPE)
    constraints_from(context, of_type, spelled, symbol.scope)  # none fits: to say so
    type_ = model.expand(spelled)
    if not isinstance(type_, model.Named) or type_.kind not in (
        model.DeclKind.STRUCT,
        model.DeclKind.UNION,
    ):
        context.diagnostics.error("E0440", declaration.type.span, type=f"`{model.spell(spelled)}`")
        return None
    return model.Topic(
        symbol.name,
        symbol.full_name,
        agent,
        type_,
        replay(context, read, symbol.scope),
        overflow(context, read),
        declaration.doc,
        deprecation(context, read),
        names,
        span=declaration.name.span,
        annotations=own_annotations(context, read),
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


def _lower_method(
    context: Context,
    method: ast.MethodDecl,
    index: int,
    service: Symbol,
    earlier: EarlierNames,
    names: TargetScope,
) -> model.Method:
    scope = service.scope
    full_name = f"{service.full_name}.{method.name.text}"
    read = read_annotations(context, method.annotations, Place.METHOD)
    oneway = "oneway" in read and no_arguments(context, read["oneway"])
    if "idempotent" in read:
        no_arguments(context, read["idempotent"])
    if "ordered" in read:
        no_arguments(context, read["ordered"])
    if oneway:
        check_oneway(context, method, read)
    check_exclusive(context, method, read)
    params = lower_fields(context, method.params, Place.PARAM, scope)
    check_refs(context, method.params, params, "the parameters of a method")
    check_codings(context, method.params, params)
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
        deadline(context, read, scope),
        batch_max(context, read, scope),
        cache(context, method, read, scope),
        replicated(context, read),
        param_stream(context, method.params, scope),
        _result_stream(context, method, scope),
        "ordered" in read,
        earlier.of(method.name, read),
        method.doc,
        deprecation(context, read),
        names.read(method.name, read),
        method.name.span,
        own_annotations(context, read),
    )


def _result_stream(context: Context, method: ast.MethodDecl, scope: Scope) -> model.Stream | None:
    results = method.results
    if isinstance(results, ast.TypeExpr) and is_stream(results):
        return result_stream(context, results, method.result_annotations, scope)
    return None


def _results(context: Context, method: ast.MethodDecl, scope: Scope) -> tuple[tuple[model.Field, ...], bool]:
    """Fields of the results, and whether there is one unnamed result."""
    results = method.results
    if results is None or is_stream(results):
        return (), False
    what = "the results of a method"
    if isinstance(results, tuple):
        if not results and method.arrow is not None:
            context.diagnostics.error("E0612", method.arrow, help="leave `-> ()` out")
        fields = lower_fields(context, results, Place.RESULT, scope)
        check_refs(context, results, fields, what)
        check_codings(context, results, fields)
        return fields, False
    read = read_annotations(context, method.result_annotations, Place.TYPE)  # it has no name
    spelled = context.types.resolve(results, scope)
    if spelled is None:
        return (), True
    if holds_ref(spelled):
        report_misplaced(context, results, what)
    report_codings(context, results, spelled)
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
