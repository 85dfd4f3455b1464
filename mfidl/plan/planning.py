"""F5. The planner: gives types their tier and layout, and services and topics their descriptor, fingerprint
and annex.
"""

from dataclasses import replace

from mfidl import model
from mfidl.diagnostics import Diagnostics, Note
from mfidl.plan.annex import Annexes
from mfidl.plan.fingerprint import Descriptors, fingerprint
from mfidl.plan.layout import Declared
from mfidl.plan.reach import Reach
from mfidl.plan.tier import SIZE_LIMIT, choose, obstacle, way_to_obstacle


def plan(program: model.Program, diagnostics: Diagnostics) -> model.Program | None:
    """The program with plans; None when a type asks for what it cannot have, or something was wrong before.

    Goes through the declarations once: what a struct holds directly comes before it, and what it holds
    otherwise keeps it from memcpy whatever it is.
    """
    declared: dict[str, model.Declaration] = {
        each.full_name: each for module in program.modules for each in module.declarations
    }
    modules = []
    methods: dict[
        str, model.Method
    ] = {}  # planned, by full name: a service that extends another has those of both
    for module in program.modules:
        for each in module.declarations:
            if isinstance(each, model.Struct):
                declared[each.full_name] = _planned(each, declared, diagnostics)
            elif isinstance(each, model.Union):
                declared[each.full_name] = _planned_union(each, diagnostics)
            elif isinstance(each, model.Alias) and each.cpp_view:
                _check_view(each, declared, diagnostics)
        services = tuple(_plan_service(each, methods, declared, diagnostics) for each in module.services)
        declarations = tuple(declared[each.full_name] for each in module.declarations)
        modules.append(replace(module, declarations=declarations, services=services))
    if diagnostics:
        return None
    reach = Reach(declared)
    descriptors, annexes = Descriptors(reach), Annexes(reach)
    return model.Program(tuple(_described(module, descriptors, annexes) for module in modules))


def _planned(struct: model.Struct, declared: Declared, diagnostics: Diagnostics) -> model.Struct:
    chosen = choose(struct, declared)
    if chosen.tier is not model.Tier.MEMCPY:
        _refuse(struct, chosen, declared, diagnostics)
    if chosen.layout is not None and chosen.layout.size > SIZE_LIMIT:
        diagnostics.error("E0415", struct.span, name=struct.full_name, limit=SIZE_LIMIT)
        chosen = replace(
            chosen, layout=model.Layout(0, 1, (), ())
        )  # only so that holders are not reported too
    return replace(struct, plan=chosen)


def _refuse(
    struct: model.Struct, chosen: model.StructPlan, declared: Declared, diagnostics: Diagnostics
) -> None:
    """What a struct that is not memcpy may not ask for."""
    found = obstacle(struct.fields, declared)
    span, reason = struct.span, ""
    notes: list[Note] = []
    if found is not None and struct.asked_tier in (None, model.Tier.MEMCPY):
        field, reason = found
        span = field.span
        way = way_to_obstacle(field, declared)
        notes = [
            Note(f"through field `{inner.name}` of `{holder.name}`", inner.span) for holder, inner in way
        ]
    if struct.asked_tier is model.Tier.MEMCPY:
        diagnostics.error("E0701", span, notes=notes, name=struct.name, tier="memcpy", reason=reason)
    elif struct.cpp_type is not None:
        if found is None or struct.asked_tier is not None:
            reason = f"it is {chosen.tier.value} because {chosen.reason}"
        diagnostics.error(
            "E0706", span, notes=notes, name=struct.name, type=struct.cpp_type.type, reason=reason
        )


def _planned_union(union: model.Union, diagnostics: Diagnostics) -> model.Union:
    match union.asked_tier:
        case model.Tier.MEMCPY:
            reason = "a union has the size of the alternative that it holds"
        case model.Tier.CUSTOM:
            reason = "that is for structs without a body, `struct Name;`"
        case _:
            return replace(union, plan=choose(union, {}))
    tier = union.asked_tier.value
    diagnostics.error("E0701", union.span, name=union.name, tier=tier, reason=reason)
    return replace(union, plan=choose(union, {}))


def _check_view(alias: model.Alias, declared: Declared, diagnostics: Diagnostics) -> None:
    """Only a list whose elements stand in a message as they stand in memory can be looked at there."""
    if not isinstance(alias.type, model.ListOf):
        reason = "it is no list"
    elif (found := _not_its_memory(alias.type.element, declared)) is None:
        return
    else:
        reason = found
    diagnostics.error("E0707", alias.span, name=alias.name, reason=reason)


def _not_its_memory(element: model.Type, declared: Declared) -> str | None:
    match element:
        case model.Primitive(scalar):
            if scalar in (model.Scalar.STRING, model.Scalar.BYTES):
                return f"{scalar.value} has no fixed size"
            if scalar is model.Scalar.DURATION or (scalar.is_integer and scalar.bits > 8):
                return f"a list of {scalar.value} is packed"
            return None
        case model.ArrayOf():
            return _not_its_memory(element.element, declared)
        case model.Named(full_name):
            match declared[full_name]:
                case model.Enum() | model.Flags() as numbered:
                    return _not_its_memory(numbered.base, declared)
                case model.Struct() as struct if struct.layout is not None and not struct.is_error:
                    return None if struct.layout.size else f"`{struct.name}` is empty"
                case other:
                    return f"`{other.name}` has no fixed layout"
        case _:
            return "its elements have no fixed layout"


def _plan_service(
    service: model.Service,
    known: dict[str, model.Method],
    declared: Declared,
    diagnostics: Diagnostics,
) -> model.Service:
    for method in service.methods:
        if method.full_name not in known:
            known[method.full_name] = replace(
                method,
                params=_planned(method.params, declared, diagnostics),
                results=_planned(method.results, declared, diagnostics),
            )
    return replace(service, methods=tuple(known[method.full_name] for method in service.methods))


def _described(module: model.Module, descriptors: Descriptors, annexes: Annexes) -> model.Module:
    services = []
    for service in module.services:
        text, outside = descriptors.service(service), annexes.service(service)
        services.append(replace(service, descriptor=text, fingerprint=fingerprint(text), annex=outside))
    topics = []
    for topic in module.topics:
        text, outside = descriptors.topic(topic), annexes.topic(topic)
        topics.append(replace(topic, descriptor=text, fingerprint=fingerprint(text), annex=outside))
    return replace(module, services=tuple(services), topics=tuple(topics))
