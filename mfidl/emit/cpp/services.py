"""F6. Views of services: descriptions, clients and servants."""

from collections.abc import Iterator

from mfidl.emit.cpp.methods import MethodMaker
from mfidl.emit.cpp.structs import Describer
from mfidl.emit.cpp.text import deprecation, doc, own_lines, raw
from mfidl.emit.cpp.view import AgentView, ServiceView, StructView
from mfidl.model import Agent, Method, Module, Primitive, Scalar, Service, Type, expand


def service_view(describer: Describer, service: Service, module: Module) -> ServiceView:
    names = describer.names.module(module.name).service(service)
    methods = tuple(
        MethodMaker(describer, module, service, names, method, named).view()
        for method, named in zip(service.methods, names.methods, strict=True)
    )
    own = tuple(view for view, each in zip(methods, service.methods, strict=True) if service.declares(each))
    parted = describer.has_types(service.descriptor)
    return ServiceView(
        doc=doc(service.doc),
        attribute=deprecation(service.deprecated),
        full_name=service.full_name,
        client=names.client,
        scatter=names.scatter,
        servant=names.servant,
        async_servant=names.async_servant,
        info=names.info,
        info_per_agent=service.agent is not None,
        descriptor=names.descriptor,
        descriptor_text=raw(own_lines(service.descriptor) if parted else service.descriptor),
        annex=names.annex,
        annex_text=raw(own_lines(service.annex) if parted else service.annex),
        method_list=names.method_list,
        method_names=tuple(_by_index(service)),
        method_base=names.method_base,
        fingerprint=service.fingerprint.hex(),
        parted=parted,
        agent=_agent(describer, service.agent, module, names.agent, names.agents),
        methods=methods,
        own_methods=own,
        extended=tuple(extended_infos(describer, service)),
        dispatch=names.dispatch,
        dispatched=any(not each.pattern for each in methods),
        replicated=any(each.pattern for each in methods),
        servant_bases=_bases(describer, service, "servant"),
        async_servant_bases=_bases(describer, service, "async_servant"),
        inner=describer.types.inner(service.full_name, module.name),
    )


def extended_infos(describer: Describer, service: Service) -> Iterator[str]:
    """Of the services that it extends, the nearest first."""
    for each in describer.program.extended(service):
        names = describer.names.module(each.module)
        yield f"::{names.namespace}::methods::{names.service(each).info}"


def _bases(describer: Describer, service: Service, kind: str) -> str:
    """What its servant derives from: that of the service that it extends, and what that does not bring."""
    extended = next(describer.program.extended(service), None)
    bases = ["mf::Servant"]
    if extended is not None:
        names = describer.names.module(extended.module)
        bases = [f"::{names.namespace}::{getattr(names.service(extended), kind)}"]
        bases += ["mf::Extension"] if extended.extends is None else []
    if any(map(_is_replicated, service.methods)) and not any(
        map(_is_replicated, extended.methods if extended else ())
    ):
        bases.append("mf::replicated::Applies")
    return ", ".join(f"public {each}" for each in bases)


def _is_replicated(method: Method) -> bool:
    return method.replicated is not None


def _agent(
    describer: Describer, agent: Agent | None, module: Module, one: str, many: str
) -> AgentView | None:
    """How a caller names agents: by values of their type, which are converted to the texts on the wire."""
    if agent is None:
        return None
    if expand(agent.type) == Primitive(Scalar.STRING):
        return AgentView(one, many, "std::string_view", "std::string", one, f"std::move({many})")
    spelled = describer.types.spell(agent.spelled, module.name)
    by = spelled if describer.types.by_value(agent.type) else f"const {spelled}&"
    return AgentView(one, many, by, spelled, f"mf::agent_text({one})", f"mf::agent_texts({many})")


def _by_index(service: Service) -> list[str]:
    """The names of all methods, also of those that are not generated: a name's place is its index."""
    opening = " method "
    return [line[len(opening) :] for line in service.descriptor.splitlines() if line.startswith(opening)]


def implicit_structs(describer: Describer, service: Service, module: Module) -> list[StructView]:
    """The structs of parameters and of several results, in the order of the methods."""
    names = describer.names.module(module.name).service(service)
    views = []
    for method, named in zip(service.methods, names.methods, strict=True):
        if not service.declares(method):
            continue
        views.append(describer.struct(method.params, named.request, named.params, module))
        if named.result is not None:
            views.append(describer.struct(method.results, named.result, named.results, module))
    return views


def method_types(service: Service) -> list[Type]:
    """All types that the signatures of a service name."""
    types: list[Type] = []
    for method in service.methods:
        for field in (*method.params.fields, *method.results.fields):
            types += [field.spelled, field.type]
        for stream in method.streams:
            types += [stream.spelled, stream.type]
    types += [error for method in service.methods for error in method.throws]
    return types + ([service.agent.spelled, service.agent.type] if service.agent else [])
