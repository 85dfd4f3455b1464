"""F4. Loaded modules to the resolved program: collect names, lower each declaration, check what spans many.

Everything is checked in one run, however many errors there are; only a program without errors is complete.
"""

from collections.abc import Sequence
from dataclasses import replace

from mfidl import model
from mfidl.diagnostics import Diagnostics
from mfidl.semantics.annotations import Place, own_annotations, read_annotations
from mfidl.semantics.check.cpp_types import check_cpp_types
from mfidl.semantics.check.recursion import check_recursion
from mfidl.semantics.context import Context
from mfidl.semantics.graph import TypeGraph
from mfidl.semantics.loading import LoadedModule
from mfidl.semantics.lower.constants import lower_agent, lower_alias, lower_constant
from mfidl.semantics.lower.enums import EnumLowering
from mfidl.semantics.lower.services import ServiceLowering, lower_topic
from mfidl.semantics.lower.structs import lower_annotation, lower_struct, lower_union
from mfidl.semantics.partial import sound_part
from mfidl.semantics.symbols import Kind, Scope, Symbol, collect
from mfidl.semantics.target_names import Targets
from mfidl.semantics.types import TypeResolver
from mfidl.semantics.values import Evaluator
from mfidl.syntax import ast

_Lowered = model.Declaration | model.Const | model.Agent | model.Service | model.Topic


def elaborate(
    modules: Sequence[LoadedModule], diagnostics: Diagnostics, context: Context | None = None
) -> model.Program:
    """The program before planning; if there were errors, its valid part, which planning checks, too. A
    `context` of the caller has afterwards what every name means.
    """
    if context is None:
        context = Context(diagnostics)
    context.scopes = scopes = collect(modules, diagnostics)
    lowering = _Lowering(context)
    lowered = [lowering.module(scope) for scope in scopes]
    graph = TypeGraph([each for module in lowered for each in module.declarations])
    check_recursion(graph, diagnostics)
    check_cpp_types(lowered, diagnostics)
    if diagnostics:
        return sound_part(lowered, graph.direct_loops())
    return model.Program(tuple(_in_order(lowered, graph)))


def _in_order(modules: list[model.Module], graph: TypeGraph) -> list[model.Module]:
    """Each module's declarations in dependency order, recursive structs marked."""
    cycles = graph.cycles()
    by_module: dict[str, list[model.Declaration]] = {module.name: [] for module in modules}
    owners = {each.full_name: module.name for module in modules for each in module.declarations}
    for each in graph.ordered():
        if isinstance(each, model.Struct | model.Union) and each.full_name in cycles:
            each = replace(each, cycle=cycles[each.full_name])
        by_module[owners[each.full_name]].append(each)
    return [replace(module, declarations=tuple(by_module[module.name])) for module in modules]


class _Lowering:
    """Lowers the declarations of all modules, in the order of the file."""

    def __init__(self, context: Context) -> None:
        self._context = context
        context.types = self._types = TypeResolver(context)
        context.values = self._evaluator = Evaluator(context)
        self._targets = Targets(context)
        context.enums = self._enums = EnumLowering(context, self._targets)
        context.services = self._services = ServiceLowering(context, self._targets)

    def module(self, scope: Scope) -> model.Module:
        annotations = _heads(scope, self._context)
        lowered = [self._lower(symbol) for symbol in scope.symbols.values()]
        for symbol in scope.duplicates:
            self._lower(symbol)  # only to report errors inside of it
        self._targets.check(scope)
        module = scope.module
        return model.Module(
            module.name,
            module.path,
            module.requested,
            module.declaration.doc if module.declaration else "",
            _imports(scope),
            tuple(each for each in lowered if isinstance(each, model.Const)),
            tuple(each for each in lowered if isinstance(each, model.Agent)),
            tuple(
                each for each in lowered if isinstance(each, model.Declaration) and not _is_annotation(each)
            ),
            _extended_first([each for each in lowered if isinstance(each, model.Service)]),
            tuple(each for each in lowered if isinstance(each, model.Topic)),
            tuple(each for each in lowered if isinstance(each, model.Struct) and _is_annotation(each)),
            annotations,
        )

    def _lower(self, symbol: Symbol) -> _Lowered | None:
        """What a symbol declares, as far as it is sound."""
        context, targets = self._context, self._targets.of(symbol)
        match symbol.kind:
            case Kind.STRUCT | Kind.ERROR:
                return lower_struct(context, symbol, targets)
            case Kind.UNION:
                return lower_union(context, symbol, targets)
            case Kind.ENUM:
                return self._enums.enum_named(symbol.full_name)
            case Kind.FLAGS:
                return self._enums.flags_named(symbol.full_name)
            case Kind.ANNOTATION:
                return lower_annotation(context, symbol)
            case Kind.ALIAS:
                return lower_alias(context, symbol, self._types, targets)
            case Kind.CONST:
                return lower_constant(context, symbol, self._evaluator, targets)
            case Kind.AGENT:
                return lower_agent(context, symbol, targets)
            case Kind.SERVICE:
                return self._services.of(symbol)
            case Kind.TOPIC:
                return lower_topic(context, symbol, targets)
            case Kind.BROKEN:
                return None


def _extended_first(services: list[model.Service]) -> tuple[model.Service, ...]:
    """In the order of the file, but for those that others extend: they stand before these."""
    pending = {each.full_name: each for each in reversed(services)}
    made: list[model.Service] = []
    while pending:
        stack = [next(reversed(pending.values()))]
        while stack[-1].extends in pending:
            stack.append(pending[stack[-1].extends])
        for each in reversed(stack):
            made.append(pending.pop(each.full_name))
    return tuple(made)


def _is_annotation(each: object) -> bool:
    return isinstance(each, model.Struct) and each.kind is model.StructKind.ANNOTATION


def _heads(scope: Scope, context: Context) -> model.Annotations:
    """The annotations on `module`, of which only the schema's own are known there; none on `import` are."""
    own: model.Annotations = ()
    for declaration in scope.module.file.declarations:
        if isinstance(declaration, ast.ModuleDecl):
            read = read_annotations(context, declaration.annotations, Place.MODULE)
            own += own_annotations(context, read)
        elif isinstance(declaration, ast.ImportDecl):
            read_annotations(context, declaration.annotations, Place.IMPORT)
    return own


def _imports(scope: Scope) -> tuple[model.Import, ...]:
    made = []
    for declaration, module in scope.module.imports:
        if module is not None:
            local = declaration.alias.text if declaration.alias else module.name.rpartition(".")[2]
            made.append(model.Import(module.name, local))
    return tuple(made)
