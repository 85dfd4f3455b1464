"""F4. The part of a faulty program that planning may check, so that its errors are reported in the same run.

A struct that lost fields keeps the valid ones: what those forbid is forbidden whatever the others are.
Planning must not report errors here that were already reported.
"""

from dataclasses import replace

from mfidl import model
from mfidl.semantics.graph import TypeGraph, parts


def sound_part(modules: list[model.Module], loops: list[list[str]]) -> model.Program:
    """The declarations and services in one module, in dependency order. Good for complaints only."""
    endless = {name for loop in loops for name in loop}
    declarations = [each for module in modules for each in module.declarations]
    names = {each.full_name for each in declarations}
    graph = TypeGraph([_sound(each, names, endless) for each in declarations])
    services = [_sound_service(service, names) for module in modules for service in module.services]
    made = model.Module("", "", False, declarations=tuple(graph.ordered()), services=tuple(services))
    return model.Program((made,))


def _sound(declaration: model.Declaration, names: set[str], endless: set[str]) -> model.Declaration:
    if isinstance(declaration, model.Union):
        alternatives = (
            () if declaration.full_name in endless else _sound_fields(declaration.alternatives, names)
        )
        return replace(declaration, alternatives=alternatives)
    if not isinstance(declaration, model.Struct):
        return declaration
    if declaration.full_name in endless:  # it has no size that could be spoken of
        return replace(declaration, fields=(), asked_tier=None)
    return _sound_struct(declaration, names)


def _sound_struct(struct: model.Struct, names: set[str]) -> model.Struct:
    """Without the fields whose size depends on a declaration that was not understood."""
    return replace(struct, fields=_sound_fields(struct.fields, names))


def _sound_fields(fields: tuple[model.Field, ...], names: set[str]) -> tuple[model.Field, ...]:
    return tuple(
        field for field in fields if all(name in names for name, direct in parts(field.type) if direct)
    )


def _sound_service(service: model.Service, names: set[str]) -> model.Service:
    methods = [
        replace(
            method, params=_sound_struct(method.params, names), results=_sound_struct(method.results, names)
        )
        for method in service.methods
    ]
    return replace(service, methods=tuple(methods))
