"""F4. Loaded modules to the resolved program: collect names, lower each declaration, check what spans many.

Everything is looked at in one run, however much is wrong; a whole program comes out only when nothing is.
"""

from collections.abc import Sequence
from dataclasses import replace

from mfidl import model
from mfidl.diagnostics import Diagnostics
from mfidl.semantics.annotations import Place, read_annotations
from mfidl.semantics.check.recursion import check_recursion
from mfidl.semantics.context import Context
from mfidl.semantics.graph import TypeGraph
from mfidl.semantics.loading import LoadedModule
from mfidl.semantics.lower.constants import lower_agent, lower_alias, lower_constant
from mfidl.semantics.lower.enums import EnumLowering
from mfidl.semantics.lower.services import lower_service
from mfidl.semantics.lower.structs import lower_struct, lower_union
from mfidl.semantics.partial import sound_part
from mfidl.semantics.symbols import Kind, Scope, Symbol, collect
from mfidl.semantics.types import TypeResolver
from mfidl.semantics.values import Evaluator
from mfidl.syntax import ast

_LATER = {Kind.TOPIC: "topic"}


def elaborate(modules: Sequence[LoadedModule], diagnostics: Diagnostics) -> model.Program:
    """The program, not yet planned; what is sound of it, for planning to complain about, when anything was
    reported.
    """
    scopes = collect(modules, diagnostics)
    context = Context(diagnostics, scopes)
    context.types = types = TypeResolver(context)
    context.values = evaluator = Evaluator(context)
    context.enums = enums = EnumLowering(context)
    lowered = [_lower_module(scope, context, types, evaluator, enums) for scope in scopes]
    graph = TypeGraph([each for module in lowered for each in module.declarations])
    check_recursion(graph, diagnostics)
    if diagnostics:
        return sound_part(lowered, graph.direct_loops())
    return model.Program(tuple(_in_order(lowered, graph)))


def _in_order(modules: list[model.Module], graph: TypeGraph) -> list[model.Module]:
    """Each module's declarations in dependency order, recursive structs marked."""
    cycles = graph.cycles()
    by_module: dict[str, list[model.Declaration]] = {module.name: [] for module in modules}
    for each in graph.ordered():
        if isinstance(each, model.Struct | model.Union) and each.full_name in cycles:
            each = replace(each, cycle=cycles[each.full_name])
        by_module[each.full_name.rpartition(".")[0]].append(each)
    return [replace(module, declarations=tuple(by_module[module.name])) for module in modules]


def _lower_module(
    scope: Scope, context: Context, types: TypeResolver, evaluator: Evaluator, enums: EnumLowering
) -> model.Module:
    _check_heads(scope, context)
    lowered = [_lower(symbol, context, types, evaluator, enums) for symbol in scope.symbols.values()]
    for symbol in scope.duplicates:
        _lower(symbol, context, types, evaluator, enums)  # only for what there is to say about its inside
    module = scope.module
    return model.Module(
        module.name,
        module.path,
        module.requested,
        module.declaration.doc if module.declaration else "",
        _imports(scope),
        tuple(each for each in lowered if isinstance(each, model.Const)),
        tuple(each for each in lowered if isinstance(each, model.Agent)),
        tuple(each for each in lowered if isinstance(each, model.Declaration)),
        tuple(each for each in lowered if isinstance(each, model.Service)),
    )


def _lower(
    symbol: Symbol, context: Context, types: TypeResolver, evaluator: Evaluator, enums: EnumLowering
) -> model.Declaration | model.Const | model.Agent | model.Service | None:
    """What a symbol declares, as far as it is sound."""
    match symbol.kind:
        case Kind.STRUCT | Kind.ERROR:
            return lower_struct(context, symbol)
        case Kind.UNION:
            return lower_union(context, symbol)
        case Kind.ENUM:
            return enums.enum_named(symbol.full_name)
        case Kind.FLAGS:
            return enums.flags_named(symbol.full_name)
        case Kind.ALIAS:
            return lower_alias(context, symbol, types)
        case Kind.CONST:
            return lower_constant(context, symbol, evaluator)
        case Kind.AGENT:
            return lower_agent(context, symbol)
        case Kind.SERVICE:
            return lower_service(context, symbol)
        case Kind.TOPIC:
            context.diagnostics.error("E0801", symbol.span, what=_LATER[symbol.kind])
            return None
        case Kind.BROKEN:
            return None


def _check_heads(scope: Scope, context: Context) -> None:
    """Annotations on `module` and `import`: none are known there yet, so any is out of place."""
    for declaration in scope.module.file.declarations:
        if isinstance(declaration, ast.ModuleDecl):
            read_annotations(context, declaration.annotations, Place.MODULE)
        elif isinstance(declaration, ast.ImportDecl):
            read_annotations(context, declaration.annotations, Place.IMPORT)


def _imports(scope: Scope) -> tuple[model.Import, ...]:
    made = []
    for declaration, module in scope.module.imports:
        if module is not None:
            local = declaration.alias.text if declaration.alias else module.name.rpartition(".")[2]
            made.append(model.Import(module.name, local))
    return tuple(made)
