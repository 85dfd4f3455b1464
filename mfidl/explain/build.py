"""A program in, reports out."""

from dataclasses import replace

from mfidl import model
from mfidl.explain import report
from mfidl.explain.selection import Method, Selected, select
from mfidl.explain.services import Services
from mfidl.explain.types import Types
from mfidl.explain.wording import constraints_of


def explain(program: model.Program, name: str | None = None) -> list[report.ModuleReport]:
    """Of all requested modules, or of the one thing that `name` means. Raises UnknownNameError."""
    types = Types(program)
    if name is not None:
        module, target = select(program, name)
        return [_one(Explainer(types, module), target)]
    return [Explainer(types, module).whole() for module in program.requested]


class Explainer:
    """Of one module."""

    def __init__(self, types: Types, module: model.Module) -> None:
        self._types = types
        self._services = Services(types)
        self.module = module

    def whole(self) -> report.ModuleReport:
        module = self.module
        declared = tuple(self._types.declaration(each, module.name) for each in _as_written(module))
        services = tuple(self._services.service(each, module.name) for each in module.services)
        topics = tuple(self._services.topic(each, module.name) for each in module.topics)
        return report.ModuleReport(module.name, module.path, declared, services, topics)

    def type(self, declaration: model.Declaration) -> report.TypeLike:
        return self._types.declaration(declaration, self.module.name)

    def service(self, service: model.Service) -> report.ServiceReport:
        return self._services.service(service, self.module.name)

    def method(self, service: model.Service, method: model.Method) -> report.ServiceReport:
        whole = self._services.service(service, self.module.name)
        only = tuple(each for each in whole.methods if each.name == method.name)
        return replace(whole, methods=only, detailed=True)

    def default_text(self, field: model.Field) -> str | None:
        """As the schema writes it; None where there is no default."""
        return None if field.default is None else self.value_text(field.type, field.default)

    def value_text(self, type_: model.Type, value: model.Value) -> str:
        return self._types.given_text(type_, value)

    def annotations(self, annotations: model.Annotations) -> tuple[str, ...]:
        """The schema's own, as it writes them."""
        return self._types.annotations(annotations, self.module.name)

    def checks(self, field: model.Field) -> list[tuple[str, str]]:
        """(place, constraint)."""
        return list(constraints_of(field))

    def topic(self, topic: model.Topic) -> report.TopicReport:
        return self._services.topic(topic, self.module.name)


def _one(explainer: Explainer, target: Selected) -> report.ModuleReport:
    types: tuple[report.TypeLike, ...] = ()
    services: tuple[report.ServiceReport, ...] = ()
    topics: tuple[report.TopicReport, ...] = ()
    match target:
        case Method(service, method):
            services = (explainer.method(service, method),)
        case model.Service():
            services = (explainer.service(target),)
        case model.Topic():
            topics = (explainer.topic(target),)
        case _:
            types = (explainer.type(target),)
    module = explainer.module
    return report.ModuleReport(module.name, module.path, types, services, topics)


def _as_written(module: model.Module) -> list[model.Declaration]:
    """In the order of the file: dependency order is for generators."""
    return sorted(module.declarations, key=lambda each: each.span.start if each.span else 0)
