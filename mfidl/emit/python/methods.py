"""F6. The view of _methods.py: the services for the runtime."""

from dataclasses import dataclass

from mfidl.emit.python.codec import fields_text
from mfidl.emit.python.layout import bracket, unfolded
from mfidl.emit.python.names import MethodNames
from mfidl.emit.python.service_file import ServiceFile
from mfidl.emit.python.shapes import shape
from mfidl.model import Method, Service, Struct, Tier
from mfidl.plan.layout import size_and_align


@dataclass(frozen=True, slots=True)
class MethodView:
    constant: str
    types: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ServiceView:
    """`descriptor` and `annex` are the lines of texts between three quotes."""

    constant: str
    descriptor_name: str
    annex_name: str
    arguments: tuple[str, ...]
    descriptor: tuple[str, ...]
    annex: tuple[str, ...]
    methods: tuple[MethodView, ...]


class MethodsFile(ServiceFile):
    def services(self) -> list[ServiceView]:
        return [self._service(each) for each in self._context.module.services]

    def _service(self, service: Service) -> ServiceView:
        names = self._names(service)
        self._context.imports.name("typing", "Final")
        self._context.imports.name("mf.core.service", "ServiceInfo")
        constants = [each.constant for each in names.methods]
        agent = f'"{service.agent.name}"' if service.agent else "None"
        return ServiceView(
            constant=names.constant,
            descriptor_name=names.descriptor,
            annex_name=names.annex,
            arguments=(
                f'name="{service.full_name}"',
                f"agent={agent}",
                f"descriptor={names.descriptor}",
                f"annex={names.annex}",
                f'fingerprint=bytes.fromhex("{service.fingerprint.hex()}")',
                bracket("methods=(", constants, ",)" if len(constants) == 1 else ")", 4),
            ),
            descriptor=text_lines(service.descriptor),
            annex=text_lines(service.annex),
            methods=tuple(
                self._method(at, method, own)
                for at, (method, own) in enumerate(zip(service.methods, names.methods, strict=True))
            ),
        )

    def _method(self, place: int, method: Method, names: MethodNames) -> MethodView:
        """`place`: among the generated methods, and so among the routes that a client binds."""
        context = self._context
        context.imports.name("mf.core.service", "Method")
        context.imports.name("mf.codec.method", "method")
        request = self._request(names)
        arguments = [f'"{method.full_name}"', str(place), request]
        if method.params.fields:
            arguments.append(self._fields("params=", method.params))
        if method.results.fields:
            arguments.append(self._fields("results=", method.results))
        if names.result:
            arguments.append(f"result={self._result_type(method, names)}")
        if names.servant_function != method.name:
            arguments.append(f'attribute="{names.servant_function}"')
        if names.servant_items not in ("", f"{method.name}_items"):
            arguments.append(f'batch_attribute="{names.servant_items}"')
        for what, struct in (("request", method.params), ("result", method.results)):
            if struct.tier is Tier.MEMCPY:
                arguments.append(f"{what}_encoding={self._memcpy()}")
        arguments += self._elements(method)
        if method.throws:
            errors = [context.codec_name(each.full_name, "{}_CODEC") for each in method.throws]
            arguments.append(bracket("errors=(", errors, ",)" if len(errors) == 1 else ")", 4))
        arguments += self._options(method)
        types = f"{request}, {self._result_type(method, names)}"
        return MethodView(names.constant, types, tuple(arguments))

    def _memcpy(self) -> str:
        return self._context.imports.name("mf.core.service", "MEMCPY")

    def _elements(self, method: Method) -> list[str]:
        """The shape of each stream's elements, and whether they are memcpy."""
        arguments = []
        for what, stream in (("param", method.param_stream), ("result", method.result_stream)):
            if stream is not None:
                self._context.imports.name("mf.codec", "shape")
                element = shape(self._context, stream.type, stream.constraints)
                arguments.append(unfolded(f"{what}_element=lambda: {element}", 4))
                if size_and_align(stream.type, self._context.program.declarations) is not None:
                    arguments.append(f"{what}_element_encoding={self._memcpy()}")
        return arguments

    def _options(self, method: Method) -> list[str]:
        options = []
        if method.idempotent:
            options.append("idempotent=True")
        if method.oneway:
            options.append("oneway=True")
        if method.ordered:
            options.append("ordered=True")
        if self._context.facts.is_constrained(method.params):
            options.append("constrained=True")
        if method.replicated is not None:
            options.append(f'replicated="{method.replicated}"')
        if method.deadline_ns is not None:
            options.append(f"deadline={method.deadline_ns / 1e9!r}")
        if method.batch_max is not None:
            options.append(f"batch_max={method.batch_max}")
        if (cache := method.cached) is not None:
            info = self._context.imports.name("mf.core.service", "CacheInfo")
            ttl = None if cache.ttl_ns is None else cache.ttl_ns / 1e9
            options.append(f"cached={info}({cache.entries}, {ttl!r}, {cache.max_bytes}, {cache.errors})")
        return options

    def _fields(self, before: str, struct: Struct) -> str:
        self._context.imports.name("mf.codec", "shape")
        return fields_text(self._context, struct.fields, self._context.attributes(struct), before)


def text_lines(text: str) -> tuple[str, ...]:
    """The lines of a text as they stand between three quotes."""
    plain = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    lines = plain.rstrip("\n").split("\n")
    return tuple(line if line.isprintable() else "".join(map(_escaped, line)) for line in lines)


def _escaped(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
