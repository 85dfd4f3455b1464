"""F5. The planner: gives structs their tier and layout, and services their descriptor and fingerprint."""

from dataclasses import replace

from mfidl import model
from mfidl.diagnostics import Diagnostics
from mfidl.plan.fingerprint import describe, fingerprint
from mfidl.plan.layout import Declared
from mfidl.plan.tier import SIZE_LIMIT, choose, obstacle


def plan(program: model.Program, diagnostics: Diagnostics) -> model.Program | None:
    """The program with plans; None when a type asks for what it cannot have, or something was wrong before.

    Goes through the declarations once: what a struct holds directly stands before it, and what it holds
    otherwise keeps it from memcpy whatever it is.
    """
    declared: dict[str, model.Declaration] = {
        each.full_name: each for module in program.modules for each in module.declarations
    }
    modules = []
    for module in program.modules:
        for each in module.declarations:
            if isinstance(each, model.Struct):
                declared[each.full_name] = _planned(each, declared, diagnostics)
        services = tuple(_plan_service(service, declared, diagnostics) for service in module.services)
        declarations = tuple(declared[each.full_name] for each in module.declarations)
        modules.append(replace(module, declarations=declarations, services=services))
    if diagnostics:
        return None
    return model.Program(tuple(_described(module, declared) for module in modules))


def _planned(struct: model.Struct, declared: Declared, diagnostics: Diagnostics) -> model.Struct:
    chosen = choose(struct, declared)
    if struct.asked_tier is model.Tier.MEMCPY and chosen.tier is not model.Tier.MEMCPY:
        found = obstacle(struct.fields, declared)
        assert found is not None
        field, reason = found
        diagnostics.error("E0701", field.span, name=struct.name, tier="memcpy", reason=reason)
    if chosen.layout is not None and chosen.layout.size > SIZE_LIMIT:
        diagnostics.error("E0415", struct.span, name=struct.full_name, limit=SIZE_LIMIT)
        chosen = replace(
            chosen, layout=model.Layout(0, 1, (), ())
        )  # only so that holders are not reported too
    return replace(struct, plan=chosen)


def _plan_service(service: model.Service, declared: Declared, diagnostics: Diagnostics) -> model.Service:
    methods = tuple(
        replace(
            method,
            params=_planned(method.params, declared, diagnostics),
            results=_planned(method.results, declared, diagnostics),
        )
        for method in service.methods
    )
    return replace(service, methods=methods)


def _described(module: model.Module, declared: Declared) -> model.Module:
    services = []
    for service in module.services:
        text = describe(service, declared)
        services.append(replace(service, descriptor=text, fingerprint=fingerprint(text)))
    return replace(module, services=tuple(services))
